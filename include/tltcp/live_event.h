/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/live_event.h
 * @brief Events of <tltcp/live.h>, which includes this file.
 */
#ifndef TLTCP_LIVE_EVENT_H
#define TLTCP_LIVE_EVENT_H

#include <tltcp/live_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_live
 * @{ */

/** Types of events. */
enum tltcp_live_event_type {
    TLTCP_LIVE_EVENT_NONE = 0,       /**< nothing */
    TLTCP_LIVE_EVENT_LISTENING = 1,  /**< the address is bound */
    TLTCP_LIVE_EVENT_CONNECTING = 2, /**< a connection attempt has begun */
    TLTCP_LIVE_EVENT_CONNECTED = 3,  /**< a connection is open */
    TLTCP_LIVE_EVENT_DISCONNECTED =
        4, /**< a connection has ended; error is the cause, 0: orderly */
    TLTCP_LIVE_EVENT_REFUSED =
        5, /**< a connection attempt failed; error and reason give the cause,
                final says whether it is retried */
    TLTCP_LIVE_EVENT_RATE = 6, /**< estimated_bps or target_bps
                                    changed */
    TLTCP_LIVE_EVENT_DROP = 7, /**< a frame did not arrive complete */
    TLTCP_LIVE_EVENT_KEY_WANTED =
        8, /**< the encoder should make a key frame: a connection joined, or a
              reference was lost */
    TLTCP_LIVE_EVENT_FRAME = 9, /**< fate of a frame, with
                                     tltcp_live_settings::report_frames */
    TLTCP_LIVE_EVENT_REJECTED =
        10 /**< the listener has rejected callers with a wrong passphrase or
                key, or none; reason says what to do. Ten events at once, then
                one a minute. */
};

/** Why a frame did not arrive. */
enum tltcp_live_cause {
    TLTCP_LIVE_CAUSE_NONE = 0,    /**< sent, and lost in part or whole */
    TLTCP_LIVE_CAUSE_LATE = 1,    /**< its deadline passed before it was sent */
    TLTCP_LIVE_CAUSE_DEPENDS = 2, /**< a frame it depends on is lost */
    TLTCP_LIVE_CAUSE_YIELDED =
        3, /**< dropped in favour of frames that others need */
    TLTCP_LIVE_CAUSE_OVERFLOW = 4, /**< there was no room for the frame */
    TLTCP_LIVE_CAUSE_COUNT = 5     /**< number of causes */
};

/** @brief The name of a cause. @param cause  ::tltcp_live_cause
 * @return static text such as "late" */
TLTCP_LIVE_API const char *tltcp_live_cause_name(unsigned cause);

/** An event. Fields not documented for its type are zero. */
typedef struct tltcp_live_event {
    size_t struct_size;     /**< set by tltcp_live_event_init() */
    uint32_t type;          /**< ::tltcp_live_event_type */
    int32_t error;          /**< 0 or a negative ::tltcp_error */
    bool was_open;          /**< DISCONNECTED, REFUSED: the connection was open
                                 before */
    bool answered;          /**< REFUSED: the peer answered */
    bool final;             /**< REFUSED, DISCONNECTED: no further attempt */
    uint32_t attempt;       /**< CONNECTING, REFUSED: from 1 */
    uint64_t estimated_bps; /**< RATE: estimated bandwidth of the fastest
                                 connection, bit/s */
    uint64_t target_bps; /**< RATE: bit/s that an encoder should produce; 0: not
                            known */
    uint32_t stream;     /**< DROP, FRAME: stream of the frame */
    uint32_t frame_class; /**< DROP, FRAME: ::tltcp_class */
    uint32_t cause;       /**< DROP, FRAME: ::tltcp_live_cause */
    uint32_t fate;        /**< FRAME: ::tltcp_fate; 0: never passed to the
                               connection */
    uint64_t tag;         /**< DROP, FRAME: tltcp_live_frame::tag */
    uint32_t number;      /**< FRAME: index in its stream; REJECTED: how many so
                               far */
    uint32_t picture;     /**< FRAME: ::tltcp_live_picture */
    uint64_t bytes;       /**< FRAME: bytes of the codec */
    int64_t pts;          /**< FRAME: media time */
    int64_t dts;          /**< FRAME: media time */
    tltcp_time written;   /**< FRAME: when it was passed to the connection; 0:
                               never */
    tltcp_time deadline;  /**< FRAME: ::TLTCP_TIME_NEVER: none */
    tltcp_time now;       /**< when this became known */
    struct sockaddr_storage address;   /**< LISTENING: bound to; CONNECTED,
                                    DISCONNECTED, DROP: the peer's; REJECTED:
                                    of the newest, which may be forged */
    socklen_t address_len;             /**< length of the address; 0: not
                                            known */
    char reason[TLTCP_REASON_MAX + 1]; /**< the peer's reason, or "" */
    uint32_t reserved;                 /**< 0 */
} tltcp_live_event;

/** @brief Zeroes the struct and sets its size tag. @param ev  event, of any
 * content */
#define tltcp_live_event_init(ev) \
    tltcp_live_event_init_sized((ev), sizeof(*(ev)))

/** @brief Implements tltcp_live_event_init(). @param ev  event
 * @param size  its size as the caller was compiled */
TLTCP_LIVE_API void tltcp_live_event_init_sized(tltcp_live_event *ev,
                                                size_t size);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LIVE_EVENT_H */

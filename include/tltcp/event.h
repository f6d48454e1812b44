/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/event.h
 * @brief Events of a connection, taken with tltcp_conn_next_event() or
 * tltcp_next_event().
 */
#ifndef TLTCP_EVENT_H
#define TLTCP_EVENT_H

#include <tltcp/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_watch
 * @{ */

/** Kinds of events. */
enum tltcp_event_type {
    TLTCP_EVENT_NONE = 0,      /**< nothing */
    TLTCP_EVENT_CONNECTED = 1, /**< handshake complete; data may flow */
    TLTCP_EVENT_FATE = 2,      /**< fate of a written section */
    TLTCP_EVENT_CLOSED = 3,    /**< the connection is over; tltcp_event::error
                                    is the cause */
    TLTCP_EVENT_PATH = 4,      /**< the peer moved to another address */
    TLTCP_EVENT_RATE = 5 /**< estimated or target bitrate changed by over 5 % */
};

/** Fates of a section. */
enum tltcp_fate {
    TLTCP_FATE_DELIVERED = 1, /**< every byte reached the peer; if
                                   tltcp_event::cause is set, its reader may
                                   already have skipped them */
    TLTCP_FATE_PARTIAL = 2,   /**< some bytes arrived before it was given up */
    TLTCP_FATE_EXPIRED = 3,   /**< sent in part or whole, nothing arrived */
    TLTCP_FATE_UNSENT = 4,    /**< given up before its first byte left */
    TLTCP_FATE_ABANDONED = 5  /**< the connection ended first */
};

/** Why a section was given up. */
enum tltcp_cause {
    TLTCP_CAUSE_NONE = 0, /**< not given up, or the connection ended first */
    TLTCP_CAUSE_DEADLINE = 1, /**< its deadline passed */
    TLTCP_CAUSE_DEPENDS = 2,  /**< a section it depends on is lost */
    TLTCP_CAUSE_YIELDED = 3 /**< dropped in favour of sections that others need:
                                 the path cannot carry both in time */
};

/** @brief One event. Fields not documented for an event are zero. */
typedef struct tltcp_event {
    uint32_t type;       /**< ::tltcp_event_type */
    int32_t error;       /**< CLOSED: 0 or a negative ::tltcp_error */
    uint32_t fate;       /**< FATE: ::tltcp_fate */
    uint32_t code;       /**< CLOSED: the code on the wire */
    uint64_t section;    /**< FATE: number of the section */
    uint64_t tag;        /**< FATE: tltcp_meta::tag */
    uint64_t bytes;      /**< FATE: length of the section */
    uint64_t acked;      /**< FATE: bytes known to have arrived */
    tltcp_time written;  /**< FATE: when the section was written */
    tltcp_time deadline; /**< FATE: its deadline */
    tltcp_time now;      /**< when the connection learned of it */
    char reason[TLTCP_REASON_MAX + 1]; /**< CLOSED: reason as text, or "" */
    uint32_t cause;                    /**< FATE: ::tltcp_cause */
    uint32_t section_class;            /**< FATE: ::tltcp_class */
    uint32_t stream;                   /**< FATE: tltcp_meta::stream */
    uint64_t estimated_bps; /**< RATE: estimated bandwidth of the path, as
                               tltcp_stats::estimated_bps */
    uint64_t target_bps;    /**< RATE: what an encoder should produce now, as
                                 tltcp_stats::target_bps */
    uint64_t reserved[8];   /**< 0; room for later versions */
} tltcp_event;

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_EVENT_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/types.h
 * @brief Time, error codes and the small types shared by all of libtltcp.
 */
#ifndef TLTCP_TYPES_H
#define TLTCP_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(_WIN32)
#include <sys/uio.h>
#endif

#include <tltcp/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_types
 * @{ */

/**
 * @brief A point in time or a duration, in nanoseconds.
 *
 * Points in time are absolute on a monotonic clock that the caller chooses; the
 * socket API uses tltcp_now()'s.
 */
typedef uint64_t tltcp_time;

/** As a deadline: none. As a timeout: no timer needed. */
#define TLTCP_TIME_NEVER UINT64_MAX
/** One microsecond as a ::tltcp_time. */
#define TLTCP_US UINT64_C(1000)
/** One millisecond as a ::tltcp_time. */
#define TLTCP_MS UINT64_C(1000000)
/** One second as a ::tltcp_time. */
#define TLTCP_S UINT64_C(1000000000)

/** Longest stream id in bytes, without its terminating zero. */
#define TLTCP_STREAM_ID_MAX 512
/** Longest reason of a refusal or an abort in bytes, without its terminating
 * zero. */
#define TLTCP_REASON_MAX 255
/** Section number that means "not known". */
#define TLTCP_SECTION_UNKNOWN UINT64_MAX

/**
 * @brief Errors; every call that can fail returns one of these or 0.
 *
 * tltcp_strerror() describes each.
 */
enum tltcp_error {
    TLTCP_OK = 0,              /**< no error */
    TLTCP_ERR_AGAIN = -1,      /**< not possible now; try again later */
    TLTCP_ERR_INVAL = -2,      /**< an argument is out of range */
    TLTCP_ERR_NOMEM = -3,      /**< out of memory */
    TLTCP_ERR_STATE = -4,      /**< not possible in this state */
    TLTCP_ERR_TOO_BIG = -5,    /**< section larger than the send buffer */
    TLTCP_ERR_GAP = -6,        /**< a gap lies before the next data */
    TLTCP_ERR_CLOSED = -7,     /**< closed by this side or by the peer */
    TLTCP_ERR_TIMEOUT = -8,    /**< the peer has been silent for too long */
    TLTCP_ERR_REFUSED = -9,    /**< no listener, or refused by it */
    TLTCP_ERR_VERSION = -10,   /**< no protocol version in common */
    TLTCP_ERR_PROTOCOL = -11,  /**< the peer broke the protocol */
    TLTCP_ERR_FLOW = -12,      /**< the peer sent past the window given */
    TLTCP_ERR_ACK = -13,       /**< the peer acknowledged packets never sent */
    TLTCP_ERR_LIMIT = -14,     /**< a configured limit was reached */
    TLTCP_ERR_ADDRESS = -15,   /**< host or service not found or not usable */
    TLTCP_ERR_IN_USE = -16,    /**< the local address is taken */
    TLTCP_ERR_IO = -17,        /**< the operating system refused */
    TLTCP_ERR_ALGORITHM = -18, /**< no controller or recovery of that name */
    TLTCP_ERR_AUTH = -19,      /**< wrong passphrase or key */
    TLTCP_ERR_UNSUPPORTED = -20, /**< not available in this build */
    TLTCP_ERR_CONTROL = -21,     /**< control data missing, short or too long */
    TLTCP_ERR_ABORTED = -22,     /**< the connection was closed before
                                      everything was delivered */
    TLTCP_ERR_LAST = -22         /**< the lowest code in use */
};

/**
 * @brief Describes an error.
 * @param error  0 or a negative ::tltcp_error; any other value is "unknown"
 * @return a static string in English, never NULL
 */
TLTCP_API const char *tltcp_strerror(int error);

/**
 * @brief The version of the library in use.
 * @return a static string such as "0.1.0"
 */
TLTCP_API const char *tltcp_version(void);

/** Kind of a received piece. */
enum tltcp_segment_kind {
    TL_DATA = 1, /**< bytes as sent */
    TL_GAP = 2   /**< bytes that will never come */
};

/** Flags of a received piece and of a written section. */
enum tltcp_segment_flag {
    TL_SECTION_START = 1, /**< the piece begins its section */
    TL_SECTION_END = 2    /**< the piece ends its section */
};

/** Describes one piece of the received stream (paper, section 4). */
struct tltcp_segment {
    uint32_t kind;    /**< ::TL_DATA or ::TL_GAP */
    uint32_t flags;   /**< ::TL_SECTION_START, ::TL_SECTION_END or both */
    uint64_t seq;     /**< offset in the byte stream, from 0 */
    uint64_t section; /**< number of the section from 0; for a gap over several
                           sections, of the first; or
                           ::TLTCP_SECTION_UNKNOWN */
};

/** Role of a section in its stream. */
enum tltcp_class {
    TL_CLASS_OTHER = 0,      /**< unknown: kept until its deadline */
    TL_CLASS_HEADER = 1,     /**< parameters that all decoding needs */
    TL_CLASS_KEY = 2,        /**< decodable alone: decoding can begin here */
    TL_CLASS_REFERENCE = 3,  /**< depends on others, and others depend on it */
    TL_CLASS_DISPOSABLE = 4, /**< depends on others; only sections that name it
                                  in tltcp_meta::depends depend on it and are
                                  dropped with it */
    TL_CLASS_AUDIO = 5,      /**< audio: small, and its loss is audible at
                                  once */
    TL_CLASS_LAST = 5        /**< the highest in use */
};

/** tltcp_meta::depends of a section that depends on none. */
#define TL_DEPENDS_NONE UINT32_MAX
/** Number of streams of a connection. */
#define TL_STREAMS_MAX 16

/**
 * @brief Metadata of a section.
 *
 * All zero: none; only the deadline applies to the section.
 *
 * The receiver gets all fields except due with the section's first byte. There,
 * depends is resolved: at least 1, or ::TL_DEPENDS_NONE. All fields are zero at
 * the receiver if the sender gave none, if the section's first packet never
 * arrived, if the peer does not support metadata, and with the dupack recovery.
 */
struct tltcp_meta {
    uint32_t section_class; /**< ::tltcp_class */
    uint32_t stream;        /**< 0 to ::TL_STREAMS_MAX - 1; sections depend only
                                 on sections of their stream */
    uint32_t depends;  /**< distance to the section that it depends on, counted
                            in sections written; ::TL_DEPENDS_NONE: none; 0: by
                            class: REFERENCE and DISPOSABLE depend on the
                            nearest earlier KEY or REFERENCE of their stream,
                            others on none */
    uint32_t reserved; /**< 0 */
    tltcp_time due;    /**< when it should arrive, if it is still useful later;
                            0: its deadline; at the receiver 0 */
    uint64_t tag;      /**< application data: returned in the fate and passed to
                            the receiver */
};

#if defined(_WIN32)
/** Part of a section, as on POSIX systems. */
struct iovec {
    void *iov_base; /**< first byte */
    size_t iov_len; /**< bytes */
};
#endif

/**
 * @brief A section to send (paper, section 4), gathered from parts.
 *
 * Zero fields mean defaults, so `{.data = &part, .count = 1}` is a valid
 * section.
 */
typedef struct tltcp_section {
    const struct iovec *data; /**< parts, in order; their bytes are copied
                                   before the call returns */
    size_t count;             /**< parts at data, at least 1, with at least 1
                                   byte in total */
    tltcp_time deadline;      /**< absolute; ::TLTCP_TIME_NEVER: reliable; 0:
                                   tltcp_send() uses now +
                                   tltcp_config::latency_ms, or never if that is
                                   0 */
    struct tltcp_meta meta;   /**< its metadata */
} tltcp_section;

/**
 * @brief A piece of the received stream: data of one section, or a gap.
 *
 * See tltcp_recv().
 */
typedef struct tltcp_piece {
    uint32_t kind;    /**< out: ::TL_DATA or ::TL_GAP */
    uint32_t flags;   /**< out: ::TL_SECTION_START, ::TL_SECTION_END or both */
    uint64_t seq;     /**< out: offset in the byte stream, from 0 */
    uint64_t section; /**< out: number of the section from 0; for a gap over
                           several sections, of the first; or
                           ::TLTCP_SECTION_UNKNOWN */
    struct tltcp_meta meta; /**< out: metadata of the section; for a gap, of the
                                 first one */
    void *data;             /**< in: buffer of the caller, filled with data;
                                 untouched by a gap */
    size_t len;             /**< in: bytes at data, at least 1; out: bytes of
                                 the piece, which may be more for a gap */
} tltcp_piece;

/** A buffer provided by the caller. */
typedef struct tltcp_buf {
    void *base; /**< first byte */
    size_t len; /**< bytes at base; for a gap: bytes skipped */
} tltcp_buf;

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_TYPES_H */

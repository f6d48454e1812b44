/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/types.h
 * @brief Time, handles, codes and the small types shared by all of libsaratoga.
 */
#ifndef SARATOGA_TYPES_H
#define SARATOGA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saratoga/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_types
 * @{ */

/** A point in time on a monotonic clock of the caller's choosing, or a
 * duration, in nanoseconds. */
typedef uint64_t saratoga_time;

/** No timer wanted; no limit. */
#define SARATOGA_TIME_NEVER UINT64_MAX
/** One millisecond as a ::saratoga_time. */
#define SARATOGA_MS UINT64_C(1000000)
/** One second as a ::saratoga_time. */
#define SARATOGA_S UINT64_C(1000000000)

/** The UDP port (IANA). */
#define SARATOGA_PORT 7542
/** The IPv4 group for beacons and multicast transfers. */
#define SARATOGA_GROUP_IPV4 "224.0.0.108"
/** The IPv6 group for beacons and multicast transfers. */
#define SARATOGA_GROUP_IPV6 "ff02::6c"
/** Longest path in bytes, including its terminating zero. */
#define SARATOGA_PATH_MAX 1024
/** Longest Endpoint Identifier stored from a beacon, in bytes. */
#define SARATOGA_EID_MAX 255
/** Longest checksum in bytes (SHA-256). */
#define SARATOGA_CHECKSUM_MAX 32
/** Bytes of randomness that an engine needs. */
#define SARATOGA_SEED_LEN 32
/** Longest key for authentication, in bytes. */
#define SARATOGA_KEY_MAX 256
/** A size that is not known. */
#define SARATOGA_SIZE_UNKNOWN UINT64_MAX

/** Identifies a transfer of an engine; never 0, never reused. */
typedef uint64_t saratoga_handle;

/** Errors; every call that can fail returns one of these or 0. */
enum saratoga_error {
    SARATOGA_OK = 0,              /**< no error */
    SARATOGA_ERR_INVAL = -1,      /**< an argument is out of range */
    SARATOGA_ERR_NOMEM = -2,      /**< out of memory */
    SARATOGA_ERR_STATE = -3,      /**< not possible in this state */
    SARATOGA_ERR_GONE = -4,       /**< there is no such transfer or work */
    SARATOGA_ERR_LIMIT = -5,      /**< a configured limit was reached */
    SARATOGA_ERR_ALGORITHM = -6,  /**< no congestion controller of that name */
    SARATOGA_ERR_AGAIN = -7,      /**< no space now; try again later */
    SARATOGA_ERR_IO = -8,         /**< a file could not be read or written */
    SARATOGA_ERR_NO_SPACE = -9,   /**< the disk is full, or a quota is used
                                       up */
    SARATOGA_ERR_CHECKSUM = -10,  /**< the file does not match its checksum */
    SARATOGA_ERR_CHANGED = -11,   /**< the file changed while being sent */
    SARATOGA_ERR_TIMEOUT = -12,   /**< the peer has been silent for too long */
    SARATOGA_ERR_REFUSED = -13,   /**< the peer sent a failure STATUS */
    SARATOGA_ERR_PROTOCOL = -14,  /**< the peer broke the protocol */
    SARATOGA_ERR_CANCELLED = -15, /**< cancelled by this side */
    SARATOGA_ERR_TOO_LONG = -16,  /**< too long for the descriptor in use */
    SARATOGA_ERR_UNSUPPORTED = -17, /**< not available in this build */
    SARATOGA_ERR_AUTH = -18,        /**< passphrase or key does not match the
                                         peer's */
    SARATOGA_ERR_IN_VAIN = -19,     /**< the peer answers, but the file makes no
                                         progress */
    SARATOGA_ERR_VERSION = -20,     /**< the peer uses another version of the
                                         encryption */
    SARATOGA_ERR_LAST = -20         /**< the lowest of them */
};

/** Status codes on the wire; all except the first end a session. */
enum saratoga_status {
    SARATOGA_SUCCESS = 0x00,           /**< success */
    SARATOGA_UNSPECIFIED = 0x01,       /**< unspecified */
    SARATOGA_CANNOT_SEND = 0x02,       /**< cannot send, resources */
    SARATOGA_CANNOT_RECEIVE = 0x03,    /**< cannot receive, resources */
    SARATOGA_NOT_FOUND = 0x04,         /**< file not found */
    SARATOGA_ACCESS_DENIED = 0x05,     /**< access denied */
    SARATOGA_UNKNOWN_ID = 0x06,        /**< unknown Id */
    SARATOGA_DID_NOT_DELETE = 0x07,    /**< did not delete */
    SARATOGA_TOO_LONG = 0x08,          /**< file longer than can be taken */
    SARATOGA_BAD_DESCRIPTOR = 0x09,    /**< descriptor and use do not match */
    SARATOGA_BAD_PACKET = 0x0A,        /**< unsupported packet type */
    SARATOGA_BAD_REQUEST = 0x0B,       /**< unsupported request type */
    SARATOGA_TIMED_OUT = 0x0C,         /**< request ended by a timeout */
    SARATOGA_FLAGS_CHANGED = 0x0D,     /**< DATA flags changed in mid-session */
    SARATOGA_NOT_INTERESTED = 0x0E,    /**< receiver no longer interested */
    SARATOGA_IN_USE = 0x0F,            /**< file in use */
    SARATOGA_METADATA_REQUIRED = 0x10, /**< METADATA required first */
    SARATOGA_ERROR_RECEIVED = 0x11,    /**< unexpected error STATUS received */
    SARATOGA_NOT_HEARD = 0x12,         /**< receiver did not hear from sender */
    SARATOGA_STATUS_LAST = 0x12        /**< the highest of them */
};

/** Why access is denied; SARATOGA_DENIED() adds it to the status
 * ::SARATOGA_ACCESS_DENIED. */
enum saratoga_denial {
    SARATOGA_DENIED_REQUEST = 0x100,  /**< the peer serves no such requests */
    SARATOGA_DENIED_KEY = 0x200,      /**< the request lacks the peer's key */
    SARATOGA_DENIED_FILE_KEY = 0x300, /**< the checksum lacks the key */
    SARATOGA_DENIED_FOLDER = 0x400,   /**< the path is a folder */
    SARATOGA_DENIED_EXISTS = 0x500,   /**< the file exists and may not be
                                           replaced */
    SARATOGA_DENIED_FILES = 0x600, /**< the permissions of the file, or a path
                                        that leads out of the folder */
    SARATOGA_DENIED_READ_ONLY = 0x700, /**< the file system is read-only */
    SARATOGA_DENIED_NAME = 0x800,      /**< the name is hidden, unprintable or
                                            too long */
    SARATOGA_DENIED_LAST = 0x800       /**< the highest of them */
};

/** ::SARATOGA_ACCESS_DENIED with its cause, a ::saratoga_denial. */
#define SARATOGA_DENIED(why) \
    ((unsigned)SARATOGA_ACCESS_DENIED | (unsigned)(why))

/** What a session is for; 0 to 6 are the values on the wire. */
enum saratoga_request_type {
    SARATOGA_NOOP = 0,       /**< nothing; like a beacon */
    SARATOGA_GET = 1,        /**< send me this file; empty path: any file */
    SARATOGA_PUT = 2,        /**< I want to give you a file by this name */
    SARATOGA_TAKE = 3,       /**< get, then the sender deletes its copy */
    SARATOGA_GIVE = 4,       /**< put, then the initiator deletes its copy */
    SARATOGA_DELETE = 5,     /**< remove this file */
    SARATOGA_GETDIR = 6,     /**< send the record of this directory */
    SARATOGA_BLIND_PUT = 256 /**< METADATA and DATA without a REQUEST */
};

/** What is transferred; the values on the wire. */
enum saratoga_kind {
    SARATOGA_FILE = 0,      /**< a file */
    SARATOGA_DIRECTORY = 1, /**< a directory record */
    SARATOGA_BUNDLE = 2,    /**< reserved; a DTN bundle in older drafts */
    SARATOGA_STREAM = 3     /**< a stream of unknown length */
};

/** Widths of offsets and sizes; the values on the wire. */
enum saratoga_descriptor {
    SARATOGA_16_BIT = 0,        /**< up to 2^16 - 1 bytes */
    SARATOGA_32_BIT = 1,        /**< up to 2^32 - 1 bytes */
    SARATOGA_64_BIT = 2,        /**< up to 2^64 - 1 bytes */
    SARATOGA_128_BIT = 3,       /**< wider on the wire; sizes stay within 64
                                     bits here */
    SARATOGA_DESCRIPTOR_FIT = 4 /**< in options: the narrowest that fits the
                                     file; 64 bits for a stream */
};

/** Checksums of METADATA. */
enum saratoga_checksum {
    SARATOGA_NONE = 0,         /**< none */
    SARATOGA_CRC32C = 1,       /**< CRC-32C (Castagnoli) */
    SARATOGA_MD5 = 2,          /**< MD5 */
    SARATOGA_SHA1 = 3,         /**< SHA-1 */
    SARATOGA_HMAC_SHA256 = 13, /**< HMAC-SHA-256 with
                                    saratoga_config::auth_key, a local code
                                    point */
    SARATOGA_SHA256 = 15, /**< SHA-256, a local code point; off by default */
    SARATOGA_CRC32_IEEE = 256 /**< not on the wire: computed by some peers under
                                   the name CRC-32C */
};

/** Kinds of timestamps in DATA; the values on the wire. */
enum saratoga_timestamp {
    SARATOGA_TS_LOCAL = 0,     /**< transmission number */
    SARATOGA_TS_POSIX32 = 1,   /**< 32-bit seconds */
    SARATOGA_TS_POSIX64 = 2,   /**< 64-bit seconds */
    SARATOGA_TS_POSIX32_F = 3, /**< 32-bit seconds, 32-bit fraction */
    SARATOGA_TS_POSIX64_F = 4, /**< 64-bit seconds, 32-bit fraction */
    SARATOGA_TS_Y2K = 5,       /**< seconds since 2000-01-01 */
    SARATOGA_TS_OFF = 6        /**< in options: no timestamps */
};

/** Compatibility profiles for peers that deviate from the draft. */
enum saratoga_profile {
    SARATOGA_DRAFT = 0,     /**< as the draft says */
    SARATOGA_NASA_PERL = 1, /**< NASA Glenn's Perl implementation */
    SARATOGA_VALLONA = 2,   /**< Vallona, C++ */
    SARATOGA_GO = 3         /**< the Go implementation as of 2021 */
};

/** Flags of a datagram. */
enum saratoga_pkt_flag {
    SARATOGA_PKT_MULTICAST = 1,  /**< in: was sent to a group; out: send to a
                                      group */
    SARATOGA_PKT_LITE = 2,       /**< UDP-Lite; out: cover only
                                      saratoga_pktinfo::coverage bytes */
    SARATOGA_PKT_WELL_KNOWN = 4, /**< out: send to port 7542 of the host,
                                      regardless of the path */
    SARATOGA_PKT_PROVEN = 16,    /**< in: the layer below has proven that the
                                      peer receives at its address */
    SARATOGA_PKT_IPV6 = 8 /**< the remote address is IPv6: headers count as at
                               least 48 bytes, regardless of
                               saratoga_config::overhead */
};

/**
 * @brief Addresses and flags of a datagram.
 *
 * The engine never sees addresses. The application assigns a token to each
 * address (a host) and to each pair of address and port (a path). Equal tokens
 * mean equal addresses; 0 is not used. A group has tokens like any other
 * address.
 */
typedef struct saratoga_pktinfo {
    uint64_t host;     /**< token of the remote IP address */
    uint64_t path;     /**< token of the remote IP address and port */
    uint32_t flags;    /**< ::saratoga_pkt_flag bits */
    uint32_t coverage; /**< out, UDP-Lite: bytes of the UDP payload that the
                            checksum must cover */
    uint64_t group;    /**< in, multicast: path of the group that it was sent to
                            and where holes are reported; 0: not known */
} saratoga_pktinfo;

/**
 * @brief Describes an error.
 * @param error  0 or a negative ::saratoga_error
 * @return a static string, also for unknown values
 */
SARATOGA_API const char *saratoga_strerror(int error);

/**
 * @brief Describes a status code on the wire.
 * @param status  0 to 255, or ::SARATOGA_ACCESS_DENIED with a ::saratoga_denial
 * @return a static string, also for unknown values
 */
SARATOGA_API const char *saratoga_status_text(unsigned status);

/**
 * @brief The version of the library.
 * @return a static string such as "0.1.0"
 */
SARATOGA_API const char *saratoga_version(void);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_TYPES_H */

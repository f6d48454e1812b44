/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/event.h
 * @brief Events, taken with saratoga_engine_next_event(), and work on
 * files, taken with saratoga_engine_next_work().
 */
#ifndef SARATOGA_EVENT_H
#define SARATOGA_EVENT_H

#include <saratoga/entry.h>
#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_watch
 * @{ */

/** Kinds of events. */
enum saratoga_event_type {
    SARATOGA_EVENT_NONE = 0, /**< nothing */
    /** A request from a peer: answer it with saratoga_transfer_accept() or
     * saratoga_transfer_refuse(), now or later. A blind put includes its
     * METADATA. Until it is answered, the peer's repeated requests are
     * absorbed. */
    SARATOGA_EVENT_REQUEST = 1,
    /** The peer accepted this side's request. */
    SARATOGA_EVENT_ACCEPTED = 2,
    /** Receiver: METADATA arrived; the entry holds name, size and times. The
     * application may call saratoga_transfer_cancel() if it lacks space.
     * Repeated with the checksum if that was unknown at first. */
    SARATOGA_EVENT_METADATA = 3,
    /** The transfer is over, successful or not. The handle stays valid until
     * saratoga_transfer_release(). */
    SARATOGA_EVENT_DONE = 4,
    /** A beacon was received. */
    SARATOGA_EVENT_BEACON = 5,
    /** Stream sender: saratoga_stream_write() has room again. */
    SARATOGA_EVENT_WRITABLE = 6,
    /** A no-op REQUEST was received: a peer is present. */
    SARATOGA_EVENT_NOOP = 7,
    /** Receiver: the file differs from the one to be resumed; the held part is
     * discarded (a ::SARATOGA_WORK_TRUNCATE follows). */
    SARATOGA_EVENT_PURGED = 8,
    /** The requesting peer has proven its address: work that was deferred
     * because saratoga_event::proven was false may begin. */
    SARATOGA_EVENT_PROVEN = 9
};

/** Abilities of the sender of a beacon or a REQUEST. */
enum saratoga_ability {
    SARATOGA_CAN_SEND = 1,           /**< is able to send */
    SARATOGA_WILLING_TO_SEND = 2,    /**< currently willing */
    SARATOGA_CAN_RECEIVE = 4,        /**< is able to receive */
    SARATOGA_WILLING_TO_RECEIVE = 8, /**< currently willing */
    SARATOGA_STREAMS = 16,           /**< takes streams */
    SARATOGA_LITE = 32,              /**< takes UDP-Lite */
    SARATOGA_FREE_SPACE = 64         /**< free_kib is given */
};

/** @brief One event. Fields not documented for an event are zero. */
typedef struct saratoga_event {
    uint32_t type;          /**< ::saratoga_event_type */
    int32_t error;          /**< DONE: 0 or a negative ::saratoga_error */
    saratoga_handle handle; /**< of which transfer */
    saratoga_pktinfo from;  /**< REQUEST, BEACON, NOOP: the sender */
    uint32_t request;       /**< ::saratoga_request_type of the session */
    uint32_t status;        /**< DONE: the code sent or received */
    bool remote;            /**< DONE: the peer's STATUS ended the transfer */
    bool initiator;         /**< this side sent the request */
    bool verified;          /**< DONE, receiver: the checksum matched */
    bool unchanged;         /**< DONE, receiver: the peer has the same copy */
    bool remove;        /**< DONE, sender of take or give: the peer holds a good
                             copy; delete the local one */
    bool has_entry;     /**< REQUEST, METADATA, DONE: entry is filled in */
    bool proven;        /**< REQUEST: the peer has proven its address. False:
                             the address may be forged; do not hash or list
                             anything large before ::SARATOGA_EVENT_PROVEN */
    uint8_t denial;     /**< DONE: the ::saratoga_denial >> 8; 0: unknown */
    uint32_t abilities; /**< BEACON, REQUEST: ::saratoga_ability bits; 0 in a
                             REQUEST: not stated */
    uint32_t descriptor; /**< BEACON, REQUEST: widest ::saratoga_descriptor of
                              the peer */
    uint32_t kind;       /**< METADATA: ::saratoga_kind */
    uint32_t checksum;   /**< METADATA: ::saratoga_checksum, as on the wire */
    uint64_t resumed;    /**< METADATA: bytes already held */
    uint64_t free_kib;   /**< BEACON: free space; UINT64_MAX: more than the
                              field holds */
    const char *path;    /**< REQUEST: requested path; "": any file. Valid until
                              the handle is released */
    const uint8_t *auth; /**< REQUEST: authentication field, valid until the
                              next call */
    size_t auth_len;     /**< its length, bytes */
    size_t auth_covers;  /**< REQUEST: bytes of the packet that it covers */
    const uint8_t *packet; /**< REQUEST: those bytes, valid likewise */
    uint8_t digest[SARATOGA_CHECKSUM_MAX]; /**< METADATA: the checksum */
    char eid[SARATOGA_EID_MAX + 1];        /**< BEACON: zero-terminated */
    saratoga_entry entry; /**< REQUEST of a blind put or an update check,
                               METADATA, DONE of a receiver */
    uint64_t reserved[8]; /**< 0; room for later versions */
} saratoga_event;

/** Kinds of work on a file. */
enum saratoga_work_type {
    SARATOGA_WORK_NONE = 0, /**< nothing */
    /** Fill buf with len bytes of the file from offset. Result: bytes read;
     * fewer than len means that the file has shrunk. */
    SARATOGA_WORK_READ = 1,
    /** Write len bytes of buf at offset.  Result: 0. */
    SARATOGA_WORK_WRITE = 2,
    /** Add the written bytes [offset, offset + length) to the running checksum
     * of the file. Successive items cover the file in order from 0. Result:
     * 0. */
    SARATOGA_WORK_DIGEST = 3,
    /** The file is written and, unless checksum is none, digested. Compare the
     * checksum with digest, sync the file to disk and give it its final name.
     * Result: 0, or ::SARATOGA_ERR_CHECKSUM, after which the application must
     * discard the file. */
    SARATOGA_WORK_COMMIT = 4,
    /** Truncate the file to offset bytes and reset the running checksum.
     * Result: 0. */
    SARATOGA_WORK_TRUNCATE = 5
};

/**
 * @brief Work on a file, in any order and on any thread. TRUNCATE, DIGEST and
 * COMMIT of one transfer are issued one at a time.
 *
 * Answer every item by saratoga_engine_work_done(), even if its transfer has
 * ended meanwhile; buf stays valid until then. A negative result is one of
 * ::SARATOGA_ERR_IO, ::SARATOGA_ERR_NO_SPACE, ::SARATOGA_ERR_CHECKSUM,
 * ::SARATOGA_ERR_CHANGED and ends the transfer.
 */
typedef struct saratoga_work {
    uint64_t id;            /**< for saratoga_engine_work_done() */
    saratoga_handle handle; /**< of which transfer */
    uint32_t type;          /**< ::saratoga_work_type */
    uint32_t checksum;      /**< DIGEST, COMMIT: ::saratoga_checksum to compute;
                                 none: unknown type, nothing to check */
    uint64_t offset;        /**< place in the file */
    size_t len;             /**< READ, WRITE: bytes at buf */
    uint64_t length;        /**< DIGEST: bytes; COMMIT: size of the file */
    uint8_t *buf;           /**< READ: to be filled; WRITE: what to write */
    const uint8_t *digest;  /**< COMMIT: the expected checksum */
    void *user;             /**< user pointer of the transfer, from
                                 saratoga_transfer_set_user() */
} saratoga_work;

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_EVENT_H */

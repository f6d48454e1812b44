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

/** Kinds of events. */
enum saratoga_event_type {
    SARATOGA_EVENT_NONE = 0, /**< nothing */
    /** A peer asks: answer with saratoga_transfer_accept() or
     * saratoga_transfer_refuse(), now or later.  A blind put comes with its
     * METADATA.  Until then the peer's repeated requests are absorbed. */
    SARATOGA_EVENT_REQUEST = 1,
    /** The peer accepted what this side asked for. */
    SARATOGA_EVENT_ACCEPTED = 2,
    /** Receiver: METADATA came; the entry tells name, size and times.  The
     * application may saratoga_transfer_cancel() for want of room.  Comes
     * again, with the checksum, when that was not known at first. */
    SARATOGA_EVENT_METADATA = 3,
    /** Over, well or not; the handle stays valid until
     * saratoga_transfer_release(). */
    SARATOGA_EVENT_DONE = 4,
    /** A beacon was heard. */
    SARATOGA_EVENT_BEACON = 5,
    /** Stream sender: saratoga_stream_write() has room again. */
    SARATOGA_EVENT_WRITABLE = 6,
    /** A no-op REQUEST was heard: somebody is there. */
    SARATOGA_EVENT_NOOP = 7,
    /** Receiver: the file is not the one that was to be resumed; what was held
     * is discarded (a ::SARATOGA_WORK_TRUNCATE follows). */
    SARATOGA_EVENT_PURGED = 8,
    /** The peer that asked has proven that it receives at its address: work
     * that was put off as saratoga_event::proven was false may begin. */
    SARATOGA_EVENT_PROVEN = 9
};

/** What a beacon or a REQUEST says of its sender. */
enum saratoga_ability {
    SARATOGA_CAN_SEND = 1,           /**< is able to send */
    SARATOGA_WILLING_TO_SEND = 2,    /**< and will, now */
    SARATOGA_CAN_RECEIVE = 4,        /**< is able to receive */
    SARATOGA_WILLING_TO_RECEIVE = 8, /**< and will, now */
    SARATOGA_STREAMS = 16,           /**< takes streams */
    SARATOGA_LITE = 32,              /**< takes UDP-Lite */
    SARATOGA_FREE_SPACE = 64         /**< free_kib is told */
};

/** @brief One event.  Fields that an event does not name are zero. */
typedef struct saratoga_event {
    uint32_t type;          /**< ::saratoga_event_type */
    int32_t error;          /**< DONE: 0 or a negative ::saratoga_error */
    saratoga_handle handle; /**< of which transfer */
    saratoga_pktinfo from;  /**< REQUEST, BEACON, NOOP: who */
    uint32_t request;       /**< ::saratoga_request_type of the session */
    uint32_t status;        /**< DONE: the code sent or received */
    bool remote;            /**< DONE: the peer's STATUS ended it */
    bool initiator;         /**< this side asked */
    bool verified;          /**< DONE, receiver: the checksum was right */
    bool unchanged;         /**< DONE, receiver: the peer has the same copy */
    bool remove;        /**< DONE, sender of take or give: the peer holds a good
                             copy; delete the own one */
    bool has_entry;     /**< REQUEST, METADATA, DONE: entry is filled in */
    bool proven;        /**< REQUEST: the peer receives at its address.  False:
                             the address may be forged; hash and list nothing
                             large before ::SARATOGA_EVENT_PROVEN */
    bool reserved[1];   /**< false */
    uint32_t abilities; /**< BEACON, REQUEST: of ::saratoga_ability; 0 in a
                             REQUEST: not stated */
    uint32_t descriptor; /**< BEACON, REQUEST: widest ::saratoga_descriptor of
                              the peer */
    uint32_t kind;       /**< METADATA: ::saratoga_kind */
    uint32_t checksum;   /**< METADATA: ::saratoga_checksum, as on the wire */
    uint64_t resumed;    /**< METADATA: bytes already held */
    uint64_t free_kib;   /**< BEACON: UINT64_MAX: more than fits */
    const char *path;    /**< REQUEST: asked for; "": any file.  Valid until the
                              handle is released */
    const uint8_t *auth; /**< REQUEST: authentication field, valid until the
                              next call */
    size_t auth_len;     /**< bytes of it */
    size_t auth_covers;  /**< REQUEST: bytes of the packet that it covers */
    const uint8_t *packet; /**< REQUEST: those bytes, valid likewise */
    uint8_t digest[SARATOGA_CHECKSUM_MAX]; /**< METADATA: the checksum */
    char eid[SARATOGA_EID_MAX + 1];        /**< BEACON: zero-terminated */
    saratoga_entry entry; /**< REQUEST of a blind put or an update check,
                               METADATA, DONE of a receiver */
} saratoga_event;

/** Kinds of work on a file. */
enum saratoga_work_type {
    SARATOGA_WORK_NONE = 0, /**< nothing */
    /** Fill buf with len bytes of the file from offset.  Result: bytes read;
     * fewer than len mean that the file has shrunk. */
    SARATOGA_WORK_READ = 1,
    /** Write len bytes of buf at offset.  Result: 0. */
    SARATOGA_WORK_WRITE = 2,
    /** Add the len bytes at offset of what was written to the running checksum
     * of the file; they follow upon those of the work before, from 0 on.
     * Result: 0. */
    SARATOGA_WORK_DIGEST = 3,
    /** All is written and, unless checksum is none, digested.  Compare the
     * checksum with digest, make the file safe and give it its final name.
     * Result: 0, or ::SARATOGA_ERR_CHECKSUM, after which the file is to be
     * discarded. */
    SARATOGA_WORK_COMMIT = 4,
    /** Cut the file to offset bytes and forget the running checksum.  Result:
     * 0. */
    SARATOGA_WORK_TRUNCATE = 5
};

/**
 * @brief Work on a file, to be done in any order and in any thread, except that
 * TRUNCATE, DIGEST and COMMIT of one transfer come one at a time.
 *
 * Every work is answered by saratoga_engine_work_done(), also when its transfer
 * has ended in between; until then buf stays valid.  A negative result is one
 * of ::SARATOGA_ERR_IO, ::SARATOGA_ERR_NO_SPACE, ::SARATOGA_ERR_CHECKSUM,
 * ::SARATOGA_ERR_CHANGED and ends the transfer.
 */
typedef struct saratoga_work {
    uint64_t id;            /**< for saratoga_engine_work_done() */
    saratoga_handle handle; /**< of which transfer */
    uint32_t type;          /**< ::saratoga_work_type */
    uint32_t checksum;      /**< DIGEST, COMMIT: ::saratoga_checksum to compute;
                                 none: unknown type, nothing to compare */
    uint64_t offset;        /**< place in the file */
    size_t len;             /**< READ, WRITE: bytes at buf */
    uint64_t length;        /**< DIGEST: bytes; COMMIT: size of the file */
    uint8_t *buf;           /**< READ: to be filled; WRITE: what to write */
    const uint8_t *digest;  /**< COMMIT: what the checksum must be */
    void *user; /**< the transfer's, from saratoga_transfer_set_user() */
} saratoga_work;

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_EVENT_H */

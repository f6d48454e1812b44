/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/transfer.h
 * @brief Transfers of an engine: requests, answers, control, streams.
 */
#ifndef SARATOGA_TRANSFER_H
#define SARATOGA_TRANSFER_H

#include <saratoga/config.h>
#include <saratoga/entry.h>
#include <saratoga/stats.h>
#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_transfer
 * @{ */

/** An engine; see saratoga/engine.h. */
typedef struct saratoga_engine saratoga_engine;

/** @brief Bytes [start, end) of a file. */
typedef struct saratoga_range {
    uint64_t start; /**< first byte */
    uint64_t end;   /**< first byte after the range */
} saratoga_range;

/** @brief The part of a file that a receiver already holds. */
typedef struct saratoga_partial {
    saratoga_entry entry; /**< from METADATA; its path is not compared */
    uint32_t checksum;    /**< ::saratoga_checksum from METADATA */
    uint32_t reserved;    /**< 0 */
    uint8_t digest[SARATOGA_CHECKSUM_MAX]; /**< from METADATA */
    const saratoga_range *ranges;          /**< ascending, disjoint; copied */
    size_t count;                          /**< number of ranges */
} saratoga_partial;

/** @brief A file, directory record or stream that this side sends. */
typedef struct saratoga_source {
    saratoga_entry entry; /**< size, times, name. size is 0 for a stream; for a
                               directory record it is the length of the record,
                               and `directory` says whether it lists a directory
                               or that one file */
    uint32_t kind;        /**< ::saratoga_kind */
    uint32_t checksum;    /**< ::saratoga_checksum of digest, also if the digest
                               follows later; or none */
    bool digest_later;    /**< send DATA before the checksum is known; METADATA
                               say that it follows; see
                               saratoga_transfer_set_digest() */
    bool unchanged;       /**< get with update check: the peer's copy is the
                               same; only METADATA is sent */
    bool reserved[6];     /**< false */
    uint8_t digest[SARATOGA_CHECKSUM_MAX]; /**< the checksum */
} saratoga_source;

/** @brief A request to a peer. */
typedef struct saratoga_request {
    size_t struct_size;    /**< set by saratoga_request_init() */
    uint32_t type;         /**< ::saratoga_request_type */
    uint32_t id;           /**< Id on the wire; 0: derived from the engine's
                                id_key, peer_name, type and path */
    saratoga_pktinfo to;   /**< the peer, or with ::SARATOGA_PKT_MULTICAST a
                                group */
    const char *path;      /**< path at the peer; "" or NULL: any file */
    const char *peer_name; /**< a name that stays the same when the peer's
                                address changes or this program restarts; NULL:
                                "" */
    const saratoga_options *options; /**< copied; NULL: the engine's */
    const saratoga_source *source;   /**< put, give, blind put; copied */
    const saratoga_partial *partial; /**< get, take: the part already held;
                                          copied; or NULL */
    const uint8_t *auth; /**< authentication field; copied; or NULL */
    size_t auth_len;     /**< its length, up to 256 bytes */
    void *user;          /**< user pointer */
} saratoga_request;

/** @brief Zeroes a request and sets its size tag. @param r  request, of any
 * content */
#define saratoga_request_init(r) saratoga_request_init_sized((r), sizeof(*(r)))

/**
 * @brief Implements saratoga_request_init(); do not call directly.
 * @param r     request to initialise
 * @param size  sizeof(saratoga_request) as the caller was compiled
 */
SARATOGA_API void saratoga_request_init_sized(saratoga_request *r, size_t size);

/**
 * @brief Starts a transfer or a deletion, or sends a no-op.
 * @param engine  the engine
 * @param request  the request; strings and structs are copied
 * @param[out] handle  identifies the transfer; 0 for a no-op
 * @param now      current time
 * @retval 0                      started
 * @retval SARATOGA_ERR_INVAL     see saratoga_options_check(); or a path is
 *                                too long or missing, or there is no source
 * @retval SARATOGA_ERR_ALGORITHM see saratoga_options_check()
 * @retval SARATOGA_ERR_TOO_LONG  the file needs a wider descriptor than
 *                                requested
 * @retval SARATOGA_ERR_STATE     a transfer with that host and Id is in
 *                                progress
 * @retval SARATOGA_ERR_LIMIT     saratoga_config::max_transfers is reached
 * @retval SARATOGA_ERR_NOMEM     nothing was started
 */
SARATOGA_API int saratoga_transfer_start(saratoga_engine *engine,
                                         const saratoga_request *request,
                                         saratoga_handle *handle,
                                         saratoga_time now);

/** @brief The answer to a ::SARATOGA_EVENT_REQUEST. */
typedef struct saratoga_answer {
    size_t struct_size;              /**< set by saratoga_answer_init() */
    const saratoga_options *options; /**< copied; NULL: the engine's */
    const saratoga_source *source;   /**< get, take, getdir; copied */
    const saratoga_partial *partial; /**< put, give, blind put: the part already
                                          held; copied; or NULL */
    void *user;                      /**< user pointer */
    saratoga_pktinfo group; /**< get: a group to which the file is sent, for all
                                 its members; zeroed: to the requester */
} saratoga_answer;

/** @brief Zeroes an answer and sets its size tag. @param a  answer, of any
 * content */
#define saratoga_answer_init(a) saratoga_answer_init_sized((a), sizeof(*(a)))

/**
 * @brief Implements saratoga_answer_init(); do not call directly.
 * @param a     answer to initialise
 * @param size  sizeof(saratoga_answer) as the caller was compiled
 */
SARATOGA_API void saratoga_answer_init_sized(saratoga_answer *a, size_t size);

/**
 * @brief Accepts a peer's request. For a delete, call it after the file was
 * deleted or found absent.
 * @param engine  the engine
 * @param handle  from a ::SARATOGA_EVENT_REQUEST
 * @param answer  source or partial file; NULL if there is neither
 * @param now     current time
 * @retval 0                     accepted
 * @retval SARATOGA_ERR_GONE     no such transfer
 * @retval SARATOGA_ERR_STATE    already answered, or has ended
 * @retval SARATOGA_ERR_INVAL    see saratoga_options_check(); or a source is
 *                               missing, or is a stream, which the peer does
 *                               not accept; or a group is given and the request
 *                               is not a get. The request is still to be
 *                               answered
 * @retval SARATOGA_ERR_ALGORITHM see saratoga_options_check()
 * @retval SARATOGA_ERR_TOO_LONG the peer does not accept files of that size;
 *                               the request is refused with
 *                               ::SARATOGA_TOO_LONG, and a DONE follows
 * @retval SARATOGA_ERR_NOMEM    the request is still to be answered */
SARATOGA_API int saratoga_transfer_accept(saratoga_engine *engine,
                                          saratoga_handle handle,
                                          const saratoga_answer *answer,
                                          saratoga_time now);
/**
 * @brief Answers a get of a file that is being sent to a group: the requester,
 * which must be a member, receives it from there. A DONE follows.
 * @param engine  the engine
 * @param handle   from a ::SARATOGA_EVENT_REQUEST of a get
 * @param running  the transfer to the group; its METADATA are sent again
 * @param now      current time
 * @retval 0                  answered
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE already answered, or not a get; or @p running has
 *                            ended, or does not go to a group
 */
SARATOGA_API int saratoga_transfer_join(saratoga_engine *engine,
                                        saratoga_handle handle,
                                        saratoga_handle running,
                                        saratoga_time now);
/**
 * @brief Challenges the requesting peer to prove its address before its request
 * is answered; ::SARATOGA_EVENT_PROVEN follows if it does. Every repetition of
 * the request is challenged again.
 *
 * Peers that echo no timestamps do not answer; there is no event for that.
 * @param engine  the engine
 * @param handle  from a ::SARATOGA_EVENT_REQUEST, not yet answered
 * @param now     current time
 * @retval 0                  challenged, or already proven
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE already answered, or has ended
 */
SARATOGA_API int saratoga_transfer_challenge(saratoga_engine *engine,
                                             saratoga_handle handle,
                                             saratoga_time now);
/**
 * @brief Refuses a peer's request. A DONE follows.
 * @param engine  the engine
 * @param handle  from a ::SARATOGA_EVENT_REQUEST
 * @param status  ::saratoga_status other than success, with a
 *                ::saratoga_denial if wanted
 * @param now     current time
 * @retval 0                  refused
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE already answered, or has ended
 * @retval SARATOGA_ERR_INVAL not a failure status
 */
SARATOGA_API int saratoga_transfer_refuse(saratoga_engine *engine,
                                          saratoga_handle handle,
                                          unsigned status, saratoga_time now);
/**
 * @brief Cancels a transfer and notifies the peer. A DONE event follows.
 * @param engine  the engine
 * @param handle  transfer
 * @param status  reason: ::saratoga_status other than success, with a
 *                ::saratoga_denial if wanted
 * @param now     current time
 * @retval 0                  ended
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE already ended
 * @retval SARATOGA_ERR_INVAL not a failure status
 */
SARATOGA_API int saratoga_transfer_cancel(saratoga_engine *engine,
                                          saratoga_handle handle,
                                          unsigned status, saratoga_time now);
/**
 * @brief Releases a transfer; one in progress is cancelled without an event.
 * Lingering continues in the background.
 * @param engine  the engine
 * @param handle  transfer; invalid from here on
 * @param now     current time
 * @retval 0 released
 * @retval SARATOGA_ERR_GONE no such transfer
 */
SARATOGA_API int saratoga_transfer_release(saratoga_engine *engine,
                                           saratoga_handle handle,
                                           saratoga_time now);

/**
 * @brief Supplies the checksum of a source with digest_later.
 * @param engine  the engine
 * @param handle  transfer
 * @param type    ::saratoga_checksum; none: there will be none
 * @param digest  saratoga_digest_len() bytes; NULL: none
 * @param now     current time
 * @retval 0                  METADATA will be sent
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE no checksum is expected
 * @retval SARATOGA_ERR_INVAL no such type, or no bytes
 */
SARATOGA_API int saratoga_transfer_set_digest(saratoga_engine *engine,
                                              saratoga_handle handle,
                                              uint32_t type,
                                              const uint8_t *digest,
                                              saratoga_time now);
/**
 * @brief Changes the rate of a sender while it runs.
 * @param engine  the engine
 * @param handle    transfer
 * @param rate_bps  bit/s of IP packets: the rate of an open loop, or the limit
 *                  of a controller; 0: none
 * @param now       current time
 * @retval 0                 set
 * @retval SARATOGA_ERR_GONE no such transfer
 * @retval SARATOGA_ERR_STATE this side does not send
 */
SARATOGA_API int saratoga_transfer_set_rate(saratoga_engine *engine,
                                            saratoga_handle handle,
                                            uint64_t rate_bps,
                                            saratoga_time now);
/**
 * @brief Pauses or resumes a transfer: while the link is known to be down, no
 * timer runs and nothing is sent.
 * @param engine  the engine
 * @param handle  transfer
 * @param down    true: the link is down
 * @param now     current time
 * @retval 0                 done
 * @retval SARATOGA_ERR_GONE no such transfer
 */
SARATOGA_API int saratoga_transfer_set_link_down(saratoga_engine *engine,
                                                 saratoga_handle handle,
                                                 bool down, saratoga_time now);

/**
 * @brief Receiver: the ranges that the application has written, to be stored
 * for a resume.
 * @param engine  the engine
 * @param handle  transfer
 * @param from    search from this byte
 * @param[out] out  the lowest range that ends above @p from
 * @retval 1                 @p out was filled in
 * @retval 0                 there is none
 * @retval SARATOGA_ERR_GONE no such transfer
 */
SARATOGA_API int saratoga_transfer_held(const saratoga_engine *engine,
                                        saratoga_handle handle, uint64_t from,
                                        saratoga_range *out);
/**
 * @brief Takes a snapshot of the statistics.
 * @param engine  the engine
 * @param handle  transfer
 * @param[out] st  initialised by saratoga_stats_init()
 * @param now     current time
 * @retval 0                  filled in
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_INVAL @p st was not initialised
 */
SARATOGA_API int saratoga_transfer_get_stats(const saratoga_engine *engine,
                                             saratoga_handle handle,
                                             saratoga_stats *st,
                                             saratoga_time now);
/**
 * @brief Attaches a user pointer to a transfer.
 * @param engine  the engine
 * @param handle  transfer
 * @param user    any value
 * @retval 0                 done
 * @retval SARATOGA_ERR_GONE no such transfer
 */
SARATOGA_API int saratoga_transfer_set_user(saratoga_engine *engine,
                                            saratoga_handle handle, void *user);
/**
 * @brief Returns the user pointer of a transfer.
 * @param engine  the engine
 * @param handle  transfer
 * @return the pointer; NULL when there is none, or no such transfer
 */
SARATOGA_API void *saratoga_transfer_user(const saratoga_engine *engine,
                                          saratoga_handle handle);

/**
 * @brief Writes to a stream that this side sends.
 * @param engine  the engine
 * @param handle  transfer of kind ::SARATOGA_STREAM
 * @param data    copied
 * @param len     bytes; 0: nothing happens
 * @param now     current time
 * @return bytes accepted, counted from the first, or
 * @retval SARATOGA_ERR_AGAIN the window is full; ::SARATOGA_EVENT_WRITABLE
 *                            follows
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE not a stream sent by this side, or finished
 * @retval SARATOGA_ERR_NOMEM out of memory; nothing was accepted
 */
SARATOGA_API int64_t saratoga_stream_write(saratoga_engine *engine,
                                           saratoga_handle handle,
                                           const void *data, size_t len,
                                           saratoga_time now);
/**
 * @brief Ends a stream that this side sends.
 * @param engine  the engine
 * @param handle  transfer
 * @param now     current time
 * @retval 0                  the end will be signalled
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE not a stream sent by this side, or already
 *                            finished
 */
SARATOGA_API int saratoga_stream_finish(saratoga_engine *engine,
                                        saratoga_handle handle,
                                        saratoga_time now);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_TRANSFER_H */

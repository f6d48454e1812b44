/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/transfer.h
 * @brief Transfers of an engine: asking, answering, steering, streams.
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

/** An engine; see saratoga/engine.h. */
typedef struct saratoga_engine saratoga_engine;

/** @brief Bytes [start, end) of a file. */
typedef struct saratoga_range {
    uint64_t start; /**< first byte */
    uint64_t end;   /**< first byte behind */
} saratoga_range;

/** @brief What a side that receives already holds of a file. */
typedef struct saratoga_partial {
    saratoga_entry entry; /**< as METADATA told it; its path is not
                               compared */
    uint32_t checksum;    /**< ::saratoga_checksum as METADATA told it */
    uint32_t reserved;    /**< 0 */
    uint8_t digest[SARATOGA_CHECKSUM_MAX]; /**< likewise */
    const saratoga_range *ranges;          /**< ascending, disjoint; copied */
    size_t count;                          /**< of them */
} saratoga_partial;

/** @brief A file, directory record or stream that this side sends. */
typedef struct saratoga_source {
    saratoga_entry entry; /**< size, times, name; of a stream size is 0; of a
                               directory record the length of the record, and
                               `directory` tells whether it lists a directory
                               or that one file */
    uint32_t kind;        /**< ::saratoga_kind */
    uint32_t checksum;    /**< ::saratoga_checksum of digest, also of one that
                               comes later; or none */
    bool digest_later;    /**< METADATA first say that the checksum follows;
                               DATA flow; saratoga_transfer_set_digest() */
    bool unchanged;       /**< get with update check: the peer's copy is the
                               same; METADATA alone is sent */
    bool reserved[6];     /**< false */
    uint8_t digest[SARATOGA_CHECKSUM_MAX]; /**< the checksum */
} saratoga_source;

/** @brief A request to a peer. */
typedef struct saratoga_request {
    size_t struct_size;  /**< set by saratoga_request_init() */
    uint32_t type;       /**< ::saratoga_request_type */
    uint32_t id;         /**< Id on the wire; 0: made from the engine's id_key,
                              peer_name, type and path */
    saratoga_pktinfo to; /**< whom; with ::SARATOGA_PKT_MULTICAST a group */
    const char *path;    /**< at the peer; "" or NULL: any file */
    const char *peer_name; /**< what stays the same when the peer's address or
                                this program starts anew; NULL: "" */
    const saratoga_options *options; /**< copied; NULL: the engine's */
    const saratoga_source *source;   /**< put, give, blind put; copied */
    const saratoga_partial *partial; /**< get, take: what is held already;
                                          copied; or NULL */
    const uint8_t *auth; /**< authentication field; copied; or NULL */
    size_t auth_len;     /**< bytes of it, up to 256 */
    void *user;          /**< the application's */
} saratoga_request;

/** @brief Zeroes and tags a request. @param r  request, of any content */
#define saratoga_request_init(r) saratoga_request_init_sized((r), sizeof(*(r)))

/**
 * @brief Behind saratoga_request_init(); do not call directly.
 * @param r     request to set up
 * @param size  sizeof(saratoga_request) as the caller was compiled
 */
SARATOGA_API void saratoga_request_init_sized(saratoga_request *r, size_t size);

/**
 * @brief Starts a transfer, or a deletion, or sends a no-op.
 * @param engine  the engine
 * @param request  what; strings and structs are copied
 * @param[out] handle  names the transfer; of a no-op 0
 * @param now      current time
 * @retval 0                      started
 * @retval SARATOGA_ERR_INVAL     see saratoga_options_check(); or a path is
 *                                too long or missing, or there is no source
 * @retval SARATOGA_ERR_ALGORITHM see saratoga_options_check()
 * @retval SARATOGA_ERR_TOO_LONG  the file needs a wider descriptor than asked
 *                                for
 * @retval SARATOGA_ERR_STATE     a transfer with that host and Id is running
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
    const saratoga_partial *partial; /**< put, give, blind put: what is held
                                          already; copied; or NULL */
    void *user;                      /**< the application's */
    saratoga_pktinfo group; /**< get: a group that the answer goes to, so that
                                 whoever belongs to it takes it; zeroed: to the
                                 requester */
} saratoga_answer;

/** @brief Zeroes and tags an answer. @param a  answer, of any content */
#define saratoga_answer_init(a) saratoga_answer_init_sized((a), sizeof(*(a)))

/**
 * @brief Behind saratoga_answer_init(); do not call directly.
 * @param a     answer to set up
 * @param size  sizeof(saratoga_answer) as the caller was compiled
 */
SARATOGA_API void saratoga_answer_init_sized(saratoga_answer *a, size_t size);

/**
 * @brief Accepts what a peer asks for.  After a delete that went well, or found
 * nothing to delete, this tells so.
 * @param engine  the engine
 * @param handle  from a ::SARATOGA_EVENT_REQUEST
 * @param answer  what is sent or held; NULL when there is nothing to say
 * @param now     current time
 * @retval 0                     accepted
 * @retval SARATOGA_ERR_GONE     no such transfer
 * @retval SARATOGA_ERR_STATE    was answered before, or has ended
 * @retval SARATOGA_ERR_INVAL    see saratoga_options_check(); or a source is
 *                               missing, or is a stream and the peer takes
 *                               none; or a group is told and it is no get;
 *                               still to be answered
 * @retval SARATOGA_ERR_ALGORITHM see saratoga_options_check()
 * @retval SARATOGA_ERR_TOO_LONG the peer does not take files so long; refused
 *                               with ::SARATOGA_TOO_LONG, a DONE follows
 * @retval SARATOGA_ERR_NOMEM    still to be answered
 */
SARATOGA_API int saratoga_transfer_accept(saratoga_engine *engine,
                                          saratoga_handle handle,
                                          const saratoga_answer *answer,
                                          saratoga_time now);
/**
 * @brief Answers a get of a file that is on its way to a group: the requester,
 * who must be a member, takes it from there.  A DONE follows.
 * @param engine  the engine
 * @param handle   from a ::SARATOGA_EVENT_REQUEST of a get
 * @param running  the transfer to the group; its METADATA are sent once more
 * @param now      current time
 * @retval 0                  answered
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE was answered before, or is no get; or the other
 *                            has ended, or does not go to a group
 */
SARATOGA_API int saratoga_transfer_join(saratoga_engine *engine,
                                        saratoga_handle handle,
                                        saratoga_handle running,
                                        saratoga_time now);
/**
 * @brief Asks the peer of a request to prove its address before it is answered:
 * ::SARATOGA_EVENT_PROVEN follows if it does.  Asked again whenever the peer
 * repeats its request.
 *
 * Peers that echo no timestamps do not answer; no event reports that.
 * @param engine  the engine
 * @param handle  from a ::SARATOGA_EVENT_REQUEST, not yet answered
 * @param now     current time
 * @retval 0                  asked, or proven already
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE was answered before, or has ended
 */
SARATOGA_API int saratoga_transfer_challenge(saratoga_engine *engine,
                                             saratoga_handle handle,
                                             saratoga_time now);
/**
 * @brief Refuses what a peer asks for.  A DONE follows.
 * @param engine  the engine
 * @param handle  from a ::SARATOGA_EVENT_REQUEST
 * @param status  ::saratoga_status but success
 * @param now     current time
 * @retval 0                  refused
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE was answered before, or has ended
 * @retval SARATOGA_ERR_INVAL not a failure status
 */
SARATOGA_API int saratoga_transfer_refuse(saratoga_engine *engine,
                                          saratoga_handle handle,
                                          unsigned status, saratoga_time now);
/**
 * @brief Cancels a transfer and notifies the peer. A DONE event follows.
 * @param engine  the engine
 * @param handle  transfer
 * @param status  ::saratoga_status but success: why
 * @param now     current time
 * @retval 0                  ended
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE has ended before
 * @retval SARATOGA_ERR_INVAL not a failure status
 */
SARATOGA_API int saratoga_transfer_cancel(saratoga_engine *engine,
                                          saratoga_handle handle,
                                          unsigned status, saratoga_time now);
/**
 * @brief Lets go of a transfer; one that runs is cancelled without an event.
 * What must linger does so unseen.
 * @param engine  the engine
 * @param handle  transfer; invalid from here on
 * @param now     current time
 * @retval 0                 let go
 * @retval SARATOGA_ERR_GONE no such transfer
 */
SARATOGA_API int saratoga_transfer_release(saratoga_engine *engine,
                                           saratoga_handle handle,
                                           saratoga_time now);

/**
 * @brief Tells the checksum of a source with digest_later.
 * @param engine  the engine
 * @param handle  transfer
 * @param type    ::saratoga_checksum; none: there will be none
 * @param digest  saratoga_digest_len() bytes
 * @param now     current time
 * @retval 0                  METADATA goes out
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE is not awaited
 * @retval SARATOGA_ERR_INVAL no such type
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
 * @param rate_bps  bit/s of IP packets: the rate of an open loop, the cap of a
 *                  controller; 0: none
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
 * @brief Pauses or resumes: while the link is known to be down no timer of the
 * transfer runs and nothing is sent.
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
 * @brief Receiver: what is safely with the application, to be kept for a
 * resume.
 * @param engine  the engine
 * @param handle  transfer
 * @param from    look from this byte on
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
 * @param[out] st  set up with saratoga_stats_init()
 * @param now     current time
 * @retval 0                  filled in
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_INVAL @p st was not set up
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
 * @param len     bytes
 * @param now     current time
 * @return bytes taken, from the first, or
 * @retval SARATOGA_ERR_AGAIN the window is full; ::SARATOGA_EVENT_WRITABLE
 *                            follows
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE not a stream of this side, or finished
 * @retval SARATOGA_ERR_NOMEM nothing was taken
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
 * @retval 0                  the end will be told
 * @retval SARATOGA_ERR_GONE  no such transfer
 * @retval SARATOGA_ERR_STATE not a stream of this side, or finished before
 */
SARATOGA_API int saratoga_stream_finish(saratoga_engine *engine,
                                        saratoga_handle handle,
                                        saratoga_time now);

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_TRANSFER_H */

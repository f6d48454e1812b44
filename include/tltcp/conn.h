/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/conn.h
 * @brief The engine: datagrams and time in, datagrams and events out.
 *
 * No call blocks, does I/O, reads a clock or starts a thread. After any call,
 * do this in order: call tltcp_conn_next_event() until it returns 0,
 * tltcp_conn_send() until it writes nothing, then set a timer for
 * tltcp_conn_timeout().
 *
 * Use a connection from one thread at a time. `now` must never run backwards.
 *
 * The engine never sees addresses: a path is a 64-bit token that the driver
 * assigns to each pair of local and remote address. Equal tokens mean equal
 * addresses; 0 is not used.
 *
 * The protocol is described in docs/protocols/tltcp.md.
 */
#ifndef TLTCP_CONN_H
#define TLTCP_CONN_H

#include <tltcp/config.h>
#include <tltcp/event.h>
#include <tltcp/stats.h>
#include <tltcp/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_engine
 * @{ */

/** A connection. */
typedef struct tltcp_conn tltcp_conn;
/** The listening side of a UDP port: its connections, tokens and limits. */
typedef struct tltcp_endpoint tltcp_endpoint;

/** Bytes of randomness that a connection or an endpoint needs. */
#define TLTCP_SEED_LEN 32
/** Longest reply of tltcp_endpoint_recv(), bytes. */
#define TLTCP_REPLY_MAX 256

/** @brief What accompanies the bytes of a datagram. */
typedef struct tltcp_pktinfo {
    uint64_t path;    /**< the driver's token for the addresses */
    uint32_t ecn;     /**< ECN codepoint of the IP header, 0 to 3 */
    uint32_t dscp;    /**< out: DSCP to mark with, 0 to 63; in: ignored */
    uint64_t network; /**< in: the driver's token for what counts as one address
                           in limits, such as an IPv4 address or an IPv6 /64; 0:
                           no such limits; out: 0 */
    uint64_t block56; /**< in: likewise for an IPv6 /56, which gets twice the
                           limit of an address; 0: not known; out: 0 */
    uint64_t block48; /**< in: likewise for an IPv6 /48, which gets four times
                           the limit */
} tltcp_pktinfo;

/** @} */

/** @addtogroup tltcp_engine_drive
 * @{ */

/**
 * @brief Creates the calling side of a connection; its first datagram is ready.
 * @param[out] conn  the new connection; free with tltcp_conn_free()
 * @param config  copied
 * @param seed    ::TLTCP_SEED_LEN unpredictable bytes; equal seeds and equal
 *                inputs give equal datagrams
 * @param path    destination
 * @param now     current time
 * @retval 0                     created
 * @retval TLTCP_ERR_INVAL       see tltcp_config_check()
 * @retval TLTCP_ERR_ALGORITHM   see tltcp_config_check()
 * @retval TLTCP_ERR_UNSUPPORTED see tltcp_config_check()
 * @retval TLTCP_ERR_NOMEM       out of memory
 */
TLTCP_API int tltcp_conn_new(tltcp_conn **conn, const tltcp_config *config,
                             const uint8_t *seed, uint64_t path,
                             tltcp_time now);

/**
 * @brief Frees a connection without notifying the peer, and removes it from its
 * endpoint.
 * @param conn  connection, or NULL
 */
TLTCP_API void tltcp_conn_free(tltcp_conn *conn);

/**
 * @brief Processes one datagram from the network.
 *
 * Malformed, foreign and repeated datagrams are counted and dropped; this is
 * not an error.
 * @param conn   connection
 * @param info   path and ECN codepoint
 * @param dgram  the UDP payload
 * @param len    bytes at @p dgram
 * @param now    current time
 * @retval 0 processed or dropped
 * @retval TLTCP_ERR_CLOSED the connection is over
 */
TLTCP_API int tltcp_conn_recv(tltcp_conn *conn, const tltcp_pktinfo *info,
                              const void *dgram, size_t len, tltcp_time now);

/**
 * @brief Writes the next datagrams to send.
 *
 * The datagrams of one call go to the same path with the same ECN codepoint.
 * They lie back to back and are @p segment bytes each; the last may be shorter,
 * as UDP_SEGMENT requires.
 * @param conn  connection
 * @param[out] info     destination and marks
 * @param buf           room for datagrams
 * @param cap           bytes at @p buf, at least
 * tltcp_packet_options::max_datagram
 * @param[out] segment  size of each datagram except the last
 * @param now           current time
 * @return bytes written; 0: nothing to send now; see tltcp_conn_timeout()
 */
TLTCP_API size_t tltcp_conn_send(tltcp_conn *conn, tltcp_pktinfo *info,
                                 void *buf, size_t cap, size_t *segment,
                                 tltcp_time now);

/**
 * @brief When to call tltcp_conn_on_timeout().
 * @param conn  connection
 * @return absolute time, possibly past; ::TLTCP_TIME_NEVER: no timer needed
 */
TLTCP_API tltcp_time tltcp_conn_timeout(const tltcp_conn *conn);

/**
 * @brief Runs due timers; early calls are harmless.
 * @param conn  connection
 * @param now   current time
 */
TLTCP_API void tltcp_conn_on_timeout(tltcp_conn *conn, tltcp_time now);

/**
 * @brief Takes the oldest event.
 * @param conn  connection
 * @param[out] ev  the event
 * @retval 1 @p ev was filled in
 * @retval 0 there is none
 */
TLTCP_API int tltcp_conn_next_event(tltcp_conn *conn, tltcp_event *ev);

/**
 * @brief Takes the oldest event that is not a ::TLTCP_EVENT_FATE.
 *
 * For a driver that handles signals itself and leaves the fates to its
 * application.
 * @param conn  connection
 * @param[out] ev  the event
 * @retval 1 @p ev was filled in
 * @retval 0 there is none
 */
TLTCP_API int tltcp_conn_next_signal(tltcp_conn *conn, tltcp_event *ev);

/**
 * @brief Number of fates queued for tltcp_conn_next_event().
 * @param conn  connection
 * @return 0 to 65536; always 0 without tltcp_config::report_fates
 */
TLTCP_API size_t tltcp_conn_fates(const tltcp_conn *conn);

/**
 * @brief Carries a connection over a reliable transport instead of UDP.
 *
 * The transport delivers every datagram, in order, and has its own congestion
 * control, as TCP does; see docs/protocols/tltcp.md section 16. The connection
 * then neither probes the path nor marks packets, lets the transport limit its
 * rate, and ignores datagrams from other paths.
 *
 * For a caller, call it before the connection is open: its first message is
 * then sent again. For a listener's connection, call it after ::TLTCP_CALLER
 * and before tltcp_conn_accept().
 * @param conn  connection
 * @param path  the driver's token for the transport's connection
 * @param now   current time
 * @retval 0                     done
 * @retval TLTCP_ERR_STATE       the connection is open or over
 * @retval TLTCP_ERR_UNSUPPORTED with the dupack recovery
 * @retval TLTCP_ERR_NOMEM       out of memory
 */
TLTCP_API int tltcp_conn_set_reliable(tltcp_conn *conn, uint64_t path,
                                      tltcp_time now);

/**
 * @brief Reports whether a reliable transport is blocked, which means that it
 * accepts no more data for now.
 *
 * While it is blocked, do not call tltcp_conn_send(). tltcp_conn_timeout() then
 * ignores what waits to be sent, and deadlines expire as usual.
 * @param conn     connection
 * @param blocked  whether it is blocked
 */
TLTCP_API void tltcp_conn_set_blocked(tltcp_conn *conn, bool blocked);

/**
 * @brief Reports that the connection of a reliable transport has ended.
 * ::TLTCP_EVENT_CLOSED follows, unless the connection was over already.
 * @param conn    connection
 * @param error   a negative ::tltcp_error; 0 is reported instead if everything
 *                was delivered and only the peer's answer to that is missing
 * @param reason  text, or NULL
 * @param now     current time
 */
TLTCP_API void tltcp_conn_lost(tltcp_conn *conn, int error, const char *reason,
                               tltcp_time now);

/** @} */

/** @addtogroup tltcp_engine_data
 * @{ */

/**
 * @brief Writes whole sections, each or not at all, in order.
 *
 * A section whose deadline has passed is accepted, takes its sequence numbers
 * and expires unsent.  Sections may be written before the handshake is
 * complete; data is sent after it.
 * @param conn      connection
 * @param sections  array of @p count
 * @param count     at least 1
 * @param now       current time
 * @return number of sections accepted, counted from the first, or
 * @retval TLTCP_ERR_INVAL   @p count is 0, a section is empty, or its class or
 *                           stream is out of range
 * @retval TLTCP_ERR_TOO_BIG the first is larger than the send buffer
 * @retval TLTCP_ERR_AGAIN   no room for the first now; wait until
 *                           tltcp_conn_writable()
 * @retval TLTCP_ERR_STATE   after tltcp_conn_finish()
 * @retval TLTCP_ERR_CLOSED  the connection is over
 * @retval TLTCP_ERR_NOMEM   out of memory; nothing was accepted
 */
TLTCP_API int tltcp_conn_write(tltcp_conn *conn, const tltcp_section *sections,
                               size_t count, tltcp_time now);

/**
 * @brief Whether a section written now is expected to arrive in time.
 *
 * Lets an application skip a frame before it is encoded: a frame that is not
 * encoded breaks no reference, and the next one is in time again.
 * @param conn      connection
 * @param len       bytes that the section would have
 * @param deadline  when it should arrive at the peer
 * @param now       current time
 * @return false if it would be late; true also while the path is not known
 */
TLTCP_API bool tltcp_conn_would_arrive(const tltcp_conn *conn, size_t len,
                                       tltcp_time deadline, tltcp_time now);

/**
 * @brief Maximum size of the next section.
 * @param conn  connection
 * @return bytes; 0: no room
 */
TLTCP_API size_t tltcp_conn_writable(const tltcp_conn *conn);

/**
 * @brief Reads what is ready: data and gaps that tile the stream, or, if
 * unordered, whole sections in the order of completion.
 *
 * Piece *i* is described by @p segments[i].  Data is copied to @p bufs[i],
 * whose len becomes the bytes copied; for a gap base is untouched and len
 * becomes the size of the gap.
 * @param conn      connection
 * @param bufs      array of *@p count buffers
 * @param segments  array of *@p count
 * @param[in,out] count  in: maximum number of pieces, out: pieces returned
 * @param now       current time
 * @return stream length covered by the pieces, or
 * @retval 0                end of the stream
 * @retval TLTCP_ERR_AGAIN  nothing ready
 * @retval TLTCP_ERR_INVAL  *@p count is 0 or the first buffer is empty
 * @retval TLTCP_ERR_ABORTED the peer closed before the end of its stream
 * @retval others           why the connection ended, as in ::TLTCP_EVENT_CLOSED
 */
TLTCP_API int64_t tltcp_conn_read(tltcp_conn *conn, tltcp_buf *bufs,
                                  struct tltcp_segment *segments, size_t *count,
                                  tltcp_time now);

/**
 * @brief As tltcp_conn_read(), with the metadata of the sections.
 * @param conn      connection
 * @param bufs      array of *@p count buffers
 * @param segments  array of *@p count
 * @param[out] metas  array of *@p count: metadata of the section of each piece;
 *                    for a gap, of its first section; may be NULL
 * @param[in,out] count  in: maximum number of pieces, out: pieces returned
 * @param now       current time
 * @return as tltcp_conn_read()
 */
TLTCP_API int64_t tltcp_conn_read_meta(tltcp_conn *conn, tltcp_buf *bufs,
                                       struct tltcp_segment *segments,
                                       struct tltcp_meta *metas, size_t *count,
                                       tltcp_time now);

/**
 * @brief Whether tltcp_conn_read() would return anything but
 * ::TLTCP_ERR_AGAIN.
 * @param conn  connection
 * @return true when it would
 */
TLTCP_API bool tltcp_conn_readable(const tltcp_conn *conn);

/**
 * @brief Whether it is worth waking a reader.
 *
 * Waking a reader for every packet costs more than the packets themselves.
 * @param conn  connection
 * @return true if tltcp_conn_readable() and the ready data is a gap, the end,
 * the rest of a section, or at least 64 KiB or a quarter of
 * tltcp_config::recv_buffer of a longer section
 */
TLTCP_API bool tltcp_conn_section_ready(const tltcp_conn *conn);

/** @} */

/** @addtogroup tltcp_engine_close
 * @{ */

/**
 * @brief Ends this side's stream; the peer reads the end after all sections
 * have been delivered or have expired.
 * @param conn  connection
 * @param now   current time
 */
TLTCP_API void tltcp_conn_finish(tltcp_conn *conn, tltcp_time now);

/**
 * @brief Closes: ends the stream, waits until every section has been delivered
 * or has expired, then notifies the peer.  ::TLTCP_EVENT_CLOSED follows.
 * @param conn    connection
 * @param linger  time at which to abort; ::TLTCP_TIME_NEVER: abort when the
 *                peer is silent for the idle timeout or acknowledges nothing
 *                for twice that. A peer that acknowledges but does not read may
 *                delay this for ever
 * @param now     current time
 */
TLTCP_API void tltcp_conn_close(tltcp_conn *conn, tltcp_time linger,
                                tltcp_time now);

/**
 * @brief Ends at once; the peer is notified on a best-effort basis.
 * @param conn    connection
 * @param error   reason, a negative ::tltcp_error sent to the peer
 * @param reason  reason as text, copied up to ::TLTCP_REASON_MAX bytes; or NULL
 * @param now     current time
 */
TLTCP_API void tltcp_conn_abort(tltcp_conn *conn, int error, const char *reason,
                                tltcp_time now);

/**
 * @brief Whether the connection is over and will send nothing more.
 * @param conn  connection
 * @return true when it may be freed
 */
TLTCP_API bool tltcp_conn_is_closed(const tltcp_conn *conn);

/** @} */

/** @addtogroup tltcp_engine_watch
 * @{ */

/**
 * @brief Takes a snapshot of the statistics.
 * @param conn  connection
 * @param[out] st  initialised by tltcp_stats_init()
 * @param now   current time
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL @p st was not initialised
 */
TLTCP_API int tltcp_conn_get_stats(const tltcp_conn *conn, tltcp_stats *st,
                                   tltcp_time now);

/**
 * @brief The path in use.
 * @param conn  connection
 * @return the driver's token
 */
TLTCP_API uint64_t tltcp_conn_path(const tltcp_conn *conn);

/** @brief The stream id that the caller requested. @param conn  connection
 * @return zero-terminated, "" when none; valid as long as @p conn */
TLTCP_API const char *tltcp_conn_stream_id(const tltcp_conn *conn);

/** @brief Which of the listener's secrets the caller has, for listeners that
 * require a certain one for each stream id. Valid until the connection is open.
 * @param conn  connection that an endpoint made
 * @return as tltcp_caller::secret */
TLTCP_API unsigned tltcp_conn_secret(const tltcp_conn *conn);

/** @brief The peer's static public key; see ::tltcp_identity_options. A caller
 * has proven it once its connection is open. @param conn  connection
 * @return 32 bytes, valid as long as @p conn; NULL: there are none */
TLTCP_API const uint8_t *tltcp_conn_identity(const tltcp_conn *conn);

/**
 * @brief Reports that the driver is about to send from another local address.
 *
 * Sealed packets then carry another connection id and other packet numbers, so
 * that an observer of both addresses cannot link them (RFC 9000 section 9.5).
 * The peer does the same. A PING announces the address to the peer.
 * @param conn  connection
 * @retval true   another id is in use
 * @retval false  none is spare, or the connection is not sealed or not open;
 *                it keeps the id in use
 */
TLTCP_API bool tltcp_conn_migrate(tltcp_conn *conn);

/**
 * @brief The first connection id by which the peer addresses this connection.
 * A sealed connection has further ones, which are not visible.
 * @param conn  connection
 * @return 64 random bits
 */
TLTCP_API uint64_t tltcp_conn_id(const tltcp_conn *conn);

/**
 * @brief Attaches a user pointer to a connection.
 * @param conn  connection
 * @param user  any value
 */
TLTCP_API void tltcp_conn_set_user(tltcp_conn *conn, void *user);

/**
 * @brief The pointer set by tltcp_conn_set_user().
 * @param conn  connection
 * @return the pointer; initially NULL
 */
TLTCP_API void *tltcp_conn_user(const tltcp_conn *conn);

/** @} */

/** @addtogroup tltcp_engine_listen
 * @{ */

/**
 * @brief Creates the listening side of a port.
 * @param[out] out  the new endpoint; free with tltcp_endpoint_free()
 * @param config   copied; also the options of accepted connections
 * @param seed     ::TLTCP_SEED_LEN unpredictable bytes
 * @param now      current time
 * @retval 0 created; otherwise as tltcp_conn_new()
 */
TLTCP_API int tltcp_endpoint_new(tltcp_endpoint **out,
                                 const tltcp_config *config,
                                 const uint8_t *seed, tltcp_time now);

/**
 * @brief Frees an endpoint; its connections must have been freed before.
 * @param ep  endpoint, or NULL
 */
TLTCP_API void tltcp_endpoint_free(tltcp_endpoint *ep);

/** What tltcp_endpoint_recv() did with a datagram. */
enum tltcp_verdict {
    TLTCP_DROPPED = 0, /**< nothing to do */
    TLTCP_TAKEN = 1,   /**< an existing connection processed it */
    TLTCP_CALLER = 2,  /**< a new connection waits for tltcp_conn_accept() or
                            tltcp_conn_refuse() */
    TLTCP_REPLY = 3    /**< send the reply to the source of the datagram */
};

/** @brief Output of tltcp_endpoint_recv(), beside its verdict. */
typedef struct tltcp_dispatch {
    tltcp_conn *conn;               /**< TAKEN, CALLER: its connection */
    size_t reply_len;               /**< REPLY: bytes in reply */
    uint8_t reply[TLTCP_REPLY_MAX]; /**< REPLY: the datagram to send */
    bool rejected; /**< REPLY: to a caller without the right key */
} tltcp_dispatch;

/**
 * @brief Processes one datagram of a listening port and passes it to its
 * connection.
 *
 * A reply is never longer than a third of the datagram. A repeated INITIAL is
 * TAKEN.  Callers beyond tltcp_listener_options::max_connections and
 * tltcp_listener_options::max_per_address leave no state; up to a thousand per
 * second get a rejection message and fail with ::TLTCP_ERR_LIMIT or
 * ::TLTCP_ERR_REFUSED.
 * @param ep     endpoint
 * @param info   path and ECN codepoint
 * @param dgram  the UDP payload
 * @param len    bytes at @p dgram
 * @param[out] out  filled in according to the verdict
 * @param now    current time
 * @return a ::tltcp_verdict
 */
TLTCP_API int tltcp_endpoint_recv(tltcp_endpoint *ep, const tltcp_pktinfo *info,
                                  const void *dgram, size_t len,
                                  tltcp_dispatch *out, tltcp_time now);

/**
 * @brief Accepts a caller; its answer is then ready to send.
 * @param conn  from a ::TLTCP_CALLER verdict
 * @param now   current time
 * @retval 0               accepted
 * @retval TLTCP_ERR_STATE already answered
 */
TLTCP_API int tltcp_conn_accept(tltcp_conn *conn, tltcp_time now);

/**
 * @brief Refuses a caller and sends it the reason; the connection then closes.
 * @param conn    from a ::TLTCP_CALLER verdict
 * @param reason reason as text, or NULL
 * @param now    current time
 * @retval 0               refused
 * @retval TLTCP_ERR_STATE already answered
 */
TLTCP_API int tltcp_conn_refuse(tltcp_conn *conn, const char *reason,
                                tltcp_time now);

/**
 * @brief Number of connections of an endpoint.
 * @param ep  endpoint
 * @return connections not yet freed
 */
TLTCP_API size_t tltcp_endpoint_count(const tltcp_endpoint *ep);

/**
 * @brief Number of callers with a wrong or missing passphrase or key.
 * @param ep  endpoint
 * @return number since the endpoint was created
 */
TLTCP_API uint64_t tltcp_endpoint_rejected(const tltcp_endpoint *ep);

/**
 * @brief Fills in the counters of a listener: tltcp_stats::callers_rejected,
 * callers_turned_away and callers_retried, of all endpoints of a group.  Adds
 * datagrams for no connection to packets_dropped.
 * @param ep  endpoint
 * @param[in,out] st  initialised by tltcp_stats_init()
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL @p st was not initialised
 */
TLTCP_API int tltcp_endpoint_get_stats(const tltcp_endpoint *ep,
                                       tltcp_stats *st);

/** @} */

/** @addtogroup tltcp_engine_keys
 * @{ */

/** @brief A key to be derived from a passphrase; see
 * tltcp_conn_defer_keys(). */
typedef struct tltcp_key_job tltcp_key_job;

/**
 * @brief Lets the driver derive the key from a passphrase.
 *
 * Each listener has its own salt, so the key can only be derived after the
 * listener's first answer. The derivation takes tens of milliseconds. By
 * default the engine does it inside tltcp_conn_recv(). After this call, the
 * driver instead calls tltcp_conn_key_job() after each tltcp_conn_recv() until
 * the connection is open, tltcp_key_job_run() on any thread, and
 * tltcp_conn_take_key() with the result.
 * @param conn  a caller's connection, before its first datagram
 */
TLTCP_API void tltcp_conn_defer_keys(tltcp_conn *conn);

/**
 * @brief The key derivation that the connection waits for.
 * @param conn  connection
 * @return a job, to be freed by tltcp_conn_take_key(); NULL: none, or already
 * returned
 */
TLTCP_API tltcp_key_job *tltcp_conn_key_job(tltcp_conn *conn);

/**
 * @brief Derives the key; accesses only the job.
 * @param job  from tltcp_conn_key_job()
 */
TLTCP_API void tltcp_key_job_run(tltcp_key_job *job);

/**
 * @brief Passes the key to the connection, which continues its handshake, and
 * frees the job.
 * @param conn  the connection of the job; NULL: already freed
 * @param job   the job; freed; its memory belongs to the connection's allocator
 * @param now   current time
 */
TLTCP_API void tltcp_conn_take_key(tltcp_conn *conn, tltcp_key_job *job,
                                   tltcp_time now);

/**
 * @brief Updates the keys of a secured connection in both directions, as soon
 * as the peer has confirmed the current ones.
 * @param conn  connection
 * @retval 0 requested
 * @retval TLTCP_ERR_STATE not secured, or not open
 */
TLTCP_API int tltcp_conn_rekey(tltcp_conn *conn);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_CONN_H */

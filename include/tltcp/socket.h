/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/socket.h
 * @brief TLTCP with a socket-like interface (paper, section 4).
 *
 * Several threads may use a socket: one sends, one receives, others call the
 * rest. tltcp_close() must be the last call, with no other in progress.
 *
 * I/O runs on threads of the library, which block all signals. A listener has
 * tltcp_io_options::threads of its own, which also serve the accepted
 * connections, each of them one. Calling sockets of a process share threads, up
 * to 64 sockets per thread; a thread ends with its last socket.  Sockets do not
 * survive fork(): a child may open its own, and may call no function but
 * tltcp_close(), tltcp_reject() and tltcp_abort() with its copies of others.
 *
 * tltcp_listener_options::on_caller and tltcp_config::on_trace run on such a
 * thread with no lock held.  They must neither block nor close sockets. Those
 * of one listener run one at a time, on whichever of its threads.
 *
 * Descriptors (tltcp_fd() and others) are only for poll() and event loops: they
 * are level-triggered, owned by the socket, and must not be read, written or
 * closed.
 */
#ifndef TLTCP_SOCKET_H
#define TLTCP_SOCKET_H

#include <tltcp/config.h>
#include <tltcp/event.h>
#include <tltcp/stats.h>
#include <tltcp/types.h>

#if defined(_WIN32)
#include <basetsd.h>
#include <winsock2.h>
#include <ws2tcpip.h>
/** Signed size, as on POSIX systems. */
typedef SSIZE_T ssize_t;
/** Sections with control data. */
struct msghdr {
    void *msg_name;        /**< not used */
    socklen_t msg_namelen; /**< not used */
    struct iovec *msg_iov; /**< sections or pieces */
    size_t msg_iovlen;     /**< how many */
    void *msg_control;     /**< control data */
    size_t msg_controllen; /**< bytes of control data */
    int msg_flags;         /**< flags on receipt */
};
/** Header of a control message. */
struct cmsghdr {
    size_t cmsg_len; /**< bytes, including this header */
    int cmsg_level;  /**< ::SOL_TLTCP */
    int cmsg_type;   /**< ::TL_DEADLINE, ::TL_META or ::TL_SEGMENT */
};
#undef CMSG_ALIGN
#undef CMSG_LEN
#undef CMSG_SPACE
#undef CMSG_DATA
#undef CMSG_FIRSTHDR
#undef CMSG_NXTHDR
/** Rounds up to the alignment of headers. */
#define CMSG_ALIGN(n) (((n) + sizeof(size_t) - 1) & ~(sizeof(size_t) - 1))
/** Value of cmsg_len for @p n bytes of data. */
#define CMSG_LEN(n) (CMSG_ALIGN(sizeof(struct cmsghdr)) + (n))
/** Space for @p n bytes of data with their header. */
#define CMSG_SPACE(n) (CMSG_ALIGN(sizeof(struct cmsghdr)) + CMSG_ALIGN(n))
/** The data after a header. */
#define CMSG_DATA(c) ((unsigned char *)(c) + CMSG_ALIGN(sizeof(struct cmsghdr)))
/** The first header, or NULL. */
#define CMSG_FIRSTHDR(m)                           \
    ((m)->msg_controllen >= sizeof(struct cmsghdr) \
         ? (struct cmsghdr *)(m)->msg_control      \
         : (struct cmsghdr *)NULL)
/** The header after @p c, or NULL. */
#define CMSG_NXTHDR(m, c)                                                      \
    ((size_t)((char *)(c) - (char *)(m)->msg_control) +                        \
                 CMSG_ALIGN((c)->cmsg_len) + sizeof(struct cmsghdr) <=         \
             (m)->msg_controllen                                               \
         ? (struct cmsghdr *)(void *)((char *)(c) + CMSG_ALIGN((c)->cmsg_len)) \
         : (struct cmsghdr *)NULL)
#ifndef MSG_DONTWAIT
/** Do not wait. */
#define MSG_DONTWAIT 0x40
#endif
#ifndef MSG_CTRUNC
/** Control data was too small. */
#define MSG_CTRUNC 0x0200
#endif
#else
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_socket
 * @{ */

/** Level of TLTCP's control messages. */
#define SOL_TLTCP 0x544c
/** Control message: one ::tltcp_time per section, the deadlines. */
#define TL_DEADLINE 1
/** Control message: one struct tltcp_segment per piece. */
#define TL_SEGMENT 2
/** Control message: one struct tltcp_meta per section or piece. */
#define TL_META 3
/** Flag of tltcp_sendmsg() and tltcp_recvmsg(): use control data. */
#define MSG_TL 0x00800000
/** Flag of tltcp_recvmsg() beside ::MSG_TL: also return ::TL_META. */
#define MSG_TL_META 0x00400000

/** A connection or a listener. */
typedef struct tltcp_socket tltcp_socket;

/**
 * @brief The clock of the socket API.
 * @return nanoseconds of the system's monotonic clock
 */
TLTCP_API tltcp_time tltcp_now(void);

/** @} */

/** @addtogroup tltcp_socket_connect
 * @{ */

/**
 * @brief Listens for callers.
 *
 * Callers that on_caller accepts are queued for tltcp_accept(). The queue holds
 * at most 4096; further callers are refused, as are those beyond the limits of
 * tltcp_listener_options.
 * @param[out] s   the listener, to be closed with tltcp_close(); set only when
 *                 0 is returned
 * @param host     address or name to bind to; NULL: all addresses, IPv4 and
 * IPv6
 * @param service  port number or name; "0": any free port
 * @param c        options, also of accepted sockets; NULL: defaults
 * @retval 0                   listening
 * @retval TLTCP_ERR_ADDRESS   @p host or @p service is not usable
 * @retval TLTCP_ERR_IN_USE    the port is taken
 * @retval TLTCP_ERR_INVAL     @p s or @p service is NULL, or the options are
 *                             wrong; see tltcp_config_check()
 * @retval TLTCP_ERR_ALGORITHM no such controller or recovery
 * @retval TLTCP_ERR_UNSUPPORTED security requested but not built in, or several
 *                             I/O threads where the system cannot steer
 *                             datagrams to them
 * @retval TLTCP_ERR_NOMEM     out of memory
 * @retval TLTCP_ERR_IO        the operating system refused, or
 *                             tltcp_config::qlog_dir does not exist
 */
TLTCP_API int tltcp_listen(tltcp_socket **s, const char *host,
                           const char *service, const tltcp_config *c);

/**
 * @brief Accepts the next caller.
 * @param listener    from tltcp_listen()
 * @param[out] s      the connection, to be closed with tltcp_close(); set only
 *                    when 0 is returned
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 0                accepted
 * @retval TLTCP_ERR_AGAIN  no caller in time
 * @retval TLTCP_ERR_INVAL  an argument is NULL or not a listener
 */
TLTCP_API int tltcp_accept(tltcp_socket *listener, tltcp_socket **s,
                           int timeout_ms);

/**
 * @brief Closes and frees a connection at once and gives the peer a reason.
 *
 * Rejects a caller after acceptance.  tltcp_listener_options::on_caller rejects
 * earlier, before the caller's address is proven.
 * @param s       connection, or NULL
 * @param reason  at most TLTCP_REASON_MAX bytes of it reach the peer, as does
 *                TLTCP_ERR_REFUSED; NULL: none
 * @retval 0                   done
 * @retval TLTCP_ERR_INVAL     a listener, which stays as it is
 * @retval TLTCP_ERR_STATE     as of tltcp_close()
 */
TLTCP_API int tltcp_reject(tltcp_socket *s, const char *reason);

/**
 * @brief Closes and frees a connection at once because this side cannot
 * continue, for example because its disk is full.
 *
 * Unlike after tltcp_reject(), the peer may call again.
 * @param s       connection, or NULL
 * @param reason  at most TLTCP_REASON_MAX bytes of it reach the peer, as does
 *                TLTCP_ERR_ABORTED; NULL: none
 * @retval 0                   done
 * @retval TLTCP_ERR_INVAL     a listener, which stays as it is
 * @retval TLTCP_ERR_STATE     as of tltcp_close()
 */
TLTCP_API int tltcp_abort(tltcp_socket *s, const char *reason);

/**
 * @brief Calls a listener.
 *
 * Tries each address of @p host. Moves on to the next one when an address
 * refuses, is unreachable, or stays silent for its share of the time. Skips
 * IPv6 addresses on a machine without IPv6. Name resolution blocks regardless
 * of @p timeout_ms; numeric addresses need none.
 * @param[out] s      the connection, to be closed with tltcp_close(); set only
 *                    when 0 is returned
 * @param host        address or name
 * @param service     port number or name
 * @param c           options; NULL: defaults
 * @param timeout_ms  milliseconds to wait; < 0:
 *                    tltcp_config::connect_timeout_ms; 0: do not wait, the
 *                    socket becomes readable or writable when the attempt has
 *                    ended
 * @retval 0                   connected, or in progress if @p timeout_ms is 0
 * @retval TLTCP_ERR_ADDRESS   @p host, @p service, tltcp_io_options::local_host
 *                             or tltcp_io_options::local_service is not usable,
 *                             or @p host cannot be reached from there
 * @retval TLTCP_ERR_IN_USE    tltcp_io_options::local_service is taken
 * @retval TLTCP_ERR_TIMEOUT   no answer
 * @retval TLTCP_ERR_REFUSED   no listener (detected only after a second,
 *                             because ICMP messages can be forged); or the
 *                             listener refused
 * @retval TLTCP_ERR_LIMIT     the listener has reached a limit
 * @retval TLTCP_ERR_VERSION   no protocol version in common
 * @retval TLTCP_ERR_AUTH      wrong passphrase or key
 * @retval TLTCP_ERR_INVAL     see tltcp_listen()
 * @retval TLTCP_ERR_ALGORITHM see tltcp_listen()
 * @retval TLTCP_ERR_UNSUPPORTED see tltcp_listen()
 * @retval TLTCP_ERR_NOMEM     out of memory
 * @retval TLTCP_ERR_IO        the operating system refused
 */
TLTCP_API int tltcp_connect(tltcp_socket **s, const char *host,
                            const char *service, const tltcp_config *c,
                            int timeout_ms);

/**
 * @brief Waits for the result of tltcp_connect() with `timeout_ms` 0.
 *
 * Unlike after a failed tltcp_connect(), there is a socket, and
 * tltcp_socket_error() gives the listener's reason.
 * @param s           connection
 * @param timeout_ms  milliseconds to wait; < 0: until the attempt has ended; 0:
 *                    do not wait
 * @retval 0                 connected
 * @retval TLTCP_ERR_AGAIN   no result in time
 * @retval TLTCP_ERR_INVAL   NULL or a listener
 * @retval TLTCP_ERR_TIMEOUT and others: see tltcp_connect()
 */
TLTCP_API int tltcp_wait_connected(tltcp_socket *s, int timeout_ms);

/** @} */

/** @addtogroup tltcp_socket_send
 * @{ */

/**
 * @brief Sends sections.
 *
 * A section is accepted whole or not at all. A section whose deadline has
 * passed is accepted and counted as expired unsent. Another thread may receive
 * at the same time.
 * @param s         connection
 * @param sections  array of @p count; copied before returning
 * @param count     at least 1
 * @param flags     `MSG_DONTWAIT`: do not wait for room; or 0
 * @return bytes of the sections accepted, counted from the first, or
 * @retval TLTCP_ERR_AGAIN   MSG_DONTWAIT and no room for the first
 * @retval TLTCP_ERR_INVAL   NULL, no section, an empty one, unknown flags, or
 *                           a class or stream out of range
 * @retval TLTCP_ERR_TOO_BIG the first is larger than the send buffer
 * @retval TLTCP_ERR_STATE   a listener, or after tltcp_shutdown()
 * @retval TLTCP_ERR_CLOSED  the connection is over; tltcp_socket_error() gives
 *                           the cause
 * @retval TLTCP_ERR_NOMEM   out of memory; nothing was accepted
 */
TLTCP_API ssize_t tltcp_send(tltcp_socket *s, const tltcp_section *sections,
                             size_t count, int flags);

/**
 * @brief Whether a section sent now is expected to arrive in time.
 *
 * Accounts for the queues in the sender and in the path at the estimated
 * bandwidth. Lets an application skip a picture before encoding it: a picture
 * that is never encoded breaks no reference, and the next one is in time again.
 * @param s         connection
 * @param len       bytes that the section would have
 * @param deadline  when it should arrive at the peer, on tltcp_now()'s clock;
 *                  ::TLTCP_TIME_NEVER: no deadline
 * @retval 1               in time, or the path is not known yet
 * @retval 0               too late, or @p deadline has passed
 * @retval TLTCP_ERR_INVAL NULL or a listener
 */
TLTCP_API int tltcp_would_arrive(const tltcp_socket *s, size_t len,
                                 tltcp_time deadline);

/** @} */

/** @addtogroup tltcp_socket_receive
 * @{ */

/**
 * @brief Receives pieces: data and gaps, which together tile the stream.
 *
 * Data is contiguous, of one section, and copied to tltcp_piece::data.  A gap
 * leaves the buffer untouched; its tltcp_piece::len is the number of bytes that
 * are missing.  With tltcp_config::unordered, the pieces are sections in the
 * order of completion. Another thread may send at the same time.
 * @param s              connection
 * @param[in,out] pieces array of *@p count, each with a buffer; set
 * tltcp_piece::len again before each call
 * @param[in,out] count  in: maximum number of pieces, at least 1; out: pieces
 * returned; unchanged by TLTCP_ERR_INVAL and TLTCP_ERR_STATE
 * @param flags          `MSG_DONTWAIT`: do not wait for a piece; or 0
 * @return stream length covered, in bytes; 0: end of the stream; or
 * @retval TLTCP_ERR_AGAIN   MSG_DONTWAIT and nothing ready
 * @retval TLTCP_ERR_INVAL   NULL, no piece, an empty first buffer, or unknown
 *                           flags
 * @retval TLTCP_ERR_STATE   a listener
 * @retval TLTCP_ERR_CLOSED  read again after the end or a failure
 * @retval TLTCP_ERR_TIMEOUT the peer vanished
 * @retval TLTCP_ERR_ABORTED the peer gave up
 * @retval others            the stream was cut off for this reason; see
 *                           tltcp_socket_error()
 */
TLTCP_API ssize_t tltcp_recv(tltcp_socket *s, tltcp_piece *pieces,
                             size_t *count, int flags);

/** @} */

/** @addtogroup tltcp_socket_msg
 * @{ */

/**
 * @brief Sends sections as tltcp_send() does, described by control messages
 * (paper, section 4); `msg_iov[i]` is section *i*, whole.
 *
 * With ::MSG_TL, the control data holds cmsghdrs of level ::SOL_TLTCP: one of
 * type ::TL_DEADLINE with `msg_iovlen` values of ::tltcp_time, one of type
 * ::TL_META with `msg_iovlen` values of struct tltcp_meta, or both. Without
 * ::TL_DEADLINE, the deadline is now + tltcp_config::latency_ms, or never if
 * that is 0. A section whose deadline has passed is accepted and counted as
 * expired unsent.
 * @param s      connection
 * @param msg    sections; copied before returning
 * @param flags  ::MSG_TL, `MSG_DONTWAIT`
 * @return bytes of the sections accepted, counted from the first, or
 * @retval TLTCP_ERR_AGAIN   MSG_DONTWAIT and no room for the first
 * @retval TLTCP_ERR_INVAL   NULL, no section, an empty one, unknown flags, or
 *                           a class or stream out of range
 * @retval TLTCP_ERR_CONTROL ::MSG_TL without fitting control data
 * @retval TLTCP_ERR_TOO_BIG the first is larger than the send buffer
 * @retval TLTCP_ERR_STATE   a listener, or after tltcp_shutdown()
 * @retval TLTCP_ERR_CLOSED  the connection is over; tltcp_socket_error() gives
 *                           the cause
 * @retval TLTCP_ERR_NOMEM   out of memory; nothing was accepted
 */
TLTCP_API ssize_t tltcp_sendmsg(tltcp_socket *s, const struct msghdr *msg,
                                int flags);

/**
 * @brief Receives pieces as tltcp_recv() does, described by control messages
 * (paper, section 4).
 *
 * On return `msg_iovlen` is the number of pieces; piece *i* is contiguous data
 * of one section in `msg_iov[i]` (`iov_len` bytes copied), or a gap (`iov_base`
 * untouched, `iov_len` its size).  With ::MSG_TL the control data holds one
 * cmsghdr (::SOL_TLTCP, ::TL_SEGMENT) with one struct tltcp_segment per piece;
 * `msg_flags` then has ::MSG_TL.  The room for control data limits the number
 * of pieces; `msg_flags` has `MSG_CTRUNC` if this kept the call from filling
 * all buffers.  With ::MSG_TL_META as well, a second cmsghdr (::SOL_TLTCP,
 * ::TL_META) follows with one struct tltcp_meta per piece: the metadata of the
 * piece's section, or of the first section of a gap. For n pieces this takes
 * `CMSG_SPACE(n * sizeof(struct tltcp_segment)) + CMSG_SPACE(n * sizeof(struct
 * tltcp_meta))`.  Without ::MSG_TL, a gap ends the call early, and the next
 * call returns ::TLTCP_ERR_GAP once.
 * @param s      connection
 * @param msg    buffers
 * @param flags  ::MSG_TL, ::MSG_TL_META, `MSG_DONTWAIT`
 * @return stream length covered; 0: end of the stream; or
 * @retval TLTCP_ERR_AGAIN   MSG_DONTWAIT and nothing ready
 * @retval TLTCP_ERR_GAP     without ::MSG_TL: bytes are missing here
 * @retval TLTCP_ERR_INVAL   NULL, no buffer, an empty first one, unknown
 *                           flags, or ::MSG_TL_META without ::MSG_TL
 * @retval TLTCP_ERR_CONTROL ::MSG_TL without room for one segment, or with
 *                           ::MSG_TL_META for one struct tltcp_meta beside it
 * @retval TLTCP_ERR_STATE   a listener
 * @retval TLTCP_ERR_CLOSED  read again after the end or a failure
 * @retval TLTCP_ERR_TIMEOUT the peer vanished
 * @retval TLTCP_ERR_ABORTED the peer gave up
 * @retval others            the stream was cut off for this reason; see
 *                           tltcp_socket_error()
 */
TLTCP_API ssize_t tltcp_recvmsg(tltcp_socket *s, struct msghdr *msg, int flags);

/** @} */

/** @addtogroup tltcp_socket_watch
 * @{ */

/**
 * @brief A descriptor to poll.
 *
 * A connection wakes its reader by section, not by packet: for the rest of a
 * section, a gap or the end, and for every 64 KiB of a longer section, or every
 * quarter of tltcp_config::recv_buffer if that is less.
 * @param s  connection or listener
 * @return readable when tltcp_recv(), tltcp_recvmsg() or tltcp_accept() would
 * not block; owned by the socket; or TLTCP_ERR_INVAL, TLTCP_ERR_IO
 */
TLTCP_API int tltcp_fd(const tltcp_socket *s);

/**
 * @brief A descriptor that is readable while a section may be sent.
 *
 * After ::TLTCP_ERR_AGAIN, it stays unreadable until the refused section would
 * fit and an eighth of the send buffer is free.
 * @param s  connection
 * @return descriptor owned by the socket; or TLTCP_ERR_INVAL, TLTCP_ERR_IO
 */
TLTCP_API int tltcp_writable_fd(const tltcp_socket *s);

/**
 * @brief A descriptor that is readable while tltcp_next_event() has something.
 * @param s  connection
 * @return descriptor owned by the socket; or TLTCP_ERR_INVAL, TLTCP_ERR_IO
 */
TLTCP_API int tltcp_event_fd(const tltcp_socket *s);

/**
 * @brief Takes the oldest event: fates of sections, rate changes, the end.
 *
 * Of address and rate changes, only the newest is queued. Up to 65536 fates are
 * queued; beyond that, the oldest are dropped, but the counters of
 * tltcp_get_stats() include them.
 * @param s           connection
 * @param[out] ev     the event
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 1               @p ev was filled in
 * @retval TLTCP_ERR_AGAIN no event in time
 * @retval TLTCP_ERR_INVAL NULL or a listener
 * @retval TLTCP_ERR_CLOSED ::TLTCP_EVENT_CLOSED was already taken
 */
TLTCP_API int tltcp_next_event(tltcp_socket *s, tltcp_event *ev,
                               int timeout_ms);

/**
 * @brief Takes a snapshot of the statistics.
 * @param s        connection; for a listener, the sum of its connections'
 *                 counters
 * @param[out] st initialised by tltcp_stats_init()
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL NULL, or @p st was not initialised
 */
TLTCP_API int tltcp_get_stats(const tltcp_socket *s, tltcp_stats *st);

/**
 * @brief The local address.
 * @param s            connection or listener
 * @param[out] sa      buffer for an address
 * @param[in,out] len  in: bytes at @p sa, out: bytes of the address
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL NULL, or the buffer is too small
 * @retval TLTCP_ERR_IO    the operating system refused, or a call over TCP is
 *                         not connected
 */
TLTCP_API int tltcp_local_address(const tltcp_socket *s, struct sockaddr *sa,
                                  socklen_t *len);

/**
 * @brief The current address of the peer.
 * @param s            connection
 * @param[out] sa      buffer for an address
 * @param[in,out] len  in: bytes at @p sa, out: bytes of the address
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL NULL, a listener, or the buffer is too small
 */
TLTCP_API int tltcp_peer_address(const tltcp_socket *s, struct sockaddr *sa,
                                 socklen_t *len);

/**
 * @brief Where the newest caller of tltcp_stats::callers_rejected called from.
 *
 * A stranger can forge this address.
 * @param s            listener
 * @param[out] sa      buffer for an address
 * @param[in,out] len  in: bytes at @p sa, out: bytes of the address
 * @retval 0               filled in
 * @retval TLTCP_ERR_STATE no caller was rejected yet
 * @retval TLTCP_ERR_INVAL NULL, not a listener, or the buffer is too small
 */
TLTCP_API int tltcp_rejected_address(const tltcp_socket *s, struct sockaddr *sa,
                                     socklen_t *len);

/**
 * @brief The stream id that the caller requested.
 * @param s  connection
 * @return zero-terminated, "" when none; valid until tltcp_close()
 */
TLTCP_API const char *tltcp_stream_id(const tltcp_socket *s);

/**
 * @brief The static public key of the peer, which has proven that it has the
 * secret; see ::tltcp_identity_options.
 * @param s  connection
 * @return 32 bytes, valid until tltcp_close(); NULL: there are no static keys
 */
TLTCP_API const uint8_t *tltcp_identity(const tltcp_socket *s);

/**
 * @brief Why a connection is over.
 * @param s  connection
 * @param[out] reason  TLTCP_REASON_MAX + 1 bytes for the peer's reason; or NULL
 * @return 0 while it is open or after an orderly end, else the negative
 * ::tltcp_error
 */
TLTCP_API int tltcp_socket_error(const tltcp_socket *s, char *reason);

/** @} */

/** @addtogroup tltcp_socket_close
 * @{ */

/**
 * @brief Ends the sending side; receiving continues.
 * @param s  connection
 * @retval 0                done
 * @retval TLTCP_ERR_INVAL  NULL or a listener
 */
TLTCP_API int tltcp_shutdown(tltcp_socket *s);

/**
 * @brief Requests new keys in both directions of a secured connection.
 *
 * They take effect without interruption as soon as the peer has confirmed the
 * current ones; tltcp_config::rekey_packets requests them automatically. Any
 * thread may call this while others send and receive.
 * @param s  connection
 * @retval 0                requested
 * @retval TLTCP_ERR_INVAL  NULL or a listener
 * @retval TLTCP_ERR_STATE  not secured, not connected yet, or over
 */
TLTCP_API int tltcp_rekey(tltcp_socket *s);

/**
 * @brief Closes and frees.
 *
 * A connection: waits at most @p linger_ms until every section has been
 * delivered or has expired and the peer knows the end. A listener: waits for a
 * running tltcp_listener_options::on_caller, which is not called again; callers
 * not yet accepted are refused; accepted connections stay open, and the port
 * stays bound until the last of them is closed.
 * @param s          socket, or NULL
 * @param linger_ms  milliseconds; 0: abort; < 0: until the peer is silent for
 *                   the idle timeout, or acknowledges nothing for twice that. A
 *                   peer that acknowledges but does not read can delay this for
 *                   ever, so set a limit for untrusted peers
 * @retval 0                 every section was delivered or expired
 * @retval TLTCP_ERR_TIMEOUT the time did not suffice; the rest is lost
 * @retval TLTCP_ERR_CLOSED  the connection had already ended with undelivered
 *                           sections
 * @retval TLTCP_ERR_STATE   opened before fork(), in the parent: nothing is
 *                           closed, and the copy is not freed
 */
TLTCP_API int tltcp_close(tltcp_socket *s, int linger_ms);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_SOCKET_H */

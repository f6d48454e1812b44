/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/socket.h
 * @brief TLTCP behind calls that look like sockets (paper, section 4).
 *
 * Several threads may use a socket: one sends, one receives, others call the
 * rest.  tltcp_close() must be the last call, with no other under way.
 *
 * I/O runs on threads of the library, which block all signals.  A listener has
 * a thread of its own, which also serves what the listener accepted.  Calling
 * sockets of a process share threads, up to 64 of them one; these threads end
 * with the last socket on them.  Sockets do not survive fork(), but the child
 * may open its own.
 *
 * tltcp_listener_options::on_caller and tltcp_config::on_trace run on such a
 * thread with no lock held.  They must neither block nor close sockets.
 *
 * Descriptors (tltcp_fd() and its like) are for poll() and event loops alone:
 * they are level-triggered, owned by the socket, and never to be read, written
 * or closed.
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
/** Sections and what goes with them. */
struct msghdr {
    void *msg_name;        /**< not used */
    socklen_t msg_namelen; /**< not used */
    struct iovec *msg_iov; /**< sections or pieces */
    size_t msg_iovlen;     /**< how many */
    void *msg_control;     /**< control data */
    size_t msg_controllen; /**< bytes of it */
    int msg_flags;         /**< flags on receipt */
};
/** Head of a piece of control data. */
struct cmsghdr {
    size_t cmsg_len; /**< bytes, this head included */
    int cmsg_level;  /**< ::SOL_TLTCP */
    int cmsg_type;   /**< ::TL_DEADLINE, ::TL_META or ::TL_SEGMENT */
};
#undef CMSG_ALIGN
#undef CMSG_LEN
#undef CMSG_SPACE
#undef CMSG_DATA
#undef CMSG_FIRSTHDR
#undef CMSG_NXTHDR
/** Rounds up to where the next head may begin. */
#define CMSG_ALIGN(n) (((n) + sizeof(size_t) - 1) & ~(sizeof(size_t) - 1))
/** Value of cmsg_len for @p n bytes of data. */
#define CMSG_LEN(n) (CMSG_ALIGN(sizeof(struct cmsghdr)) + (n))
/** Room that @p n bytes of data take with their head. */
#define CMSG_SPACE(n) (CMSG_ALIGN(sizeof(struct cmsghdr)) + CMSG_ALIGN(n))
/** Where the data of a head begins. */
#define CMSG_DATA(c) ((unsigned char *)(c) + CMSG_ALIGN(sizeof(struct cmsghdr)))
/** The first head, or NULL. */
#define CMSG_FIRSTHDR(m)                           \
    ((m)->msg_controllen >= sizeof(struct cmsghdr) \
         ? (struct cmsghdr *)(m)->msg_control      \
         : (struct cmsghdr *)NULL)
/** The head after @p c, or NULL. */
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
/** Flag of tltcp_sendmsg() and tltcp_recvmsg(): control data is meant. */
#define MSG_TL 0x00800000
/** Flag of tltcp_recvmsg() beside ::MSG_TL: ::TL_META is wanted too. */
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
 * Callers that on_caller does not refuse wait for tltcp_accept().  At most 4096
 * wait; further callers are refused, and so are those beyond the limits of
 * tltcp_listener_options.
 * @param[out] s   the listener; end with tltcp_close()
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
 * @retval TLTCP_ERR_UNSUPPORTED security asked for but not built in
 * @retval TLTCP_ERR_NOMEM     out of memory
 * @retval TLTCP_ERR_IO        the operating system refused, or
 *                             tltcp_config::qlog_dir is not there
 */
TLTCP_API int tltcp_listen(tltcp_socket **s, const char *host,
                           const char *service, const tltcp_config *c);

/**
 * @brief Takes the next caller.
 * @param listener    from tltcp_listen()
 * @param[out] s      the connection; end with tltcp_close()
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 0                a caller was taken
 * @retval TLTCP_ERR_AGAIN  none came in time
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
 */
TLTCP_API int tltcp_reject(tltcp_socket *s, const char *reason);

/**
 * @brief Calls a listener.
 *
 * Tries each address that @p host stands for.  Goes on to the next one when an
 * address refuses, cannot be reached, or stays silent for its share of the
 * time. Skips IPv6 addresses on a machine without IPv6.  Looking up a name
 * blocks whatever @p timeout_ms is; numeric addresses need no look-up.
 * @param[out] s      the connection; end with tltcp_close()
 * @param host        address or name
 * @param service     port number or name
 * @param c           options; NULL: defaults
 * @param timeout_ms  milliseconds to wait; < 0: as long as
 *                    tltcp_config::connect_timeout_ms says; 0: do not wait, the
 *                    socket becomes readable or writable when decided
 * @retval 0                   connected, or under way when @p timeout_ms is 0
 * @retval TLTCP_ERR_ADDRESS   @p host or @p service is not usable, or
 *                             tltcp_io_options::local_host or
 *                             tltcp_io_options::local_service is not, or @p
 * host cannot be reached from there
 * @retval TLTCP_ERR_IN_USE    tltcp_io_options::local_service is taken
 * @retval TLTCP_ERR_TIMEOUT   nobody answered
 * @retval TLTCP_ERR_REFUSED   no listener there, which takes a second to
 *                             believe since ICMP messages can be forged; or it
 *                             said no
 * @retval TLTCP_ERR_LIMIT     it has as many connections as it may
 * @retval TLTCP_ERR_VERSION   it speaks another version only
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
 * @brief Waits until a socket of tltcp_connect() with `timeout_ms` 0 is
 * connected, or will never be.
 *
 * Unlike after a failed tltcp_connect(), there is a socket to ask:
 * tltcp_socket_error() has the listener's words.
 * @param s           connection
 * @param timeout_ms  milliseconds to wait; < 0: until it is decided; 0: do not
 *                    wait
 * @retval 0                 connected
 * @retval TLTCP_ERR_AGAIN   not decided in time
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
 * A section is taken whole or not at all.  A deadline already past is taken and
 * counted as expired unsent.  May be called while another thread receives.
 * @param s         connection
 * @param sections  array of @p count; copied before returning
 * @param count     at least 1
 * @param flags     `MSG_DONTWAIT`: do not wait for room; or 0
 * @return bytes of the sections taken, from the first, each whole, or
 * @retval TLTCP_ERR_AGAIN   MSG_DONTWAIT and no room for the first
 * @retval TLTCP_ERR_INVAL   NULL, no section, an empty one, unknown flags, or
 *                           a class or stream out of range
 * @retval TLTCP_ERR_TOO_BIG the first is larger than the send buffer
 * @retval TLTCP_ERR_STATE   a listener, or after tltcp_shutdown()
 * @retval TLTCP_ERR_CLOSED  the connection is over; tltcp_socket_error() has
 *                           the cause
 * @retval TLTCP_ERR_NOMEM   none was taken
 */
TLTCP_API ssize_t tltcp_send(tltcp_socket *s, const tltcp_section *sections,
                             size_t count, int flags);

/**
 * @brief Whether a section sent now is expected to arrive in time.
 *
 * Counts what waits in the sender and in the path, at the bandwidth estimated.
 * Lets an application skip a picture before it encodes it: a picture that is
 * never encoded breaks no reference, and the next one is in time again.
 * @param s         connection
 * @param len       bytes that the section would have
 * @param deadline  when it should be at the peer, on tltcp_now()'s clock;
 *                  ::TLTCP_TIME_NEVER: any time will do
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
 * are missing.  With tltcp_config::unordered the pieces are sections in the
 * order in which they completed.  May be called while another thread sends.
 * @param s              connection
 * @param[in,out] pieces array of *@p count, each with a buffer; set
 *                       tltcp_piece::len anew before each call
 * @param[in,out] count  in: pieces wanted at most, at least 1; out: pieces
 *                       given
 * @param flags          `MSG_DONTWAIT`: do not wait for a piece; or 0
 * @return stream length covered, in bytes; 0: end of the stream; or
 * @retval TLTCP_ERR_AGAIN   MSG_DONTWAIT and nothing ready
 * @retval TLTCP_ERR_INVAL   NULL, no piece, an empty first buffer, or unknown
 *                           flags
 * @retval TLTCP_ERR_STATE   a listener
 * @retval TLTCP_ERR_CLOSED  reading again after the end or a failure
 * @retval TLTCP_ERR_TIMEOUT the peer vanished
 * @retval TLTCP_ERR_ABORTED the peer gave up
 * @retval others            the stream was cut off for this reason, see
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
 * With ::MSG_TL the control data holds cmsghdrs of level ::SOL_TLTCP: one of
 * type ::TL_DEADLINE with `msg_iovlen` values of ::tltcp_time, one of type
 * ::TL_META with `msg_iovlen` values of struct tltcp_meta, or both.  Without
 * ::TL_DEADLINE the deadline is now + tltcp_config::latency_ms, or never when
 * that is 0.  A deadline already past is taken and counted as expired unsent.
 * @param s      connection
 * @param msg    sections; copied before returning
 * @param flags  ::MSG_TL, `MSG_DONTWAIT`
 * @return bytes of the sections taken, from the first, each whole, or
 * @retval TLTCP_ERR_AGAIN   MSG_DONTWAIT and no room for the first
 * @retval TLTCP_ERR_INVAL   NULL, no section, an empty one, unknown flags, or
 *                           a class or stream out of range
 * @retval TLTCP_ERR_CONTROL ::MSG_TL without fitting control data
 * @retval TLTCP_ERR_TOO_BIG the first is larger than the send buffer
 * @retval TLTCP_ERR_STATE   a listener, or after tltcp_shutdown()
 * @retval TLTCP_ERR_CLOSED  the connection is over; tltcp_socket_error() has
 *                           the cause
 * @retval TLTCP_ERR_NOMEM   none was taken
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
 * `msg_flags` then has ::MSG_TL.  As many pieces are given as the room there
 * allows, and `msg_flags` has `MSG_CTRUNC` if that kept the call from filling
 * all buffers.  With ::MSG_TL_META
 * as well a second cmsghdr (::SOL_TLTCP, ::TL_META) follows with one struct
 * tltcp_meta per piece: what the sender said of the piece's section, or of the
 * first one of a gap.  For n pieces that takes
 * `CMSG_SPACE(n * sizeof(struct tltcp_segment)) +
 * CMSG_SPACE(n * sizeof(struct tltcp_meta))`.  Without ::MSG_TL a gap ends the
 * call early and the next one begins with ::TLTCP_ERR_GAP once.
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
 * @retval TLTCP_ERR_CLOSED  reading again after the end or a failure
 * @retval TLTCP_ERR_TIMEOUT the peer vanished
 * @retval TLTCP_ERR_ABORTED the peer gave up
 * @retval others            the stream was cut off for this reason, see
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
 * After ::TLTCP_ERR_AGAIN it stays unreadable until the section that was
 * refused would fit and an eighth of the send buffer is free.
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
 * Of changes of address and of rate only the newest waits.  Fates that nobody
 * takes wait up to a number of 65536; beyond it the oldest go, and the counters
 * of tltcp_get_stats() still have them.
 * @param s           connection
 * @param[out] ev     the event
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 1               @p ev was filled in
 * @retval TLTCP_ERR_AGAIN none came in time
 * @retval TLTCP_ERR_INVAL NULL or a listener
 * @retval TLTCP_ERR_CLOSED the ::TLTCP_EVENT_CLOSED was taken before
 */
TLTCP_API int tltcp_next_event(tltcp_socket *s, tltcp_event *ev,
                               int timeout_ms);

/**
 * @brief Takes a snapshot of the statistics.
 * @param s        connection; a listener gives the sum over its connections'
 *                 counters
 * @param[out] st  set up with tltcp_stats_init()
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL NULL, or @p st was not set up
 */
TLTCP_API int tltcp_get_stats(const tltcp_socket *s, tltcp_stats *st);

/**
 * @brief The address bound to.
 * @param s            connection or listener
 * @param[out] sa      room for an address
 * @param[in,out] len  in: bytes at @p sa, out: bytes of the address
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL NULL, or too little room
 * @retval TLTCP_ERR_IO    the operating system refused
 */
TLTCP_API int tltcp_local_address(const tltcp_socket *s, struct sockaddr *sa,
                                  socklen_t *len);

/**
 * @brief The address of the peer, as of now.
 * @param s            connection
 * @param[out] sa      room for an address
 * @param[in,out] len  in: bytes at @p sa, out: bytes of the address
 * @retval 0               filled in
 * @retval TLTCP_ERR_INVAL NULL, a listener, or too little room
 */
TLTCP_API int tltcp_peer_address(const tltcp_socket *s, struct sockaddr *sa,
                                 socklen_t *len);

/**
 * @brief The stream id that the caller asked for.
 * @param s  connection
 * @return zero-terminated, "" when none; valid until tltcp_close()
 */
TLTCP_API const char *tltcp_stream_id(const tltcp_socket *s);

/**
 * @brief Why a connection is over.
 * @param s  connection
 * @param[out] reason  TLTCP_REASON_MAX + 1 bytes for the peer's words; or NULL
 * @return 0 while it is open or after an orderly end, else the negative
 * ::tltcp_error
 */
TLTCP_API int tltcp_socket_error(const tltcp_socket *s, char *reason);

/** @} */

/** @addtogroup tltcp_socket_close
 * @{ */

/**
 * @brief Ends the sending side; receiving goes on.
 * @param s  connection
 * @retval 0                done
 * @retval TLTCP_ERR_INVAL  NULL or a listener
 */
TLTCP_API int tltcp_shutdown(tltcp_socket *s);

/**
 * @brief Asks for new keys in both directions of a secured connection.
 *
 * They come as soon as the peer has confirmed the present ones, without a
 * pause; tltcp_config::rekey_packets asks by itself.  Any thread may call it
 * while others send and receive.
 * @param s  connection
 * @retval 0                asked for
 * @retval TLTCP_ERR_INVAL  NULL or a listener
 * @retval TLTCP_ERR_STATE  not secured, not connected yet, or over
 */
TLTCP_API int tltcp_rekey(tltcp_socket *s);

/**
 * @brief Closes and frees.
 *
 * A connection: waits until every section was delivered or expired and the peer
 * knows of the end, at most @p linger_ms.  A listener: waits for a running
 * tltcp_listener_options::on_caller, which is not called again; callers not yet
 * accepted are refused; what it accepted lives on, and the port stays bound
 * until the last of these is closed.
 * @param s          socket, or NULL
 * @param linger_ms  milliseconds; 0: abort; < 0: until the peer is silent for
 *                   the idle timeout, or acknowledges nothing for twice that;
 *                   one that acknowledges and does not read is waited for, so
 *                   give strangers a time
 * @retval 0                 all was delivered or expired
 * @retval TLTCP_ERR_TIMEOUT the time was not enough; the rest is lost
 * @retval TLTCP_ERR_CLOSED  the connection had ended before with sections
 *                           undelivered
 */
TLTCP_API int tltcp_close(tltcp_socket *s, int linger_ms);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_SOCKET_H */

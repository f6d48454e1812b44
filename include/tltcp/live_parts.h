/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/live_parts.h
 * @brief What <tltcp/live.h> is made of, for programs with a loop of their own.
 *
 * A *link* makes connections, one after the other or many.  A *stream* makes
 * sections of frames.  A *sender* takes sections to one connection; several
 * senders may share a section.  A *receiver* takes sections from a connection.
 *
 * Nothing here waits, has a thread or a lock.  Sections may be shared by
 * threads; of everything else one thread at a time may use an object.
 * Callbacks run inside the call that brings them about and must not use the
 * object that calls them, but where it is said.
 */
#ifndef TLTCP_LIVE_PARTS_H
#define TLTCP_LIVE_PARTS_H

#include <tltcp/live.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_live_parts
 * @{ */

/* ---- Sections ---- */

/** A section to be sent; counted references. */
typedef struct tltcp_live_section tltcp_live_section;

/** @brief One reference more. @param s  section @return the same */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_section_ref(tltcp_live_section *s);

/** @brief One reference less; frees with the last. @param s  or NULL */
TLTCP_LIVE_API void tltcp_live_section_unref(tltcp_live_section *s);

/** @brief Bytes on the connection. @param s  section @return bytes */
TLTCP_LIVE_API size_t tltcp_live_section_bytes(const tltcp_live_section *s);

/** @brief What it is to its stream. @param s  section @return ::tltcp_class */
TLTCP_LIVE_API unsigned tltcp_live_section_class(const tltcp_live_section *s);

/** @brief When its frame should be at the peer: the display time plus the
 * latency, without grace. @param s  section
 * @return tltcp_now()'s clock, or ::TLTCP_TIME_NEVER */
TLTCP_LIVE_API tltcp_time tltcp_live_section_due(const tltcp_live_section *s);

/** @brief When sending it has become pointless. @param s  section
 * @return tltcp_now()'s clock, or ::TLTCP_TIME_NEVER */
TLTCP_LIVE_API tltcp_time
tltcp_live_section_deadline(const tltcp_live_section *s);

/* ---- Streams ---- */

/** Makes sections of the frames of one stream; opaque. */
typedef struct tltcp_live_stream tltcp_live_stream;

/** @brief Takes a section. @param user  as given @param section  borrowed */
typedef void (*tltcp_live_emit)(void *user, tltcp_live_section *section);

/** Events within a stream. */
enum tltcp_live_mark {
    TLTCP_LIVE_MARK_END = 1, /**< the stream is at its orderly end */
    TLTCP_LIVE_MARK_GAP = 2, /**< nothing from pts for duration, nothing lost */
    TLTCP_LIVE_MARK_TAGS = 3 /**< payload: GStreamer tags as text */
};

/**
 * @brief Makes a stream.
 * @param number  0 to 255
 * @param emit    takes sections during the calls below
 * @param user    for @p emit
 * @return free with tltcp_live_stream_free(); NULL: out of memory
 */
TLTCP_LIVE_API tltcp_live_stream *
tltcp_live_stream_new(unsigned number, tltcp_live_emit emit, void *user);

/** @brief Frees. @param s  or NULL */
TLTCP_LIVE_API void tltcp_live_stream_free(tltcp_live_stream *s);

/**
 * @brief Begins with a format.
 * @param s  stream
 * @param f  format; NULL: not known
 * @return 0 or TLTCP_ERR_NOMEM
 */
TLTCP_LIVE_API int tltcp_live_stream_set_format(tltcp_live_stream *s,
                                                const tltcp_live_format *f);

/**
 * @brief Sets how deadlines are made.  Call it after
 * tltcp_live_stream_set_format(), which resets it.
 * @param s           stream
 * @param mode        ::tltcp_live_deadline_mode
 * @param latency_ms  budget
 * @param grace_ms    how much longer references are sent
 * @param speed       media seconds per second; 1 is real time
 */
TLTCP_LIVE_API void tltcp_live_stream_set_deadlines(tltcp_live_stream *s,
                                                    int mode,
                                                    uint32_t latency_ms,
                                                    uint32_t grace_ms,
                                                    double speed);

/**
 * @brief Makes the section that describes the stream: what every connection
 * gets first.
 * @param s        stream
 * @param streams  how many there are in all; 0: not known
 * @return a reference; NULL: there is nothing to describe, or no memory
 */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_stream_describe(tltcp_live_stream *s, unsigned streams);

/** @brief Makes sections of a frame: one, or as many as end in it where the
 * format is "mpegts". @param s  stream @param f  frame; its stream is not
 * looked at @return 0 or TLTCP_ERR_NOMEM */
TLTCP_LIVE_API int tltcp_live_stream_write(tltcp_live_stream *s,
                                           const tltcp_live_frame *f);

/**
 * @brief Makes sections of the bytes of a transport stream, with its own times;
 * of anything else a section.  What comes first decides, and sets the format.
 * @param s     stream
 * @param data  bytes
 * @param len   how many
 * @param now   when they should be sent, tltcp_now()'s clock
 * @return 0 or TLTCP_ERR_NOMEM
 */
TLTCP_LIVE_API int tltcp_live_stream_write_ts(tltcp_live_stream *s,
                                              const void *data, size_t len,
                                              tltcp_time now);

/** @brief Newest decoding time in what tltcp_live_stream_write_ts() took, of
 * the first elementary stream. @param s  stream
 * @return media time; ::TLTCP_LIVE_TIME_NONE */
TLTCP_LIVE_API int64_t tltcp_live_stream_ts_time(const tltcp_live_stream *s);

/** @brief Makes sections of what is unfinished: the stream is over.
 * @param s  stream @param f  times and flags for it; NULL: the stream's own
 * @return 0 or TLTCP_ERR_NOMEM */
TLTCP_LIVE_API int tltcp_live_stream_flush(tltcp_live_stream *s,
                                           const tltcp_live_frame *f);

/**
 * @brief Makes a section of a stream header, which new connections need.
 * @param s     stream
 * @param data  bytes
 * @param len   how many
 * @return a reference; NULL: out of memory
 */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_stream_header(tltcp_live_stream *s, const void *data, size_t len);

/**
 * @brief Makes a section of an event.
 * @param s         stream
 * @param mark      ::tltcp_live_mark
 * @param pts       media time, or ::TLTCP_LIVE_TIME_NONE
 * @param duration  ns, or ::TLTCP_LIVE_TIME_NONE
 * @param payload   or NULL
 * @param len       bytes at @p payload
 * @return a reference; NULL: out of memory
 */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_stream_mark(tltcp_live_stream *s, unsigned mark, int64_t pts,
                       int64_t duration, const void *payload, size_t len);

/* ---- Senders ---- */

/** Takes sections to one connection; opaque. */
typedef struct tltcp_live_sender tltcp_live_sender;

/** @brief Takes an event. @param user  as given @param ev  during the call */
typedef void (*tltcp_live_on_event)(void *user, const tltcp_live_event *ev);

/**
 * @brief Makes a sender.
 * @param s         connected; made with tltcp_config::report_fates; taken over,
 *                  also on failure
 * @param settings  its queue and report_frames count; NULL: defaults
 * @param on_event  takes what happens; NULL: nobody
 * @param user      for @p on_event
 * @return end with tltcp_live_sender_close(); NULL: out of memory
 */
TLTCP_LIVE_API tltcp_live_sender *
tltcp_live_sender_new(tltcp_socket *s, const tltcp_live_settings *settings,
                      tltcp_live_on_event on_event, void *user);

/** @brief The connection joins streams that are under way: pictures are dropped
 * until one where decoding can begin. @param s  sender */
TLTCP_LIVE_API void tltcp_live_sender_join(tltcp_live_sender *s);

/** @brief Whether the queue has room. @param s  sender
 * @param bytes  of a section; 0: whether nothing waits @return true: it does */
TLTCP_LIVE_API bool tltcp_live_sender_has_room(const tltcp_live_sender *s,
                                               size_t bytes);

/**
 * @brief Queues a section, unless this connection cannot use it.
 * @param s        sender
 * @param section  a reference is taken
 * @retval 1               queued
 * @retval 0               given up, and counted
 * @retval TLTCP_ERR_NOMEM out of memory
 */
TLTCP_LIVE_API int tltcp_live_sender_push(tltcp_live_sender *s,
                                          tltcp_live_section *section);

/**
 * @brief Handles events of the connection and sends what is queued.
 * @param s  sender
 * @return when to call again at the latest; ::TLTCP_TIME_NEVER: when a
 * descriptor is readable
 */
TLTCP_LIVE_API tltcp_time tltcp_live_sender_run(tltcp_live_sender *s);

/** @brief Descriptors that are readable when there is something to do.
 * @param s  sender @param[out] fds  ::TLTCP_LIVE_FDS of them
 * @return how many */
TLTCP_LIVE_API int tltcp_live_sender_fds(const tltcp_live_sender *s, int *fds);

/** @brief The connection, for its addresses and statistics. @param s  sender
 * @return the sender's */
TLTCP_LIVE_API tltcp_socket *
tltcp_live_sender_socket(const tltcp_live_sender *s);

/** @brief Whether the connection is over; an event has said why.
 * @param s  sender @return true: it is */
TLTCP_LIVE_API bool tltcp_live_sender_is_closed(const tltcp_live_sender *s);

/** @brief Whether nothing waits and every fate is known, or the connection is
 * over. @param s  sender @return true: so it is */
TLTCP_LIVE_API bool tltcp_live_sender_is_idle(const tltcp_live_sender *s);

/**
 * @brief How late a frame would arrive if it were written now.
 *
 * Counts what is queued here, in the connection and in the path, at the
 * bandwidth estimated; see tltcp_would_arrive().
 * @param s         sender
 * @param bytes     of the frame
 * @param deadline  when it should be at the peer, tltcp_now()'s clock
 * @return ns; 0: in time, or the path is not known yet
 */
TLTCP_LIVE_API uint64_t tltcp_live_sender_lateness(const tltcp_live_sender *s,
                                                   size_t bytes,
                                                   tltcp_time deadline);

/** @brief Bytes that are neither delivered nor given up. @param s  sender
 * @return bytes */
TLTCP_LIVE_API uint64_t tltcp_live_sender_bytes(const tltcp_live_sender *s);

/** @brief Smoothed time from writing a section to its arrival.
 * @param s  sender @return ns; 0: not known */
TLTCP_LIVE_API uint64_t tltcp_live_sender_delivery(const tltcp_live_sender *s);

/** @brief Adds what it counts. @param s  sender
 * @param[in,out] st  counters are added to, gauges too */
TLTCP_LIVE_API void tltcp_live_sender_add_stats(const tltcp_live_sender *s,
                                                tltcp_live_stats *st);

/**
 * @brief Closes the connection.  What waits is given up, and what has no fate
 * yet is abandoned; events say so.
 * @param s          sender
 * @param linger_ms  as for tltcp_close()
 * @return as tltcp_close()
 */
TLTCP_LIVE_API int tltcp_live_sender_close(tltcp_live_sender *s, int linger_ms);

/**
 * @brief Ends the connection at once and gives the peer a reason, as
 * tltcp_reject() does.  Events say what became of what waits.
 * @param s       sender
 * @param reason  at most TLTCP_REASON_MAX bytes of it reach the peer; NULL:
 *                none
 */
TLTCP_LIVE_API void tltcp_live_sender_reject(tltcp_live_sender *s,
                                             const char *reason);

/** @brief Frees; closes first where it is open. @param s  or NULL */
TLTCP_LIVE_API void tltcp_live_sender_free(tltcp_live_sender *s);

/* ---- Receivers ---- */

/** Takes sections from one connection; opaque. */
typedef struct tltcp_live_receiver tltcp_live_receiver;

/** A received section, or a gap. */
typedef struct tltcp_live_received {
    uint64_t number; /**< of the section on its connection */
    uint64_t seq;    /**< place in the byte stream of its first byte here, or of
                          the gap */
    uint8_t *data;   /**< its bytes, zeros where some are missing; the caller's
                          to free(); NULL: a gap */
    size_t len;      /**< bytes at data; of the gap */
    size_t missing;  /**< how many of them are missing */
    bool complete;   /**< none is missing, neither at an end */
    bool begins;     /**< its first bytes are there */
    struct tltcp_meta meta; /**< what its sender said of it */
} tltcp_live_received;

/**
 * @brief Makes a receiver.  It does not own the connection.
 * @param s  connected
 * @return free with tltcp_live_receiver_free(); NULL: out of memory
 */
TLTCP_LIVE_API tltcp_live_receiver *tltcp_live_receiver_new(tltcp_socket *s);

/** @brief Frees; the connection stays. @param r  or NULL */
TLTCP_LIVE_API void tltcp_live_receiver_free(tltcp_live_receiver *r);

/**
 * @brief Takes the next section or gap.  Sections of a stream come in order;
 * those of different streams do not wait for each other.
 * @param r         receiver
 * @param[out] out  filled in when 1 is returned
 * @param flags     0 or MSG_DONTWAIT
 * @retval 1               a section or a gap
 * @retval 0               the end of the stream
 * @retval TLTCP_ERR_NOMEM out of memory
 * @return otherwise as tltcp_recvmsg(); all that was there has come before
 */
TLTCP_LIVE_API int tltcp_live_receiver_next(tltcp_live_receiver *r,
                                            tltcp_live_received *out,
                                            int flags);

/** @brief Adds what it counts. @param r  receiver
 * @param[in,out] st  counters are added to */
TLTCP_LIVE_API void tltcp_live_receiver_add_stats(const tltcp_live_receiver *r,
                                                  tltcp_live_stats *st);

/* ---- Links ---- */

/** Makes connections: calls, and calls again after a pause that doubles from
 * 200 ms to 2 s; or listens.  Opaque. */
typedef struct tltcp_live_link tltcp_live_link;

/**
 * @brief Makes a link; one that listens listens at once.
 * @param[out] l    end with tltcp_live_link_free()
 * @param settings  host, service, listens and reconnect count; copied
 * @param config    of the connections; its strings must outlive the link
 * @param on_event  takes LISTENING, CONNECTING, CONNECTED and REFUSED; may be
 *                  NULL
 * @param user      for @p on_event
 * @return 0, or a negative ::tltcp_error: it cannot listen
 */
TLTCP_LIVE_API int tltcp_live_link_new(tltcp_live_link **l,
                                       const tltcp_live_settings *settings,
                                       const tltcp_config *config,
                                       tltcp_live_on_event on_event,
                                       void *user);

/** @brief Ends; connections that it gave out stay. @param l  or NULL */
TLTCP_LIVE_API void tltcp_live_link_free(tltcp_live_link *l);

/**
 * @brief Continues to make a connection.  Looking up a name may block.
 *
 * A link that calls makes one connection; call it again after
 * tltcp_live_link_lost().
 * @param l          link
 * @param[out] s     the caller's to close, when 1 is returned
 * @param[out] when  when to call again at the latest, tltcp_now()'s clock;
 *                   ::TLTCP_TIME_NEVER: when its descriptor is readable
 * @retval 1  a connection
 * @retval 0  none yet
 * @return a negative ::tltcp_error: there will be none, since trying again
 * cannot help or is not wanted
 */
TLTCP_LIVE_API int tltcp_live_link_run(tltcp_live_link *l, tltcp_socket **s,
                                       tltcp_time *when);

/** @brief A descriptor that is readable when there is something to do.
 * @param l  link @param[out] fds  ::TLTCP_LIVE_FDS of them @return how many */
TLTCP_LIVE_API int tltcp_live_link_fds(const tltcp_live_link *l, int *fds);

/**
 * @brief The connection that a calling link made is over.
 * @param l      link
 * @param error  why; 0: in order
 * @param reason the peer's words, or ""
 * @return true: the next tltcp_live_link_run() may make another one
 */
TLTCP_LIVE_API bool tltcp_live_link_lost(tltcp_live_link *l, int error,
                                         const char *reason);

/** @brief The listening socket, or NULL. @param l  link @return the link's */
TLTCP_LIVE_API tltcp_socket *tltcp_live_link_listener(const tltcp_live_link *l);

/** @brief Whether trying again cannot help. @param error  of a connection
 * @param answered  the peer was there @param reason  its words, or ""
 * @return true: it cannot */
TLTCP_LIVE_API bool tltcp_live_is_permanent(int error, bool answered,
                                            const char *reason);

/** Begins the reason of a refusal that may not last. */
#define TLTCP_LIVE_BUSY "busy with another caller"

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LIVE_PARTS_H */

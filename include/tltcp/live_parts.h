/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/live_parts.h
 * @brief Building blocks of <tltcp/live.h>, for programs with their own event
 * loop.
 *
 * A *link* makes connections, one after the other or many. A *stream* makes
 * sections from frames. A *sender* sends sections over one connection; several
 * senders may share a section. A *receiver* receives sections from a
 * connection.
 *
 * Nothing here waits, starts a thread or takes a lock. Threads may share
 * sections; use every other object from one thread at a time. Callbacks run
 * inside the call that causes them and must not use the calling object, except
 * where stated.
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

/** A section to be sent; reference-counted. */
typedef struct tltcp_live_section tltcp_live_section;

/** @brief Adds a reference. @param s section @return @p s */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_section_ref(tltcp_live_section *s);

/** @brief Drops a reference; the last one frees the section. @param s section,
 * or NULL */
TLTCP_LIVE_API void tltcp_live_section_unref(tltcp_live_section *s);

/** @brief Size on the connection. @param s section @return bytes */
TLTCP_LIVE_API size_t tltcp_live_section_bytes(const tltcp_live_section *s);

/** @brief Class of the section. @param s section @return ::tltcp_class */
TLTCP_LIVE_API unsigned tltcp_live_section_class(const tltcp_live_section *s);

/** @brief When its frame should arrive at the peer: the display time plus the
 * latency, without grace. @param s  section
 * @return tltcp_now()'s clock, or ::TLTCP_TIME_NEVER */
TLTCP_LIVE_API tltcp_time tltcp_live_section_due(const tltcp_live_section *s);

/** @brief When the section becomes useless. @param s  section
 * @return tltcp_now()'s clock, or ::TLTCP_TIME_NEVER */
TLTCP_LIVE_API tltcp_time
tltcp_live_section_deadline(const tltcp_live_section *s);

/* ---- Streams ---- */

/** Makes sections from the frames of one stream; opaque. */
typedef struct tltcp_live_stream tltcp_live_stream;

/** @brief Receives a section. @param user as given @param section borrowed */
typedef void (*tltcp_live_emit)(void *user, tltcp_live_section *section);

/** Events within a stream. */
enum tltcp_live_mark {
    TLTCP_LIVE_MARK_END = 1, /**< the stream is at its orderly end */
    TLTCP_LIVE_MARK_GAP = 2, /**< no media from pts for duration; nothing was
                                  lost */
    TLTCP_LIVE_MARK_TAGS = 3 /**< payload: GStreamer tags as text */
};

/**
 * @brief Creates a stream.
 * @param number  0 to 255
 * @param emit    receives sections during the calls below
 * @param user passed to @p emit
 * @return the stream, to be freed with tltcp_live_stream_free(); NULL: out of
 * memory
 */
TLTCP_LIVE_API tltcp_live_stream *
tltcp_live_stream_new(unsigned number, tltcp_live_emit emit, void *user);

/** @brief Frees a stream. @param s stream, or NULL */
TLTCP_LIVE_API void tltcp_live_stream_free(tltcp_live_stream *s);

/**
 * @brief Sets the format, before the first frame.
 * @param s  stream
 * @param f  format, initialised by tltcp_live_format_init(); NULL: not known
 * @return 0, TLTCP_ERR_INVAL (not initialised) or TLTCP_ERR_NOMEM
 */
TLTCP_LIVE_API int tltcp_live_stream_set_format(tltcp_live_stream *s,
                                                const tltcp_live_format *f);

/**
 * @brief Sets how deadlines are computed. Call it after
 * tltcp_live_stream_set_format(), which resets it.
 * @param s           stream
 * @param mode        ::tltcp_live_deadline_mode
 * @param latency_ms  latency budget
 * @param grace_ms    additional time for which references are sent
 * @param speed       media seconds per second; 1: real time
 */
TLTCP_LIVE_API void tltcp_live_stream_set_deadlines(tltcp_live_stream *s,
                                                    int mode,
                                                    uint32_t latency_ms,
                                                    uint32_t grace_ms,
                                                    double speed);

/**
 * @brief Makes the section that describes the stream, which every connection
 * gets first.
 * @param s        stream
 * @param streams  total number of streams; 0: not known
 * @return a reference; NULL: nothing to describe, or out of memory
 */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_stream_describe(tltcp_live_stream *s, unsigned streams);

/** @brief Makes sections from a frame: one, or, if the format is "mpegts", all
 * that end in it. @param s stream @param f frame, initialised by
 * tltcp_live_frame_init(); its stream number is ignored
 * @return 0, TLTCP_ERR_INVAL (a time out of range, or not initialised) or
 * TLTCP_ERR_NOMEM */
TLTCP_LIVE_API int tltcp_live_stream_write(tltcp_live_stream *s,
                                           const tltcp_live_frame *f);

/**
 * @brief Makes sections from bytes of a transport stream, with its timestamps;
 * other data becomes one section per call. The first call decides, and sets the
 * format.
 * @param s     stream
 * @param data  bytes
 * @param len   how many
 * @param now   when to send them, tltcp_now()'s clock
 * @return 0, TLTCP_ERR_INVAL (@p now is out of range), TLTCP_ERR_STATE (the
 * format is that of frames) or TLTCP_ERR_NOMEM
 */
TLTCP_LIVE_API int tltcp_live_stream_write_ts(tltcp_live_stream *s,
                                              const void *data, size_t len,
                                              tltcp_time now);

/** @brief Newest decoding time that tltcp_live_stream_write_ts() has seen in
 * the first elementary stream. @param s  stream
 * @return media time, or ::TLTCP_LIVE_TIME_NONE */
TLTCP_LIVE_API int64_t tltcp_live_stream_ts_time(const tltcp_live_stream *s);

/** @brief Makes sections from unfinished data at the end of the stream.
 * @param s  stream @param f  its times and flags; NULL: the stream's own
 * @return 0, TLTCP_ERR_INVAL (a time out of range) or TLTCP_ERR_NOMEM */
TLTCP_LIVE_API int tltcp_live_stream_flush(tltcp_live_stream *s,
                                           const tltcp_live_frame *f);

/**
 * @brief Makes a section from a stream header, which new connections need.
 * @param s     stream
 * @param data  bytes
 * @param len   how many
 * @return a reference; NULL: out of memory
 */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_stream_header(tltcp_live_stream *s, const void *data, size_t len);

/**
 * @brief Makes a section from an event.
 * @param s         stream
 * @param mark      ::tltcp_live_mark
 * @param pts       media time, or ::TLTCP_LIVE_TIME_NONE
 * @param duration  ns, or ::TLTCP_LIVE_TIME_NONE
 * @param payload data, or NULL
 * @param len       bytes at @p payload
 * @return a reference; NULL: out of memory, or a time out of range
 */
TLTCP_LIVE_API tltcp_live_section *
tltcp_live_stream_mark(tltcp_live_stream *s, unsigned mark, int64_t pts,
                       int64_t duration, const void *payload, size_t len);

/* ---- Senders ---- */

/** Sends sections over one connection; opaque. */
typedef struct tltcp_live_sender tltcp_live_sender;

/** @brief Receives an event. @param user as given @param ev valid during the
 * call */
typedef void (*tltcp_live_on_event)(void *user, const tltcp_live_event *ev);

/**
 * @brief Creates a sender.
 * @param s         connected, with tltcp_config::report_fates; the call takes
 *                  ownership, even on failure
 * @param settings  only queue limits and report_frames apply; NULL: defaults
 * @param on_event  receives events; NULL: none
 * @param user      passed to @p on_event
 * @return the sender, to be closed with tltcp_live_sender_close(); NULL: out of
 * memory
 */
TLTCP_LIVE_API tltcp_live_sender *
tltcp_live_sender_new(tltcp_socket *s, const tltcp_live_settings *settings,
                      tltcp_live_on_event on_event, void *user);

/** @brief The connection joins streams in progress: drops pictures until one
 * where decoding can begin. @param s  sender */
TLTCP_LIVE_API void tltcp_live_sender_join(tltcp_live_sender *s);

/** @brief Whether the queue has room for a section. @param s sender
 * @param bytes  size of the section; 0: asks whether the queue is empty
 * @return true if it has */
TLTCP_LIVE_API bool tltcp_live_sender_has_room(const tltcp_live_sender *s,
                                               size_t bytes);

/**
 * @brief Queues a section, unless this connection cannot use it.
 * @param s        sender
 * @param section  section; a reference is added
 * @retval 1               queued
 * @retval 0               dropped, and counted
 * @retval TLTCP_ERR_NOMEM out of memory
 */
TLTCP_LIVE_API int tltcp_live_sender_push(tltcp_live_sender *s,
                                          tltcp_live_section *section);

/**
 * @brief Handles events of the connection and sends queued sections.
 * @param s  sender
 * @return latest time of the next call; ::TLTCP_TIME_NEVER: when a descriptor
 * is readable
 */
TLTCP_LIVE_API tltcp_time tltcp_live_sender_run(tltcp_live_sender *s);

/** @brief Descriptors that are readable when there is something to do.
 * @param s  sender @param[out] fds  ::TLTCP_LIVE_FDS of them; negative: the
 * process has none left, so call again soon
 * @return how many */
TLTCP_LIVE_API int tltcp_live_sender_fds(const tltcp_live_sender *s, int *fds);

/** @brief The connection, for its addresses and statistics. @param s sender
 * @return connection owned by the sender */
TLTCP_LIVE_API tltcp_socket *
tltcp_live_sender_socket(const tltcp_live_sender *s);

/** @brief Whether the connection is over; an event has reported the cause.
 * @param s sender @return true: it is */
TLTCP_LIVE_API bool tltcp_live_sender_is_closed(const tltcp_live_sender *s);

/** @brief Whether the queue is empty and every fate is known, or the connection
 * is over. @param s sender @return true: idle */
TLTCP_LIVE_API bool tltcp_live_sender_is_idle(const tltcp_live_sender *s);

/**
 * @brief How late a frame would arrive if it were written now.
 *
 * Accounts for the queues in the sender, the connection and the path at the
 * estimated bandwidth; see tltcp_would_arrive().
 * @param s         sender
 * @param bytes     size of the frame
 * @param deadline  when it should arrive at the peer, tltcp_now()'s clock
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

/** @brief Adds the statistics of a sender to others. @param s  sender
 * @param[in,out] st  initialised by tltcp_live_stats_init(); counters and
 * gauges are added to */
TLTCP_LIVE_API void tltcp_live_sender_add_stats(const tltcp_live_sender *s,
                                                tltcp_live_stats *st);

/**
 * @brief Closes the connection. Queued sections are given up, and sections
 * without a fate are abandoned; events report this.
 * @param s          sender
 * @param linger_ms  as for tltcp_close()
 * @return as tltcp_close()
 */
TLTCP_LIVE_API int tltcp_live_sender_close(tltcp_live_sender *s, int linger_ms);

/**
 * @brief Ends the connection at once and gives the peer a reason, as
 * tltcp_reject() does.  Events report the fate of queued sections.
 * @param s       sender
 * @param reason  at most TLTCP_REASON_MAX bytes of it reach the peer; NULL:
 *                none
 */
TLTCP_LIVE_API void tltcp_live_sender_reject(tltcp_live_sender *s,
                                             const char *reason);

/** @brief Frees a sender; closes its connection first if it is open.
 * @param s  sender, or NULL */
TLTCP_LIVE_API void tltcp_live_sender_free(tltcp_live_sender *s);

/* ---- Receivers ---- */

/** Receives sections from one connection; opaque. */
typedef struct tltcp_live_receiver tltcp_live_receiver;

/** A received section, or a gap. */
typedef struct tltcp_live_received {
    uint64_t number; /**< section number on its connection */
    uint64_t seq;    /**< offset in the byte stream of its first byte here, or
                          of the gap */
    uint8_t *data;   /**< its bytes, with zeros for missing ones; the caller
                          must free() them; NULL: a gap */
    size_t len;      /**< bytes at data, or of the gap */
    size_t missing;  /**< number of missing bytes */
    bool complete;   /**< no byte is missing */
    bool begins;     /**< its first bytes arrived */
    struct tltcp_meta meta; /**< metadata from the sender */
} tltcp_live_received;

/**
 * @brief Creates a receiver. It does not own the connection.
 * @param s  connected
 * @return the receiver, to be freed with tltcp_live_receiver_free(); NULL: out
 * of memory
 */
TLTCP_LIVE_API tltcp_live_receiver *tltcp_live_receiver_new(tltcp_socket *s);

/** @brief Frees a receiver, but not the connection. @param r receiver, or
 * NULL */
TLTCP_LIVE_API void tltcp_live_receiver_free(tltcp_live_receiver *r);

/**
 * @brief Takes the next section or gap. Sections of a stream are in order;
 * different streams do not wait for each other.
 * @param r         receiver
 * @param[out] out  filled in when 1 is returned
 * @param flags     0 or MSG_DONTWAIT
 * @retval 1               a section or a gap
 * @retval 0               the end of the stream
 * @retval TLTCP_ERR_NOMEM out of memory
 * @return otherwise an error of tltcp_recvmsg(), once all received data has
 * been returned
 */
TLTCP_LIVE_API int tltcp_live_receiver_next(tltcp_live_receiver *r,
                                            tltcp_live_received *out,
                                            int flags);

/** @brief Adds the statistics of a receiver to others. @param r  receiver
 * @param[in,out] st  initialised by tltcp_live_stats_init(); counters are added
 * to */
TLTCP_LIVE_API void tltcp_live_receiver_add_stats(const tltcp_live_receiver *r,
                                                  tltcp_live_stats *st);

/* ---- Links ---- */

/** Makes connections: either calls, with retries after a delay that doubles
 * from 200 ms to 2 s, or listens. Opaque. */
typedef struct tltcp_live_link tltcp_live_link;

/**
 * @brief Creates a link; a listening link is bound on return.
 * @param[out] l    the link, to be freed with tltcp_live_link_free()
 * @param settings  only host, service, listens and reconnect apply; copied
 * @param config    options of the connections, initialised by
 *                  tltcp_config_init(); its strings must outlive the link
 * @param on_event  receives LISTENING, CONNECTING, CONNECTED, REFUSED and
 *                  REJECTED; may be NULL
 * @param user passed to @p on_event
 * @retval 0                 created
 * @retval TLTCP_ERR_INVAL   @p config was not initialised
 * @retval TLTCP_ERR_ADDRESS host or service is too long
 * @retval TLTCP_ERR_NOMEM   out of memory
 * @return otherwise a negative ::tltcp_error: it cannot listen
 */
TLTCP_LIVE_API int tltcp_live_link_new(tltcp_live_link **l,
                                       const tltcp_live_settings *settings,
                                       const tltcp_config *config,
                                       tltcp_live_on_event on_event,
                                       void *user);

/** @brief Frees a link; its connections stay open. @param l link, or NULL */
TLTCP_LIVE_API void tltcp_live_link_free(tltcp_live_link *l);

/**
 * @brief Continues making a connection. Name resolution may block.
 *
 * A calling link makes one connection; call this again after
 * tltcp_live_link_lost().
 * @param l          link
 * @param[out] s     the connection, if 1 is returned; the caller must close it
 * @param[out] when  latest time of the next call, tltcp_now()'s clock;
 *                   ::TLTCP_TIME_NEVER: when its descriptor is readable
 * @retval 1  a connection
 * @retval 0  none yet
 * @return a negative ::tltcp_error: there will be no connection, because
 * retrying cannot help or is disabled
 */
TLTCP_LIVE_API int tltcp_live_link_run(tltcp_live_link *l, tltcp_socket **s,
                                       tltcp_time *when);

/** @brief Descriptors that are readable when there is something to do.
 * @param l  link @param[out] fds  ::TLTCP_LIVE_FDS of them; negative: the
 * process has none left, so call again soon
 * @return how many */
TLTCP_LIVE_API int tltcp_live_link_fds(const tltcp_live_link *l, int *fds);

/**
 * @brief Reports that the connection of a calling link is over.
 * @param l      link
 * @param error  cause; 0: orderly
 * @param reason the peer's reason, or ""
 * @return true: the next tltcp_live_link_run() may make another one
 */
TLTCP_LIVE_API bool tltcp_live_link_lost(tltcp_live_link *l, int error,
                                         const char *reason);

/** @brief The listening socket, or NULL. @param l link @return socket owned by
 * the link */
TLTCP_LIVE_API tltcp_socket *tltcp_live_link_listener(const tltcp_live_link *l);

/** @brief Whether retrying cannot help. @param error error of a connection
 * @param answered  the peer answered @param reason its reason, or ""
 * @return true: it cannot */
TLTCP_LIVE_API bool tltcp_live_is_permanent(int error, bool answered,
                                            const char *reason);

/** Prefix of the reason of a temporary refusal. */
#define TLTCP_LIVE_BUSY "busy with another caller"

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LIVE_PARTS_H */

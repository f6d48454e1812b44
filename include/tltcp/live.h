/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/live.h
 * @brief Live streams over TLTCP: sends and receives frames or MPEG transport
 * streams. A separate library, libtltcp-live, without FFmpeg or GLib.
 *
 * Words: a *frame* is what a codec makes, a *section* is what TLTCP carries: a
 * frame with a header (docs/protocols/media-framing.md), a description of a
 * stream, or an event.
 *
 * A program makes ::tltcp_live_options from a URL, opens a ::tltcp_live with
 * them, and writes or reads. A sender has a background thread that connects or
 * listens, reconnects after a failure, decides which sections each connection
 * can use, and sends them. A listening sender sends to all callers. A receiver
 * has one connection at a time and works in the reading thread.
 *
 * A program with its own event loop can use the building blocks of
 * <tltcp/live_parts.h> instead.
 *
 * Times are nanoseconds.  Media times count from a zero that the sender
 * chooses, and lie within 2^60 ns (36 years) of it, so they cannot count from
 * 1970; other points in time are on tltcp_now()'s clock.
 *
 * Functions return 0 or a count, or a negative ::tltcp_error.  `why` is a
 * buffer of ::TLTCP_LIVE_WHY_MAX bytes for a zero-terminated error message, or
 * NULL.
 *
 * Threads: one thread at a time may write or read; meanwhile any thread may
 * take events, get statistics and call tltcp_live_interrupt().
 */
#ifndef TLTCP_LIVE_H
#define TLTCP_LIVE_H

#include <tltcp/live_event.h>
#include <tltcp/live_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_live
 * @{ */

/** As a media time or a duration: none. */
#define TLTCP_LIVE_TIME_NONE INT64_MIN
/** As tltcp_live_frame::depends: the frame depends on no other. */
#define TLTCP_LIVE_DEPENDS_NONE UINT32_MAX

/* ---- Streams and frames ---- */

/** Media types of a stream. */
enum tltcp_live_type {
    TLTCP_LIVE_UNKNOWN = 0, /**< not stated */
    TLTCP_LIVE_VIDEO = 1,   /**< pictures */
    TLTCP_LIVE_AUDIO = 2,   /**< sound */
    TLTCP_LIVE_DATA = 3     /**< anything else, including subtitles and muxed
                                 streams */
};

/** Packaging of H.264 and H.265 frames. */
enum tltcp_live_packing {
    TLTCP_LIVE_WHOLE = 0, /**< access units */
    TLTCP_LIVE_RTP = 1,   /**< RTP packets */
    TLTCP_LIVE_UNITS = 2  /**< single NAL units */
};

/** Description of a stream. Zero, NULL or an empty string: not stated. Start
 * from tltcp_live_format_init(). */
typedef struct tltcp_live_format {
    size_t struct_size;    /**< set by tltcp_live_format_init() */
    uint32_t type;         /**< ::tltcp_live_type */
    uint32_t packing;      /**< writing: ::tltcp_live_packing */
    bool intra_only;       /**< writing: every frame is decodable alone */
    const char *codec;     /**< libavcodec's name, such as "h264", "aac",
                                "mpegts" */
    const char *caps;      /**< GStreamer caps; writing: NULL: derived from the
                                other fields */
    const void *extradata; /**< codec_data of GStreamer, extradata of FFmpeg */
    size_t extradata_len;  /**< bytes at extradata */
    uint32_t nal_length;   /**< bytes of a NAL unit's length field; 0: start
                                codes; writing: read from extradata */
    uint32_t width;        /**< pixels */
    uint32_t height;       /**< pixels */
    uint32_t rate_num;     /**< frames per second, numerator */
    uint32_t rate_den;     /**< frames per second, denominator */
    uint32_t sample_rate;  /**< Hz */
    uint32_t channels;     /**< audio channels */
    uint32_t bit_rate;     /**< bit/s on average */
    uint32_t block_bytes;  /**< bytes per decoder block; 0: any */
    uint32_t sample_bits;  /**< bits of a coded sample */
    const char *samples;   /**< format of raw pixels or samples, libavutil's
                                name */
    const char *title;     /**< free text */
    uint32_t latency_ms;   /**< latency of the sender; writing: set by the
                                library */
    uint32_t streams;      /**< total number of streams; 0: not known */
} tltcp_live_format;

/** @brief Zeroes the struct and sets its size tag. @param f  format, of any
 * content */
#define tltcp_live_format_init(f) \
    tltcp_live_format_init_sized((f), sizeof(*(f)))

/** @brief Implements tltcp_live_format_init(). @param f  format
 * @param size  its size as the caller was compiled */
TLTCP_LIVE_API void tltcp_live_format_init_sized(tltcp_live_format *f,
                                                 size_t size);

/** How a picture is coded. */
enum tltcp_live_picture {
    TLTCP_LIVE_PICTURE_OTHER = 0, /**< not a picture, or not known */
    TLTCP_LIVE_PICTURE_I = 1,     /**< intra */
    TLTCP_LIVE_PICTURE_P = 2,     /**< predicted from one side */
    TLTCP_LIVE_PICTURE_B = 3      /**< predicted from both sides */
};

/** Flags of a frame. */
enum tltcp_live_flag {
    TLTCP_LIVE_KEY = 1 << 0,         /**< decoding can begin here */
    TLTCP_LIVE_DELTA = 1 << 1,       /**< decoding cannot begin here */
    TLTCP_LIVE_HEADER = 1 << 2,      /**< carries stream headers */
    TLTCP_LIVE_DROPPABLE = 1 << 3,   /**< no other frame needs it */
    TLTCP_LIVE_DISCONT = 1 << 4,     /**< discontinuity before this frame */
    TLTCP_LIVE_CORRUPTED = 1 << 5,   /**< damaged before it was sent */
    TLTCP_LIVE_MARKER = 1 << 6,      /**< ends an access unit */
    TLTCP_LIVE_SILENCE = 1 << 7,     /**< silence or repetition */
    TLTCP_LIVE_RESYNC = 1 << 8,      /**< as GStreamer's RESYNC */
    TLTCP_LIVE_DECODE_ONLY = 1 << 9, /**< decode, do not display */
    TLTCP_LIVE_RECOVERY = 1 << 10, /**< reading: decoding can begin here and is
                                        correct after some references */
    TLTCP_LIVE_CLOSED = 1 << 11 /**< reading, with KEY: no later frame depends
                                   on an earlier one */
};

/** Value of tltcp_live_frame::clock_offset if media times are already on
 * tltcp_now()'s clock. */
#define TLTCP_LIVE_CLOCK_SAME 0

/** A frame, written or read.  Start from tltcp_live_frame_init(). */
typedef struct tltcp_live_frame {
    size_t struct_size; /**< set by tltcp_live_frame_init() */
    const void *data;   /**< the codec's bytes; writing: copied; reading: valid
                             until the next read */
    size_t len;         /**< bytes at data */
    uint32_t stream;    /**< 0 to 255 */
    uint32_t flags; /**< ::tltcp_live_flag bits; writing: used only if not known
                         from the bytes */
    uint32_t frame_class; /**< ::tltcp_class; writing: 0: determined by the
                               library */
    uint32_t picture;     /**< reading: ::tltcp_live_picture */
    int64_t pts;          /**< display time; or ::TLTCP_LIVE_TIME_NONE */
    int64_t dts;          /**< decoding time; or ::TLTCP_LIVE_TIME_NONE */
    int64_t duration;     /**< or ::TLTCP_LIVE_TIME_NONE */
    int64_t clock_offset; /**< writing: tltcp_now() at media time 0, the base of
                               deadlines */
    bool untimed;         /**< writing: has no deadline, except in the mode
                               CONSTANT */
    uint32_t depends; /**< writing: distance to the frame it depends on, counted
                         in frames of its stream; ::TLTCP_LIVE_DEPENDS_NONE; 0:
                           determined by the library */
    tltcp_time deadline; /**< writing: overrides the deadline of the mode; 0:
                              use the mode; or ::TLTCP_TIME_NEVER */
    uint64_t tag;        /**< set by the writer; returned in events and passed
                              to the reader */
    uint32_t number;     /**< reading: index in its stream in coding order */
    bool complete;       /**< reading: every byte arrived */
    size_t missing;      /**< reading: missing bytes, which are zero in data */
    uint64_t section;    /**< reading: section number on the connection */
    tltcp_time arrived;  /**< when its last byte arrived, tltcp_now()'s clock;
                              writing: 0: now */
} tltcp_live_frame;

/** @brief Sets defaults: no times, everything unknown. @param f  frame, of any
 * content */
#define tltcp_live_frame_init(f) tltcp_live_frame_init_sized((f), sizeof(*(f)))

/** @brief Implements tltcp_live_frame_init(). @param f  frame @param size  its
 * size as the caller was compiled */
TLTCP_LIVE_API void tltcp_live_frame_init_sized(tltcp_live_frame *f,
                                                size_t size);

/* ---- Statistics ---- */

/** Fates of frames or sections. */
typedef struct tltcp_live_count {
    uint64_t offered;   /**< written */
    uint64_t delivered; /**< arrived complete */
    uint64_t partial;   /**< arrived in part */
    uint64_t expired;   /**< sent but did not arrive */
    uint64_t dropped;   /**< never sent */
    uint64_t abandoned; /**< the connection ended first */
} tltcp_live_count;

/** Kinds of frames as reports count them. */
enum tltcp_live_kind {
    TLTCP_LIVE_KIND_I = 0,     /**< intra picture */
    TLTCP_LIVE_KIND_P = 1,     /**< predicted from one side */
    TLTCP_LIVE_KIND_B = 2,     /**< predicted from both sides */
    TLTCP_LIVE_KIND_AUDIO = 3, /**< sound */
    TLTCP_LIVE_KIND_OTHER = 4, /**< anything else */
    TLTCP_LIVE_KIND_COUNT = 5  /**< number of kinds */
};

/** @brief The name of a kind. @param kind  ::tltcp_live_kind
 * @return static text: "I", "P", "B", "audio" or "other" */
TLTCP_LIVE_API const char *tltcp_live_kind_name(unsigned kind);

/** Statistics of a sender or receiver. Counters cover all connections. */
typedef struct tltcp_live_stats {
    size_t struct_size;        /**< set by tltcp_live_stats_init() */
    uint64_t connections;      /**< opened so far */
    uint64_t connected;        /**< currently open */
    tltcp_live_count sections; /**< sender: of all kinds */
    tltcp_live_count classes[TL_CLASS_LAST + 1];   /**< sender: sections by
                                                        ::tltcp_class */
    tltcp_live_count kinds[TLTCP_LIVE_KIND_COUNT]; /**< sender: frames by
                                                        ::tltcp_live_kind */
    uint64_t dropped[TLTCP_LIVE_CAUSE_COUNT]; /**< sender: frames never sent,
                                                   by ::tltcp_live_cause */
    uint64_t bytes_offered;                   /**< sender: of sections */
    uint64_t bytes_dropped;     /**< sender: never passed to any connection */
    uint64_t keys_wanted;       /**< sender: requested key frames */
    uint64_t sections_complete; /**< receiver: received complete */
    uint64_t sections_cut;      /**< receiver: received incomplete or not at
                                     all */
    uint64_t bytes_received;    /**< receiver: of sections */
    uint64_t gaps;              /**< receiver: in the byte stream */
    uint64_t gap_bytes;         /**< receiver: bytes in gaps */
    uint64_t queued_sections;   /**< sender: sections without a fate yet
                                     (gauge) */
    uint64_t queued_bytes; /**< sender: bytes not yet passed to the connection
                                (gauge) */
} tltcp_live_stats;

/** @brief Zeroes the struct and sets its size tag. @param s  statistics, of any
 * content */
#define tltcp_live_stats_init(s) tltcp_live_stats_init_sized((s), sizeof(*(s)))

/** @brief Implements tltcp_live_stats_init(). @param s  statistics
 * @param size  its size as the caller was compiled */
TLTCP_LIVE_API void tltcp_live_stats_init_sized(tltcp_live_stats *s,
                                                size_t size);

/* ---- Sending and receiving ---- */

/** A sender or a receiver; opaque. */
typedef struct tltcp_live tltcp_live;

/** Directions of a ::tltcp_live. */
enum tltcp_live_direction {
    TLTCP_LIVE_SEND = 1,   /**< writes */
    TLTCP_LIVE_RECEIVE = 2 /**< reads */
};

/**
 * @brief Opens a sender or a receiver.
 *
 * A listener is bound to its port on return. A caller connects in the
 * background (sender) or while it reads (receiver); events report the progress.
 * @param[out] l     the new object, to be closed with tltcp_live_close(); NULL
 *                   after a failure
 * @param direction  ::tltcp_live_direction
 * @param o          options; owned by the object if 0 is returned, else still
 *                   by the caller
 * @param[out] why error message
 * @return 0 or a negative ::tltcp_error
 */
TLTCP_LIVE_API int tltcp_live_open(tltcp_live **l, int direction,
                                   tltcp_live_options *o, char *why);

/**
 * @brief Opens a sender or a receiver over an open connection.  It does not
 * reconnect.
 * @param[out] l     the new object, to be closed with tltcp_live_close(); NULL
 *                   after a failure
 * @param direction  ::tltcp_live_direction
 * @param s          connected; for a sender, with tltcp_config::report_fates;
 *                   the call takes ownership, even on failure
 * @param o          options; the call takes ownership, even on failure; only
 *                   the settings apply, not URL and config; NULL: defaults
 * @retval 0                done
 * @retval TLTCP_ERR_INVAL  NULL, or no such direction
 * @retval TLTCP_ERR_NOMEM  out of memory
 */
TLTCP_LIVE_API int tltcp_live_open_socket(tltcp_live **l, int direction,
                                          tltcp_socket *s,
                                          tltcp_live_options *o);

/**
 * @brief Describes a stream before it is written; call again when it changes.
 * @param l       sender
 * @param stream  0 to 255
 * @param f       format; copied
 * @retval 0                done
 * @retval TLTCP_ERR_INVAL  not a sender, or @p stream is out of range
 * @retval TLTCP_ERR_NOMEM  out of memory
 */
TLTCP_LIVE_API int tltcp_live_set_format(tltcp_live *l, unsigned stream,
                                         const tltcp_live_format *f);

/**
 * @brief Writes a frame, in coding order within its stream.
 *
 * Frames written while there is no connection are dropped.
 * @param l           sender
 * @param f           frame; its bytes are copied
 * @param timeout_ms  time to wait for room; < 0: until its deadline; 0: do not
 *                    wait
 * @retval 0                 written, or dropped because no connection can use
 * it
 * @retval TLTCP_ERR_AGAIN   no room in time; the frame is given up with its
 *                           dependents
 * @retval TLTCP_ERR_INVAL   not a sender, no data, a time out of range, or the
 *                           stream has no format
 * @retval TLTCP_ERR_ABORTED tltcp_live_interrupt() was called
 * @retval TLTCP_ERR_NOMEM   out of memory
 * @return otherwise the error that permanently ended the last connection
 */
TLTCP_LIVE_API int tltcp_live_write(tltcp_live *l, const tltcp_live_frame *f,
                                    int timeout_ms);

/**
 * @brief How late a frame would arrive if it were written now.
 *
 * Call this before encoding a picture and skip the picture if it would be late:
 * a picture that is never encoded breaks no reference, and the next one is in
 * time again. With several connections, the best one decides.
 * @param l         sender
 * @param bytes     expected size of the frame, such as the recent average
 * @param deadline  when it should arrive at the peer, tltcp_now()'s clock: its
 *                  capture time plus the latency
 * @return ns; 0: in time, not known yet, or no connection
 */
TLTCP_LIVE_API uint64_t tltcp_live_lateness(tltcp_live *l, size_t bytes,
                                            tltcp_time deadline);

/**
 * @brief Writes part of a transport stream (ISO/IEC 13818-1); any split is
 * allowed.
 *
 * Its pictures, audio frames and tables become sections, each with a deadline.
 * Any other data is sent as it is written, one section per call. Write at the
 * pace of the stream: deadlines count from now.
 * @param l           sender, without tltcp_live_set_format()
 * @param data        copied
 * @param len         bytes
 * @param timeout_ms  as for tltcp_live_write()
 * @return as tltcp_live_write(), or TLTCP_ERR_STATE: a format of frames was set
 */
TLTCP_LIVE_API int tltcp_live_write_ts(tltcp_live *l, const void *data,
                                       size_t len, int timeout_ms);

/**
 * @brief Waits until there is room for a write, for programs that must not
 * block for long in one call, or must lose nothing.
 * @param l           sender
 * @param len         bytes to be written
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 0                 there is room, or no connection
 * @retval TLTCP_ERR_AGAIN   no room in time
 * @retval TLTCP_ERR_INVAL   not a sender
 * @retval TLTCP_ERR_ABORTED tltcp_live_interrupt() was called
 * @return otherwise the error that permanently ended the last connection
 */
TLTCP_LIVE_API int tltcp_live_wait_room(tltcp_live *l, size_t len,
                                        int timeout_ms);

/**
 * @brief Ends the streams, and waits until all written data has arrived or was
 * given up.
 * @param l           sender
 * @param timeout_ms  milliseconds to wait; < 0: no limit
 * @retval 0                  all fates are known
 * @retval TLTCP_ERR_TIMEOUT  some fates are not known
 * @return otherwise as tltcp_live_write()
 */
TLTCP_LIVE_API int tltcp_live_finish(tltcp_live *l, int timeout_ms);

/** Results of tltcp_live_read(). */
enum tltcp_live_read_result {
    TLTCP_LIVE_READ_END = 0,    /**< the stream is over */
    TLTCP_LIVE_READ_FRAME = 1,  /**< a frame */
    TLTCP_LIVE_READ_FORMAT = 2, /**< a new description of
                                     tltcp_live_frame::stream; see
                                     tltcp_live_get_format() */
    TLTCP_LIVE_READ_GAP = 3     /**< tltcp_live_frame::missing bytes of the
                                     connection will never come */
};

/**
 * @brief Reads the next frame, description or gap.
 *
 * The end of a connection is the end of the stream, unless reconnection is on
 * and the sender has not ended its stream. The last connection stays open until
 * tltcp_live_close() or tltcp_live_abort(), for which a sender can wait.
 * @param l           receiver
 * @param[out] f      filled in; initialised by tltcp_live_frame_init()
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @return a ::tltcp_live_read_result, or
 * @retval TLTCP_ERR_AGAIN    nothing in time
 * @retval TLTCP_ERR_INVAL    not a receiver, or @p f was not initialised
 * @retval TLTCP_ERR_ABORTED  tltcp_live_interrupt() was called
 * @retval TLTCP_ERR_NOMEM    out of memory
 * @return otherwise the error that permanently ended the connection
 */
TLTCP_LIVE_API int tltcp_live_read(tltcp_live *l, tltcp_live_frame *f,
                                   int timeout_ms);

/**
 * @brief The newest description of a stream.
 * @param l        receiver
 * @param stream   0 to 255
 * @param[out] f   initialised by tltcp_live_format_init(); its pointers are
 *                 valid until the next read
 * @retval 0                filled in
 * @retval TLTCP_ERR_INVAL  no description received, @p stream is out of range,
 *                          or @p f was not initialised
 */
TLTCP_LIVE_API int tltcp_live_get_format(const tltcp_live *l, unsigned stream,
                                         tltcp_live_format *f);

/**
 * @brief Reads bytes of a transport stream, or of other data written by
 * tltcp_live_write_ts(). Incomplete sections are skipped, as is the rest of a
 * section after tltcp_live_read().
 * @param l           receiver
 * @param[out] data   room
 * @param len         bytes at @p data, above 0
 * @param timeout_ms  as for tltcp_live_read()
 * @return bytes, 0 at the end, or as tltcp_live_read(); TLTCP_ERR_PROTOCOL: the
 * peer sends elementary streams; use tltcp_live_read()
 */
TLTCP_LIVE_API ssize_t tltcp_live_read_ts(tltcp_live *l, void *data, size_t len,
                                          int timeout_ms);

/** Maximum number of descriptors of tltcp_live_fds(). */
#define TLTCP_LIVE_FDS 3

/**
 * @brief Descriptors to poll before tltcp_live_read().
 * @param l          receiver
 * @param[out] fds   ::TLTCP_LIVE_FDS descriptors, readable when there may be
 *                   something to read; negative: the process has none left, and
 *                   @p when is soon
 * @param[out] when  latest time of the next read, tltcp_now()'s clock; or
 *                   ::TLTCP_TIME_NEVER
 * @return how many descriptors
 */
TLTCP_LIVE_API int tltcp_live_fds(const tltcp_live *l, int *fds,
                                  tltcp_time *when);

/**
 * @brief Takes the oldest event. The newest 1024 events are kept.
 * @param l           sender or receiver; the events of a receiver occur while
 *                    it reads
 * @param[out] ev     initialised by tltcp_live_event_init(), once for all
 *                    calls; filled in
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 1                  @p ev was filled in
 * @retval TLTCP_ERR_INVAL    it was not initialised
 * @retval TLTCP_ERR_AGAIN    no event in time
 * @retval TLTCP_ERR_ABORTED  tltcp_live_interrupt() was called
 */
TLTCP_LIVE_API int tltcp_live_next_event(tltcp_live *l, tltcp_live_event *ev,
                                         int timeout_ms);

/** @brief Makes every waiting call return TLTCP_ERR_ABORTED, now and until it
 * is switched off. @param l  sender or receiver
 * @param on  false: calls may wait again */
TLTCP_LIVE_API void tltcp_live_interrupt(tltcp_live *l, bool on);

/** @brief Takes a snapshot of the statistics. @param l  sender or receiver
 * @param[out] s  initialised by tltcp_live_stats_init()
 * @return 0 or TLTCP_ERR_INVAL */
TLTCP_LIVE_API int tltcp_live_get_stats(tltcp_live *l, tltcp_live_stats *s);

/**
 * @brief Statistics of one connection.
 * @param l       sender or receiver
 * @param index   index from 0; open connections are renumbered when one opens
 *                or ends; while none is open, 0 is the one that ended last
 * @param[out] s  initialised by tltcp_stats_init()
 * @retval 0                filled in
 * @retval TLTCP_ERR_INVAL  no such connection
 */
TLTCP_LIVE_API int tltcp_live_get_connection_stats(tltcp_live *l, size_t index,
                                                   tltcp_stats *s);

/**
 * @brief Writes statistics as one JSON object: the fields of tltcp_live_stats,
 * and `"peers"`, an array with RTT, loss, window and bit rates of every
 * connection.
 * @param l     sender or receiver
 * @param buf   buffer, zero-terminated on return; or NULL if @p cap is 0
 * @param cap   bytes at @p buf
 * @return length of the text without its terminating zero, as snprintf()
 */
TLTCP_LIVE_API size_t tltcp_live_stats_json(tltcp_live *l, char *buf,
                                            size_t cap);

/**
 * @brief The address that a listener is bound to.
 * @param l            listening sender or receiver
 * @param[out] sa      buffer for an address
 * @param[in,out] len  in: bytes at @p sa, out: bytes of the address
 * @return 0 or a negative ::tltcp_error
 */
TLTCP_LIVE_API int tltcp_live_local_address(tltcp_live *l, struct sockaddr *sa,
                                            socklen_t *len);

/** @brief Closes all connections and frees the object.
 * @param l          object, or NULL; no other call may be in progress
 * @param linger_ms  milliseconds to wait for written data; 0: do not wait. A
 *                   receiver waits for 200 ms at most after the last stream */
TLTCP_LIVE_API void tltcp_live_close(tltcp_live *l, int linger_ms);

/** @brief Closes at once, as this side cannot go on, and frees the object.
 * @param l  object, or NULL; no other call may be in progress
 * @param reason  of a receiver: the peer gets it, as far as ::TLTCP_REASON_MAX
 *                bytes, with TLTCP_ERR_ABORTED; NULL: none */
TLTCP_LIVE_API void tltcp_live_abort(tltcp_live *l, const char *reason);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LIVE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/live.h
 * @brief Live streams over TLTCP: frames or MPEG transport streams into
 * connections and out of them.  A library of its own, libtltcp-live, that needs
 * neither FFmpeg nor GLib.
 *
 * Words: a *frame* is what a codec makes, a *section* is what TLTCP carries: a
 * frame with a header (docs/protocols/media-framing.md), a description of a
 * stream, or an event.
 *
 * A program makes ::tltcp_live_options from a URL, opens a ::tltcp_live with
 * them, and writes or reads.  A sender has a thread of its own that connects or
 * listens, connects again after a failure, decides what is of use to each
 * connection, and sends.  A sender that listens sends to all who call.  A
 * receiver has one connection at a time and works in the thread that reads.
 *
 * A program with a loop of its own can use the building blocks of
 * <tltcp/live_parts.h> instead.
 *
 * Times are nanoseconds.  Media times count from any zero that the sender
 * chooses; points in time are on tltcp_now()'s clock.
 *
 * Functions return 0 or a count, or a negative ::tltcp_error.  `why` is always
 * ::TLTCP_LIVE_WHY_MAX bytes for a sentence, zero-terminated, or NULL.
 *
 * Threads: one thread at a time may write or read; any thread may meanwhile
 * take events, ask for statistics and call tltcp_live_interrupt().
 */
#ifndef TLTCP_LIVE_H
#define TLTCP_LIVE_H

#include <tltcp/live_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_live
 * @{ */

/** As a media time or a duration: none. */
#define TLTCP_LIVE_TIME_NONE INT64_MIN
/** As tltcp_live_frame::depends: the frame refers to no other. */
#define TLTCP_LIVE_DEPENDS_NONE UINT32_MAX

/* ---- Streams and frames ---- */

/** What a stream is made of. */
enum tltcp_live_type {
    TLTCP_LIVE_UNKNOWN = 0, /**< not said */
    TLTCP_LIVE_VIDEO = 1,   /**< pictures */
    TLTCP_LIVE_AUDIO = 2,   /**< sound */
    TLTCP_LIVE_DATA = 3     /**< anything else, subtitles and muxed streams */
};

/** How the frames of H.264 and H.265 come. */
enum tltcp_live_packing {
    TLTCP_LIVE_WHOLE = 0, /**< access units */
    TLTCP_LIVE_RTP = 1,   /**< RTP packets */
    TLTCP_LIVE_UNITS = 2  /**< NAL units, each alone */
};

/** Description of a stream.  Zero, NULL or an empty string: not said.  Start
 * from tltcp_live_format_init(). */
typedef struct tltcp_live_format {
    size_t struct_size;    /**< set by tltcp_live_format_init() */
    uint32_t type;         /**< ::tltcp_live_type */
    uint32_t packing;      /**< writing: ::tltcp_live_packing */
    bool intra_only;       /**< writing: every frame stands alone */
    const char *codec;     /**< libavcodec's name, such as "h264", "aac",
                                "mpegts" */
    const char *caps;      /**< GStreamer caps; writing: NULL has them made */
    const void *extradata; /**< codec_data of GStreamer, extradata of FFmpeg */
    size_t extradata_len;  /**< bytes at extradata */
    uint32_t nal_length;   /**< bytes of a NAL unit's length; 0: start codes;
                                writing: found in extradata */
    uint32_t width;        /**< pixels */
    uint32_t height;       /**< pixels */
    uint32_t rate_num;     /**< frames per second, numerator */
    uint32_t rate_den;     /**< frames per second, denominator */
    uint32_t sample_rate;  /**< Hz */
    uint32_t channels;     /**< of sound */
    uint32_t bit_rate;     /**< bit/s on average */
    uint32_t block_bytes;  /**< bytes that a decoder takes at once; 0: any */
    uint32_t sample_bits;  /**< bits of a coded sample */
    const char *samples;   /**< of raw pixels or samples, libavutil's name */
    const char *title;     /**< free text */
    uint32_t latency_ms;   /**< the sender's; writing: set by the library */
    uint32_t streams;      /**< how many there will be in all; 0: not known */
} tltcp_live_format;

/** @brief Zeroes and tags. @param f  format, of any content */
#define tltcp_live_format_init(f) \
    tltcp_live_format_init_sized((f), sizeof(*(f)))

/** @brief Behind tltcp_live_format_init(). @param f  format
 * @param size  its size as the caller was compiled */
TLTCP_LIVE_API void tltcp_live_format_init_sized(tltcp_live_format *f,
                                                 size_t size);

/** How a picture is coded. */
enum tltcp_live_picture {
    TLTCP_LIVE_PICTURE_OTHER = 0, /**< no picture, or not known */
    TLTCP_LIVE_PICTURE_I = 1,     /**< intra */
    TLTCP_LIVE_PICTURE_P = 2,     /**< predicted from one side */
    TLTCP_LIVE_PICTURE_B = 3      /**< predicted from both sides */
};

/** Flags of a frame. */
enum tltcp_live_flag {
    TLTCP_LIVE_KEY = 1 << 0,         /**< decoding can begin here */
    TLTCP_LIVE_DELTA = 1 << 1,       /**< it cannot */
    TLTCP_LIVE_HEADER = 1 << 2,      /**< carries stream headers */
    TLTCP_LIVE_DROPPABLE = 1 << 3,   /**< nobody needs it */
    TLTCP_LIVE_DISCONT = 1 << 4,     /**< does not follow what came before */
    TLTCP_LIVE_CORRUPTED = 1 << 5,   /**< damaged before it was sent */
    TLTCP_LIVE_MARKER = 1 << 6,      /**< ends an access unit */
    TLTCP_LIVE_SILENCE = 1 << 7,     /**< silence or repetition */
    TLTCP_LIVE_RESYNC = 1 << 8,      /**< as GStreamer's RESYNC */
    TLTCP_LIVE_DECODE_ONLY = 1 << 9, /**< decode, do not show */
    TLTCP_LIVE_RECOVERY = 1 << 10, /**< reading: decoding can begin here and is
                                      correct some references later */
    TLTCP_LIVE_CLOSED =
        1 << 11 /**< reading, with KEY: no later frame needs an earlier one */
};

/** What to write into tltcp_live_frame::clock_offset where media times are on
 * tltcp_now()'s clock already. */
#define TLTCP_LIVE_CLOCK_SAME 0

/** A frame, written or read.  Start from tltcp_live_frame_init(). */
typedef struct tltcp_live_frame {
    size_t struct_size; /**< set by tltcp_live_frame_init() */
    const void *data;   /**< the codec's bytes; writing: copied; reading: until
                             the next read */
    size_t len;         /**< bytes at data */
    uint32_t stream;    /**< 0 to 255 */
    uint32_t flags; /**< ::tltcp_live_flag; writing: used only where the bytes
                       do not tell */
    uint32_t frame_class; /**< ::tltcp_class; writing: 0 has it found out */
    uint32_t picture;     /**< reading: ::tltcp_live_picture */
    int64_t pts;          /**< when to show it; ::TLTCP_LIVE_TIME_NONE */
    int64_t dts;          /**< when to decode it; ::TLTCP_LIVE_TIME_NONE */
    int64_t duration;     /**< ::TLTCP_LIVE_TIME_NONE */
    int64_t clock_offset; /**< writing: tltcp_now() at media time 0, on which
                               deadlines are based */
    bool untimed;         /**< writing: never too late, but in the mode
                               CONSTANT */
    uint32_t
        depends; /**< writing: it refers to the frame that many places before it
                    in its stream; ::TLTCP_LIVE_DEPENDS_NONE; 0: found out */
    tltcp_time deadline; /**< writing: instead of the one that the mode gives;
                              0: that one; ::TLTCP_TIME_NEVER */
    uint64_t tag;        /**< the writer's, comes back in events and goes to
                              the reader */
    uint32_t number;     /**< reading: place in its stream in coding order */
    bool complete;       /**< reading: every byte is there */
    size_t missing;      /**< reading: bytes that are not, zero in data */
    uint64_t section;    /**< reading: number on the connection */
    tltcp_time arrived;  /**< when its last byte was there, tltcp_now()'s clock;
                              writing: 0: now */
} tltcp_live_frame;

/** @brief Sets defaults: no times, nothing known. @param f  frame, of any
 * content */
#define tltcp_live_frame_init(f) tltcp_live_frame_init_sized((f), sizeof(*(f)))

/** @brief Behind tltcp_live_frame_init(). @param f  frame @param size  its size
 * as the caller was compiled */
TLTCP_LIVE_API void tltcp_live_frame_init_sized(tltcp_live_frame *f,
                                                size_t size);

/* ---- Events ---- */

/** What happened. */
enum tltcp_live_event_type {
    TLTCP_LIVE_EVENT_NONE = 0,       /**< nothing */
    TLTCP_LIVE_EVENT_LISTENING = 1,  /**< address is bound */
    TLTCP_LIVE_EVENT_CONNECTING = 2, /**< attempt has begun */
    TLTCP_LIVE_EVENT_CONNECTED = 3,  /**< a connection is open */
    TLTCP_LIVE_EVENT_DISCONNECTED =
        4, /**< it has ended; error says why, 0: orderly */
    TLTCP_LIVE_EVENT_REFUSED =
        5, /**< a connection attempt failed; error and reason say why, final
              whether it is retried */
    TLTCP_LIVE_EVENT_RATE = 6, /**< estimated_bps or target_bps
                                    changed */
    TLTCP_LIVE_EVENT_DROP = 7, /**< a frame did not arrive whole */
    TLTCP_LIVE_EVENT_KEY_WANTED =
        8, /**< the encoder should make a key frame: a connection joined, or a
              reference was lost */
    TLTCP_LIVE_EVENT_FRAME = 9 /**< fate of a frame, with
                                    tltcp_live_settings::report_frames */
};

/** Why a frame did not arrive. */
enum tltcp_live_cause {
    TLTCP_LIVE_CAUSE_NONE = 0,    /**< sent, and lost in part or whole */
    TLTCP_LIVE_CAUSE_LATE = 1,    /**< its deadline passed before it was sent */
    TLTCP_LIVE_CAUSE_DEPENDS = 2, /**< what it needs is lost */
    TLTCP_LIVE_CAUSE_YIELDED =
        3, /**< dropped in favour of frames that others need */
    TLTCP_LIVE_CAUSE_OVERFLOW = 4, /**< there was no room for it */
    TLTCP_LIVE_CAUSE_COUNT = 5     /**< how many there are */
};

/** @brief The name of a cause. @param cause  ::tltcp_live_cause
 * @return static text such as "late" */
TLTCP_LIVE_API const char *tltcp_live_cause_name(unsigned cause);

/** An event.  Fields that its type does not name are zero. */
typedef struct tltcp_live_event {
    uint32_t type;          /**< ::tltcp_live_event_type */
    int32_t error;          /**< 0 or a negative ::tltcp_error */
    bool was_open;          /**< DISCONNECTED, REFUSED: it was open before */
    bool answered;          /**< REFUSED: the peer answered */
    bool final;             /**< REFUSED, DISCONNECTED: no further attempt */
    uint32_t attempt;       /**< CONNECTING, REFUSED: from 1 */
    uint64_t estimated_bps; /**< RATE: bit/s that the path carries, of the
                                 fastest connection */
    uint64_t target_bps; /**< RATE: bit/s that an encoder should produce; 0: not
                            known */
    uint32_t stream;     /**< DROP, FRAME: of the frame */
    uint32_t frame_class; /**< DROP, FRAME: ::tltcp_class */
    uint32_t cause;       /**< DROP, FRAME: ::tltcp_live_cause */
    uint32_t fate;        /**< FRAME: ::tltcp_fate; 0: never given to the
                               connection */
    uint64_t tag;         /**< DROP, FRAME: tltcp_live_frame::tag */
    uint32_t number;      /**< FRAME: place in its stream */
    uint32_t picture;     /**< FRAME: ::tltcp_live_picture */
    uint64_t bytes;       /**< FRAME: of the codec */
    int64_t pts;          /**< FRAME: media time */
    int64_t dts;          /**< FRAME: media time */
    tltcp_time written;   /**< FRAME: when the connection took it; 0: never */
    tltcp_time deadline;  /**< FRAME: ::TLTCP_TIME_NEVER: none */
    tltcp_time now;       /**< when this became known */
    struct sockaddr_storage address;   /**< LISTENING: bound to; CONNECTED,
                                    DISCONNECTED, DROP: the peer's */
    socklen_t address_len;             /**< bytes of it; 0: not known */
    char reason[TLTCP_REASON_MAX + 1]; /**< the peer's words, or "" */
} tltcp_live_event;

/* ---- Statistics ---- */

/** Fates of frames or sections. */
typedef struct tltcp_live_count {
    uint64_t offered;   /**< written */
    uint64_t delivered; /**< arrived whole */
    uint64_t partial;   /**< arrived in part */
    uint64_t expired;   /**< sent, and did not arrive */
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
    TLTCP_LIVE_KIND_COUNT = 5  /**< how many there are */
};

/** @brief The name of a kind. @param kind  ::tltcp_live_kind
 * @return static text: "I", "P", "B", "audio" or "other" */
TLTCP_LIVE_API const char *tltcp_live_kind_name(unsigned kind);

/** What became of what was written or read.  Counters count over all
 * connections. */
typedef struct tltcp_live_stats {
    size_t struct_size;        /**< set by tltcp_live_stats_init() */
    uint64_t connections;      /**< opened so far */
    uint64_t connected;        /**< that are open now */
    tltcp_live_count sections; /**< sender: of all kinds */
    tltcp_live_count classes[TL_CLASS_LAST + 1];   /**< sender: sections by
                                                        ::tltcp_class */
    tltcp_live_count kinds[TLTCP_LIVE_KIND_COUNT]; /**< sender: frames by
                                                        ::tltcp_live_kind */
    uint64_t dropped[TLTCP_LIVE_CAUSE_COUNT]; /**< sender: frames never sent,
                                                   by ::tltcp_live_cause */
    uint64_t bytes_offered;                   /**< sender: of sections */
    uint64_t bytes_dropped;     /**< sender: that no connection ever had */
    uint64_t keys_wanted;       /**< sender: key frames asked for */
    uint64_t sections_complete; /**< receiver: came whole */
    uint64_t sections_cut;      /**< receiver: did not */
    uint64_t bytes_received;    /**< receiver: of sections */
    uint64_t gaps;              /**< receiver: in the byte stream */
    uint64_t gap_bytes;         /**< receiver: in them */
    uint64_t queued_sections;   /**< sender: fates not known, gauge */
    uint64_t queued_bytes; /**< sender: not yet with the connection, gauge */
} tltcp_live_stats;

/** @brief Zeroes and tags. @param s  statistics, of any content */
#define tltcp_live_stats_init(s) tltcp_live_stats_init_sized((s), sizeof(*(s)))

/** @brief Behind tltcp_live_stats_init(). @param s  statistics
 * @param size  its size as the caller was compiled */
TLTCP_LIVE_API void tltcp_live_stats_init_sized(tltcp_live_stats *s,
                                                size_t size);

/* ---- Sending and receiving ---- */

/** A sender or a receiver; opaque. */
typedef struct tltcp_live tltcp_live;

/** What a ::tltcp_live does. */
enum tltcp_live_direction {
    TLTCP_LIVE_SEND = 1,   /**< writes */
    TLTCP_LIVE_RECEIVE = 2 /**< reads */
};

/**
 * @brief Opens a sender or a receiver.
 *
 * One that listens has its port afterwards.  One that calls does so in the
 * background (sender) or while it reads (receiver); events say how it goes.
 * @param[out] l     close with tltcp_live_close()
 * @param direction  ::tltcp_live_direction
 * @param o          taken over when 0 is returned, else still the caller's
 * @param[out] why   why it failed
 * @return 0 or a negative ::tltcp_error
 */
TLTCP_LIVE_API int tltcp_live_open(tltcp_live **l, int direction,
                                   tltcp_live_options *o, char *why);

/**
 * @brief Opens a sender or a receiver over an open connection.  It does not
 * reconnect.
 * @param[out] l     close with tltcp_live_close()
 * @param direction  ::tltcp_live_direction
 * @param s          connected; a sender's made with tltcp_config::report_fates;
 *                   taken over, also on failure
 * @param o          taken over, also on failure; its settings count, its URL
 *                   and config do not; NULL: defaults
 * @return 0 or a negative ::tltcp_error
 */
TLTCP_LIVE_API int tltcp_live_open_socket(tltcp_live **l, int direction,
                                          tltcp_socket *s,
                                          tltcp_live_options *o);

/**
 * @brief Describes a stream that will be written; again when it changes.
 * @param l       sender
 * @param stream  0 to 255
 * @param f       format; copied
 * @retval 0                done
 * @retval TLTCP_ERR_INVAL  no sender, or @p stream is out of range
 * @retval TLTCP_ERR_NOMEM  out of memory
 */
TLTCP_LIVE_API int tltcp_live_set_format(tltcp_live *l, unsigned stream,
                                         const tltcp_live_format *f);

/**
 * @brief Writes a frame, in coding order within its stream.
 *
 * Frames written while nobody is connected are dropped.
 * @param l           sender
 * @param f           frame; its bytes are copied
 * @param timeout_ms  how long to wait for room; < 0: until its deadline; 0: do
 *                    not wait
 * @retval 0                 written, or dropped because no connection can use
 * it
 * @retval TLTCP_ERR_AGAIN   no room in time; the frame is given up, with what
 *                           depends on it
 * @retval TLTCP_ERR_INVAL   no sender, or its stream has no format
 * @retval TLTCP_ERR_ABORTED tltcp_live_interrupt() was called
 * @retval TLTCP_ERR_NOMEM   out of memory
 * @return otherwise the error that ended the last connection for good
 */
TLTCP_LIVE_API int tltcp_live_write(tltcp_live *l, const tltcp_live_frame *f,
                                    int timeout_ms);

/**
 * @brief How late a frame would arrive if it were written now.
 *
 * Ask before encoding a picture and skip it when it would come too late: a
 * picture that is never encoded breaks no reference, and the next one is in
 * time again.  With several connections the answer is that of the best one.
 * @param l         sender
 * @param bytes     that the frame would have, such as the average of late
 * @param deadline  when it should be at the peer, tltcp_now()'s clock: its
 *                  capture time plus the latency
 * @return ns; 0: in time, not known yet, or nobody is connected
 */
TLTCP_LIVE_API uint64_t tltcp_live_lateness(tltcp_live *l, size_t bytes,
                                            tltcp_time deadline);

/**
 * @brief Writes a transport stream (ISO/IEC 13818-1), cut anywhere.
 *
 * Its pictures, frames of sound and tables become sections, each with a
 * deadline.  Bytes of any other kind are sent as they are written, a section
 * per call.  Write at the pace of the stream: deadlines count from now.
 * @param l           sender, without tltcp_live_set_format()
 * @param data        copied
 * @param len         bytes
 * @param timeout_ms  as for tltcp_live_write()
 * @return as tltcp_live_write()
 */
TLTCP_LIVE_API int tltcp_live_write_ts(tltcp_live *l, const void *data,
                                       size_t len, int timeout_ms);

/**
 * @brief Waits until a write would find room, for programs that must not wait
 * for long in one call, or must lose nothing.
 * @param l           sender
 * @param len         bytes to be written
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 0                 there is room, or nobody is connected
 * @retval TLTCP_ERR_AGAIN   there was none in time
 * @retval TLTCP_ERR_INVAL   no sender
 * @retval TLTCP_ERR_ABORTED tltcp_live_interrupt() was called
 * @return otherwise the error that ended the last connection for good
 */
TLTCP_LIVE_API int tltcp_live_wait_room(tltcp_live *l, size_t len,
                                        int timeout_ms);

/**
 * @brief Ends the streams, and waits until everything written has arrived or
 * was given up.
 * @param l           sender
 * @param timeout_ms  milliseconds to wait; < 0: as long as it takes
 * @retval 0                  all fates are known
 * @retval TLTCP_ERR_TIMEOUT  some are not
 * @return otherwise as tltcp_live_write()
 */
TLTCP_LIVE_API int tltcp_live_finish(tltcp_live *l, int timeout_ms);

/** What tltcp_live_read() gives. */
enum tltcp_live_read_result {
    TLTCP_LIVE_READ_END = 0,    /**< the stream is over */
    TLTCP_LIVE_READ_FRAME = 1,  /**< a frame */
    TLTCP_LIVE_READ_FORMAT = 2, /**< tltcp_live_frame::stream was described, see
                                     tltcp_live_get_format() */
    TLTCP_LIVE_READ_GAP = 3     /**< tltcp_live_frame::missing bytes of the
                                     connection will never come */
};

/**
 * @brief Reads what comes next.
 *
 * The end of a connection is the end of the stream unless reconnection is on
 * and the sender did not say that it has finished.
 * @param l           receiver
 * @param[out] f      filled in; set up with tltcp_live_frame_init()
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @return a ::tltcp_live_read_result, or
 * @retval TLTCP_ERR_AGAIN    nothing in time
 * @retval TLTCP_ERR_ABORTED  tltcp_live_interrupt() was called
 * @retval TLTCP_ERR_NOMEM    out of memory
 * @return otherwise the error that ended the connection for good
 */
TLTCP_LIVE_API int tltcp_live_read(tltcp_live *l, tltcp_live_frame *f,
                                   int timeout_ms);

/**
 * @brief The newest description of a stream.
 * @param l        receiver
 * @param stream   0 to 255
 * @param[out] f   set up with tltcp_live_format_init(); its pointers hold until
 *                 the next read
 * @retval 0                filled in
 * @retval TLTCP_ERR_INVAL  none was heard of
 */
TLTCP_LIVE_API int tltcp_live_get_format(const tltcp_live *l, unsigned stream,
                                         tltcp_live_format *f);

/**
 * @brief Reads bytes of a transport stream, or of whatever else was written by
 * tltcp_live_write_ts().  Sections that did not arrive whole are left out.
 * @param l           receiver
 * @param[out] data   room
 * @param len         bytes of it, above 0
 * @param timeout_ms  as for tltcp_live_read()
 * @return bytes, 0 at the end, or as tltcp_live_read();
 * TLTCP_ERR_PROTOCOL: the peer sends single streams, which tltcp_live_read()
 * takes
 */
TLTCP_LIVE_API ssize_t tltcp_live_read_ts(tltcp_live *l, void *data, size_t len,
                                          int timeout_ms);

/** Descriptors that tltcp_live_fds() may name. */
#define TLTCP_LIVE_FDS 3

/**
 * @brief What to poll for until tltcp_live_read() may have something.
 * @param l          receiver
 * @param[out] fds   ::TLTCP_LIVE_FDS descriptors, readable when it may
 * @param[out] when  when to read again at the latest, tltcp_now()'s clock;
 *                   ::TLTCP_TIME_NEVER
 * @return how many descriptors
 */
TLTCP_LIVE_API int tltcp_live_fds(const tltcp_live *l, int *fds,
                                  tltcp_time *when);

/**
 * @brief Takes the oldest event.  The newest 1024 wait.
 * @param l           sender or receiver; the events of a receiver come about
 *                    while it reads
 * @param[out] ev     filled in
 * @param timeout_ms  milliseconds to wait; < 0: for ever; 0: do not wait
 * @retval 1                  @p ev was filled in
 * @retval TLTCP_ERR_AGAIN    none came in time
 * @retval TLTCP_ERR_ABORTED  tltcp_live_interrupt() was called
 */
TLTCP_LIVE_API int tltcp_live_next_event(tltcp_live *l, tltcp_live_event *ev,
                                         int timeout_ms);

/** @brief Makes every waiting call return TLTCP_ERR_ABORTED, now and until
 * switched off.
 * @param l   sender or receiver
 * @param on  false: they may wait again */
TLTCP_LIVE_API void tltcp_live_interrupt(tltcp_live *l, bool on);

/** @brief Takes a snapshot of the statistics. @param l  sender or receiver
 * @param[out] s  set up with tltcp_live_stats_init()
 * @return 0 or TLTCP_ERR_INVAL */
TLTCP_LIVE_API int tltcp_live_get_stats(tltcp_live *l, tltcp_live_stats *s);

/**
 * @brief Statistics of one connection.
 * @param l       sender or receiver
 * @param index   which, from 0; open ones are renumbered whenever one comes or
 * goes; while none is open, 0 is the one that ended last
 * @param[out] s  set up with tltcp_stats_init()
 * @retval 0                filled in
 * @retval TLTCP_ERR_INVAL  there are not so many
 */
TLTCP_LIVE_API int tltcp_live_get_connection_stats(tltcp_live *l, size_t index,
                                                   tltcp_stats *s);

/**
 * @brief Statistics as one JSON object: what tltcp_live_stats has, and
 * `"peers"`, an array with RTT, loss, window and bit rates of every connection.
 * @param l     sender or receiver
 * @param buf   room, zero-terminated; or NULL when @p cap is 0
 * @param cap   bytes at @p buf
 * @return length of the text without its zero, as snprintf()
 */
TLTCP_LIVE_API size_t tltcp_live_stats_json(tltcp_live *l, char *buf,
                                            size_t cap);

/**
 * @brief The address that a listener is bound to.
 * @param l            sender or receiver that listens
 * @param[out] sa      room for an address
 * @param[in,out] len  in: bytes at @p sa, out: bytes of the address
 * @return 0 or a negative ::tltcp_error
 */
TLTCP_LIVE_API int tltcp_live_local_address(tltcp_live *l, struct sockaddr *sa,
                                            socklen_t *len);

/**
 * @brief Closes all connections and frees.
 * @param l          or NULL; no other call may be under way
 * @param linger_ms  milliseconds to wait for what was written; 0: none
 */
TLTCP_LIVE_API void tltcp_live_close(tltcp_live *l, int linger_ms);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LIVE_H */

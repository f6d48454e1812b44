/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/stream.h
 * @brief Shared by the files that make sections from frames.
 */
#ifndef TLTCP_LIVE_STREAM_H
#define TLTCP_LIVE_STREAM_H

#include "internal/media/codec/frame.h"
#include "internal/media/codec/params.h"
#include "internal/media/stream/ts.h"
#include "libtltcp/live/section.h"

/** Number of elementary streams of a transport stream, with one slot for other
 * data. */
#define LIVE_SLOTS 256

/** The kind of input. */
enum live_stream_kind {
    LIVE_UNDECIDED = 0, /**< nothing yet */
    LIVE_FRAMES = 1,    /**< frames */
    LIVE_TS = 2,        /**< a transport stream */
    LIVE_BYTES = 3      /**< bytes of unknown kind */
};

/** How deadlines are computed. */
struct live_deadlines {
    int mode;
    int64_t latency; /**< ns */
    int64_t grace;   /**< ns */
    double speed;
};

/** State of a transport stream. */
struct live_ts {
    media_ts *ts;
    media_deadline deadline[LIVE_SLOTS]; /**< by elementary stream */
    int64_t ahead[LIVE_SLOTS];           /**< display time minus decoding
                                              time */
    uint8_t stream[LIVE_SLOTS];          /**< for references, from 1; 0: none */
    uint8_t streams;
    const tltcp_live_frame *frame; /**< encloses the frames during a call; NULL:
                                        use the frames' own times */
    uint32_t flags;                /**< for the next frame */
    int64_t now;                   /**< when the data should be sent */
    int64_t clock;     /**< when the last clock reference was sent */
    int64_t time;      /**< last decoding time of the slot below */
    uint8_t time_slot; /**< 0: none yet */
    bool failed;       /**< out of memory */
};

struct tltcp_live_stream {
    uint8_t number;
    tltcp_live_emit emit;
    void *user;
    int kind; /**< ::live_stream_kind */
    uint32_t generation;
    uint32_t next; /**< number of the next frame */
    uint32_t refs; /**< same as media_header::refs */
    struct live_deadlines deadlines;
    int64_t frame_ns; /**< frame interval; 0: not known */
    bool predicted;   /**< video whose frames depend on each other */
    media_scanner scanner;
    media_params params;
    media_deadline deadline;
    media_times began; /**< of a frame that arrives in parts */
    uint32_t began_as; /**< its index in scanner.parts.frames */
    uint8_t *config;   /**< payload that describes the format */
    size_t config_len;
    struct live_ts *ts; /**< of a transport stream */
};

/** @brief Takes a frame of an application, which may have been built with
 * another header. @return false: not initialised, or a time is out of range */
bool tltcp__live_frame_take(tltcp_live_frame *out, const tltcp_live_frame *f);

/** @brief A header of this stream. @param s  stream @param kind  ::media_kind
 */
media_header tltcp__live_stream_head(const tltcp_live_stream *s, unsigned kind);

/** @brief Counts a frame. @param s  stream @param whether it is a reference
 * @param what  the frame */
void tltcp__live_stream_count(tltcp_live_stream *s, const media_frame *what,
                              bool counts);

/** @brief Fills in the deadline of a section. @param s  stream
 * @param d  deadlines of its elementary stream @param times  media times
 * @param offset  of the clock @param[in,out] section  has its frame */
void tltcp__live_stream_due(const tltcp_live_stream *s, media_deadline *d,
                            const media_times *times, int64_t offset,
                            tltcp_live_section *section);

/** @brief Emits a section and releases its reference. */
void tltcp__live_stream_emit(tltcp_live_stream *s, tltcp_live_section *section);

/** @brief Starts a transport stream. @param s  stream @return false: out of
 * memory */
bool tltcp__live_ts_begin(tltcp_live_stream *s);

/** @brief Frees the state of a transport stream. @param s  stream */
void tltcp__live_ts_end(tltcp_live_stream *s);

/** @brief Sets up the deadlines of its elementary streams. @param s  stream */
void tltcp__live_ts_deadlines(tltcp_live_stream *s);

/** @brief Takes bytes with the times of a frame, or with their own.
 * @param s  stream @param data  bytes @param len  number of bytes
 * @param f  frame, or NULL @param now  when they should be sent
 * @return false: out of memory */
bool tltcp__live_ts_write(tltcp_live_stream *s, const void *data, size_t len,
                          const tltcp_live_frame *f, int64_t now);

#endif /* TLTCP_LIVE_STREAM_H */

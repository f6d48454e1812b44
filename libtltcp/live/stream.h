/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/stream.h
 * @brief What the files that make sections of frames share.
 */
#ifndef TLTCP_LIVE_STREAM_H
#define TLTCP_LIVE_STREAM_H

#include "internal/media/codec/frame.h"
#include "internal/media/codec/params.h"
#include "internal/media/stream/ts.h"
#include "libtltcp/live/section.h"

/** Elementary streams of a transport stream, and what belongs to none. */
#define LIVE_SLOTS 256

/** What is written. */
enum live_stream_kind {
    LIVE_UNDECIDED = 0, /**< nothing yet */
    LIVE_FRAMES = 1,    /**< frames */
    LIVE_TS = 2,        /**< a transport stream */
    LIVE_BYTES = 3      /**< bytes of no known kind */
};

/** How deadlines are made. */
struct live_deadlines {
    int mode;
    int64_t latency; /**< ns */
    int64_t grace;   /**< ns */
    double speed;
};

/** A transport stream that is written. */
struct live_ts {
    media_ts *ts;
    media_deadline deadline[LIVE_SLOTS]; /**< by elementary stream */
    int64_t ahead[LIVE_SLOTS];           /**< display less decoding time */
    uint8_t stream[LIVE_SLOTS];          /**< for references, from 1; 0: none */
    uint8_t streams;
    const tltcp_live_frame *frame; /**< that the frames are in; NULL: the
                                      frames' own times are meant */
    uint32_t flags;                /**< for the next frame */
    int64_t now;                   /**< when it should be sent */
    int64_t clock;     /**< when the newest clock reference was sent */
    int64_t time;      /**< newest decoding time of the slot below */
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
    uint32_t refs; /**< as media_header::refs */
    struct live_deadlines deadlines;
    int64_t frame_ns; /**< distance of frames; 0: not known */
    bool predicted;   /**< video whose frames need each other */
    media_scanner scanner;
    media_params params;
    media_deadline deadline;
    media_times began; /**< of a frame that comes in parts */
    uint32_t began_as; /**< its place in scanner.parts.frames */
    uint8_t *config;   /**< payload that describes the format */
    size_t config_len;
    struct live_ts *ts; /**< of a transport stream */
};

/** @brief A header of this stream. @param s  stream @param kind  ::media_kind
 */
media_header tltcp__live_stream_head(const tltcp_live_stream *s, unsigned kind);

/** @brief Counts a frame. @param s  stream @param counts  as a reference
 * @param what  the frame */
void tltcp__live_stream_count(tltcp_live_stream *s, const media_frame *what,
                              bool counts);

/** @brief Fills in when a section is due. @param s  stream
 * @param d  deadlines of its elementary stream @param times  media times
 * @param offset  of the clock @param[in,out] section  has its frame */
void tltcp__live_stream_due(const tltcp_live_stream *s, media_deadline *d,
                            const media_times *times, int64_t offset,
                            tltcp_live_section *section);

/** @brief Gives a section out and its reference back. */
void tltcp__live_stream_emit(tltcp_live_stream *s, tltcp_live_section *section);

/** @brief Begins a transport stream. @param s  stream @return false: out of
 * memory */
bool tltcp__live_ts_begin(tltcp_live_stream *s);

/** @brief Frees what it is taken apart with. @param s  stream */
void tltcp__live_ts_end(tltcp_live_stream *s);

/** @brief Sets the deadlines of its elementary streams up. @param s  stream */
void tltcp__live_ts_deadlines(tltcp_live_stream *s);

/** @brief Takes bytes with the times of a frame, or their own.
 * @param s  stream @param data  bytes @param len  how many
 * @param f  frame, or NULL @param now  when they should be sent
 * @return false: out of memory */
bool tltcp__live_ts_write(tltcp_live_stream *s, const void *data, size_t len,
                          const tltcp_live_frame *f, int64_t now);

#endif /* TLTCP_LIVE_STREAM_H */

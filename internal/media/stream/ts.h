/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/ts.h
 * @brief Splits an MPEG transport stream (ISO/IEC 13818-1) into frames, each
 * useless unless it arrives complete.
 *
 * A frame here is one PES packet with the transport packets that carry it: all
 * packets of one PID from a payload_unit_start_indicator to the next. With
 * common muxers, that is one access unit of video or a few frames of audio.
 * Tables, and packets with only a clock reference, are separate frames of class
 * HEADER. Null packets are dropped. Frames of several PIDs are emitted in the
 * order in which they end, so packets keep their order within a PID but not
 * across PIDs.
 *
 * A frame ends as soon as its length, or stuffing, shows that a packet is its
 * last, not only when the next frame begins.
 */
#ifndef MEDIA_TS_H
#define MEDIA_TS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/framing.h"
#include "internal/media/codec/scan.h"

/** Bytes of a packet. */
#define MEDIA_TS_PACKET 188

/** A frame; its bytes are valid until the callback returns. */
typedef struct media_ts_frame {
    const uint8_t *data; /**< whole packets */
    size_t len;          /**< bytes at data */
    media_frame frame;   /**< class, picture type */
    uint8_t slot;        /**< elementary stream, from 1, the same for all frames
                              of a PID; 0: tables and clocks */
    bool rest;           /**< continues the previous frame of this slot */
    int64_t pts;         /**< ns, unwrapped beyond 33 bits; or
                              ::MEDIA_TIME_NONE */
    int64_t dts;         /**< likewise; equals the PTS if absent */
} media_ts_frame;

/** @brief Receives a frame. @param user as given @param frame the frame */
typedef void (*media_ts_emit)(void *user, const media_ts_frame *frame);

/** A transport stream being split. */
typedef struct media_ts media_ts;

/**
 * @brief Creates a splitter.
 * @param emit  receives the frames, during media__ts_push() and
 *              media__ts_flush()
 * @param user  for @p emit
 * @return free with media__ts_free(); NULL: out of memory
 */
media_ts *media__ts_new(media_ts_emit emit, void *user);

/** @brief Frees it; unfinished frames are lost. @param ts stream, or NULL */
void media__ts_free(media_ts *ts);

/**
 * @brief Processes bytes, split anywhere; bytes between packets are skipped.
 * @param ts    stream
 * @param data  bytes
 * @param len   how many
 * @return false: out of memory; a frame is incomplete
 */
bool media__ts_push(media_ts *ts, const void *data, size_t len);

/** @brief Emits unfinished frames, at the end or in a pause.
 * @param ts  stream */
void media__ts_flush(media_ts *ts);

/** @brief Skipped bytes outside packets. @param ts  stream
 * @return how many so far */
uint64_t media__ts_skipped(const media_ts *ts);

/**
 * @brief Whether bytes look like the beginning of a transport stream.
 * @param data  bytes
 * @param len   how many; less than one packet is not recognised
 */
bool media__ts_is(const void *data, size_t len);

/**
 * @brief Whether a frame counts for media_header::refs: only references do,
 * since missing audio harms no picture.
 * @param f  what the frame is
 */
bool media__ts_counts(const media_frame *f);

/**
 * @brief Makes a packet with the first clock reference of a dropped frame, so
 * that the receiver's clock does not stop.
 * @param data      whole packets
 * @param len       bytes at @p data
 * @param[out] out  ::MEDIA_TS_PACKET bytes
 * @return false if there is no clock reference
 */
bool media__ts_clock(const uint8_t *data, size_t len, uint8_t *out);

#endif /* MEDIA_TS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/deadline.h
 * @brief Deadlines of sections from media timestamps.
 *
 * All times are nanoseconds of the sender's media time; the caller adds the
 * offset to its clock.
 */
#ifndef MEDIA_DEADLINE_H
#define MEDIA_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"

/** As a deadline: none. */
#define MEDIA_NEVER INT64_MAX

/** Deadline modes. */
enum media_deadline_mode {
    MEDIA_DEADLINE_PTS = 0,      /**< display time + latency */
    MEDIA_DEADLINE_GOP = 1,      /**< as Mukherjee and Brecht 2000, section 4 */
    MEDIA_DEADLINE_CONSTANT = 2, /**< arrival + latency */
    MEDIA_DEADLINE_NONE = 3      /**< never */
};

/** Times of a frame. */
typedef struct media_times {
    int64_t pts;      /**< display time; ::MEDIA_TIME_NONE */
    int64_t dts;      /**< decoding time; ::MEDIA_TIME_NONE */
    int64_t duration; /**< ::MEDIA_TIME_NONE */
    int64_t arrival;  /**< when it reached the sender */
} media_times;

/**
 * Reconstructs display times if the container gives none, or gives decoding
 * times for a stream with reordering.
 */
typedef struct media_retimer {
    int64_t frame_ns; /**< frame interval; 0: not known */
    int64_t last_dts; /**< of the previous frame; or ::MEDIA_TIME_NONE */
    int64_t gop_base; /**< display time of tsn 0; or ::MEDIA_TIME_NONE */
    int64_t next;     /**< expected time of the next frame */
    int32_t run;      /**< B frames since the last reference */
    int32_t last_run; /**< B frames between the last two references */
    int32_t last_tsn; /**< tsn of the previous frame */
    bool reorders;    /**< a B frame was seen, or is expected */
    bool undelayed;   /**< gop_base was set before any */
    bool reliable;    /**< PTS and DTS were seen to differ */
} media_retimer;

/**
 * @brief Initialises.
 * @param r         retimer
 * @param frame_ns  nominal frame interval; 0: not known
 */
void media__retimer_init(media_retimer *r, int64_t frame_ns);

/**
 * @brief The display time to use.
 * @param r  retimer
 * @param f  what the frame is
 * @param t  its times
 * @return display time; never ::MEDIA_TIME_NONE
 */
int64_t media__retimer_pts(media_retimer *r, const media_frame *f,
                           const media_times *t);

/** Deadlines of a frame. */
typedef struct media_due {
    int64_t display;  /**< display time, without latency */
    int64_t due;      /**< display + latency: when it should arrive */
    int64_t deadline; /**< when it becomes useless; or ::MEDIA_NEVER */
} media_due;

/** Deadlines of one stream. */
typedef struct media_deadline {
    int mode;            /**< ::media_deadline_mode */
    int64_t latency;     /**< budget, ns */
    int64_t grace;       /**< PTS mode: additional time for which references are
                              sent, ns */
    int64_t chain;       /**< GOP mode: deadline of the current chain */
    int64_t before;      /**< GOP mode: deadline of the previous chain */
    int64_t key_pts;     /**< display time of the last key frame */
    int64_t gop_ns;      /**< length of the last GOP; 0: not known */
    int64_t frame_ns;    /**< frame interval; 0: not known */
    media_retimer times; /**< display times */
    media_due last;      /**< deadlines of the newest frame */
    bool started;        /**< a frame was seen */
} media_deadline;

/**
 * @brief Initialises.
 * @param d         deadlines
 * @param mode      ::media_deadline_mode
 * @param latency   budget, ns
 * @param grace     see media_deadline::grace; 0: none
 * @param frame_ns  nominal frame interval; 0: not known
 */
void media__deadline_init(media_deadline *d, int mode, int64_t latency,
                          int64_t grace, int64_t frame_ns);

/**
 * @brief Computes the deadline of the next frame in coding order.
 *
 * Headers (class HEADER) never expire. A part that continues a frame has the
 * deadlines of its frame. In GOP mode, the end of a chain is not known when its
 * key frame arrives: a caller that looks ahead gives it in @p chain_end;
 * otherwise the length of the previous GOP is used. The senders of this library
 * do not look ahead: one would have to hold a whole GOP back, or to read the
 * file a second time, which a pipe does not allow. With GOPs of equal length
 * nothing but the first chain would change, and with others a deadline is wrong
 * by no more than their lengths differ.
 * @param d          deadlines
 * @param f          what the frame is
 * @param t          its times
 * @param chain_end  key frames in GOP mode: display time of the last I or P
 *                   frame of the chain, or ::MEDIA_TIME_NONE
 * @return its deadlines
 */
media_due media__deadline_next(media_deadline *d, const media_frame *f,
                               const media_times *t, int64_t chain_end);

#endif /* MEDIA_DEADLINE_H */

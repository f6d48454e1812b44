/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/deadline.h
 * @brief From the time line of the media to deadlines of sections.
 *
 * All times are nanoseconds on the sender's media time line; the caller adds
 * the offset to its clock.
 */
#ifndef MEDIA_DEADLINE_H
#define MEDIA_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"

/** As a deadline: never. */
#define MEDIA_NEVER INT64_MAX

/** How a frame gets its deadline. */
enum media_deadline_mode {
    MEDIA_DEADLINE_PTS = 0,      /**< display time + latency */
    MEDIA_DEADLINE_GOP = 1,      /**< as Mukherjee and Brecht 2000, section 4 */
    MEDIA_DEADLINE_CONSTANT = 2, /**< arrival + latency */
    MEDIA_DEADLINE_NONE = 3      /**< never */
};

/** A frame as the deadline rules see it. */
typedef struct media_times {
    int64_t pts;      /**< display time; ::MEDIA_TIME_NONE */
    int64_t dts;      /**< decoding time; ::MEDIA_TIME_NONE */
    int64_t duration; /**< ::MEDIA_TIME_NONE */
    int64_t arrival;  /**< when it reached the sender */
} media_times;

/**
 * Display times, rebuilt where the container gives none or gives the decoding
 * time of a stream that reorders.
 */
typedef struct media_retimer {
    int64_t frame_ns; /**< distance of frames; 0: not known */
    int64_t last_dts; /**< of the frame before; ::MEDIA_TIME_NONE */
    int64_t gop_base; /**< display time of tsn 0; ::MEDIA_TIME_NONE */
    int64_t next;     /**< expected time of the next frame */
    int32_t run;      /**< B frames since the last reference */
    int32_t last_run; /**< B frames between the two references before */
    int32_t last_tsn; /**< tsn of the frame before */
    bool reorders;    /**< a B frame was seen, or one to come */
    bool undelayed;   /**< gop_base was set when none had been */
    bool reliable;    /**< PTS and DTS were seen to differ */
} media_retimer;

/**
 * @brief Initialises.
 * @param r         retimer
 * @param frame_ns  nominal distance of frames; 0: not known
 */
void media__retimer_init(media_retimer *r, int64_t frame_ns);

/**
 * @brief The display time to count with.
 * @param r  retimer
 * @param f  what the frame is
 * @param t  its times
 * @return display time; never ::MEDIA_TIME_NONE
 */
int64_t media__retimer_pts(media_retimer *r, const media_frame *f,
                           const media_times *t);

/** What a frame was given. */
typedef struct media_due {
    int64_t display;  /**< when it is shown, latency not counted */
    int64_t due;      /**< display + latency: when it should be there */
    int64_t deadline; /**< when sending it has become pointless;
                           ::MEDIA_NEVER */
} media_due;

/** Deadlines of one stream. */
typedef struct media_deadline {
    int mode;            /**< ::media_deadline_mode */
    int64_t latency;     /**< budget, ns */
    int64_t grace;       /**< PTS mode: how much longer frames that others need
                              are worth sending, ns */
    int64_t chain;       /**< GOP mode: deadline of the current chain */
    int64_t before;      /**< GOP mode: of the chain before */
    int64_t key_pts;     /**< display time of the last key frame */
    int64_t gop_ns;      /**< length of the last GOP; 0: not known */
    int64_t frame_ns;    /**< distance of frames; 0: not known */
    media_retimer times; /**< display times */
    media_due last;      /**< of the newest frame */
    bool started;        /**< there was one */
} media_deadline;

/**
 * @brief Initialises.
 * @param d         deadlines
 * @param mode      ::media_deadline_mode
 * @param latency   budget, ns
 * @param grace     see media_deadline::grace; 0: none
 * @param frame_ns  nominal distance of frames; 0: not known
 */
void media__deadline_init(media_deadline *d, int mode, int64_t latency,
                          int64_t grace, int64_t frame_ns);

/**
 * @brief Gives the next frame, in coding order, its deadline.
 *
 * Headers (class HEADER) never expire.  A part that continues a frame has what
 * its frame was given.  In GOP mode the end of a chain is not
 * known when its key frame comes: @p chain_end says it when the caller looked
 * ahead; otherwise the length of the GOP before is taken.
 * @param d          deadlines
 * @param f          what the frame is
 * @param t          its times
 * @param chain_end  key frames in GOP mode: display time of the last I or P
 *                   frame of the chain, or ::MEDIA_TIME_NONE
 * @return the times it was given
 */
media_due media__deadline_next(media_deadline *d, const media_frame *f,
                               const media_times *t, int64_t chain_end);

#endif /* MEDIA_DEADLINE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Reconstructs presentation times from decoding times and reordering. */
#include "internal/media/stream/deadline.h"

#include <string.h>

/* A display time further than this from the decoding time is invalid. */
#define PLAUSIBLE_NS INT64_C(10000000000)
/* Frame interval until one is learnt. */
#define DEFAULT_FRAME_NS INT64_C(40000000)

void media__retimer_init(media_retimer *r, int64_t frame_ns) {
    memset(r, 0, sizeof(*r));
    r->frame_ns = frame_ns;
    r->last_dts = MEDIA_TIME_NONE;
    r->gop_base = MEDIA_TIME_NONE;
    r->last_tsn = -1;
}

/* The decoding time of a frame, as far as known. */
static int64_t decode_time(const media_times *t) {
    if (t->dts != MEDIA_TIME_NONE) {
        return t->dts;
    }
    return t->pts != MEDIA_TIME_NONE ? t->pts : t->arrival;
}

static void learn_distance(media_retimer *r, const media_times *t,
                           int64_t decoded) {
    int64_t step = r->last_dts == MEDIA_TIME_NONE ? 0 : decoded - r->last_dts;

    if (t->duration > 0 && t->duration < PLAUSIBLE_NS) {
        r->frame_ns = t->duration;
    } else if (step > 0 && step < PLAUSIBLE_NS &&
               (!r->frame_ns || step < r->frame_ns)) {
        r->frame_ns = step;
    }
    r->last_dts = decoded;
}

/* The numbers of the first references reveal reordering before the first B
 * frame arrives. */
static bool shows_reordering(const media_retimer *r, const media_frame *f) {
    bool skips = f->tsn >= 0 && r->last_tsn >= 0 && f->tsn > r->last_tsn + 1;

    return !f->key && (f->picture == MEDIA_PICTURE_B || skips);
}

static void learn_order(media_retimer *r, const media_frame *f) {
    if (!r->reorders && shows_reordering(r, f)) {
        r->reorders = true;
        if (r->undelayed) {
            r->gop_base += r->frame_ns;
        }
    }
    r->last_tsn = f->tsn;
    if (f->picture == MEDIA_PICTURE_B && !f->key) {
        r->run++;
    } else if (f->picture != MEDIA_PICTURE_OTHER) {
        r->last_run = r->run;
        r->run = 0;
    }
}

static bool plausible(const media_times *t) {
    if (t->pts == MEDIA_TIME_NONE) {
        return false;
    }
    int64_t ahead = t->pts - decode_time(t);
    return ahead <= PLAUSIBLE_NS && ahead >= -PLAUSIBLE_NS;
}

/* temporal_reference counts the pictures of a group in display order.  The
 * first picture in coding order is displayed one frame later for each picture
 * displayed before it, and one more if B frames delay references. */
static void begin_group(media_retimer *r, const media_frame *f, int64_t decoded,
                        int64_t frame_ns) {
    if (f->key || r->gop_base == MEDIA_TIME_NONE) {
        r->undelayed = !r->reorders && !f->tsn;
        r->gop_base = decoded + (r->undelayed ? 0 : frame_ns);
    }
}

static int64_t rebuild(const media_retimer *r, const media_frame *f,
                       int64_t decoded, int64_t frame_ns) {
    if (f->tsn >= 0) {
        return r->gop_base + f->tsn * frame_ns;
    }
    if (!r->reorders || f->picture == MEDIA_PICTURE_B) {
        return decoded;
    }
    return decoded + (1 + r->last_run) * frame_ns;
}

int64_t media__retimer_pts(media_retimer *r, const media_frame *f,
                           const media_times *t) {
    int64_t decoded = decode_time(t);
    bool both = t->pts != MEDIA_TIME_NONE && t->dts != MEDIA_TIME_NONE;

    learn_distance(r, t, decoded);
    int64_t frame_ns = r->frame_ns ? r->frame_ns : DEFAULT_FRAME_NS;
    learn_order(r, f);
    if (f->tsn >= 0) {
        begin_group(r, f, decoded, frame_ns);
    }
    if (both && t->pts != t->dts && plausible(t)) {
        r->reliable = true;
    }
    bool liar = both && t->pts == t->dts && r->reorders && !r->reliable;
    if (plausible(t) && !liar) {
        return t->pts;
    }
    return rebuild(r, f, decoded, frame_ns);
}

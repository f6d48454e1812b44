/* SPDX-License-Identifier: MPL-2.0 */
/* Derives deadlines of sections from media timestamps. */
#include "internal/media/stream/deadline.h"

#include <string.h>

void media__deadline_init(media_deadline *d, int mode, int64_t latency,
                          int64_t grace, int64_t frame_ns) {
    memset(d, 0, sizeof(*d));
    d->mode = mode;
    d->latency = latency;
    d->grace = grace;
    d->frame_ns = frame_ns;
    d->chain = MEDIA_TIME_NONE;
    d->before = MEDIA_TIME_NONE;
    d->key_pts = MEDIA_TIME_NONE;
    media__retimer_init(&d->times, frame_ns);
}

/* The display time of the last frame of the chain that begins with this key
 * frame: as given, or estimated from the length of the last GOP. */
static int64_t guess_chain(const media_deadline *d, int64_t display,
                           int64_t chain_end) {
    int64_t frame_ns = d->frame_ns ? d->frame_ns : d->times.frame_ns;

    if (chain_end != MEDIA_TIME_NONE) {
        return chain_end > display ? chain_end : display;
    }
    if (d->gop_ns > frame_ns) {
        return display + d->gop_ns - frame_ns;
    }
    return display;
}

static void begin_chain(media_deadline *d, int64_t display, int64_t chain_end) {
    if (d->key_pts != MEDIA_TIME_NONE && display > d->key_pts) {
        d->gop_ns = display - d->key_pts;
    }
    d->before = d->chain;
    d->chain = guess_chain(d, display, chain_end);
    d->key_pts = display;
}

/* Section 4 of the paper: I and P frames of a chain share one deadline; a B
 * frame has the earlier deadline of the two frames that it depends on. These
 * differ only between two chains. */
static int64_t gop_deadline(media_deadline *d, const media_frame *f,
                            int64_t display, int64_t chain_end) {
    if (f->key) {
        begin_chain(d, display, chain_end);
    }
    if (d->chain == MEDIA_TIME_NONE) {
        return display; /* joined in the middle of a chain */
    }
    if (f->picture == MEDIA_PICTURE_B ||
        f->frame_class == MEDIA_CLASS_DISPOSABLE) {
        return display < d->key_pts && d->before != MEDIA_TIME_NONE ? d->before
                                                                    : d->chain;
    }
    if (display > d->chain) {
        d->chain = display; /* the chain is longer than estimated */
    }
    return d->chain;
}

static bool needed_by_others(const media_frame *f) {
    return f->frame_class == MEDIA_CLASS_KEY ||
           f->frame_class == MEDIA_CLASS_REFERENCE;
}

static media_due due_of(media_deadline *d, const media_frame *f,
                        const media_times *t, int64_t chain_end) {
    int64_t display = media__retimer_pts(&d->times, f, t);
    media_due due = {display, display + d->latency, display + d->latency};
    bool picture = f->frame_class != MEDIA_CLASS_AUDIO &&
                   f->frame_class != MEDIA_CLASS_HEADER;

    if (d->mode == MEDIA_DEADLINE_CONSTANT) {
        due.due = due.deadline = t->arrival + d->latency;
    } else if (d->mode == MEDIA_DEADLINE_NONE) {
        due.due = due.deadline = MEDIA_NEVER;
    } else if (d->mode == MEDIA_DEADLINE_GOP && picture) {
        due.deadline = gop_deadline(d, f, display, chain_end) + d->latency;
    } else if (needed_by_others(f)) {
        due.deadline += d->grace;
    }
    if (f->frame_class == MEDIA_CLASS_HEADER) {
        due.due = due.deadline = MEDIA_NEVER;
    }
    return due;
}

media_due media__deadline_next(media_deadline *d, const media_frame *f,
                               const media_times *t, int64_t chain_end) {
    if (f->continues && d->started) {
        return d->last;
    }
    media_due due = due_of(d, f, t, chain_end);
    if (f->frame_class != MEDIA_CLASS_HEADER) {
        d->last = due;
        d->started = true;
    }
    return due;
}

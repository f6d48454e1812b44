/* SPDX-License-Identifier: MPL-2.0 */
/* Shared by frames and transport streams. */
#include <math.h>

#include "internal/common/sized.h"
#include "libtltcp/live/stream.h"

media_header tltcp__live_stream_head(const tltcp_live_stream *s,
                                     unsigned kind) {
    return (media_header){.kind = (uint8_t)kind,
                          .stream = s->number,
                          .generation = s->generation,
                          .number = s->next,
                          .refs = s->refs,
                          .pts = MEDIA_TIME_NONE,
                          .dts = MEDIA_TIME_NONE,
                          .duration = MEDIA_TIME_NONE};
}

/* The offset may be as large as the time since 1970: the clock of a pipeline
 * may count from there. */
static bool live_times_are_valid(const tltcp_live_frame *f) {
    return media__time_valid(f->pts) && media__time_valid(f->dts) &&
           media__time_valid(f->duration) &&
           f->clock_offset >= -2 * MEDIA_TIME_LIMIT &&
           f->clock_offset <= 2 * MEDIA_TIME_LIMIT &&
           f->arrived <= (tltcp_time)MEDIA_TIME_LIMIT;
}

bool tltcp__live_frame_take(tltcp_live_frame *out, const tltcp_live_frame *f) {
    if (!cmn__sized_is_set(f)) {
        return false;
    }
    tltcp_live_frame_init(out);
    cmn__sized_take(out, sizeof(*out), f);
    return live_times_are_valid(out);
}

static int64_t live_scaled(const tltcp_live_stream *s, int64_t t) {
    bool as_it_is = t == MEDIA_TIME_NONE ||
                    (s->deadlines.speed >= 1 && s->deadlines.speed <= 1);
    double scaled = (double)t / s->deadlines.speed;
    if (as_it_is || fabs(scaled) > (double)MEDIA_TIME_LIMIT) {
        return t;
    }
    return (int64_t)scaled;
}

static int64_t live_on_clock(int64_t t, int64_t offset) {
    return t == MEDIA_NEVER ? t : t + offset;
}

void tltcp__live_stream_due(const tltcp_live_stream *s, media_deadline *d,
                            const media_times *times, int64_t offset,
                            tltcp_live_section *section) {
    media_timed_frame *timed = &section->timed;
    media_times t = *times;
    media_due due;
    t.pts = live_scaled(s, t.pts);
    t.dts = live_scaled(s, t.dts);
    due = media__deadline_next(d, &timed->frame, &t, MEDIA_TIME_NONE);
    timed->arrival = times->arrival + offset;
    timed->due = live_on_clock(due.due, offset);
    timed->deadline = live_on_clock(due.deadline, offset);
}

void tltcp__live_stream_count(tltcp_live_stream *s, const media_frame *what,
                              bool counts) {
    if (what->frame_class != MEDIA_CLASS_HEADER) {
        s->next++;
        s->refs += counts;
    }
}

void tltcp__live_stream_emit(tltcp_live_stream *s,
                             tltcp_live_section *section) {
    s->emit(s->user, section);
    tltcp_live_section_unref(section);
}

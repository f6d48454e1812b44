/* SPDX-License-Identifier: MPL-2.0 */
/* A transport stream as one media stream of frames. */
#include <stdlib.h>
#include <string.h>

#include "libtltcp/live/stream.h"

/* A clock reference at least every 100 ms (ISO/IEC 13818-1, 2.7.2), and
 * pictures are 40 ms apart or less. */
#define CLOCK_NS 50000000

/* The clock reference of a frame: the receiver's clock must not stop. NULL: the
 * frame has none, or out of memory. */
static tltcp_live_section *live_ts_clock(const tltcp_live_stream *s,
                                         const media_ts_frame *in) {
    media_header h = tltcp__live_stream_head(s, MEDIA_KIND_FRAME);
    uint8_t packet[MEDIA_TS_PACKET];
    tltcp_live_section *clock;
    uint8_t *payload;
    if (!media__ts_clock(in->data, in->len, packet)) {
        return NULL;
    }
    h.frame_class = MEDIA_CLASS_HEADER;
    h.flags = MEDIA_FLAG_DELTA;
    clock = tltcp__live_section_new(&h, true, sizeof(packet), &payload);
    if (clock) {
        memcpy(payload, packet, sizeof(packet));
        clock->timed.arrival = s->ts->now;
    }
    return clock;
}

/* The clock reference of a disposable frame is sent before it if the last one
 * is old; that of another frame is sent when the frame is given up.
 */
static tltcp_live_section *live_ts_keep_clock(tltcp_live_stream *s,
                                              const media_ts_frame *in) {
    struct live_ts *t = s->ts;
    tltcp_live_section *clock = live_ts_clock(s, in);
    if (clock == NULL) {
        return NULL;
    }
    if (in->frame.frame_class != MEDIA_CLASS_DISPOSABLE) {
        t->clock = t->now;
        return clock;
    }
    if (t->now - t->clock > CLOCK_NS) {
        t->clock = t->now;
        tltcp__live_stream_emit(s, clock);
    } else {
        tltcp_live_section_unref(clock);
    }
    return NULL;
}

/* Pictures refer to pictures of the same PID; other frames need no stream
 * number. */
static uint8_t live_ts_stream(const tltcp_live_stream *s,
                              const media_ts_frame *in) {
    struct live_ts *t = s->ts;
    if (!media__is_picture(in->frame.frame_class)) {
        return 0;
    }
    if (t->stream[in->slot] == 0 && t->streams < TL_STREAMS_MAX - 1) {
        t->stream[in->slot] = ++t->streams;
    }
    return (uint8_t)((s->number + t->stream[in->slot]) % TL_STREAMS_MAX);
}

/* The stream arrives in real time, so a frame's decoding time is now. */
static media_times live_ts_own_times(struct live_ts *t,
                                     const media_ts_frame *in) {
    if (in->pts != MEDIA_TIME_NONE) {
        t->ahead[in->slot] = in->pts - in->dts;
    }
    return (media_times){.pts = t->now + t->ahead[in->slot],
                         .dts = t->now,
                         .duration = MEDIA_TIME_NONE,
                         .arrival = t->now};
}

/* PES timestamps are on their own clock: use the enclosing frame's time and the
 * PES display delay. */
static media_times live_ts_frame_times(const struct live_ts *t,
                                       const media_ts_frame *in) {
    const tltcp_live_frame *f = t->frame;
    media_times times = {.pts = f->pts,
                         .dts = f->dts,
                         .duration = MEDIA_TIME_NONE,
                         .arrival = t->now - f->clock_offset};
    int64_t sent = f->dts != MEDIA_TIME_NONE ? f->dts : f->pts;
    if (sent != MEDIA_TIME_NONE && in->pts != MEDIA_TIME_NONE) {
        times.dts = sent;
        times.pts = sent + (in->pts - in->dts);
    }
    return times;
}

static void live_ts_note_time(struct live_ts *t, const media_ts_frame *in) {
    if (t->time_slot == 0 && in->dts != MEDIA_TIME_NONE) {
        t->time_slot = in->slot;
    }
    if (in->slot == t->time_slot && in->dts != MEDIA_TIME_NONE) {
        t->time = in->dts;
    }
}

static media_header live_ts_head(const tltcp_live_stream *s,
                                 const media_ts_frame *in,
                                 const media_times *times) {
    const struct live_ts *t = s->ts;
    media_header h = tltcp__live_stream_head(s, MEDIA_KIND_FRAME);
    uint32_t flags = t->flags | (in->frame.key ? 0 : MEDIA_FLAG_DELTA);
    h.frame_class = in->frame.frame_class;
    h.picture = in->frame.picture;
    h.flags = media__frame_flags(&in->frame, flags);
    h.pts = t->frame ? times->pts : in->pts;
    h.dts = t->frame ? times->dts : in->dts;
    return h;
}

static void live_ts_due(tltcp_live_stream *s, const media_ts_frame *in,
                        const media_times *times, tltcp_live_section *section) {
    const tltcp_live_frame *f = s->ts->frame;
    tltcp__live_stream_due(s, &s->ts->deadline[in->slot], times,
                           f ? f->clock_offset : 0, section);
    if (f && f->untimed && s->deadlines.mode != MEDIA_DEADLINE_CONSTANT) {
        section->timed.due = section->timed.deadline = MEDIA_NEVER;
    }
}

static void live_ts_on_frame(void *user, const media_ts_frame *in) {
    tltcp_live_stream *s = user;
    struct live_ts *t = s->ts;
    tltcp_live_section *clock = live_ts_keep_clock(s, in);
    media_times times =
        t->frame ? live_ts_frame_times(t, in) : live_ts_own_times(t, in);
    media_header h = live_ts_head(s, in, &times);
    uint8_t *payload;
    tltcp_live_section *section =
        tltcp__live_section_new(&h, true, in->len, &payload);
    live_ts_note_time(t, in);
    if (section == NULL) {
        tltcp_live_section_unref(clock);
        t->failed = true;
        return;
    }
    memcpy(payload, in->data, in->len);
    t->flags = 0;
    section->clock = clock;
    section->timed.frame = in->frame;
    section->timed.stream = live_ts_stream(s, in);
    section->timed.number = h.number;
    live_ts_due(s, in, &times, section);
    tltcp__live_stream_count(s, &in->frame, media__ts_counts(&in->frame));
    tltcp__live_stream_emit(s, section);
}

bool tltcp__live_ts_begin(tltcp_live_stream *s) {
    s->ts = calloc(1, sizeof(*s->ts));
    if (s->ts) {
        s->ts->time = MEDIA_TIME_NONE;
        s->ts->ts = media__ts_new(live_ts_on_frame, s);
        tltcp__live_ts_deadlines(s);
        if (s->ts->ts == NULL) {
            tltcp__live_ts_end(s);
        }
    }
    return s->ts != NULL;
}

void tltcp__live_ts_end(tltcp_live_stream *s) {
    if (s->ts) {
        media__ts_free(s->ts->ts);
        free(s->ts);
        s->ts = NULL;
    }
}

void tltcp__live_ts_deadlines(tltcp_live_stream *s) {
    for (size_t i = 0; i < LIVE_SLOTS; i++) {
        media__deadline_init(&s->ts->deadline[i], s->deadlines.mode,
                             s->deadlines.latency, s->deadlines.grace,
                             s->frame_ns);
    }
}

bool tltcp__live_ts_write(tltcp_live_stream *s, const void *data, size_t len,
                          const tltcp_live_frame *f, int64_t now) {
    struct live_ts *t = s->ts;
    bool ok;
    t->frame = f;
    t->now = now;
    t->failed = false;
    t->flags |=
        f ? f->flags & (MEDIA_FLAG_DISCONT | MEDIA_FLAG_DECODE_ONLY) : 0;
    ok = media__ts_push(t->ts, data, len);
    t->frame = NULL; /* the caller's */
    return ok && !t->failed;
}

int64_t tltcp_live_stream_ts_time(const tltcp_live_stream *s) {
    return s->ts ? s->ts->time : MEDIA_TIME_NONE;
}

int tltcp_live_stream_flush(tltcp_live_stream *s, const tltcp_live_frame *f) {
    tltcp_live_frame full;
    if (f && !tltcp__live_frame_take(&full, f)) {
        return TLTCP_ERR_INVAL;
    }
    if (s->ts == NULL) {
        return 0;
    }
    s->ts->frame = f ? &full : NULL;
    s->ts->now = f ? (int64_t)tltcp_now() : s->ts->now;
    s->ts->failed = false;
    media__ts_flush(s->ts->ts);
    s->ts->frame = NULL; /* ends with this call */
    return s->ts->failed ? TLTCP_ERR_NOMEM : 0;
}

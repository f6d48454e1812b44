/* SPDX-License-Identifier: MPL-2.0 */
/* Makes sections from the frames of a stream. */
#include "libtltcp/live/stream.h"

#include <stdlib.h>
#include <string.h>

#include "internal/common/sized.h"
#include "internal/media/stream/caps.h"
#include "internal/media/stream/chain.h"

#define MS INT64_C(1000000)
#define CODEC_TS "mpegts"
/* Longest interval between frames that is believed: an hour. */
#define INTERVAL_MAX UINT64_C(3600000000000)

tltcp_live_stream *tltcp_live_stream_new(unsigned number, tltcp_live_emit emit,
                                         void *user) {
    tltcp_live_stream *s = calloc(1, sizeof(*s));
    if (s) {
        s->number = (uint8_t)number;
        s->emit = emit;
        s->user = user;
        s->deadlines.mode = MEDIA_DEADLINE_NONE;
        s->deadlines.speed = 1;
        media__scanner_init(&s->scanner, NULL, MEDIA_TYPE_UNKNOWN, NULL, 0);
        media__deadline_init(&s->deadline, MEDIA_DEADLINE_NONE, 0, 0, 0);
    }
    return s;
}

void tltcp_live_stream_free(tltcp_live_stream *s) {
    if (s) {
        tltcp__live_ts_end(s);
        free(s->config);
        free(s);
    }
}

/* ---- Format ---- */

static media_span live_span(const char *text) {
    return (media_span){text, text ? strlen(text) : 0};
}

static media_config live_config_of(const tltcp_live_stream *s,
                                   const tltcp_live_format *f) {
    bool rtp = f->packing == TLTCP_LIVE_RTP;
    return (media_config){.type = rtp ? MEDIA_TYPE_DATA : (uint8_t)f->type,
                          .nal_length = f->nal_length ? (uint8_t)f->nal_length
                                        : f->extradata_len
                                            ? s->scanner.nal_length
                                            : 0,
                          .width = f->width,
                          .height = f->height,
                          .rate_num = f->rate_num,
                          .rate_den = f->rate_den,
                          .sample_rate = f->sample_rate,
                          .channels = f->channels,
                          .bit_rate = f->bit_rate,
                          .block_bytes = f->block_bytes,
                          .sample_bits = f->sample_bits,
                          .codec = live_span(rtp ? NULL : f->codec),
                          .caps = live_span(f->caps),
                          .extradata = {f->extradata, f->extradata_len},
                          .title = live_span(f->title),
                          .format = live_span(f->samples)};
}

/* Keeps the payload without the fields that the describing call adds. */
static bool live_keep_config(tltcp_live_stream *s, const tltcp_live_format *f) {
    media_config c = live_config_of(s, f);
    char caps[4096];
    size_t len;
    if (f->caps == NULL) {
        len = media__caps_write(&c, caps, sizeof(caps));
        if (len > 0 && len < sizeof(caps)) {
            c.caps = (media_span){caps, len};
        }
    }
    len = media__config_write(&c, NULL, 0);
    free(s->config);
    s->config = malloc(len ? len : 1);
    s->config_len = s->config ? media__config_write(&c, s->config, len) : 0;
    return s->config != NULL;
}

static void live_set_scanner(tltcp_live_stream *s, const tltcp_live_format *f) {
    uint8_t codec = s->scanner.codec;
    media__scanner_init(&s->scanner, f->codec, (int)f->type, f->extradata,
                        f->extradata_len);
    s->scanner.form = (uint8_t)f->packing;
    if (s->scanner.codec != codec) { /* else new ones follow, or none */
        s->params = (media_params){.len = 0};
    }
}

static bool live_is_ts(const tltcp_live_format *f) {
    return f->codec && strcmp(f->codec, CODEC_TS) == 0 &&
           (f->block_bytes == 0 || f->block_bytes == MEDIA_TS_PACKET);
}

/* ns between frames; 0: not known, or over an hour. */
static int64_t live_interval(const tltcp_live_format *f) {
    uint64_t ns =
        f->rate_num ? UINT64_C(1000000000) * f->rate_den / f->rate_num : 0;
    return ns <= INTERVAL_MAX ? (int64_t)ns : 0;
}

static int live_set_format(tltcp_live_stream *s, const tltcp_live_format *f) {
    s->generation++;
    s->kind = LIVE_FRAMES;
    s->predicted = f->type == TLTCP_LIVE_VIDEO && !f->intra_only;
    s->frame_ns = live_interval(f);
    tltcp__live_ts_end(s);
    live_set_scanner(s, f);
    if (!live_keep_config(s, f)) {
        return TLTCP_ERR_NOMEM;
    }
    if (live_is_ts(f)) {
        s->kind = LIVE_TS;
        return tltcp__live_ts_begin(s) ? 0 : TLTCP_ERR_NOMEM;
    }
    return 0;
}

int tltcp_live_stream_set_format(tltcp_live_stream *s,
                                 const tltcp_live_format *f) {
    tltcp_live_format full;
    if (f && !cmn__sized_is_set(f)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_live_format_init(&full);
    if (f) {
        cmn__sized_take(&full, sizeof(full), f);
    }
    return live_set_format(s, &full);
}

void tltcp_live_stream_set_deadlines(tltcp_live_stream *s, int mode,
                                     uint32_t latency_ms, uint32_t grace_ms,
                                     double speed) {
    s->deadlines = (struct live_deadlines){.mode = mode,
                                           .latency = (int64_t)latency_ms * MS,
                                           .grace = (int64_t)grace_ms * MS,
                                           .speed = speed > 0 ? speed : 1};
    media__deadline_init(&s->deadline, mode, s->deadlines.latency,
                         s->deadlines.grace, s->frame_ns);
    if (s->ts) {
        tltcp__live_ts_deadlines(s);
    }
}

tltcp_live_section *tltcp_live_stream_describe(tltcp_live_stream *s,
                                               unsigned streams) {
    media_header h = tltcp__live_stream_head(s, MEDIA_KIND_CONFIG);
    tltcp_live_section *section;
    media_config c;
    uint8_t *payload;
    if (s->config == NULL || s->kind == LIVE_BYTES ||
        s->kind == LIVE_UNDECIDED ||
        media__config_parse(&c, s->config, s->config_len) != MEDIA_OK) {
        return NULL;
    }
    h.number = h.refs = 0;
    c.streams = (uint8_t)streams;
    c.latency_ms = (uint32_t)(s->deadlines.latency / MS);
    section = tltcp__live_section_new(
        &h, true, media__config_write(&c, NULL, 0), &payload);
    if (section) {
        (void)media__config_write(&c, payload, section->header.length);
    }
    return section;
}

/* ---- Frames ---- */

/* When NAL units arrive one by one, only the first of a frame may have
 * times. */
static media_times live_part_times(tltcp_live_stream *s,
                                   const media_times *times) {
    media_times began = s->began;
    bool none = times->pts == MEDIA_TIME_NONE && times->dts == MEDIA_TIME_NONE;
    if (none && s->scanner.form == MEDIA_FORM_UNITS &&
        s->began_as == s->scanner.parts.frames) {
        began.arrival = times->arrival;
        return began;
    }
    s->began = *times;
    s->began_as = s->scanner.parts.frames;
    return *times;
}

static uint8_t live_wire_class(const media_frame *what) {
    return what->frame_class == MEDIA_CLASS_KEY && what->continues
               ? MEDIA_CLASS_REFERENCE
               : what->frame_class;
}

/* A buffer that is not a key unit is marked as such. Where it is not (a demuxer
 * without a parser after it), the scanner reads the codec. */
static void live_classify(tltcp_live_stream *s, const tltcp_live_frame *f,
                          media_frame *what) {
    uint32_t flags = f->flags;
    if (s->predicted && !(flags & MEDIA_FLAG_DELTA)) {
        flags |= MEDIA_FLAG_KEY;
    }
    media__scanner_classify(&s->scanner, f->data, f->len, flags, what);
    if (f->frame_class != 0 && f->frame_class < MEDIA_CLASS_COUNT) {
        what->frame_class = (uint8_t)f->frame_class;
        what->key = what->frame_class == MEDIA_CLASS_KEY;
        what->branch = false;
    }
}

static media_header live_frame_head(const tltcp_live_stream *s,
                                    const tltcp_live_frame *f,
                                    const media_frame *what) {
    media_header h = tltcp__live_stream_head(s, MEDIA_KIND_FRAME);
    h.frame_class = live_wire_class(what);
    h.picture = what->picture;
    h.flags = media__frame_flags(what, f->flags);
    h.pts = f->pts;
    h.dts = f->dts;
    h.duration = f->duration;
    return h;
}

/* Adds parameter sets for new connections to a key frame that has none. */
static bool live_add_begin(tltcp_live_stream *s, const tltcp_live_frame *f,
                           tltcp_live_section *section) {
    const media_frame *what = &section->timed.frame;
    tltcp_live_section *b;
    uint8_t *at;
    size_t place;
    if (s->scanner.form == MEDIA_FORM_RTP ||
        media__params_take(&s->params, &s->scanner, f->data, f->len) ||
        !(what->key || what->recovery) || what->continues || !s->params.len) {
        return true;
    }
    b = tltcp__live_section_new(&section->header, true, f->len + s->params.len,
                                &at);
    if (b == NULL) {
        return false;
    }
    place = media__params_place(&s->scanner, f->data, f->len);
    memcpy(at, f->data, place);
    memcpy(at + place, s->params.data, s->params.len);
    memcpy(at + place + s->params.len, (const uint8_t *)f->data + place,
           f->len - place);
    b->timed = section->timed;
    b->timed.bytes = b->len;
    section->begin = b;
    return true;
}

static void live_frame_due(tltcp_live_stream *s, const tltcp_live_frame *f,
                           tltcp_live_section *section) {
    tltcp_time now = f->arrived ? f->arrived : tltcp_now();
    const media_times given = {.pts = f->pts,
                               .dts = f->dts,
                               .duration = f->duration,
                               .arrival = (int64_t)now - f->clock_offset};
    media_times times = live_part_times(s, &given);
    tltcp__live_stream_due(s, &s->deadline, &times, f->clock_offset, section);
    if (f->untimed && s->deadlines.mode != MEDIA_DEADLINE_CONSTANT) {
        section->timed.due = section->timed.deadline = MEDIA_NEVER;
    }
    if (f->deadline != 0) {
        section->timed.deadline = f->deadline < (tltcp_time)INT64_MAX
                                      ? (int64_t)f->deadline
                                      : MEDIA_NEVER;
        section->timed.due = section->timed.deadline;
    }
}

static int live_write_frame(tltcp_live_stream *s, const tltcp_live_frame *f) {
    media_frame what;
    media_header h;
    tltcp_live_section *section;
    uint8_t *payload;
    live_classify(s, f, &what);
    h = live_frame_head(s, f, &what);
    section = tltcp__live_section_new(&h, true, f->len, &payload);
    if (section == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (f->len) {
        memcpy(payload, f->data, f->len);
    }
    section->timed.frame = what;
    section->timed.stream = s->number;
    section->timed.number = h.number;
    section->timed.depends = f->depends;
    section->timed.tag = f->tag;
    live_frame_due(s, f, section);
    tltcp__live_stream_count(
        s, &what, media__chain_class(&what) != MEDIA_CLASS_DISPOSABLE);
    if (!live_add_begin(s, f, section)) {
        tltcp_live_section_unref(section);
        return TLTCP_ERR_NOMEM;
    }
    tltcp__live_stream_emit(s, section);
    return 0;
}

int tltcp_live_stream_write(tltcp_live_stream *s, const tltcp_live_frame *f) {
    tltcp_live_frame full;
    if (!tltcp__live_frame_take(&full, f)) {
        return TLTCP_ERR_INVAL;
    }
    if (s->ts) {
        return tltcp__live_ts_write(s, full.data, full.len, &full,
                                    (int64_t)tltcp_now())
                   ? 0
                   : TLTCP_ERR_NOMEM;
    }
    return live_write_frame(s, &full);
}

/* ---- Bytes ---- */

static int live_write_section(tltcp_live_stream *s, const void *data,
                              size_t len, int64_t now) {
    const media_header h = {.kind = MEDIA_KIND_FRAME,
                            .pts = MEDIA_TIME_NONE,
                            .dts = MEDIA_TIME_NONE,
                            .duration = MEDIA_TIME_NONE};
    const media_times times = {now, now, MEDIA_TIME_NONE, now};
    uint8_t *payload;
    tltcp_live_section *section =
        tltcp__live_section_new(&h, false, len, &payload);
    if (section == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    memcpy(payload, data, len);
    section->timed.frame.frame_class = MEDIA_CLASS_OTHER;
    tltcp__live_stream_due(s, &s->deadline, &times, 0, section);
    tltcp__live_stream_emit(s, section);
    return 0;
}

/* Bytes are sent without a header; data that a receiver would take for one is
 * split. */
static int live_write_bytes(tltcp_live_stream *s, const uint8_t *data,
                            size_t len, int64_t now) {
    media_header h;
    size_t payload;
    int form = media__section_parse(&h, data, len, &payload);
    int rc = 0;
    if (form != MEDIA_ERR_MAGIC && form != MEDIA_ERR_SHORT) {
        rc = live_write_section(s, data, 1, now);
        data++;
        len--;
    }
    return rc < 0 ? rc : live_write_section(s, data, len, now);
}

/* Detects the kind from the first bytes. */
static int live_decide(tltcp_live_stream *s, const void *data, size_t len) {
    struct live_deadlines d = s->deadlines;
    tltcp_live_format f;
    tltcp_live_section *config;
    int rc;
    if (!media__ts_is(data, len)) {
        s->kind = LIVE_BYTES;
        return 0;
    }
    tltcp_live_format_init(&f);
    f.type = TLTCP_LIVE_DATA;
    f.codec = CODEC_TS;
    rc = live_set_format(s, &f);
    s->deadlines = d;
    if (rc == 0) {
        tltcp__live_ts_deadlines(s);
        config = tltcp_live_stream_describe(s, 1);
        rc = config ? 0 : TLTCP_ERR_NOMEM;
        if (config) {
            tltcp__live_stream_emit(s, config);
        }
    }
    return rc;
}

int tltcp_live_stream_write_ts(tltcp_live_stream *s, const void *data,
                               size_t len, tltcp_time now) {
    int rc = now <= (tltcp_time)MEDIA_TIME_LIMIT ? 0 : TLTCP_ERR_INVAL;
    if (len == 0 || rc < 0) {
        return rc;
    }
    if (s->kind == LIVE_UNDECIDED) {
        rc = live_decide(s, data, len);
    }
    if (rc == 0 && s->kind == LIVE_BYTES) {
        return live_write_bytes(s, data, len, (int64_t)now);
    }
    if (rc == 0 && (s->ts == NULL ||
                    !tltcp__live_ts_write(s, data, len, NULL, (int64_t)now))) {
        rc = s->ts ? TLTCP_ERR_NOMEM : TLTCP_ERR_STATE;
    }
    return rc;
}

/* ---- Other sections ---- */

tltcp_live_section *tltcp_live_stream_header(tltcp_live_stream *s,
                                             const void *data, size_t len) {
    media_header h = tltcp__live_stream_head(s, MEDIA_KIND_FRAME);
    tltcp_live_section *section;
    uint8_t *payload;
    h.frame_class = MEDIA_CLASS_HEADER;
    h.flags = MEDIA_FLAG_HEADER;
    section = tltcp__live_section_new(&h, true, len, &payload);
    if (section && len) {
        memcpy(payload, data, len);
    }
    return section;
}

tltcp_live_section *tltcp_live_stream_mark(tltcp_live_stream *s, unsigned mark,
                                           int64_t pts, int64_t duration,
                                           const void *payload, size_t len) {
    media_header h = tltcp__live_stream_head(s, MEDIA_KIND_EVENT);
    tltcp_live_section *section;
    uint8_t *at;
    if (!media__time_valid(pts) || !media__time_valid(duration)) {
        return NULL;
    }
    h.picture = (uint8_t)mark;
    h.pts = pts;
    h.duration = duration;
    section = tltcp__live_section_new(&h, true, len, &at);
    if (section) {
        section->timed.arrival = (int64_t)tltcp_now();
        if (len) {
            memcpy(at, payload, len);
        }
    }
    return section;
}

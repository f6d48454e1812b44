/* SPDX-License-Identifier: MPL-2.0 */
/* Splits an MPEG transport stream into frames. */
#include "internal/media/stream/ts.h"

#include <stdlib.h>
#include <string.h>

#include "internal/media/codec/bytes.h"
#include "internal/media/codec/frame.h"
#include "internal/media/stream/psi.h"

#define PACKET MEDIA_TS_PACKET
#define SYNC 0x47
#define PIDS 8192
#define SLOTS 64
/* A larger frame is emitted in pieces. So is any that grows while the
 * incomplete ones exceed FRAMES_MAX together: a peer may have sent them. */
#define FRAME_MAX (8u << 20)
#define FRAMES_MAX ((size_t)2 * FRAME_MAX)
/* Larger buffers are not kept for the next frame. */
#define KEPT_MAX ((size_t)256 << 10)
#define CLOCK_BITS 33
/* An unwrapped clock begins anew beyond this many units, a third of a century.
 */
#define UNITS_MAX (INT64_C(90000) * 1000000000)

enum {
    PID_PAT = 0x0000,
    PID_TABLES = 0x0020, /* lower PIDs carry only tables */
    PID_NULL = 0x1fff,
    PES_FIXED = 9 /* bytes of a PES header before its optional fields */
};

/* Role of a PID. */
enum role { ROLE_UNKNOWN, ROLE_TABLE, ROLE_MAP, ROLE_STREAM };

struct buffer {
    uint8_t *data;
    size_t len;
    size_t cap;
};

/* An elementary stream. */
struct slot {
    bool used;
    bool open;           /* a frame is being assembled */
    bool rest;           /* it continues a frame already emitted */
    bool started;        /* the beginning of a frame was seen */
    bool key;            /* the frame has the random_access_indicator */
    bool keys;           /* the stream uses the random_access_indicator */
    bool clocked;        /* last_clock and last_units are valid */
    struct buffer whole; /* its packets */
    struct buffer pes;   /* their payload */
    media_scanner scanner;
    media_frame frame; /* the newest frame */
    uint64_t last_clock;
    int64_t last_units; /* the same, unwrapped */
};

struct media_ts {
    media_ts_emit emit;
    void *user;
    size_t have; /* bytes of an incomplete packet */
    uint64_t skipped;
    size_t held; /* bytes of all frames being assembled */
    bool failed; /* out of memory in this call */
    uint8_t packet[PACKET];
    uint8_t role[PIDS];
    uint8_t type[PIDS];    /* stream_type */
    uint8_t slot_of[PIDS]; /* index from 1; 0: none */
    media_psi *psi_of[PIDS];
    struct slot slots[SLOTS];
};

media_ts *media__ts_new(media_ts_emit emit, void *user) {
    media_ts *ts = calloc(1, sizeof(*ts));
    if (ts) {
        ts->emit = emit;
        ts->user = user;
        for (unsigned pid = 0; pid < PID_TABLES; pid++) {
            ts->role[pid] = ROLE_TABLE;
        }
        ts->role[PID_PAT] = ROLE_MAP;
    }
    return ts;
}

void media__ts_free(media_ts *ts) {
    if (!ts) {
        return;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        free(ts->slots[i].whole.data);
        free(ts->slots[i].pes.data);
    }
    for (size_t pid = 0; pid < PIDS; pid++) {
        free(ts->psi_of[pid]);
    }
    free(ts);
}

uint64_t media__ts_skipped(const media_ts *ts) {
    return ts->skipped;
}

static bool ts_append(struct buffer *b, const uint8_t *data, size_t len) {
    if (b->len + len > b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 16384;
        uint8_t *grown = realloc(b->data, cap);
        if (!grown) {
            return false;
        }
        b->data = grown;
        b->cap = cap;
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return true;
}

/* --- Tables -------------------------------------------------- */

/* ISO/IEC 13818-1, table 2-34, and what ATSC and others added. */
static const struct {
    uint8_t stream_type;
    uint8_t type; /* ::media_type */
    const char *codec;
} stream_types[] = {
    {0x01, MEDIA_TYPE_VIDEO, "mpeg1video"},
    {0x02, MEDIA_TYPE_VIDEO, "mpeg2video"},
    {0x03, MEDIA_TYPE_AUDIO, NULL},
    {0x04, MEDIA_TYPE_AUDIO, NULL},
    {0x0f, MEDIA_TYPE_AUDIO, NULL},
    {0x10, MEDIA_TYPE_VIDEO, "mpeg4"},
    {0x11, MEDIA_TYPE_AUDIO, NULL},
    {0x1b, MEDIA_TYPE_VIDEO, "h264"},
    {0x1c, MEDIA_TYPE_AUDIO, NULL},
    {0x24, MEDIA_TYPE_VIDEO, "hevc"},
    {0x80, MEDIA_TYPE_VIDEO, "mpeg2video"},
    {0x81, MEDIA_TYPE_AUDIO, NULL},
    {0x87, MEDIA_TYPE_AUDIO, NULL},
};

/* Whether the stream carries sections: private ones, DSM-CC, splice points. */
static bool carries_sections(unsigned stream_type) {
    return stream_type == 0x05 ||
           (stream_type >= 0x0a && stream_type <= 0x0d) || stream_type == 0x86;
}

static void set_up_scanner(struct slot *s, unsigned stream_type) {
    const size_t n = sizeof(stream_types) / sizeof(stream_types[0]);
    for (size_t i = 0; i < n; i++) {
        if (stream_types[i].stream_type == stream_type) {
            media__scanner_init(&s->scanner, stream_types[i].codec,
                                stream_types[i].type, NULL, 0);
            return;
        }
    }
    media__scanner_init(&s->scanner, NULL, MEDIA_TYPE_UNKNOWN, NULL, 0);
}

static void on_table(void *user, int kind, unsigned pid, unsigned type) {
    media_ts *ts = user;
    enum role role = kind == MEDIA_PSI_MAP    ? ROLE_MAP
                     : carries_sections(type) ? ROLE_TABLE
                                              : ROLE_STREAM;
    if (pid < PID_TABLES || pid == PID_NULL) {
        return;
    }
    if (role == ROLE_STREAM && ts->slot_of[pid] &&
        (ts->role[pid] != ROLE_STREAM || ts->type[pid] != type)) {
        set_up_scanner(&ts->slots[ts->slot_of[pid] - 1], type);
    }
    ts->role[pid] = (uint8_t)role;
    ts->type[pid] = (uint8_t)type;
}

static void read_map(media_ts *ts, unsigned pid, bool start,
                     const uint8_t *data, size_t len) {
    if (!ts->psi_of[pid]) {
        ts->psi_of[pid] = calloc(1, sizeof(media_psi));
    }
    if (!ts->psi_of[pid]) {
        ts->failed = true;
        return;
    }
    media__psi_push(ts->psi_of[pid], start, data, len, on_table, ts);
}

/* --- PES packets ---------------------------------------------------------- */

static uint64_t timestamp_at(const uint8_t *p) {
    return (uint64_t)(p[0] >> 1 & 7) << 30 | (uint64_t)p[1] << 22 |
           (uint64_t)(p[2] >> 1) << 15 | (uint64_t)p[3] << 7 | p[4] >> 1;
}

/* Unwraps a 33-bit 90 kHz clock to the value nearest to the previous one. */
static int64_t count_on(struct slot *s, uint64_t clock) {
    const uint64_t range = UINT64_C(1) << CLOCK_BITS;
    uint64_t ahead = (clock - s->last_clock) & (range - 1);
    if (!s->clocked) {
        s->last_units = (int64_t)clock;
    } else if (ahead < range / 2) {
        s->last_units += (int64_t)ahead;
    } else {
        s->last_units -= (int64_t)(range - ahead);
    }
    if (s->last_units > UNITS_MAX || s->last_units < -UNITS_MAX) {
        s->last_units = (int64_t)clock;
    }
    s->clocked = true;
    s->last_clock = clock;
    return s->last_units * 100000 / 9;
}

/* Reads the PES header; returns the offset of the elementary stream, 0:
 * none. */
static size_t read_pes(struct slot *s, media_ts_frame *out) {
    const uint8_t *p = s->pes.data;
    size_t len = s->pes.len;
    size_t start;
    if (len < PES_FIXED || media__get32(p) >> 8 != 1 || (p[6] & 0xc0) != 0x80) {
        return 0;
    }
    start = PES_FIXED + (size_t)p[8];
    if (p[7] & 0x80 && p[8] >= 5 && len >= PES_FIXED + 5) {
        out->pts = out->dts = count_on(s, timestamp_at(p + PES_FIXED));
        if (p[7] & 0x40 && p[8] >= 10 && len >= PES_FIXED + 10) {
            out->dts = count_on(s, timestamp_at(p + PES_FIXED + 5));
        }
    }
    return start < len ? start : 0;
}

/* Without a table, the stream_id gives at least the media type. */
static void guess_type(struct slot *s, unsigned stream_id) {
    if (s->scanner.type == MEDIA_TYPE_UNKNOWN) {
        s->scanner.type = (stream_id & 0xf0) == 0xe0   ? MEDIA_TYPE_VIDEO
                          : (stream_id & 0xe0) == 0xc0 ? MEDIA_TYPE_AUDIO
                                                       : MEDIA_TYPE_UNKNOWN;
    }
}

static void classify(struct slot *s, media_ts_frame *out) {
    size_t start = read_pes(s, out);
    uint32_t flags = s->key ? MEDIA_FLAG_KEY : s->keys ? MEDIA_FLAG_DELTA : 0;
    if (!start) {
        memset(&s->frame, 0, sizeof(s->frame));
        s->frame.tsn = -1;
        return;
    }
    guess_type(s, s->pes.data[3]);
    if (s->scanner.type == MEDIA_TYPE_AUDIO) {
        flags = 0;
    }
    media__scanner_classify(&s->scanner, s->pes.data + start,
                            s->pes.len - start, flags, &s->frame);
}

static void ts_empty(struct buffer *b) {
    b->len = 0;
    if (b->cap > KEPT_MAX) {
        free(b->data);
        *b = (struct buffer){0};
    }
}

static void ts_close(media_ts *ts, struct slot *s) {
    s->open = false;
    ts->held -= s->whole.len;
    ts_empty(&s->whole);
    ts_empty(&s->pes);
}

static void ts_finish(media_ts *ts, struct slot *s) {
    media_ts_frame out = {.data = s->whole.data,
                          .len = s->whole.len,
                          .slot = (uint8_t)(s - ts->slots + 1),
                          .rest = s->rest,
                          .pts = MEDIA_TIME_NONE,
                          .dts = MEDIA_TIME_NONE};
    if (!s->open) {
        return;
    }
    if (!s->rest) {
        classify(s, &out);
    }
    out.frame = s->frame;
    ts->emit(ts->user, &out);
    ts_close(ts, s);
}

static void ts_begin(struct slot *s, bool rest) {
    s->open = true;
    s->rest = rest;
    s->key = false;
}

/* --- Packets -------------------------------------------------------------- */

struct packet {
    const uint8_t *data;
    unsigned pid;
    bool start;     /* payload_unit_start_indicator */
    size_t payload; /* offset of the payload; PACKET: none */
    bool stuffed;   /* it has stuffing bytes */
    bool random_access;
    bool has_clock; /* PCR */
};

/* Significant bytes of an adaptation field, without its length byte. */
static size_t adaptation_used(const uint8_t *p, size_t len) {
    size_t used = 1;
    unsigned flags = len ? p[5] : 0;
    used += flags & 0x10 ? 6 : 0;
    used += flags & 0x08 ? 6 : 0;
    used += flags & 0x04 ? 1 : 0;
    for (unsigned field = 0x02; field; field >>= 1) { /* private, extension */
        if (flags & field && used < len) {
            used += 1 + (size_t)p[5 + used];
        }
    }
    return used;
}

static void read_packet(const uint8_t *p, struct packet *out) {
    *out = (struct packet){.data = p,
                           .pid = media__get16(p + 1) & 0x1fff,
                           .start = p[1] & 0x40,
                           .payload = 4};
    if (p[3] & 0x20) {
        size_t len = p[4];
        bool has_flags = len > 0 && len < PACKET - 4;
        out->payload = 5 + len;
        out->stuffed = len == 0 || (has_flags && adaptation_used(p, len) < len);
        out->random_access = has_flags && p[5] & 0x40;
        out->has_clock = len >= 7 && has_flags && p[5] & 0x10;
    }
    if (!(p[3] & 0x10) || out->payload > PACKET) {
        out->payload = PACKET;
    }
}

static struct slot *slot_of(media_ts *ts, unsigned pid) {
    if (ts->slot_of[pid]) {
        return &ts->slots[ts->slot_of[pid] - 1];
    }
    for (uint8_t i = 0; i < SLOTS; i++) {
        struct slot *s = &ts->slots[i];
        if (!s->used) {
            s->used = true;
            ts->slot_of[pid] = (uint8_t)(i + 1);
            set_up_scanner(s, ts->role[pid] == ROLE_STREAM ? ts->type[pid] : 0);
            s->frame.tsn = -1;
            return s;
        }
    }
    return NULL;
}

static void emit_alone(media_ts *ts, const uint8_t *p, unsigned frame_class) {
    media_ts_frame out = {
        .data = p,
        .len = PACKET,
        .frame = {.frame_class = (uint8_t)frame_class, .tsn = -1},
        .pts = MEDIA_TIME_NONE,
        .dts = MEDIA_TIME_NONE};
    ts->emit(ts->user, &out);
}

/* A PES packet ends at its length, or at a packet with stuffing. */
static bool has_ended(const media_ts *ts, const struct slot *s,
                      const struct packet *k) {
    const uint8_t *p = s->pes.data;
    size_t length = s->pes.len >= 6 ? media__get16(p + 4) : 0;
    return k->stuffed || s->whole.len >= FRAME_MAX || ts->held >= FRAMES_MAX ||
           (!s->rest && length && s->pes.len >= 6 + length);
}

static void take_stream(media_ts *ts, const struct packet *k) {
    struct slot *s = slot_of(ts, k->pid);
    if (!s) {
        emit_alone(ts, k->data, MEDIA_CLASS_OTHER);
        return;
    }
    if (k->start) {
        ts_finish(ts, s);
        s->started = true;
    }
    if (!s->open) {
        ts_begin(s, !k->start);
    }
    s->key = s->key || k->random_access;
    s->keys = s->keys || k->random_access;
    if (!ts_append(&s->whole, k->data, PACKET)) {
        ts->failed = true;
        ts_close(ts, s);
        return;
    }
    ts->held += PACKET;
    if (!ts_append(&s->pes, k->data + k->payload, PACKET - k->payload)) {
        ts->failed = true;
        ts_close(ts, s);
        return;
    }
    if (has_ended(ts, s, k)) {
        ts_finish(ts, s);
    }
}

static void take_packet(media_ts *ts, const uint8_t *data) {
    struct packet k;
    read_packet(data, &k);
    if (k.pid == PID_NULL) {
        return;
    }
    if (ts->role[k.pid] == ROLE_MAP || ts->role[k.pid] == ROLE_TABLE) {
        if (ts->role[k.pid] == ROLE_MAP) {
            read_map(ts, k.pid, k.start, data + k.payload, PACKET - k.payload);
        }
        emit_alone(ts, data, MEDIA_CLASS_HEADER);
    } else if (k.payload == PACKET) {
        emit_alone(ts, data,
                   k.has_clock ? MEDIA_CLASS_HEADER : MEDIA_CLASS_OTHER);
    } else {
        take_stream(ts, &k);
    }
}

/* A stream that never marks the beginning of a frame is emitted as it
 * arrives. */
static void flush_unstarted(media_ts *ts) {
    for (size_t i = 0; i < SLOTS && ts->slots[i].used; i++) {
        if (!ts->slots[i].started) {
            ts_finish(ts, &ts->slots[i]);
        }
    }
}

bool media__ts_push(media_ts *ts, const void *data, size_t len) {
    const uint8_t *p = data;
    ts->failed = false;
    while (len) {
        size_t n;
        if (ts->have == 0 && *p != SYNC) {
            ts->skipped++;
            p++;
            len--;
            continue;
        }
        n = PACKET - ts->have;
        n = n < len ? n : len;
        memcpy(ts->packet + ts->have, p, n);
        ts->have += n;
        p += n;
        len -= n;
        if (ts->have == PACKET) {
            ts->have = 0;
            take_packet(ts, ts->packet);
        }
    }
    flush_unstarted(ts);
    return !ts->failed;
}

void media__ts_flush(media_ts *ts) {
    for (size_t i = 0; i < SLOTS; i++) {
        ts_finish(ts, &ts->slots[i]);
    }
}

bool media__ts_is(const void *data, size_t len) {
    const uint8_t *p = data;
    if (len < PACKET) {
        return false;
    }
    for (size_t at = 0; at < len && at < (size_t)5 * PACKET; at += PACKET) {
        if (p[at] != SYNC) {
            return false;
        }
    }
    return true;
}

bool media__ts_counts(const media_frame *f) {
    return f->frame_class == MEDIA_CLASS_KEY ||
           (f->frame_class == MEDIA_CLASS_REFERENCE && !f->branch);
}

bool media__ts_clock(const uint8_t *data, size_t len, uint8_t *out) {
    for (size_t at = 0; at + PACKET <= len; at += PACKET) {
        const uint8_t *p = data + at;
        struct packet k;
        read_packet(p, &k);
        if (!k.has_clock) {
            continue;
        }
        memset(out, 0xff, PACKET);
        memcpy(out, p, 12);
        out[1] &= 0xbf; /* no payload, so no payload start */
        /* Packets without payload repeat the previous counter. */
        out[3] = (uint8_t)(0x20 | (k.payload < PACKET ? (p[3] - 1) & 0x0f
                                                      : p[3] & 0x0f));
        out[4] = PACKET - 5;
        out[5] = (uint8_t)(0x10 | (p[5] & 0x80));
        return true;
    }
    return false;
}

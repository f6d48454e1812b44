/* SPDX-License-Identifier: MPL-2.0 */
/* Reassembly against a model that knows every byte. */
#include <string.h>

#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/reasm.h"
#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define STREAM 3000u
#define SECTIONS 200u
#define LIMIT 1000u

enum state { MISSING, GOT, SKIPPED };

struct model {
    struct script in;
    struct test_alloc alloc;
    cmn__mem mem;
    tltcp__counters stats;
    tltcp__reasm reasm;
    uint32_t start[SECTIONS + 1]; /* of each section; behind the last the end */
    uint32_t n;                   /* sections */
    uint32_t max_sections;
    uint8_t state[STREAM]; /* enum state */
    bool read[STREAM];     /* handed over, as data or gap */
    uint32_t update;
    bool fin;
    bool unordered;
};

static uint8_t content(uint64_t seq) {
    return (uint8_t)(seq * 151 + (seq >> 8) * 7);
}

static uint32_t section_of(const struct model *m, uint64_t seq) {
    uint32_t i = 0;
    while (m->start[i + 1] <= seq) {
        i++;
    }
    return i;
}

/* The metadata of section s. */
static tltcp__meta meta_of(uint32_t s) {
    return (tltcp__meta){.tag = s % 4 == 0 ? 0 : s,
                         .depends = s > 0 ? 1 + s % 3 % s : 0,
                         .cls = (uint8_t)(s % 8),
                         .stream = (uint8_t)(s % TL_STREAMS_MAX)};
}

static void make_sections(struct model *m) {
    uint32_t at = 0;
    uint64_t longest = 1 + script_below(&m->in, 255);
    while (m->n < SECTIONS && at < STREAM) {
        m->start[m->n++] = at;
        at += 1 + (uint32_t)script_below(&m->in, longest);
        at = at < STREAM ? at : STREAM;
    }
    m->start[m->n] = at;
}

/* Data as an honest sender sends it: within one section and the window. */
static void data(struct model *m) {
    uint64_t top = m->reasm.cursor + LIMIT;
    uint32_t end = m->start[m->n];
    uint32_t seq = (uint32_t)script_below(&m->in, end);
    uint32_t s = section_of(m, seq);
    uint32_t stop = seq + 1 + (uint32_t)script_below(&m->in, 255);
    uint8_t buf[256];
    unsigned flags = 0;
    int rv;
    stop = stop < m->start[s + 1] ? stop : m->start[s + 1];
    for (uint32_t i = seq; i < stop; i++) {
        buf[i - seq] = content(i);
    }
    flags |= seq == m->start[s] ? TLTCP__DATA_START : 0;
    flags |= stop == m->start[s + 1] ? TLTCP__DATA_END : 0;
    if (stop > top || s >= m->reasm.recs.head + m->max_sections) {
        return;
    }
    rv = tltcp__reasm_on_data(&m->reasm, seq, buf, stop - seq, s, flags);
    FUZZ_CHECK(rv == 0);
    if ((flags & TLTCP__DATA_START) != 0) {
        tltcp__meta meta = meta_of(s);
        FUZZ_CHECK(tltcp__reasm_on_meta(&m->reasm, s, &meta) == 0);
    }
    for (uint32_t i = seq; i < stop; i++) {
        m->state[i] = m->read[i] ? m->state[i] : GOT;
    }
}

/* A packet of a burst, with the next bytes; false: there are none. */
static bool burst_packet(struct model *m, uint8_t *at, uint32_t most) {
    uint32_t seq = (uint32_t)m->reasm.cum;
    uint32_t s = seq < m->start[m->n] ? section_of(m, seq) : m->n;
    uint32_t stop = seq + most;
    unsigned flags = 0;
    if (s == m->n || s >= m->reasm.recs.head + m->max_sections) {
        return false;
    }
    stop = stop < m->start[s + 1] ? stop : m->start[s + 1];
    if (stop > m->reasm.cursor + LIMIT) {
        return false;
    }
    for (uint32_t i = seq; i < stop; i++) {
        at[i - seq] = content(i);
        m->state[i] = GOT;
    }
    flags |= seq == m->start[s] ? TLTCP__DATA_START : 0;
    flags |= stop == m->start[s + 1] ? TLTCP__DATA_END : 0;
    if (flags == 0 && tltcp__reasm_append(&m->reasm, at, stop - seq, s)) {
        FUZZ_CHECK(tltcp__reasm_appended(&m->reasm, seq) == 0);
        return true;
    }
    FUZZ_CHECK(tltcp__reasm_on_data(&m->reasm, seq, at, stop - seq, s, flags) ==
               0);
    if ((flags & TLTCP__DATA_START) != 0) {
        tltcp__meta meta = meta_of(s);
        FUZZ_CHECK(tltcp__reasm_on_meta(&m->reasm, s, &meta) == 0);
    }
    return true;
}

/* Packets in a room that may be kept. */
static void burst(struct model *m) {
    uint32_t most = 1 + (uint32_t)script_below(&m->in, 100);
    uint32_t count = 1 + (uint32_t)script_below(&m->in, 16);
    uint32_t stride = most + (uint32_t)script_below(&m->in, 30);
    void *room = cmn__resize(&m->mem, NULL, TLTCP_ROOM_BYTES);
    uint8_t *at = room;
    FUZZ_CHECK(room != NULL);
    tltcp__reasm_borrow(&m->reasm, stride);
    for (; count > 0 && burst_packet(m, at, most); count--) {
        at += stride;
    }
    FUZZ_CHECK(tltcp__reasm_take_room(&m->reasm, &room,
                                      (size_t)script_below(&m->in, 300)) == 0);
    memset(room, 0xee, (size_t)stride * 16);
    cmn__free(&m->mem, room);
}

static void pass_over(struct model *m, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        if (m->state[i] == MISSING) {
            m->state[i] = SKIPPED;
        }
    }
}

static void update(struct model *m) {
    uint32_t s = (uint32_t)script_below(&m->in, m->n + 1);
    int rv = tltcp__reasm_on_update(&m->reasm, m->start[s], s);
    FUZZ_CHECK(rv == 0);
    pass_over(m, 0, m->start[s]);
    m->update = m->start[s] > m->update ? m->start[s] : m->update;
}

static void skip(struct model *m) {
    uint32_t a = (uint32_t)script_below(&m->in, m->n);
    uint32_t b = a + 1 + (uint32_t)script_below(&m->in, m->n - a);
    bool known = b < m->reasm.recs.head + m->max_sections; /* else ignored */
    int rv = tltcp__reasm_on_skip(&m->reasm, m->start[a], m->start[b], b);
    FUZZ_CHECK(rv == 0);
    pass_over(m, m->start[a], known ? m->start[b] : m->start[a]);
}

static void fin(struct model *m) {
    FUZZ_CHECK(tltcp__reasm_on_fin(&m->reasm, m->start[m->n], m->n) == 0);
    m->fin = true;
}

/* Known from where the section begins. */
static void check_meta(uint32_t s, bool start, const struct tltcp_meta *meta) {
    tltcp__meta told = meta_of(s);
    bool known = meta->depends != 0;
    FUZZ_CHECK(known || !start || tltcp__meta_flags(&told) == 0);
    if (known) {
        FUZZ_CHECK(meta->section_class ==
                   (told.cls <= TL_CLASS_LAST ? told.cls : TL_CLASS_OTHER));
        FUZZ_CHECK(meta->depends ==
                   (told.depends != 0 ? told.depends : TL_DEPENDS_NONE));
        FUZZ_CHECK(meta->stream == told.stream && meta->tag == told.tag);
    }
    FUZZ_CHECK(meta->due == 0 && meta->reserved == 0);
}

static void check_data_piece(struct model *m, const struct tltcp_segment *seg,
                             const tltcp_buf *buf) {
    uint32_t s = section_of(m, seg->seq);
    const uint8_t *p = buf->base;
    FUZZ_CHECK(seg->section == s);
    FUZZ_CHECK(seg->seq + buf->len <= m->start[s + 1]);
    for (size_t i = 0; i < buf->len; i++) {
        FUZZ_CHECK(m->state[seg->seq + i] == GOT && !m->read[seg->seq + i]);
        FUZZ_CHECK(p[i] == content(seg->seq + i));
        m->read[seg->seq + i] = true;
    }
    FUZZ_CHECK(((seg->flags & TL_SECTION_START) != 0) ==
               (seg->seq == m->start[s]));
    FUZZ_CHECK(((seg->flags & TL_SECTION_END) != 0) ==
               (seg->seq + buf->len == m->start[s + 1]));
}

static void check_gap_piece(struct model *m, const struct tltcp_segment *seg,
                            size_t len) {
    uint32_t s = section_of(m, seg->seq);
    uint32_t e = section_of(m, seg->seq + len - 1);
    for (size_t i = 0; i < len; i++) {
        FUZZ_CHECK(m->state[seg->seq + i] == SKIPPED && !m->read[seg->seq + i]);
        m->read[seg->seq + i] = true;
    }
    FUZZ_CHECK(seg->section == s || seg->section == TLTCP_SECTION_UNKNOWN);
    FUZZ_CHECK((seg->flags & TL_SECTION_START) == 0 || seg->seq == m->start[s]);
    FUZZ_CHECK((seg->flags & TL_SECTION_END) == 0 ||
               seg->seq + len == m->start[e + 1]);
}

static uint32_t first_unread(const struct model *m) {
    uint32_t i = 0;
    while (i < m->start[m->n] && m->read[i]) {
        i++;
    }
    return i;
}

/* Whether in-order reading must give something. */
static bool due(const struct model *m) {
    uint32_t i = first_unread(m);
    if (i == m->start[m->n]) {
        return m->fin;
    }
    return !m->unordered && m->state[i] != MISSING;
}

static void take(struct model *m) {
    uint8_t mem[300];
    tltcp_buf buf = {mem, 1 + (size_t)script_below(&m->in, 256)};
    size_t cap = buf.len;
    struct tltcp_segment seg = {0, 0, 0, 0};
    struct tltcp_meta meta;
    bool readable = tltcp__reasm_readable(&m->reasm);
    uint32_t next = first_unread(m);
    int64_t n;
    FUZZ_CHECK(readable || !due(m));
    n = tltcp__reasm_read(&m->reasm, &buf, &seg, &meta);
    FUZZ_CHECK((n != TLTCP_ERR_AGAIN) == readable);
    if (n <= 0) {
        FUZZ_CHECK(n == TLTCP_ERR_AGAIN || (n == 0 && m->fin));
        FUZZ_CHECK(n != 0 || next == m->start[m->n]);
        return;
    }
    FUZZ_CHECK((size_t)n == buf.len && buf.base == mem);
    FUZZ_CHECK(seg.seq + buf.len <= m->start[m->n]);
    FUZZ_CHECK(m->unordered || seg.seq == next);
    if (seg.kind == TL_DATA) {
        FUZZ_CHECK(buf.len <= cap);
        check_data_piece(m, &seg, &buf);
        check_meta((uint32_t)seg.section, (seg.flags & TL_SECTION_START) != 0,
                   &meta);
    } else {
        FUZZ_CHECK(seg.kind == TL_GAP);
        check_gap_piece(m, &seg, buf.len);
    }
}

/* The rest of the stream comes, or is given up; then all must be read. */
static void settle(struct model *m) {
    uint32_t left = STREAM + 2 * SECTIONS;
    m->in.p = m->in.end;
    FUZZ_CHECK(tltcp__reasm_on_update(&m->reasm, m->start[m->n], m->n) == 0);
    pass_over(m, 0, m->start[m->n]);
    fin(m);
    while (!tltcp__reasm_at_end(&m->reasm) && left-- > 0) {
        take(m);
    }
    FUZZ_CHECK(first_unread(m) == m->start[m->n]);
    take(m);
}

static void step(struct model *m) {
    switch (script_below(&m->in, 16)) {
    case 0:
        update(m);
        break;
    case 1:
        skip(m);
        break;
    case 2:
        if (script_below(&m->in, 16) == 0) {
            fin(m);
        }
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        take(m);
        break;
    case 7:
        tltcp__reasm_trim(&m->reasm);
        break;
    case 8:
    case 9:
    case 10:
        burst(m);
        break;
    default:
        data(m);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct model m; /* large */
    memset(&m, 0, sizeof(m));
    m.in = (struct script){in, in + size};
    m.mem = (cmn__mem){test_alloc_realloc, &m.alloc};
    m.unordered = script_below(&m.in, 2) == 1;
    m.max_sections = 16 + (uint32_t)script_below(&m.in, SECTIONS);
    make_sections(&m);
    m.stats = (tltcp__counters){0};
    tltcp__reasm_init(&m.reasm, &m.mem, LIMIT, m.max_sections, m.unordered,
                      &m.stats);
    while (script_left(&m.in)) {
        step(&m);
    }
    settle(&m);
    tltcp__reasm_free(&m.reasm);
    FUZZ_CHECK(m.alloc.blocks == 0);
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The receiver of repair symbols.  An honest sender's are true, and then what
 * is read must be what was written and what can be rebuilt must be; a liar's
 * are anything.  Memory may end in both cases.
 */
#include <string.h>

#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/fec_receiver.h"
#include "sim/source.h"
#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define SECTIONS 32u
#define LONGEST 700u
#define WINDOW 4000u
#define CONTENT 77 /* seed of the stream */

struct model {
    struct script in;
    struct test_alloc alloc;
    cmn__mem mem;
    tltcp__counters stats;
    tltcp__reasm reasm;
    tltcp__fec_receiver *fec_receiver;
    tltcp__fec_room tables;
    uint64_t start[SECTIONS + 1];
    uint64_t next; /* place read up to */
    bool lies;
    bool failed; /* a connection would have ended */
};

/* Bytes of one section with repair symbols of their own. */
struct block {
    uint64_t start, end, section;
    size_t size; /* of a symbol */
};

static size_t symbols_of(const struct block *k) {
    return ((size_t)(k->end - k->start) + k->size - 1) / k->size;
}

static void note(struct model *m, int rv) {
    FUZZ_CHECK(rv == 0 || m->lies ||
               (rv == TLTCP_ERR_NOMEM && m->alloc.fail_from > 0));
    m->failed |= rv != 0;
}

static unsigned flags_of(const struct model *m, uint64_t start, uint64_t end,
                         uint64_t section) {
    return (start == m->start[section] ? TLTCP__DATA_START : 0U) |
           (end == m->start[section + 1] ? TLTCP__DATA_END : 0U);
}

static bool is_allowed(const struct model *m, uint64_t end) {
    return end <= m->reasm.cursor + WINDOW;
}

static void bring_data(struct model *m, uint64_t start, uint64_t end,
                       uint64_t section) {
    uint8_t data[LONGEST];
    if (start >= end || !is_allowed(m, end)) {
        return;
    }
    sim_source_fill(CONTENT, start, data, (size_t)(end - start));
    note(m, tltcp__reasm_on_data(&m->reasm, start, data, (size_t)(end - start),
                                 section, flags_of(m, start, end, section)));
    if (!m->failed) {
        note(m, tltcp__fec_receiver_on_data(m->fec_receiver, &m->reasm, start,
                                            end));
    }
}

static void bring_repair(struct model *m, const struct block *k,
                         unsigned index) {
    static uint8_t symbols[TLTCP__FEC_REPAIR * LONGEST];
    uint8_t data[2 * LONGEST] = {0};
    tltcp__repair_in in = {
        .start = k->start,
        .end = k->end,
        .section = k->section,
        .symbol = symbols + index * k->size,
        .size = k->size,
        .index = (uint8_t)index,
        .flags = (uint8_t)flags_of(m, k->start, k->end, k->section)};
    sim_source_fill(CONTENT, k->start, data, (size_t)(k->end - k->start));
    if (!is_allowed(m, k->end) ||
        !tltcp__fec_encode(&m->tables, data, (unsigned)symbols_of(k), k->size,
                           symbols, index + 1)) {
        return;
    }
    note(m, tltcp__fec_receiver_on_repair(m->fec_receiver, &m->reasm, &in));
}

static struct block choose_block(struct model *m) {
    uint64_t s = script_below(&m->in, SECTIONS);
    uint64_t len = m->start[s + 1] - m->start[s];
    uint64_t from =
        script_below(&m->in, 4) == 0 ? script_below(&m->in, len) : 0;
    struct block k = {.start = m->start[s] + from,
                      .end = m->start[s + 1],
                      .section = s,
                      .size = 1 + (size_t)script_below(&m->in, 255)};
    if (symbols_of(&k) > TLTCP__FEC_DATA) {
        k.size = LONGEST / TLTCP__FEC_DATA + 1;
    }
    return k;
}

static void any_data(struct model *m) {
    struct block k = choose_block(m);
    uint64_t end = k.start + k.size;
    bring_data(m, k.start, end < k.end ? end : k.end, k.section);
}

static void any_repair(struct model *m) {
    struct block k = choose_block(m);
    bring_repair(m, &k, (unsigned)script_below(&m->in, TLTCP__FEC_REPAIR));
}

static void lie(struct model *m) {
    static const uint8_t junk[1400] = {1, 2, 3};
    struct block k = choose_block(m);
    const tltcp__repair_in in = {
        .start = k.start + script_below(&m->in, 3),
        .end = k.end + script_below(&m->in, 1000),
        .section = k.section + script_below(&m->in, 3),
        .symbol = junk,
        .size = k.size + (size_t)script_below(&m->in, 1000),
        .index = (uint8_t)script_below(&m->in, TLTCP__FEC_REPAIR + 1),
        .flags = (uint8_t)script_below(&m->in, 4)};
    if (m->lies) {
        note(m, tltcp__fec_receiver_on_repair(m->fec_receiver, &m->reasm, &in));
    }
}

static bool is_here(const struct model *m, const struct block *k) {
    cmn__range x;
    uint64_t from = k->start > m->reasm.cum ? k->start : m->reasm.cum;
    return from >= k->end || (cmn__ranges_next(&m->reasm.got, from, &x) &&
                              x.start <= from && x.end >= k->end);
}

/* All but some symbols of a block, and as many repair symbols: that must do,
 * if there is memory for them. */
static void enough(struct model *m) {
    struct block k = choose_block(m);
    size_t n = symbols_of(&k);
    size_t missing = 1 + (size_t)script_below(&m->in, TLTCP__FEC_REPAIR);
    size_t first = (size_t)script_below(&m->in, n);
    bool room = (3 * missing + 4) * k.size <= m->fec_receiver->limit &&
                k.start >= m->reasm.cursor; /* else some is gone */
    for (size_t i = 0; i < n && !m->failed; i++) {
        uint64_t start = k.start + i * k.size;
        uint64_t end = start + k.size < k.end ? start + k.size : k.end;
        if (i < first || i >= first + missing) {
            bring_data(m, start, end, k.section);
        }
    }
    for (unsigned i = 0; i < missing && !m->failed; i++) {
        bring_repair(m, &k, TLTCP__FEC_REPAIR - 1 - i);
    }
    FUZZ_CHECK(m->lies || m->failed || m->alloc.fail_from > 0 || !room ||
               !is_allowed(m, k.end) || is_here(m, &k));
}

static void update(struct model *m) {
    uint64_t s = script_below(&m->in, SECTIONS + 1);
    note(m, tltcp__reasm_on_update(&m->reasm, m->start[s], s));
}

static void take(struct model *m) {
    uint8_t data[300];
    tltcp_buf buf = {data, 1 + (size_t)script_below(&m->in, sizeof(data))};
    struct tltcp_segment seg;
    struct tltcp_meta meta;
    int64_t n = tltcp__reasm_read(&m->reasm, &buf, &seg, &meta);
    if (n <= 0) {
        return;
    }
    FUZZ_CHECK(seg.seq == m->next);
    FUZZ_CHECK(m->lies || seg.kind != TL_DATA ||
               sim_source_check(CONTENT, seg.seq, data, (size_t)n));
    m->next += (uint64_t)n;
}

static void step(struct model *m) {
    switch (script_below(&m->in, 16)) {
    case 0:
        if (script_below(&m->in, 8) == 0) {
            update(m);
        }
        break;
    case 1:
        lie(m);
        break;
    case 2:
    case 3:
    case 4:
        take(m);
        break;
    case 5:
        m->fec_receiver->reported = 0; /* told */
        break;
    case 6:
        enough(m);
        break;
    case 7:
    case 8:
    case 9:
        any_data(m);
        break;
    default:
        any_repair(m);
        break;
    }
    FUZZ_CHECK(m->fec_receiver->bytes <= m->fec_receiver->limit);
    FUZZ_CHECK(m->fec_receiver->blocks <= TLTCP__FEC_RECEIVER_BLOCKS);
    FUZZ_CHECK(m->fec_receiver->reported <= TLTCP__FEC_RECEIVER_REPORTS);
}

static void open_model(struct model *m) {
    m->mem = (cmn__mem){test_alloc_realloc, &m->alloc};
    m->tables.mem = &m->mem;
    m->lies = script_below(&m->in, 2) == 1;
    for (unsigned i = 0; i < SECTIONS; i++) {
        m->start[i + 1] = m->start[i] + 1 + script_below(&m->in, LONGEST - 1);
    }
    m->stats = (tltcp__counters){0};
    tltcp__reasm_init(&m->reasm, &m->mem, WINDOW, SECTIONS + 1, false,
                      &m->stats);
    m->fec_receiver = tltcp__fec_receiver_new(&m->mem, WINDOW / 2);
    FUZZ_CHECK(m->fec_receiver != NULL);
    if (script_below(&m->in, 4) == 1) {
        m->alloc.fail_from = m->alloc.calls + 1 + script_below(&m->in, 256);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct model m; /* large */
    memset(&m, 0, sizeof(m));
    m.in = (struct script){in, in + size};
    open_model(&m);
    while (script_left(&m.in) && !m.failed && tltcp__fec_available()) {
        step(&m);
    }
    tltcp__fec_receiver_free(m.fec_receiver);
    tltcp__reasm_free(&m.reasm);
    tltcp__fec_room_free(&m.tables);
    FUZZ_CHECK(m.alloc.blocks == 0);
    return 0;
}

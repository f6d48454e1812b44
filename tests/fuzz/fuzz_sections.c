/* SPDX-License-Identifier: MPL-2.0 */
/* The sending side of the stream against a model that knows every byte. */
#include <string.h>

#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/sections.h"
#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define STREAM 2048u
#define SECTIONS 128u
#define FLYING 128u
#define LIMIT 700u

struct record {
    uint32_t start, end;
    tltcp_time deadline;
    int fate; /* 0: none yet */
    uint64_t fate_acked;
    bool expired;
    bool sound;
};

struct model {
    struct script in;
    struct test_alloc alloc;
    cmn__mem mem;
    tltcp__counters stats;
    tltcp__sections sec;
    tltcp_time now;
    struct record rec[SECTIONS];
    uint32_t n;
    uint32_t max_sections;
    bool acked[STREAM];
    bool sent[STREAM];
    bool repair[STREAM];    /* was lost since it was last sent */
    uint8_t flying[STREAM]; /* copies under way */
    tltcp__piece air[FLYING];
    uint32_t n_air;
    uint32_t told; /* cumulative acknowledgement */
};

static uint8_t content(uint64_t seq) {
    return (uint8_t)(seq * 73 + (seq >> 8) * 11);
}

static void on_fate(void *owner, uint64_t number, const tltcp__section *s,
                    int fate) {
    struct model *m = owner;
    struct record *r = &m->rec[number];
    FUZZ_CHECK(number < m->n && r->fate == 0 && r->start == s->start &&
               r->end == s->end && s->tag == number + 7);
    r->fate = fate;
    r->fate_acked = s->acked;
}

static uint32_t acked_of(const struct model *m, const struct record *r) {
    uint32_t n = 0;
    for (uint32_t i = r->start; i < r->end; i++) {
        n += m->acked[i];
    }
    return n;
}

static bool is_live(const struct model *m, const struct record *r) {
    return !r->expired && acked_of(m, r) < r->end - r->start;
}

static void write_section(struct model *m) {
    uint8_t data[600];
    struct iovec part = {data, 1 + (size_t)script_below(&m->in, 128)};
    tltcp_section s = {.data = &part, .count = 1};
    uint64_t at = m->sec.end;
    size_t room = tltcp__sections_room(&m->sec);
    uint64_t budget = script_below(&m->in, 64);
    int rv;
    if (m->n == SECTIONS || at + part.iov_len > STREAM) {
        return;
    }
    for (size_t i = 0; i < part.iov_len; i++) {
        data[i] = content(at + i);
    }
    s.deadline = budget == 0 ? TLTCP_TIME_NEVER : m->now + budget - 1;
    s.meta.tag = m->n + 7;
    s.meta.section_class =
        script_below(&m->in, 8) == 0 ? TL_CLASS_AUDIO : TL_CLASS_OTHER;
    rv = tltcp__sections_write(&m->sec, &s, m->now);
    FUZZ_CHECK(rv == (part.iov_len <= room ? 0 : TLTCP_ERR_AGAIN));
    if (rv == 0) {
        m->rec[m->n++] =
            (struct record){.start = (uint32_t)at,
                            .end = (uint32_t)(at + part.iov_len),
                            .deadline = s.deadline,
                            .sound = s.meta.section_class == TL_CLASS_AUDIO};
    }
}

static void expire(struct model *m) {
    for (uint32_t i = 0; i < m->n; i++) {
        struct record *r = &m->rec[i];
        r->expired |= is_live(m, r) && r->deadline <= m->now;
    }
}

static void pass_time(struct model *m) {
    m->now += script_below(&m->in, 20);
    if (script_below(&m->in, 2) == 1) {
        expire(m);
        FUZZ_CHECK(tltcp__sections_expire(&m->sec, m->now) == 0);
    }
}

/* The byte that the model may send: the lowest repair, else the next new
 * byte. */
static uint32_t next_place(const struct model *m, bool new_data) {
    uint32_t fresh = STREAM;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct record *r = &m->rec[i];
        uint32_t end = is_live(m, r) ? r->end : r->start;
        for (uint32_t k = r->start; k < end; k++) {
            if (m->repair[k] && !m->acked[k]) {
                return k;
            }
            if (!m->sent[k] && fresh == STREAM && k < m->sec.peer_seq &&
                i < m->sec.peer_section) {
                fresh = k;
            }
        }
    }
    return new_data ? fresh : STREAM;
}

/* Small sound may leave before its turn, not before repairs. */
static bool may_be_ahead(const struct model *m, const tltcp__piece *p,
                         uint32_t expected) {
    const struct record *r = &m->rec[p->section];
    return r->sound && r->deadline != TLTCP_TIME_NEVER && p->start > expected &&
           !m->sent[expected] && p->end <= m->sec.peer_seq &&
           p->section < m->sec.peer_section &&
           (p->start == r->start ? r->start - expected >= r->end - r->start
                                 : m->sent[p->start - 1]);
}

static void check_piece(struct model *m, const tltcp__piece *p) {
    const struct record *r = &m->rec[p->section];
    uint8_t data[600];
    FUZZ_CHECK(p->section < m->n && p->start < p->end);
    FUZZ_CHECK(p->start >= r->start && p->end <= r->end);
    FUZZ_CHECK(!r->expired && r->deadline > m->now);
    FUZZ_CHECK(((p->flags & TLTCP__DATA_START) != 0) == (p->start == r->start));
    FUZZ_CHECK(((p->flags & TLTCP__DATA_END) != 0) == (p->end == r->end));
    tltcp__sections_copy(&m->sec, p->start, data, (size_t)(p->end - p->start));
    for (uint64_t i = p->start; i < p->end; i++) {
        FUZZ_CHECK(data[i - p->start] == content(i));
        FUZZ_CHECK(!m->acked[i]);
        FUZZ_CHECK(p->losses > 0 ? m->repair[i] : !m->sent[i]);
    }
}

static void leave(struct model *m, const tltcp__piece *p) {
    tltcp__sections_on_sent(&m->sec, p, true);
    for (uint64_t i = p->start; i < p->end; i++) {
        m->sent[i] = true;
        m->repair[i] = false;
        m->flying[i]++;
    }
    m->air[m->n_air++] = *p;
}

static void send(struct model *m) {
    tltcp__piece p = {0, 0, 0, 0, 0};
    uint64_t max = 1 + script_below(&m->in, 255);
    bool new_data = script_below(&m->in, 8) != 7;
    uint32_t expected;
    if (m->n_air == FLYING) {
        return;
    }
    expire(m);
    FUZZ_CHECK(tltcp__sections_expire(&m->sec, m->now) == 0);
    expected = next_place(m, new_data);
    FUZZ_CHECK(tltcp__sections_has(&m->sec, new_data) == (expected < STREAM));
    if (!tltcp__sections_next(&m->sec, max, new_data, m->now, &p)) {
        FUZZ_CHECK(expected == STREAM);
        return;
    }
    FUZZ_CHECK(p.start == expected || may_be_ahead(m, &p, expected));
    FUZZ_CHECK(p.end - p.start <= max);
    check_piece(m, &p);
    leave(m, &p);
}

/* Takes one piece out of the air. */
static bool land(struct model *m, tltcp__piece *p) {
    uint32_t i = (uint32_t)script_below(&m->in, m->n_air);
    if (m->n_air == 0) {
        return false;
    }
    *p = m->air[i];
    m->air[i] = m->air[--m->n_air];
    for (uint64_t k = p->start; k < p->end; k++) {
        m->flying[k]--;
    }
    return true;
}

static void acknowledge(struct model *m) {
    tltcp__piece p;
    if (land(m, &p)) {
        for (uint64_t i = p.start; i < p.end; i++) {
            m->acked[i] = true;
        }
        FUZZ_CHECK(tltcp__sections_on_acked(&m->sec, p.section, p.start, p.end,
                                            1) == 0);
    }
}

static void lose(struct model *m) {
    tltcp__piece p;
    bool current = false;
    bool expected = false;
    if (!land(m, &p)) {
        return;
    }
    for (uint64_t i = p.start; i < p.end; i++) {
        m->repair[i] = true;
        expected |= !m->rec[p.section].expired && !m->acked[i];
    }
    FUZZ_CHECK(tltcp__sections_on_lost(&m->sec, p.section, p.start, p.end,
                                       p.losses, &current) == 0);
    FUZZ_CHECK(current == expected);
}

/* The peer's cumulative point: whatever it has heard of, received or skipped.
 */
static void cumulative(struct model *m) {
    uint64_t most = m->sec.nxt;
    uint32_t to = (uint32_t)script_below(&m->in, most + 1);
    for (uint32_t i = 0; i < to; i++) { /* bytes that never left end it */
        uint64_t s = tltcp__sections_find(&m->sec, i);
        if (i >= m->sec.una && !m->sent[i] && s < m->n && !m->rec[s].expired) {
            to = i;
        }
    }
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t k = m->rec[i].start;
             k < m->rec[i].end && k < to && !m->rec[i].expired; k++) {
            m->acked[k] = true;
        }
    }
    FUZZ_CHECK(tltcp__sections_on_cumulative(&m->sec, to) == 0);
}

static void window(struct model *m) {
    m->sec.peer_seq += script_below(&m->in, 256);
    m->sec.peer_section += script_below(&m->in, 10);
}

static void skips(struct model *m) {
    tltcp__piece p = {0, 0, 0, 0, 0};
    uint32_t i = 0;
    if (!tltcp__sections_next_skip(&m->sec, &p)) {
        return;
    }
    FUZZ_CHECK(p.start < p.end && p.end <= m->sec.end);
    for (; i < m->n && m->rec[i].end <= p.start; i++) {
    }
    for (; i < m->n && m->rec[i].start < p.end; i++) {
        FUZZ_CHECK(m->rec[i].expired);
    }
    FUZZ_CHECK(p.section == i);
    FUZZ_CHECK(i == m->n || m->rec[i].start == p.end);
    if (script_below(&m->in, 2) == 0) {
        FUZZ_CHECK(tltcp__sections_on_skip_lost(&m->sec, p.start, p.end) == 0);
    }
}

/* Invariants (2) and (3) of sections.h. */
static void check_lost(const tltcp__sections *s, const cmn__ranges *lost) {
    cmn__range r;
    cmn__range acked;
    for (uint64_t at = 0; cmn__ranges_next(lost, at, &r); at = r.end) {
        FUZZ_CHECK(!cmn__ranges_next(&s->acked, r.start, &acked) ||
                   acked.start >= r.end);
        for (uint64_t x = r.start; x < r.end;) {
            uint64_t section = tltcp__sections_find(s, x);
            FUZZ_CHECK(tltcp__sections_is_live(s, section));
            x = tltcp__sections_rec(s, section)->end;
        }
    }
}

static void check_state(const struct model *m) {
    const tltcp__sections *s = &m->sec;
    uint32_t live = 0;
    FUZZ_CHECK(s->update <= s->una && s->una <= s->nxt && s->nxt <= s->end);
    while (live < m->n && !is_live(m, &m->rec[live])) {
        live++;
    }
    FUZZ_CHECK(s->update == (live < m->n ? m->rec[live].start : s->end));
    FUZZ_CHECK(s->update_section == live);
    FUZZ_CHECK(tltcp__sections_settled(s) == (live == m->n));
    FUZZ_CHECK(s->end - s->una <= LIMIT);
    for (int i = 0; i < TLTCP__LOST_LEVELS; i++) {
        check_lost(s, &s->lost[i]);
    }
}

static void check_fates(const struct model *m, bool abandoned) {
    for (uint32_t i = 0; i < m->n; i++) {
        const struct record *r = &m->rec[i];
        uint32_t got = acked_of(m, r);
        uint32_t len = r->end - r->start;
        FUZZ_CHECK(r->fate != 0);
        FUZZ_CHECK((r->fate == TLTCP_FATE_DELIVERED) == (r->fate_acked == len));
        FUZZ_CHECK(r->fate_acked <= got);
        FUZZ_CHECK(r->expired || r->fate == TLTCP_FATE_DELIVERED ||
                   (abandoned && r->fate == TLTCP_FATE_ABANDONED));
    }
}

static void step(struct model *m) {
    static void (*const steps[])(struct model *) = {
        write_section, write_section, send,   send,      send,
        send,          acknowledge,   lose,   pass_time, window,
        skips,         acknowledge,   window, send,
    };
    uint64_t i = script_below(&m->in, 16);
    if (i < sizeof(steps) / sizeof(steps[0])) {
        steps[i](m);
    } else if (i == 14) {
        cumulative(m);
    } else {
        tltcp__sections_trim(&m->sec);
    }
}

/* All that is left lands or is given up. */
static void settle(struct model *m) {
    bool abandon = script_below(&m->in, 2) == 1;
    m->in.p = m->in.end;
    if (!abandon) {
        m->now = TLTCP_TIME_NEVER - 1;
        expire(m);
        FUZZ_CHECK(tltcp__sections_expire(&m->sec, m->now) == 0);
        m->sec.peer_seq = UINT64_MAX;
        m->sec.peer_section = UINT64_MAX;
        for (int i = 0; i < 10000 && !tltcp__sections_settled(&m->sec); i++) {
            send(m);
            acknowledge(m);
        }
        FUZZ_CHECK(tltcp__sections_settled(&m->sec));
        while (m->n_air > 0) {
            lose(m);
        }
    }
    tltcp__sections_abandon(&m->sec);
    check_fates(m, abandon);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct model m; /* large */
    memset(&m, 0, sizeof(m));
    m.in = (struct script){in, in + size};
    m.mem = (cmn__mem){test_alloc_realloc, &m.alloc};
    m.now = 1000;
    m.max_sections = 16 + (uint32_t)script_below(&m.in, 100);
    m.stats = (tltcp__counters){0};
    tltcp__sections_init(&m.sec, &m.mem, LIMIT, m.max_sections, &m.stats);
    m.sec.on_fate = on_fate;
    m.sec.owner = &m;
    m.sec.peer_seq = 500;
    m.sec.peer_section = 10;
    while (script_left(&m.in)) {
        step(&m);
        check_state(&m);
    }
    settle(&m);
    tltcp__sections_free(&m.sec);
    FUZZ_CHECK(m.alloc.blocks == 0);
    return 0;
}

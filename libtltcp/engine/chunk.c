/* SPDX-License-Identifier: MPL-2.0 */
/* Parses and writes chunks. */
#include "libtltcp/engine/chunk.h"

bool tltcp__chunk_next(cmn__reader *r, tltcp__chunk *out) {
    uint32_t head;
    if (r->bad || r->p == r->end || *r->p == TLTCP__PADDING) {
        return false;
    }
    head = cmn__get32(r);
    out->type = (uint8_t)(head >> 24);
    out->flags = (uint8_t)(head >> 16);
    out->len = (uint16_t)head;
    out->body = cmn__get_bytes(r, out->len);
    return !r->bad;
}

/* Packs two numbers below 16 into a byte. */
static uint8_t join(uint8_t cls, uint8_t stream) {
    return (uint8_t)(cls | stream << 4);
}

uint8_t tltcp__meta_flags(const tltcp__meta *m) {
    return (uint8_t)((join(m->cls, m->stream) != 0 ? TLTCP__DATA_CLASS : 0) |
                     (m->depends != 0 ? TLTCP__DATA_DEPENDS : 0) |
                     (m->tag != 0 ? TLTCP__DATA_TAG : 0));
}

size_t tltcp__meta_len(unsigned flags) {
    return ((flags & TLTCP__DATA_CLASS) != 0 ? sizeof(uint8_t) : 0) +
           ((flags & TLTCP__DATA_DEPENDS) != 0 ? sizeof(uint32_t) : 0) +
           ((flags & TLTCP__DATA_TAG) != 0 ? sizeof(uint64_t) : 0);
}

void tltcp__meta_put(cmn__writer *w, unsigned flags, const tltcp__meta *m) {
    if ((flags & TLTCP__DATA_CLASS) != 0) {
        cmn__put8(w, join(m->cls, m->stream));
    }
    if ((flags & TLTCP__DATA_DEPENDS) != 0) {
        cmn__put32(w, m->depends);
    }
    if ((flags & TLTCP__DATA_TAG) != 0) {
        cmn__put64(w, m->tag);
    }
}

/* False if it is in the middle of a section, or refers to itself. */
static bool meta_get(cmn__reader *r, unsigned flags, tltcp__meta *m) {
    *m = (tltcp__meta){0};
    if ((flags & TLTCP__DATA_CLASS) != 0) {
        uint8_t both = cmn__get8(r);
        m->cls = both & 15;
        m->stream = both >> 4;
    }
    if ((flags & TLTCP__DATA_DEPENDS) != 0) {
        m->depends = cmn__get32(r);
    }
    if ((flags & TLTCP__DATA_TAG) != 0) {
        m->tag = cmn__get64(r);
    }
    return ((flags & TLTCP__DATA_META) == 0 ||
            (flags & TLTCP__DATA_START) != 0) &&
           ((flags & TLTCP__DATA_DEPENDS) == 0 || m->depends != 0);
}

bool tltcp__data_parse(const tltcp__chunk *c, tltcp__data *out) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    bool good;
    out->seq = cmn__get32(&r);
    out->section = cmn__get32(&r);
    good = meta_get(&r, c->flags, &out->meta);
    out->bytes = r.p;
    out->len = cmn__reader_left(&r);
    return good && !r.bad && out->len > 0;
}

bool tltcp__skip_parse(const tltcp__chunk *c, tltcp__skip *out) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    out->start = cmn__get32(&r);
    out->end = cmn__get32(&r);
    out->section = cmn__get32(&r);
    return !r.bad && r.p == r.end;
}

bool tltcp__position_parse(const tltcp__chunk *c, tltcp__position *out) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    out->seq = cmn__get32(&r);
    out->section = cmn__get32(&r);
    return !r.bad && r.p == r.end;
}

bool tltcp__ack_parse(const tltcp__chunk *c, tltcp__ack *out) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    *out = (tltcp__ack){0};
    out->largest = cmn__get32(&r);
    out->delay_us = cmn__get32(&r);
    out->cumulative = cmn__get32(&r);
    out->window.seq = cmn__get32(&r);
    out->window.section = cmn__get32(&r);
    out->first = cmn__get32(&r);
    out->has_ecn = (c->flags & TLTCP__ACK_ECN) != 0;
    out->has_time = (c->flags & TLTCP__ACK_TIME) != 0;
    if (out->has_ecn) {
        out->ect0 = cmn__get32(&r);
        out->ect1 = out->has_time ? 0 : cmn__get32(&r);
        out->ce = cmn__get32(&r);
    }
    if (out->has_time) {
        out->came_us = cmn__get32(&r);
    }
    out->ranges = r;
    return !r.bad && cmn__reader_left(&r) % TLTCP__ACK_RANGE_LEN == 0;
}

#define FRACTION 4294967296.0 /* 2^32 */

bool tltcp__report_parse(const tltcp__chunk *c, tltcp__report *out) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    out->p = (double)cmn__get32(&r) / FRACTION;
    out->x_recv = (double)cmn__get64(&r);
    return !r.bad && r.p == r.end;
}

bool tltcp__rtt_parse(const tltcp__chunk *c, uint32_t *us) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    *us = cmn__get32(&r);
    return !r.bad && r.p == r.end;
}

bool tltcp__new_id_parse(const tltcp__chunk *c, uint32_t *number, uint64_t *id,
                         uint32_t *offset) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    *number = cmn__get32(&r);
    *id = cmn__get64(&r);
    *offset = cmn__get32(&r);
    return !r.bad && r.p == r.end;
}

bool tltcp__retire_id_parse(const tltcp__chunk *c, uint32_t *below) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    *below = cmn__get32(&r);
    return !r.bad && r.p == r.end;
}

bool tltcp__repair_parse(const tltcp__chunk *c, tltcp__repair_chunk *out) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    bool good;
    out->start = cmn__get32(&r);
    out->section = cmn__get32(&r);
    out->len = cmn__get32(&r);
    out->index = cmn__get8(&r);
    good = meta_get(&r, c->flags, &out->meta);
    out->symbol = r.p;
    out->size = cmn__reader_left(&r);
    return good && !r.bad && out->size > 0 && out->len > 0;
}

bool tltcp__rebuilt_parse(const tltcp__chunk *c, uint32_t *start,
                          uint32_t *len) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    *start = cmn__get32(&r);
    *len = cmn__get32(&r);
    return !r.bad && r.p == r.end && *len > 0;
}

void tltcp__chunk_put(cmn__writer *w, uint8_t type, uint8_t flags, size_t len) {
    cmn__put32(w, (uint32_t)type << 24 | (uint32_t)flags << 16 | (uint16_t)len);
}

/* Two 32-bit fields. */
static void put_pair(cmn__writer *w, uint32_t first, uint32_t second) {
    cmn__put64(w, (uint64_t)first << 32 | second);
}

void tltcp__data_put(cmn__writer *w, uint8_t flags, uint32_t seq,
                     uint32_t section, size_t len) {
    tltcp__chunk_put(w, TLTCP__DATA, flags, 8 + tltcp__meta_len(flags) + len);
    put_pair(w, seq, section);
}

void tltcp__skip_put(cmn__writer *w, const tltcp__skip *s) {
    tltcp__chunk_put(w, TLTCP__SKIP, 0, 12);
    cmn__put32(w, s->start);
    cmn__put32(w, s->end);
    cmn__put32(w, s->section);
}

void tltcp__position_put(cmn__writer *w, uint8_t type, tltcp__position p) {
    tltcp__chunk_put(w, type, 0, 8);
    put_pair(w, p.seq, p.section);
}

void tltcp__ack_put(cmn__writer *w, const tltcp__ack *a, size_t n_ranges) {
    size_t len = TLTCP__ACK_LEN - TLTCP__CHUNK_LEN +
                 (a->has_ecn    ? TLTCP__ACK_ECN_LEN
                  : a->has_time ? TLTCP__ACK_TIME_LEN
                                : 0) +
                 n_ranges * TLTCP__ACK_RANGE_LEN;
    unsigned flags =
        (a->has_ecn ? TLTCP__ACK_ECN : 0) | (a->has_time ? TLTCP__ACK_TIME : 0);
    tltcp__chunk_put(w, TLTCP__ACK, (uint8_t)flags, len);
    cmn__put32(w, a->largest);
    cmn__put32(w, a->delay_us);
    cmn__put32(w, a->cumulative);
    cmn__put32(w, a->window.seq);
    cmn__put32(w, a->window.section);
    cmn__put32(w, a->first);
    if (a->has_ecn) {
        cmn__put32(w, a->ect0);
        if (!a->has_time) {
            cmn__put32(w, a->ect1);
        }
        cmn__put32(w, a->ce);
    }
    if (a->has_time) {
        cmn__put32(w, a->came_us);
    }
}

void tltcp__close_put(cmn__writer *w, uint8_t flags, uint32_t code,
                      const char *reason) {
    size_t len = strlen(reason);
    tltcp__chunk_put(w, TLTCP__CLOSE, flags, 4 + len);
    cmn__put32(w, code);
    cmn__put_bytes(w, reason, len);
}

void tltcp__report_put(cmn__writer *w, const tltcp__report *r) {
    double p = r->p * FRACTION;
    tltcp__chunk_put(w, TLTCP__REPORT, 0, 12);
    cmn__put32(w, p < FRACTION - 1 ? (uint32_t)p : UINT32_MAX);
    cmn__put64(w, r->x_recv < 1e18 ? (uint64_t)r->x_recv : UINT64_MAX);
}

void tltcp__rtt_put(cmn__writer *w, uint32_t us) {
    tltcp__chunk_put(w, TLTCP__RTT, 0, 4);
    cmn__put32(w, us);
}

void tltcp__new_id_put(cmn__writer *w, uint32_t number, uint64_t id,
                       uint32_t offset) {
    tltcp__chunk_put(w, TLTCP__NEW_ID, 0, TLTCP__NEW_ID_LEN - TLTCP__CHUNK_LEN);
    cmn__put32(w, number);
    cmn__put64(w, id);
    cmn__put32(w, offset);
}

void tltcp__retire_id_put(cmn__writer *w, uint32_t below) {
    tltcp__chunk_put(w, TLTCP__RETIRE_ID, 0,
                     TLTCP__RETIRE_ID_LEN - TLTCP__CHUNK_LEN);
    cmn__put32(w, below);
}

void tltcp__repair_put(cmn__writer *w, uint8_t flags,
                       const tltcp__repair_chunk *r) {
    tltcp__chunk_put(w, TLTCP__REPAIR, flags,
                     TLTCP__REPAIR_LEN - TLTCP__CHUNK_LEN +
                         tltcp__meta_len(flags) + r->size);
    cmn__put32(w, r->start);
    cmn__put32(w, r->section);
    cmn__put32(w, r->len);
    cmn__put8(w, r->index);
    tltcp__meta_put(w, flags, &r->meta);
    cmn__put_bytes(w, r->symbol, r->size);
}

void tltcp__rebuilt_put(cmn__writer *w, uint32_t start, uint32_t len) {
    tltcp__chunk_put(w, TLTCP__REBUILT, 0, 8);
    cmn__put32(w, start);
    cmn__put32(w, len);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Parses and writes packets. */
#include "libsaratoga/engine/packet.h"

#include "libsaratoga/engine/auth.h"

#define VERSION 1u
#define BIT(n) (UINT32_C(0x80000000) >> (n))
#define PATH_ROOM (SARATOGA_PATH_MAX - 1)

static uint32_t field(uint32_t word, unsigned last, unsigned bits) {
    return word >> (31 - last) & ((1u << bits) - 1);
}

static uint32_t flag(bool on, unsigned bit) {
    return on ? BIT(bit) : 0;
}

static uint32_t start_word(uint32_t type, uint32_t descriptor) {
    return VERSION << 29 | type << 24 | (descriptor & 3) << 22;
}

bool saratoga__head_parse(const void *dgram, size_t len, saratoga__head *h) {
    cmn__reader r = cmn__reader_of(dgram, len);
    *h = (saratoga__head){.word = cmn__get32(&r)};
    h->type = field(h->word, 7, 5);
    if (h->type != SARATOGA__BEACON) {
        h->id = cmn__get32(&r);
    }
    return !r.bad && field(h->word, 2, 3) == VERSION;
}

/* Bits 12 to 15 of BEACON and REQUEST: "willing" without "can" means
 * neither. */
static uint32_t get_abilities(uint32_t word) {
    uint32_t a = 0;
    a |= (word & BIT(12)) != 0 ? SARATOGA_CAN_SEND : 0u;
    a |= (word & BIT(14)) != 0 ? SARATOGA_CAN_RECEIVE : 0u;
    if (a & SARATOGA_CAN_SEND) {
        a |= (word & BIT(13)) != 0 ? SARATOGA_WILLING_TO_SEND : 0u;
    }
    if (a & SARATOGA_CAN_RECEIVE) {
        a |= (word & BIT(15)) != 0 ? SARATOGA_WILLING_TO_RECEIVE : 0u;
    }
    a |= (word & BIT(11)) != 0 ? SARATOGA_STREAMS : 0u;
    a |= (word & BIT(16)) != 0 ? SARATOGA_LITE : 0u;
    return a;
}

static uint32_t put_abilities(uint32_t a) {
    return flag((a & SARATOGA_STREAMS) != 0, 11) |
           flag((a & SARATOGA_CAN_SEND) != 0, 12) |
           flag((a & SARATOGA_WILLING_TO_SEND) != 0, 13) |
           flag((a & SARATOGA_CAN_RECEIVE) != 0, 14) |
           flag((a & SARATOGA_WILLING_TO_RECEIVE) != 0, 15) |
           flag((a & SARATOGA_LITE) != 0, 16);
}

bool saratoga__beacon_parse(const void *dgram, size_t len,
                            saratoga__beacon *b) {
    cmn__reader r = cmn__reader_of(dgram, len);
    uint32_t word = cmn__get32(&r);
    *b = (saratoga__beacon){.abilities = get_abilities(word),
                            .descriptor = field(word, 9, 2)};
    if ((word & BIT(17)) != 0) {
        saratoga__wide x;
        b->abilities |= SARATOGA_FREE_SPACE;
        b->free_width = field(word, 19, 2);
        x = saratoga__get_wide(&r, b->free_width);
        b->free_kib = x.hi != 0 || x.lo == saratoga__highest(b->free_width)
                          ? UINT64_MAX
                          : x.lo;
    }
    b->eid = r.p;
    b->eid_len = cmn__reader_left(&r);
    return !r.bad && b->eid_len > 0;
}

/* The narrowest field that does not read as "more than fits". */
static uint32_t free_width(const saratoga__beacon *b) {
    uint32_t d = SARATOGA_16_BIT;
    if (b->free_width != SARATOGA_DESCRIPTOR_FIT) {
        return b->free_width;
    }
    while (d < SARATOGA_64_BIT && b->free_kib >= saratoga__highest(d)) {
        d++;
    }
    return d;
}

void saratoga__beacon_write(cmn__writer *w, const saratoga__beacon *b) {
    bool has_free = (b->abilities & SARATOGA_FREE_SPACE) != 0;
    uint32_t width = has_free ? free_width(b) : 0;
    uint32_t word = start_word(SARATOGA__BEACON, b->descriptor) |
                    put_abilities(b->abilities) | flag(has_free, 17) |
                    width << 12;
    cmn__put32(w, word);
    if (has_free) {
        uint64_t top = saratoga__highest(width);
        uint64_t lo = b->free_kib < top ? b->free_kib : top;
        saratoga__wide x = {lo == UINT64_MAX ? UINT64_MAX : 0, lo};
        saratoga__put_wide(w, width, x);
    }
    cmn__put_bytes(w, b->eid, b->eid_len);
}

/* Anything after the path other than padding is the authentication field. */
static void take_auth(cmn__reader *r, saratoga__request *q) {
    size_t left = cmn__reader_left(r);
    for (size_t i = 0; i < left; i++) {
        if (r->p[i] != 0) {
            q->auth = r->p;
            q->auth_len = left;
            return;
        }
    }
}

/* A zero-terminated path of at most PATH_ROOM octets in place, or NULL. */
static const char *get_path(cmn__reader *r, size_t *len) {
    size_t left = cmn__reader_left(r);
    size_t room = left < PATH_ROOM + 1 ? left : PATH_ROOM + 1;
    const uint8_t *nul = room > 0 ? memchr(r->p, 0, room) : NULL;
    const char *path = (const char *)r->p;
    if (r->bad || nul == NULL) {
        r->bad = true;
        return NULL;
    }
    *len = (size_t)(nul - r->p);
    r->p = nul + 1;
    return path;
}

bool saratoga__request_parse(const void *dgram, size_t len,
                             saratoga__request *q) {
    cmn__reader r = cmn__reader_of(dgram, len);
    uint32_t word = cmn__get32(&r);
    *q = (saratoga__request){.abilities = get_abilities(word),
                             .descriptor = field(word, 9, 2),
                             .type = word & 0xFF};
    q->id = cmn__get32(&r);
    q->path = get_path(&r, &q->path_len);
    if (!r.bad) {
        take_auth(&r, q);
    }
    return !r.bad;
}

void saratoga__request_write(cmn__writer *w, const saratoga__request *q) {
    cmn__put32(w, start_word(SARATOGA__REQUEST, q->descriptor) |
                      put_abilities(q->abilities) | (q->type & 0xFF));
    cmn__put32(w, q->id);
    cmn__put_bytes(w, q->path, q->path_len);
    cmn__put8(w, 0);
    cmn__put_bytes(w, q->auth, q->auth_len);
}

bool saratoga__metadata_parse(const void *dgram, size_t len,
                              saratoga__metadata *m) {
    cmn__reader r = cmn__reader_of(dgram, len);
    uint32_t word = cmn__get32(&r);
    m->descriptor = field(word, 9, 2);
    m->kind = field(word, 11, 2);
    m->ended = (word & BIT(12)) != 0;
    m->lite = (word & BIT(13)) != 0;
    m->sum_type = word & 0xF;
    m->sum_len = 4 * (size_t)field(word, 27, 4);
    m->id = cmn__get32(&r);
    m->sum = cmn__get_bytes(&r, m->sum_len);
    return saratoga__entry_get(&r, &m->entry) && !r.bad;
}

void saratoga__metadata_write(cmn__writer *w, const saratoga__metadata *m) {
    cmn__put32(w, start_word(SARATOGA__METADATA, m->descriptor) |
                      (m->kind & 3) << 20 | flag(m->ended, 12) |
                      flag(m->lite, 13) | (uint32_t)(m->sum_len / 4) << 4 |
                      (m->sum_type & 0xF));
    cmn__put32(w, m->id);
    cmn__put_bytes(w, m->sum, m->sum_len);
    saratoga__entry_put(w, &m->entry);
}

bool saratoga__data_parse(const void *dgram, size_t len, saratoga__data *d) {
    cmn__reader r = cmn__reader_of(dgram, len);
    uint32_t word = cmn__get32(&r);
    *d = (saratoga__data){.descriptor = field(word, 9, 2),
                          .kind = field(word, 11, 2),
                          .asks = (word & BIT(15)) != 0,
                          .eod = (word & BIT(16)) != 0};
    d->id = cmn__get32(&r);
    if ((word & BIT(12)) != 0) {
        d->timestamp = cmn__get_bytes(&r, SARATOGA__TIMESTAMP_LEN);
    }
    d->offset = saratoga__get_wide(&r, d->descriptor);
    d->bytes = r.p;
    d->len = cmn__reader_left(&r);
    return !r.bad;
}

void saratoga__data_write_head(cmn__writer *w, const saratoga__data *d) {
    cmn__put32(w, start_word(SARATOGA__DATA, d->descriptor) |
                      (d->kind & 3) << 20 | flag(d->timestamp != NULL, 12) |
                      flag(d->asks, 15) | flag(d->eod, 16));
    cmn__put32(w, d->id);
    if (d->timestamp != NULL) {
        cmn__put_bytes(w, d->timestamp, SARATOGA__TIMESTAMP_LEN);
    }
    saratoga__put_wide(w, d->descriptor, d->offset);
}

/* An odd octet behind the two offsets, which are not read. */
static uint32_t read_denial(cmn__reader *r, const saratoga__status_pkt *s) {
    size_t offsets = 2 * saratoga__width(s->descriptor);
    if (s->code != SARATOGA_ACCESS_DENIED ||
        cmn__reader_left(r) != offsets + 1) {
        return 0;
    }
    (void)cmn__get_bytes(r, offsets);
    return (uint32_t)cmn__get8(r) << 8;
}

bool saratoga__status_parse(const void *dgram, size_t len,
                            saratoga__status_pkt *s) {
    cmn__reader r = cmn__reader_of(dgram, len);
    uint32_t word = cmn__get32(&r);
    size_t width;
    *s = (saratoga__status_pkt){.descriptor = field(word, 9, 2),
                                .no_metadata = (word & BIT(13)) != 0,
                                .incomplete = (word & BIT(14)) != 0,
                                .voluntary = (word & BIT(15)) != 0,
                                .code = word & 0xFF};
    s->id = cmn__get32(&r);
    width = saratoga__width(s->descriptor);
    if (r.bad || s->code != SARATOGA_SUCCESS) {
        s->bare = true;
        s->denial = r.bad ? 0 : read_denial(&r, s);
        return !r.bad;
    }
    if ((word & BIT(12)) != 0) {
        s->timestamp = cmn__get_bytes(&r, SARATOGA__TIMESTAMP_LEN);
    }
    if (r.bad || cmn__reader_left(&r) < 2 * width) {
        s->bare = true; /* allowed in the answer to a delete */
        s->timestamp = NULL;
        return !r.bad && cmn__reader_left(&r) >= 4;
    }
    s->progress = saratoga__get_wide(&r, s->descriptor);
    s->irt = saratoga__get_wide(&r, s->descriptor);
    s->head = dgram;
    s->head_len = (size_t)(r.p - s->head);
    s->holes = r.p;
    /* a hole list never has an odd length */
    s->is_signed = cmn__reader_left(&r) == SARATOGA__AUTH_LEN;
    s->hole_count = s->is_signed ? 0 : cmn__reader_left(&r) / (2 * width);
    return true;
}

void saratoga__status_write_head(cmn__writer *w,
                                 const saratoga__status_pkt *s) {
    cmn__put32(w, start_word(SARATOGA__STATUS, s->descriptor) |
                      flag(s->timestamp != NULL, 12) |
                      flag(s->no_metadata, 13) | flag(s->incomplete, 14) |
                      flag(s->voluntary, 15) | (s->code & 0xFF));
    cmn__put32(w, s->id);
    if (s->timestamp != NULL) {
        cmn__put_bytes(w, s->timestamp, SARATOGA__TIMESTAMP_LEN);
    }
    saratoga__put_wide(w, s->descriptor, s->progress);
    saratoga__put_wide(w, s->descriptor, s->irt);
    if (s->denial != 0) {
        cmn__put8(w, (uint8_t)(s->denial >> 8));
    }
}

void saratoga__status_hole(const saratoga__status_pkt *s, size_t i,
                           saratoga__wide *start, saratoga__wide *end) {
    size_t width = saratoga__width(s->descriptor);
    cmn__reader r = cmn__reader_of(s->holes + 2 * width * i, 2 * width);
    *start = saratoga__get_wide(&r, s->descriptor);
    *end = saratoga__get_wide(&r, s->descriptor);
}

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_TS_MUX_H
#define TESTS_TS_MUX_H

#include <string.h>

#include "internal/media/stream/ts.h"
#include "tests/support/cmocka.h"

/* A small multiplexer of transport streams: one program with H.264 and sound.
 */

#define PACKET MEDIA_TS_PACKET
#define VIDEO 0x100
#define SOUND 0x101
#define MAP 0x1000

struct stream {
    uint8_t data[64 * PACKET];
    size_t len;
    uint8_t counter[0x2000];
};

static inline uint8_t *new_packet(struct stream *s, unsigned pid, bool start) {
    uint8_t *p = s->data + s->len;
    assert_true(s->len + PACKET <= sizeof(s->data));
    s->len += PACKET;
    memset(p, 0xff, PACKET);
    p[0] = 0x47;
    p[1] = (uint8_t)((start ? 0x40 : 0) | pid >> 8);
    p[2] = (uint8_t)pid;
    p[3] = (uint8_t)(0x10 | (s->counter[pid]++ & 0xf));
    return p;
}

/* As much of the payload as fits; the packet is filled up by stuffing. */
static inline size_t add_payload(struct stream *s, unsigned pid, bool start,
                                 const uint8_t *data, size_t len) {
    uint8_t *p = new_packet(s, pid, start);
    size_t n = len < 184 ? len : 184;
    size_t fill = 184 - n;
    if (fill) {
        p[3] |= 0x20;
        p[4] = (uint8_t)(fill - 1);
        if (fill > 1) {
            p[5] = 0;
        }
    }
    memcpy(p + 4 + fill, data, n);
    return n;
}

static inline void add_pes(struct stream *s, unsigned pid, uint64_t pts,
                           const uint8_t *es, size_t es_len, bool with_length) {
    uint8_t pes[8 * PACKET] = {0, 0, 1, pid == VIDEO ? 0xe0 : 0xc0};
    size_t len = 14 + es_len;
    size_t at = 0;
    if (with_length) {
        pes[4] = (uint8_t)((len - 6) >> 8);
        pes[5] = (uint8_t)(len - 6);
    }
    pes[6] = 0x80;
    pes[7] = 0x80;
    pes[8] = 5;
    pes[9] = (uint8_t)(0x21 | (pts >> 29 & 0xe));
    pes[10] = (uint8_t)(pts >> 22);
    pes[11] = (uint8_t)(1 | (pts >> 14 & 0xfe));
    pes[12] = (uint8_t)(pts >> 7);
    pes[13] = (uint8_t)(1 | (pts << 1 & 0xfe));
    memcpy(pes + 14, es, es_len);
    while (at < len) {
        at += add_payload(s, pid, at == 0, pes + at, len - at);
    }
}

static inline uint32_t crc32(const uint8_t *data, size_t len) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < len * 8; i++) {
        uint32_t bit = data[i / 8] >> (7 - i % 8) & 1u;
        crc = (crc >> 31 ^ bit) ? crc << 1 ^ 0x04c11db7u : crc << 1;
    }
    return crc;
}

static inline void add_table(struct stream *s, unsigned pid,
                             const uint8_t *body, size_t len, uint32_t damage) {
    uint8_t *p = new_packet(s, pid, true);
    uint32_t crc = crc32(body, len) ^ damage;
    p[4] = 0;
    memcpy(p + 5, body, len);
    for (int i = 0; i < 4; i++) {
        p[5 + len + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
    }
}

static inline void add_tables(struct stream *s, uint32_t damage) {
    static const uint8_t pat[] = {
        0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, MAP >> 8 | 0xe0, MAP & 0xff};
    static const uint8_t pmt[] = {
        2, 0xb0, 23,   0,    1,    0xc1, 0,    0,    0xe1, 0,    0xf0,
        0, 0x1b, 0xe1, 0x00, 0xf0, 0,    0x0f, 0xe1, 0x01, 0xf0, 0};
    add_table(s, 0, pat, sizeof(pat), 0);
    add_table(s, MAP, pmt, sizeof(pmt), damage);
}

/* A stream that begins with its tables. */
static inline void begin_stream(struct stream *s) {
    memset(s, 0, sizeof(*s));
    add_tables(s, 0);
}

static const uint8_t a_clock[6] = {'c', 'l', 'o', 'c', 'k', '!'};

static inline void add_clock(struct stream *s, unsigned pid) {
    uint8_t *p = new_packet(s, pid, false);
    s->counter[pid]--;
    p[3] = (uint8_t)(0x20 | ((p[3] - 1) & 0xf));
    p[4] = 183;
    p[5] = 0x10;
    memcpy(p + 6, a_clock, sizeof(a_clock));
}

/* A slice of a picture that others need or none, of some size. */
static inline void add_picture(struct stream *s, uint64_t pts, bool needed,
                               size_t bytes) {
    uint8_t es[4 * PACKET] = {0, 0, 1, needed ? 0x61 : 0x01, 0x9a};
    memset(es + 5, 0x55, sizeof(es) - 5);
    add_pes(s, VIDEO, pts, es, bytes, false);
}

/* A picture of one packet, which has a clock reference, too. */
static inline void add_clocked_picture(struct stream *s, uint64_t pts,
                                       bool needed) {
    uint8_t *p;
    add_picture(s, pts, needed, 180);
    p = s->data + s->len - 2 * PACKET;
    assert_int_equal(p[1] & 0x40, 0x40);
    memmove(p + 12, p + 4, PACKET - 12);
    p[3] |= 0x20;
    p[4] = 7;
    p[5] = 0x10;
    memcpy(p + 6, a_clock, sizeof(a_clock));
}

#endif /* TESTS_TS_MUX_H */

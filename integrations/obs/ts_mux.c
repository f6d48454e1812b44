/* SPDX-License-Identifier: MPL-2.0 */
/* H.264 and AAC as an MPEG transport stream. */
#include "integrations/obs/ts_mux.h"

#include <stdlib.h>
#include <string.h>

#define PACKET 188
#define PAYLOAD 184
#define MAP 0x1000
#define PICTURE 0x100
#define SOUND 0x101
/* The clock is 20 ms behind the frames' times. A receiver decodes in this time;
 * one that plays by the clock is that much later. */
#define LEAD 1800
#define PES_HEAD 19
#define ADTS_HEAD 7

enum { COUNT_PAT, COUNT_PMT, COUNT_PICTURE, COUNT_SOUND };

static bool mux_reserve(uint8_t **data, size_t *room, size_t wanted) {
    if (wanted > *room) {
        uint8_t *grown = realloc(*data, wanted * 2);
        if (grown == NULL) {
            return false;
        }
        *data = grown;
        *room = wanted * 2;
    }
    return true;
}

static void mux_add(struct ts_mux *m, const void *data, size_t len) {
    if (len > 0) {
        memcpy(m->unit + m->unit_len, data, len);
        m->unit_len += len;
    }
}

/* ---- Packets ---- */

static void mux_clock(uint8_t *p, int64_t clock) {
    uint64_t base = (uint64_t)clock & 0x1ffffffff;
    p[0] = (uint8_t)(base >> 25);
    p[1] = (uint8_t)(base >> 17);
    p[2] = (uint8_t)(base >> 9);
    p[3] = (uint8_t)(base >> 1);
    p[4] = (uint8_t)((base & 1) << 7 | 0x7e);
    p[5] = 0;
}

/* One packet with as much of the payload as fits; returns how much. */
static size_t mux_packet(struct ts_mux *m, unsigned pid, unsigned count,
                         bool start, const uint8_t *data, size_t len,
                         const int64_t *clock) {
    uint8_t *p = m->data + m->len;
    size_t field = clock ? 8 : 0; /* of adaptation */
    size_t n = len < PAYLOAD - field ? len : PAYLOAD - field;
    field = PAYLOAD - n;
    m->len += PACKET;
    p[0] = 0x47;
    p[1] = (uint8_t)((start ? 0x40 : 0) | pid >> 8);
    p[2] = (uint8_t)pid;
    p[3] = (uint8_t)((field ? 0x30 : 0x10) | (m->counter[count]++ & 0xf));
    if (field > 0) {
        p[4] = (uint8_t)(field - 1);
    }
    if (field > 1) {
        p[5] = clock ? 0x10 : 0;
        memset(p + 6, 0xff, field - 2);
    }
    if (clock) {
        mux_clock(p + 6, *clock);
    }
    memcpy(p + 4 + field, data, n);
    return n;
}

static bool mux_cut(struct ts_mux *m, unsigned pid, unsigned count,
                    const int64_t *clock) {
    size_t packets = m->unit_len / (PAYLOAD - 8) + 2;
    size_t at = 0;
    if (!mux_reserve(&m->data, &m->room, m->len + packets * PACKET)) {
        return false;
    }
    while (at < m->unit_len) {
        at += mux_packet(m, pid, count, at == 0, m->unit + at, m->unit_len - at,
                         at == 0 ? clock : NULL);
    }
    return true;
}

/* ---- Tables ---- */

static uint32_t mux_crc(const uint8_t *data, size_t len) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < len * 8; i++) {
        uint32_t bit = data[i / 8] >> (7 - i % 8) & 1u;
        crc = (crc >> 31 ^ bit) ? crc << 1 ^ 0x04c11db7u : crc << 1;
    }
    return crc;
}

static void mux_table(struct ts_mux *m, unsigned pid, unsigned count,
                      const uint8_t *section, size_t len) {
    uint8_t payload[PAYLOAD];
    uint32_t crc = mux_crc(section, len);
    memset(payload, 0xff, sizeof(payload));
    payload[0] = 0;
    memcpy(payload + 1, section, len);
    for (size_t i = 0; i < 4; i++) {
        payload[1 + len + i] = (uint8_t)(crc >> (24 - 8 * i));
    }
    (void)mux_packet(m, pid, count, true, payload, sizeof(payload), NULL);
}

static void mux_tables(struct ts_mux *m) {
    static const uint8_t pat[] = {
        0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, MAP >> 8 | 0xe0, MAP & 0xff};
    static const uint8_t pmt[] = {2,    0xb0, 23,   0,    1,    0xc1, 0, 0,
                                  0xe1, 0,    0xf0, 0,    0x1b, 0xe1, 0, 0xf0,
                                  0,    0x0f, 0xe1, 0x01, 0xf0, 0};
    uint8_t map[sizeof(pmt)];
    size_t len = m->sound ? sizeof(pmt) : sizeof(pmt) - 5;
    memcpy(map, pmt, sizeof(pmt));
    map[2] = (uint8_t)(len + 1);
    mux_table(m, 0, COUNT_PAT, pat, sizeof(pat));
    mux_table(m, MAP, COUNT_PMT, map, len);
}

/* ---- PES packets ---- */

static void mux_stamp(uint8_t *p, unsigned prefix, int64_t time) {
    uint64_t t = (uint64_t)time & 0x1ffffffff;
    p[0] = (uint8_t)(prefix << 4 | (t >> 29 & 0xe) | 1);
    p[1] = (uint8_t)(t >> 22);
    p[2] = (uint8_t)((t >> 14 & 0xfe) | 1);
    p[3] = (uint8_t)(t >> 7);
    p[4] = (uint8_t)((t << 1 & 0xfe) | 1);
}

/* len: bytes that follow the header. A length that does not fit is left out;
 * otherwise a receiver has the picture before the next one comes. */
static void mux_head(struct ts_mux *m, unsigned id, int64_t pts, int64_t dts,
                     size_t len) {
    bool both = pts != dts;
    uint8_t head[PES_HEAD] = {0, 0, 1, (uint8_t)id};
    size_t size = both ? PES_HEAD : PES_HEAD - 5;
    size_t follows = len + size - 6 <= UINT16_MAX ? len + size - 6 : 0;
    head[4] = (uint8_t)(follows >> 8);
    head[5] = (uint8_t)follows;
    head[6] = 0x84; /* aligned */
    head[7] = both ? 0xc0 : 0x80;
    head[8] = both ? 10 : 5;
    mux_stamp(head + 9, both ? 3 : 2, pts + LEAD);
    if (both) {
        mux_stamp(head + 14, 1, dts + LEAD);
    }
    m->unit_len = 0;
    mux_add(m, head, size);
}

bool ts_mux_begin(struct ts_mux *m, const uint8_t *headers, size_t headers_len,
                  const uint8_t *config, size_t config_len) {
    ts_mux_end(m);
    m->headers = malloc(headers_len + 1);
    if (m->headers == NULL) {
        return false;
    }
    if (headers_len > 0) { /* OBS has none: NULL */
        memcpy(m->headers, headers, headers_len);
    }
    m->headers_len = headers_len;
    m->sound = config && config_len >= sizeof(m->sound_config);
    if (m->sound) {
        memcpy(m->sound_config, config, sizeof(m->sound_config));
    }
    return true;
}

bool ts_mux_picture(struct ts_mux *m, const uint8_t *data, size_t len,
                    int64_t pts, int64_t dts, bool key) {
    static const uint8_t delimiter[] = {0, 0, 0, 1, 9, 0xf0};
    size_t most = PES_HEAD + sizeof(delimiter) + m->headers_len + len;
    m->len = 0;
    if (!mux_reserve(&m->unit, &m->unit_room, most) ||
        !mux_reserve(&m->data, &m->room, (size_t)2 * PACKET)) {
        return false;
    }
    if (key) {
        mux_tables(m);
    }
    mux_head(m, 0xe0, pts, dts,
             sizeof(delimiter) + (key ? m->headers_len : 0) + len);
    mux_add(m, delimiter, sizeof(delimiter));
    if (key) {
        mux_add(m, m->headers, m->headers_len);
    }
    mux_add(m, data, len);
    return mux_cut(m, PICTURE, COUNT_PICTURE, &dts);
}

bool ts_mux_sound(struct ts_mux *m, const uint8_t *data, size_t len,
                  int64_t pts) {
    const uint8_t *c = m->sound_config;
    unsigned rate = (c[0] & 7u) << 1 | c[1] >> 7;
    unsigned channels = c[1] >> 3 & 0xf;
    size_t all = len + ADTS_HEAD;
    /* ISO/IEC 14496-3, 1.A.2.2: low complexity, no CRC, one block */
    uint8_t adts[ADTS_HEAD] = {0xff,
                               0xf1,
                               (uint8_t)(0x40 | rate << 2 | channels >> 2),
                               (uint8_t)((channels & 3) << 6 | all >> 11),
                               (uint8_t)(all >> 3),
                               (uint8_t)((all & 7) << 5 | 0x1f),
                               0xfc};
    m->len = 0;
    if (!mux_reserve(&m->unit, &m->unit_room, PES_HEAD + all)) {
        return false;
    }
    mux_head(m, 0xc0, pts, pts, all);
    mux_add(m, adts, sizeof(adts));
    mux_add(m, data, len);
    return mux_cut(m, SOUND, COUNT_SOUND, NULL);
}

void ts_mux_end(struct ts_mux *m) {
    free(m->data);
    free(m->unit);
    free(m->headers);
    memset(m, 0, sizeof(*m));
}

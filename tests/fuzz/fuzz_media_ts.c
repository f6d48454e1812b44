/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Transport streams of true packets, true tables and anything in them: all that
 * is pushed comes out in frames of whole packets or is skipped, and what a
 * receiver makes of the frames reads nothing outside them.
 */
#include <string.h>

#include "internal/media/stream/ts.h"
#include "internal/media/stream/tstrack.h"
#include "tests/fuzz/script.h"

#define PACKET MEDIA_TS_PACKET
#define HEAD 4u /* of a packet */
#define PMT_PID 0x20u
#define FIRST_PID 0x21u
#define PIDS 4u
#define PACKETS_MAX 400
#define CRC 4u

struct run {
    struct script in;
    media_tstrack track;
    uint64_t pushed;
    uint64_t given;
    uint32_t number;
    uint8_t counter[PIDS + 2];
};

static uint32_t crc32(const uint8_t *p, size_t len) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < 8 * len; i++) {
        uint32_t bit = (uint32_t)(p[i / 8] >> (7 - i % 8)) & 1;
        crc = crc << 1 ^ (((crc >> 31) ^ bit) != 0 ? 0x04c11db7u : 0);
    }
    return crc;
}

static void on_unit(void *user, const media_ts_frame *out) {
    struct run *r = user;
    uint8_t clock[PACKET];
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = (uint8_t)out->frame.frame_class,
                      .picture = (uint8_t)out->frame.picture,
                      .number = r->number,
                      .refs = (uint32_t)script_below(&r->in, 4),
                      .length = (uint32_t)out->len,
                      .pts = out->pts,
                      .dts = out->dts};
    FUZZ_CHECK(out->len > 0 && out->len % PACKET == 0);
    FUZZ_CHECK(out->frame.frame_class < MEDIA_CLASS_COUNT);
    FUZZ_CHECK(out->frame.picture < MEDIA_PICTURE_COUNT);
    for (size_t at = 0; at < out->len; at += PACKET) {
        FUZZ_CHECK(out->data[at] == 0x47);
    }
    r->given += out->len;
    r->number += 1 + (uint32_t)(script_below(&r->in, 8) == 0);
    if (media__ts_clock(out->data, out->len, clock)) {
        FUZZ_CHECK(clock[0] == 0x47);
    }
    (void)media__tstrack_frame(&r->track, &h, out->data, out->len,
                               script_below(&r->in, 8) != 0);
}

static uint8_t *head(struct run *r, uint8_t *packet, unsigned pid, bool start) {
    uint8_t *counter = &r->counter[pid == 0 ? 0 : pid - PMT_PID + 1];
    packet[0] = 0x47;
    packet[1] = (uint8_t)((start ? 0x40 : 0) | pid >> 8);
    packet[2] = (uint8_t)pid;
    packet[3] = (uint8_t)(0x10 | (*counter & 15));
    *counter = (uint8_t)(*counter + (script_below(&r->in, 8) == 0 ? 2 : 1));
    return packet + HEAD;
}

/* A section in one packet: `len` bytes behind its length field, and a check. */
static void end_section(uint8_t *section, size_t len) {
    section[1] = (uint8_t)(0xb0 | (len + CRC) >> 8);
    section[2] = (uint8_t)(len + CRC);
    uint32_t crc = crc32(section, 3 + len);
    for (unsigned i = 0; i < CRC; i++) {
        section[3 + len + i] = (uint8_t)(crc >> (24 - 8 * i));
    }
}

static void make_tables(struct run *r, uint8_t *packet) {
    static const uint8_t types[] = {0x02, 0x10, 0x1b, 0x24,
                                    0x06, 0x0f, 0x05, 0x80};
    bool map = script_below(&r->in, 2) != 0;
    uint8_t *p = head(r, packet, map ? PMT_PID : 0, true);
    uint8_t *section = p + 1;
    size_t at = 8;
    memset(p, 0xff, PACKET - HEAD);
    p[0] = 0; /* pointer */
    memset(section, 0, 12);
    section[0] = map ? 2 : 0;
    section[5] = 1; /* current */
    if (map) {
        section[at + 3] = (uint8_t)script_below(&r->in, 2); /* descriptors */
        at += 4;
        for (unsigned i = 0; i < PIDS; i++) {
            uint8_t *s = section + at;
            s[0] = types[script_below(&r->in, sizeof(types))];
            s[1] = 0xe0;
            s[2] = (uint8_t)(FIRST_PID + i);
            s[3] = 0xf0;
            s[4] = (uint8_t)(script_below(&r->in, 8) == 0);
            at += 5;
        }
    } else {
        section[at + 1] = 1; /* program */
        section[at + 3] = (uint8_t)PMT_PID;
        at += 4;
    }
    end_section(section, at - 3);
}

static void make_pes(struct run *r, uint8_t *packet) {
    static const uint8_t start_code[] = {0, 0, 1, 0xe0};
    unsigned pid = FIRST_PID + (unsigned)script_below(&r->in, PIDS);
    bool start = script_below(&r->in, 3) == 0;
    uint8_t *p = head(r, packet, pid, start);
    const uint8_t *end = packet + PACKET;
    if (script_below(&r->in, 4) == 0) { /* adaptation field */
        packet[3] |= 0x20;
        *p = (uint8_t)script_below(&r->in, 200);
        p += *p < end - p ? 1 + (*p % 20) : 1;
    }
    if (start && end - p > (long)sizeof(start_code)) {
        memcpy(p, start_code, sizeof(start_code));
        p += sizeof(start_code);
    }
    while (p < end) { /* short ones are runs */
        uint8_t byte = (uint8_t)script_number(&r->in, 1);
        size_t run = byte < 8 ? 1 + (size_t)script_below(&r->in, 64) : 1;
        size_t left = (size_t)(end - p);
        run = run < left ? run : left;
        memset(p, byte, run);
        p += run;
    }
}

static void push(struct run *r, media_ts *ts, const uint8_t *packet) {
    size_t cut = (size_t)script_below(&r->in, 8) == 0
                     ? (size_t)script_below(&r->in, PACKET)
                     : PACKET;
    uint8_t *copy = malloc(PACKET);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, packet, PACKET);
    if (script_below(&r->in, 8) == 0) { /* damaged */
        copy[script_below(&r->in, PACKET)] ^= (uint8_t)script_number(&r->in, 1);
    }
    FUZZ_CHECK(media__ts_push(ts, copy, cut));
    FUZZ_CHECK(media__ts_push(ts, copy + cut, PACKET - cut));
    r->pushed += PACKET;
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct run r; /* large */
    uint8_t packet[PACKET] = {0};
    media_ts *ts;
    memset(&r, 0, sizeof(r));
    r.in = (struct script){in, in + size};
    ts = media__ts_new(on_unit, &r);
    FUZZ_CHECK(ts != NULL);
    for (int i = 0; i < PACKETS_MAX && script_left(&r.in); i++) {
        if (script_below(&r.in, 6) == 0) {
            make_tables(&r, packet);
        } else {
            make_pes(&r, packet);
        }
        push(&r, ts, packet);
    }
    media__ts_flush(ts);
    FUZZ_CHECK(r.given + media__ts_skipped(ts) <= r.pushed);
    media__ts_free(ts);
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Parsers of packets and chunks: what they accept is written again the same. */
#include <string.h>

#include "internal/common/crc32c.h"
#include "internal/secure/packet.h"
#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/params.h"
#include "tests/fuzz/script.h"

static void data(const tltcp__chunk *c) {
    uint8_t buf[TLTCP__DATA_LEN + TLTCP__META_MAX];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    tltcp__data d;
    if (tltcp__data_parse(c, &d)) {
        size_t head = 8 + tltcp__meta_len(c->flags);
        tltcp__data_put(&w, c->flags, d.seq, d.section, d.len);
        tltcp__meta_put(&w, c->flags, &d.meta);
        FUZZ_CHECK(!w.bad && d.len == c->len - head);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, head) == 0);
    }
}

static void place(const tltcp__chunk *c) {
    uint8_t buf[TLTCP__UPDATE_LEN];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    tltcp__position p;
    if (tltcp__position_parse(c, &p)) {
        tltcp__position_put(&w, c->type, p);
        FUZZ_CHECK(c->len == sizeof(buf) - TLTCP__CHUNK_LEN);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len) == 0);
    }
}

static void skip(const tltcp__chunk *c) {
    uint8_t buf[TLTCP__SKIP_LEN];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    tltcp__skip s;
    if (tltcp__skip_parse(c, &s)) {
        tltcp__skip_put(&w, &s);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len) == 0);
    }
}

static void ack(const tltcp__chunk *c) {
    uint8_t buf[TLTCP__ACK_LEN + TLTCP__ACK_ECN_LEN];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    tltcp__ack a;
    if (tltcp__ack_parse(c, &a)) {
        size_t left = cmn__reader_left(&a.ranges);
        tltcp__ack_put(&w, &a, left / TLTCP__ACK_RANGE_LEN);
        FUZZ_CHECK((size_t)(w.p - buf) - TLTCP__CHUNK_LEN + left == c->len);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len - left) == 0);
    }
}

static void repair(const tltcp__chunk *c) {
    static uint8_t buf[70000];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    tltcp__repair_chunk r;
    if (tltcp__repair_parse(c, &r)) {
        tltcp__repair_put(&w, c->flags, &r);
        FUZZ_CHECK(!w.bad && (size_t)(w.p - buf) == TLTCP__CHUNK_LEN + c->len);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len) == 0);
    }
}

static void numbers(const tltcp__chunk *c) {
    uint8_t buf[TLTCP__REBUILT_LEN + TLTCP__RTT_LEN];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    tltcp__report report;
    uint32_t a;
    uint32_t b;
    if (tltcp__rebuilt_parse(c, &a, &b)) {
        tltcp__rebuilt_put(&w, a, b);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len) == 0);
    } else if (tltcp__rtt_parse(c, &a)) {
        tltcp__rtt_put(&w, a);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len) == 0);
    } else if (tltcp__report_parse(c, &report)) {
        FUZZ_CHECK(report.p >= 0 && report.p <= 1 && report.x_recv >= 0);
    }
}

static void ids(const tltcp__chunk *c) {
    uint8_t buf[TLTCP__NEW_ID_LEN];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    uint64_t id;
    uint32_t number;
    uint32_t offset;
    if (tltcp__new_id_parse(c, &number, &id, &offset)) {
        tltcp__new_id_put(&w, number, id, offset);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len) == 0);
    } else if (tltcp__retire_id_parse(c, &number)) {
        tltcp__retire_id_put(&w, number);
        FUZZ_CHECK(memcmp(buf + TLTCP__CHUNK_LEN, c->body, c->len) == 0);
    }
}

static void params(const tltcp__chunk *c) {
    static uint8_t buf[2048];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    cmn__reader r;
    tltcp__chunk again;
    tltcp__params p;
    tltcp__params q;
    memset(&p, 0, sizeof(p));
    memset(&q, 0, sizeof(q));
    if (!tltcp__params_parse(c, &p)) {
        return;
    }
    FUZZ_CHECK(strlen(p.stream_id) == p.stream_id_len);
    tltcp__params_put(&w, &p);
    FUZZ_CHECK(!w.bad);
    r = cmn__reader_of(buf, (size_t)(w.p - buf));
    FUZZ_CHECK(tltcp__chunk_next(&r, &again) && r.p == r.end);
    FUZZ_CHECK(tltcp__params_parse(&again, &q));
    FUZZ_CHECK(p.window == q.window && p.sections == q.sections &&
               p.datagram == q.datagram && p.first_seq == q.first_seq &&
               p.ack_every == q.ack_every && p.idle_ms == q.idle_ms &&
               strcmp(p.stream_id, q.stream_id) == 0);
}

static void chunks(const uint8_t *body, size_t len) {
    cmn__reader r = cmn__reader_of(body, len);
    tltcp__chunk c;
    while (tltcp__chunk_next(&r, &c)) {
        FUZZ_CHECK(c.body >= body && c.body + c.len <= body + len);
        data(&c);
        place(&c);
        skip(&c);
        ack(&c);
        repair(&c);
        numbers(&c);
        ids(&c);
        params(&c);
    }
}

static void packet(const uint8_t *dgram, size_t len) {
    static uint8_t buf[70000];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    sec__packet p;
    uint64_t dcid = 0;
    uint8_t type = 0;
    bool peeked = sec__packet_peek(dgram, len, &type, &dcid);
    if (!sec__packet_parse(dgram, len, &p)) {
        return;
    }
    FUZZ_CHECK(peeked && type == p.type && dcid == p.dcid);
    sec__packet_put(&w, &p);
    cmn__put_bytes(&w, p.body, p.body_len);
    sec__packet_seal(&w, buf);
    FUZZ_CHECK(!w.bad && (size_t)(w.p - buf) == len);
    FUZZ_CHECK(memcmp(buf, dgram, len) == 0);
    chunks(p.body, p.body_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static uint8_t buf[70000];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    if (size > 66000) {
        return 0;
    }
    packet(in, size); /* as it is: the check nearly always fails */
    cmn__put_bytes(&w, in, size);
    sec__packet_seal(&w, buf);
    packet(buf, size + SEC__CHECK_LEN);
    chunks(in, size);
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/crc32c.h"
#include "internal/secure/packet.h"
#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/params.h"
#include "tests/support/cmocka.h"

static uint8_t buf[2048];

static size_t written(const cmn__writer *w) {
    assert_false(w->bad);
    return (size_t)(w->p - buf);
}

static size_t seal(cmn__writer *w) {
    sec__packet_seal(w, buf);
    return written(w);
}

TEST(crc32c_has_the_published_check_values) {
    uint8_t zeroes[32] = {0};
    uint8_t ones[32];
    uint8_t up[32];
    memset(ones, 0xff, sizeof(ones));
    for (uint8_t i = 0; i < 32; i++) {
        up[i] = i;
    }
    assert_int_equal(cmn__crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(cmn__crc32c(0, zeroes, 32), 0x8a9136aa); /* RFC 3720 B.4 */
    assert_int_equal(cmn__crc32c(0, ones, 32), 0x62a8ab43);
    assert_int_equal(cmn__crc32c(0, up, 32), 0x46dd794e);
    for (size_t cut = 0; cut <= 32; cut++) { /* in two pieces, unaligned too */
        uint32_t head = cmn__crc32c(0, up, cut);
        assert_int_equal(cmn__crc32c(head, up + cut, 32 - cut), 0x46dd794e);
    }
}

TEST(crc32c_of_a_whole_is_that_of_its_bytes) {
    static uint8_t data[3000];
    uint32_t crc = 0;
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t)(i * 193 + (i >> 8) * 7);
    }
    for (size_t len = 0; len < sizeof(data); len++) {
        assert_int_equal(cmn__crc32c(0, data, len), crc);
        crc = cmn__crc32c(crc, data + len, 1);
    }
}

TEST(a_short_packet_has_these_bytes) {
    static const uint8_t expected[] = {0x50, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
                                       0x07, 0x08, 0x11, 0x22, 0x33, 0x44};
    sec__packet p = {.type = SEC__SHORT,
                     .dcid = UINT64_C(0x0102030405060708),
                     .pn = 0x11223344};
    sec__packet q;
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    sec__packet_put(&w, &p);
    assert_int_equal(written(&w), SEC__SHORT_LEN);
    assert_memory_equal(buf, expected, sizeof(expected));
    cmn__put_bytes(&w, "body", 4);
    assert_true(sec__packet_parse(buf, seal(&w), &q));
    assert_int_equal(q.dcid, p.dcid);
    assert_int_equal(q.pn, p.pn);
    assert_int_equal(q.body_len, 4);
    assert_memory_equal(q.body, "body", 4);
}

static size_t make_initial(const char *token) {
    sec__packet p = {.type = SEC__INITIAL,
                     .version = TLTCP__VERSION,
                     .scid = 0xabcdef,
                     .pn = 7,
                     .token = (const uint8_t *)token,
                     .token_len = strlen(token)};
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    sec__packet_put(&w, &p);
    cmn__put_bytes(&w, "xyz", 3);
    return seal(&w);
}

TEST(an_initial_carries_version_ids_and_token) {
    sec__packet q;
    uint8_t type = 0;
    uint64_t dcid = 1;
    size_t len = make_initial("token");
    assert_true(sec__packet_parse(buf, len, &q));
    assert_int_equal(q.type, SEC__INITIAL);
    assert_int_equal(q.version, TLTCP__VERSION);
    assert_int_equal(q.dcid, 0);
    assert_int_equal(q.scid, 0xabcdef);
    assert_int_equal(q.pn, 7);
    assert_int_equal(q.token_len, 5);
    assert_memory_equal(q.token, "token", 5);
    assert_true(sec__packet_peek(buf, len, &type, &dcid));
    assert_int_equal(type, SEC__INITIAL);
    assert_int_equal(dcid, 0);
}

TEST(every_turned_bit_is_noticed) {
    sec__packet q;
    size_t len = make_initial("token");
    for (size_t bit = 0; bit < len * 8; bit++) {
        buf[bit / 8] ^= (uint8_t)(1U << (bit % 8));
        assert_false(sec__packet_parse(buf, len, &q));
        buf[bit / 8] ^= (uint8_t)(1U << (bit % 8));
    }
    assert_true(sec__packet_parse(buf, len, &q));
}

TEST(every_cut_packet_is_refused) {
    sec__packet q;
    size_t len = make_initial("token");
    for (size_t n = 0; n < len; n++) {
        assert_false(sec__packet_parse(buf, n, &q));
    }
}

TEST(a_token_that_is_too_long_is_refused) {
    char token[SEC__TOKEN_MAX + 2];
    sec__packet q;
    memset(token, 't', sizeof(token));
    token[SEC__TOKEN_MAX] = '\0';
    assert_true(sec__packet_parse(buf, make_initial(token), &q));
    token[SEC__TOKEN_MAX] = 't';
    token[SEC__TOKEN_MAX + 1] = '\0';
    assert_false(sec__packet_parse(buf, make_initial(token), &q));
}

TEST(chunks_follow_each_other_until_padding) {
    static const uint8_t body[] = {0x06, 0, 0, 0, 0x02, 0, 0,    8, 1, 1,
                                   1,    1, 2, 2, 2,    2, 0x00, 0, 0, 0};
    cmn__reader r = cmn__reader_of(body, sizeof(body));
    tltcp__chunk c;
    tltcp__position at;
    assert_true(tltcp__chunk_next(&r, &c));
    assert_int_equal(c.type, TLTCP__PING);
    assert_int_equal(c.len, 0);
    assert_true(tltcp__chunk_next(&r, &c));
    assert_int_equal(c.type, TLTCP__UPDATE);
    assert_true(tltcp__position_parse(&c, &at));
    assert_int_equal(at.seq, 0x01010101);
    assert_int_equal(at.section, 0x02020202);
    assert_false(tltcp__chunk_next(&r, &c));
    assert_false(r.bad);
}

TEST(a_chunk_longer_than_its_packet_is_malformed) {
    static const uint8_t body[] = {0x01, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8};
    cmn__reader r = cmn__reader_of(body, sizeof(body));
    tltcp__chunk c;
    assert_false(tltcp__chunk_next(&r, &c));
    assert_true(r.bad);
}

TEST(chunks_of_the_wrong_length_are_malformed) {
    uint8_t body[64] = {0};
    tltcp__data d;
    tltcp__skip s;
    tltcp__position at;
    tltcp__ack a;
    for (size_t len = 0; len < sizeof(body); len++) {
        tltcp__chunk c = {0, 0, body, len};
        tltcp__chunk ecn = {0, TLTCP__ACK_ECN, body, len};
        tltcp__chunk time = {0, TLTCP__ACK_TIME, body, len};
        assert_int_equal(tltcp__data_parse(&c, &d), len > 8);
        assert_int_equal(tltcp__skip_parse(&c, &s), len == 12);
        assert_int_equal(tltcp__position_parse(&c, &at), len == 8);
        assert_int_equal(tltcp__ack_parse(&c, &a), len >= 24 && len % 8 == 0);
        assert_int_equal(tltcp__ack_parse(&ecn, &a),
                         len >= 36 && (len - 36) % 8 == 0);
        assert_int_equal(tltcp__ack_parse(&time, &a),
                         len >= 28 && (len - 28) % 8 == 0);
    }
}

TEST(an_ack_is_read_as_it_was_written) {
    tltcp__ack a = {.largest = 1000,
                    .delay_us = 2500,
                    .cumulative = 77,
                    .window = {88, 99},
                    .first = 3,
                    .has_ecn = true,
                    .ect0 = 4,
                    .ect1 = 5,
                    .ce = 6};
    tltcp__ack b;
    tltcp__chunk c;
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    cmn__reader r;
    tltcp__ack_put(&w, &a, 1);
    cmn__put32(&w, 10);
    cmn__put32(&w, 20);
    r = cmn__reader_of(buf, written(&w));
    assert_true(tltcp__chunk_next(&r, &c));
    assert_true(tltcp__ack_parse(&c, &b));
    assert_int_equal(b.largest, 1000);
    assert_int_equal(b.delay_us, 2500);
    assert_int_equal(b.cumulative, 77);
    assert_int_equal(b.window.seq, 88);
    assert_int_equal(b.window.section, 99);
    assert_int_equal(b.first, 3);
    assert_true(b.has_ecn && b.ect0 == 4 && b.ect1 == 5 && b.ce == 6);
    assert_int_equal(cmn__get32(&b.ranges), 10);
    assert_int_equal(cmn__get32(&b.ranges), 20);
    assert_int_equal(cmn__reader_left(&b.ranges), 0);
}

TEST(an_ack_has_a_time_of_arrival_in_place_of_the_count_of_ect1) {
    for (int ecn = 0; ecn < 2; ecn++) {
        tltcp__ack a = {.largest = 1000,
                        .has_ecn = ecn != 0,
                        .ect0 = 4,
                        .ce = 6,
                        .has_time = true,
                        .came_us = 7};
        tltcp__ack b;
        tltcp__chunk c;
        cmn__writer w = cmn__writer_of(buf, sizeof(buf));
        cmn__reader r;
        tltcp__ack_put(&w, &a, 0);
        r = cmn__reader_of(buf, written(&w));
        assert_true(tltcp__chunk_next(&r, &c));
        assert_int_equal(c.len, 24 + (ecn != 0 ? 12 : 4));
        assert_true(tltcp__ack_parse(&c, &b));
        assert_int_equal(b.has_ecn, ecn);
        assert_true(b.has_time && b.came_us == 7 && b.ect1 == 0);
        assert_true(ecn == 0 || (b.ect0 == 4 && b.ce == 6));
    }
}

static tltcp__params plain_params(void) {
    return (tltcp__params){.window = 65536,
                           .sections = 100,
                           .idle_ms = 30000,
                           .datagram = 1472,
                           .features = TLTCP__FEATURE_SKIP,
                           .ack_every = 2,
                           .ack_delay_ms = 25,
                           .first_seq = 0xfffffff0};
}

static bool goes_through(const tltcp__params *p, tltcp__params *out) {
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    cmn__reader r;
    tltcp__chunk c;
    tltcp__params_put(&w, p);
    r = cmn__reader_of(buf, written(&w));
    assert_true(tltcp__chunk_next(&r, &c));
    assert_ptr_equal(r.p, r.end);
    return tltcp__params_parse(&c, out);
}

TEST(parameters_are_read_as_they_were_written) {
    tltcp__params p = plain_params();
    tltcp__params q;
    memset(p.stream_id, 's', TLTCP_STREAM_ID_MAX);
    p.stream_id_len = TLTCP_STREAM_ID_MAX;
    p.local = UINT64_C(0x0102030405060708);
    assert_true(goes_through(&p, &q));
    assert_int_equal(q.window, p.window);
    assert_int_equal(q.sections, p.sections);
    assert_int_equal(q.idle_ms, p.idle_ms);
    assert_int_equal(q.datagram, p.datagram);
    assert_int_equal(q.features, p.features);
    assert_int_equal(q.ack_every, p.ack_every);
    assert_int_equal(q.ack_delay_ms, p.ack_delay_ms);
    assert_int_equal(q.first_seq, p.first_seq);
    assert_true(q.local == p.local);
    assert_string_equal(q.stream_id, p.stream_id);
}

TEST(parameters_out_of_range_are_refused) {
    tltcp__params p = plain_params();
    tltcp__params q;
#define REFUSED(field, value)               \
    do {                                    \
        p = plain_params();                 \
        p.field = (value);                  \
        assert_false(goes_through(&p, &q)); \
    } while (0)
    REFUSED(window, 0);
    REFUSED(window, (UINT32_C(1) << 30) + 1);
    REFUSED(sections, 0);
    REFUSED(sections, (UINT32_C(1) << 20) + 1);
    REFUSED(datagram, 1199);
    REFUSED(ack_every, 0);
    REFUSED(ack_every, 65);
    REFUSED(ack_delay_ms, 1001);
#undef REFUSED
}

TEST(a_stream_id_too_long_or_with_a_zero_is_refused) {
    uint8_t body[3 + TLTCP_STREAM_ID_MAX + 1] = {TLTCP__PARAM_STREAM_ID};
    tltcp__chunk c = {TLTCP__PARAMS, 0, body, sizeof(body)};
    tltcp__params q;
    memset(body + 3, 'a', sizeof(body) - 3);
    body[1] = (TLTCP_STREAM_ID_MAX + 1) >> 8;
    body[2] = (TLTCP_STREAM_ID_MAX + 1) & 0xff;
    assert_false(tltcp__params_parse(&c, &q));
    body[1] = 0;
    body[2] = 3;
    body[4] = 0;
    c.len = 6;
    assert_false(tltcp__params_parse(&c, &q));
}

TEST(a_proof_has_eight_bytes) {
    tltcp__params p = plain_params();
    tltcp__params q;
    for (uint16_t len = 0; len < 12; len++) {
        cmn__writer w = cmn__writer_of(buf, sizeof(buf));
        tltcp__chunk c = {TLTCP__PARAMS, 0, buf + TLTCP__CHUNK_LEN, 0};
        tltcp__params_put(&w, &p);
        cmn__put8(&w, TLTCP__PARAM_LOCAL);
        cmn__put16(&w, len);
        for (uint16_t i = 0; i < len; i++) {
            cmn__put8(&w, 1);
        }
        c.len = written(&w) - TLTCP__CHUNK_LEN;
        assert_int_equal(tltcp__params_parse(&c, &q), len == 8);
    }
}

TEST(unknown_parameters_are_skipped) {
    tltcp__params p = plain_params();
    tltcp__params q;
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    tltcp__chunk c = {TLTCP__PARAMS, 0, buf + TLTCP__CHUNK_LEN, 0};
    tltcp__params_put(&w, &p);
    cmn__put8(&w, 200);
    cmn__put16(&w, 2);
    cmn__put16(&w, 0xffff);
    c.len = written(&w) - TLTCP__CHUNK_LEN;
    assert_true(tltcp__params_parse(&c, &q));
    assert_int_equal(q.window, p.window);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_has_the_published_check_values),
        cmocka_unit_test(crc32c_of_a_whole_is_that_of_its_bytes),
        cmocka_unit_test(a_short_packet_has_these_bytes),
        cmocka_unit_test(an_initial_carries_version_ids_and_token),
        cmocka_unit_test(every_turned_bit_is_noticed),
        cmocka_unit_test(every_cut_packet_is_refused),
        cmocka_unit_test(a_token_that_is_too_long_is_refused),
        cmocka_unit_test(chunks_follow_each_other_until_padding),
        cmocka_unit_test(a_chunk_longer_than_its_packet_is_malformed),
        cmocka_unit_test(chunks_of_the_wrong_length_are_malformed),
        cmocka_unit_test(an_ack_is_read_as_it_was_written),
        cmocka_unit_test(
            an_ack_has_a_time_of_arrival_in_place_of_the_count_of_ect1),
        cmocka_unit_test(parameters_are_read_as_they_were_written),
        cmocka_unit_test(parameters_out_of_range_are_refused),
        cmocka_unit_test(a_stream_id_too_long_or_with_a_zero_is_refused),
        cmocka_unit_test(a_proof_has_eight_bytes),
        cmocka_unit_test(unknown_parameters_are_skipped),
    };
    return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}

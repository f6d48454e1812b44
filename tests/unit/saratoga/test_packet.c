/* SPDX-License-Identifier: MPL-2.0 */
/* The packets of the protocol document, both ways, and what other
 * implementations were seen to send. */
#include <stdlib.h>

#include "libsaratoga/engine/packet.h"
#include "libsaratoga/engine/timestamp.h"
#include "tests/unit/saratoga/hex.h"

#define MTIME 0x21c86feau
#define MD5_F "046b3239eaade30920069f171518d956"

struct out {
    uint8_t b[2048];
    cmn__writer w;
};

static cmn__writer *start(struct out *o) {
    o->w = cmn__writer_of(o->b, sizeof(o->b));
    return &o->w;
}

#define assert_written(o, text)                                   \
    do {                                                          \
        assert_false((o)->w.bad);                                 \
        assert_octets((o)->b, (size_t)((o)->w.p - (o)->b), text); \
    } while (0)

static const uint32_t ALL = SARATOGA_CAN_SEND | SARATOGA_WILLING_TO_SEND |
                            SARATOGA_CAN_RECEIVE | SARATOGA_WILLING_TO_RECEIVE;

static void beacon_both_ways(const char *text, const saratoga__beacon *want) {
    struct hex h = unhex(text);
    struct out o;
    saratoga__beacon b;
    assert_true(saratoga__beacon_parse(h.b, h.len, &b));
    assert_int_equal(b.abilities, want->abilities);
    assert_int_equal(b.descriptor, want->descriptor);
    assert_int_equal(b.free_kib, want->free_kib);
    assert_int_equal(b.eid_len, want->eid_len);
    assert_memory_equal(b.eid, want->eid, b.eid_len);
    saratoga__beacon_write(start(&o), &b);
    assert_written(&o, text);
}

TEST(v1_beacon_with_free_space) {
    saratoga__beacon want = {.abilities =
                                 ALL | SARATOGA_STREAMS | SARATOGA_FREE_SPACE,
                             .descriptor = SARATOGA_64_BIT,
                             .free_kib = 1048576,
                             .eid = (const uint8_t *)"sat-1",
                             .eid_len = 5};
    beacon_both_ways("209f5000 00100000 7361742d31", &want);
}

TEST(v15_beacons_without_free_space_and_with_too_much) {
    saratoga__beacon want = {.abilities = ALL,
                             .descriptor = SARATOGA_32_BIT,
                             .eid = (const uint8_t *)"sat-1",
                             .eid_len = 5};
    beacon_both_ways("204f0000 7361742d31", &want);
    want.descriptor = SARATOGA_64_BIT;
    want.abilities |= SARATOGA_STREAMS | SARATOGA_FREE_SPACE;
    want.free_kib = UINT64_MAX;
    beacon_both_ways("209f4000 ffff 7361742d31", &want);
}

TEST(a_beacon_announces_only_what_the_node_can_do) {
    struct hex h = unhex("20050000 41"); /* bits 13 and 15 alone: 01 and 01 */
    saratoga__beacon b;
    assert_true(saratoga__beacon_parse(h.b, h.len, &b));
    assert_int_equal(b.abilities, 0);
}

TEST(a_beacon_without_eid_or_with_a_cut_field_is_refused) {
    struct hex h = unhex("209f5000 001000");
    saratoga__beacon b;
    assert_false(saratoga__beacon_parse(h.b, h.len, &b));
    assert_false(saratoga__beacon_parse(h.b, 4, &b));
    h = unhex("204f0000");
    assert_false(saratoga__beacon_parse(h.b, h.len, &b));
}

static void request_both_ways(const char *text, uint32_t type, uint32_t id,
                              uint32_t descriptor, const char *path) {
    struct hex h = unhex(text);
    struct out o;
    saratoga__request q;
    assert_true(saratoga__request_parse(h.b, h.len, &q));
    assert_int_equal(q.type, type);
    assert_int_equal(q.id, id);
    assert_int_equal(q.descriptor, descriptor);
    assert_int_equal(q.abilities, ALL);
    assert_string_equal(q.path, path);
    assert_int_equal(q.auth_len, 0);
    saratoga__request_write(start(&o), &q);
    assert_written(&o, text);
}

TEST(v2_v10_v12_v15_requests) {
    request_both_ways("218f0001 1a2b3c4d 696d672f303030312e726177 00",
                      SARATOGA_GET, 0x1A2B3C4D, SARATOGA_64_BIT,
                      "img/0001.raw");
    request_both_ways("214f0005 0000002c 696d672f303030312e726177 00",
                      SARATOGA_DELETE, 0x2C, SARATOGA_32_BIT, "img/0001.raw");
    request_both_ways("218f0001 0000002e 00", SARATOGA_GET, 0x2E,
                      SARATOGA_64_BIT, "");
    request_both_ways("218f0002 00000030 75702f6e65772e62696e 00", SARATOGA_PUT,
                      0x30, SARATOGA_64_BIT, "up/new.bin");
}

TEST(padding_is_no_authentication_but_anything_else_is) {
    struct hex h = unhex("218f0001 00000001 6400 000000");
    saratoga__request q;
    assert_true(saratoga__request_parse(h.b, h.len, &q));
    assert_int_equal(q.auth_len, 0);
    h = unhex("218f0001 00000001 6400 0000aa");
    assert_true(saratoga__request_parse(h.b, h.len, &q));
    assert_int_equal(q.auth_len, 3);
    assert_int_equal(q.auth[2], 0xaa);
}

TEST(a_path_has_at_most_1023_octets) {
    uint8_t pkt[8 + 1025] = {0x21, 0x8f, 0, 1, 0, 0, 0, 1};
    saratoga__request q;
    memset(pkt + 8, 'a', 1024);
    pkt[8 + 1023] = 0;
    assert_true(saratoga__request_parse(pkt, 8 + 1024, &q));
    assert_int_equal(q.path_len, 1023);
    pkt[8 + 1023] = 'a';
    pkt[8 + 1024] = 0;
    assert_false(saratoga__request_parse(pkt, 8 + 1025, &q));
}

static void metadata_both_ways(const char *text, saratoga__metadata *m) {
    struct hex h = unhex(text);
    struct out o;
    assert_true(saratoga__metadata_parse(h.b, h.len, m));
    saratoga__metadata_write(start(&o), m);
    assert_written(&o, text);
}

TEST(v3_metadata_with_md5) {
    saratoga__metadata m;
    metadata_both_ways("22000042 1a2b3c4d " MD5_F " 8000 1388 21c86fea 21c87026"
                       " 696d672f303030312e726177 00",
                       &m);
    assert_int_equal(m.id, 0x1A2B3C4D);
    assert_int_equal(m.descriptor, SARATOGA_16_BIT);
    assert_int_equal(m.kind, SARATOGA_FILE);
    assert_int_equal(m.sum_type, SARATOGA_MD5);
    assert_int_equal(m.sum_len, 16);
    assert_int_equal(m.entry.size, 5000);
    assert_int_equal(m.entry.mtime, MTIME);
    assert_int_equal(m.entry.ctime, 0x21c87026);
    assert_string_equal(m.entry.path, "img/0001.raw");
    assert_false(m.ended || m.lite || m.entry.directory || m.entry.special);
}

TEST(v13_metadata_with_crc32c) {
    saratoga__metadata m;
    metadata_both_ways("22000011 1a2b3c4d 83f68e3a 8000 1388 21c86fea 21c87026"
                       " 696d672f303030312e726177 00",
                       &m);
    assert_int_equal(m.sum_type, SARATOGA_CRC32C);
    assert_int_equal(m.sum_len, 4);
}

TEST(v9_metadata_of_a_stream_open_and_ended) {
    saratoga__metadata m;
    metadata_both_ways("22b00000 0000002b 8280 0000000000000000 21c86fea"
                       " 21c86fea 74656c656d65747279 00",
                       &m);
    assert_int_equal(m.kind, SARATOGA_STREAM);
    assert_int_equal(m.descriptor, SARATOGA_64_BIT);
    assert_true(m.entry.special);
    assert_false(m.ended);
    metadata_both_ways("22b80000 0000002b 8280 0000000000000000 21c86fea"
                       " 21c86fea 74656c656d65747279 00",
                       &m);
    assert_true(m.ended);
}

TEST(metadata_with_an_unknown_checksum_is_read) {
    struct hex h = unhex("2200002e 00000001 0102030405060708"
                         " 8000 0001 00000000 00000000 6100");
    saratoga__metadata m;
    assert_true(saratoga__metadata_parse(h.b, h.len, &m));
    assert_int_equal(m.sum_type, 14);
    assert_int_equal(m.sum_len, 8);
    assert_int_equal(m.entry.size, 1);
}

TEST(metadata_without_the_mark_of_an_entry_is_refused) {
    struct hex h = unhex("22000000 00000001 0000 0001 00000000 00000000 6100");
    saratoga__metadata m;
    assert_false(saratoga__metadata_parse(h.b, h.len, &m));
}

static void data_both_ways(const char *text, saratoga__data *d) {
    struct hex h = unhex(text);
    struct out o;
    assert_true(saratoga__data_parse(h.b, h.len, d));
    saratoga__data_write_head(start(&o), d);
    cmn__put_bytes(&o.w, d->bytes, d->len);
    assert_written(&o, text);
}

TEST(v4_last_data_with_and_without_a_timestamp) {
    saratoga__data d;
    data_both_ways("23098000 1a2b3c4d 000000005a35b380 8000000000000004"
                   " 1386 e5e6",
                   &d);
    assert_true(d.asks && d.eod && d.timestamp != NULL);
    assert_int_equal(d.offset.lo, 4998);
    assert_int_equal(d.len, 2);
    data_both_ways("23018000 1a2b3c4d 1386 e5e6", &d);
    assert_null(d.timestamp);
    assert_true(d.asks && d.eod);
}

TEST(v8_data_of_a_directory_record) {
    saratoga__data d;
    data_both_ways("23118000 0000002a 0000"
                   " 8000 0006 21c86fea 21c86fea 612e74787400"
                   " 8100 0000 21c86fea 21c86fea 73756200"
                   " 8080 0000000140000000 21c86fea 21c86fea 6269672e72617700",
                   &d);
    assert_int_equal(d.kind, SARATOGA_DIRECTORY);
    assert_int_equal(d.len, 60);
}

TEST(v11_data_with_an_offset_of_128_bits) {
    saratoga__data d;
    data_both_ways("23c00000 0000002d 00000000000000010000000000000000 6162",
                   &d);
    assert_int_equal(d.offset.hi, 1);
    assert_int_equal(d.offset.lo, 0);
    assert_int_equal(d.len, 2);
}

TEST(v15_poll_and_stream_data) {
    saratoga__data d;
    uint64_t low;
    uint64_t high;
    data_both_ways("23018000 1a2b3c4d 1388", &d);
    assert_true(d.asks && d.eod);
    assert_int_equal(d.len, 0);
    data_both_ways("23b80000 0000002b 21c86fea 0000000000000000000000 05"
                   " 0000000000010000 74",
                   &d);
    assert_int_equal(d.kind, SARATOGA_STREAM);
    assert_int_equal(d.offset.lo, 65536);
    assert_true(
        saratoga__timestamp_read(SARATOGA_TS_Y2K, d.timestamp, &low, &high));
    assert_int_equal(low >> 32, 1513468800);
}

/* The holes that a test expects, and the packet that carries them. */
static void status_both_ways(const char *text, saratoga__status_pkt *s) {
    struct hex h = unhex(text);
    struct out o;
    assert_true(saratoga__status_parse(h.b, h.len, s));
    saratoga__status_write_head(start(&o), s);
    for (size_t i = 0; i < s->hole_count; i++) {
        saratoga__wide from;
        saratoga__wide to;
        saratoga__status_hole(s, i, &from, &to);
        saratoga__put_wide(&o.w, s->descriptor, from);
        saratoga__put_wide(&o.w, s->descriptor, to);
    }
    assert_written(&o, text);
}

static void assert_hole(const saratoga__status_pkt *s, size_t i, uint64_t from,
                        uint64_t to) {
    saratoga__wide a;
    saratoga__wide b;
    saratoga__status_hole(s, i, &a, &b);
    assert_int_equal(a.lo, from);
    assert_int_equal(b.lo, to);
}

TEST(v5_status_with_two_holes) {
    const char *const text[] = {
        "24080000 1a2b3c4d 000000005a35b380 8000000000000004"
        " 03e8 1388 03e807cf 0bb81385",
        "24000000 1a2b3c4d 03e8 1388 03e807cf 0bb81385",
        "24400000 00000032 000003e8 00001388 000003e8000007cf"
        " 00000bb800001385"};
    for (size_t i = 0; i < 3; i++) {
        saratoga__status_pkt s;
        status_both_ways(text[i], &s);
        assert_int_equal(s.progress.lo, 1000);
        assert_int_equal(s.irt.lo, 5000);
        assert_int_equal(s.hole_count, 2);
        assert_hole(&s, 0, 1000, 1999);
        assert_hole(&s, 1, 3000, 4997);
        assert_false(s.voluntary || s.incomplete || s.no_metadata);
        assert_int_equal(s.timestamp != NULL, i == 0);
    }
}

TEST(v6_v15_status_completed_accepted_and_in_parts) {
    saratoga__status_pkt s;
    status_both_ways("24010000 1a2b3c4d 1388 1388", &s);
    assert_true(s.voluntary);
    assert_int_equal(s.progress.lo, 5000);
    assert_int_equal(s.irt.lo, 5000);
    assert_int_equal(s.hole_count, 0);
    status_both_ways("24010000 00000030 0000 0000", &s);
    assert_int_equal(s.code, SARATOGA_SUCCESS);
    status_both_ways("24030000 00000031 0004 001e 0004 0007", &s);
    assert_true(s.voluntary && s.incomplete);
    assert_int_equal(s.irt.lo, 30);
    assert_hole(&s, 0, 4, 7);
}

TEST(v7_v14_the_body_of_a_failure_is_not_read) {
    struct hex h = unhex("24010004 1a2b3c4d 0000 0000");
    saratoga__status_pkt s;
    struct out o;
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_int_equal(s.code, SARATOGA_NOT_FOUND);
    assert_true(s.bare);
    saratoga__status_write_head(start(&o), &s);
    assert_written(&o, "24010004 1a2b3c4d 0000 0000");
    h = unhex("24c10010 1a2b3c4d"); /* cut short, 128 bits: still a failure */
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    h = unhex("24050010 1a2b3c4d 0000 0000");
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_int_equal(s.code, SARATOGA_METADATA_REQUIRED);
    assert_true(s.no_metadata && s.voluntary);
}

TEST(a_denial_may_say_why) {
    const char *bytes = "24010005 1a2b3c4d 0000 0000 04";
    struct hex h = unhex(bytes);
    saratoga__status_pkt s;
    struct out o;
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_int_equal(s.code, SARATOGA_ACCESS_DENIED);
    assert_int_equal(s.denial, SARATOGA_DENIED_FOLDER);
    saratoga__status_write_head(start(&o), &s);
    assert_written(&o, bytes);
    /* Holes, other failures, and what is cut short say nothing. */
    for (size_t i = 0; i < 4; i++) {
        h = unhex(((const char *[]){"24010005 1a2b3c4d 0000 0000 0400 0700",
                                    "24010004 1a2b3c4d 0000 0000 04",
                                    "24010005 1a2b3c4d 0000 0000",
                                    "24010005 1a2b3c4d 04"})[i]);
        assert_true(saratoga__status_parse(h.b, h.len, &s));
        assert_int_equal(s.denial, 0);
    }
}

TEST(v10_an_answer_to_delete) {
    saratoga__status_pkt s;
    struct hex h = unhex("24810000 e2edc0b1 0000 0000");
    status_both_ways("24010000 0000002c 0000 0000", &s);
    assert_false(s.bare);
    /* Seen: says 64 bits, carries fields of 16. */
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_true(s.bare);
    assert_int_equal(s.code, SARATOGA_SUCCESS);
}

TEST(stray_octets_behind_a_status_do_no_harm) {
    struct hex h = unhex("24440000 00000593 00000000 00000000 6c6f672e");
    saratoga__status_pkt s;
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_int_equal(s.hole_count, 0);
    assert_true(s.no_metadata);
    h = unhex("24400000 00000593 00001387 00000000 6c6f672e");
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_int_equal(s.progress.lo, 4999);
    h = unhex("24000000 29458bc3 0b5f 0b60 0b60 0bb8");
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_hole(&s, 0, 2912, 3000);
    h = unhex("24000000 000000b7 0000000000000000 0000 0000 0000 0006");
    assert_true(saratoga__status_parse(h.b, h.len, &s));
    assert_null(s.timestamp);
}

TEST(observed_packets_of_other_implementations_are_read) {
    struct hex h = unhex("22000000 e2edc0b1 8000 0006 329337ca 329337ca"
                         " 68656c6c6f2e747874 00");
    saratoga__metadata m;
    saratoga__data d;
    saratoga__beacon b;
    assert_true(saratoga__metadata_parse(h.b, h.len, &m));
    assert_string_equal(m.entry.path, "hello.txt");
    h = unhex("22400000 00000593 8000 1388 a36dbfa1 a36dbfa1 6100");
    assert_true(saratoga__metadata_parse(h.b, h.len, &m));
    assert_int_equal(m.descriptor, SARATOGA_32_BIT);
    assert_int_equal(m.entry.descriptor, SARATOGA_16_BIT);
    assert_int_equal(m.entry.size, 5000);
    h = unhex("23080000 0000718e 016b007cb10000000000000000000000 0000 aa");
    assert_true(saratoga__data_parse(h.b, h.len, &d));
    assert_int_equal(d.len, 1);
    h = unhex("204f5000 0ed53ff4 31302e37372e302e32203236333133");
    assert_true(saratoga__beacon_parse(h.b, h.len, &b));
    assert_int_equal(b.free_kib, 0x0ed53ff4);
}

TEST(another_version_is_no_packet) {
    struct hex h = unhex("018f0001 00000001 6400");
    saratoga__head head;
    assert_false(saratoga__head_parse(h.b, h.len, &head));
    h.b[0] = 0x41;
    assert_false(saratoga__head_parse(h.b, h.len, &head));
    h.b[0] = 0x21;
    assert_true(saratoga__head_parse(h.b, h.len, &head));
    assert_int_equal(head.id, 1);
}

TEST(packets_cut_at_any_octet_are_refused_or_shorter) {
    static const char *const text[] = {
        "209f5000 00100000 7361742d31",
        "218f0001 1a2b3c4d 696d672f303030312e726177 00",
        ("22000042 1a2b3c4d " MD5_F
         " 8000 1388 21c86fea 21c87026 696d672f303030312e726177 00"),
        "23098000 1a2b3c4d 000000005a35b380 8000000000000004 1386 e5e6",
        ("24080000 1a2b3c4d 000000005a35b380 8000000000000004"
         " 03e8 1388 03e807cf 0bb81385")};
    static const size_t least[] = {9, 21, 49, 26, 12};
    for (size_t i = 0; i < 5; i++) {
        struct hex h = unhex(text[i]);
        for (size_t n = 0; n < h.len; n++) {
            uint8_t *cut = malloc(n > 0 ? n : 1); /* a reader too far is seen */
            saratoga__beacon b;
            saratoga__request q;
            saratoga__metadata m;
            saratoga__data d;
            saratoga__status_pkt s;
            bool good[5];
            memcpy(cut, h.b, n);
            good[0] = saratoga__beacon_parse(cut, n, &b);
            good[1] = saratoga__request_parse(cut, n, &q);
            good[2] = saratoga__metadata_parse(cut, n, &m);
            good[3] = saratoga__data_parse(cut, n, &d);
            good[4] = saratoga__status_parse(cut, n, &s);
            free(cut);
            assert_true(n >= least[i] || !good[i]);
        }
    }
}

TEST(timestamps_of_all_kinds_come_back) {
    for (uint32_t kind = SARATOGA_TS_LOCAL; kind <= SARATOGA_TS_Y2K; kind++) {
        uint64_t x = (UINT64_C(1513468800) << 32) | 0x80000000u;
        uint8_t timestamp[SARATOGA__TIMESTAMP_LEN];
        uint64_t low;
        uint64_t high;
        saratoga__timestamp_write(kind, x, timestamp);
        assert_int_equal(timestamp[15], kind);
        assert_true(saratoga__timestamp_read(kind, timestamp, &low, &high));
        assert_true(low <= x && x <= high);
        assert_false(
            saratoga__timestamp_read(kind + 1, timestamp, &low, &high));
    }
}

TEST(the_clock_counts_in_parts_of_a_second) {
    uint8_t timestamp[SARATOGA__TIMESTAMP_LEN];
    uint64_t x = saratoga__timestamp_clock(UINT64_C(500000000),
                                           INT64_C(1513468800) * 1000000000);
    saratoga__timestamp_write(SARATOGA_TS_POSIX64_F, x, timestamp);
    assert_octets(timestamp, sizeof(timestamp),
                  "000000005a35b380 8000000000000004");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_beacon_with_free_space),
        cmocka_unit_test(v15_beacons_without_free_space_and_with_too_much),
        cmocka_unit_test(a_beacon_announces_only_what_the_node_can_do),
        cmocka_unit_test(a_beacon_without_eid_or_with_a_cut_field_is_refused),
        cmocka_unit_test(v2_v10_v12_v15_requests),
        cmocka_unit_test(padding_is_no_authentication_but_anything_else_is),
        cmocka_unit_test(a_path_has_at_most_1023_octets),
        cmocka_unit_test(v3_metadata_with_md5),
        cmocka_unit_test(v13_metadata_with_crc32c),
        cmocka_unit_test(v9_metadata_of_a_stream_open_and_ended),
        cmocka_unit_test(metadata_with_an_unknown_checksum_is_read),
        cmocka_unit_test(metadata_without_the_mark_of_an_entry_is_refused),
        cmocka_unit_test(v4_last_data_with_and_without_a_timestamp),
        cmocka_unit_test(v8_data_of_a_directory_record),
        cmocka_unit_test(v11_data_with_an_offset_of_128_bits),
        cmocka_unit_test(v15_poll_and_stream_data),
        cmocka_unit_test(v5_status_with_two_holes),
        cmocka_unit_test(v6_v15_status_completed_accepted_and_in_parts),
        cmocka_unit_test(v7_v14_the_body_of_a_failure_is_not_read),
        cmocka_unit_test(a_denial_may_say_why),
        cmocka_unit_test(v10_an_answer_to_delete),
        cmocka_unit_test(stray_octets_behind_a_status_do_no_harm),
        cmocka_unit_test(observed_packets_of_other_implementations_are_read),
        cmocka_unit_test(another_version_is_no_packet),
        cmocka_unit_test(packets_cut_at_any_octet_are_refused_or_shorter),
        cmocka_unit_test(timestamps_of_all_kinds_come_back),
        cmocka_unit_test(the_clock_counts_in_parts_of_a_second),
    };
    return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The draft's requirements on REQUEST, BEACON, METADATA and DATA, one test
 * each, octet by octet. */
#include "tests/simnet/saratoga/raw.h"

TEST(v16_a_whole_get_with_a_loss_as_the_receiver) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    raw_hex(r, "23000000 00000007 0000 30313233");
    assert_sent(r, "24010000 00000007 0004 0004");
    raw_hex(r, "23018000 00000007 0008 3839");
    assert_sent(r, "24000000 00000007 0004 000a 0004 0007");
    raw_hex(r, "23010000 00000007 0004 34353637");
    assert_sent(r, "24010000 00000007 000a 000a");
    assert_true(x->done && x->end.verified && x->committed);
    assert_memory_equal(x->file->data, "0123456789", 10);
    raw_free(r);
}

TEST(v16_a_whole_get_with_a_loss_as_the_sender) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    raw_hex(r, GET_D);
    raw_wait(r, 20 * MSEC);
    assert_sent(r, META_D);
    assert_sent(r, "23010000 00000007 0000 30313233");
    assert_sent(r, "23000000 00000007 0004 34353637");
    assert_sent(r, "23018000 00000007 0008 3839");
    raw_hex(r, "24000000 00000007 0004 000a 0004 0007");
    raw_wait(r, MSEC);
    assert_sent(r, "23000000 00000007 0004 34353637");
    assert_sent(r, "23018000 00000007 000a");
    raw_hex(r, "24010000 00000007 000a 000a");
    assert_true(r->h->xfers->done);
    assert_int_equal(r->h->xfers->end.error, 0);
    raw_free(r);
}

TEST(another_version_is_dropped_in_silence) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    raw_hex(r, "018f0001 00000007 6400");
    raw_hex(r, "418f0001 00000007 6400");
    raw_wait(r, SEC);
    assert_silent(r);
    raw_free(r);
}

TEST(undefined_bits_are_ignored_and_sent_as_zero) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    const struct sent *s;
    raw_hex(r, "21af7f01 00000007 6400"); /* bits 10 and 17 to 23 set */
    raw_wait(r, 20 * MSEC);
    while ((s = raw_next(r)) != NULL) {
        uint32_t word = (uint32_t)s->bytes[0] << 24 |
                        (uint32_t)s->bytes[1] << 16 |
                        (uint32_t)s->bytes[2] << 8 | s->bytes[3];
        bool meta = (word >> 24 & 31) == 2;
        assert_int_equal(word & (meta ? 0x0003FF00u : 0x00067FFFu), 0);
    }
    assert_true(r->n >= 4);
    raw_free(r);
}

static void
a_descriptor_wider_than_the_requester_takes_is_refused(void **state) {
    struct raw *r = raw_new(NULL);
    (void)state;
    (void)host_make_file(r->h, "d", 70000, 1);
    raw_hex(r, "210f0001 00000007 6400"); /* 16 bits at most */
    assert_sent(r, "24010008 00000007 0000 0000");
    raw_wait(r, SEC);
    assert_silent(r);
    raw_free(r);
}

static void
only_data_go_by_udp_lite_and_their_headers_are_covered(void **state) {
    saratoga_options o = plain();
    struct raw *r;
    const struct sent *s;
    (void)state;
    o.lite = true;
    r = server(&o);
    raw_hex(r, "218f8001 00000007 6400"); /* takes UDP-Lite */
    raw_wait(r, 20 * MSEC);
    s = raw_next(r);
    assert_int_equal(s->bytes[0], 0x22);
    assert_int_equal(s->bytes[1] & 4, 4); /* may have errors */
    assert_int_equal(s->flags & SARATOGA_PKT_LITE, 0);
    s = raw_next(r);
    assert_int_equal(s->bytes[0], 0x23);
    assert_int_equal(s->flags & SARATOGA_PKT_LITE, SARATOGA_PKT_LITE);
    assert_int_equal(s->coverage, 10);
    raw_free(r);
    r = server(&o); /* to one that does not take it: plain UDP */
    raw_hex(r, GET_D);
    raw_wait(r, 20 * MSEC);
    while ((s = raw_next(r)) != NULL) {
        assert_int_equal(s->flags & SARATOGA_PKT_LITE, 0);
    }
    r->peer.flags = SARATOGA_PKT_LITE; /* nothing but DATA may come so */
    raw_hex(r, "218f0001 00000008 6400");
    raw_wait(r, 20 * MSEC);
    r->peer.flags = 0;
    assert_silent(r);
    raw_free(r);
}

TEST(beacons_announce_capabilities_even_when_unwilling) {
    saratoga_config c;
    struct raw *r;
    saratoga_config_init(&c);
    c.eid = "sat-1";
    r = raw_new(&c);
    saratoga_engine_set_free_space(r->h->sim.engine, 1048576);
    assert_int_equal(saratoga_engine_beacon(r->h->sim.engine, &r->peer, 0), 0);
    host_pump(r->h);
    assert_sent(r, "209f5000 00100000 7361742d31");
    saratoga_engine_set_willing(r->h->sim.engine, false, false);
    saratoga_engine_set_free_space(r->h->sim.engine, UINT64_MAX);
    assert_int_equal(saratoga_engine_beacon(r->h->sim.engine, &r->peer, 0), 0);
    host_pump(r->h);
    assert_sent(r, "209a0000 7361742d31");
    raw_hex(r, "204f4000 ffff 7361742d32");
    assert_int_equal(r->h->beacons, 1);
    assert_string_equal(r->h->beacon.eid, "sat-2");
    assert_int_equal(r->h->beacon.free_kib, UINT64_MAX);
    raw_free(r);
}

TEST(metadata_with_an_unknown_checksum_still_serves) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, "2200001d 00000007 01020304 8000 0002 00000001 00000001 6400");
    raw_hex(r, "23018000 00000007 0000 6162");
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    assert_false(x->end.verified);
    raw_free(r);
}

TEST(a_file_that_fails_its_checksum_is_discarded) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    raw_hex(r, "23018000 00000007 0000 30313233343536373800");
    assert_true(x->done && !x->committed);
    assert_int_equal(x->end.error, SARATOGA_ERR_CHECKSUM);
    assert_null(host_find_file(r->h, "d"));
    assert_sent(r, "24010001 00000007 0000 0000");
    raw_free(r);
}

TEST(data_unlike_the_metadata_end_the_session) {
    static const char *const data[] = {"23110000 00000007 0000 6162",
                                       "23410000 00000007 00000000 6162"};
    for (int i = 0; i < 2; i++) {
        struct xfer *x;
        struct raw *r = receiver(&x);
        raw_hex(r, META_D);
        raw_hex(r, data[i]);
        assert_sent(r, "2401000d 00000007 0000 0000");
        assert_int_equal(x->end.error, SARATOGA_ERR_PROTOCOL);
        raw_free(r);
    }
}

TEST(data_beyond_the_size_end_the_session) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    raw_hex(r, "23000000 00000007 0008 616263");
    assert_sent(r, "24010009 00000007 0000 0000");
    raw_free(r);
}

/* Before METADATA told a size. */
TEST(offsets_that_overflow_end_the_session) {
    static const char *const data[] = {
        "23800000 00000007 fffffffffffffffe 61626364",
        "23c00000 00000007 0000000000000001 0000000000000000 61",
        "23000000 00000007 fffe 61626364"};
    for (int i = 0; i < 3; i++) {
        struct xfer *x;
        struct raw *r = receiver(&x);
        raw_hex(r, data[i]);
        assert_sent(r, "24010009 00000007 0000 0000");
        assert_int_equal(x->end.error, SARATOGA_ERR_PROTOCOL);
        raw_free(r);
    }
}

/* Only who says how fast, for a link of one's own, does without. */
TEST(congestion_is_controlled_unless_a_rate_is_given) {
    for (int given = 0; given < 2; given++) {
        saratoga_options o;
        struct raw *r;
        saratoga_options_init(&o);
        o.rate_bps = given ? 1000000 : 0;
        r = server(&o);
        raw_hex(r, GET_D);
        assert_string_equal(host_stats(r->h, r->h->xfers).congestion,
                            given ? "open" : "stfrc");
        raw_free(r);
    }
}

TEST(an_end_below_the_size_ends_the_session) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    raw_hex(r, "23018000 00000007 0000 6162");
    assert_sent(r, "24010001 00000007 0000 0000");
    raw_free(r);
}

TEST(an_end_below_received_data_ends_the_session) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, "23000000 00000007 0000 30313233");
    r->seen = r->n;
    raw_hex(r, "23008000 00000007 0000 3031");
    assert_sent(r, "24010001 00000007 0000 0000");
    raw_free(r);
}

TEST(bytes_that_come_again_are_counted) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, "23000000 00000007 0000 30313233");
    raw_hex(r, "23000000 00000007 0000 3031323334353637"); /* four of them */
    raw_hex(r, "23000000 00000007 0002 3233");             /* two */
    assert_int_equal(host_stats(r->h, x).duplicate_bytes, 6);
    raw_free(r);
}

/* A single packet cannot create a file of 2^32 bytes here. */
TEST(data_far_out_wait_for_metadata) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, "23410000 00000007 ffff0000 30313233");
    assert_sent(r, "24440000 00000007 00000000 ffff0004 00000000 ffff0003");
    assert_int_equal(x->file->size, 0);
    raw_hex(r, "22400042 00000007 781e5e245d69b566979b86e28d23f2c7 8000 000a "
               "21c86fea 21c86fea 6400");
    raw_hex(r, "23418000 00000007 00000000 30313233343536373839");
    assert_true(x->done && x->end.verified);
    raw_free(r);
}

TEST(a_get_that_is_repeated_gets_the_same_answer) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    raw_hex(r, GET_D);
    raw_wait(r, 20 * MSEC);
    r->seen = r->n;
    raw_hex(r, GET_D);
    assert_sent(r, META_D);
    assert_int_equal(r->h->requests, 1);
    raw_hex(r, "218f0001 00000007 6500"); /* another path */
    assert_sent(r, "24010006 00000007 0000 0000");
    raw_free(r);
}

TEST(streams_carry_no_checksum) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    r->h->stream = true;
    raw_hex(r, "219f0001 00000007 6400");
    assert_sent(r, "22b00000 00000007 8280 0000000000000000 21c86fea 21c86fea"
                   " 6400");
    raw_free(r);
}

TEST(a_peer_without_stream_support_gets_no_stream) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    r->h->stream = true;
    raw_hex(r, GET_D);
    assert_sent(r, "24010002 00000007 0000 0000");
    assert_silent(r);
    raw_free(r);
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(v16_a_whole_get_with_a_loss_as_the_receiver),
        T(v16_a_whole_get_with_a_loss_as_the_sender),
        T(another_version_is_dropped_in_silence),
        T(undefined_bits_are_ignored_and_sent_as_zero),
        T(a_descriptor_wider_than_the_requester_takes_is_refused),
        T(only_data_go_by_udp_lite_and_their_headers_are_covered),
        T(beacons_announce_capabilities_even_when_unwilling),
        T(metadata_with_an_unknown_checksum_still_serves),
        T(a_file_that_fails_its_checksum_is_discarded),
        T(data_unlike_the_metadata_end_the_session),
        T(data_beyond_the_size_end_the_session),
        T(offsets_that_overflow_end_the_session),
        T(an_end_below_the_size_ends_the_session),
        T(an_end_below_received_data_ends_the_session),
        T(bytes_that_come_again_are_counted),
        T(congestion_is_controlled_unless_a_rate_is_given),
        T(data_far_out_wait_for_metadata),
        T(a_get_that_is_repeated_gets_the_same_answer),
        T(streams_carry_no_checksum),
        T(a_peer_without_stream_support_gets_no_stream),
    };
    return cmocka_run_group_tests_name("conformance", tests, NULL, NULL);
}

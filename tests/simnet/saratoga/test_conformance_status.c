/* SPDX-License-Identifier: MPL-2.0 */
/* The draft's requirements on STATUS, one test each, octet by octet: what it
 * reports, when it is sent, and what it ends. */
#include "tests/simnet/saratoga/raw.h"

TEST(missing_metadata_are_reported) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, "23010000 00000007 0000 30313233");
    assert_sent(r, "24040000 00000007 0004 0004");
    raw_hex(r, META_D);
    raw_hex(r, "23018000 00000007 0004 343536373839");
    assert_true(x->done && x->end.verified);
    raw_free(r);
}

TEST(an_answer_echoes_the_timestamp_of_the_request) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    raw_hex(r, "23090000 00000007 000102030405060708090a0b0c0d0e0f 0004 3435");
    assert_sent(r, "24080000 00000007 000102030405060708090a0b0c0d0e0f"
                   " 0000 0006 0000 0003");
    raw_free(r);
}

/* Of simultaneous arrivals the highest provides the most information. */
TEST(one_answer_to_two_that_asked_is_that_to_the_higher) {
    static const char *const asked[] = {
        "23090000 00000007 0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a 0004 3435",
        "23090000 00000007 0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b 0000 3031"};
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    for (int i = 0; i < 2; i++) {
        struct hex h = unhex(asked[i]);
        saratoga_engine_recv(r->h->sim.engine, &r->peer, h.b, h.len,
                             host_now(r->h));
    }
    host_pump(r->h);
    assert_sent(r, "24080000 00000007 0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
                   " 0002 0006 0002 0003");
    raw_free(r);
}

TEST(a_refusal_is_a_status) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    raw_hex(r, "218f0001 00000009 7800");
    assert_sent(r, "24010004 00000009 0000 0000");
    raw_hex(r, "218f0009 0000000a 7800"); /* an unknown type */
    assert_sent(r, "2401000b 0000000a 0000 0000");
    raw_hex(r, "258f0009 0000000b 7800"); /* an unknown packet */
    assert_sent(r, "2401000a 0000000b 0000 0000");
    raw_free(r);
}

TEST(holes_are_repaired_before_new_data) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    struct disk_file *f = host_make_file(r->h, "e", 100, 1);
    const struct sent *s;
    uint64_t below = 0;
    (void)f;
    o.rate_bps = 10000;
    raw_hex(r, "218f0001 00000007 6500");
    raw_wait(r, 250 * MSEC);
    assert_true(r->n >= 4 && r->n < 12);
    r->seen = r->n;
    raw_hex(r, "24000000 00000007 0000 000c 0000 0003 0008 000b");
    raw_wait(r, 250 * MSEC);
    while ((s = raw_next(r)) != NULL && below < 2) {
        if (s->len > 10) {
            assert_int_equal(s->bytes[9], below == 0 ? 0 : 8);
            below++;
        }
    }
    assert_int_equal(below, 2);
    raw_free(r);
}

TEST(holes_are_listed_in_ascending_order) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    raw_hex(r, "23000000 00000007 0007 37");
    (void)raw_next(r);
    raw_hex(r, "23000000 00000007 0001 31");
    raw_hex(r, "23010000 00000007 0009 39");
    assert_sent(r, "24000000 00000007 0000 000a 0000 0000 0002 0006 0008 0008");
    raw_free(r);
}

TEST(the_body_of_a_failure_is_not_read) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    raw_hex(r, GET_D);
    raw_hex(r, "2401000e 00000007"); /* cut short, yet a failure */
    assert_true(r->h->xfers->done);
    assert_int_equal(r->h->xfers->end.error, SARATOGA_ERR_REFUSED);
    assert_int_equal(r->h->xfers->end.status, SARATOGA_NOT_INTERESTED);
    r->seen = r->n;
    raw_wait(r, 5 * SEC);
    assert_silent(r); /* it stops at once */
    raw_free(r);
}

TEST(stray_packets_are_answered_with_the_completed_status) {
    struct xfer *x;
    struct raw *r = receiver(&x);
    raw_hex(r, META_D);
    raw_hex(r, "23018000 00000007 0000 30313233343536373839");
    assert_true(x->done);
    assert_int_equal(
        saratoga_transfer_release(r->h->sim.engine, x->handle, host_now(r->h)),
        0);
    r->seen = r->n;
    for (int i = 0; i < 3; i++) {
        raw_wait(r, SEC);
        raw_hex(r, "23018000 00000007 000a");
        assert_sent(r, "24010000 00000007 000a 000a");
    }
    raw_wait(r, 10 * SEC);
    assert_silent(r);
    raw_free(r);
}

TEST(a_sender_stops_when_refused) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    struct xfer *x;
    o.rate_bps = 1000; /* more is to come for a while */
    o.payload = 2;
    x = raw_start(r, SARATOGA_BLIND_PUT, "d", &o, 7);
    raw_wait(r, SEC);
    assert_true(r->n > 0);
    assert_false(x->done);
    raw_hex(r, "24010005 00000007 0000 0000");
    assert_int_equal(x->end.error, SARATOGA_ERR_REFUSED);
    r->seen = r->n;
    raw_wait(r, 60 * SEC);
    assert_silent(r);
    raw_free(r);
}

TEST(unannounced_data_need_metadata) {
    struct raw *r = raw_new(NULL);
    raw_hex(r, "23018000 00000007 0000 3031");
    assert_sent(r, "24040000 00000007 0000 0000"); /* METADATA, please */
    raw_wait(r, 3 * SEC);
    assert_sent(r, "24050010 00000007 0000 0000");
    raw_free(r);
}

TEST(metadata_are_wanted_once_and_when_an_answer_is_asked_for) {
    struct raw *r = raw_new(NULL);
    raw_hex(r, "23000000 00000007 0000 3031");
    assert_sent(r, "24040000 00000007 0000 0000");
    raw_hex(r, "23000000 00000007 0002 3031");
    assert_silent(r);
    raw_hex(r, "23010000 00000007 0004 3031");
    assert_sent(r, "24040000 00000007 0000 0000");
    raw_free(r);
}

TEST(holes_around_a_wrapped_offset_go_in_two_lists) {
    saratoga_options o;
    struct xfer *x;
    struct raw *r = raw_new(NULL);
    uint8_t big[1024];
    saratoga_options_init(&o);
    o.window = 1 << 17;
    x = raw_get(r, "t", &o, 7);
    (void)raw_next(r);
    raw_hex(r, "22300000 00000007 8200 0000 00000000 00000000 7400");
    memset(big, 'x', sizeof(big));
    for (unsigned at = 0; at < 65536 - 1000; at += 1000) {
        uint8_t head[] = {0x23, 0x30, 0, 0, 0, 0, 0, 7, 0, 0};
        uint8_t pkt[1010];
        head[8] = (uint8_t)(at >> 8);
        head[9] = (uint8_t)at;
        memcpy(pkt, head, 10);
        memcpy(pkt + 10, big, 1000);
        raw_recv(r, pkt, 1010);
    }
    r->seen = r->n;
    raw_hex(r, "23310000 00000007 0100 6162"); /* 65792, behind the wrap */
    /* 65000 to 65535 are missing before it, 0 to 255 behind it. */
    assert_sent(r, "24020000 00000007 fde8 0102 fde8 ffff");
    assert_sent(r, "24020000 00000007 fde8 0102 0000 00ff");
    assert_false(x->done);
    raw_free(r);
}

static struct xfer *put_empty(struct raw *r, const saratoga_options *o) {
    (void)host_make_file(r->h, "e", 0, 1);
    return raw_start(r, SARATOGA_PUT, "e", o, 0x30);
}

/* Acceptance and completion of an empty file look alike.  What comes too soon
 * after the end to answer it is the former: the sender asks again. */
TEST(an_empty_file_is_asked_about_until_it_is_held) {
    static const char *const word = "24010000 00000030 0000 0000";
    struct raw *r = raw_new(NULL);
    saratoga_options o;
    struct xfer *x;
    saratoga_options_init(&o);
    o.timestamps = SARATOGA_TS_OFF;
    x = put_empty(r, &o);
    raw_wait(r, 400 * MSEC);
    raw_hex(r, word);
    raw_wait(r, MSEC);
    raw_hex(r, word);
    assert_false(x->done);
    r->seen = r->n;
    raw_wait(r, 3 * SEC);
    assert_sent(r, "23018000 00000030 0000");
    raw_hex(r, word);
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    raw_free(r);
}

/* Of several REQUESTs several acceptances come, one after the other, when the
 * sender knows no RTT: none of them says that the file is there. */
TEST(acceptances_do_not_complete_an_empty_file) {
    struct raw *r = raw_new(NULL);
    struct xfer *x = put_empty(r, NULL);
    const struct sent *poll = NULL;
    uint8_t done[28] = {0x24, 0x09, 0, 0, 0, 0, 0, 0x30};
    raw_wait(r, 3500 * MSEC); /* at 0, 1 and 3 s */
    for (uint64_t i = 0; i < 3; i++) {
        raw_hex(r, "24010000 00000030 0000 0000");
        assert_false(x->done);
        raw_wait(r, (i + 1) * SEC);
    }
    for (size_t i = 0; i < r->n; i++) {
        poll = r->sent[i].bytes[0] == 0x23 ? &r->sent[i] : poll;
    }
    assert_non_null(poll);
    memcpy(done + 8, poll->bytes + 8, 16);
    raw_recv(r, done, sizeof(done));
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    raw_free(r);
}

TEST(an_empty_file_is_said_to_be_held_with_an_echo) {
    struct raw *r = raw_new(NULL);
    struct xfer *x = raw_get(r, "e", NULL, 7);
    (void)raw_next(r);
    raw_hex(r, "22000000 00000007 8000 0000 21c86fea 21c86fea 6500");
    assert_sent(r, "24010000 00000007 0000 0000"); /* nothing to repeat yet */
    raw_hex(r, "23098000 00000007 000000005a35b380800000000000 0004 0000");
    assert_sent(
        r, "24090000 00000007 000000005a35b380800000000000 0004 0000 0000");
    assert_true(x->done);
    raw_free(r);
}

/* Who gets it has it with the METADATA, and is not there any more when the end
 * of the data comes. */
TEST(an_empty_file_is_held_by_who_knows_its_metadata) {
    static const char *const get = "218f0001 00000007 6500";
    saratoga_config c;
    struct raw *r;
    const struct sent *probe;
    uint8_t echo[28] = {0x24, 0x0c, 0, 0, 0, 0, 0, 7};
    saratoga_config_init(&c);
    r = raw_new(&c);
    (void)host_make_file(r->h, "e", 0, 1);
    raw_hex(r, get);
    probe = raw_next(r);
    assert_non_null(probe);
    memcpy(echo + 8, probe->bytes + 8, 16);
    raw_recv(r, echo, sizeof(echo));
    raw_hex(r, get);
    assert_int_equal(r->sent[r->n - 1].bytes[0], 0x22);
    assert_false(r->h->xfers->done);
    raw_hex(r, "24010000 00000007 0000 0000");
    assert_true(r->h->xfers->done);
    assert_int_equal(r->h->xfers->end.error, 0);
    raw_free(r);
}

#define CODE_AT 3 /* octet of a STATUS */
#define CODE_OF_NOBODY 0x13

static void assert_ends_by(struct raw *r, uint32_t code) {
    struct hex h = unhex("24010000 00000007 0000 0000");
    h.b[CODE_AT] = (uint8_t)code;
    raw_recv(r, h.b, h.len);
    assert_true(r->h->xfers->done && r->h->xfers->end.remote);
    assert_int_equal(r->h->xfers->end.error, SARATOGA_ERR_REFUSED);
    assert_int_equal(r->h->xfers->end.status, code);
    r->seen = r->n;
    raw_wait(r, 60 * SEC);
    assert_silent(r); /* also no STATUS in answer */
    raw_free(r);
}

TEST(any_code_but_0_ends_a_transfer_of_either_side) {
    saratoga_options o = plain();
    for (uint32_t code = 1; code <= CODE_OF_NOBODY; code++) {
        struct xfer *x;
        struct raw *r = server(&o);
        raw_hex(r, GET_D);
        raw_wait(r, 20 * MSEC);
        assert_ends_by(r, code);
        r = receiver(&x);
        raw_hex(r, META_D);
        raw_hex(r, "23000000 00000007 0000 30313233");
        assert_ends_by(r, code);
    }
}

static void assert_last_sent(const struct raw *r, const char *text) {
    const struct sent *s = &r->sent[r->n - 1];
    assert_octets(s->bytes, s->len, text);
}

TEST(a_member_that_receives_nothing_reports_it_at_the_end) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    struct xfer *x;
    raw_hex(r, GET_D);
    raw_wait(r, 60 * SEC);
    assert_last_sent(r, "2401000c 00000007 0000 0000");
    raw_free(r);
    r = receiver(&x);
    raw_hex(r, META_D);
    raw_wait(r, 60 * SEC);
    assert_last_sent(r, "24010012 00000007 0000 0000");
    assert_int_equal(x->end.error, SARATOGA_ERR_TIMEOUT);
    raw_free(r);
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(missing_metadata_are_reported),
        T(an_answer_echoes_the_timestamp_of_the_request),
        T(one_answer_to_two_that_asked_is_that_to_the_higher),
        T(a_refusal_is_a_status),
        T(an_empty_file_is_asked_about_until_it_is_held),
        T(acceptances_do_not_complete_an_empty_file),
        T(an_empty_file_is_said_to_be_held_with_an_echo),
        T(an_empty_file_is_held_by_who_knows_its_metadata),
        T(holes_are_repaired_before_new_data),
        T(holes_are_listed_in_ascending_order),
        T(the_body_of_a_failure_is_not_read),
        T(stray_packets_are_answered_with_the_completed_status),
        T(a_sender_stops_when_refused),
        T(unannounced_data_need_metadata),
        T(metadata_are_wanted_once_and_when_an_answer_is_asked_for),
        T(holes_around_a_wrapped_offset_go_in_two_lists),
        T(any_code_but_0_ends_a_transfer_of_either_side),
        T(a_member_that_receives_nothing_reports_it_at_the_end),
    };
    return cmocka_run_group_tests_name("conformance_status", tests, NULL, NULL);
}

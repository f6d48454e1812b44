/* SPDX-License-Identifier: MPL-2.0 */
/* Peers that deviate from the draft, and the profiles that take them as they
 * are. */
#include "tests/simnet/saratoga/raw.h"

/* A sender of "d" that was asked for it by a peer of that profile. */
static struct raw *sends_to(saratoga_options *o, uint32_t profile) {
    struct raw *r;
    *o = plain();
    assert_int_equal(saratoga_options_set_profile(o, profile), 0);
    r = server(o);
    raw_hex(r, GET_D);
    raw_wait(r, 20 * MSEC);
    return r;
}

/* NASA's in Perl says first that it saw all but the last octet, Vallona's only
 * that it lacks what lies behind that, with octets of nobody at the end. */
TEST(the_peers_announcement_of_the_end_is_understood) {
    static const struct {
        uint32_t profile;
        const char *status;
    } tells[] = {
        {SARATOGA_NASA_PERL, "24010000 00000007 000a 0009"},
        {SARATOGA_VALLONA, "24000000 00000007 0009 0000 6c6f"},
    };
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t profile = SARATOGA_DRAFT; profile <= SARATOGA_GO;
             profile++) {
            saratoga_options o;
            struct raw *r = sends_to(&o, profile);
            raw_hex(r, tells[i].status);
            assert_int_equal(r->h->xfers->done, profile == tells[i].profile);
            raw_free(r);
        }
    }
}

/* What it tells again when all is over, a hole that there is not, changes
 * nothing. */
TEST(a_stale_answer_after_the_end_is_ignored) {
    saratoga_options o;
    struct raw *r = sends_to(&o, SARATOGA_NASA_PERL);
    raw_hex(r, "24010000 00000007 000a 000a");
    assert_true(r->h->xfers->done);
    r->seen = r->n;
    raw_hex(r, "24000000 00000007 0007 0008 0008 000a");
    raw_wait(r, SEC);
    assert_silent(r);
    assert_int_equal(r->h->xfers->end.error, 0);
    raw_free(r);
}

/* The end of a hole is the first octet that is here, for those who mean that.
 */
TEST(holes_end_as_the_profile_has_it) {
    static const char *const lists[] = {
        "24000000 00000007 0004 000a 0004 0007",
        "24000000 00000007 0004 000a 0004 0008",
        "24000000 00000007 0004 000a 0004 0007",
        "24000000 00000007 0004 000a 0004 0008",
    };
    for (uint32_t profile = SARATOGA_DRAFT; profile <= SARATOGA_GO; profile++) {
        saratoga_options o = plain();
        struct raw *r = raw_new(NULL);
        assert_int_equal(saratoga_options_set_profile(&o, profile), 0);
        assert_non_null(raw_get(r, "d", &o, 7));
        raw_hex(r, META_D);
        raw_hex(r, "23000000 00000007 0000 30313233");
        r->seen = r->n;
        raw_hex(r, "23018000 00000007 0008 3839");
        assert_sent(r, lists[profile]);
        raw_free(r);
    }
}

/* Vallona's takes the width in the REQUEST for that of the transfer. */
TEST(the_width_asked_for_is_the_width_used) {
    saratoga_options o = plain();
    struct raw *r = raw_new(NULL);
    const struct sent *request;
    const struct sent *metadata;
    assert_int_equal(saratoga_options_set_profile(&o, SARATOGA_VALLONA), 0);
    (void)host_make_file(r->h, "d", 10, 1);
    assert_non_null(raw_start(r, SARATOGA_PUT, "d", &o, 7));
    request = raw_next(r);
    raw_hex(r, "24010000 00000007 0000 0000");
    metadata = raw_next(r);
    assert_non_null(request);
    assert_non_null(metadata);
    assert_int_equal(request->bytes[0], 0x21);
    assert_int_equal(metadata->bytes[0], 0x22);
    assert_int_equal(request->bytes[1] & 0xc0, metadata->bytes[1] & 0xc0);
    raw_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peers_announcement_of_the_end_is_understood),
        cmocka_unit_test(a_stale_answer_after_the_end_is_ignored),
        cmocka_unit_test(holes_end_as_the_profile_has_it),
        cmocka_unit_test(the_width_asked_for_is_the_width_used),
    };
    return cmocka_run_group_tests_name("profiles", tests, NULL, NULL);
}

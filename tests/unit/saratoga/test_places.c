/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/places.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "tests/support/cmocka.h"

static const uint8_t key[NET__KEY_LEN] = {1, 2, 3};

static net__addr address(const char *text) {
    net__addr a = {0};

    if (inet_pton(AF_INET6, text, &a.in6.sin6_addr) == 1) {
        a.sa.sa_family = AF_INET6;
    } else {
        a.sa.sa_family = AF_INET;
        assert_int_equal(inet_pton(AF_INET, text, &a.in4.sin_addr), 1);
    }
    return a;
}

static bool enter(struct saratoga__places *p, unsigned max, const char *text,
                  saratoga__place_key *place) {
    const net__addr a = address(text);

    return saratoga__places_enter(p, max, key, &a, place);
}

/* How many of 64 hosts get in whose addresses differ between two texts. */
static unsigned enter_many(struct saratoga__places *p, const char *before,
                           const char *after) {
    unsigned in = 0;

    for (unsigned i = 0; i < 64; i++) {
        saratoga__place_key place;
        char text[64];

        (void)snprintf(text, sizeof(text), "%s%02x%s", before, i + 1, after);
        in += enter(p, 16, text, &place) ? 1u : 0;
    }
    return in;
}

TEST(a_host_has_one_place_for_all_its_transfers) {
    struct saratoga__places p;
    saratoga__place_key a;
    saratoga__place_key b;
    saratoga__place_key c;

    (void)state;
    saratoga__places_init(&p);
    assert_true(enter(&p, 1, "192.0.2.1", &a));
    assert_true(enter(&p, 1, "192.0.2.1", &b));
    assert_false(enter(&p, 1, "192.0.2.2", &c));
    saratoga__places_leave(&p, &a);
    saratoga__places_leave(&p, &a); /* has none any more */
    assert_false(enter(&p, 1, "192.0.2.2", &c));
    saratoga__places_leave(&p, &b);
    assert_true(enter(&p, 1, "192.0.2.2", &c));
    saratoga__places_leave(&p, &c);
    assert_int_equal(p.count, 0);
    saratoga__places_free(&p);
}

TEST(without_a_limit_there_is_always_a_place) {
    struct saratoga__places p;
    saratoga__place_key place;

    (void)state;
    saratoga__places_init(&p);
    assert_true(enter(&p, 0, "2001:db8::1", &place));
    assert_true(enter(&p, 0, "192.0.2.1", &place));
    saratoga__places_free(&p);
}

static void networks_leave_places(const char *before, const char *after,
                                  unsigned most) {
    struct saratoga__places p;
    saratoga__place_key place;

    saratoga__places_init(&p);
    assert_int_equal(enter_many(&p, before, after), most);
    assert_true(enter(&p, 16, "2001:db8:ffff::1", &place));
    saratoga__places_free(&p);
}

TEST(no_network_takes_all_places) {
    (void)state;
    networks_leave_places("2001:db8:1:1::", "", 12);
    networks_leave_places("2001:db8:1:1", "::1", 14);
    networks_leave_places("2001:db8:1:", "00::1", 15);
}

TEST(hosts_that_leave_free_their_network) {
    struct saratoga__places p;
    saratoga__place_key first;
    saratoga__place_key place;

    (void)state;
    saratoga__places_init(&p);
    assert_true(enter(&p, 16, "2001:db8:1:1::ffff", &first));
    assert_int_equal(enter_many(&p, "2001:db8:1:1::", ""), 11);
    assert_false(enter(&p, 16, "2001:db8:1:1::eeee", &place));
    saratoga__places_leave(&p, &first);
    assert_true(enter(&p, 16, "2001:db8:1:1::eeee", &place));
    saratoga__places_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_has_one_place_for_all_its_transfers),
        cmocka_unit_test(without_a_limit_there_is_always_a_place),
        cmocka_unit_test(no_network_takes_all_places),
        cmocka_unit_test(hosts_that_leave_free_their_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

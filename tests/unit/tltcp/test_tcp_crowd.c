/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/socket/crowd.h"

#include "libtltcp/socket/tcp_link.h"
#include "tests/support/cmocka.h"

#define MANY 64u
#define EACH 8u
#define MOST 32u

struct rig {
    struct tltcp__crowd crowd;
    struct tltcp__link link[MANY];
    unsigned n;
};

static struct rig *rig_new(void) {
    struct rig *g = test_calloc(1, sizeof(*g));

    tltcp__crowd_init(&g->crowd);
    return g;
}

static void rig_free(struct rig *g) {
    while (g->crowd.oldest != NULL) {
        tltcp__crowd_remove(&g->crowd, g->crowd.oldest);
    }
    assert_int_equal(g->crowd.count, 0);
    for (int i = 0; i < SEC__BLOCKS; i++) {
        assert_int_equal(g->crowd.origins.of[i].len, 0);
    }
    tltcp__crowd_free(&g->crowd);
    test_free(g);
}

static tltcp_pktinfo ipv4(uint64_t host) {
    return (tltcp_pktinfo){.network = host};
}

/* Tokens that differ between the scales. */
static tltcp_pktinfo ipv6(uint64_t net48, uint64_t net56, uint64_t net64) {
    return (tltcp_pktinfo){.network = 1000000 * net48 + 1000 * net56 + net64,
                           .block56 = 1000000 * net48 + 1000 * net56 + 900,
                           .block48 = 1000000 * net48 + 900900};
}

static struct tltcp__link *add(struct rig *g, tltcp_pktinfo from) {
    struct tltcp__link *l = &g->link[g->n++];

    assert_true(g->n <= MANY);
    l->info = from;
    assert_true(tltcp__crowd_add(&g->crowd, l));
    return l;
}

static struct tltcp__link *yields(const struct rig *g, tltcp_pktinfo from) {
    return tltcp__crowd_yields(&g->crowd, &from, EACH, MOST);
}

TEST(while_there_is_room_nobody_yields) {
    struct rig *g = rig_new();

    assert_null(yields(g, ipv4(1)));
    assert_null(tltcp__crowd_first(&g->crowd));
    for (unsigned i = 0; i < EACH; i++) {
        assert_null(yields(g, ipv4(1)));
        (void)add(g, ipv4(1));
    }
    assert_null(yields(g, ipv4(2)));
    rig_free(g);
}

TEST(the_oldest_of_an_address_yields_to_its_next) {
    struct rig *g = rig_new();
    struct tltcp__link *oldest;

    (void)add(g, ipv4(2));
    oldest = add(g, ipv4(1));
    for (unsigned i = 1; i < EACH; i++) {
        (void)add(g, ipv4(1));
    }
    assert_ptr_equal(yields(g, ipv4(1)), oldest);
    tltcp__crowd_remove(&g->crowd, oldest);
    assert_null(yields(g, ipv4(1)));
    rig_free(g);
}

/* Few hosts take all places; those who have one each keep it. */
TEST(a_crowd_yields_to_who_comes_next) {
    struct rig *g = rig_new();
    struct tltcp__link *alone = add(g, ipv4(100));

    for (unsigned i = 0; g->crowd.count < MOST; i++) {
        (void)add(g, ipv4(1 + i % 5));
    }
    for (unsigned rounds = 0; rounds < MOST - 6; rounds++) {
        struct tltcp__link *l = yields(g, ipv4(200 + rounds));

        assert_non_null(l);
        assert_ptr_not_equal(l, alone);
        assert_in_range(l->info.network, 1, 5);
        tltcp__crowd_remove(&g->crowd, l);
        (void)add(g, ipv4(200 + rounds));
    }
    rig_free(g);
}

/* All have one each: nobody is worse than others. */
TEST(without_a_crowd_the_oldest_yields) {
    struct rig *g = rig_new();

    for (unsigned i = 0; i < MOST; i++) {
        (void)add(g, ipv4(1 + i));
    }
    assert_ptr_equal(yields(g, ipv4(100)), &g->link[0]);
    rig_free(g);
}

TEST(a_network_yields_to_its_next_and_to_others) {
    struct rig *g = rig_new();
    struct tltcp__link *distant = add(g, ipv6(2, 1, 1));
    struct tltcp__link *first = add(g, ipv6(1, 1, 1));

    for (unsigned i = 1; i < 2 * EACH; i++) {
        (void)add(g, ipv6(1, 1, 1 + i));
    }
    assert_ptr_equal(yields(g, ipv6(1, 1, 500)), first);
    assert_null(yields(g, ipv6(1, 2, 1)));
    for (unsigned i = 0; g->crowd.count < MOST; i++) {
        (void)add(g, ipv6(1, 3, i));
    }
    assert_ptr_not_equal(yields(g, ipv6(3, 1, 1)), distant);
    (void)add(g, ipv6(1, 3, 100));
    assert_ptr_equal(yields(g, ipv6(1, 4, 1)), first);
    rig_free(g);
}

/* Of a /56 the busiest /64 yields, not its neighbours. */
TEST(a_neighbour_keeps_its_place) {
    struct rig *g = rig_new();
    struct tltcp__link *alone = add(g, ipv6(1, 1, 1));

    while (g->crowd.count < 2 * EACH) {
        (void)add(g, ipv6(1, 1, 2 + g->crowd.count % 3));
    }
    for (unsigned i = 0; i < 2 * EACH - 4; i++) {
        struct tltcp__link *l = yields(g, ipv6(1, 1, 9));

        assert_non_null(l);
        assert_ptr_not_equal(l, alone);
        tltcp__crowd_remove(&g->crowd, l);
        (void)add(g, ipv6(1, 1, 9));
    }
    rig_free(g);
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(while_there_is_room_nobody_yields),
        T(the_oldest_of_an_address_yields_to_its_next),
        T(a_crowd_yields_to_who_comes_next),
        T(without_a_crowd_the_oldest_yields),
        T(a_network_yields_to_its_next_and_to_others),
        T(a_neighbour_keeps_its_place),
    };
    return cmocka_run_group_tests_name("tcp_crowd", tests, NULL, NULL);
}

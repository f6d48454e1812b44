/* SPDX-License-Identifier: MPL-2.0 */
#include "sim/net.h"
#include "tests/support/cmocka.h"

#define TIMERS 200
#define MS UINT64_C(1000000)

static uint64_t fired[TIMERS]; /* how often */
static size_t last;            /* timer that fired last */
static uint64_t last_at;

static void on_timer(struct sim_timer *t, uint64_t now) {
    struct sim_timer *first = t->user;
    last = (size_t)(t - first);
    assert_true(now >= last_at);
    assert_int_equal(now, t->at);
    last_at = now;
    fired[last]++;
}

TEST(timers_fire_in_order_whatever_is_armed_and_stopped) {
    static struct sim_timer timers[TIMERS];
    struct sim_loop loop = {0};
    struct sim_random r;
    uint64_t total = 0;
    sim_random_init(&r, 1);
    memset(fired, 0, sizeof(fired));
    last_at = 0;
    for (size_t i = 0; i < TIMERS; i++) {
        timers[i] = (struct sim_timer){.fire = on_timer, .user = timers};
    }
    for (int i = 0; i < 100000; i++) {
        struct sim_timer *t = &timers[sim_random_below(&r, TIMERS)];
        uint64_t at = loop.now + sim_random_below(&r, 50);
        switch (sim_random_below(&r, 4)) {
        case 0:
            sim_loop_stop(&loop, t);
            assert_int_equal(t->slot, 0);
            break;
        case 1:
            total += sim_loop_step(&loop, loop.now + 3);
            break;
        default:
            assert_true(sim_loop_arm(&loop, t, at));
            assert_int_not_equal(t->slot, 0);
            break;
        }
    }
    assert_int_equal(loop.fired, total);
    assert_true(total > 10000);
    sim_loop_run(&loop, loop.now + 100);
    assert_int_equal(loop.count, 0);
    sim_loop_free(&loop);
}

TEST(equal_times_fire_in_the_order_of_arming) {
    static struct sim_timer timers[TIMERS];
    struct sim_loop loop = {0};
    last_at = 0;
    for (size_t i = 0; i < TIMERS; i++) {
        timers[i] = (struct sim_timer){.fire = on_timer, .user = timers};
        assert_true(sim_loop_arm(&loop, &timers[i], 5));
    }
    for (size_t i = 0; i < TIMERS; i++) {
        assert_true(sim_loop_step(&loop, 10));
        assert_int_equal(last, i);
    }
    assert_false(sim_loop_step(&loop, 10));
    assert_int_equal(loop.now, 10);
    sim_loop_free(&loop);
}

/* Timers that arm, move and stop others as they fire, beside what is known to
 * be armed. */
struct busy {
    struct sim_loop loop;
    struct sim_timer timers[TIMERS];
    uint64_t due[TIMERS]; /* SIM_NEVER: idle */
    struct sim_random luck;
};

static void busy_arm(struct busy *b, size_t i, uint64_t at) {
    assert_true(sim_loop_arm(&b->loop, &b->timers[i], at));
    b->due[i] = at;
}

static void on_busy(struct sim_timer *t, uint64_t now) {
    struct busy *b = t->user;
    size_t self = (size_t)(t - b->timers);
    uint64_t count = sim_random_below(&b->luck, 4);
    assert_int_equal(now, b->due[self]);
    b->due[self] = SIM_NEVER;
    for (size_t i = 0; i < TIMERS; i++) {
        assert_true(b->due[i] >= now);
    }
    for (uint64_t i = 0; i < count; i++) {
        size_t other = sim_random_below(&b->luck, TIMERS);
        bool stop = sim_random_chance(&b->luck, 0.2);
        busy_arm(b, other,
                 stop ? SIM_NEVER : now + sim_random_below(&b->luck, 50));
    }
    if (sim_random_chance(&b->luck, 0.1)) { /* looks while it fires */
        uint64_t least = SIM_NEVER;
        for (size_t i = 0; i < TIMERS; i++) {
            least = b->due[i] < least ? b->due[i] : least;
        }
        assert_int_equal(sim_loop_next(&b->loop), least);
    }
}

TEST(timers_arm_and_stop_others_as_they_fire) {
    static struct busy b;
    sim_random_init(&b.luck, 2);
    for (size_t i = 0; i < TIMERS; i++) {
        b.timers[i] = (struct sim_timer){.fire = on_busy, .user = &b};
        busy_arm(&b, i, 0);
    }
    while (b.loop.fired < 50000) {
        if (!sim_loop_step(&b.loop, b.loop.now + 100)) {
            busy_arm(&b, 0, b.loop.now); /* all had stopped */
        }
    }
    sim_loop_free(&b.loop);
    for (size_t i = 0; i < TIMERS; i++) {
        assert_int_equal(b.timers[i].slot, 0);
    }
}

TEST(packets_of_a_pool_hold_nothing_of_those_before) {
    static const uint8_t zeroes[1600];
    static uint8_t ones[1600];
    struct sim_pool pool = {0};
    struct sim_packet *first = NULL;
    memset(ones, 1, sizeof(ones));
    for (size_t len = 0; len <= sizeof(ones); len += 100) {
        struct sim_packet *p = sim_pool_packet(&pool, ones, len);
        assert_non_null(p);
        p->wire = 7;
        p->ecn = SIM_ECN_CE;
        sim_packet_free(p);
        p = sim_pool_packet(&pool, NULL, len);
        assert_non_null(p);
        assert_int_equal(p->len, len);
        assert_int_equal(p->wire, 0);
        assert_int_equal(p->ecn, SIM_ECN_NOT);
        assert_memory_equal(p->data, zeroes, len);
        sim_packet_free(p);
    }
    first = sim_pool_packet(&pool, NULL, 1000);
    sim_packet_free(first);
    assert_ptr_equal(sim_pool_packet(&pool, NULL, 1200), first);
    sim_packet_free(first);
    sim_pool_free(&pool);
}

/* A host that counts, and answers when asked to. */
struct host {
    struct sim_net *net;
    uint32_t node;
    uint64_t got;
    uint64_t at;
    bool answers;
};

static void deliver(void *user, struct sim_packet *p, uint64_t now) {
    struct host *h = user;
    h->got++;
    h->at = now;
    if (h->answers) {
        uint64_t src = p->src;
        p->src = p->dst;
        p->dst = src;
        sim_net_send(h->net, h->node, p);
    } else {
        sim_packet_free(p);
    }
}

static void send(struct sim_net *n, uint32_t from, uint32_t to) {
    struct sim_packet *p = sim_packet_new("hello", 5);
    assert_non_null(p);
    p->src = sim_address(from, 1);
    p->dst = sim_address(to, 2);
    sim_net_send(n, from, p);
}

/* Hosts 0 and 1, routers 2 and 3, hosts 4 and 5: a dumbbell. */
static struct sim_net *dumbbell(struct host *h) {
    static const uint32_t ends[5][2] = {{0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}};
    struct sim_net *n = sim_net_new();
    struct sim_link_config c;
    assert_non_null(n);
    sim_link_config_init(&c);
    c.delay = 10 * MS;
    for (uint32_t i = 0; i < 6; i++) {
        bool router = i == 2 || i == 3;
        h[i] = (struct host){.net = n, .node = i};
        assert_int_equal(sim_net_add_node(n, router ? NULL : deliver, &h[i]),
                         i);
    }
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t there = sim_net_add_link(n, ends[i][0], ends[i][1], &c, 1);
        uint32_t back = sim_net_add_link(n, ends[i][1], ends[i][0], &c, 2);
        assert_int_equal(there, 2 * i);
        assert_int_equal(back, 2 * i + 1);
    }
    for (uint32_t dst = 4; dst < 6; dst++) { /* over the waist: links 4, 5 */
        assert_true(sim_net_route(n, 2, dst, 4));
        assert_true(sim_net_route(n, 3, dst - 4, 5));
    }
    return n;
}

TEST(packets_find_their_way_through_routers) {
    struct host h[6];
    struct sim_net *n = dumbbell(h);
    h[5].answers = true;
    send(n, 0, 5);
    send(n, 1, 4);
    sim_loop_run(sim_net_loop(n), 1000 * MS);
    assert_int_equal(h[5].got, 1);
    assert_int_equal(h[4].got, 1);
    assert_int_equal(h[4].at, 30 * MS);
    assert_int_equal(h[0].got, 1); /* the answer */
    assert_int_equal(h[0].at, 60 * MS);
    assert_int_equal(h[1].got, 0);
    sim_net_free(n);
}

static bool no_more_than_two(void *user, uint32_t link, struct sim_packet *p,
                             uint64_t now) {
    unsigned *seen = user;
    (void)p;
    (void)now;
    return link != 4 || ++*seen <= 2;
}

TEST(a_tap_sees_and_removes_packets) {
    struct host h[6];
    struct sim_net *n = dumbbell(h);
    unsigned seen = 0;
    sim_net_set_tap(n, no_more_than_two, &seen);
    for (int i = 0; i < 5; i++) {
        send(n, 0, 4);
    }
    sim_loop_run(sim_net_loop(n), 1000 * MS);
    assert_int_equal(seen, 5);
    assert_int_equal(h[4].got, 2);
    sim_net_free(n);
}

TEST(what_leads_nowhere_is_dropped) {
    struct host h[6];
    struct sim_net *n = dumbbell(h);
    send(n, 0, 2); /* a router */
    sim_net_set_node(n, 4, NULL, NULL);
    send(n, 0, 4);
    sim_loop_run(sim_net_loop(n), 1000 * MS);
    assert_int_equal(h[4].got, 0);
    send(n, 0, 5); /* still flying when the network goes */
    sim_net_free(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_in_order_whatever_is_armed_and_stopped),
        cmocka_unit_test(equal_times_fire_in_the_order_of_arming),
        cmocka_unit_test(timers_arm_and_stop_others_as_they_fire),
        cmocka_unit_test(packets_of_a_pool_hold_nothing_of_those_before),
        cmocka_unit_test(packets_find_their_way_through_routers),
        cmocka_unit_test(a_tap_sees_and_removes_packets),
        cmocka_unit_test(what_leads_nowhere_is_dropped),
    };
    return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}

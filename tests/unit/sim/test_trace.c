/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "sim/link.h"
#include "tests/support/cmocka.h"

#define MS UINT64_C(1000000)

static struct sim_trace *parse(const char *text) {
    char why[SIM_TRACE_WHY_MAX] = "";
    struct sim_trace *t = sim_trace_parse(text, strlen(text), why);
    assert_string_equal(why, "");
    assert_non_null(t);
    return t;
}

static struct sim_link *traced(const struct sim_trace *t, uint64_t start) {
    struct sim_link_config c;
    char why[SIM_WHY_MAX];
    struct sim_link *l;
    sim_link_config_init(&c);
    c.trace = t;
    c.trace_start = start;
    assert_true(sim_link_config_check(&c, why));
    l = sim_link_new(&c, 1);
    assert_non_null(l);
    return l;
}

static void put(struct sim_link *l, size_t len, uint64_t now) {
    struct sim_packet *p = sim_packet_new(NULL, len);
    assert_non_null(p);
    sim_link_send(l, p, now);
}

/* When the next packet arrives. */
static uint64_t arrival(struct sim_link *l) {
    struct sim_packet *p = NULL;
    uint64_t now = 0;
    while (p == NULL) {
        now = sim_link_next(l);
        assert_true(now != SIM_NEVER);
        p = sim_link_recv(l, now);
    }
    sim_packet_free(p);
    return now;
}

TEST(a_recording_repeats_after_its_last_line) {
    struct sim_trace *t = parse("2\n2\r\n5\n10");
    assert_true(sim_trace_length(t) == 10 * MS);
    assert_float_equal(sim_trace_rate(t), 4800000, 1);
    assert_true(sim_trace_time(t, 0) == 2 * MS);
    assert_true(sim_trace_time(t, 1) == 2 * MS);
    assert_true(sim_trace_time(t, 3) == 10 * MS);
    assert_true(sim_trace_time(t, 4) == 12 * MS);
    assert_true(sim_trace_time(t, 4003) == 10010 * MS);
    sim_trace_free(t);
}

TEST(an_opportunity_is_found_by_its_time) {
    static const char *const texts[] = {"2\n2\n5\n10", "0\n0\n7\n7\n", "1",
                                        "0\n3"};
    for (size_t i = 0; i < 4; i++) {
        struct sim_trace *t = parse(texts[i]);
        for (uint64_t at = 0; at < 50 * MS; at += MS / 4) {
            uint64_t n = sim_trace_find(t, at);
            assert_true(sim_trace_time(t, n) >= at);
            assert_true(n == 0 || sim_trace_time(t, n - 1) < at);
        }
        sim_trace_free(t);
    }
}

TEST(a_bad_recording_is_refused_with_its_line) {
    static const char *const wrong[][2] = {
        {"", "no line"},
        {"0\n0\n", "above 0"},
        {"1\n5\n4\n", "line 3 goes back"},
        {"1\nx\n", "line 2 is not"},
        {"1\n\n2\n", "line 2 is not"},
        {"1\n-2\n", "line 2 is not"},
        {"1.5\n", "line 1 is not"},
        {"1 2\n", "line 1 is not"},
        {"99999999999999999999999\n", "line 1 is not"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char why[SIM_TRACE_WHY_MAX] = "";
        assert_null(sim_trace_parse(wrong[i][0], strlen(wrong[i][0]), why));
        assert_non_null(strstr(why, wrong[i][1]));
    }
}

TEST(packets_leave_when_the_trace_lets_them) {
    struct sim_trace *t = parse("3\n4\n4\n10\n");
    struct sim_link *l = traced(t, 0);
    for (int i = 0; i < 5; i++) {
        put(l, 1500, 0);
    }
    assert_true(arrival(l) == 3 * MS);
    assert_true(arrival(l) == 4 * MS);
    assert_true(arrival(l) == 4 * MS);
    assert_true(arrival(l) == 10 * MS);
    assert_true(arrival(l) == 13 * MS);
    assert_int_equal(sim_link_offered_capacity(l, 13 * MS), 5 * 1500);
    sim_link_free(l);
    sim_trace_free(t);
}

TEST(packets_share_an_opportunity_and_may_need_several) {
    struct sim_trace *t = parse("1\n2\n3\n");
    struct sim_link *l = traced(t, 0);
    put(l, 500, 0);
    put(l, 900, 0);
    put(l, 1700, 0); /* 100 bytes of it at 1 ms, the last 100 at 3 ms */
    put(l, 1400, 0);
    assert_true(arrival(l) == 1 * MS);
    assert_true(arrival(l) == 1 * MS);
    assert_true(arrival(l) == 3 * MS);
    assert_true(arrival(l) == 3 * MS);
    assert_true(sim_link_next(l) == SIM_NEVER);
    sim_link_free(l);
    sim_trace_free(t);
}

TEST(an_unused_opportunity_is_lost) {
    struct sim_trace *t = parse("3\n4\n10\n");
    struct sim_link *l = traced(t, 0);
    put(l, 1500, 5 * MS);
    put(l, 1500, 5 * MS);
    assert_true(arrival(l) == 10 * MS);
    assert_true(arrival(l) == 13 * MS);
    put(l, 1500,
        1000003 * MS); /* long idle; with an opportunity, too late for it */
    assert_true(arrival(l) == 1000004 * MS);
    sim_link_free(l);
    sim_trace_free(t);
}

TEST(a_trace_begins_at_its_given_offset) {
    struct sim_trace *t = parse("3\n4\n10\n");
    struct sim_link *l = traced(t, 4 * MS);
    put(l, 1500, 0); /* the opportunity at 4 ms is now: it has passed */
    assert_true(arrival(l) == 6 * MS);
    sim_link_free(l);
    sim_trace_free(t);
}

TEST(a_trace_begins_when_it_comes_into_force_and_gives_way_to_a_rate) {
    struct sim_trace *t = parse("5\n5\n10\n");
    struct sim_link_config c;
    struct sim_link *l;
    sim_link_config_init(&c);
    c.rate = 12e6; /* 1500 bytes in 1 ms */
    l = sim_link_new(&c, 1);
    put(l, 1500, 0);
    assert_true(arrival(l) == MS);
    c.trace = t;
    sim_link_set(l, &c, 100 * MS);
    put(l, 3000, 100 * MS);
    put(l, 2000, 100 * MS);
    assert_true(arrival(l) == 105 * MS);
    assert_true(sim_link_next(l) == 110 * MS);
    assert_null(sim_link_recv(l, 110 * MS)); /* 1500 of 2000 are gone */
    c.trace = NULL;
    sim_link_set(l, &c, 111 * MS);
    assert_true(arrival(l) == 111 * MS);
    put(l, 1500, 120 * MS);
    assert_true(arrival(l) == 121 * MS);
    sim_link_free(l);
    sim_trace_free(t);
}

TEST(a_queue_of_a_trace_is_limited_in_bytes_packets_or_time) {
    struct sim_trace *t = parse("1\n2\n100\n");
    struct sim_link_config c;
    struct sim_link *l;
    sim_link_config_init(&c);
    c.trace = t;
    c.rule = SIM_QUEUE_WAITING;
    c.limit_bytes = 3000;
    for (int kind = 0; kind < 3; kind++) {
        c.limit_bytes = kind == 0 ? 3000 : 0;
        c.limit_packets = kind == 1 ? 2 : 0;
        c.limit_time = kind == 2 ? 50 * MS : 0;
        l = sim_link_new(&c, 1);
        for (int i = 0; i < 5; i++) {
            put(l, 1500, 0);
        }
        assert_int_equal(sim_link_stats(l)->dropped_queue, 3);
        sim_link_free(l);
    }
    sim_trace_free(t);
}

/* Random traffic over random recordings, with faults: nothing leaves that had
 * no opportunity, and a link that always has work wastes nothing. */
static void carry_random(uint64_t seed, bool greedy) {
    struct sim_random rnd;
    char text[4096];
    size_t used = 0;
    uint64_t ms = 0;
    uint64_t now = 0;
    struct sim_trace *t;
    struct sim_link *l;
    struct sim_link_config c;
    sim_random_init(&rnd, seed);
    for (int i = 0; i < 200; i++) {
        ms += sim_random_below(&rnd, 5) + (i == 199);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%u\n",
                                 (unsigned)ms);
    }
    t = parse(text);
    sim_link_config_init(&c);
    c.trace = t;
    c.trace_start = sim_random_below(&rnd, sim_trace_length(t));
    c.delay = 20 * MS;
    c.overhead = SIM_IP_UDP;
    if (!greedy) {
        c.loss = 0.1;
        c.duplicate = 0.05;
        c.limit_bytes = 20000;
    }
    l = sim_link_new(&c, seed);
    while (now < 3000 * MS) {
        struct sim_packet *p;
        if (!greedy || sim_link_waiting(l) < 50) {
            put(l, sim_random_below(&rnd, 2000), now);
        }
        now += greedy ? MS / 8 : sim_random_below(&rnd, 20 * MS);
        while ((p = sim_link_recv(l, now)) != NULL) {
            sim_packet_free(p);
        }
        assert_true(sim_link_stats(l)->wire_bytes <=
                    sim_link_offered_capacity(l, now));
    }
    if (greedy) { /* all but the first ms, and a packet under way */
        assert_true(sim_link_stats(l)->wire_bytes + 8 * 1500 + 2028 >=
                    sim_link_offered_capacity(l, now));
    }
    sim_link_free(l);
    sim_trace_free(t);
}

TEST(no_more_is_carried_than_the_trace_offers) {
    for (uint64_t seed = 1; seed <= 50; seed++) {
        carry_random(seed, false);
        carry_random(seed, true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_repeats_after_its_last_line),
        cmocka_unit_test(an_opportunity_is_found_by_its_time),
        cmocka_unit_test(a_bad_recording_is_refused_with_its_line),
        cmocka_unit_test(packets_leave_when_the_trace_lets_them),
        cmocka_unit_test(packets_share_an_opportunity_and_may_need_several),
        cmocka_unit_test(an_unused_opportunity_is_lost),
        cmocka_unit_test(a_trace_begins_at_its_given_offset),
        cmocka_unit_test(
            a_trace_begins_when_it_comes_into_force_and_gives_way_to_a_rate),
        cmocka_unit_test(
            a_queue_of_a_trace_is_limited_in_bytes_packets_or_time),
        cmocka_unit_test(no_more_is_carried_than_the_trace_offers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

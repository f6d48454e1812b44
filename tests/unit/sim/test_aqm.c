/* SPDX-License-Identifier: MPL-2.0 */
#include "sim/link.h"
#include "tests/support/cmocka.h"

#define MS UINT64_C(1000000)

static struct sim_link_config link_of_10_mbit(void) {
    struct sim_link_config c;
    sim_link_config_init(&c);
    c.rate = 10e6; /* 1000 bytes in 0.8 ms */
    c.rule = SIM_QUEUE_WAITING;
    c.limit_packets = 1000;
    return c;
}

struct load {
    uint64_t source;
    uint64_t gap; /* between packets of 1000 bytes, ns */
    enum sim_ecn ecn;
    uint64_t next;
    uint64_t sent;
    uint64_t arrived;
    uint64_t marked;
    uint64_t longest; /* wait, ns, in the second half */
};

static void load_take(struct load *loads, size_t n, const struct sim_packet *p,
                      uint64_t now, uint64_t half) {
    for (size_t i = 0; i < n; i++) {
        if (loads[i].source == p->src) {
            loads[i].arrived++;
            loads[i].marked += p->ecn == SIM_ECN_CE;
            if (now > half && now - p->sent > loads[i].longest) {
                loads[i].longest = now - p->sent;
            }
        }
    }
}

/* Several sources of constant rate into one link. */
static struct sim_link_stats run_loads(const struct sim_link_config *c,
                                       struct load *loads, size_t n,
                                       uint64_t until) {
    char why[SIM_WHY_MAX];
    struct sim_link *l;
    struct sim_link_stats stats;
    uint64_t now = 0;
    assert_true(sim_link_config_check(c, why));
    l = sim_link_new(c, 7);
    while (now < until) {
        struct sim_packet *p;
        uint64_t due = sim_link_next(l);
        for (size_t i = 0; i < n; i++) {
            due = loads[i].next < due ? loads[i].next : due;
        }
        now = due;
        while ((p = sim_link_recv(l, now)) != NULL) {
            load_take(loads, n, p, now, until / 2);
            sim_packet_free(p);
        }
        for (size_t i = 0; i < n; i++) {
            if (loads[i].next <= now) {
                p = sim_packet_new(NULL, 1000);
                p->src = loads[i].source;
                p->ecn = loads[i].ecn;
                loads[i].next += loads[i].gap;
                loads[i].sent++;
                sim_link_send(l, p, now);
            }
        }
    }
    stats = *sim_link_stats(l);
    sim_link_free(l);
    return stats;
}

/* ---- CoDel ---- */

TEST(codel_lets_a_short_queue_be) {
    struct sim_codel s = {0};
    struct sim_codel_config c;
    sim_codel_config_init(&c);
    for (uint64_t now = 0; now < 10000 * MS; now += MS) {
        assert_false(sim_codel_judge(&s, &c, now, 4 * MS, 100000));
        assert_false(sim_codel_judge(&s, &c, now, 50 * MS, 1500));
    }
}

TEST(codel_drops_after_an_interval_and_then_by_the_square_root) {
    static const uint64_t gaps[] = {100, 71, 58, 50, 45, 41};
    struct sim_codel s = {0};
    struct sim_codel_config c;
    uint64_t last = 0;
    size_t drops = 0;
    sim_codel_config_init(&c);
    for (uint64_t now = 1000 * MS; drops < 6; now += MS) {
        if (sim_codel_judge(&s, &c, now, 20 * MS, 100000)) {
            uint64_t expected =
                drops == 0 ? 1100 * MS : last + gaps[drops - 1] * MS;
            assert_true(now >= expected - MS && now <= expected + MS);
            last = now;
            drops++;
        }
    }
}

TEST(codel_remembers_its_rate_of_drops_for_a_while) {
    struct sim_codel s = {0};
    struct sim_codel_config c;
    uint64_t now = 1000 * MS;
    sim_codel_config_init(&c);
    for (; s.count < 10; now += MS) {
        (void)sim_codel_judge(&s, &c, now, 20 * MS, 100000);
    }
    assert_false(sim_codel_judge(&s, &c, now, MS, 100000));
    assert_false(s.dropping);
    for (; !s.dropping; now += MS) {
        (void)sim_codel_judge(&s, &c, now, 20 * MS, 100000);
    }
    assert_int_equal(s.count, 9); /* the ten less the one it began with */
    (void)sim_codel_judge(&s, &c, now, MS, 100000);
    now += 3000 * MS;
    for (; !s.dropping; now += MS) {
        (void)sim_codel_judge(&s, &c, now, 20 * MS, 100000);
    }
    assert_int_equal(s.count, 1);
}

TEST(codel_drops_without_ecn_and_marks_with_it) {
    struct sim_link_config c = link_of_10_mbit();
    struct load over = {.gap = 790000, .ecn = SIM_ECN_ECT0};
    struct load again = over;
    struct sim_link_stats s;
    c.codel_on = true;
    s = run_loads(&c, &over, 1, 10000 * MS);
    assert_true(s.dropped_aqm > 20);
    assert_int_equal(s.marked, 0);
    assert_int_equal(s.dropped_queue, 0);
    assert_true(over.longest < 40 * MS); /* 100 ms would come to stand */
    c.aqm_ecn = true;
    s = run_loads(&c, &again, 1, 10000 * MS);
    assert_int_equal(s.dropped_aqm, 0);
    assert_true(s.marked > 20);
    assert_true(again.marked > 0);
}

TEST(codel_drops_packets_that_are_not_ecn_capable) {
    struct sim_link_config c = link_of_10_mbit();
    struct load over = {.gap = 790000, .ecn = SIM_ECN_NOT};
    struct sim_link_stats s;
    c.codel_on = true;
    c.aqm_ecn = true;
    s = run_loads(&c, &over, 1, 10000 * MS);
    assert_true(s.dropped_aqm > 20);
    assert_int_equal(s.marked, 0);
}

/* ---- PIE ---- */

TEST(pie_holds_the_delay_near_its_target) {
    struct sim_link_config c = link_of_10_mbit();
    struct load over = {.gap = 600000};
    struct sim_link_stats s;
    c.pie_on = true;
    s = run_loads(&c, &over, 1, 30000 * MS);
    assert_true(s.dropped_aqm > 1000);
    assert_int_equal(s.dropped_queue, 0);
    assert_true(over.longest < 45 * MS);
    /* 10 of 13.3 Mbit/s pass, and no fewer */
    assert_true(over.arrived * 800 >= 29900 * 1000);
}

TEST(pie_marks_while_its_probability_is_low) {
    struct sim_link_config c = link_of_10_mbit();
    struct load over = {.gap = 780000, .ecn = SIM_ECN_ECT0};
    struct sim_link_stats s;
    c.pie_on = true;
    c.aqm_ecn = true;
    s = run_loads(&c, &over, 1, 5000 * MS);
    assert_true(s.marked > 5);
}

TEST(pie_lets_a_burst_pass_and_leaves_a_light_load_alone) {
    struct sim_link_config c = link_of_10_mbit();
    struct load light = {.gap = 1000000};
    struct load burst = {.gap = 100000};
    struct sim_link_stats s;
    c.pie_on = true;
    s = run_loads(&c, &light, 1, 10000 * MS);
    assert_int_equal(s.dropped_aqm, 0);
    s = run_loads(&c, &burst, 1, 100 * MS); /* within the 150 ms of grace */
    assert_int_equal(s.dropped_aqm, 0);
}

/* ---- fair queueing ---- */

TEST(flows_share_a_link_equally_whatever_they_offer) {
    struct sim_link_config c = link_of_10_mbit();
    struct load loads[] = {{.source = 1, .gap = 100000},
                           {.source = 2, .gap = 1000000},
                           {.source = 3, .gap = 300000}};
    c.fair_quantum = 1500;
    c.limit_packets = 100;
    (void)run_loads(&c, loads, 3, 10000 * MS);
    /* a third of 12500 packets each; the queue holds up to 100 more */
    for (size_t i = 0; i < 3; i++) {
        assert_true(loads[i].arrived > 4000 && loads[i].arrived < 4300);
    }
}

TEST(a_thin_flow_has_no_delay_and_no_loss) {
    struct sim_link_config c = link_of_10_mbit();
    struct load loads[] = {{.source = 1, .gap = 200000},
                           {.source = 2, .gap = 10000000}};
    c.fair_quantum = 1500;
    c.limit_packets = 100;
    (void)run_loads(&c, loads, 2, 10000 * MS);
    assert_true(loads[1].arrived + 1 >= loads[1].sent);
    assert_true(loads[1].longest < 4 * MS);
    assert_true(loads[0].longest > 15 * MS); /* it loses its oldest packets */
}

TEST(with_codel_each_flow_has_its_own) {
    struct sim_link_config c = link_of_10_mbit();
    struct load loads[] = {{.source = 1, .gap = 790000},
                           {.source = 2, .gap = 10000000}};
    c.fair_quantum = 1500;
    c.codel_on = true;
    (void)run_loads(&c, loads, 2, 10000 * MS);
    assert_true(loads[1].arrived + 1 >= loads[1].sent);
    assert_true(loads[0].arrived < loads[0].sent - 20);
}

TEST(fair_queueing_can_be_turned_off_while_packets_wait) {
    struct sim_link_config c = link_of_10_mbit();
    struct sim_link *l;
    struct sim_packet *p;
    uint64_t now;
    int n = 0;
    c.fair_quantum = 1500;
    l = sim_link_new(&c, 1);
    for (uint64_t i = 0; i < 20; i++) {
        if (i == 10) {
            c.fair_quantum = 0;
            sim_link_set(l, &c, 0);
        }
        p = sim_packet_new(NULL, 1000);
        p->src = i;
        sim_link_send(l, p, 0);
    }
    while ((now = sim_link_next(l)) != SIM_NEVER) {
        while ((p = sim_link_recv(l, now)) != NULL) {
            sim_packet_free(p);
            n++;
        }
    }
    assert_int_equal(n, 20);
    assert_int_equal(sim_link_waiting(l), 0);
    sim_link_free(l);
}

/* ---- policer ---- */

TEST(a_policer_passes_its_burst_and_then_its_rate) {
    struct sim_link_config c;
    struct load over = {.gap = 100000}; /* 80 Mbit/s */
    struct sim_link_stats s;
    sim_link_config_init(&c);
    c.police_rate = 8e6; /* one packet of 1000 bytes a ms */
    c.police_burst = 50000;
    s = run_loads(&c, &over, 1, 1000 * MS);
    assert_in_range(over.arrived, 1045, 1055);
    assert_true(s.dropped_police == s.offered - s.delivered ||
                s.dropped_police + 1 == s.offered - s.delivered);
}

/* ---- mistakes ---- */

TEST(incompatible_options_are_refused) {
    struct sim_link_config c = link_of_10_mbit();
    char why[SIM_WHY_MAX];
    c.codel_on = c.pie_on = true;
    assert_false(sim_link_config_check(&c, why));
    c = link_of_10_mbit();
    c.fair_quantum = 1500;
    c.lower_effort = true;
    assert_false(sim_link_config_check(&c, why));
    c = link_of_10_mbit();
    c.codel_on = true;
    c.codel.interval = c.codel.target;
    assert_false(sim_link_config_check(&c, why));
    c = link_of_10_mbit();
    c.police_rate = -1;
    assert_false(sim_link_config_check(&c, why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codel_lets_a_short_queue_be),
        cmocka_unit_test(
            codel_drops_after_an_interval_and_then_by_the_square_root),
        cmocka_unit_test(codel_remembers_its_rate_of_drops_for_a_while),
        cmocka_unit_test(codel_drops_without_ecn_and_marks_with_it),
        cmocka_unit_test(codel_drops_packets_that_are_not_ecn_capable),
        cmocka_unit_test(pie_holds_the_delay_near_its_target),
        cmocka_unit_test(pie_marks_while_its_probability_is_low),
        cmocka_unit_test(pie_lets_a_burst_pass_and_leaves_a_light_load_alone),
        cmocka_unit_test(flows_share_a_link_equally_whatever_they_offer),
        cmocka_unit_test(a_thin_flow_has_no_delay_and_no_loss),
        cmocka_unit_test(with_codel_each_flow_has_its_own),
        cmocka_unit_test(fair_queueing_can_be_turned_off_while_packets_wait),
        cmocka_unit_test(a_policer_passes_its_burst_and_then_its_rate),
        cmocka_unit_test(incompatible_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

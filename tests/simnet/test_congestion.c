/* SPDX-License-Identifier: MPL-2.0 */
/* Performance of the controllers over TLTCP on a path of the virtual
 * network. */
#include <string.h>

#include "sim/bulk.h"
#include "tests/support/cmocka.h"

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)

static struct sim_bulk_results results;

static void run(const struct sim_bulk_config *c) {
    int rv = sim_bulk_run(c, &results);
    if (rv != 0) {
        fail_msg("%s: %s", c->flow[0].congestion, tltcp_strerror(rv));
    }
}

/* 10 Mbit/s, 100 ms, a queue of one bandwidth-delay product. */
static double alone(const char *name, double loss, uint64_t seed) {
    struct sim_bulk_config c;
    sim_bulk_config_init(&c);
    c.flow[0].congestion = name;
    c.flows = 1;
    c.loss = loss;
    c.seed = seed;
    run(&c);
    return results.utilisation;
}

TEST(one_flow_fills_a_link_without_loss) {
    static const char *const names[] = {"auto",  "reno",     "newreno", "sack",
                                        "cubic", "westwood", "tibet",   "vegas",
                                        "fast",  "tfrc",     "stfrc",   "bbr"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        double u = alone(names[i], 0, 1);
        if (u < 0.9) {
            fail_msg("%s: %.3f", names[i], u);
        }
    }
}

TEST(bandwidth_estimation_outdoes_reno_under_loss) {
    static const char *const names[] = {"westwood", "tibet", "bbr", "auto"};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        double reno = alone("reno", 0.01, seed);
        for (size_t i = 0; i < 4; i++) {
            double u = alone(names[i], 0.01, seed);
            if (u < 2 * reno) {
                fail_msg("%s: %.3f, reno: %.3f", names[i], u, reno);
            }
        }
    }
}

TEST(a_sender_measures_what_a_receiver_reports) {
    static const double losses[] = {0.002, 0.01, 0.05};
    for (size_t i = 0; i < 3; i++) {
        double received = 0;
        double sent = 0;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            received += alone("tfrc", losses[i], seed);
            sent += alone("stfrc", losses[i], seed);
        }
        if (sent < 0.8 * received || sent > 1.25 * received) {
            fail_msg("%.3f lost: tfrc %.3f, stfrc %.3f", losses[i],
                     received / 3, sent / 3);
        }
    }
}

TEST(sender_based_tfrc_shares_with_sack) {
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct sim_bulk_config c;
        sim_bulk_config_init(&c);
        c.red = true;
        c.rtt = 40 * MS;
        c.flow[0].congestion = "stfrc";
        c.flow[1].congestion = "sack";
        c.flows = 2;
        c.seed = seed;
        run(&c);
        double ratio = results.flow[0].goodput / results.flow[1].goodput;
        if (ratio < 0.5 || ratio > 2 || results.utilisation < 0.8) {
            fail_msg("seed %d: %.3f", (int)seed, ratio);
        }
    }
}

static double default_on_a_radio(double loss, uint64_t seed) {
    struct sim_bulk_config c;
    sim_bulk_config_init(&c);
    c.rate = 6e6;
    c.rtt = 40 * MS;
    c.loss = loss;
    c.seconds = 40 * SEC;
    c.warmup = 10 * SEC;
    c.flow[0].congestion = "auto";
    c.flows = 1;
    c.seed = seed;
    run(&c);
    return results.utilisation;
}

TEST(the_default_survives_random_loss) {
    static const struct {
        double loss, least;
    } radio[] = {{0.02, 0.8}, {0.05, 0.7}};
    for (size_t i = 0; i < 2; i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            double used = default_on_a_radio(radio[i].loss, seed);
            if (used < radio[i].least) {
                fail_msg("%.2f, seed %d: %.3f", radio[i].loss, (int)seed, used);
            }
        }
    }
}

static double default_over(const char *other, double queue, uint64_t seed) {
    struct sim_bulk_config c;
    sim_bulk_config_init(&c);
    c.rtt = 40 * MS;
    c.queue = queue;
    c.seconds = 100 * SEC; /* CUBIC takes its time to converge */
    c.flow[0].congestion = "auto";
    c.flow[1].congestion = other;
    c.flows = 2;
    c.seed = seed;
    run(&c);
    return results.flow[0].goodput / results.flow[1].goodput;
}

TEST(the_default_shares_a_drop_tail_queue) {
    static const char *const others[] = {"reno", "cubic"};
    static const double queues[] = {0.2, 0.5, 1};
    for (size_t i = 0; i < 6; i++) {
        double ratio = default_over(others[i % 2], queues[i / 2], 1);
        if (ratio < 0.5 || ratio > 2) {
            fail_msg("beside %s, queue %.1f: %.3f", others[i % 2],
                     queues[i / 2], ratio);
        }
    }
}

/* So slow that the rate of one flow is hardly known. */
TEST(the_default_shares_a_slow_link_with_itself) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct sim_bulk_config c;
        double lost = 0;
        double sent = 0;
        sim_bulk_config_init(&c);
        c.rate = 200e3;
        c.rtt = 300 * MS;
        c.queue = 2;
        c.seconds = 100 * SEC;
        c.flow[0].congestion = c.flow[1].congestion = "auto";
        c.flows = 2;
        c.seed = seed;
        run(&c);
        for (int i = 0; i < c.flows; i++) {
            lost += (double)results.flow[i].stats.packets_lost;
            sent += (double)results.flow[i].stats.packets_sent;
        }
        if (lost > 0.15 * sent) {
            fail_msg("seed %d: %.0f of %.0f lost", (int)seed, lost, sent);
        }
    }
}

/* 10 ms of queue on a path of 200 ms are short, and no noise. */
TEST(the_default_sees_a_short_queue_on_a_fast_path) {
    struct sim_bulk_config c;
    sim_bulk_config_init(&c);
    c.rate = 50e6;
    c.rtt = 200 * MS;
    c.queue = 0.05;
    c.flow[0].congestion = "auto";
    c.flow[1].congestion = "cubic";
    c.flows = 2;
    run(&c);
    assert_true(results.flow[0].goodput < 4 * results.flow[1].goodput);
}

/* One loss-ridden flow; sends with an option of its controller set. */
static uint64_t sent_with(const char *name, const char *param, double value,
                          const tltcp_config *sender) {
    const char *params[] = {param, NULL};
    struct sim_bulk_config c;
    sim_bulk_config_init(&c);
    c.flow[0].congestion = name;
    c.flow[0].params = param != NULL ? params : NULL;
    c.flow[0].values = &value;
    c.flows = 1;
    c.loss = 0.05;
    c.seconds = 10 * SEC;
    c.warmup = 0;
    c.sender = sender;
    run(&c);
    return results.flow[0].stats.packets_sent;
}

#define RTO_READING "rto_as_dupack"

TEST(the_readings_of_the_papers_can_be_chosen) {
    static const struct {
        const char *name, *param;
        double value;
    } option[] = {{"yam", "eq_hold", 1},
                  {"yam", "per_round", 1},
                  {"yam", RTO_READING, 1},
                  {"yam", "chi", 0.5},
                  {"mod-westwoodnew", "literal", 1},
                  {"westwood", "plus", 0},
                  {"fast", "alpha", 5}};
    tltcp_config sender;
    tltcp_config_init(&sender);
    for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++) {
        /* where timeouts are common, and where each ACK gives an RTT */
        bool timeouts = strcmp(option[i].param, RTO_READING) == 0;
        sender.recovery = timeouts ? "dupack-reno" : "packet";
        uint64_t as_it_is = sent_with(option[i].name, NULL, 0, &sender);
        uint64_t changed = sent_with(option[i].name, option[i].param,
                                     option[i].value, &sender);
        if (changed == as_it_is) {
            fail_msg("%s %s changes nothing", option[i].name, option[i].param);
        }
    }
}

TEST(a_longer_least_rto_waits_longer) {
    tltcp_config sender;
    uint64_t sent[2];
    for (uint32_t i = 0; i < 2; i++) {
        tltcp_config_init(&sender);
        sender.recovery = "dupack-reno";
        sender.paper.rto_min_ms = i == 0 ? 200 : 1000; /* ns-2's, RFC 6298's */
        sent[i] = sent_with("reno", NULL, 0, &sender);
        assert_true(results.flow[0].stats.rto_count > 0);
    }
    assert_true(sent[1] < sent[0]);
}

TEST(equal_seeds_give_equal_results) {
    static struct sim_bulk_results first;
    (void)alone("bbr", 0.01, 7);
    first = results;
    (void)alone("bbr", 0.01, 7);
    assert_memory_equal(&first, &results, sizeof(first));
    (void)alone("bbr", 0.01, 8);
    assert_memory_not_equal(&first, &results, sizeof(first));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_flow_fills_a_link_without_loss),
        cmocka_unit_test(bandwidth_estimation_outdoes_reno_under_loss),
        cmocka_unit_test(a_sender_measures_what_a_receiver_reports),
        cmocka_unit_test(sender_based_tfrc_shares_with_sack),
        cmocka_unit_test(the_default_survives_random_loss),
        cmocka_unit_test(the_default_shares_a_drop_tail_queue),
        cmocka_unit_test(the_default_shares_a_slow_link_with_itself),
        cmocka_unit_test(the_default_sees_a_short_queue_on_a_fast_path),
        cmocka_unit_test(the_readings_of_the_papers_can_be_chosen),
        cmocka_unit_test(a_longer_least_rto_waits_longer),
        cmocka_unit_test(equal_seeds_give_equal_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The estimated bitrate, which encoders follow, when the path changes. */
#include "tests/simnet/world.h"

#define STEP (10 * SEC)
#define LOOK (100 * MS)
#define SETTLE (3 * SEC)
#define INTERVAL (40 * MS)
#define SHORT (40 * MS)
#define LONG (100 * MS)

static struct world w; /* large */

/* Link rates in turn, bit/s.  Climbing, nothing is lost before a step up. */
#define STEPS 3
static const double there_and_back[STEPS] = {4e6, 2e6, 4e6};
static const double climbing[STEPS] = {2e6, 4e6, 6e6};
static const double by_three[STEPS] = {2e6, 6e6, 2e6};
/* A picture is three packets here, and fewer after it. */
static const double thin[STEPS] = {1e6, 3e6, 1e6};

/* Of the link's rate, what is left for sections: headers of UDP, IP, packets
 * and chunks, with the CRC, taken off. */
#define PAYLOAD 0.955

/* An encoder that fills a share of the estimate; before there is one, 1 Mbit/s.
 */
static void follow(void *user, uint64_t number, tltcp_time now,
                   struct sim_section *s) {
    const double *share = user;
    uint64_t bps = end_stats(&w.end[CLIENT]).estimated_bps;
    double rate = bps > 0 ? (double)bps : 1e6;
    (void)number;
    s->len = (size_t)(*share * rate / 8 * (double)INTERVAL * 1e-9) + 1;
    s->deadline = now + 500 * MS;
}

static void set_rate(double rate) {
    uint32_t link = w.link[CLIENT];
    struct sim_link_config c = *sim_link_get(sim_net_link(w.net, link));
    c.rate = rate;
    sim_net_set_link(w.net, link, &c);
}

static void plan_steps(struct plan *p, const double *rates, uint64_t rtt) {
    plan_init(p, 1);
    for (int i = 0; i < 2; i++) {
        p->link[i].rate = rates[0];
        p->link[i].delay = rtt / 2;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = 50000;
    }
    p->source[CLIENT].sections = UINT64_MAX;
    p->keep_open = true;
    p->no_delivery_check = true;
    p->gives_up = true;
}

/* Plays the steps; asserts that SETTLE after each the estimate is right to
 * within 10 %, and stays so. */
static void follow_steps(const struct plan *p, const double *rates) {
    world_start(&w, p);
    for (size_t i = 0; i < STEPS; i++) {
        uint64_t begin = world_now(&w);
        set_rate(rates[i]);
        while (world_now(&w) - begin < STEP) {
            uint64_t age;
            double off;
            world_run_for(&w, LOOK);
            age = world_now(&w) - begin;
            off = (double)end_stats(&w.end[CLIENT]).estimated_bps /
                      (PAYLOAD * rates[i]) -
                  1;
            if (age > SETTLE && (off > 0.1 || off < -0.1)) {
                fail_msg("%.1f s after the step to %.0f bit/s the estimate is "
                         "off by %+.3f",
                         (double)age * 1e-9, rates[i], off);
            }
        }
    }
    assert_string_equal(w.why, "");
    world_close(&w);
}

TEST(a_greedy_sender_knows_the_rate) {
    struct plan p;
    plan_steps(&p, there_and_back, SHORT);
    follow_steps(&p, there_and_back);
}

static void plan_encoder(struct plan *p, const double *rates, uint64_t rtt) {
    static const double share = 0.9;
    plan_steps(p, rates, rtt);
    p->source[CLIENT].interval = INTERVAL;
    p->source[CLIENT].shape = follow;
    p->source[CLIENT].user = (void *)(uintptr_t)&share;
}

TEST(an_encoder_that_follows_gets_to_know_it) {
    struct plan p;
    plan_encoder(&p, there_and_back, SHORT);
    follow_steps(&p, there_and_back);
    plan_encoder(&p, climbing, SHORT);
    follow_steps(&p, climbing);
}

TEST(so_it_does_without_repair) {
    struct plan p;
    plan_encoder(&p, climbing, SHORT);
    p.config[CLIENT].fec = TLTCP_FEC_OFF;
    follow_steps(&p, climbing);
}

/* With repair, and without, whose packets would show what the path carries. */
static void follow_both(const double *rates, uint64_t rtt, double loss) {
    static const uint8_t repair[] = {TLTCP_FEC_AUTO, TLTCP_FEC_OFF};
    struct plan p;
    for (size_t i = 0; i < sizeof(repair); i++) {
        plan_encoder(&p, rates, rtt);
        p.config[CLIENT].fec = repair[i];
        p.link[CLIENT].loss = loss;
        follow_steps(&p, rates);
    }
}

TEST(a_step_of_three_over_a_tenth_of_a_second) {
    follow_both(by_three, LONG, 0);
}

TEST(a_step_of_three_among_random_losses) {
    follow_both(thin, SHORT, 0.01);
    follow_both(by_three, SHORT, 0.01);
}

TEST(a_path_that_carries_little) {
    follow_both(thin, SHORT, 0);
    follow_both(thin, LONG, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_greedy_sender_knows_the_rate),
        cmocka_unit_test(an_encoder_that_follows_gets_to_know_it),
        cmocka_unit_test(so_it_does_without_repair),
        cmocka_unit_test(a_step_of_three_over_a_tenth_of_a_second),
        cmocka_unit_test(a_step_of_three_among_random_losses),
        cmocka_unit_test(a_path_that_carries_little),
    };
    return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}

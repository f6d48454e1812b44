/* SPDX-License-Identifier: MPL-2.0 */
/* BBR against the vectors, and its walk through the states. */
#include "libcongestion/bbr.h"
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <math.h>
#include <string.h>

static struct bbr *state_of(const struct rig *r) {
    return RIG_STATE(r, struct bbr);
}

TEST(the_full_pipe_test_follows_its_vectors) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "bbr-1");
    rig_start(&r, "bbr", MS(100));
    for (size_t i = 0; i < v.rows; i++) {
        r.now += MS(100);
        rig_round(&r, 10, number_after(vectors_event(&v, i), "rate="));
        const struct bbr *b = state_of(&r);
        vectors_check(&v, i, "full_bw", b->full_bw);
        vectors_check(&v, i, "count", b->full_bw_count);
        assert_string_equal(b->full_bw_reached ? "yes" : "no",
                            vectors_text(&v, i, "full"));
    }
    assert_int_equal(state_of(&r)->state, BBR_PROBE_CRUISE);
    rig_stop(&r);
}

static enum bbr_state state_named(const char *name) {
    static const char *const names[] = {
        "Startup",        "Drain",      "ProbeBW_DOWN", "ProbeBW_CRUISE",
        "ProbeBW_REFILL", "ProbeBW_UP", "ProbeRTT"};
    for (int i = 0; i < 7; i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum bbr_state)i;
        }
    }
    fail_msg("no state %s", name);
    return BBR_STARTUP;
}

TEST(rate_and_window_of_every_state_follow_the_vectors) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "bbr-2");
    rig_start(&r, "bbr", MS(100));
    r.now = MS(100);
    rig_round(&r, 10, 1000);
    struct bbr *b = state_of(&r);
    b->full_bw_reached = true;
    for (size_t i = 0; i < v.rows; i++) {
        b->state = state_named(vectors_event(&v, i));
        cong__bbr_set_pacing(b, cong__bbr_pacing_gain(b));
        vectors_check(&v, i, "pacing", r.cc->pacing_rate);
        vectors_check(&v, i, "inflight_cap",
                      cong__bbr_bdp(b, cong__bbr_cwnd_gain(b)));
    }
    rig_stop(&r);
}

TEST(startup_heads_for_two_bdps_at_its_gain) {
    struct rig r;
    rig_start(&r, "bbr", -1);
    r.now = MS(100);
    r.rs.delivered = 4;
    rig_ack_rtt(&r, 0, MS(100));
    check_near(r.cc->pacing_rate, 2.77 * 4 / 0.1, 1e-9);
    rig_round(&r, 4, 1000);
    check_near(r.cc->pacing_rate, 2742.3, 1e-9);
    check_near(r.cc->cwnd, 8, 0.0);
    rig_stop(&r);
}

/* A flow whose probe of bandwidth is under way. */
static struct bbr *probing(struct rig *r, double target) {
    rig_start(r, "bbr", MS(100));
    r->now = MS(100);
    rig_round(r, 1, 10 * target);
    struct bbr *b = state_of(r);
    b->full_bw_reached = true;
    b->state = BBR_PROBE_UP;
    b->acks = BBR_ACKS_FEEDBACK;
    b->probe_sample = true;
    r->cc->cwnd = 250;
    return b;
}

static void lose(struct rig *r, double lost, double before, double of) {
    r->rs = (struct cong_rate_sample){
        .rate = 1000, .tx_in_flight = of, .lost = before + lost};
    r->ack.rs = &r->rs;
    r->ack.lost = lost;
    r->ack.flight = of;
    r->now += MS(1);
    rig_ack(r, 1);
    r->ack.lost = 0;
    r->ack.rs = NULL;
}

TEST(a_probe_that_loses_too_much_follows_its_vectors) {
    struct vectors v;
    vectors_read(&v, "bbr-3");
    for (int at_once = 0; at_once < 2; at_once++) {
        struct rig r;
        struct bbr *b = probing(&r, 100);
        double lost = number_after(vectors_event(&v, 0), "");
        double of = number_after(vectors_event(&v, 0), "lost of ");
        if (at_once) {
            lose(&r, lost, 0, of);
        } else {
            for (int i = 0; i < (int)lost; i++) {
                assert_int_equal(b->state, BBR_PROBE_UP);
                lose(&r, 1, i, of);
            }
        }
        vectors_check(&v, 0, "inflight_longterm", b->inflight_longterm);
        vectors_check(&v, 0, "headroom_cap", cong__bbr_with_headroom(b));
        assert_int_equal(b->state, BBR_PROBE_DOWN);
        rig_stop(&r);
    }
}

/* A path of 1000 bytes/s and 100 ms with room for a queue; a round per step. */
struct path {
    struct rig rig;
    double inflight;
    bool seen[7];
};

static void path_round(struct path *p) {
    struct rig *r = &p->rig;
    struct bbr *b = state_of(r);
    double rate = fmin(r->cc->pacing_rate, 10 * r->cc->cwnd);
    double got = fmin(rate, 1000) / 10;
    double queue = fmax(p->inflight - 100, 0);
    cong_time rtt = MS(100 + queue);
    r->now += MS(100);
    r->ack.rtt = rtt;
    r->ack.srtt = rtt;
    r->ack.flight = p->inflight + got;
    r->rs = (struct cong_rate_sample){.rate = 10 * got,
                                      .delivered = got,
                                      .tx_in_flight = p->inflight,
                                      .interval = rtt};
    r->ack.rs = &r->rs;
    r->ack.round = true;
    rig_ack(r, got);
    r->ack.rs = NULL;
    p->inflight = fmin(r->cc->cwnd, p->inflight + (rate - 10 * got) / 10);
    p->inflight = fmax(p->inflight, 1);
    p->seen[b->state] = true;
}

TEST(bbr_walks_through_all_states_and_fills_the_path) {
    struct path p = {.inflight = 10};
    rig_start(&p.rig, "bbr", MS(100));
    for (int i = 0; i < 600; i++) {
        path_round(&p);
    }
    for (int i = 0; i < 7; i++) {
        if (!p.seen[i] && i != BBR_DRAIN) {
            fail_msg("state %d was never seen", i);
        }
    }
    const struct bbr *b = state_of(&p.rig);
    check_near(b->max_bw, 1000, 1e-6);
    check_near(b->min_rtt, 0.1, 0.02);
    assert_true(p.rig.cc->cwnd >= 50 && p.rig.cc->cwnd < 500);
    rig_stop(&p.rig);
}

TEST(losses_outside_a_probe_lower_the_shortterm_bounds) {
    struct rig r;
    struct bbr *b = probing(&r, 100);
    b->state = BBR_PROBE_CRUISE;
    b->probe_sample = false;
    b->cycle_stamp = r.now;
    b->probe_wait = MS(60000);
    lose(&r, 1, 0, 250);
    assert_true(isinf(b->bw_shortterm)); /* the round is not over */
    r.rs = (struct cong_rate_sample){.rate = 600, .delivered = 60};
    r.ack.rs = &r.rs;
    r.ack.round = true;
    for (int i = 0; i < 3 && isinf(b->bw_shortterm); i++) {
        r.now += MS(100);
        rig_ack(&r, 60);
    }
    check_near(b->bw_shortterm, 1000, 1e-6); /* the highest of the round */
    rig_stop(&r);
}

TEST(a_timeout_leaves_one_segment_until_it_has_recovered) {
    struct rig r;
    (void)probing(&r, 100);
    rig_event(&r, CONG_RTO, 128, 128, 1);
    check_near(r.cc->cwnd, 1, 0.0);
    rig_event(&r, CONG_RECOVERED, 0, 0, 0);
    check_near(r.cc->cwnd, 250, 0.0);
    rig_stop(&r);
}

TEST(a_false_alarm_gives_startup_back) {
    struct rig r;
    rig_start(&r, "bbr", MS(100));
    r.now = MS(100);
    rig_round(&r, 10, 1000);
    double before = r.cc->cwnd;
    rig_event(&r, CONG_ECN, 10, 0, 1);
    assert_int_equal(state_of(&r)->state, BBR_DRAIN);
    rig_event(&r, CONG_UNDO, 10, 0, 0);
    assert_int_equal(state_of(&r)->state, BBR_STARTUP);
    assert_true(isinf(state_of(&r)->inflight_longterm));
    check_near(r.cc->cwnd, before, 0.0);
    rig_stop(&r);
}

TEST(a_slow_application_does_not_lower_the_bandwidth) {
    struct rig r;
    struct bbr *b = probing(&r, 100);
    r.rs = (struct cong_rate_sample){.rate = 10, .app_limited = true};
    r.ack.rs = &r.rs;
    r.ack.round = true;
    for (int i = 0; i < 50; i++) {
        r.now += MS(50);
        rig_ack(&r, 1);
    }
    check_near(b->max_bw, 1000, 1e-9);
    rig_stop(&r);
}

/* Others may fill it: three rounds are enough. */
TEST(drain_ends_although_the_queue_stays) {
    struct rig r;
    struct bbr *b = probing(&r, 100);
    b->state = BBR_DRAIN;
    b->drain_start = b->rounds;
    r.ack.flight = 500;
    for (int i = 0; i < 3; i++) {
        r.now += MS(100);
        rig_round(&r, 100, 1000);
        assert_int_equal(b->state, BBR_DRAIN);
    }
    r.now += MS(100);
    rig_round(&r, 100, 1000);
    assert_int_not_equal(b->state, BBR_DRAIN);
    rig_stop(&r);
}

TEST(a_probe_stopped_to_be_safe_is_made_again) {
    for (int lossy = 0; lossy < 2; lossy++) {
        struct rig r;
        struct bbr *b = probing(&r, 100);
        b->state = BBR_PROBE_DOWN;
        b->acks = BBR_ACKS_STOPPING;
        b->cycle_stamp = r.now;
        b->probe_wait = MS(60000);
        b->probe_precautionary = true;
        b->probe_too_high = lossy;
        r.now += MS(100);
        rig_round(&r, 100, 1000);
        assert_int_equal(b->state == BBR_PROBE_REFILL, !lossy);
        rig_stop(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_full_pipe_test_follows_its_vectors),
        cmocka_unit_test(rate_and_window_of_every_state_follow_the_vectors),
        cmocka_unit_test(startup_heads_for_two_bdps_at_its_gain),
        cmocka_unit_test(a_probe_that_loses_too_much_follows_its_vectors),
        cmocka_unit_test(bbr_walks_through_all_states_and_fills_the_path),
        cmocka_unit_test(losses_outside_a_probe_lower_the_shortterm_bounds),
        cmocka_unit_test(a_timeout_leaves_one_segment_until_it_has_recovered),
        cmocka_unit_test(a_false_alarm_gives_startup_back),
        cmocka_unit_test(a_slow_application_does_not_lower_the_bandwidth),
        cmocka_unit_test(drain_ends_although_the_queue_stays),
        cmocka_unit_test(a_probe_stopped_to_be_safe_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

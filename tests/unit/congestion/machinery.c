/* SPDX-License-Identifier: MPL-2.0 */
/* RTT, loss detection, delivery rate, pacer and PRR against the vectors. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <congestion/pacer.h>
#include <congestion/prr.h>
#include <congestion/rack.h>
#include <congestion/rate.h>
#include <congestion/rtt.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static double ms(cong_time t) {
    return (double)t / 1e6;
}

TEST(the_rtt_estimator_follows_its_vectors) {
    struct vectors v;
    struct cong_rtt slow;
    struct cong_rtt quick;
    vectors_read(&v, "rtt-1");
    cong_rtt_init(&slow, MS(1), MS(1000));
    cong_rtt_init(&quick, MS(1), MS(200));
    for (size_t i = 0; i < v.rows; i++) {
        cong_time sample = MS(number_after(vectors_event(&v, i), "rtt "));
        cong_rtt_sample(&slow, sample);
        cong_rtt_sample(&quick, sample);
        vectors_check(&v, i, "srtt", ms(quick.srtt));
        vectors_check(&v, i, "rttvar", ms(quick.rttvar));
        vectors_check(&v, i, "RTO1", ms(cong_rtt_rto(&slow)));
        vectors_check(&v, i, "RTO2", ms(cong_rtt_rto(&quick)));
    }
    assert_int_equal(quick.min_rtt, MS(80));
    assert_int_equal(quick.latest, MS(200));
}

TEST(the_rto_doubles_to_its_bound_and_a_sample_ends_that) {
    struct cong_rtt r;
    cong_rtt_init(&r, 0, MS(200));
    assert_int_equal(cong_rtt_rto(&r), MS(1000));
    r.backoff = 2;
    assert_int_equal(cong_rtt_rto(&r), MS(4000));
    r.backoff = 4000000000U;
    assert_int_equal(cong_rtt_rto(&r), MS(60000));
    cong_rtt_sample(&r, 0);
    cong_rtt_sample(&r, -5);
    assert_int_equal(r.srtt, -1);
    cong_rtt_sample(&r, INT64_MAX);
    assert_int_equal(cong_rtt_rto(&r), MS(60000));
    cong_rtt_init(&r, 0, MS(200));
    r.backoff = 3;
    cong_rtt_sample(&r, MS(100));
    assert_int_equal(r.backoff, 0);
    assert_int_equal(cong_rtt_rto(&r), MS(300));
}

struct rack_packet {
    cong_time sent;
    bool gone; /* delivered or lost */
};

/* Marks what is lost at `now`; gives the longest wait of the others. */
static cong_time rack_detect(const struct cong_rack *rack,
                             struct rack_packet *p, cong_time reo,
                             cong_time now, char *lost) {
    cong_time timer = -1;
    for (int i = 0; i < 4; i++) {
        cong_time at = cong_rack_deadline(rack, p[i].sent, reo);
        if (p[i].gone || at < 0) {
            continue;
        }
        if (at <= now) {
            p[i].gone = true;
            sprintf(lost, "%d", i + 1);
        } else if (at - now > timer) {
            timer = at - now;
        }
    }
    return timer;
}

TEST(rack_follows_its_vectors) {
    struct vectors v;
    struct cong_rack rack;
    struct rack_packet p[4] = {
        {MS(0), false}, {MS(10), false}, {MS(20), false}, {MS(30), false}};
    vectors_read(&v, "rack-1");
    cong_rack_init(&rack);
    cong_rack_reordered(&rack, false);
    cong_time reo = cong_rack_reo(&rack, MS(100), MS(100), false);
    assert_int_equal(reo, MS(25));
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        char lost[16] = "-";
        cong_time now = MS(number_after(event, "@"));
        if (contains(event, "sack")) {
            struct rack_packet *got = &p[(int)number_after(event, "sack ") - 1];
            got->gone = true;
            cong_rack_delivered(&rack, got->sent, now - got->sent);
        }
        cong_time timer = rack_detect(&rack, p, reo, now, lost);
        assert_string_equal(lost, vectors_text(&v, i, "lost"));
        vectors_check(&v, i, "timer_ms", ms(timer));
    }
}

TEST(rack_waits_longer_the_more_it_was_wrong) {
    struct cong_rack r;
    cong_rack_init(&r);
    assert_int_equal(cong_rack_deadline(&r, 5, 0), -1);
    assert_int_equal(cong_rack_reo(&r, MS(100), MS(100), true), 0);
    assert_int_equal(cong_rack_reo(&r, MS(100), MS(100), false), MS(25));
    cong_rack_reordered(&r, true);
    assert_int_equal(cong_rack_reo(&r, MS(100), MS(100), true), MS(50));
    for (int i = 0; i < 1000; i++) {
        cong_rack_reordered(&r, true);
    }
    assert_int_equal(cong_rack_reo(&r, MS(100), MS(120), true), MS(120));
    for (int i = 0; i < 16; i++) {
        cong_rack_recovered(&r);
    }
    assert_int_equal(cong_rack_reo(&r, MS(100), MS(120), true), MS(25));
}

TEST(a_tail_probe_leaves_after_two_rtts_or_with_the_rto) {
    assert_int_equal(cong_rack_pto(-1, MS(3000), 0, false), MS(1000));
    assert_int_equal(cong_rack_pto(MS(100), MS(300), MS(25), false), MS(200));
    assert_int_equal(cong_rack_pto(MS(100), MS(300), MS(25), true), MS(225));
    assert_int_equal(cong_rack_pto(MS(200), MS(300), MS(25), true), MS(300));
}

/* Acknowledges "P3,P4,P5" of "ack P3,P4,P5 @140 ms". */
static double rate_deliver(struct cong_rate *r,
                           const struct cong_rate_snapshot *snap,
                           const char *event, cong_time now) {
    for (const char *p = strchr(event, 'P'); p != NULL;
         p = strchr(p + 1, 'P')) {
        cong_rate_on_acked(r, &snap[p[1] - '1'], 1000, now);
    }
    return r->delivered;
}

TEST(the_rate_sampler_follows_its_vectors) {
    struct vectors v;
    struct cong_rate r;
    struct cong_rate_snapshot snap[6];
    struct cong_rate_sample rs;
    vectors_read(&v, "rate-1");
    cong_rate_init(&r);
    for (int i = 0; i < 6; i++) {
        cong_rate_on_sent(&r, &snap[i], 1000.0 * i, 1000, MS(10 * i));
    }
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        cong_time now = MS(number_after(event, "@"));
        vectors_check(&v, i, "delivered", rate_deliver(&r, snap, event, now));
        vectors_check(&v, i, "send_el", ms(r.send_elapsed) / 1000);
        vectors_check(&v, i, "ack_el", ms(r.ack_elapsed) / 1000);
        assert_true(cong_rate_sample(&r, MS(100), &rs));
        vectors_check(&v, i, "rate_Bps", rs.rate);
        check_near(rs.rate * ms(rs.interval) / 1000, rs.delivered, 1e-6);
    }
    check_near(rs.tx_in_flight, 6000, 0.0);
}

TEST(the_rate_sampler_knows_when_the_application_was_slow) {
    struct cong_rate r;
    struct cong_rate_snapshot a;
    struct cong_rate_snapshot b;
    struct cong_rate_sample rs;
    cong_rate_init(&r);
    cong_rate_on_sent(&r, &a, 0, 1000, MS(0));
    cong_rate_app_limited(&r, 1000);
    cong_rate_on_sent(&r, &b, 1000, 1000, MS(1));
    cong_rate_on_acked(&r, &a, 1000, MS(100));
    assert_true(cong_rate_sample(&r, MS(100), &rs));
    assert_false(rs.app_limited);
    cong_rate_on_lost(&r, 500);
    cong_rate_on_acked(&r, &b, 1000, MS(101));
    assert_true(cong_rate_sample(&r, MS(100), &rs));
    assert_true(rs.app_limited);
    check_near(rs.lost, 500, 0.0);
    check_near(r.app_limited, 0, 0.0);
    assert_false(cong_rate_sample(&r, MS(100), &rs));
}

TEST(the_rate_sampler_gives_nothing_for_less_than_an_rtt) {
    struct cong_rate r;
    struct cong_rate_snapshot a;
    struct cong_rate_sample rs;
    cong_rate_init(&r);
    cong_rate_on_sent(&r, &a, 0, 1000, MS(0));
    cong_rate_on_acked(&r, &a, 1000, MS(60));
    assert_false(cong_rate_sample(&r, MS(100), &rs));
    cong_rate_on_sent(&r, &a, 0, 1000, MS(70));
    cong_rate_on_acked(&r, &a, 1000, MS(70));
    assert_false(cong_rate_sample(&r, -1, &rs));
}

TEST(the_pacer_follows_its_vectors) {
    struct vectors v;
    struct cong_pacer p;
    vectors_read(&v, "pace-1");
    cong_pacer_init(&p);
    cong_pacer_set(&p, 80000, 1000);
    for (size_t i = 0; i < v.rows; i++) {
        cong_time now = MS(1000 * number_after(vectors_event(&v, i), "@"));
        assert_int_equal(cong_pacer_next(&p, now), now);
        cong_pacer_sent(&p, 1000, now);
        vectors_check(&v, i, "t_next", ms(p.t_next) / 1000);
        vectors_check(&v, i, "t_ipi", 1000 / p.rate);
    }
}

/* Sends packets of one size while the pacer lets them leave, at most `most`. */
static uint64_t pace_one_by_one(struct cong_pacer *p, double size,
                                uint64_t most, cong_time now) {
    uint64_t n = 0;
    while (n < most && cong_pacer_next(p, now) <= now) {
        cong_pacer_sent(p, size, now);
        n++;
    }
    return n;
}

TEST(a_burst_is_paced_as_its_packets_would_be) {
    const double rates[] = {0, 1, 3e4, 1.7e6, 4e8, 1e12};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct cong_pacer one;
        struct cong_pacer all;
        cong_time now = MS(5);
        cong_pacer_init(&one);
        cong_pacer_set(&one, rates[i], 10000);
        all = one;
        for (uint64_t k = 0; k < 2000; k++) {
            double size = (double)(100 + k * 7 % 1300);
            uint64_t most = 1 + k % 50;
            uint64_t n = pace_one_by_one(&one, size, most, now);
            if (n > 0) {
                uint64_t burst = cong_pacer_burst(&all, size, now);
                assert_int_equal(n, burst < most ? burst : most);
            }
            cong_pacer_sent_burst(&all, size, n, now);
            assert_true(one.t_next == all.t_next && one.t_base == all.t_base &&
                        one.t_sent == all.t_sent && !(one.size != all.size));
            now += (cong_time)(k * k * 977 % 3000000);
        }
    }
}

TEST(the_pacer_lets_a_higher_rate_act_at_once) {
    struct cong_pacer p;
    cong_pacer_init(&p);
    cong_pacer_sent(&p, 1000, MS(5));
    assert_int_equal(cong_pacer_next(&p, MS(5)), MS(5));
    cong_pacer_set(&p, 1000.0 / 64, 0);
    assert_int_equal(cong_pacer_next(&p, MS(6)), MS(64005));
    cong_pacer_set(&p, 100000, 0);
    assert_int_equal(cong_pacer_next(&p, MS(6)), MS(15));
    cong_pacer_set(&p, 0, 0);
    assert_int_equal(cong_pacer_next(&p, MS(6)), MS(6));
}

TEST(a_window_is_paced_over_the_smoothed_rtt) {
    struct rig r;
    rig_start_sized(&r, "reno", 1000, (double)INFINITY, -1);
    r.cc->cwnd = 10000;
    check_near(cong_pacing_rate(r.cc, -1), 0, 0.0);
    check_near(cong_pacing_rate(r.cc, MS(100)), 200000, 1e-6);
    r.cc->ssthresh = 10000;
    check_near(cong_pacing_rate(r.cc, MS(100)), 120000, 1e-6);
    r.cc->pacing_max = 110000;
    check_near(cong_pacing_rate(r.cc, MS(100)), 110000, 1e-6);
    r.cc->pacing_rate = 7;
    check_near(cong_pacing_rate(r.cc, MS(100)), 7, 0.0);
    rig_stop(&r);
}

/* A sender of 20 segments of which the first is lost; one SACK per row. */
struct sack_flow {
    double pipe;
    unsigned retransmitted;
    unsigned sent;
    char what[8];
};

static void sack_send(struct sack_flow *f, double cwnd, bool lost) {
    strcpy(f->what, ".");
    while (cwnd - f->pipe >= 1) {
        bool repair = lost && f->retransmitted == 0;
        strcpy(f->what, repair ? "R" : "N");
        f->retransmitted += repair;
        f->sent++;
        f->pipe += 1;
    }
}

/* Engine "sack" of RFC 6675: the window falls at once, then pipe decides. */
static void check_6675(const struct vectors *v) {
    struct sack_flow f = {.pipe = 20};
    double cwnd = 20;
    for (size_t i = 0; i < v->rows; i++) {
        f.pipe -= 1;
        if (i == 2) {
            cwnd = 10;
            f.pipe -= 1; /* the hole is lost */
            f.pipe += 1; /* and sent again, whatever the window says */
            f.retransmitted = 1;
            strcpy(f.what, "R");
        } else {
            sack_send(&f, cwnd, i > 2);
        }
        assert_string_equal(f.what, v->cell[i][3]);
        check_near(cwnd, number_after(v->cell[i][1], ""), 0.0);
        check_near(f.pipe, number_after(v->cell[i][2], ""), 0.0);
    }
}

static void check_prr(const struct vectors *v) {
    struct sack_flow f = {.pipe = 20};
    struct cong_prr prr;
    double cwnd = 20;
    for (size_t i = 0; i < v->rows; i++) {
        f.pipe -= 1;
        bool open = i >= 2;
        if (i == 2) {
            cong_prr_enter(&prr, 20);
            f.pipe -= 1;
        }
        if (open) {
            cong_prr_ack(&prr, 1, f.pipe, 10, 1, false);
            cwnd = prr.cwnd;
        }
        f.sent = 0;
        sack_send(&f, cwnd, open);
        if (open) {
            cong_prr_sent(&prr, f.sent);
        }
        assert_string_equal(f.what, v->cell[i][6]);
        check_near(cwnd, number_after(v->cell[i][4], ""), 0.0);
        check_near(f.pipe, number_after(v->cell[i][5], ""), 0.0);
    }
}

TEST(sack_recovery_follows_its_vectors_with_and_without_prr) {
    struct vectors v;
    vectors_read(&v, "sack-1");
    check_6675(&v);
    check_prr(&v);
}

TEST(prr_sends_the_first_repair_whatever_the_numbers_say) {
    struct cong_prr p;
    cong_prr_enter(&p, 0);
    cong_prr_ack(&p, 0, 0, 0, 1000, false);
    check_near(p.cwnd, 1000, 0.0);
    cong_prr_sent(&p, 1000);
    cong_prr_ack(&p, 0, 1000, 500, 1000, false);
    check_near(p.cwnd, 1000, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rtt_estimator_follows_its_vectors),
        cmocka_unit_test(the_rto_doubles_to_its_bound_and_a_sample_ends_that),
        cmocka_unit_test(rack_follows_its_vectors),
        cmocka_unit_test(rack_waits_longer_the_more_it_was_wrong),
        cmocka_unit_test(a_tail_probe_leaves_after_two_rtts_or_with_the_rto),
        cmocka_unit_test(the_rate_sampler_follows_its_vectors),
        cmocka_unit_test(the_rate_sampler_knows_when_the_application_was_slow),
        cmocka_unit_test(the_rate_sampler_gives_nothing_for_less_than_an_rtt),
        cmocka_unit_test(the_pacer_follows_its_vectors),
        cmocka_unit_test(a_burst_is_paced_as_its_packets_would_be),
        cmocka_unit_test(the_pacer_lets_a_higher_rate_act_at_once),
        cmocka_unit_test(a_window_is_paced_over_the_smoothed_rtt),
        cmocka_unit_test(
            sack_recovery_follows_its_vectors_with_and_without_prr),
        cmocka_unit_test(prr_sends_the_first_repair_whatever_the_numbers_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

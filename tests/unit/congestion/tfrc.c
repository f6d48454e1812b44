/* SPDX-License-Identifier: MPL-2.0 */
/* TFRC's equation, sender and loss history against the vectors. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <congestion/loss_history.h>
#include <congestion/stfrc.h>
#include <congestion/tfrc.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S 1000

TEST(the_equation_follows_its_vectors) {
    struct vectors v;
    vectors_read(&v, "tfrc-eq");
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        double s = number_after(event, "s=");
        cong_time rtt = MS(1000 * number_after(event, "R="));
        double p = number_after(event, "p=");
        vectors_check(&v, i, "b=1", cong_tfrc_rate(s, rtt, p, 1));
        vectors_check(&v, i, "b=2", cong_tfrc_rate(s, rtt, p, 2));
    }
}

TEST(the_inverse_follows_its_vectors) {
    struct vectors v;
    vectors_read(&v, "tfrc-inv");
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        double s = number_after(event, "s=");
        cong_time rtt = MS(1000 * number_after(event, "R="));
        double rate = number_after(event, "X=");
        double p = cong_tfrc_loss_rate(s, rtt, rate, 1);
        vectors_check(&v, i, "p", p);
        vectors_check(&v, i, "1/p", 1 / p);
        vectors_check(&v, i, "1/p", cong_tfrc_first_interval(s, rtt, rate));
    }
}

TEST(the_inverse_stays_between_its_bounds) {
    check_near(cong_tfrc_loss_rate(S, MS(100), 1e30, 1), 1e-9, 1e-20);
    check_near(cong_tfrc_loss_rate(S, MS(100), 0, 1), 1, 1e-12);
    assert_true(isinf(cong_tfrc_rate(S, MS(100), 0, 1)));
    assert_true(cong_tfrc_rate(S, 0, 0.1, 1) > 0);
    assert_true(cong_tfrc_first_interval(S, MS(100), (double)NAN) > 1);
}

/* Intervals "3 12 12 26": the open one, then closed ones, newest first. */
static void read_intervals(struct cong_loss_history *h, const char *text) {
    cong_loss_history_init(h);
    h->lossy = true;
    char *end;
    unsigned n = 0;
    double x = strtod(text, &end);
    while (end != text) {
        h->interval[n++] = x;
        text = end;
        x = strtod(text, &end);
    }
    h->closed = n - 1;
}

TEST(the_average_loss_interval_follows_its_vectors) {
    struct vectors v;
    vectors_read(&v, "tfrc-ali");
    for (size_t i = 0; i < v.rows; i++) {
        struct cong_loss_history h;
        read_intervals(&h, vectors_event(&v, i));
        double mean = cong_loss_history_mean(&h);
        vectors_check(&v, i, "mean", mean);
        vectors_check(&v, i, "p", cong_loss_history_rate(&h));
        h.interval[0] = 0;
        const char *used = mean > cong_loss_history_mean(&h) ? "yes" : "no";
        assert_string_equal(used, vectors_text(&v, i, "open_used"));
    }
}

TEST(history_discounting_follows_its_vectors) {
    struct vectors v;
    struct cong_loss_history h;
    vectors_read(&v, "tfrc-disc");
    read_intervals(&h, "0 40 40 40 40 40 40 40 40");
    h.start = 1000;
    for (size_t i = 0; i < v.rows; i++) {
        double open = number_after(vectors_event(&v, i), "I0=");
        cong_loss_history_received(&h, h.start + (uint64_t)open - 1);
        vectors_check(&v, i, "DF", h.factor);
        vectors_check(&v, i, "mean", cong_loss_history_mean(&h));
        vectors_check(&v, i, "p", cong_loss_history_rate(&h));
    }
}

TEST(discounts_stay_with_the_intervals_when_a_loss_comes) {
    struct cong_loss_history h;
    read_intervals(&h, "0 40 40 40 40 40 40 40 40");
    h.start = 1000;
    cong_loss_history_received(&h, 1000 + 400 - 1);
    assert_true(cong_loss_history_lost(&h, 1400, MS(1000), MS(100), 1));
    /* 400 closed at full weight, the others at a quarter. */
    check_near(cong_loss_history_mean(&h),
               (400 + 0.25 * 40 * 5) / (1 + 0.25 * 5), 1e-9);
    check_near(h.interval[0], 1, 0.0);
    check_near(h.interval[1], 400, 0.0);
}

static void report(struct rig *r, double at, double rtt, double p,
                   double x_recv) {
    r->now = MS(1000 * at);
    r->ack.p = p;
    r->ack.x_recv = x_recv;
    rig_ack_rtt(r, S, MS(1000 * rtt));
}

TEST(the_sender_follows_its_vectors) {
    struct vectors v;
    struct rig r;
    vectors_read(&v, "tfrc-snd");
    rig_start_sized(&r, "tfrc", S, (double)INFINITY, -1);
    assert_true(isinf(r.cc->cwnd));
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        if (contains(event, "fb @")) {
            report(&r, number_after(event, "@"), number_after(event, "rtt="),
                   number_after(event, "p="), number_after(event, "X_recv="));
        } else if (contains(event, "nofeedback")) {
            rig_event(&r, CONG_NOFEEDBACK, S, 0, 1);
        }
        double timer = (double)r.cc->feedback_timeout / 1e9;
        vectors_check(&v, i, "R", timer / 4);
        vectors_check(&v, i, "X", r.cc->pacing_rate);
        vectors_check(&v, i, "t_nofb", timer);
    }
    rig_stop(&r);
}

/* A sender whose set holds nothing but x_recv. */
static void steady(struct rig *r, double p, double x_recv) {
    rig_start_sized(r, "stfrc", S, (double)INFINITY, MS(100));
    for (int i = 1; i <= 8; i++) {
        report(r, 0.11 * i, 0.1, i < 7 ? 0 : p, x_recv);
    }
}

TEST(the_nofeedback_timer_follows_its_vectors) {
    struct vectors v;
    struct rig r = {.cc = NULL};
    vectors_read(&v, "tfrc-nfb");
    for (size_t i = 0; i < v.rows; i++) {
        const char *event = vectors_event(&v, i);
        double p = number_after(event, "p=");
        if (!contains(event, "not idle")) {
            double x_recv = 1e9;
            double x;
            if (contains(event, "X_Bps=")) {
                x = number_after(event, "X_Bps=");
            } else {
                const char *key = contains(event, "X_recv=") ? "X_recv=" : "X=";
                x = number_after(event, key);
                x_recv = x / 2;
            }
            rig_stop(&r);
            steady(&r, p, x_recv);
            check_near(r.cc->pacing_rate, x, 1e-5 * x);
        }
        bool idle = strncmp(event, "idle", 4) == 0;
        rig_event(&r, CONG_NOFEEDBACK, idle ? 0 : S, 0, 1);
        vectors_check(&v, i, "X", r.cc->pacing_rate);
    }
    rig_stop(&r);
}

TEST(a_slow_application_does_not_keep_an_old_rate) {
    struct rig r;
    steady(&r, 0, 100000);
    check_near(r.cc->pacing_rate, 200000, 1e-6);
    r.ack.limited = false;
    report(&r, 1, 0.1, 0.0001, 10000); /* worse: old rates count half */
    check_near(r.cc->pacing_rate, 50000, 1e-6);
    report(&r, 1.1, 0.1, 0.0001, 10000); /* not worse */
    check_near(r.cc->pacing_rate, 100000, 1e-6);
    rig_stop(&r);
}

TEST(damping_follows_the_delay_of_every_rtt) {
    struct rig r;
    rig_start_sized(&r, "tfrc", S, (double)INFINITY, MS(100));
    rig_set(&r, "damping", 1);
    report(&r, 0.05, 0.1, 0, 10000);
    double before = r.cc->pacing_rate;
    report(&r, 0.06, 0.4, 0, 10000);
    assert_true(r.cc->pacing_rate < 0.6 * before);
    rig_stop(&r);
}

TEST(a_feedback_that_is_no_report_changes_nothing) {
    struct rig r;
    rig_start_sized(&r, "tfrc", S, (double)INFINITY, MS(100));
    double before = r.cc->pacing_rate;
    r.now = MS(5000);
    rig_ack_rtt(&r, S, MS(300));
    rig_event(&r, CONG_LOSS, S, S, 1);
    rig_event(&r, CONG_RTO, S, S, 1);
    check_near(r.cc->pacing_rate, before, 0.0);
    rig_stop(&r);
}

/* The sender-based form: the history is fed from what the sender knows. */
struct cycle {
    int from;
    int to;
    bool lost[64];
};

static void read_cycle(struct cycle *c, const struct vectors *v, size_t row) {
    memset(c->lost, 0, sizeof(c->lost));
    sscanf(vectors_text(v, row, "cycle"), "D%d..D%d", &c->from, &c->to);
    const char *text = vectors_text(v, row, "lost(D<-offset)");
    for (const char *p = strchr(text, 'D'); p != NULL; p = strchr(p + 1, 'D')) {
        c->lost[(int)number_after(p, "D")] = true;
    }
}

static cong_time sent(int d) {
    return MS(12.5 * d);
}

static void check_history(const struct vectors *v, size_t row,
                          const struct cong_loss_history *h,
                          const char *events) {
    struct cong_loss_history expected;
    read_intervals(&expected, vectors_text(v, row, "I0.."));
    assert_int_equal(h->closed, expected.closed);
    for (unsigned i = 0; i <= h->closed; i++) {
        check_near(h->interval[i], expected.interval[i],
                   1e-5 * expected.interval[i]);
    }
    assert_string_equal(events + 1, vectors_text(v, row, "events"));
}

/* Reports a cycle; appends what began a loss event to events. */
static void report_cycle(struct cong_stfrc *h, const struct cycle *c) {
    for (int d = c->from; d <= c->to; d++) {
        assert_int_equal(h->next, d);
        if (c->lost[d]) {
            cong_stfrc_lost(h, sent(d));
        } else {
            cong_stfrc_received(h, sent(d), S);
        }
    }
}

TEST(the_sender_based_form_follows_its_vectors) {
    struct vectors v;
    struct rig r;
    struct cong_stfrc h;
    char events[64] = "";
    uint64_t known = 0;
    vectors_read(&v, "stfrc-1");
    cong_stfrc_init(&h, S, 0.65);
    cong_stfrc_set_rtt(&h, MS(140));
    rig_start_sized(&r, "stfrc", S, (double)INFINITY, MS(140));
    for (size_t i = 0; i < v.rows; i++) {
        struct cong_stfrc_report out;
        struct cycle c;
        read_cycle(&c, &v, i);
        report_cycle(&h, &c);
        cong_stfrc_end(&h, sent(c.to), 0, &out);
        vectors_check(&v, i, "X_recv", out.x_recv);
        vectors_check(&v, i, "p", out.p);
        for (; known < h.events; known++) {
            /* The intervals tell which packets began them. */
            uint64_t d = h.history.start;
            for (uint64_t k = 1; k < h.events - known; k++) {
                d -= (uint64_t)h.history.interval[k];
            }
            sprintf(events + strlen(events), " D%d", (int)d);
        }
        check_history(&v, i, &h.history, events);
        report(&r, number_after(vectors_event(&v, i), "@") / 1000, 0.14, out.p,
               out.x_recv);
        vectors_check(&v, i, "X", r.cc->pacing_rate);
    }
    rig_stop(&r);
}

/* Every n-th of `count` packets is lost; a cycle ends with each RTT of 100
 * packets. */
static struct cong_stfrc_report run_sender(struct cong_stfrc *h, int count,
                                           int n) {
    struct cong_stfrc_report out = {0, 0};
    for (int d = 1; d <= count; d++) {
        if (d % n == 0) {
            cong_stfrc_lost(h, MS(d));
        } else {
            cong_stfrc_received(h, MS(d), S);
        }
        if (d % 100 == 0) {
            cong_stfrc_end(h, MS(d), MS(100), &out);
        }
    }
    return out;
}

TEST(more_runs_than_are_kept_measure_the_same) {
    static const int nth[] = {2, 3, 7, 50};
    for (size_t i = 0; i < 4; i++) {
        struct cong_stfrc h;
        cong_stfrc_init(&h, S, 0.5);
        cong_stfrc_set_rtt(&h, MS(100));
        struct cong_stfrc_report out = run_sender(&h, 20000, nth[i]);
        double n = nth[i];
        /* Events are the next loss after more than an RTT. */
        double interval = n * (floor(100 / n) + 1);
        check_near(out.p, 1 / interval, 0.01 / interval);
        check_near(out.x_recv, S * 1000 * (1 - 1 / n), 0.03 * S * 1000);
    }
}

TEST(a_sender_that_never_learns_the_rtt_measures_nothing) {
    struct cong_stfrc h;
    struct cong_stfrc_report out;
    cong_stfrc_init(&h, S, 0.5);
    cong_stfrc_set_rtt(&h, 0);
    out = run_sender(&h, 1000, 2);
    check_near(out.p, 0, 0);
    check_near(out.x_recv, 0, 0);
    assert_int_equal(h.events, 0);
}

/* One packet of S bytes every 10 ms, every n-th lost; RTT 100 ms. */
static void run_receiver(struct cong_tfrc_receiver *r, uint64_t from,
                         uint64_t to, uint64_t n) {
    struct cong_tfrc_report out;
    for (uint64_t seq = from; seq < to; seq++) {
        cong_time now = (cong_time)(seq + 1) * MS(10);
        if (n > 0 && seq % n == n - 1) {
            continue;
        }
        cong_tfrc_receiver_on_packet(r, seq, S, MS(100), false, now);
        cong_time due = cong_tfrc_receiver_due(r, now);
        if (due >= 0 && due <= now) {
            assert_true(cong_tfrc_receiver_report(r, now, &out));
        }
    }
}

TEST(a_receiver_measures_loss_events_and_rate) {
    struct cong_tfrc_receiver r;
    struct cong_tfrc_report out;
    cong_tfrc_receiver_init(&r, S, 0);
    assert_int_equal(cong_tfrc_receiver_due(&r, 0), -1);
    assert_false(cong_tfrc_receiver_report(&r, 0, &out));
    run_receiver(&r, 0, 2000, 50);
    assert_true(cong_tfrc_receiver_report(&r, MS(20000), &out));
    check_near(out.p, 0.02, 1e-9);
    check_near(out.x_recv, 98000, 12000);
    assert_int_equal(out.seq, 1998);
    assert_int_equal(out.delay, MS(10));
}

TEST(losses_of_one_rtt_are_one_event) {
    struct cong_tfrc_receiver r;
    cong_tfrc_receiver_init(&r, S, 0);
    run_receiver(&r, 0, 400, 4); /* every 40 ms, so an event every 120 ms */
    check_near(cong_loss_history_rate(&r.history), 1.0 / 12, 1e-9);
}

TEST(reordering_by_two_is_no_loss) {
    static const int order[] = {0, 2, 1, 5, 4, 3, 6, 7, 9, 8, 10, 11, 12};
    struct cong_tfrc_receiver r;
    cong_tfrc_receiver_init(&r, S, 0);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        cong_tfrc_receiver_on_packet(&r, (uint64_t)order[i], S, MS(100), false,
                                     MS(10 * (double)i));
    }
    check_near(cong_loss_history_rate(&r.history), 0, 0.0);
    /* Three newer ones decide that a packet is lost; late ones change
     * nothing. */
    cong_tfrc_receiver_on_packet(&r, 14, S, MS(100), false, MS(200));
    cong_tfrc_receiver_on_packet(&r, 15, S, MS(100), false, MS(210));
    check_near(cong_loss_history_rate(&r.history), 0, 0.0);
    cong_tfrc_receiver_on_packet(&r, 16, S, MS(100), false, MS(220));
    assert_true(cong_loss_history_rate(&r.history) > 0);
    assert_int_equal(r.history.start, 13);
    cong_tfrc_receiver_on_packet(&r, 13, S, MS(100), false, MS(230));
    assert_true(cong_loss_history_rate(&r.history) > 0);
}

TEST(a_mark_is_an_event_but_its_packet_arrived) {
    struct cong_tfrc_receiver r;
    cong_tfrc_receiver_init(&r, S, 1);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        cong_tfrc_receiver_on_packet(&r, seq, S, MS(100), seq == 10,
                                     (cong_time)seq * MS(10));
    }
    assert_true(r.history.lossy);
    assert_int_equal(r.history.start, 10);
    assert_int_equal(r.history.t_start, MS(100));
    assert_int_equal(cong_tfrc_receiver_due(&r, MS(200)), MS(200));
}

TEST(numbers_that_jump_cost_no_time) {
    struct cong_tfrc_receiver r;
    struct cong_tfrc_report out;
    cong_tfrc_receiver_init(&r, S, 0);
    uint64_t seq = 0;
    for (int i = 0; i < 50; i++) {
        seq += UINT64_C(1) << 58;
        cong_tfrc_receiver_on_packet(&r, seq, S, 1, false, MS(60000) * i);
    }
    assert_true(cong_tfrc_receiver_report(&r, MS(1), &out));
    assert_true(out.p > 0 && out.p <= 1);
    cong_tfrc_receiver_on_packet(&r, UINT64_MAX, S, 1, true, MS(1));
    cong_tfrc_receiver_on_packet(&r, 0, (double)NAN, -7, true, -5);
    assert_true(cong_tfrc_receiver_report(&r, MS(1), &out));
    assert_true(out.x_recv >= 0 && isfinite(out.x_recv));
}

TEST(a_pause_is_not_a_low_rate) {
    struct cong_tfrc_receiver r;
    struct cong_tfrc_report out;
    cong_tfrc_receiver_init(&r, S, 0);
    run_receiver(&r, 0, 100, 0);
    cong_time now = MS(60000);
    for (uint64_t seq = 100; seq < 120; seq++) {
        now += MS(10);
        cong_tfrc_receiver_on_packet(&r, seq, S, MS(100), false, now);
        cong_time due = cong_tfrc_receiver_due(&r, now);
        if (due <= now) {
            assert_true(cong_tfrc_receiver_report(&r, now, &out));
        }
    }
    check_near(out.x_recv, 100000, 15000);
}

/* RFC 5348, 4.4: of the equation's rate and twice the receive rate. */
TEST(silence_halves_the_lower_of_two_rates) {
    static const double parts[] = {0.3, 0.7};
    struct rig r;
    steady(&r, 0.01, 1e9);
    double equation = r.cc->pacing_rate;
    rig_stop(&r);
    for (size_t i = 0; i < 2; i++) {
        steady(&r, 0.01, parts[i] * equation);
        rig_event(&r, CONG_NOFEEDBACK, S, 0, 1);
        check_near(r.cc->pacing_rate, fmin(0.5, parts[i]) * equation,
                   1e-5 * equation);
        rig_stop(&r);
    }
}

TEST(without_an_rtt_every_packet_is_reported) {
    struct cong_tfrc_receiver r;
    struct cong_tfrc_report out;
    cong_tfrc_receiver_init(&r, S, 0);
    for (uint64_t seq = 0; seq < 3; seq++) {
        cong_time now = MS(10) * (cong_time)(seq + 1);
        cong_tfrc_receiver_on_packet(&r, seq, S, -1, false, now);
        assert_int_equal(cong_tfrc_receiver_due(&r, now), now);
        assert_true(cong_tfrc_receiver_report(&r, now, &out));
    }
    cong_tfrc_receiver_on_packet(&r, 3, S, MS(100), false, MS(40));
    assert_int_equal(cong_tfrc_receiver_due(&r, MS(40)), MS(130));
}

/* RTT 100 ms; 2.55 s after the last report it is half a one to the next. */
TEST(reports_keep_their_beat_through_a_silence) {
    struct cong_tfrc_receiver r;
    struct cong_tfrc_report out;
    cong_tfrc_receiver_init(&r, S, 0);
    cong_tfrc_receiver_on_packet(&r, 0, S, MS(100), false, MS(1000));
    assert_true(cong_tfrc_receiver_report(&r, MS(1000), &out));
    cong_tfrc_receiver_on_packet(&r, 1, S, MS(100), false, MS(3550));
    assert_int_equal(cong_tfrc_receiver_due(&r, MS(3550)), MS(3600));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_equation_follows_its_vectors),
        cmocka_unit_test(the_inverse_follows_its_vectors),
        cmocka_unit_test(the_inverse_stays_between_its_bounds),
        cmocka_unit_test(the_average_loss_interval_follows_its_vectors),
        cmocka_unit_test(history_discounting_follows_its_vectors),
        cmocka_unit_test(discounts_stay_with_the_intervals_when_a_loss_comes),
        cmocka_unit_test(the_sender_follows_its_vectors),
        cmocka_unit_test(the_nofeedback_timer_follows_its_vectors),
        cmocka_unit_test(a_slow_application_does_not_keep_an_old_rate),
        cmocka_unit_test(damping_follows_the_delay_of_every_rtt),
        cmocka_unit_test(a_feedback_that_is_no_report_changes_nothing),
        cmocka_unit_test(the_sender_based_form_follows_its_vectors),
        cmocka_unit_test(more_runs_than_are_kept_measure_the_same),
        cmocka_unit_test(a_sender_that_never_learns_the_rtt_measures_nothing),
        cmocka_unit_test(a_receiver_measures_loss_events_and_rate),
        cmocka_unit_test(losses_of_one_rtt_are_one_event),
        cmocka_unit_test(reordering_by_two_is_no_loss),
        cmocka_unit_test(a_mark_is_an_event_but_its_packet_arrived),
        cmocka_unit_test(numbers_that_jump_cost_no_time),
        cmocka_unit_test(a_pause_is_not_a_low_rate),
        cmocka_unit_test(silence_halves_the_lower_of_two_rates),
        cmocka_unit_test(without_an_rtt_every_packet_is_reported),
        cmocka_unit_test(reports_keep_their_beat_through_a_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

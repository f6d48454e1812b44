/* SPDX-License-Identifier: MPL-2.0 */
/* Recovery periods and undo: what a controller is told, and when. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <congestion/recovery_period.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A controller that halves at a loss, keeps 0.8 at a mark, and writes down what
 * it is told: L, L2 (a repair was lost), E, T (timeout), R, U. */
struct scribe {
    struct cong cc;
    bool restarts;
    char told[64];
};

static void scribe_event(struct cong *cc, const struct cong_event *ev) {
    static const char letters[] = "LETRnIU";
    struct scribe *s = (struct scribe *)cc;
    size_t n = strlen(s->told);
    snprintf(s->told + n, sizeof(s->told) - n, "%c", letters[ev->cause]);
    if (ev->count > 1) {
        snprintf(s->told + n + 1, sizeof(s->told) - n - 1, "%u", ev->count);
    }
    switch (ev->cause) {
    case CONG_LOSS:
        cc->ssthresh = cc->cwnd / 2;
        cc->cwnd = s->restarts ? cc->mss : cc->ssthresh;
        break;
    case CONG_ECN:
        cc->ssthresh = 0.8 * cc->cwnd;
        cc->cwnd = cc->ssthresh;
        break;
    case CONG_RTO:
        cc->ssthresh = cc->cwnd / 2;
        cc->cwnd = cc->mss;
        break;
    default:
        break;
    }
}

static const struct cong_ops scribe_ops = {
    .name = "scribe", .size = sizeof(struct scribe), .event = scribe_event};

struct host {
    struct cong_recovery_period p;
    struct scribe s;
    uint64_t next;
};

static struct host host_at(double cwnd, uint64_t next) {
    struct host h = {.next = next};
    cong_recovery_period_init(&h.p, 0);
    h.s.cc = (struct cong){.ops = &scribe_ops,
                           .mss = 1,
                           .cwnd_max = 1000,
                           .cwnd = cwnd,
                           .ssthresh = (double)INFINITY};
    return h;
}

static unsigned report(struct host *h) {
    const struct cong_recovery_report r = {
        .next = h->next, .flight = 16, .missing = 1};
    return cong_recovery_period_report(&h->p, &h->s.cc, &r);
}

static unsigned lose(struct host *h, uint64_t number, unsigned nth) {
    cong_recovery_period_on_lost(&h->p, number, nth);
    return report(h);
}

static unsigned late(struct host *h, uint64_t number) {
    cong_recovery_period_on_late(&h->p, number);
    return report(h);
}

static unsigned mark(struct host *h, uint64_t number) {
    cong_recovery_period_on_ce(&h->p, number);
    return report(h);
}

static void expire(struct host *h, unsigned nth) {
    const struct cong_recovery_report r = {.next = h->next, .flight = 16};
    cong_recovery_period_timeout(&h->p, &h->s.cc, &r, nth);
}

static bool settle(struct host *h, uint64_t oldest) {
    return cong_recovery_period_end(&h->p, &h->s.cc, oldest, 5, 0);
}

static void check(const struct host *h, const char *told, double cwnd) {
    assert_string_equal(h->s.told, told);
    check_near(h->s.cc.cwnd, cwnd, 0.0);
}

TEST(losses_of_one_flight_reduce_once) {
    struct host h = host_at(16, 20);
    assert_false(cong_recovery_period_in_recovery(&h.p));
    cong_recovery_period_on_lost(&h.p, 3, 1);
    assert_true(cong_recovery_period_in_recovery(&h.p)); /* before the ack */
    assert_int_equal(report(&h), CONG_RECOVERY_ENTERED);
    for (uint64_t i = 4; i < 20; i++) {
        assert_int_equal(lose(&h, i, 1), CONG_RECOVERY_UNCHANGED);
    }
    check(&h, "L", 8);
    assert_false(settle(&h, 19));
    assert_true(cong_recovery_period_in_recovery(&h.p));
    assert_true(settle(&h, 20));
    assert_false(cong_recovery_period_in_recovery(&h.p));
    assert_false(settle(&h, 20));
    h.next = 40;
    assert_int_equal(lose(&h, 19, 1), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(lose(&h, 31, 1), CONG_RECOVERY_ENTERED);
    check(&h, "LRL", 4);
}

/* RFC 6675: holes above RecoveryPoint begin a recovery of their own. */
TEST(losses_after_the_reduction_begin_the_next_period) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    h.next = 30;
    assert_int_equal(lose(&h, 22, 1), CONG_RECOVERY_UNCHANGED);
    check(&h, "L", 8);
    assert_true(settle(&h, 22));
    assert_true(cong_recovery_period_in_recovery(&h.p));
    assert_int_equal(report(&h), CONG_RECOVERY_ENTERED);
    check(&h, "LRL", 4);
}

TEST(such_a_loss_that_proves_spurious_begins_nothing) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    h.next = 30;
    lose(&h, 22, 1);
    assert_int_equal(late(&h, 22), CONG_RECOVERY_UNCHANGED);
    assert_true(settle(&h, 22));
    assert_int_equal(report(&h), CONG_RECOVERY_UNCHANGED);
    check(&h, "LR", 8);
}

TEST(a_lost_repair_is_reported_once_per_flight) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    h.next = 24;
    assert_int_equal(lose(&h, 20, 2), CONG_RECOVERY_REPEATED);
    assert_int_equal(lose(&h, 21, 2), CONG_RECOVERY_UNCHANGED);
    h.next = 28;
    assert_int_equal(lose(&h, 24, 3), CONG_RECOVERY_REPEATED);
    check(&h, "LL2L3", 2);
    assert_true(settle(&h, 20));
    assert_int_equal(lose(&h, 27, 1), CONG_RECOVERY_UNCHANGED);
    check(&h, "LL2L3R", 2);
}

TEST(marks_reduce_once_a_round_trip) {
    struct host h = host_at(16, 20);
    cong_recovery_period_on_ce(&h.p, 3);
    assert_true(cong_recovery_period_in_recovery(&h.p));
    assert_int_equal(report(&h), CONG_RECOVERY_ENTERED);
    assert_int_equal(mark(&h, 19), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(lose(&h, 18, 1), CONG_RECOVERY_UNCHANGED);
    check(&h, "E", 0.8 * 16);
    h.next = 40;
    assert_int_equal(mark(&h, 20), CONG_RECOVERY_REPEATED);
    assert_true(settle(&h, 20));
    check(&h, "EER", 0.8 * (0.8 * 16));
}

/* RFC 9331 section 4.3: marks reduce little, losses as in Reno. */
TEST(marks_hide_no_loss_from_a_scalable_controller) {
    struct host h = host_at(16, 20);
    h.s.cc.ect1 = true;
    assert_int_equal(mark(&h, 3), CONG_RECOVERY_ENTERED);
    h.next = 24;
    assert_int_equal(lose(&h, 7, 1), CONG_RECOVERY_REPEATED);
    check(&h, "EL", 0.8 * 16 / 2);
    assert_int_equal(lose(&h, 8, 1), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(mark(&h, 19), CONG_RECOVERY_UNCHANGED);
    assert_true(settle(&h, 20));
    assert_int_equal(lose(&h, 23, 1), CONG_RECOVERY_UNCHANGED);
    check(&h, "ELR", 0.8 * 16 / 2);
    h.next = 40;
    assert_int_equal(mark(&h, 24), CONG_RECOVERY_ENTERED);
    h.next = 50;
    assert_int_equal(mark(&h, 40), CONG_RECOVERY_REPEATED);
    assert_true(settle(&h, 41));
    assert_int_equal(lose(&h, 45, 1), CONG_RECOVERY_ENTERED);
    check(&h, "ELREERL", 0.8 * (0.8 * (0.8 * 16 / 2)) / 2);
}

TEST(a_loss_outweighs_a_mark_of_the_same_feedback) {
    struct host h = host_at(16, 20);
    cong_recovery_period_on_lost(&h.p, 3, 1);
    assert_int_equal(mark(&h, 7), CONG_RECOVERY_ENTERED);
    check(&h, "L", 8);
    assert_int_equal(late(&h, 3), CONG_RECOVERY_UNCHANGED);
    check(&h, "L", 8);
}

TEST(a_mark_makes_a_period_final) {
    for (int closed = 0; closed < 2; closed++) {
        struct host h = host_at(16, 20);
        lose(&h, 3, 1);
        if (closed) {
            assert_true(settle(&h, 20));
        }
        assert_int_equal(mark(&h, 12), CONG_RECOVERY_UNCHANGED);
        assert_int_equal(late(&h, 3), CONG_RECOVERY_UNCHANGED);
        check(&h, closed ? "LR" : "L", 8);
    }
}

TEST(a_false_alarm_is_undone_whole) {
    struct host h = host_at(16, 20);
    h.s.cc.ssthresh = 14;
    lose(&h, 3, 1);
    lose(&h, 4, 1);
    assert_int_equal(late(&h, 3), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(late(&h, 4), CONG_RECOVERY_UNDONE);
    check(&h, "LU", 16);
    check_near(h.s.cc.ssthresh, 14, 0.0);
    assert_false(cong_recovery_period_in_recovery(&h.p));
    assert_false(settle(&h, 40));
    check(&h, "LU", 16);
}

TEST(a_false_alarm_that_has_ended_is_undone_too) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    assert_true(settle(&h, 20));
    assert_int_equal(late(&h, 3), CONG_RECOVERY_UNDONE);
    check(&h, "LRU", 16);
}

TEST(after_an_undo_true_losses_of_older_packets_count) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    late(&h, 3);
    h.next = 24;
    assert_int_equal(lose(&h, 12, 1), CONG_RECOVERY_ENTERED);
    check(&h, "LUL", 8);
}

TEST(an_undo_does_not_reach_into_the_period_before) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    settle(&h, 20);
    h.next = 40;
    lose(&h, 25, 1);
    /* a packet of the first period says nothing about the second */
    assert_int_equal(late(&h, 3), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(late(&h, 25), CONG_RECOVERY_UNDONE);
    check(&h, "LRLU", 8);
    assert_int_equal(lose(&h, 19, 1), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(lose(&h, 20, 1), CONG_RECOVERY_ENTERED);
}

TEST(a_true_loss_among_false_ones_keeps_the_reduction) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    cong_recovery_period_on_late(&h.p, 3);
    assert_int_equal(lose(&h, 5, 1), CONG_RECOVERY_UNCHANGED);
    check(&h, "L", 8);
}

TEST(an_undo_is_reported_though_the_window_has_regrown) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    h.s.cc.cwnd = 18;
    assert_int_equal(late(&h, 3), CONG_RECOVERY_UNDONE);
    check(&h, "LU", 18);
    assert_true(isinf(h.s.cc.ssthresh));
}

TEST(an_undo_keeps_to_a_bound_set_meanwhile) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    h.s.cc.cwnd_max = 10;
    assert_int_equal(late(&h, 3), CONG_RECOVERY_UNDONE);
    check(&h, "LU", 10);
}

TEST(a_timeout_slow_starts_until_it_has_recovered) {
    struct host h = host_at(16, 20);
    expire(&h, 1);
    expire(&h, 2);
    assert_false(cong_recovery_period_in_recovery(&h.p));
    h.next = 24;
    assert_int_equal(lose(&h, 19, 1), CONG_RECOVERY_UNCHANGED);
    assert_false(settle(&h, 19));
    assert_true(settle(&h, 20));
    check(&h, "TT2R", 1);
}

TEST(a_loss_after_a_timeout_begins_a_period) {
    struct host h = host_at(16, 20);
    expire(&h, 1);
    h.s.cc.cwnd = 4;
    h.next = 30;
    assert_int_equal(lose(&h, 24, 1), CONG_RECOVERY_ENTERED);
    assert_false(settle(&h, 29));
    assert_true(settle(&h, 30));
    check(&h, "TLR", 2);
}

TEST(a_spurious_timeout_is_undone) {
    struct host h = host_at(16, 20);
    for (uint64_t i = 4; i < 8; i++) {
        cong_recovery_period_on_lost(&h.p, i, 1);
    }
    expire(&h, 1);
    check(&h, "T", 1);
    for (uint64_t i = 4; i < 7; i++) {
        assert_int_equal(late(&h, i), CONG_RECOVERY_UNCHANGED);
    }
    assert_int_equal(late(&h, 7), CONG_RECOVERY_UNDONE);
    check(&h, "TU", 16);
}

TEST(a_timeout_in_a_period_goes_back_to_before_both) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    cong_recovery_period_on_lost(&h.p, 21, 1);
    h.next = 30;
    expire(&h, 1);
    check(&h, "LT", 1);
    assert_int_equal(late(&h, 3), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(late(&h, 21), CONG_RECOVERY_UNDONE);
    check(&h, "LTU", 16);
}

TEST(losses_that_were_not_noted_undo_nothing) {
    struct host h = host_at(16, 20);
    cong_recovery_period_on_lost(&h.p, 3, 1);
    expire(&h, 1);
    assert_int_equal(late(&h, 9), CONG_RECOVERY_UNCHANGED);
    check(&h, "T", 1);
}

TEST(a_controller_that_restarts_ends_the_repair) {
    struct host h = host_at(16, 20);
    h.s.restarts = true;
    assert_int_equal(lose(&h, 3, 1),
                     CONG_RECOVERY_ENTERED | CONG_RECOVERY_RESTARTED);
    assert_false(cong_recovery_period_in_recovery(&h.p));
    assert_int_equal(lose(&h, 4, 1), CONG_RECOVERY_UNCHANGED);
    late(&h, 3);
    assert_int_equal(late(&h, 4), CONG_RECOVERY_UNCHANGED);
    assert_true(settle(&h, 20));
    check(&h, "LR", 1);
}

TEST(nothing_before_a_new_path_counts) {
    struct host h = host_at(16, 20);
    lose(&h, 3, 1);
    cong_recovery_period_init(&h.p, 20);
    assert_false(cong_recovery_period_in_recovery(&h.p));
    assert_int_equal(lose(&h, 19, 1), CONG_RECOVERY_UNCHANGED);
    late(&h, 3);
    assert_int_equal(late(&h, 19), CONG_RECOVERY_UNCHANGED);
    assert_int_equal(mark(&h, 19), CONG_RECOVERY_UNCHANGED);
    assert_false(settle(&h, 20));
    check(&h, "L", 8);
}

/* Yam lets no new data out until it hears of an end. */
TEST(an_undo_lets_new_data_out) {
    struct cong_recovery_period p;
    struct rig r;
    const struct cong_recovery_report report = {.next = 20, .flight = 16};
    cong_recovery_period_init(&p, 0);
    rig_start(&r, "yam", -1);
    r.cc->cwnd = 16;
    cong_recovery_period_on_lost(&p, 3, 1);
    (void)cong_recovery_period_report(&p, r.cc, &report);
    assert_true(r.cc->repair_only);
    cong_recovery_period_on_late(&p, 3);
    (void)cong_recovery_period_report(&p, r.cc, &report);
    assert_false(r.cc->repair_only);
    check_near(r.cc->cwnd, 16, 0.0);
    rig_stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_of_one_flight_reduce_once),
        cmocka_unit_test(losses_after_the_reduction_begin_the_next_period),
        cmocka_unit_test(such_a_loss_that_proves_spurious_begins_nothing),
        cmocka_unit_test(a_lost_repair_is_reported_once_per_flight),
        cmocka_unit_test(marks_reduce_once_a_round_trip),
        cmocka_unit_test(marks_hide_no_loss_from_a_scalable_controller),
        cmocka_unit_test(a_loss_outweighs_a_mark_of_the_same_feedback),
        cmocka_unit_test(a_mark_makes_a_period_final),
        cmocka_unit_test(a_false_alarm_is_undone_whole),
        cmocka_unit_test(a_false_alarm_that_has_ended_is_undone_too),
        cmocka_unit_test(after_an_undo_true_losses_of_older_packets_count),
        cmocka_unit_test(an_undo_does_not_reach_into_the_period_before),
        cmocka_unit_test(a_true_loss_among_false_ones_keeps_the_reduction),
        cmocka_unit_test(an_undo_is_reported_though_the_window_has_regrown),
        cmocka_unit_test(an_undo_keeps_to_a_bound_set_meanwhile),
        cmocka_unit_test(a_timeout_slow_starts_until_it_has_recovered),
        cmocka_unit_test(a_loss_after_a_timeout_begins_a_period),
        cmocka_unit_test(a_spurious_timeout_is_undone),
        cmocka_unit_test(a_timeout_in_a_period_goes_back_to_before_both),
        cmocka_unit_test(losses_that_were_not_noted_undo_nothing),
        cmocka_unit_test(a_controller_that_restarts_ends_the_repair),
        cmocka_unit_test(nothing_before_a_new_path_counts),
        cmocka_unit_test(an_undo_lets_new_data_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

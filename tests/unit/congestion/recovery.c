/* SPDX-License-Identifier: MPL-2.0 */
/* The recovery engines against the vectors; episodes and undo. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <congestion/episode.h>
#include <congestion/recovery.h>

#include <stdio.h>
#include <string.h>

/* A sender of numbered segments of one byte; 1 to 10 are out. */
struct flow {
    struct rig rig;
    struct cong_recovery engine;
    uint64_t una;
    uint64_t next;
    char sent[64];
};

static void note(struct flow *f, char kind, uint64_t segment) {
    size_t n = strlen(f->sent);
    snprintf(f->sent + n, sizeof(f->sent) - n, "%s%c%d", n > 0 ? " " : "", kind,
             (int)segment);
}

static double outstanding(const struct flow *f) {
    return (double)(f->next - f->una);
}

/* Repairs what the engine asks for, then fills the window. */
static void send_all(struct flow *f, unsigned action) {
    if ((action & CONG_RECOVERY_REPAIR) != 0) {
        note(f, 'R', f->una);
    }
    while (outstanding(f) + 1 <= cong_recovery_window(&f->engine, f->rig.cc)) {
        note(f, 'N', f->next++);
    }
}

/* "dup 3 (got 5)", "ack 4 ends recovery", "partial ack 4", "full ack 14" */
static void flow_row(struct flow *f, const char *event) {
    unsigned action;
    f->sent[0] = '\0';
    f->rig.ack.flight = outstanding(f);
    f->rig.ack.recovery = f->engine.open;
    if (contains(event, "dup")) {
        rig_ack(&f->rig, 0);
        action = cong_recovery_duplicate(&f->engine, f->rig.cc, f->una, f->next,
                                         outstanding(f), f->rig.now);
    } else {
        uint64_t una = (uint64_t)number_after(event, "ack ");
        double acked = (double)(una - f->una);
        f->una = una;
        rig_ack(&f->rig, acked);
        action = cong_recovery_advance(&f->engine, f->rig.cc, una, acked,
                                       outstanding(f), f->rig.now);
    }
    send_all(f, action);
    if (f->sent[0] == '\0') {
        strcpy(f->sent, ".");
    }
}

static void flow_table(const char *table, enum cong_recovery_kind kind) {
    struct vectors v;
    struct flow f = {.una = 1, .next = 11};
    vectors_read(&v, table);
    rig_start(&f.rig, "reno", -1);
    f.rig.cc->cwnd = 10;
    cong_recovery_init(&f.engine, kind);
    for (size_t i = 0; i < v.rows; i++) {
        flow_row(&f, vectors_event(&v, i));
        vectors_check(&v, i, "cwnd", f.rig.cc->cwnd);
        vectors_check(&v, i, "ssthresh", f.rig.cc->ssthresh);
        vectors_check(&v, i, "W", cong_recovery_window(&f.engine, f.rig.cc));
        vectors_check(&v, i, "flight", outstanding(&f));
        assert_string_equal(f.sent, vectors_text(&v, i, "sent"));
    }
    rig_stop(&f.rig);
}

static void reno_recovery_follows_its_vectors(void **state) {
    (void)state;
    flow_table("reno-4", CONG_RECOVERY_RENO);
}

static void newreno_recovery_follows_its_vectors(void **state) {
    (void)state;
    flow_table("newreno-1", CONG_RECOVERY_NEWRENO);
}

static unsigned duplicates(struct flow *f, int n) {
    unsigned action = 0;
    for (int i = 0; i < n; i++) {
        action |= cong_recovery_duplicate(&f->engine, f->rig.cc, f->una,
                                          f->next, outstanding(f), 0);
    }
    return action;
}

static void duplicates_of_an_old_congestion_begin_nothing(void **state) {
    struct flow f = {.una = 1, .next = 11};
    (void)state;
    rig_start(&f.rig, "newreno", -1);
    cong_recovery_init(&f.engine, CONG_RECOVERY_NEWRENO);
    unsigned action =
        cong_recovery_timeout(&f.engine, f.rig.cc, f.next, 10, 1, 0);
    assert_true((action & CONG_RECOVERY_GO_BACK) != 0);
    check_near(f.rig.cc->cwnd, 1, 0.0);
    assert_int_equal(duplicates(&f, 5), 0);
    f.una = 12;
    f.next = 30;
    (void)cong_recovery_advance(&f.engine, f.rig.cc, 12, 11, 18, 0);
    assert_int_equal(duplicates(&f, 2), 0);
    assert_int_equal(duplicates(&f, 1),
                     CONG_RECOVERY_REPAIR | CONG_RECOVERY_RESTART_RTO);
    rig_stop(&f.rig);
}

static void of_partial_acks_only_the_first_restarts_the_timer(void **state) {
    struct flow f = {.una = 1, .next = 11};
    (void)state;
    rig_start(&f.rig, "newreno", -1);
    f.rig.cc->cwnd = 10;
    cong_recovery_init(&f.engine, CONG_RECOVERY_NEWRENO);
    assert_int_equal(duplicates(&f, 3),
                     CONG_RECOVERY_REPAIR | CONG_RECOVERY_RESTART_RTO);
    assert_int_equal(cong_recovery_advance(&f.engine, f.rig.cc, 4, 3, 7, 0),
                     CONG_RECOVERY_REPAIR | CONG_RECOVERY_RESTART_RTO);
    assert_int_equal(cong_recovery_advance(&f.engine, f.rig.cc, 6, 2, 5, 0),
                     CONG_RECOVERY_REPAIR);
    rig_stop(&f.rig);
}

static void tahoe_goes_back_and_opens_no_episode(void **state) {
    struct flow f = {.una = 1, .next = 17};
    (void)state;
    rig_start(&f.rig, "tahoe", -1);
    cong_recovery_init(&f.engine, CONG_RECOVERY_TAHOE);
    unsigned action = duplicates(&f, 3);
    assert_true((action & CONG_RECOVERY_GO_BACK) != 0);
    assert_false(f.engine.open);
    check_near(cong_recovery_window(&f.engine, f.rig.cc), 1, 0.0);
    check_near(f.rig.cc->ssthresh, 8, 0.0);
    assert_int_equal(duplicates(&f, 9), 0);
    rig_stop(&f.rig);
}

/* Yam's controller lets no new data out until it hears of an end. */
static void going_back_ends_when_all_that_was_out_is_known(void **state) {
    (void)state;
    for (int timeout = 0; timeout < 2; timeout++) {
        struct flow f = {.una = 1, .next = 21};
        unsigned action;
        rig_start(&f.rig, "yam", -1);
        rig_set(&f.rig, "rto_as_dupack", 1);
        f.rig.cc->cwnd = 20;
        cong_recovery_init(&f.engine, CONG_RECOVERY_TAHOE);
        action = timeout ? cong_recovery_timeout(&f.engine, f.rig.cc, f.next,
                                                 20, 1, 0)
                         : duplicates(&f, 3);
        assert_true((action & CONG_RECOVERY_GO_BACK) != 0);
        assert_true(f.rig.cc->repair_only);
        (void)cong_recovery_advance(&f.engine, f.rig.cc, 20, 19, 1, 0);
        assert_true(f.rig.cc->repair_only);
        (void)cong_recovery_advance(&f.engine, f.rig.cc, 21, 1, 0, 0);
        assert_false(f.rig.cc->repair_only);
        rig_stop(&f.rig);
    }
}

static void limited_transmit_releases_two_segments(void **state) {
    struct flow f = {.una = 1, .next = 5};
    (void)state;
    rig_start(&f.rig, "reno", -1);
    cong_recovery_init(&f.engine, CONG_RECOVERY_RENO);
    f.engine.limited_transmit = true;
    duplicates(&f, 2);
    check_near(cong_recovery_window(&f.engine, f.rig.cc), 6, 0.0);
    duplicates(&f, 1);
    check_near(cong_recovery_window(&f.engine, f.rig.cc), 5, 0.0);
    rig_stop(&f.rig);
}

static struct cong_episode_news news(uint64_t number, uint64_t next,
                                     double flight, unsigned nth) {
    return (struct cong_episode_news){.number = number,
                                      .next = next,
                                      .flight = flight,
                                      .missing = 1,
                                      .nth = nth};
}

static enum cong_episode_result lose(struct cong_episode *e, struct rig *r,
                                     uint64_t number, uint64_t next,
                                     unsigned nth) {
    struct cong_episode_news n = news(number, next, 16, nth);
    return cong_episode_lost(e, r->cc, &n);
}

/* An episode of nothing yet; cwnd 0: the controller's first. */
static void begin(struct cong_episode *e, struct rig *r, const char *name,
                  double cwnd) {
    cong_episode_init(e);
    rig_start(r, name, -1);
    if (cwnd > 0) {
        r->cc->cwnd = cwnd;
    }
}

static void losses_of_one_flight_reduce_once(void **state) {
    struct cong_episode e;
    struct rig r;
    (void)state;
    begin(&e, &r, "vegas", 16);
    assert_int_equal(lose(&e, &r, 3, 20, 1), CONG_EPISODE_REDUCED);
    check_near(r.cc->cwnd, 12, 0.0);
    for (uint64_t i = 4; i < 30; i++) {
        assert_int_equal(lose(&e, &r, i, 30, 1), CONG_EPISODE_SAME);
    }
    check_near(r.cc->cwnd, 12, 0.0);
    assert_false(cong_episode_settle(&e, r.cc, 19, 5, 0));
    assert_true(cong_episode_settle(&e, r.cc, 20, 5, 0));
    /* What left before the episode is history, what left later is news. */
    assert_int_equal(lose(&e, &r, 19, 40, 1), CONG_EPISODE_SAME);
    assert_int_equal(lose(&e, &r, 31, 40, 1), CONG_EPISODE_REDUCED);
    check_near(r.cc->cwnd, 9, 0.0);
    rig_stop(&r);
}

static void a_lost_repair_reduces_again_once_per_flight(void **state) {
    struct cong_episode e;
    struct rig r;
    (void)state;
    begin(&e, &r, "vegas", 16);
    lose(&e, &r, 3, 20, 1);
    assert_int_equal(lose(&e, &r, 20, 24, 2), CONG_EPISODE_REDUCED);
    check_near(r.cc->cwnd, 6, 0.0);
    assert_int_equal(lose(&e, &r, 21, 24, 2), CONG_EPISODE_SAME);
    assert_int_equal(lose(&e, &r, 24, 28, 3), CONG_EPISODE_REDUCED);
    check_near(r.cc->cwnd, 3, 0.0);
    rig_stop(&r);
}

static void marks_reduce_once_a_round_trip_and_open_nothing(void **state) {
    struct cong_episode e;
    struct rig r;
    (void)state;
    begin(&e, &r, "reno", 16);
    struct cong_episode_news n = news(3, 20, 16, 1);
    assert_int_equal(cong_episode_marked(&e, r.cc, &n), CONG_EPISODE_REDUCED);
    n.number = 19;
    assert_int_equal(cong_episode_marked(&e, r.cc, &n), CONG_EPISODE_SAME);
    assert_int_equal(lose(&e, &r, 18, 25, 1), CONG_EPISODE_SAME);
    assert_false(e.open);
    check_near(r.cc->cwnd, 8, 0.0);
    n.number = 20;
    assert_int_equal(cong_episode_marked(&e, r.cc, &n), CONG_EPISODE_REDUCED);
    rig_stop(&r);
}

static void a_controller_that_restarts_closes_the_episode(void **state) {
    struct cong_episode e;
    struct rig r;
    (void)state;
    begin(&e, &r, "tahoe", 0);
    assert_int_equal(lose(&e, &r, 3, 20, 1), CONG_EPISODE_RESTART);
    assert_false(e.open);
    assert_int_equal(lose(&e, &r, 4, 20, 1), CONG_EPISODE_SAME);
    rig_stop(&r);
}

static void a_false_alarm_is_taken_back_whole(void **state) {
    struct cong_episode e;
    struct rig r;
    (void)state;
    begin(&e, &r, "yam", 16);
    r.cc->ssthresh = 14;
    lose(&e, &r, 3, 20, 1);
    lose(&e, &r, 4, 20, 1);
    assert_true(r.cc->repair_only);
    assert_false(cong_episode_spurious(&e, r.cc, 0));
    check_near(r.cc->cwnd, 13, 0.0);
    assert_true(cong_episode_spurious(&e, r.cc, 0));
    check_near(r.cc->cwnd, 16, 0.0);
    check_near(r.cc->ssthresh, 14, 0.0);
    assert_false(r.cc->repair_only);
    assert_false(e.open);
    rig_stop(&r);
}

/* The mark says that it was congestion all the same. */
static void a_mark_makes_the_reduction_before_it_final(void **state) {
    struct cong_episode e;
    struct rig r;
    (void)state;
    begin(&e, &r, "vegas", 16);
    lose(&e, &r, 3, 20, 1);
    assert_true(cong_episode_settle(&e, r.cc, 20, 5, 0));
    struct cong_episode_news n = news(21, 40, 12, 1);
    assert_int_equal(cong_episode_marked(&e, r.cc, &n), CONG_EPISODE_REDUCED);
    double cwnd = r.cc->cwnd;
    assert_false(cong_episode_spurious(&e, r.cc, 0));
    check_near(r.cc->cwnd, cwnd, 0.0);
    rig_stop(&r);
}

static void a_window_that_has_regrown_is_left_alone(void **state) {
    struct cong_episode e;
    struct rig r;
    (void)state;
    begin(&e, &r, "reno", 10);
    struct cong_episode_news n = news(0, 20, 10, 1);
    cong_episode_timeout(&e, r.cc, &n);
    check_near(r.cc->cwnd, 1, 0.0);
    lose(&e, &r, 5, 20, 1);
    r.cc->cwnd = 12;
    assert_false(cong_episode_spurious(&e, r.cc, 0));
    check_near(r.cc->cwnd, 12, 0.0);
    rig_stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reno_recovery_follows_its_vectors),
        cmocka_unit_test(newreno_recovery_follows_its_vectors),
        cmocka_unit_test(duplicates_of_an_old_congestion_begin_nothing),
        cmocka_unit_test(of_partial_acks_only_the_first_restarts_the_timer),
        cmocka_unit_test(tahoe_goes_back_and_opens_no_episode),
        cmocka_unit_test(going_back_ends_when_all_that_was_out_is_known),
        cmocka_unit_test(limited_transmit_releases_two_segments),
        cmocka_unit_test(losses_of_one_flight_reduce_once),
        cmocka_unit_test(a_lost_repair_reduces_again_once_per_flight),
        cmocka_unit_test(marks_reduce_once_a_round_trip_and_open_nothing),
        cmocka_unit_test(a_controller_that_restarts_closes_the_episode),
        cmocka_unit_test(a_false_alarm_is_taken_back_whole),
        cmocka_unit_test(a_mark_makes_the_reduction_before_it_final),
        cmocka_unit_test(a_window_that_has_regrown_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

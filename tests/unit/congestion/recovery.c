/* SPDX-License-Identifier: MPL-2.0 */
/* The recovery engines against the vectors. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

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

TEST(reno_recovery_follows_its_vectors) {
    flow_table("reno-4", CONG_RECOVERY_RENO);
}

TEST(newreno_recovery_follows_its_vectors) {
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

TEST(duplicates_of_an_old_congestion_begin_nothing) {
    struct flow f = {.una = 1, .next = 11};
    rig_start(&f.rig, "newreno", -1);
    cong_recovery_init(&f.engine, CONG_RECOVERY_NEWRENO);
    unsigned action =
        cong_recovery_timeout(&f.engine, f.rig.cc, f.next, 10, 1, 0);
    assert_true((action & CONG_RECOVERY_GO_BACK) != 0);
    check_near(f.rig.cc->cwnd, 1, 0.0);
    assert_int_equal(duplicates(&f, 5), 0);
    f.una = 12;
    f.next = 30;
    f.rig.cc->cwnd = 18;
    (void)cong_recovery_advance(&f.engine, f.rig.cc, 12, 11, 18, 0);
    assert_int_equal(duplicates(&f, 2), 0);
    assert_int_equal(duplicates(&f, 1),
                     CONG_RECOVERY_REPAIR | CONG_RECOVERY_RESTART_RTO);
    rig_stop(&f.rig);
}

TEST(of_partial_acks_only_the_first_restarts_the_timer) {
    struct flow f = {.una = 1, .next = 11};
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

TEST(tahoe_goes_back_and_enters_no_recovery) {
    struct flow f = {.una = 1, .next = 17};
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
TEST(going_back_ends_when_all_that_was_out_is_known) {
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

TEST(limited_transmit_releases_two_segments) {
    struct flow f = {.una = 1, .next = 5};
    rig_start(&f.rig, "reno", -1);
    cong_recovery_init(&f.engine, CONG_RECOVERY_RENO);
    f.engine.limited_transmit = true;
    duplicates(&f, 2);
    check_near(cong_recovery_window(&f.engine, f.rig.cc), 6, 0.0);
    duplicates(&f, 1);
    check_near(cong_recovery_window(&f.engine, f.rig.cc), 5, 0.0);
    rig_stop(&f.rig);
}

/* BBR restores its window only then. */
TEST(the_end_of_a_timeout_is_reported_once) {
    static const enum cong_recovery_kind kinds[] = {
        CONG_RECOVERY_TAHOE, CONG_RECOVERY_RENO, CONG_RECOVERY_NEWRENO};
    for (size_t i = 0; i < 3; i++) {
        struct flow f = {.una = 1, .next = 21};
        rig_start(&f.rig, "bbr", -1);
        f.rig.cc->cwnd = 20;
        cong_recovery_init(&f.engine, kinds[i]);
        (void)cong_recovery_timeout(&f.engine, f.rig.cc, f.next, 20, 1, 0);
        double cut = f.rig.cc->cwnd;
        (void)cong_recovery_advance(&f.engine, f.rig.cc, 20, 19, 1, 0);
        check_near(f.rig.cc->cwnd, cut, 0.0);
        (void)cong_recovery_advance(&f.engine, f.rig.cc, 21, 1, 0, 0);
        check_near(f.rig.cc->cwnd, 20, 0.0);
        f.rig.cc->cwnd = 7;
        (void)cong_recovery_advance(&f.engine, f.rig.cc, 22, 1, 0, 0);
        check_near(f.rig.cc->cwnd, 7, 0.0);
        rig_stop(&f.rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reno_recovery_follows_its_vectors),
        cmocka_unit_test(newreno_recovery_follows_its_vectors),
        cmocka_unit_test(duplicates_of_an_old_congestion_begin_nothing),
        cmocka_unit_test(of_partial_acks_only_the_first_restarts_the_timer),
        cmocka_unit_test(tahoe_goes_back_and_enters_no_recovery),
        cmocka_unit_test(going_back_ends_when_all_that_was_out_is_known),
        cmocka_unit_test(limited_transmit_releases_two_segments),
        cmocka_unit_test(the_end_of_a_timeout_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

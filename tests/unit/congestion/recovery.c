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

/* What a host with SACK keeps (RFC 6675 section 3): of each segment whether it
 * arrived, and how many copies of it are in the pipe. */
struct board {
    struct flow flow;
    bool arrived[64];
    bool repaired[64];
};

static bool is_lost(const struct board *b, uint64_t segment) {
    return !b->arrived[segment] &&
           (segment < cong_recovery_lost_below(&b->flow.engine) ||
            (b->flow.engine.open && segment == 1));
}

static double pipe_of(const struct board *b) {
    double pipe = 0;
    for (uint64_t i = b->flow.una; i < b->flow.next; i++) {
        if (!b->arrived[i]) {
            pipe += !is_lost(b, i) + b->repaired[i];
        }
    }
    return pipe;
}

/* Sends the lowest lost segment, or else a new one. */
static void board_send(struct board *b) {
    struct flow *f = &b->flow;
    uint64_t i = f->una;
    while (i < f->next && (!is_lost(b, i) || b->repaired[i])) {
        i++;
    }
    if (i < f->next) {
        b->repaired[i] = true;
        note(f, 'R', i);
    } else {
        note(f, 'N', f->next++);
    }
}

static void board_row(struct board *b, const char *event) {
    struct flow *f = &b->flow;
    unsigned action;
    f->sent[0] = '\0';
    if (contains(event, "dup")) {
        uint64_t got = (uint64_t)number_after(event, "got ");
        double out = outstanding(f);
        b->arrived[got] = true;
        cong_recovery_arrived(&f->engine, got);
        action = cong_recovery_duplicate(&f->engine, f->rig.cc, f->una, f->next,
                                         out - f->engine.duplicates, 0);
    } else {
        uint64_t una = (uint64_t)number_after(event, "ack ");
        double acked = (double)(una - f->una);
        f->una = una;
        action = cong_recovery_advance(&f->engine, f->rig.cc, una, acked,
                                       pipe_of(b), 0);
    }
    if ((action & CONG_RECOVERY_REPAIR) != 0) {
        board_send(b);
    }
    while (pipe_of(b) + 1 <= cong_recovery_window(&f->engine, f->rig.cc)) {
        board_send(b);
    }
    if (f->sent[0] == '\0') {
        strcpy(f->sent, ".");
    }
}

TEST(sack_recovery_repairs_what_is_lost_as_the_pipe_allows) {
    struct vectors v;
    struct board b = {.flow = {.una = 1, .next = 11}};
    vectors_read(&v, "sack-2");
    rig_start(&b.flow.rig, "sack", -1);
    b.flow.rig.cc->cwnd = 10;
    cong_recovery_init(&b.flow.engine, CONG_RECOVERY_SACK);
    for (size_t i = 0; i < v.rows; i++) {
        board_row(&b, vectors_event(&v, i));
        vectors_check(&v, i, "cwnd", b.flow.rig.cc->cwnd);
        vectors_check(&v, i, "ssthresh", b.flow.rig.cc->ssthresh);
        vectors_check(&v, i, "pipe", pipe_of(&b));
        assert_string_equal(b.flow.sent, vectors_text(&v, i, "sent"));
    }
    rig_stop(&b.flow.rig);
}

TEST(three_arrivals_above_a_segment_mean_its_loss_in_any_order) {
    struct cong_recovery r;
    cong_recovery_init(&r, CONG_RECOVERY_SACK);
    cong_recovery_arrived(&r, 9);
    cong_recovery_arrived(&r, 3);
    assert_int_equal(cong_recovery_lost_below(&r), 0);
    cong_recovery_arrived(&r, 5);
    assert_int_equal(cong_recovery_lost_below(&r), 3);
    cong_recovery_arrived(&r, 4);
    assert_int_equal(cong_recovery_lost_below(&r), 4);
    cong_recovery_arrived(&r, 2);
    assert_int_equal(cong_recovery_lost_below(&r), 4);
}

TEST(after_a_timeout_sack_recovers_again_from_where_that_began) {
    struct flow f = {.una = 1, .next = 11};
    rig_start(&f.rig, "sack", -1);
    cong_recovery_init(&f.engine, CONG_RECOVERY_SACK);
    unsigned action =
        cong_recovery_timeout(&f.engine, f.rig.cc, f.next, 10, 1, 0);
    assert_true((action & CONG_RECOVERY_GO_BACK) != 0);
    check_near(f.rig.cc->cwnd, 1, 0.0);
    for (uint64_t i = 5; i < 10; i++) {
        cong_recovery_arrived(&f.engine, i);
        assert_int_equal(
            cong_recovery_duplicate(&f.engine, f.rig.cc, 1, 11, 6, 0),
            CONG_RECOVERY_NOTHING);
    }
    (void)cong_recovery_advance(&f.engine, f.rig.cc, 11, 10, 8, 0);
    f.rig.cc->cwnd = 8;
    for (uint64_t i = 12; i < 14; i++) {
        cong_recovery_arrived(&f.engine, i);
        assert_int_equal(
            cong_recovery_duplicate(&f.engine, f.rig.cc, 11, 19, 8, 0),
            CONG_RECOVERY_NOTHING);
    }
    cong_recovery_arrived(&f.engine, 14);
    assert_int_equal(cong_recovery_duplicate(&f.engine, f.rig.cc, 11, 19, 8, 0),
                     CONG_RECOVERY_REPAIR | CONG_RECOVERY_RESTART_RTO);
    check_near(f.rig.cc->cwnd, 4, 0.0);
    rig_stop(&f.rig);
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
        CONG_RECOVERY_TAHOE, CONG_RECOVERY_RENO, CONG_RECOVERY_NEWRENO,
        CONG_RECOVERY_SACK};
    for (size_t i = 0; i < 4; i++) {
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
        cmocka_unit_test(sack_recovery_repairs_what_is_lost_as_the_pipe_allows),
        cmocka_unit_test(
            three_arrivals_above_a_segment_mean_its_loss_in_any_order),
        cmocka_unit_test(
            after_a_timeout_sack_recovers_again_from_where_that_began),
        cmocka_unit_test(duplicates_of_an_old_congestion_begin_nothing),
        cmocka_unit_test(of_partial_acks_only_the_first_restarts_the_timer),
        cmocka_unit_test(tahoe_goes_back_and_enters_no_recovery),
        cmocka_unit_test(going_back_ends_when_all_that_was_out_is_known),
        cmocka_unit_test(limited_transmit_releases_two_segments),
        cmocka_unit_test(the_end_of_a_timeout_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

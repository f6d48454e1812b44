/* SPDX-License-Identifier: MPL-2.0 */
/* What to send of a plan so that the most is in time. */
#include "libtltcp/engine/send_plan.h"
#include "tests/support/cmocka.h"

#define MS INT64_C(1000000)
#define GAP (40 * MS)
#define DUE (200 * MS)

static tltcp__send_plan plan;

/* One more slot, `GAP` after the one before it. */
static void add(uint8_t kind, int64_t cost) {
    int64_t written = (int64_t)plan.count * GAP;
    plan.slot[plan.count++] = (tltcp__slot){.written = written,
                                            .due = written + DUE,
                                            .cost = cost,
                                            .worth = 1,
                                            .kind = kind};
}

static void add_chain(int count, int64_t cost) {
    for (int i = 0; i < count; i++) {
        add(TLTCP__SLOT_CHAIN, cost);
    }
}

static int begin(void **state) {
    (void)state;
    plan = (tltcp__send_plan){.rest_due = DUE};
    return 0;
}

/* Each takes a little longer than the time to the next. */
TEST(a_late_chain_that_stays_late_is_cut) {
    add_chain(10, 42 * MS);
    plan.start = 340 * MS;
    assert_false(tltcp__send_plan_takes_first(&plan));
    plan.start = 20 * MS;
    assert_true(tltcp__send_plan_takes_first(&plan));
}

TEST(a_late_chain_that_catches_up_is_kept) {
    add_chain(20, 20 * MS);
    plan.start = 240 * MS;
    assert_true(tltcp__send_plan_takes_first(&plan));
}

/* What follows the KEY is late, too, if the KEY waits for the chain. */
TEST(a_chain_is_cut_before_it_costs_what_follows_the_key) {
    add_chain(2, 60 * MS);
    add(TLTCP__SLOT_KEY, 150 * MS);
    add_chain(10, 42 * MS);
    plan.start = 50 * MS;
    assert_false(tltcp__send_plan_takes_first(&plan));
}

/* The second one is in time only if the first does not leave. */
TEST(what_needs_a_repair_is_omitted_where_there_is_no_time_for_it) {
    add(TLTCP__SLOT_OPTIONAL, 150 * MS);
    add(TLTCP__SLOT_OPTIONAL, 60 * MS);
    assert_true(tltcp__send_plan_takes_first(&plan));
    plan.repair = 100 * MS;
    plan.slot[0].missing[0] = 0.9;
    plan.slot[1].missing[0] = 0.9;
    assert_false(tltcp__send_plan_takes_first(&plan));
}

TEST(a_chain_before_a_small_key_is_kept) {
    add_chain(2, 60 * MS);
    add(TLTCP__SLOT_KEY, 60 * MS);
    add_chain(10, 20 * MS);
    plan.start = 50 * MS;
    assert_true(tltcp__send_plan_takes_first(&plan));
}

/* It would make the second of the others late. */
TEST(an_optional_one_gives_way_to_the_chain) {
    add(TLTCP__SLOT_OPTIONAL, 60 * MS);
    plan.slot[0].worth = 0.5;
    add_chain(2, 110 * MS);
    plan.start = 60 * MS;
    assert_false(tltcp__send_plan_takes_first(&plan));
}

/* Alone it is worth less than what it delays, with those that need it more. */
TEST(a_branch_goes_with_those_that_need_it) {
    for (int needed = 0; needed <= 1; needed++) {
        (void)begin(NULL);
        add(TLTCP__SLOT_OPTIONAL, 20 * MS);
        plan.slot[0].worth = 0.5;
        plan.slot[0].is_branch = needed != 0;
        add(TLTCP__SLOT_OPTIONAL, 10 * MS);
        plan.slot[1].on_branch = needed != 0;
        plan.slot[1].worth = 1.5;
        add(TLTCP__SLOT_MUST, 80 * MS);
        plan.slot[2].worth = 3;
        plan.slot[2].due = plan.slot[0].written + 200 * MS;
        plan.start = 100 * MS;
        assert_int_equal(tltcp__send_plan_takes_first(&plan), needed != 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_late_chain_that_stays_late_is_cut, begin),
        cmocka_unit_test_setup(a_late_chain_that_catches_up_is_kept, begin),
        cmocka_unit_test_setup(
            a_chain_is_cut_before_it_costs_what_follows_the_key, begin),
        cmocka_unit_test_setup(
            what_needs_a_repair_is_omitted_where_there_is_no_time_for_it,
            begin),
        cmocka_unit_test_setup(a_chain_before_a_small_key_is_kept, begin),
        cmocka_unit_test_setup(an_optional_one_gives_way_to_the_chain, begin),
        cmocka_unit_test_setup(a_branch_goes_with_those_that_need_it, begin),
    };
    return cmocka_run_group_tests_name("send_plan", tests, NULL, NULL);
}

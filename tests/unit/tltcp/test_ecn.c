/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/engine/ecn.h"
#include "tests/support/cmocka.h"

#define CLOSE_TO 1e-9

/* An ECN-capable sender after `sent` packets, on its first path. */
static tltcp__ecn sender_of(uint64_t sent) {
    return (tltcp__ecn){.sent = sent, .on = true};
}

static tltcp__ack counts(uint32_t ect0, uint32_t ect1, uint32_t ce) {
    return (tltcp__ack){.has_ecn = true, .ect0 = ect0, .ect1 = ect1, .ce = ce};
}

static void is_near(double a, double b) {
    assert_true(a - b < CLOSE_TO && b - a < CLOSE_TO);
}

TEST(packets_leave_with_the_codepoint_that_the_controller_understands) {
    tltcp__ecn e = sender_of(0);
    assert_int_equal(tltcp__ecn_codepoint(&e, false), TLTCP__ECN_ECT0);
    assert_int_equal(tltcp__ecn_codepoint(&e, true), TLTCP__ECN_ECT1);
    e.on = false;
    assert_int_equal(tltcp__ecn_codepoint(&e, true), TLTCP__ECN_NOT_ECT);
}

TEST(the_share_of_marks_is_that_of_newly_acknowledged_packets) {
    tltcp__ecn e = sender_of(100);
    tltcp__ack a = counts(10, 0, 0);
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 10), 0);
    a = counts(16, 0, 2);
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 8), 0.25);
    a = counts(16, 0, 3);
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 1), 1);
    assert_true(e.on && e.heard);
    assert_int_equal(e.ce, 3);
}

TEST(ect1_is_counted_for_a_controller_of_l4s) {
    tltcp__ecn e = sender_of(100);
    tltcp__ack a = counts(0, 6, 2);
    is_near(tltcp__ecn_on_ack(&e, &a, true, false, 8), 0.25);
    assert_true(e.on);
}

TEST(a_peer_without_counts_turns_marking_off) {
    tltcp__ecn e = sender_of(100);
    tltcp__ack a = {.has_ecn = false};
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 1), 0);
    assert_false(e.on);
}

TEST(counts_below_the_acknowledged_ones_turn_marking_off) {
    tltcp__ecn e = sender_of(100);
    tltcp__ack a = counts(9, 0, 0); /* one was bleached */
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 10), 0);
    assert_false(e.on);
    assert_int_equal(e.ect0, 0);
}

TEST(counts_above_the_sent_ones_turn_marking_off) {
    tltcp__ecn e = sender_of(100);
    tltcp__ack a = counts(60, 0, 41);
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 10), 0);
    assert_false(e.on);
}

TEST(a_codepoint_that_was_not_sent_turns_marking_off) {
    tltcp__ecn e = sender_of(100);
    tltcp__ack a = counts(10, 1, 0);
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 10), 0);
    assert_false(e.on);
}

TEST(counts_of_the_path_before_are_not_held_against_a_new_one) {
    tltcp__ecn e = sender_of(100);
    tltcp__ack a = counts(10, 0, 0);
    is_near(tltcp__ecn_on_ack(&e, &a, false, false, 10), 0);
    tltcp__ecn_start(&e, true);
    a = counts(30, 2, 20); /* the old path remarked */
    is_near(tltcp__ecn_on_ack(&e, &a, false, true, 10), 0);
    assert_true(e.on && e.heard);
    a = counts(33, 2, 21);
    is_near(tltcp__ecn_on_ack(&e, &a, false, true, 4), 0.25);
}

TEST(silence_turns_marking_off_unless_the_path_has_shown_that_it_works) {
    tltcp__ecn e = sender_of(0);
    tltcp__ecn_on_silence(&e, 3); /* nothing was marked */
    assert_true(e.on);
    e.sent = 3;
    tltcp__ecn_on_silence(&e, 2);
    assert_true(e.on);
    tltcp__ecn_on_silence(&e, 3);
    assert_false(e.on);
    tltcp__ecn_start(&e, true);
    e.heard = true;
    tltcp__ecn_on_silence(&e, 9);
    assert_true(e.on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            packets_leave_with_the_codepoint_that_the_controller_understands),
        cmocka_unit_test(
            the_share_of_marks_is_that_of_newly_acknowledged_packets),
        cmocka_unit_test(ect1_is_counted_for_a_controller_of_l4s),
        cmocka_unit_test(a_peer_without_counts_turns_marking_off),
        cmocka_unit_test(counts_below_the_acknowledged_ones_turn_marking_off),
        cmocka_unit_test(counts_above_the_sent_ones_turn_marking_off),
        cmocka_unit_test(a_codepoint_that_was_not_sent_turns_marking_off),
        cmocka_unit_test(
            counts_of_the_path_before_are_not_held_against_a_new_one),
        cmocka_unit_test(
            silence_turns_marking_off_unless_the_path_has_shown_that_it_works),
    };
    return cmocka_run_group_tests_name("ecn", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The cost of the next section to the next KEY of its stream. */
#include "libtltcp/engine/lookahead.h"
#include "libtltcp/engine/lookahead_times.h"
#include "tests/support/cmocka.h"

#define MS TLTCP_MS
#define NOW (10 * TLTCP_S)
#define GAP (120 * MS)
#define BYTES 20000.0
#define DUE (400 * MS)

static tltcp__path_estimate path; /* 2 Mbit/s */
static tltcp__section behind;     /* the section in question; no bytes: none */

/* A REFERENCE every 120 ms, of which the newest was written just now; a KEY
 * `key` ns from now, due 200 ms later, that nothing but it makes late. */
static bool keeps(tltcp_time key, double key_bytes) {
    const cmn__mem mem = cmn__mem_default();
    tltcp__dependencies l;
    tltcp__cadence *r;
    cmn__ring recs;
    tltcp__section *s;
    bool kept;
    tltcp__dependencies_init(&l, &mem, TLTCP_DROP_DEPENDENTS);
    r = &l.stream[0].cadence;
    *r = (tltcp__cadence){.last = NOW,
                          .last_key = NOW + key - 2 * TLTCP_S,
                          .gap = GAP,
                          .gop = 2 * TLTCP_S,
                          .due = {200 * MS, 200 * MS},
                          .dead = {1200 * MS, 1200 * MS},
                          .bytes = {BYTES, key_bytes}};
    cmn__ring_init(&recs, &mem, sizeof(tltcp__section), 0);
    s = cmn__ring_push(&recs);
    assert_non_null(s);
    *s = (tltcp__section){.end = (uint64_t)BYTES,
                          .written = NOW,
                          .due = NOW + 200 * MS,
                          .deadline = NOW + 1200 * MS,
                          .cls = TL_CLASS_REFERENCE};
    if (behind.end > 0) {
        s = cmn__ring_push(&recs);
        assert_non_null(s);
        *s = behind;
        l.stream[0].key = behind.cls == TL_CLASS_KEY ? 2 : 0;
    }
    kept = tltcp__lookahead_keeps(&l, &recs, 0, 0, &path, NOW);
    cmn__ring_free(&recs);
    tltcp__dependencies_free(&l);
    return kept;
}

static tltcp__section waiting(uint8_t cls, tltcp_time written, tltcp_time takes,
                              tltcp_time due) {
    return (tltcp__section){.end = (uint64_t)path.rate * takes / TLTCP_S,
                            .written = NOW + written,
                            .due = NOW + due,
                            .deadline = NOW + due,
                            .cls = cls};
}

/* Whether the first of two sections is sent. No others are expected. */
static bool keeps_first(tltcp__section first, tltcp__section second) {
    const tltcp__section *const two[] = {&first, &second};
    const cmn__mem mem = cmn__mem_default();
    tltcp__dependencies l;
    cmn__ring recs;
    bool kept;
    second.start = first.end;
    second.end += first.end;
    tltcp__dependencies_init(&l, &mem, TLTCP_DROP_DEPENDENTS);
    l.stream[0].cadence.bytes[0] = BYTES;
    cmn__ring_init(&recs, &mem, sizeof(tltcp__section), 0);
    for (unsigned i = 0; i < 2; i++) {
        tltcp__section *s = cmn__ring_push(&recs);
        assert_non_null(s);
        *s = *two[i];
        s->refers = i; /* to none */
    }
    kept = tltcp__lookahead_keeps(&l, &recs, 0, 0, &path, NOW);
    cmn__ring_free(&recs);
    tltcp__dependencies_free(&l);
    return kept;
}

/* Two DISPOSABLEs, due in 200 and 240 ms, that take so long to send. */
static bool keeps_optional(tltcp_time first, tltcp_time second) {
    return keeps_first(waiting(TL_CLASS_DISPOSABLE, 0, first, 200 * MS),
                       waiting(TL_CLASS_DISPOSABLE, 40 * MS, second, 240 * MS));
}

static void lose(float loss) {
    path.loss = loss;
    path.packet = 1000;
    path.repair = 100 * MS;
}

static int begin(void **state) {
    (void)state;
    path = (tltcp__path_estimate){.rate = 250000, .settled = true};
    behind = (tltcp__section){0};
    return 0;
}

static int begin_beside_others(void **state) {
    (void)state;
    path = (tltcp__path_estimate){.rate = 250000};
    behind = (tltcp__section){0};
    return 0;
}

TEST(more_packets_need_a_repair_more_often) {
    assert_float_equal(tltcp__chance_missing(0, 100, 0), 0, 0);
    assert_float_equal(tltcp__chance_missing(0.5, 0.1, 0), 0.5, 1e-9);
    assert_float_equal(tltcp__chance_missing(0.5, 2, 0), 0.75, 1e-9);
    assert_float_equal(tltcp__chance_missing(0.5, 2, 1), 0.4375, 1e-9);
}

TEST(a_key_needs_repairs_unless_symbols_cover_it) {
    tltcp__path_estimate p = {.loss = 0.25F};
    assert_float_equal(tltcp__loss_of(&p, TL_CLASS_KEY), 0.25, 0);
    p.repairs = true;
    assert_float_equal(tltcp__loss_of(&p, TL_CLASS_KEY), 0, 0);
    assert_float_equal(tltcp__loss_of(&p, TL_CLASS_REFERENCE), 0.25, 0);
}

/* Both fit if nothing is lost. Otherwise the second is late behind the first,
 * and more likely in time without it. */
TEST(all_that_fits_is_sent_unless_repairs_are_likely) {
    assert_true(keeps_optional(150 * MS, 60 * MS));
    lose(0.0001F);
    assert_true(keeps_optional(150 * MS, 60 * MS));
    lose(0.15F);
    assert_false(keeps_optional(150 * MS, 60 * MS));
    assert_true(keeps_optional(60 * MS, 60 * MS));
}

/* The KEY takes 300 ms, and is due in 400: a repair of it is in time only if it
 * does not wait. */
TEST(a_key_of_any_stream_waits_only_if_symbols_cover_it) {
    const tltcp__section first = waiting(TL_CLASS_DISPOSABLE, 0, 20 * MS, DUE);
    for (uint8_t stream = 0; stream < 2; stream++) {
        tltcp__section key = waiting(TL_CLASS_KEY, 0, 300 * MS, DUE);
        key.stream = stream;
        lose(0.05F);
        path.repairs = false;
        assert_false(keeps_first(first, key));
        path.repairs = true;
        assert_true(keeps_first(first, key));
    }
}

/* It is planned to be complete the earlier, the more likely it needs one. */
TEST(beside_others_what_needs_a_repair_must_be_complete_earlier) {
    assert_true(keeps_optional(150 * MS, MS));
    lose(0.15F);
    assert_false(keeps_optional(150 * MS, MS));
    assert_true(keeps_optional(90 * MS, MS));
    path.repair = 30 * MS;
    assert_true(keeps_optional(150 * MS, MS));
}

TEST(frames_that_fit_are_kept) {
    assert_true(keeps(GAP, BYTES));
    assert_true(keeps(4 * GAP, BYTES));
}

/* A quarter of a second on the way, 80 ms behind the REFERENCE. */
TEST(a_key_that_comes_late_at_best_is_not_made_later) {
    path.delay = 100 * MS;
    assert_false(keeps(GAP, 62500));
}

/* Far enough ahead, it costs nothing. */
TEST(a_key_that_comes_late_anyhow_may_be_far) {
    assert_true(keeps(8 * GAP, 62500));
}

/* It would be of no use, whatever goes before it. */
TEST(a_key_that_is_past_help_costs_nothing) {
    path.delay = 100 * MS;
    assert_true(keeps(GAP, 500000));
}

/* It is due in 200 ms, and takes a quarter of a second. */
TEST(a_key_that_waits_is_not_made_later_unless_it_has_left) {
    path.delay = 100 * MS;
    behind = (tltcp__section){.start = (uint64_t)BYTES,
                              .end = (uint64_t)BYTES + 62500,
                              .written = NOW,
                              .due = NOW + 200 * MS,
                              .deadline = NOW + 1200 * MS,
                              .cls = TL_CLASS_KEY};
    assert_false(keeps(20 * GAP, BYTES));
    behind.ahead = true;
    assert_true(keeps(20 * GAP, BYTES));
    behind.ahead = false;
    behind.state = TLTCP__SECTION_EXPIRED;
    assert_true(keeps(20 * GAP, BYTES));
}

/* A window that is not filled does not grow: by the rate that others leave,
 * nothing might be sent at all. */
TEST(beside_others_a_late_reference_is_sent_while_no_key_waits) {
    path.rate = 25000;
    path.delay = 900 * MS;
    assert_true(keeps(8 * GAP, 62500));
}

TEST(what_is_due_at_the_end_of_time_is_not_late) {
    assert_true(tltcp__from_now(NOW + 1, NOW) == 1);
    assert_true(tltcp__from_now(0, NOW) == -(int64_t)NOW);
    assert_true(tltcp__from_now(TLTCP_TIME_NEVER, NOW) == TLTCP__NEVER);
    assert_true(tltcp__from_now(TLTCP_TIME_NEVER - 1, NOW) == TLTCP__NEVER);
    assert_true(tltcp__from_now(TLTCP_TIME_NEVER / 2 + 2 * NOW, NOW) ==
                TLTCP__NEVER);
}

/* Nothing is known but that data waits for the window. */
TEST(a_late_reference_yields_to_a_key_that_waits_for_the_window) {
    path.rate = 0;
    path.window = 25000;
    path.starved = true;
    assert_true(keeps(20 * GAP, BYTES));
    behind = (tltcp__section){.start = (uint64_t)BYTES,
                              .end = (uint64_t)BYTES + 2500,
                              .written = NOW,
                              .due = NOW + 200 * MS,
                              .deadline = NOW + 1200 * MS,
                              .cls = TL_CLASS_KEY};
    assert_false(keeps(20 * GAP, BYTES));
    path.starved = false;
    assert_true(keeps(20 * GAP, BYTES));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_due_at_the_end_of_time_is_not_late),
        cmocka_unit_test_setup(all_that_fits_is_sent_unless_repairs_are_likely,
                               begin),
        cmocka_unit_test_setup(
            a_key_of_any_stream_waits_only_if_symbols_cover_it, begin),
        cmocka_unit_test_setup(
            beside_others_what_needs_a_repair_must_be_complete_earlier,
            begin_beside_others),
        cmocka_unit_test_setup(frames_that_fit_are_kept, begin),
        cmocka_unit_test_setup(a_key_needs_repairs_unless_symbols_cover_it,
                               begin),
        cmocka_unit_test_setup(more_packets_need_a_repair_more_often, begin),
        cmocka_unit_test_setup(a_key_that_comes_late_at_best_is_not_made_later,
                               begin),
        cmocka_unit_test_setup(a_key_that_comes_late_anyhow_may_be_far, begin),
        cmocka_unit_test_setup(a_key_that_is_past_help_costs_nothing, begin),
        cmocka_unit_test_setup(
            a_key_that_waits_is_not_made_later_unless_it_has_left, begin),
        cmocka_unit_test_setup(
            a_key_that_waits_is_not_made_later_unless_it_has_left,
            begin_beside_others),
        cmocka_unit_test_setup(frames_that_fit_are_kept, begin_beside_others),
        cmocka_unit_test_setup(a_key_that_comes_late_at_best_is_not_made_later,
                               begin_beside_others),
        cmocka_unit_test_setup(a_key_that_comes_late_anyhow_may_be_far,
                               begin_beside_others),
        cmocka_unit_test_setup(a_key_that_is_past_help_costs_nothing,
                               begin_beside_others),
        cmocka_unit_test_setup(
            beside_others_a_late_reference_is_sent_while_no_key_waits,
            begin_beside_others),
        cmocka_unit_test_setup(
            a_late_reference_yields_to_a_key_that_waits_for_the_window,
            begin_beside_others),
    };
    return cmocka_run_group_tests_name("lookahead", tests, NULL, NULL);
}

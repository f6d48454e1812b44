/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "libtltcp/live/ledger.h"
#include "tests/support/cmocka.h"

static struct ledger_entry frame(uint8_t picture, uint32_t number) {
    struct ledger_entry e = {.is_frame = true};
    e.header.kind = MEDIA_KIND_FRAME;
    e.header.picture = picture;
    e.header.number = number;
    e.header.frame_class = MEDIA_CLASS_REFERENCE;
    e.bytes = 100;
    return e;
}

static void fate(struct ledger *l, uint64_t section, uint32_t kind) {
    tltcp_event ev = {
        .type = TLTCP_EVENT_FATE, .section = section, .fate = kind, .now = 5};
    ledger_fate(l, &ev);
}

static void check_sum(const struct ledger_count *c) {
    assert_int_equal(c->offered, c->delivered + c->partial + c->expired);
}

TEST(every_fate_is_counted_by_kind_of_frame) {
    struct ledger l;
    struct ledger_entry config = {.is_frame = false};
    struct ledger_entry e;
    assert_true(ledger_init(&l, NULL));
    assert_true(ledger_sent(&l, &config));
    for (uint32_t i = 0; i < 3; i++) {
        e = frame(MEDIA_PICTURE_B, i);
        assert_true(ledger_sent(&l, &e));
    }
    e = frame(MEDIA_PICTURE_I, 3);
    ledger_held_back(&l, &e, MEDIA_DROP_LATE, 1);
    fate(&l, 0, TLTCP_FATE_DELIVERED);
    fate(&l, 1, TLTCP_FATE_DELIVERED);
    fate(&l, 3, TLTCP_FATE_UNSENT);
    fate(&l, 2, TLTCP_FATE_PARTIAL);
    assert_int_equal(l.open, 0);
    assert_int_equal(l.kind[TALLY_B].delivered, 1);
    assert_int_equal(l.kind[TALLY_B].partial, 1);
    assert_int_equal(l.kind[TALLY_B].expired, 1);
    assert_int_equal(l.kind[TALLY_I].expired, 1);
    assert_int_equal(l.held_back[MEDIA_DROP_LATE], 2);
    assert_int_equal(l.section.offered, 5);
    check_sum(&l.section);
    check_sum(&l.kind[TALLY_B]);
    assert_true(ledger_free(&l));
}

TEST(what_was_never_sent_has_a_reason) {
    static const struct {
        uint32_t cause;
        int reason;
    } causes[] = {{TLTCP_CAUSE_DEADLINE, MEDIA_DROP_LATE},
                  {TLTCP_CAUSE_DEPENDS, MEDIA_DROP_DEPENDS},
                  {TLTCP_CAUSE_YIELDED, MEDIA_DROP_YIELDED}};
    struct ledger l;
    struct ledger_entry e = frame(MEDIA_PICTURE_B, 0);
    assert_true(ledger_init(&l, NULL));
    for (uint32_t i = 0; i < 3; i++) {
        tltcp_event ev = {.type = TLTCP_EVENT_FATE,
                          .section = i,
                          .fate = TLTCP_FATE_UNSENT,
                          .cause = causes[i].cause};
        assert_true(ledger_sent(&l, &e));
        ledger_fate(&l, &ev);
        assert_int_equal(l.held_back[causes[i].reason], 1);
    }
    assert_int_equal(l.kind[TALLY_B].expired, 3);
    check_sum(&l.section);
    assert_true(ledger_free(&l));
}

TEST(a_fate_told_twice_or_of_nothing_counts_once) {
    struct ledger l;
    struct ledger_entry e = frame(MEDIA_PICTURE_P, 0);
    assert_true(ledger_init(&l, NULL));
    assert_true(ledger_sent(&l, &e));
    assert_true(ledger_sent(&l, &e));
    fate(&l, 1, TLTCP_FATE_EXPIRED);
    fate(&l, 1, TLTCP_FATE_EXPIRED);
    fate(&l, 77, TLTCP_FATE_EXPIRED);
    assert_int_equal(l.section.expired, 1);
    assert_int_equal(l.open, 1);
    fate(&l, 0, TLTCP_FATE_EXPIRED);
    fate(&l, 0, TLTCP_FATE_EXPIRED);
    assert_int_equal(l.section.expired, 2);
    assert_true(ledger_free(&l));
}

TEST(the_book_grows_while_an_old_fate_is_open) {
    struct ledger l;
    tltcp_event ev = {.type = TLTCP_EVENT_FATE, .fate = TLTCP_FATE_EXPIRED};
    const uint32_t many = 5000;
    assert_true(ledger_init(&l, NULL));
    for (uint32_t i = 0; i < many; i++) {
        struct ledger_entry e = frame(MEDIA_PICTURE_P, i);
        assert_true(ledger_sent(&l, &e));
    }
    for (uint32_t i = 1; i < many; i++) {
        ev.section = i;
        ledger_fate(&l, &ev);
        assert_int_equal(l.open, many - i);
    }
    assert_int_equal(l.open, 1);
    ledger_abandon(&l, 9);
    assert_int_equal(l.open, 0);
    check_sum(&l.section);
    assert_true(ledger_free(&l));
}

TEST(a_frame_needs_a_type_to_be_counted_by) {
    media_header h = {.frame_class = MEDIA_CLASS_AUDIO};
    assert_int_equal(tally_kind(&h), TALLY_AUDIO);
    h.frame_class = MEDIA_CLASS_OTHER;
    assert_int_equal(tally_kind(&h), TALLY_OTHER);
    h.picture = MEDIA_PICTURE_I;
    assert_int_equal(tally_kind(&h), TALLY_I);
    assert_string_equal(tally_name(TALLY_I), "I");
    assert_string_equal(tally_name(TALLY_OTHER), "other");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fate_is_counted_by_kind_of_frame),
        cmocka_unit_test(what_was_never_sent_has_a_reason),
        cmocka_unit_test(a_fate_told_twice_or_of_nothing_counts_once),
        cmocka_unit_test(the_book_grows_while_an_old_fate_is_open),
        cmocka_unit_test(a_frame_needs_a_type_to_be_counted_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

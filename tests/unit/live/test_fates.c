/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "internal/media/stream/drop.h"
#include "libtltcp/live/fates.h"
#include "tests/support/cmocka.h"

static struct live_sent frame(uint8_t picture, uint32_t number) {
    return (struct live_sent){.open = true,
                              .is_frame = true,
                              .picture = picture,
                              .number = number,
                              .frame_class = MEDIA_CLASS_REFERENCE,
                              .wire_class = MEDIA_CLASS_REFERENCE,
                              .bytes = 100};
}

static bool fate(struct live_fates *f, uint64_t section, uint32_t kind) {
    struct live_sent sent;
    return tltcp__live_fates_settle(f, section, kind, MEDIA_DROP_LATE, &sent);
}

static void check_sum(const tltcp_live_count *c) {
    assert_int_equal(c->offered, c->delivered + c->partial + c->expired +
                                     c->dropped + c->abandoned);
}

TEST(every_fate_is_counted_by_kind_of_frame) {
    struct live_fates l = {0};
    struct live_sent config = {.open = true};
    struct live_sent e;
    assert_true(tltcp__live_fates_add(&l, &config));
    for (uint32_t i = 0; i < 3; i++) {
        e = frame(MEDIA_PICTURE_B, i);
        assert_true(tltcp__live_fates_add(&l, &e));
    }
    e = frame(MEDIA_PICTURE_I, 3);
    tltcp__live_fates_drop(&l, &e, MEDIA_DROP_LATE);
    (void)fate(&l, 0, TLTCP_FATE_DELIVERED);
    (void)fate(&l, 1, TLTCP_FATE_DELIVERED);
    (void)fate(&l, 3, TLTCP_FATE_UNSENT);
    (void)fate(&l, 2, TLTCP_FATE_PARTIAL);
    assert_int_equal(l.open, 0);
    assert_int_equal(l.stats.kinds[TLTCP_LIVE_KIND_B].delivered, 1);
    assert_int_equal(l.stats.kinds[TLTCP_LIVE_KIND_B].partial, 1);
    assert_int_equal(l.stats.kinds[TLTCP_LIVE_KIND_B].dropped, 1);
    assert_int_equal(l.stats.kinds[TLTCP_LIVE_KIND_I].dropped, 1);
    assert_int_equal(l.stats.dropped[MEDIA_DROP_LATE], 2);
    assert_int_equal(l.stats.sections.offered, 5);
    check_sum(&l.stats.sections);
    check_sum(&l.stats.kinds[TLTCP_LIVE_KIND_B]);
    tltcp__live_fates_clear(&l);
}

TEST(a_repeated_or_unknown_fate_does_not_count) {
    struct live_fates l = {0};
    struct live_sent e = frame(MEDIA_PICTURE_P, 0);
    assert_true(tltcp__live_fates_add(&l, &e));
    assert_true(tltcp__live_fates_add(&l, &e));
    (void)fate(&l, 1, TLTCP_FATE_EXPIRED);
    (void)fate(&l, 1, TLTCP_FATE_EXPIRED);
    (void)fate(&l, 77, TLTCP_FATE_EXPIRED);
    assert_int_equal(l.stats.sections.expired, 1);
    assert_int_equal(l.open, 1);
    (void)fate(&l, 0, TLTCP_FATE_EXPIRED);
    (void)fate(&l, 0, TLTCP_FATE_EXPIRED);
    assert_int_equal(l.stats.sections.expired, 2);
    tltcp__live_fates_clear(&l);
}

TEST(the_book_grows_while_an_old_fate_is_open) {
    struct live_fates l = {0};
    const uint32_t many = 5000;
    for (uint32_t i = 0; i < many; i++) {
        struct live_sent e = frame(MEDIA_PICTURE_P, i);
        assert_true(tltcp__live_fates_add(&l, &e));
    }
    for (uint32_t i = 1; i < many; i++) {
        assert_true(fate(&l, i, TLTCP_FATE_EXPIRED));
        assert_int_equal(l.open, many - i);
    }
    assert_true(fate(&l, 0, TLTCP_FATE_ABANDONED));
    assert_int_equal(l.open, 0);
    assert_int_equal(l.first, many);
    assert_int_equal(l.stats.sections.abandoned, 1);
    check_sum(&l.stats.sections);
    tltcp__live_fates_clear(&l);
}

TEST(a_frame_needs_a_type_to_be_counted_by) {
    struct live_sent s = {.wire_class = MEDIA_CLASS_AUDIO};
    assert_int_equal(tltcp__live_kind(&s), TLTCP_LIVE_KIND_AUDIO);
    s.wire_class = MEDIA_CLASS_OTHER;
    assert_int_equal(tltcp__live_kind(&s), TLTCP_LIVE_KIND_OTHER);
    s.picture = MEDIA_PICTURE_I;
    assert_int_equal(tltcp__live_kind(&s), TLTCP_LIVE_KIND_I);
    assert_string_equal(tltcp_live_kind_name(TLTCP_LIVE_KIND_I), "I");
    assert_string_equal(tltcp_live_kind_name(99), "other");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fate_is_counted_by_kind_of_frame),
        cmocka_unit_test(a_repeated_or_unknown_fate_does_not_count),
        cmocka_unit_test(the_book_grows_while_an_old_fate_is_open),
        cmocka_unit_test(a_frame_needs_a_type_to_be_counted_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

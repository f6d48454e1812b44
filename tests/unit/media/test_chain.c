/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include <tltcp/types.h>

#include "internal/media/stream/chain.h"
#include "internal/media/stream/deadline.h"
#include "tests/support/cmocka.h"

/* 'I' closed, 'C' open key frame, 'P' reference, 'B' disposable, 'R' recovery
 * point, 'h' header; due in the order given. */
static media_timed_frame item_of(char kind, int64_t due, unsigned layer) {
    media_timed_frame timed;

    memset(&timed, 0, sizeof(timed));
    timed.due = due;
    timed.frame.key = kind == 'I' || kind == 'C';
    timed.frame.closed_gop = kind == 'I';
    timed.frame.recovery = kind == 'R';
    timed.frame.temporal_id = (uint8_t)layer;
    timed.frame.frame_class = timed.frame.key ? MEDIA_CLASS_KEY
                              : kind == 'B'   ? MEDIA_CLASS_DISPOSABLE
                              : kind == 'h'   ? MEDIA_CLASS_HEADER
                                              : MEDIA_CLASS_REFERENCE;
    return timed;
}

/* Adds a frame as section `n` and says how far back it refers. */
static uint32_t add(media_chain *c, char kind, int64_t due, uint64_t n) {
    media_timed_frame timed = item_of(kind, due, 0);

    return media__chain_add(c, &timed, n);
}

TEST(frames_refer_to_the_reference_before_them) {
    media_chain c = {0};

    assert_int_equal(add(&c, 'I', 1, 0), TL_DEPENDS_NONE);
    assert_int_equal(add(&c, 'P', 4, 1), 1);
    assert_int_equal(add(&c, 'B', 2, 2), 1);
    assert_int_equal(add(&c, 'B', 3, 3), 2);
    assert_int_equal(add(&c, 'P', 7, 10), 9); /* sections of others between */
    assert_int_equal(add(&c, 'h', MEDIA_NEVER, 11), 0);
}

static uint32_t go_on(media_chain *c, char kind, uint64_t n) {
    media_timed_frame timed = item_of(kind, 1, 0);

    timed.frame.continues = true;
    return media__chain_add(c, &timed, n);
}

TEST(parts_of_a_frame_refer_to_the_part_before_them) {
    media_chain c = {0};

    assert_int_equal(add(&c, 'I', 1, 0), TL_DEPENDS_NONE);
    assert_int_equal(go_on(&c, 'I', 1), 1);
    assert_int_equal(go_on(&c, 'I', 3), 2);
    assert_int_equal(add(&c, 'P', 4, 4), 1);
    assert_int_equal(go_on(&c, 'P', 5), 1);
    assert_int_equal(add(&c, 'B', 2, 6), 1);
    assert_int_equal(go_on(&c, 'B', 7), 1);
    assert_int_equal(add(&c, 'B', 3, 8), 3); /* to the end of the P frame */
}

static void
what_leads_an_open_key_frame_refers_to_what_is_before(void **state) {
    media_chain c = {0};

    (void)state;
    add(&c, 'I', 1, 0);
    add(&c, 'P', 4, 1);
    assert_int_equal(add(&c, 'C', 7, 2), TL_DEPENDS_NONE);
    assert_int_equal(add(&c, 'P', 6, 3), 2);  /* leading, to section 1 */
    assert_int_equal(add(&c, 'B', 5, 4), 1);  /* leading, to section 3 */
    assert_int_equal(add(&c, 'P', 10, 5), 3); /* to the key frame */
}

TEST(nothing_leads_a_closed_key_frame) {
    media_chain c = {0};

    add(&c, 'I', 1, 0);
    add(&c, 'P', 4, 1);
    add(&c, 'I', 7, 2);
    assert_int_equal(add(&c, 'B', 6, 3), 1);
}

TEST(lower_layers_do_not_refer_to_higher_ones) {
    media_chain c = {0};
    media_timed_frame high = item_of('P', 2, 2);
    media_timed_frame low = item_of('P', 3, 0);
    media_timed_frame middle = item_of('B', 4, 1);

    add(&c, 'I', 1, 0);
    assert_int_equal(media__chain_add(&c, &high, 1), 1);
    assert_int_equal(media__chain_add(&c, &low, 2), 2);
    assert_int_equal(media__chain_add(&c, &middle, 3), 1);
}

TEST(a_recovery_point_refers_to_nothing) {
    media_chain c = {0};

    add(&c, 'I', 1, 0);
    add(&c, 'P', 2, 1);
    assert_int_equal(add(&c, 'R', 3, 2), TL_DEPENDS_NONE);
    assert_int_equal(add(&c, 'P', 4, 3), 1);
}

static uint32_t told(media_chain *c, uint32_t number, uint32_t back,
                     uint64_t n) {
    media_timed_frame timed = item_of('P', 1, 0);

    timed.number = number;
    timed.depends = back;
    return media__chain_add(c, &timed, n);
}

TEST(the_application_takes_precedence) {
    media_chain c = {0};

    add(&c, 'I', 1, 0); /* number 0 */
    assert_int_equal(told(&c, 1, 0, 4), 4);
    assert_int_equal(told(&c, 2, 2, 5), 5); /* to the key frame */
    assert_int_equal(told(&c, 3, TL_DEPENDS_NONE, 6), TL_DEPENDS_NONE);
    assert_int_equal(told(&c, 5, 3, 9), 4);  /* 4 was left out */
    assert_int_equal(told(&c, 6, 2, 10), 1); /* to what was: found out */
    assert_int_equal(told(&c, 7, 60, 11), 1);
    assert_int_equal(told(&c, 8, UINT32_MAX - 5, 12), 1);
}

/* Picture `ordinal` says that it refers to the one so many before it. */
static uint32_t read(media_chain *c, uint32_t ordinal, uint32_t back,
                     uint64_t n) {
    media_timed_frame timed = item_of('P', 1, 0);

    timed.number = ordinal;
    timed.frame.ordinal = ordinal;
    timed.frame.parent = back;
    return media__chain_add(c, &timed, n);
}

TEST(headers_take_precedence_over_the_order) {
    media_chain c = {0};
    media_timed_frame key = item_of('I', 1, 0);

    key.frame.ordinal = 1;
    media__chain_add(&c, &key, 10);
    assert_int_equal(read(&c, 2, 1, 12), 2);
    assert_int_equal(read(&c, 3, 1, 13), 1);
    assert_int_equal(read(&c, 4, 2, 14), 2); /* leaves out the one before */
    assert_int_equal(read(&c, 6, 1, 15),
                     1); /* to what was not sent: found out */
    assert_int_equal(read(&c, 7, 0, 16), 1); /* not known: found out */
    key.frame.ordinal = 8;
    media__chain_add(&c, &key, 17);
    /* nothing refers past a key frame, but what is shown before it */
    assert_int_equal(read(&c, 9, 2, 18), 1);
}

TEST(a_branch_is_marked_disposable) {
    media_chain c = {0};
    media_timed_frame timed = item_of('P', 1, 0);

    assert_int_equal(media__chain_class(&timed.frame), MEDIA_CLASS_REFERENCE);
    timed.frame.branch = true;
    assert_int_equal(media__chain_class(&timed.frame), MEDIA_CLASS_DISPOSABLE);
    assert_false(media__chain_misses(&c, media__chain_class(&timed.frame), 1));
}

TEST(a_loss_before_the_newest_key_frame_is_harmless) {
    media_chain c = {0};

    add(&c, 'I', 1, 0);
    add(&c, 'P', 2, 1);
    assert_true(media__chain_misses(&c, MEDIA_CLASS_REFERENCE, 1));
    assert_true(media__chain_misses(&c, MEDIA_CLASS_KEY, 0));
    assert_false(media__chain_misses(&c, MEDIA_CLASS_DISPOSABLE, 1));
    add(&c, 'I', 3, 2);
    assert_false(media__chain_misses(&c, MEDIA_CLASS_REFERENCE, 1));
    assert_true(media__chain_misses(&c, MEDIA_CLASS_KEY, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_refer_to_the_reference_before_them),
        cmocka_unit_test(parts_of_a_frame_refer_to_the_part_before_them),
        cmocka_unit_test(what_leads_an_open_key_frame_refers_to_what_is_before),
        cmocka_unit_test(nothing_leads_a_closed_key_frame),
        cmocka_unit_test(lower_layers_do_not_refer_to_higher_ones),
        cmocka_unit_test(a_recovery_point_refers_to_nothing),
        cmocka_unit_test(the_application_takes_precedence),
        cmocka_unit_test(headers_take_precedence_over_the_order),
        cmocka_unit_test(a_branch_is_marked_disposable),
        cmocka_unit_test(a_loss_before_the_newest_key_frame_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

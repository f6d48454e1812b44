/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include <tltcp/types.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/gate.h"
#include "tests/support/cmocka.h"

/* 'I' closed key frame, 'P' reference, 'B' disposable, 'R' recovery point, 'h'
 * header. */
static media_timed_frame item_of(char kind) {
    media_timed_frame timed;

    memset(&timed, 0, sizeof(timed));
    timed.frame.key = kind == 'I';
    timed.frame.closed_gop = kind == 'I';
    timed.frame.recovery = kind == 'R';
    timed.frame.frame_class = timed.frame.key ? MEDIA_CLASS_KEY
                              : kind == 'B'   ? MEDIA_CLASS_DISPOSABLE
                              : kind == 'h'   ? MEDIA_CLASS_HEADER
                                              : MEDIA_CLASS_REFERENCE;
    return timed;
}

static bool takes(media_gate *g, char kind, int64_t arrival) {
    media_timed_frame timed = item_of(kind);

    timed.arrival = arrival;
    return media__gate_takes(g, &timed);
}

TEST(a_new_caller_gets_nothing_before_a_key_frame) {
    media_gate g = {0};

    assert_true(takes(&g, 'P', 0));
    media__gate_join(&g, 0);
    assert_true(takes(&g, 'h', 1));
    assert_false(takes(&g, 'P', 1));
    assert_false(takes(&g, 'B', 2));
    assert_true(takes(&g, 'I', 3));
    assert_true(takes(&g, 'P', 4));
    media__gate_join(&g, 5);
    assert_true(takes(&g, 'R', 6));
}

TEST(the_wait_for_a_key_frame_ends) {
    media_gate g;

    media__gate_join(&g, 0);
    assert_false(takes(&g, 'P', INT64_C(9999999999)));
    assert_true(takes(&g, 'P', INT64_C(10000000000)));
    assert_true(takes(&g, 'P', INT64_C(10000000001)));
}

static void leave_out(media_gate *g, char kind) {
    media_timed_frame timed = item_of(kind);

    media__gate_leave_out(g, &timed);
}

TEST(after_a_lost_reference_nothing_is_sent_until_a_key_frame) {
    media_gate g = {0};

    assert_true(takes(&g, 'I', 0));
    leave_out(&g, 'P');
    assert_false(takes(&g, 'P', 1));
    assert_false(takes(&g, 'B', 2));
    assert_true(takes(&g, 'h', 2));
    assert_true(takes(&g, 'I', 3));
    assert_true(takes(&g, 'P', 4));
}

TEST(disposable_frames_are_not_missed) {
    media_gate g = {0};

    leave_out(&g, 'B');
    leave_out(&g, 'h');
    assert_true(takes(&g, 'P', 1));
}

TEST(lower_layers_go_on) {
    media_gate g = {0};
    media_timed_frame high = item_of('P');
    media_timed_frame low = item_of('P');

    high.frame.temporal_id = 1;
    media__gate_leave_out(&g, &high);
    assert_true(media__gate_takes(&g, &low));
    assert_false(media__gate_takes(&g, &high));
    media__gate_leave_out(&g, &low);
    media__gate_leave_out(&g, &high);
    assert_false(media__gate_takes(&g, &low));
}

TEST(parts_of_a_picture_go_with_it) {
    media_gate g = {0};
    media_timed_frame part = item_of('B');

    leave_out(&g, 'B');
    part.frame.continues = true;
    assert_false(media__gate_takes(&g, &part));
    part.frame.continues = false;
    assert_true(media__gate_takes(&g, &part));
    part.frame.continues = true;
    assert_true(media__gate_takes(&g, &part));
}

static media_timed_frame read(uint32_t ordinal, uint32_t back) {
    media_timed_frame timed = item_of('P');

    timed.frame.ordinal = ordinal;
    timed.frame.parent = back;
    timed.frame.branch = true;
    return timed;
}

TEST(what_names_a_branch_goes_with_it) {
    media_gate g = {0};
    media_timed_frame branch = read(5, 1);
    media_timed_frame other = read(6, 2);
    media_timed_frame child = read(7, 2);
    media_timed_frame grandchild = read(8, 1);
    media_timed_frame key = item_of('I');

    media__gate_leave_out(&g, &branch);
    assert_true(media__gate_takes(&g, &other));
    assert_false(media__gate_takes(&g, &child));
    assert_false(media__gate_takes(&g, &grandchild));
    assert_true(media__gate_takes(&g, &key));
    assert_true(media__gate_takes(&g, &grandchild)); /* of another stream */
}

TEST(the_applications_metadata_counts_too) {
    media_gate g = {0};
    media_timed_frame left = item_of('B');
    media_timed_frame child = item_of('B');

    left.number = 3;
    media__gate_leave_out(&g, &left);
    child.depends = TL_DEPENDS_NONE;
    child.number = 2; /* UINT32_MAX before it stands 3 */
    assert_true(media__gate_takes(&g, &child));
    child.number = 5;
    child.depends = 1;
    assert_true(media__gate_takes(&g, &child));
    child.depends = 2;
    assert_false(media__gate_takes(&g, &child));
}

/* A frame after an open key frame may refer to one before it. */
TEST(behind_an_open_key_frame_it_is_still_missed) {
    media_gate g = {0};
    media_timed_frame branch = read(5, 1);
    media_timed_frame key = item_of('I');
    media_timed_frame leading = read(7, 2);

    key.frame.closed_gop = false;
    media__gate_leave_out(&g, &branch);
    assert_true(media__gate_takes(&g, &key));
    assert_false(media__gate_takes(&g, &leading));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_caller_gets_nothing_before_a_key_frame),
        cmocka_unit_test(the_wait_for_a_key_frame_ends),
        cmocka_unit_test(
            after_a_lost_reference_nothing_is_sent_until_a_key_frame),
        cmocka_unit_test(disposable_frames_are_not_missed),
        cmocka_unit_test(lower_layers_go_on),
        cmocka_unit_test(parts_of_a_picture_go_with_it),
        cmocka_unit_test(what_names_a_branch_goes_with_it),
        cmocka_unit_test(the_applications_metadata_counts_too),
        cmocka_unit_test(behind_an_open_key_frame_it_is_still_missed),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}

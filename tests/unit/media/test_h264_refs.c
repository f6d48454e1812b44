/* SPDX-License-Identifier: MPL-2.0 */
/* What pictures of H.264 refer to. */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/unit/media/bits.h"

/* Four bits of frame_num; order by count in four bits, or by frame_num; two
 * pictures are kept. */
static void begin_h264(struct stream *s, unsigned order_type) {
    struct bits sps = {.count = 0};
    struct bits pps = {.count = 0};

    memset(s, 0, sizeof(*s));
    media__scanner_init(&s->scanner, "h264", MEDIA_TYPE_VIDEO, NULL, 0);
    put(&sps, 32, 0x6742001e);
    put_list(&sps, "00");
    put_ue(&sps, order_type);
    put_list(&sps, order_type ? "" : "0");
    put_list(&sps, "2");
    put(&sps, 1, 0);
    put_list(&sps, "77");
    put(&sps, 1, 1); /* frames only */
    put(&pps, 8, 0x68);
    put_list(&pps, "00");
    put(&pps, 2, 0);
    put_list(&pps, "000"); /* one group of slices, one picture in each list */
    put(&pps, 3, 0);
    put_list(&pps, "000");
    put(&pps, 3, 0);
    add_unit(s, &sps);
    add_unit(s, &pps);
}

/* One list of 16 that ends at once, one of 64 all the same. */
static void lists_of_scaling_in_h264_are_passed(void **state) {
    struct bits b = {.count = 0};
    struct stream s;

    (void)state;
    memset(&s, 0, sizeof(s));
    media__scanner_init(&s.scanner, "h264", MEDIA_TYPE_VIDEO, NULL, 0);
    put(&b, 32, 0x6764001e);
    put_list(&b, "0122");
    put(&b, 2, 1);
    put(&b, 1, 1);
    put_ue(&b, 16); /* -8: the rest is as it was */
    put(&b, 6, 1);
    for (unsigned i = 0; i < 64; i++) {
        put_ue(&b, 0);
    }
    put(&b, 1, 0);
    put_list(&b, "3053");
    put(&b, 1, 0);
    put_list(&b, "77");
    put(&b, 1, 1);
    add_unit(&s, &b);
    (void)scan(&s);
    assert_true(s.scanner.h264.sps.known);
    assert_true(s.scanner.h264.sps.frames_only);
    assert_int_equal(s.scanner.h264.sps.frame_bits, 7);
    assert_int_equal(s.scanner.h264.sps.order_bits, 9);
    assert_int_equal(s.scanner.h264.sps.refs_max, 3);
}

struct head {
    char type;          /* I: IDR; P, B; b: a B picture nobody refers to */
    unsigned frame;     /* frame_num */
    unsigned order;     /* pic_order_cnt_lsb */
    unsigned lists;     /* pictures in each; 0: as the set says */
    const char *named;  /* commands of list 0: kind, number and so on */
    const char *marked; /* of the marking, likewise */
};

static void put_commands(struct bits *b, const char *list, uint32_t end) {
    put(b, 1, list != NULL);
    if (list) {
        put_list(b, list);
        put_ue(b, end);
    }
}

static void put_slice(struct stream *s, const struct head *h, uint32_t first) {
    struct bits b = {.count = 0};
    bool bi = h->type == 'B' || h->type == 'b';

    put(&b, 8, h->type == 'I' ? 0x65 : h->type == 'b' ? 0x01 : 0x41);
    put_ue(&b, first);
    put_ue(&b, h->type == 'I' ? 7 : bi ? 6 : 5);
    put_ue(&b, 0);
    put(&b, 4, h->frame);
    if (h->type == 'I') {
        put_ue(&b, 0);
    }
    if (s->scanner.h264.sps.order_type == 0) {
        put(&b, 4, h->order & 15);
    }
    if (bi) {
        put(&b, 1, 1);
    }
    if (h->type != 'I') {
        put(&b, 1, h->lists > 0);
        for (unsigned i = 0; h->lists && i < 1u + bi; i++) {
            put_ue(&b, h->lists - 1);
        }
        put_commands(&b, h->named, 3);
    }
    if (bi) {
        put(&b, 1, 0);
    }
    if (h->type == 'I') {
        put(&b, 2, 0);
    } else if (h->type != 'b') {
        put_commands(&b, h->marked, 0);
    }
    add_unit(s, &b);
}

static uint32_t parent_h264(struct stream *s, struct head h) {
    put_slice(s, &h, 0);
    return scan(s).parent;
}

static void scan_params(struct stream *s, unsigned order_type) {
    begin_h264(s, order_type);
    assert_int_equal(scan(s).frame_class, MEDIA_CLASS_HEADER);
}

static void an_h264_picture_begins_with_the_newest_frame(void **state) {
    struct stream s;

    (void)state;
    scan_params(&s, 0);
    assert_int_equal(parent_h264(&s, (struct head){'I', 0, 0, 0, NULL, NULL}),
                     0);
    assert_int_equal(parent_h264(&s, (struct head){'P', 1, 8, 0, NULL, NULL}),
                     1);
    /* lists by order: 0 and 8; the newer is P */
    assert_int_equal(parent_h264(&s, (struct head){'B', 2, 4, 0, NULL, NULL}),
                     1);
    /* 0 went with two kept, 4 is nearest before and 8 behind: B leads to both
     */
    assert_int_equal(parent_h264(&s, (struct head){'b', 3, 6, 0, NULL, NULL}),
                     1);
    /* the newest is B; frame_num 1, two before, is named instead */
    assert_int_equal(parent_h264(&s, (struct head){'P', 3, 0, 0, NULL, NULL}),
                     2);
    assert_int_equal(parent_h264(&s, (struct head){'P', 4, 4, 0, "01", NULL}),
                     3);
}

/* 5 would slide out 4 and keep B; a command drops B instead. */
static void commands_say_which_h264_pictures_stay(void **state) {
    struct stream s;

    (void)state;
    scan_params(&s, 0);
    assert_int_equal(parent_h264(&s, (struct head){'I', 0, 0, 0, NULL, NULL}),
                     0);
    assert_int_equal(parent_h264(&s, (struct head){'P', 1, 8, 0, NULL, NULL}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'B', 2, 4, 0, NULL, NULL}),
                     1);
    /* refers to the one before the last, and unmarks the last */
    assert_int_equal(parent_h264(&s, (struct head){'P', 3, 0, 0, "01", "10"}),
                     2);
    /* two in the list: 3 and 1, not B */
    assert_int_equal(parent_h264(&s, (struct head){'P', 4, 8, 2, NULL, NULL}),
                     1);
    /* what is named is not there */
    assert_int_equal(parent_h264(&s, (struct head){'P', 5, 0, 0, "04", NULL}),
                     0);
}

static void after_a_missing_h264_frame_nothing_is_said(void **state) {
    struct stream s;

    (void)state;
    scan_params(&s, 0);
    assert_int_equal(parent_h264(&s, (struct head){'I', 0, 0, 0, NULL, NULL}),
                     0);
    assert_int_equal(parent_h264(&s, (struct head){'P', 1, 2, 0, NULL, NULL}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'P', 3, 6, 0, NULL, NULL}),
                     0);
    assert_int_equal(parent_h264(&s, (struct head){'P', 4, 8, 0, NULL, NULL}),
                     0);
    assert_int_equal(parent_h264(&s, (struct head){'I', 0, 0, 0, NULL, NULL}),
                     0);
    assert_int_equal(parent_h264(&s, (struct head){'P', 1, 2, 0, NULL, NULL}),
                     1);
}

static void h264_frames_count_on_past_their_bits(void **state) {
    struct stream s;

    (void)state;
    for (unsigned type = 0; type <= 2; type += 2) {
        scan_params(&s, type);
        (void)parent_h264(&s, (struct head){'I', 0, 0, 0, NULL, NULL});
        for (unsigned i = 1; i < 100; i++) {
            assert_int_equal(parent_h264(&s, (struct head){'P', i & 15, 2 * i,
                                                           0, NULL, NULL}),
                             1);
        }
        assert_in_range(s.scanner.h264.base_order, type ? 96 : 198,
                        type ? 96 : 198);
    }
}

/* A key frame that stays, by what a command makes of it, while frames slide. */
static void long_term_h264_pictures_are_found_by_their_names(void **state) {
    struct stream s;

    (void)state;
    scan_params(&s, 0);
    assert_int_equal(parent_h264(&s, (struct head){'I', 0, 0, 0, NULL, NULL}),
                     0);
    /* 1 makes 0 long-term number 1 and stays itself */
    assert_int_equal(parent_h264(&s, (struct head){'P', 1, 2, 0, NULL, "301"}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'P', 2, 4, 0, "21", NULL}),
                     2);
    /* behind all short-term ones: 2 and 0 */
    assert_int_equal(parent_h264(&s, (struct head){'P', 3, 6, 2, NULL, NULL}),
                     1);
    /* makes itself number 0, and unmarks number 1 */
    assert_int_equal(parent_h264(&s, (struct head){'P', 4, 8, 0, NULL, "2160"}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'P', 5, 10, 0, "20", NULL}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'P', 6, 12, 0, "21", NULL}),
                     0);
    /* no long-term ones any more */
    assert_int_equal(parent_h264(&s, (struct head){'P', 7, 14, 0, NULL, "40"}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'P', 8, 0, 0, "20", NULL}),
                     0);
    /* begins anew: nothing is said up to the next IDR picture */
    assert_int_equal(parent_h264(&s, (struct head){'P', 9, 2, 0, NULL, "5"}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'P', 1, 2, 0, NULL, NULL}),
                     0);
}

/* Slices have lists of their own: the second names another picture. */
static void all_slices_of_an_h264_picture_count(void **state) {
    struct stream s;
    struct head h = {'P', 2, 4, 0, NULL, NULL};

    (void)state;
    scan_params(&s, 0);
    assert_int_equal(parent_h264(&s, (struct head){'I', 0, 0, 0, NULL, NULL}),
                     0);
    assert_int_equal(parent_h264(&s, (struct head){'P', 1, 8, 0, "00", NULL}),
                     1);
    assert_int_equal(parent_h264(&s, (struct head){'P', 2, 2, 0, "01", NULL}),
                     2);
    h.frame = 3;
    put_slice(&s, &h, 0); /* frame 2, which leads to 0 and not to 1 */
    h.named = "01";
    put_slice(&s, &h, 4);
    assert_int_equal(scan(&s).parent, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_scaling_in_h264_are_passed),
        cmocka_unit_test(an_h264_picture_begins_with_the_newest_frame),
        cmocka_unit_test(commands_say_which_h264_pictures_stay),
        cmocka_unit_test(after_a_missing_h264_frame_nothing_is_said),
        cmocka_unit_test(h264_frames_count_on_past_their_bits),
        cmocka_unit_test(long_term_h264_pictures_are_found_by_their_names),
        cmocka_unit_test(all_slices_of_an_h264_picture_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

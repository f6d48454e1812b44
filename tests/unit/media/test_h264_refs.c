/* SPDX-License-Identifier: MPL-2.0 */
/* References of H.264 pictures. */
#include <string.h>

#include "internal/media/codec/h264.h"
#include "tests/support/bits.h"
#include "tests/support/cmocka.h"

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
TEST(lists_of_scaling_in_h264_are_passed) {
    struct bits b = {.count = 0};
    struct stream s;

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

/* A picture, and how far back its parent is. */
struct row {
    uint32_t parent;
    struct head head;
};

static void play(struct stream *s, const struct row *rows, size_t count) {
    scan_params(s, 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(parent_h264(s, rows[i].head), rows[i].parent);
    }
}

TEST(an_h264_picture_begins_with_the_newest_frame) {
    static const struct row rows[] = {
        {0, {'I', 0, 0, 0, NULL, NULL}},
        {1, {'P', 1, 8, 0, NULL, NULL}},
        /* lists by order: 0 and 8; the newer is P */
        {1, {'B', 2, 4, 0, NULL, NULL}},
        /* 0 went with two kept; 4 is nearest before, 8 behind: B has both */
        {1, {'b', 3, 6, 0, NULL, NULL}},
        /* the newest is B; frame_num 1, two before, is named instead */
        {2, {'P', 3, 0, 0, NULL, NULL}},
        {3, {'P', 4, 4, 0, "01", NULL}},
    };
    struct stream s;

    play(&s, rows, sizeof(rows) / sizeof(rows[0]));
}

/* 5 would slide out 4 and keep B; a command drops B instead. */
TEST(commands_say_which_h264_pictures_stay) {
    static const struct row rows[] = {
        {0, {'I', 0, 0, 0, NULL, NULL}},
        {1, {'P', 1, 8, 0, NULL, NULL}},
        {1, {'B', 2, 4, 0, NULL, NULL}},
        /* refers to the one before the last, and unmarks the last */
        {2, {'P', 3, 0, 0, "01", "10"}},
        /* two in the list: 3 and 1, not B */
        {1, {'P', 4, 8, 2, NULL, NULL}},
        /* what is named is not there */
        {0, {'P', 5, 0, 0, "04", NULL}},
    };
    struct stream s;

    play(&s, rows, sizeof(rows) / sizeof(rows[0]));
}

TEST(after_a_missing_h264_frame_references_are_unknown) {
    static const struct row rows[] = {
        {0, {'I', 0, 0, 0, NULL, NULL}}, {1, {'P', 1, 2, 0, NULL, NULL}},
        {0, {'P', 3, 6, 0, NULL, NULL}}, {0, {'P', 4, 8, 0, NULL, NULL}},
        {0, {'I', 0, 0, 0, NULL, NULL}}, {1, {'P', 1, 2, 0, NULL, NULL}},
    };
    struct stream s;

    play(&s, rows, sizeof(rows) / sizeof(rows[0]));
}

TEST(h264_frames_count_on_past_their_bits) {
    struct stream s;

    for (unsigned type = 0; type <= 2; type += 2) {
        scan_params(&s, type);
        (void)parent_h264(&s, (struct head){.type = 'I'});
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
TEST(long_term_h264_pictures_are_found_by_their_names) {
    static const struct row rows[] = {
        {0, {'I', 0, 0, 0, NULL, NULL}},
        /* 1 makes 0 long-term number 1 and stays itself */
        {1, {'P', 1, 2, 0, NULL, "301"}},
        {2, {'P', 2, 4, 0, "21", NULL}},
        /* behind all short-term ones: 2 and 0 */
        {1, {'P', 3, 6, 2, NULL, NULL}},
        /* makes itself number 0, and unmarks number 1 */
        {1, {'P', 4, 8, 0, NULL, "2160"}},
        {1, {'P', 5, 10, 0, "20", NULL}},
        {0, {'P', 6, 12, 0, "21", NULL}},
        /* no long-term ones any more */
        {1, {'P', 7, 14, 0, NULL, "40"}},
        {0, {'P', 8, 0, 0, "20", NULL}},
        /* begins anew: nothing is said up to the next IDR picture */
        {1, {'P', 9, 2, 0, NULL, "5"}},
        {0, {'P', 1, 2, 0, NULL, NULL}},
    };
    struct stream s;

    play(&s, rows, sizeof(rows) / sizeof(rows[0]));
}

static unsigned named_zero(const struct stream *s) {
    const media_h264 *h = &s->scanner.h264;
    unsigned n = 0;

    for (unsigned i = 0; i < h->count; i++) {
        n += h->refs[i].long_term && h->refs[i].frame == 0;
    }
    return n;
}

/* Invalid streams. */
TEST(a_long_term_number_is_of_one_h264_picture) {
    static const struct row twice_in_a_header[] = {
        {0, {'I', 0, 0, 0, NULL, NULL}},
        {1, {'P', 1, 2, 0, NULL, NULL}},
        {1, {'P', 2, 4, 0, NULL, "60300"}},
    };
    static const struct row of_two_frames_with_one_number[] = {
        {0, {'I', 0, 0, 0, NULL, NULL}},
        {1, {'P', 1, 2, 0, NULL, NULL}},
        {1, {'P', 1, 4, 0, NULL, NULL}},
        {2, {'P', 2, 6, 0, NULL, "300"}},
    };
    struct stream s;

    play(&s, twice_in_a_header, 3);
    assert_int_equal(named_zero(&s), 1);
    play(&s, of_two_frames_with_one_number, 4);
    assert_int_equal(named_zero(&s), 1);
}

/* Orders that thousands of pictures in a row have driven apart as far as they
 * go, which is more than their type holds. */
TEST(orders_of_h264_may_be_as_far_apart_as_they_go) {
    media_h264_slice slice = {.type = 1, .frame = 2, .active = {2, 0}};
    media_refs_picture p = {.known = true};
    struct stream s;

    scan_params(&s, 0);
    s.scanner.h264.count = 2;
    s.scanner.h264.refs[0] = (media_h264_ref){
        .ordinal = 1,
        .frame = 0,
        .order = media__refs_order(INT32_MIN / 2, 16, 0) - 65536};
    p.order = media__refs_order(INT32_MAX / 2, 16, 65535);
    s.scanner.h264.refs[1] =
        (media_h264_ref){.ordinal = 2, .frame = 1, .order = p.order - 2};
    media__h264_choose(&s.scanner, &slice, &p);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.to[0], 2); /* the nearer first */
    assert_int_equal(p.to[1], 1);
}

/* Slices have lists of their own: the second names another picture. */
TEST(all_slices_of_an_h264_picture_count) {
    static const struct row rows[] = {
        {0, {'I', 0, 0, 0, NULL, NULL}},
        {1, {'P', 1, 8, 0, "00", NULL}},
        {2, {'P', 2, 2, 0, "01", NULL}},
    };
    struct stream s;
    struct head h = {.type = 'P', .frame = 3, .order = 4};

    play(&s, rows, sizeof(rows) / sizeof(rows[0]));
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
        cmocka_unit_test(after_a_missing_h264_frame_references_are_unknown),
        cmocka_unit_test(h264_frames_count_on_past_their_bits),
        cmocka_unit_test(long_term_h264_pictures_are_found_by_their_names),
        cmocka_unit_test(a_long_term_number_is_of_one_h264_picture),
        cmocka_unit_test(orders_of_h264_may_be_as_far_apart_as_they_go),
        cmocka_unit_test(all_slices_of_an_h264_picture_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* References of H.265 pictures. */
#include <string.h>

#include "internal/media/codec/h265.h"
#include "tests/support/bits.h"
#include "tests/support/cmocka.h"

/* ---- sets ---- */

static bool read_bits(const struct bits *b, const media_h265_sps *sps,
                      bool in_slice, media_h265_set *set) {
    media_nal nal = {b->data, (b->count + 7) / 8};
    media_bits reader;

    media__bits_begin(&reader, &nal, 0);
    media__h265_read_set(&reader, sps, sps->set_count, in_slice, set);
    return !reader.bad;
}

static void assert_set(const media_h265_set *set, unsigned before,
                       unsigned after, unsigned used, const int *delta) {
    assert_int_equal(set->before, before);
    assert_int_equal(set->after, after);
    assert_int_equal(set->used, used);
    for (unsigned i = 0; i < before + after; i++) {
        assert_int_equal(set->delta[i], delta[i]);
    }
}

/* -1 used, -3 not, +2 used */
TEST(a_set_lists_distances_in_both_directions) {
    media_h265_sps sps = {.known = true};
    media_h265_set set;
    struct bits b = {.count = 0};

    put_list(&b, "21");
    put_ue(&b, 0);
    put(&b, 1, 1);
    put_ue(&b, 1);
    put(&b, 1, 0);
    put_ue(&b, 1);
    put(&b, 1, 1);
    assert_true(read_bits(&b, &sps, false, &set));
    assert_set(&set, 2, 1, 5, (int[]){-1, -3, 2});
}

/* Example: {-1, -3, +2} shifted by -1 is {-2, -4, +1}, and -1 itself. */
TEST(a_set_is_derived_from_the_one_before) {
    media_h265_sps sps = {.known = true, .set_count = 1};
    media_h265_set set;
    struct bits b = {.count = 0};

    sps.set[0] =
        (media_h265_set){.before = 2, .after = 1, .delta = {-1, -3, 2}};
    put(&b, 2, 3); /* derived, minus */
    put_ue(&b, 0); /* 1 */
    put(&b, 1, 1); /* -2 is used */
    put(&b, 2, 0); /* -4 is left out */
    put(&b, 2, 1); /* +1 is there for others */
    put(&b, 1, 1); /* -1 is used */
    assert_true(read_bits(&b, &sps, false, &set));
    assert_set(&set, 2, 1, 3, (int[]){-1, -2, 1});
}

/* In a slice header from any: two back is {-4}, +4 is nothing but +4 itself,
 * and what it goes past changes sides. */
TEST(a_slice_derives_its_set_from_any_before) {
    media_h265_sps sps = {.known = true, .set_count = 2};
    media_h265_set set;
    struct bits b = {.count = 0};

    sps.set[0] = (media_h265_set){.before = 2, .delta = {-2, -4}};
    put(&b, 1, 1);
    put_ue(&b, 1); /* the one before the last */
    put(&b, 1, 0); /* plus */
    put_ue(&b, 2); /* 3: {+1, -1}, +3 */
    put(&b, 3, 7);
    assert_true(read_bits(&b, &sps, true, &set));
    assert_set(&set, 1, 2, 7, (int[]){-1, 1, 3});
    b = (struct bits){.count = 0};
    put(&b, 1, 1);
    put_ue(&b, 2); /* there are but two */
    put(&b, 8, 0xff);
    assert_false(read_bits(&b, &sps, true, &set));
}

TEST(a_set_that_cannot_be_is_refused) {
    media_h265_sps sps = {.known = true};
    media_h265_set set;
    struct bits b = {.count = 0};

    put_ue(&b, 17);
    put(&b, 32, UINT32_MAX);
    assert_false(read_bits(&b, &sps, false, &set));
    b = (struct bits){.count = 0};
    put_list(&b, "89"); /* 17 in all */
    put(&b, 32, UINT32_MAX);
    put(&b, 32, UINT32_MAX);
    assert_false(read_bits(&b, &sps, false, &set));
    b = (struct bits){.count = 0};
    put_list(&b, "10");
    put_ue(&b, 1 << 20);
    put(&b, 1, 1);
    assert_false(read_bits(&b, &sps, false, &set));
}

/* ---- pictures ---- */

/* 8 bits of order count, one layer, SAO and temporal vectors, no sets. */
static void put_sps(struct bits *b) {
    put(b, 16, 0x4201);
    put(b, 8, 1);
    put(b, 32, 0x01600000); /* profile, 88 bits, and level */
    put(b, 32, 0x90000000);
    put(b, 32, 0x0000005d);
    put_list(b, "01"); /* its number; chroma */
    put_list(b, "77"); /* width, height */
    put(b, 1, 0);      /* no window */
    put_list(b, "00"); /* depths */
    put_list(b, "4");  /* log2_max_pic_order_cnt_lsb_minus4 */
    put(b, 1, 0);
    put_list(b, "420");
    put_list(b, "031300");
    put(b, 1, 0); /* no scaling lists */
    put(b, 1, 0);
    put(b, 1, 1); /* sample adaptive offset */
    put(b, 1, 0);
    put_list(b, "0"); /* no sets */
    put(b, 1, 0);     /* no long-term pictures */
    put(b, 1, 1);     /* temporal vectors */
}

static void put_pps(struct bits *b, bool reorders) {
    put(b, 16, 0x4401);
    put_list(b, "00");
    put(b, 7, 0);      /* flags, no more bits in slices */
    put_list(b, "00"); /* one picture in each list */
    put_list(b, "0");
    put(b, 3, 0);
    put_list(b, "00");
    put(b, 6, 0);
    put(b, 1, 0);
    put(b, 1, 0); /* no deblocking control */
    put(b, 1, 0); /* no scaling lists */
    put(b, 1, reorders);
}

static void begin(struct stream *s, bool reorders) {
    struct bits sps = {.count = 0};
    struct bits pps = {.count = 0};

    memset(s, 0, sizeof(*s));
    media__scanner_init(&s->scanner, "hevc", MEDIA_TYPE_VIDEO, NULL, 0);
    put_sps(&sps);
    put_pps(&pps, reorders);
    add_unit(s, &sps);
    add_unit(s, &pps);
}

enum { TRAIL_N = 0, TRAIL_R = 1, IDR = 20, CRA = 21, RASL_N = 8 };

/* A slice; `before` and `after` are distances in digits, nearest first;
 * lists: 0 as the parameter set says, else so many of each. */
static void slice(struct stream *s, unsigned nal, char type, unsigned order,
                  const char *before, const char *after, unsigned lists) {
    struct bits b = {.count = 0};
    int at = 0;

    put(&b, 16, nal << 9 | 1);
    put(&b, 1, 1);
    if (nal >= 16) {
        put(&b, 1, 0);
    }
    put_ue(&b, 0);
    put_ue(&b, type == 'B' ? 0 : type == 'P' ? 1 : 2);
    if (nal != IDR) {
        put(&b, 8, order & 0xff);
        put(&b, 1, 0);
        put_ue(&b, (uint32_t)strlen(before));
        put_ue(&b, (uint32_t)strlen(after));
        for (; *before; before++) {
            put_ue(&b, (uint32_t)(*before - '0' - at - 1));
            put(&b, 1, 1);
            at = *before - '0';
        }
        for (at = 0; *after; after++) {
            put_ue(&b, (uint32_t)(*after - '0' - at - 1));
            put(&b, 1, 1);
            at = *after - '0';
        }
        put(&b, 1, 1); /* temporal vectors */
    }
    put(&b, 2, 3); /* offsets */
    if (type != 'I') {
        put(&b, 1, lists > 0);
        if (lists) {
            put_ue(&b, lists - 1);
        }
        if (lists && type == 'B') {
            put_ue(&b, lists - 1);
        }
    }
    add_unit(s, &b);
}

static uint32_t parent(struct stream *s, unsigned nal, char type,
                       unsigned order, const char *before, const char *after,
                       unsigned lists) {
    slice(s, nal, type, order, before, after, lists);
    return scan(s).parent;
}

/* Four lists of six, the largest of two: one by one each kind of entry. */
static void put_scaling(struct bits *b) {
    for (unsigned i = 0; i < 20; i++) {
        unsigned numbers = i < 6 ? 16 : i < 12 ? 64 : 65;
        put(b, 1, i % 2);
        for (unsigned n = i % 2 ? numbers : 1; n; n--) {
            put_ue(b, n % 5);
        }
    }
}

/* Three sub-layers, of which one has a profile, one a level; a window, lists of
 * scaling, samples as they are, two long-term pictures in the set. */
static void put_rich_sps(struct bits *b) {
    put(b, 16, 0x4201);
    put(b, 8, 2 << 1 | 1);
    put(b, 32, 0);
    put(b, 32, 0);
    put(b, 32, 0x5d);
    put(b, 16, 0x9000); /* 10 01, then six pairs of nothing */
    put(b, 32, 0);      /* 88 bits */
    put(b, 32, UINT32_MAX);
    put(b, 24, 0);
    put(b, 8, 0x5d);
    put_list(b, "03");
    put(b, 1, 0);
    put_list(b, "77");
    put(b, 1, 1);
    put_list(b, "0102");
    put_list(b, "22");
    put_list(b, "4");
    put(b, 1, 1);
    put_list(b, "420420420");
    put_list(b, "031300");
    put(b, 2, 3);
    put_scaling(b);
    put(b, 2, 3);
    put(b, 1, 1);
    put(b, 8, 0x77);
    put_list(b, "12");
    put(b, 1, 1);
    put_list(b, "0");
    put(b, 1, 1);
    put_list(b, "2");
    put(b, 18, 0x1ff);
    put(b, 1, 1);
}

/* Quantizers, tiles of their own sizes, deblocking, lists of scaling. */
static void put_rich_pps(struct bits *b) {
    put(b, 16, 0x4401);
    put_list(b, "00");
    put(b, 7, 0);
    put_list(b, "00");
    put_list(b, "3");
    put(b, 3, 7);
    put_list(b, "1");
    put_list(b, "12");
    put(b, 4, 15);
    put(b, 2, 3);
    put_list(b, "21");
    put(b, 1, 0);
    put_list(b, "345");
    put(b, 1, 1);
    put(b, 1, 1);
    put(b, 3, 6);
    put_list(b, "12");
    put(b, 1, 1);
    put_scaling(b);
    put(b, 1, 1);
}

TEST(rich_parameter_sets_are_read_to_their_ends) {
    struct bits sps = {.count = 0};
    struct bits pps = {.count = 0};
    struct stream s;

    memset(&s, 0, sizeof(s));
    media__scanner_init(&s.scanner, "hevc", MEDIA_TYPE_VIDEO, NULL, 0);
    put_rich_sps(&sps);
    put_rich_pps(&pps);
    add_unit(&s, &sps);
    add_unit(&s, &pps);
    (void)scan(&s);
    assert_true(s.scanner.h265.sps.known);
    assert_int_equal(s.scanner.h265.sps.order_bits, 8);
    assert_true(s.scanner.h265.sps.chroma);
    assert_true(s.scanner.h265.sps.offset);
    assert_true(s.scanner.h265.sps.temporal_mvp);
    assert_int_equal(s.scanner.h265.sps.long_terms, 2);
    assert_true(s.scanner.h265.pps[0].known);
    assert_true(s.scanner.h265.pps[0].reorders);
}

/* A picture, and how far back its parent is. */
struct row {
    uint32_t parent;
    unsigned nal;
    char type;
    unsigned order;
    const char *before;
    const char *after;
    unsigned lists;
};

static void play(const struct row *rows, size_t count, bool reorders) {
    struct stream s;

    begin(&s, reorders);
    for (size_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        assert_int_equal(parent(&s, r->nal, r->type, r->order, r->before,
                                r->after, r->lists),
                         r->parent);
    }
}

TEST(a_picture_refers_to_the_pictures_in_its_lists) {
    static const struct row rows[] = {
        {0, IDR, 'I', 0, "", "", 0},
        {1, TRAIL_R, 'P', 4, "4", "", 0},
        {1, TRAIL_R, 'B', 2, "2", "2", 0},
        {1, TRAIL_N, 'B', 1, "1", "13", 0},
        /* with two to a list: 0, 2 and 2, 4; 2 leads to the others */
        {2, TRAIL_N, 'B', 3, "13", "1", 2},
        /* the nearest is the B picture 2, with one in the list: only 4 */
        {4, TRAIL_R, 'P', 8, "46", "", 1},
        {1, TRAIL_R, 'P', 12, "4", "", 0},
    };

    play(rows, sizeof(rows) / sizeof(rows[0]), false);
}

TEST(with_reordered_lists_it_may_be_any_of_the_set) {
    static const struct row rows[] = {
        {0, IDR, 'I', 0, "", "", 0},
        {1, TRAIL_R, 'P', 4, "4", "", 1},
        {1, TRAIL_R, 'B', 2, "2", "2", 1},
        {1, TRAIL_R, 'P', 8, "46", "", 1},
    };

    play(rows, sizeof(rows) / sizeof(rows[0]), true);
}

TEST(several_slices_may_have_lists_of_their_own) {
    struct stream s;

    begin(&s, false);
    assert_int_equal(parent(&s, IDR, 'I', 0, "", "", 0), 0);
    assert_int_equal(parent(&s, TRAIL_R, 'P', 4, "4", "", 0), 1);
    assert_int_equal(parent(&s, TRAIL_R, 'B', 2, "2", "2", 0), 1);
    slice(&s, TRAIL_R, 'P', 8, "46", "", 1);
    slice(&s, TRAIL_R, 'P', 8, "46", "", 1);
    assert_int_equal(scan(&s).parent, 1);
}

/* Two that do not lead to each other, one that is not there, and a picture
 * without references: nothing is said. */
TEST(references_that_cannot_be_expressed_are_omitted) {
    static const struct row rows[] = {
        {0, IDR, 'I', 0, "", "", 0},
        {1, TRAIL_R, 'P', 1, "1", "", 0},
        {2, TRAIL_R, 'P', 2, "2", "", 0},
        {0, TRAIL_R, 'P', 3, "12", "", 2},
        {0, TRAIL_R, 'P', 5, "1", "", 0},
        {0, TRAIL_R, 'I', 6, "", "", 0},
        /* they are taken to refer to the one before, which leads to all */
        {1, TRAIL_R, 'P', 7, "12", "", 2},
    };

    play(rows, sizeof(rows) / sizeof(rows[0]), false);
}

/* The order count goes round at 256. */
TEST(order_counts_go_on_past_their_bits) {
    struct stream s;

    begin(&s, false);
    assert_int_equal(parent(&s, IDR, 'I', 0, "", "", 0), 0);
    for (unsigned order = 8; order < 1000; order += 8) {
        assert_int_equal(parent(&s, TRAIL_R, 'P', order, "8", "", 0), 1);
        assert_int_equal(parent(&s, TRAIL_N, 'B', order - 4, "4", "4", 0), 1);
        order += 8;
        assert_int_equal(parent(&s, TRAIL_R, 'P', order, "8", "", 0), 2);
    }
}

TEST(leading_pictures_of_an_open_key_frame_need_two) {
    static const struct row rows[] = {
        {0, IDR, 'I', 0, "", "", 0},
        {1, TRAIL_R, 'P', 4, "4", "", 0},
        {0, CRA, 'I', 8, "4", "", 0},
        {0, RASL_N, 'B', 6, "2", "2", 0},
        {2, TRAIL_R, 'P', 9, "1", "", 0},
        {0, IDR, 'I', 0, "", "", 0},
        /* before an instantaneous refresh is nothing */
        {0, TRAIL_R, 'P', 4, "5", "", 0},
    };

    play(rows, sizeof(rows) / sizeof(rows[0]), false);
}

/* Pictures of a group of four: whether the B picture is a branch. */
static bool group(struct stream *s, unsigned order, bool clean) {
    slice(s, TRAIL_R, 'P', order, "46", "", clean ? 1 : 2);
    (void)scan(s);
    slice(s, TRAIL_R, 'B', order - 2, "2", "2", 0);
    bool branch = scan(s).branch;
    slice(s, TRAIL_N, 'B', order - 1, "1", "1", 0);
    assert_false(scan(s).branch);
    return branch;
}

TEST(references_that_the_trunk_leaves_out_are_branches) {
    struct stream s;

    begin(&s, false);
    assert_int_equal(parent(&s, IDR, 'I', 0, "", "", 0), 0);
    for (unsigned i = 1; i <= 10; i++) {
        assert_int_equal(group(&s, 4 * i, true), i >= 5);
    }
    assert_false(group(&s, 44, false));
    for (unsigned i = 12; i <= 20; i++) {
        assert_int_equal(group(&s, 4 * i, true), i >= 15);
    }
}

TEST(without_parameter_sets_nothing_is_said) {
    struct stream s;

    begin(&s, false);
    s.len = 0;
    slice(&s, IDR, 'I', 0, "", "", 0);
    media_frame f = scan(&s);
    assert_int_equal(f.frame_class, MEDIA_CLASS_KEY);
    assert_int_equal(f.ordinal, 0);
    assert_int_equal(parent(&s, TRAIL_R, 'P', 4, "4", "", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_lists_distances_in_both_directions),
        cmocka_unit_test(a_set_is_derived_from_the_one_before),
        cmocka_unit_test(a_slice_derives_its_set_from_any_before),
        cmocka_unit_test(a_set_that_cannot_be_is_refused),
        cmocka_unit_test(rich_parameter_sets_are_read_to_their_ends),
        cmocka_unit_test(a_picture_refers_to_the_pictures_in_its_lists),
        cmocka_unit_test(with_reordered_lists_it_may_be_any_of_the_set),
        cmocka_unit_test(several_slices_may_have_lists_of_their_own),
        cmocka_unit_test(references_that_cannot_be_expressed_are_omitted),
        cmocka_unit_test(order_counts_go_on_past_their_bits),
        cmocka_unit_test(leading_pictures_of_an_open_key_frame_need_two),
        cmocka_unit_test(references_that_the_trunk_leaves_out_are_branches),
        cmocka_unit_test(without_parameter_sets_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

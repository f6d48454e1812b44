/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "internal/media/stream/ts.h"
#include "tests/support/cmocka.h"
#include "tests/support/ts_mux.h"

/* Beside the program of add_tables() MPEG-2 video, with a map of its own. */
#define OTHER_MAP 0x1001
#define OTHER_VIDEO 0x200

static void add_tables_of_two(struct stream *s) {
    static const uint8_t pat[] = {0,
                                  0xb0,
                                  17,
                                  0,
                                  1,
                                  0xc1,
                                  0,
                                  0,
                                  0,
                                  1,
                                  MAP >> 8 | 0xe0,
                                  MAP & 0xff,
                                  0,
                                  2,
                                  OTHER_MAP >> 8 | 0xe0,
                                  OTHER_MAP & 0xff};
    static const uint8_t pmt[] = {2, 0xb0, 18, 0,    1,    0xc1, 0,    0, 0xe1,
                                  0, 0xf0, 0,  0x1b, 0xe1, 0x00, 0xf0, 0};
    static const uint8_t other[] = {2,    0xb0, 18,   0,    2,    0xc1,
                                    0,    0,    0xe2, 0,    0xf0, 0,
                                    0x02, 0xe2, 0x00, 0xf0, 0};
    add_table(s, 0, pat, sizeof(pat), 0);
    add_table(s, MAP, pmt, sizeof(pmt), 0);
    add_table(s, OTHER_MAP, other, sizeof(other), 0);
}

/* --- What comes out ------------------------------------------------------- */

struct seen {
    unsigned slot;
    unsigned frame_class;
    size_t len;
    int64_t pts;
    bool rest;
};

struct taken {
    struct seen frame[32];
    size_t frames;
    size_t bytes;
    uint8_t data[64 * PACKET];
};

static void take(void *user, const media_ts_frame *u) {
    struct taken *t = user;
    assert_true(t->frames < 32);
    assert_int_equal(u->len % PACKET, 0);
    t->frame[t->frames++] =
        (struct seen){u->slot, u->frame.frame_class, u->len, u->pts, u->rest};
    memcpy(t->data + t->bytes, u->data, u->len);
    t->bytes += u->len;
}

static void split(const struct stream *s, size_t step, struct taken *t) {
    media_ts *ts = media__ts_new(take, t);
    memset(t, 0, sizeof(*t));
    assert_non_null(ts);
    for (size_t at = 0; at < s->len; at += step) {
        size_t n = s->len - at < step ? s->len - at : step;
        assert_true(media__ts_push(ts, s->data + at, n));
    }
    media__ts_free(ts);
}

static void assert_class(const struct taken *t, size_t i,
                         unsigned frame_class) {
    assert_true(i < t->frames);
    assert_int_equal(t->frame[i].frame_class, frame_class);
}

/* --- The tests ------------------------------------------------------------ */

TEST(pictures_are_units_that_end_at_once) {
    static struct stream s;
    static struct taken t;
    begin_stream(&s);
    add_picture(&s, 90000, true, 500);
    add_picture(&s, 93600, false, 300);
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 4);
    assert_class(&t, 0, MEDIA_CLASS_HEADER);
    assert_class(&t, 1, MEDIA_CLASS_HEADER);
    assert_class(&t, 2, MEDIA_CLASS_REFERENCE);
    assert_class(&t, 3, MEDIA_CLASS_DISPOSABLE);
    assert_int_equal(t.frame[0].slot, 0);
    assert_int_equal(t.frame[2].slot, t.frame[3].slot);
    assert_int_equal(t.frame[2].len, 3 * PACKET);
    assert_int_equal(t.frame[2].pts, 1000000000);
    assert_int_equal(t.frame[3].pts, 1040000000);
    assert_int_equal(t.bytes, s.len);
    assert_memory_equal(t.data, s.data, s.len);
}

TEST(a_unit_that_fills_its_packets_ends_with_the_next) {
    static struct stream s;
    static struct taken t;
    begin_stream(&s);
    add_picture(&s, 0, true, 2 * 184 - 14);
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 2);
    add_picture(&s, 3600, true, 100);
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 4);
    assert_int_equal(t.frame[2].len, 2 * PACKET);
}

TEST(a_unit_with_a_length_ends_by_it) {
    static struct stream s;
    static struct taken t;
    static const uint8_t es[2 * 184 - 14];
    begin_stream(&s);
    add_pes(&s, SOUND, 0, es, sizeof(es), true);
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 3);
    assert_class(&t, 2, MEDIA_CLASS_AUDIO);
}

TEST(streams_that_alternate_are_distinguished) {
    static struct stream a, b, s;
    static struct taken t;
    static const uint8_t es[300];
    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    begin_stream(&s);
    add_picture(&a, 0, true, 500);
    add_pes(&b, SOUND, 0, es, sizeof(es), true);
    for (size_t i = 0; i < 3; i++) {
        memcpy(s.data + s.len, a.data + i * PACKET, PACKET);
        s.len += PACKET;
        if (i < 2) {
            memcpy(s.data + s.len, b.data + i * PACKET, PACKET);
            s.len += PACKET;
        }
    }
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 4);
    assert_class(&t, 2, MEDIA_CLASS_AUDIO);
    assert_class(&t, 3, MEDIA_CLASS_REFERENCE);
    assert_int_not_equal(t.frame[2].slot, t.frame[3].slot);
    assert_int_equal(t.frame[2].len, 2 * PACKET);
    assert_int_equal(t.frame[3].len, 3 * PACKET);
}

TEST(each_program_has_its_own_map_and_codec) {
    static const uint8_t coding_types[] = {0x0f, 0x17, 0x1f}; /* I, P, B */
    static const unsigned classes[] = {MEDIA_CLASS_KEY, MEDIA_CLASS_REFERENCE,
                                       MEDIA_CLASS_DISPOSABLE};
    static struct stream s;
    static struct taken t;

    memset(&s, 0, sizeof(s));
    add_tables_of_two(&s);
    for (size_t i = 0; i < 3; i++) {
        uint8_t es[] = {0, 0, 1, 0, 0, coding_types[i], 0xff, 0xff};
        add_picture(&s, 3600 * i, i != 1, 300);
        add_pes(&s, OTHER_VIDEO, 3600 * i, es, sizeof(es), false);
    }
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 3 + 6);
    for (size_t i = 0; i < 3; i++) {
        assert_class(&t, i, MEDIA_CLASS_HEADER);
        assert_class(&t, 3 + 2 * i,
                     i == 1 ? MEDIA_CLASS_DISPOSABLE : MEDIA_CLASS_REFERENCE);
        assert_class(&t, 4 + 2 * i, classes[i]);
        assert_int_equal(t.frame[3 + 2 * i].slot, t.frame[3].slot);
        assert_int_equal(t.frame[4 + 2 * i].slot, t.frame[4].slot);
    }
    assert_int_not_equal(t.frame[3].slot, t.frame[4].slot);
    assert_int_equal(t.bytes, s.len);
}

TEST(clocks_are_kept_and_null_packets_left_out) {
    static struct stream s;
    static struct taken t;
    begin_stream(&s);
    add_clock(&s, VIDEO);
    (void)new_packet(&s, 0x1fff, false);
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 3);
    assert_class(&t, 2, MEDIA_CLASS_HEADER);
    assert_int_equal(t.frame[2].slot, 0);
}

static void
bytes_may_be_cut_anywhere_and_foreign_ones_are_skipped(void **state) {
    static struct stream s;
    static struct taken whole, cut;
    static uint8_t noisy[65 * PACKET];
    media_ts *ts = media__ts_new(take, &cut);
    (void)state;
    begin_stream(&s);
    for (unsigned i = 0; i < 6; i++) {
        add_picture(&s, i * 3600, i % 3 == 0, 200 + i * 50);
    }
    split(&s, s.len, &whole);
    for (size_t step = 1; step < 400; step += 37) {
        split(&s, step, &cut);
        assert_memory_equal(&cut, &whole, sizeof(whole));
    }
    memset(&cut, 0, sizeof(cut));
    memset(noisy, 0x11, 10);
    memcpy(noisy + 10, s.data, s.len);
    assert_true(media__ts_push(ts, noisy, 10 + s.len));
    assert_int_equal(media__ts_skipped(ts), 10);
    assert_memory_equal(&cut, &whole, sizeof(whole));
    media__ts_free(ts);
}

TEST(a_table_with_a_wrong_checksum_says_nothing) {
    static struct stream s;
    static struct taken t;
    memset(&s, 0, sizeof(s));
    add_tables(&s, 1);
    add_picture(&s, 0, false, 100);
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 3);
    assert_class(&t, 2, MEDIA_CLASS_OTHER);
}

TEST(times_go_on_where_33_bits_wrap) {
    static struct stream s;
    static struct taken t;
    const uint64_t end = UINT64_C(1) << 33;
    begin_stream(&s);
    add_picture(&s, end - 3600, true, 100);
    add_picture(&s, 0, true, 100);
    add_picture(&s, end - 1800, true, 100);
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 5);
    assert_int_equal(t.frame[3].pts - t.frame[2].pts, 40000000);
    assert_int_equal(t.frame[4].pts - t.frame[2].pts, 20000000);
}

static void note_times(void *user, const media_ts_frame *u) {
    int64_t *most = user;
    if (u->pts != MEDIA_TIME_NONE) {
        assert_true(u->pts >= 0 && u->pts <= MEDIA_TIME_LIMIT);
        *most = u->pts > *most ? u->pts : *most;
    }
}

/* A clock that leaps ahead by half its range in each frame: 13 hours. */
TEST(times_stay_within_their_limit) {
    static struct stream s;
    int64_t most = 0;
    media_ts *ts = media__ts_new(note_times, &most);
    assert_non_null(ts);
    for (uint64_t i = 0; i < 30000; i++) {
        memset(&s, 0, sizeof(s));
        add_picture(&s, i * (UINT64_C(1) << 32) - i, false, 100);
        assert_true(media__ts_push(ts, s.data, s.len));
    }
    assert_true(most > MEDIA_TIME_LIMIT / 4);
    media__ts_free(ts);
}

TEST(data_after_an_early_end_is_a_rest) {
    static struct stream s;
    static struct taken t;
    static const uint8_t es[100];
    begin_stream(&s);
    add_picture(&s, 0, false, 100);
    (void)add_payload(&s, VIDEO, false, es, sizeof(es));
    split(&s, s.len, &t);
    assert_int_equal(t.frames, 4);
    assert_false(t.frame[2].rest);
    assert_true(t.frame[3].rest);
    assert_class(&t, 3, MEDIA_CLASS_DISPOSABLE);
}

TEST(a_stream_without_a_single_start_is_given_on) {
    static struct stream s;
    static struct taken t;
    static const uint8_t bytes[184] = {1};
    s.len = 0;
    for (int i = 0; i < 6; i++) {
        (void)add_payload(&s, VIDEO, false, bytes, sizeof(bytes));
    }
    split(&s, 2 * (size_t)PACKET, &t);
    assert_int_equal(t.frames, 3); /* one for each push */
    assert_int_equal(t.bytes, s.len);
    assert_class(&t, 0, MEDIA_CLASS_OTHER);
}

TEST(the_clock_of_a_unit_can_be_kept_without_it) {
    static struct stream s;
    uint8_t out[PACKET];
    uint8_t *p;
    memset(&s, 0, sizeof(s));
    add_picture(&s, 0, false, 400);
    assert_false(media__ts_clock(s.data, s.len, out));
    s.counter[VIDEO] = 5;
    p = new_packet(&s, VIDEO, true);
    p[3] |= 0x20;
    p[4] = 7;
    p[5] = 0x10;
    memcpy(p + 6, a_clock, sizeof(a_clock));
    assert_true(media__ts_clock(s.data, s.len, out));
    assert_memory_equal(out + 6, a_clock, sizeof(a_clock));
    assert_int_equal(out[1] & 0x40, 0);
    assert_int_equal(out[3], 0x20 | 4);
    assert_int_equal(out[4], 183);
    assert_int_equal(out[5], 0x10);
}

TEST(a_transport_stream_is_recognised) {
    static struct stream s;
    begin_stream(&s);
    assert_true(media__ts_is(s.data, s.len));
    assert_false(media__ts_is(s.data, 100));
    assert_false(media__ts_is(s.data + 1, PACKET));
    s.data[PACKET] = 0;
    assert_false(media__ts_is(s.data, s.len));
}

/* Adaptation fields, tables and PES headers that claim more than is there. */
TEST(nothing_in_a_packet_leads_outside) {
    static struct stream s;
    uint32_t random = 1;
    struct taken *t = calloc(1, sizeof(*t));
    for (int round = 0; round < 2000; round++) {
        begin_stream(&s);
        add_picture(&s, 0, true, 400);
        add_clock(&s, VIDEO);
        for (int i = 0; i < 12; i++) {
            random = random * 1664525 + 1013904223;
            s.data[(random >> 8) % s.len] = (uint8_t)(random >> 24);
        }
        split(&s, s.len, t);
        for (size_t at = 0; at + PACKET <= s.len; at += PACKET) {
            uint8_t out[PACKET];
            (void)media__ts_clock(s.data + at, PACKET, out);
        }
    }
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_units_that_end_at_once),
        cmocka_unit_test(a_unit_that_fills_its_packets_ends_with_the_next),
        cmocka_unit_test(a_unit_with_a_length_ends_by_it),
        cmocka_unit_test(streams_that_alternate_are_distinguished),
        cmocka_unit_test(each_program_has_its_own_map_and_codec),
        cmocka_unit_test(clocks_are_kept_and_null_packets_left_out),
        cmocka_unit_test(
            bytes_may_be_cut_anywhere_and_foreign_ones_are_skipped),
        cmocka_unit_test(a_table_with_a_wrong_checksum_says_nothing),
        cmocka_unit_test(times_go_on_where_33_bits_wrap),
        cmocka_unit_test(times_stay_within_their_limit),
        cmocka_unit_test(data_after_an_early_end_is_a_rest),
        cmocka_unit_test(a_stream_without_a_single_start_is_given_on),
        cmocka_unit_test(the_clock_of_a_unit_can_be_kept_without_it),
        cmocka_unit_test(a_transport_stream_is_recognised),
        cmocka_unit_test(nothing_in_a_packet_leads_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

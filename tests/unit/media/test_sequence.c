/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/sequence.h"
#include "tests/support/cmocka.h"

/* Every section is as long as its header. */
#define LEN MEDIA_HEADER_LEN

struct world {
    media_sequence *q;
    media_section got;
};

static int setup(void **state) {
    struct world *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    w->q = media__sequence_new();
    assert_non_null(w->q);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;

    media__sequence_free(w->q);
    free(w);
    return 0;
}

static void arrive_as(struct world *w, uint64_t section, const media_header *h,
                      bool begins, bool complete) {
    media_section s = {.number = section,
                       .seq = section * LEN,
                       .data = malloc(LEN),
                       .len = LEN,
                       .complete = complete,
                       .begins = begins};

    assert_non_null(s.data);
    media__header_write(h, s.data);
    assert_true(media__sequence_cover(w->q, s.seq, LEN));
    assert_true(media__sequence_push(w->q, &s));
}

static void arrive(struct world *w, uint64_t section, const media_header *h) {
    arrive_as(w, section, h, true, true);
}

static media_header header(unsigned kind, unsigned stream, uint32_t number) {
    return (media_header){.kind = (uint8_t)kind,
                          .stream = (uint8_t)stream,
                          .generation = 1,
                          .number = number,
                          .pts = MEDIA_TIME_NONE,
                          .dts = MEDIA_TIME_NONE,
                          .duration = MEDIA_TIME_NONE};
}

static void frame(struct world *w, uint64_t section, unsigned stream,
                  uint32_t number) {
    media_header h = header(MEDIA_KIND_FRAME, stream, number);

    arrive(w, section, &h);
}

static void config(struct world *w, uint64_t section, unsigned stream) {
    media_header h = header(MEDIA_KIND_CONFIG, stream, 0);

    arrive(w, section, &h);
}

/* The next ones are these, by their numbers on the connection, and then there
 * is none. */
static void assert_gives(struct world *w, const char *numbers) {
    for (; *numbers; numbers++) {
        assert_true(media__sequence_next(w->q, false, &w->got));
        assert_int_equal(w->got.number, *numbers - '0');
        free(w->got.data);
    }
    assert_false(media__sequence_next(w->q, false, &w->got));
}

static void begin(struct world *w) {
    config(w, 0, 0);
    config(w, 1, 1);
    frame(w, 2, 0, 0);
    frame(w, 3, 1, 0);
    assert_gives(w, "0123");
}

TEST(data_in_order_is_delivered_at_once) {
    struct world *w = *state;

    begin(w);
    frame(w, 4, 0, 1);
    assert_gives(w, "4");
}

TEST(a_stream_does_not_wait_for_another) {
    struct world *w = *state;

    begin(w);
    frame(w, 5, 1, 1); /* 4, of stream 0, is missing */
    frame(w, 6, 0, 2);
    frame(w, 7, 1, 2);
    assert_gives(w, "57");
    frame(w, 4, 0, 1);
    assert_gives(w, "46");
}

static void
a_frame_never_sent_is_waited_for_until_all_before_is_over(void **state) {
    struct world *w = *state;

    begin(w);
    frame(w, 5, 1, 2); /* number 1 may be section 4 */
    assert_gives(w, "");
    frame(w, 4, 0, 1);
    assert_gives(w, "45");
}

TEST(a_gap_ends_the_wait) {
    struct world *w = *state;

    begin(w);
    frame(w, 6, 0, 3);
    assert_gives(w, "");
    assert_true(media__sequence_cover(w->q, 5 * LEN, LEN));
    assert_gives(w, "");
    assert_true(media__sequence_cover(w->q, 4 * LEN, LEN));
    assert_gives(w, "6");
}

TEST(frames_wait_for_their_description) {
    struct world *w = *state;
    media_header h = header(MEDIA_KIND_FRAME, 1, 1);

    begin(w);
    h.generation = 2;
    arrive(w, 6, &h); /* 5 would be the CONFIG */
    frame(w, 7, 0, 2);
    assert_gives(w, "");
    h = header(MEDIA_KIND_CONFIG, 1, 0);
    h.generation = 2;
    arrive(w, 5, &h);
    assert_gives(w, "");
    frame(w, 4, 0, 1);
    assert_gives(w, "4567");
}

TEST(a_description_follows_earlier_data) {
    struct world *w = *state;

    begin(w);
    config(w, 5, 1);
    frame(w, 6, 1, 1);
    assert_gives(w, "");
    frame(w, 4, 1, 1);
    assert_gives(w, "456");
}

TEST(plain_bytes_stay_in_order) {
    struct world *w = *state;
    media_section s = {.number = 1, .seq = 10, .len = 10, .begins = true};

    s.complete = true;
    s.data = calloc(1, 10);
    assert_true(media__sequence_cover(w->q, 10, 10));
    assert_true(media__sequence_push(w->q, &s));
    assert_gives(w, "");
    s.number = s.seq = 0;
    s.data = calloc(1, 10);
    assert_true(media__sequence_cover(w->q, 0, 10));
    assert_true(media__sequence_push(w->q, &s));
    assert_gives(w, "01");
}

TEST(at_the_end_nothing_waits) {
    struct world *w = *state;

    begin(w);
    frame(w, 6, 0, 3);
    frame(w, 5, 0, 2);
    assert_gives(w, "");
    assert_true(media__sequence_next(w->q, true, &w->got));
    assert_int_equal(w->got.number, 5);
    free(w->got.data);
    assert_true(media__sequence_next(w->q, true, &w->got));
    assert_int_equal(w->got.number, 6);
    free(w->got.data);
}

/* Sections of three streams in any order: each stream comes in order, and all
 * of it. */
TEST(any_order_comes_out_in_order) {
    enum { COUNT = 600 };
    struct world *w = *state;
    uint32_t next[3] = {0};
    uint64_t order[COUNT];
    uint32_t random = 7;
    size_t given = 0;
    media_header h;
    size_t payload;

    for (uint64_t i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        uint64_t j = i < 20 ? i : i - (random >> 16) % 20;
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t i = 0; i < COUNT; i++) {
        frame(w, order[i], (unsigned)(order[i] % 3), (uint32_t)(order[i] / 3));
        while (media__sequence_next(w->q, false, &w->got)) {
            assert_int_equal(
                media__header_parse(&h, w->got.data, LEN, &payload), MEDIA_OK);
            assert_int_equal(h.number, next[h.stream]++);
            free(w->got.data);
            given++;
        }
    }
    assert_int_equal(given, COUNT);
}

/* It may be of any stream. */
TEST(a_part_without_its_beginning_holds_all_up) {
    struct world *w = *state;
    media_header h = header(MEDIA_KIND_FRAME, 0, 0);

    begin(w);
    arrive_as(w, 5, &h, false, true); /* 4 is missing */
    frame(w, 6, 1, 1);
    assert_gives(w, "");
    frame(w, 4, 0, 1);
    assert_gives(w, "456");
}

TEST(what_is_not_whole_does_not_overtake) {
    struct world *w = *state;
    media_header h = header(MEDIA_KIND_FRAME, 1, 1);

    begin(w);
    arrive_as(w, 5, &h, true, false);
    assert_gives(w, "");
    frame(w, 4, 0, 1);
    assert_gives(w, "45");
}

/* Between the two there may be stream headers, which have no numbers. */
TEST(behind_a_description_a_frame_waits) {
    struct world *w = *state;

    begin(w);
    config(w, 4, 1);
    assert_gives(w, "4");
    frame(w, 6, 1, 1);
    assert_gives(w, "");
    assert_true(media__sequence_cover(w->q, 5 * LEN, LEN));
    assert_gives(w, "6");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(data_in_order_is_delivered_at_once),
        T(a_stream_does_not_wait_for_another),
        T(a_frame_never_sent_is_waited_for_until_all_before_is_over),
        T(a_gap_ends_the_wait),
        T(frames_wait_for_their_description),
        T(a_description_follows_earlier_data),
        T(plain_bytes_stay_in_order),
        T(at_the_end_nothing_waits),
        T(any_order_comes_out_in_order),
        T(a_part_without_its_beginning_holds_all_up),
        T(what_is_not_whole_does_not_overtake),
        T(behind_a_description_a_frame_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The work per section does not grow with the number of those that wait. Work
 * is counted in branches (the sequence is compiled with -fsanitize-coverage=
 * trace-pc for this test). */
#include <inttypes.h>
#include <stdlib.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/sequence.h"
#include "tests/support/cmocka.h"

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;

void __sanitizer_cov_trace_pc(void) {
    steps++;
}

/* Every section is as long as its header. */
#define LEN MEDIA_HEADER_LEN

/* A frame that is not the next one of its stream. */
static void arrive(media_sequence *q, uint64_t section) {
    const media_header h = {.kind = MEDIA_KIND_FRAME,
                            .number = (uint32_t)section + 1,
                            .pts = MEDIA_TIME_NONE,
                            .dts = MEDIA_TIME_NONE,
                            .duration = MEDIA_TIME_NONE};
    media_section s = {.number = section,
                       .seq = section * LEN,
                       .data = malloc(LEN),
                       .len = LEN,
                       .complete = true,
                       .begins = true};

    assert_non_null(s.data);
    media__header_write(&h, s.data);
    assert_true(media__sequence_cover(q, s.seq, LEN));
    assert_true(media__sequence_push(q, &s));
}

/* Steps per section of n that wait, each with a hole before it; the newest
 * arrives first. */
static uint64_t steps_of(uint64_t n) {
    media_sequence *q = media__sequence_new();
    media_section got;
    uint64_t given = 0;

    assert_non_null(q);
    steps = 0;
    for (uint64_t i = n; i > 0; i--) {
        arrive(q, 2 * i);
        assert_false(media__sequence_next(q, false, &got));
    }
    assert_true(media__sequence_cover(q, 0, (2 * n + 2) * LEN));
    while (media__sequence_next(q, false, &got)) {
        given++;
        assert_int_equal(got.number, 2 * given);
        free(got.data);
    }
    assert_int_equal(given, n);
    media__sequence_free(q);
    print_message("%" PRIu64 " sections: %" PRIu64 " steps each\n", n,
                  steps / n);
    return steps / n;
}

TEST(many_sections_that_wait_cost_little_more_than_few) {
    assert_true(steps_of(8000) < 2 * steps_of(80));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_sections_that_wait_cost_little_more_than_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Encoders that follow the target bitrate, over links that change. */
#include "tests/simnet/adaptive.h"

#define CASES(a) (sizeof(a) / sizeof((a)[0]))

static const struct encoder obedient = {.fps = 30,
                                        .start_bps = 500e3,
                                        .min_bps = 50e3,
                                        .max_bps = 20e6,
                                        .gain = 1,
                                        .latency = 400 * MS};

static struct adaptive plain(const struct rates *r, uint64_t rtt) {
    return (struct adaptive){.encoder = obedient,
                             .rates = r,
                             .rtt = rtt,
                             .queue = 250000,
                             .seed = 1};
}

static void show_outcome(const char *what, const struct outcome *o) {
    print_message("%s: in 200 ms %.1f %%, in 400 ms %.1f %%, freeze %.2f s, "
                  "used %.1f %%, keys %u, lost %u\n",
                  what, 100 * o->in_200, 100 * o->in_400,
                  (double)o->freeze / 1e9, 100 * o->used, o->keys, o->lost);
}

static void expect(const char *what, const struct adaptive *a, double in_200,
                   double in_400, uint64_t freeze, double used) {
    struct outcome o;
    adaptive_play(a, &o);
    show_outcome(what, &o);
    assert_true(o.in_200 >= in_200);
    assert_true(o.in_400 >= in_400);
    assert_true(o.freeze <= freeze);
    assert_true(o.used >= used);
}

TEST(frames_come_in_time_over_cellular_links) {
    static const uint64_t queues[] = {60000, 250000};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        for (size_t i = 0; i < CASES(queues); i++) {
            struct rates r;
            struct adaptive a = plain(&r, 40 * MS);
            rates_cellular(&r, 3e6, 60 * SEC, seed);
            a.queue = queues[i];
            a.seed = seed;
            expect("cellular", &a, 0.85, 0.9, 2 * SEC, 0.4);
            rates_free(&r);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_in_time_over_cellular_links),
    };
    return cmocka_run_group_tests_name("adaptive", tests, NULL, NULL);
}

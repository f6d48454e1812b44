/* SPDX-License-Identifier: MPL-2.0 */
/* Streams over links that are too small for them, or only just large enough. */
#include "tests/simnet/oracle.h"
#include "tests/simnet/small.h"

#define SEEDS 3

static struct small play_small(int kind, double part, uint64_t latency) {
    struct small s = small_play(kind, part, latency, SEEDS);
    print_message("%s over %.2f of its rate, %u ms: used %.2f, at worst %.2f, "
                  "bound %.2f; seen %.2f, bound %.2f\n",
                  small_name(kind), part, (unsigned)(latency / MS), s.used,
                  s.worst, s.bound, s.seen, s.seen_bound);
    return s;
}

/* A late frame of a chain leaves no time for the next key frame. */
TEST(a_chain_is_cut_before_it_costs_the_next_key) {
    struct small s = play_small(SMALL_CHAIN, 0.85, 400 * MS);
    assert_true(s.used >= 0.9 * s.bound);
    assert_true(s.late <= 0.2);
    s = play_small(SMALL_CHAIN, 0.95, 400 * MS);
    assert_true(s.used >= 0.9 * s.bound);
}

TEST(a_pyramid_uses_a_link_that_is_too_small) {
    struct small s = play_small(SMALL_PYRAMID, 0.75, 400 * MS);
    assert_true(s.used >= 0.95 * s.bound);
    s = play_small(SMALL_PYRAMID, 0.75, 200 * MS);
    assert_true(s.used >= 0.8 * s.bound);
}

TEST(the_bound_is_what_a_small_clip_can_show) {
    static struct clip c;
    c = (struct clip){.count = 4, .latency = 2 * CLIP_INTERVAL};
    for (uint32_t i = 0; i < 4; i++) {
        c.bytes[i] = 1000;
        c.cls[i] = i == 0 ? TL_CLASS_KEY : TL_CLASS_REFERENCE;
        c.parent[i] = i == 0 ? 0 : i - 1;
    }
    /* twice the interval each: the second takes until 160 of 120 ms */
    assert_float_equal(oracle_most(&c, 1000 / 80e-3, false), 1, 0);
    assert_float_equal(oracle_most(&c, 1000 / 40e-3, false), 4, 0);
    assert_float_equal(oracle_most(&c, 1000 / 40e-3, true), 4000, 0);
    /* if they refer to the key alone, one more can be skipped for another */
    for (uint32_t i = 1; i < 4; i++) {
        c.cls[i] = TL_CLASS_DISPOSABLE;
        c.parent[i] = 0;
    }
    assert_float_equal(oracle_most(&c, 1000 / 80e-3, false), 2, 0);
}

TEST(the_bound_of_a_freeze_is_the_shortest_there_can_be) {
    static struct clip c;
    c = (struct clip){.count = 12, .latency = 2 * CLIP_INTERVAL};
    for (uint32_t i = 0; i < c.count; i++) {
        c.bytes[i] = 1000;
        c.cls[i] = i % 6 == 0 ? TL_CLASS_KEY : TL_CLASS_REFERENCE;
        c.parent[i] = i % 6 == 0 ? i : i - 1;
    }
    assert_int_equal(oracle_freeze(&c, 1000 / 40e-3), 0);
    /* 80 ms each: the key alone is in time, and the rest of its group not */
    assert_int_equal(oracle_freeze(&c, 1000 / 80e-3), 5 * CLIP_INTERVAL);
    for (uint32_t i = 0; i < c.count; i++) { /* every other one */
        c.parent[i] = i - i % 6;
    }
    assert_int_equal(oracle_freeze(&c, 1000 / 80e-3), CLIP_INTERVAL);
    /* nothing can ever be in time */
    assert_true(oracle_freeze(&c, 1000 / 160e-3) >= 12 * CLIP_INTERVAL);
}

/* A key frame of 100 kB takes longer than the latency.  Symbols of repair for
 * the small pictures behind it, which are late whatever comes of them, must not
 * make the link look half as large as it is. */
TEST(a_late_key_does_not_cost_all_that_follows_it) {
    struct small s = play_small(SMALL_SCREEN, 1.2, 400 * MS);
    assert_true(s.seen >= 0.35);
    assert_true(s.freeze <= 8 * SEC);
}

TEST(a_link_that_holds_a_chain_carries_all_of_it) {
    assert_true(play_small(SMALL_CHAIN, 1.2, 200 * MS).seen >= 0.99);
}

/* Nothing shows the limit of a long path that holds the stream.  What the
 * window could not carry at first must not delay all that follows. */
TEST(a_window_that_grows_does_not_keep_a_chain_late) {
    const struct small_case satellite = {.kind = SMALL_CHAIN,
                                         .part = 2.1,
                                         .latency = 400 * MS,
                                         .rtt = 600 * MS,
                                         .loss = 0.02,
                                         .from = 75};
    struct small s;
    world_needs_fec();
    s = small_play_case(&satellite, 7);
    print_message("satellite: seen %.3f, at worst %.3f\n", s.seen,
                  s.seen_worst);
    assert_true(s.seen >= 0.97);
    assert_true(s.seen_worst >= 0.95);
}

/* The window of two of these runs grew far beyond
 * the pipe, and each key frame then overflowed the queue. */
TEST(key_frames_fit_the_queue_of_a_long_path) {
    struct small_case satellite = {.kind = SMALL_PYRAMID,
                                   .part = 2.24,
                                   .latency = 300 * MS,
                                   .rtt = 600 * MS,
                                   .loss = 0.02,
                                   .from = 75};
    world_needs_fec();
    for (satellite.seed = 507; satellite.seed <= 520; satellite.seed += 13) {
        struct small s = small_play_case(&satellite, 1);
        print_message("satellite: seen %.3f\n", s.seen);
        assert_true(s.seen >= 0.95);
    }
}

/* Without a loss, it took a queue that its window did not fill for that of
 * others, halved the window, and showed nothing for 18 seconds. */
TEST(a_stream_alone_gives_nothing_back) {
    const struct small_case alone = {
        .kind = SMALL_PYRAMID, .part = 0.72, .latency = 200 * MS, .seed = 11};
    struct small s = small_play_case(&alone, 1);
    print_message("alone: used %.3f of %.3f\n", s.used, s.bound);
    assert_true(s.used > 0.6 * s.bound);
}

static double used_over_loss(int kind, uint64_t rtt) {
    const struct small_case lossy = {.kind = kind,
                                     .part = 0.9,
                                     .latency = 400 * MS,
                                     .rtt = rtt,
                                     .loss = 0.04};
    struct small s = small_play_case(&lossy, 7);
    print_message("4 %% loss: used %.3f of %.3f\n", s.used, s.bound);
    return s.used / s.bound;
}

/* A third of what was sent arrived a little too late: the schedule had no room
 * for repairs. */
TEST(a_schedule_leaves_time_for_repairs) {
    world_needs_fec();
    assert_true(used_over_loss(SMALL_PLAIN_B, 100 * MS) > 0.72);
    assert_true(used_over_loss(SMALL_PYRAMID, 180 * MS) > 0.63);
}

/* One of the runs stood for eleven seconds, at the deadline of all that was
 * sent. */
TEST(a_window_that_bursts_hold_down_sends_what_is_in_time) {
    const struct small_case bursts = {.kind = SMALL_CHAIN,
                                      .part = 2.1,
                                      .latency = 200 * MS,
                                      .rtt = 100 * MS,
                                      .bursts = 0.1,
                                      .in_a_row = 8};
    struct small s = small_play_case(&bursts, 7);
    print_message("bursts: seen %.3f, at worst %.3f\n", s.seen, s.seen_worst);
    assert_true(s.seen_worst >= 0.33);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_cut_before_it_costs_the_next_key),
        cmocka_unit_test(a_pyramid_uses_a_link_that_is_too_small),
        cmocka_unit_test(the_bound_is_what_a_small_clip_can_show),
        cmocka_unit_test(the_bound_of_a_freeze_is_the_shortest_there_can_be),
        cmocka_unit_test(a_late_key_does_not_cost_all_that_follows_it),
        cmocka_unit_test(a_link_that_holds_a_chain_carries_all_of_it),
        cmocka_unit_test(a_window_that_grows_does_not_keep_a_chain_late),
        cmocka_unit_test(key_frames_fit_the_queue_of_a_long_path),
        cmocka_unit_test(a_stream_alone_gives_nothing_back),
        cmocka_unit_test(a_schedule_leaves_time_for_repairs),
        cmocka_unit_test(a_window_that_bursts_hold_down_sends_what_is_in_time),
    };
    return cmocka_run_group_tests_name("small", tests, NULL, NULL);
}

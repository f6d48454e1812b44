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

#define STEP (10 * SEC)

static struct rates steady_rates(double bps, uint64_t ns) {
    struct rates r;
    rates_steps(&r, &bps, 1, ns);
    return r;
}

/* A busy machine notices timers and ACKs late. */
TEST(a_slow_process_fills_the_link) {
    static const struct {
        double bps;
        uint64_t rtt;
        uint64_t slow;
        double used;
    } cases[] = {{3e6, 40 * MS, 17 * MS, 0.8},
                 {3e6, 100 * MS, 17 * MS, 0.7},
                 {20e6, 10 * MS, 7 * MS, 0.75},
                 {20e6, 40 * MS, 17 * MS, 0.6},
                 {20e6, 100 * MS, 7 * MS, 0.65}};
    for (size_t i = 0; i < CASES(cases); i++) {
        struct rates r = steady_rates(cases[i].bps, 30 * SEC);
        struct adaptive a = plain(&r, cases[i].rtt);
        a.encoder.max_bps = 1.5 * cases[i].bps;
        a.queue = (uint64_t)(cases[i].bps / 80); /* 100 ms */
        a.slow = cases[i].slow;
        expect("slow", &a, 0.9, 0.95, SEC, cases[i].used);
        rates_free(&r);
    }
}

/* A step of the link; returns when the target has followed. */
static uint64_t play_step_of(struct adaptive a, double from, double to,
                             double bound, unsigned *lost) {
    const double bps[] = {from, to};
    struct adaptive_step s = {
        .at = STEP, .bound = bound, .below = to < from, .met = NEVER};
    struct rates r;
    struct outcome o;
    rates_steps(&r, bps, 2, STEP);
    a.rates = &r;
    a.watch = adaptive_watch_step;
    a.user = &s;
    a.encoder.latency = 2 * SEC;
    adaptive_play(&a, &o);
    rates_free(&r);
    print_message("%.1f to %.1f Mbit/s, RTT %.0f ms: after %.0f ms\n",
                  from / 1e6, to / 1e6, (double)a.rtt / 1e6,
                  (double)s.met / 1e6);
    show_outcome("step", &o);
    *lost = o.lost;
    return s.met;
}

static uint64_t play_step(double from, double to, double bound, uint64_t rtt,
                          unsigned *lost) {
    return play_step_of(plain(NULL, rtt), from, to, bound, lost);
}

TEST(a_fall_to_a_quarter_is_followed_in_a_round_trip_and_a_half) {
    static const uint64_t rtts[] = {40 * MS, 100 * MS, 300 * MS};
    unsigned lost;
    for (size_t i = 0; i < CASES(rtts); i++) {
        assert_true(play_step(4e6, 1e6, 1e6, rtts[i], &lost) <=
                    rtts[i] * 3 / 2 + 100 * MS + ADAPTIVE_BIN);
    }
}

TEST(a_rise_by_four_is_followed_in_seconds) {
    unsigned lost;
    assert_true(play_step(1e6, 4e6, 0.9 * 0.93 * 4e6, 40 * MS, &lost) <=
                3 * SEC);
    assert_int_equal(lost, 0);
    assert_true(play_step(1e6, 4e6, 0.9 * 0.93 * 4e6, 100 * MS, &lost) <=
                3 * SEC);
    assert_int_equal(lost, 0);
}

/* The window that kept the queue short was the limit after it. */
TEST(so_is_one_to_a_rate_whose_window_is_large) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct adaptive a = plain(NULL, 100 * MS);
        unsigned lost;
        a.encoder.steered = true;
        a.encoder.gop = 50;
        a.encoder.max_bps = 20e6;
        a.queue = 250000;
        a.seed = seed;
        assert_true(play_step_of(a, 3e6, 12e6, 0.9 * 0.93 * 12e6, &lost) <=
                    3 * SEC);
        assert_int_equal(lost, 0);
    }
}

TEST(a_rise_by_four_is_followed_over_a_satellite) {
    unsigned lost;
    assert_true(play_step(1e6, 4e6, 0.9 * 0.93 * 4e6, 600 * MS, &lost) <=
                6 * SEC);
}

TEST(lost_acknowledgements_do_little_harm) {
    struct rates r = steady_rates(3e6, 30 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.ack_loss = 0.3;
    expect("30 % of ACKs lost", &a, 0.97, 0.99, SEC, 0.6);
    rates_free(&r);
}

TEST(a_thin_return_path_will_do) {
    struct rates r = steady_rates(3e6, 30 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.back_bps = 64e3;
    expect("return path of 64 kbit/s", &a, 0.9, 0.95, SEC, 0.3);
    rates_free(&r);
}

static void shape_jitter(struct sim_link_config *c) {
    c->jitter = 30 * MS;
}

static void shape_jitter_60(struct sim_link_config *c) {
    c->jitter = 60 * MS;
}

static void shape_slots(struct sim_link_config *c) {
    c->slot_min = 20 * MS;
    c->slot_max = 60 * MS;
}

/* The mean use of a link of 4 Mbit/s. Single seeds differ by chance. Each has
 * its pictures in time. */
static double mean_use(const char *what,
                       void (*shape)(struct sim_link_config *c)) {
    enum { SEEDS = 12 };
    struct rates r = steady_rates(4e6, 30 * SEC);
    double sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct adaptive a = plain(&r, 40 * MS);
        struct outcome o;
        a.seed = seed;
        a.shape = shape;
        adaptive_play(&a, &o);
        assert_true(o.in_200 >= 0.97);
        assert_true(o.in_400 >= 0.98);
        assert_true(o.freeze <= SEC);
        sum += o.used;
    }
    rates_free(&r);
    print_message("%s: %.1f %% used\n", what, 100 * sum / SEEDS);
    return sum / SEEDS;
}

/* It is not taken for a queue. */
TEST(jitter_leaves_most_of_the_link_in_use) {
    assert_true(mean_use("30 ms of jitter", shape_jitter) >= 0.81);
    assert_true(mean_use("60 ms of jitter", shape_jitter_60) >= 0.66);
    assert_true(mean_use("slots of 20 to 60 ms", shape_slots) >= 0.73);
}

TEST(random_loss_does_little_harm) {
    struct rates r = steady_rates(3e6, 30 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.loss = 0.02;
    expect("2 % lost", &a, 0.9, 0.97, SEC, 0.5);
    rates_free(&r);
}

TEST(an_encoder_that_overshoots_is_held_down) {
    struct rates r = steady_rates(3e6, 30 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.encoder.gain = 2;
    expect("twice as much as asked", &a, 0.5, 0.8, 2 * SEC, 0.4);
    rates_free(&r);
}

TEST(a_capture_that_stalls_goes_on) {
    struct rates r = steady_rates(3e6, 30 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.encoder.stall_at = 10 * SEC;
    a.encoder.stall = 3 * SEC;
    expect("a stall of three seconds", &a, 0.95, 0.98, 4 * SEC, 0.4);
    rates_free(&r);
}

/* Its RTTs then look as much longer. */
TEST(a_clock_that_jumps_ahead_costs_a_moment) {
    struct rates r = steady_rates(3e6, 30 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.encoder.skip_at = 10 * SEC;
    a.encoder.skip = 3 * SEC;
    expect("a clock that jumps by three seconds", &a, 0.9, 0.9, 2 * SEC, 0.4);
    rates_free(&r);
}

static struct adaptive steered(const struct rates *r, uint64_t rtt) {
    struct adaptive a = plain(r, rtt);
    a.encoder.steered = true;
    a.encoder.fps = 25;
    a.encoder.gop = 50;
    a.queue = 60000;
    return a;
}

/* Its ACKs at the usual frequency would fill the return path several times. */
TEST(a_slow_return_path_leaves_most_of_the_link_in_use) {
    static const struct {
        double bps, back;
        uint64_t rtt;
    } paths[] = {{12e6, 64e3, 30 * MS},
                 {5e6, 32e3, 60 * MS},
                 {20e6, 128e3, 20 * MS},
                 {20e6, 64e3, 200 * MS}};
    for (size_t i = 0; i < CASES(paths); i++) {
        struct rates r = steady_rates(paths[i].bps, 30 * SEC);
        struct adaptive a = steered(&r, paths[i].rtt);
        a.queue = (uint64_t)(paths[i].bps / 8 * 0.06);
        a.back_bps = paths[i].back;
        expect("slow return path", &a, 0.75, 0.95, SEC, 0.5);
        rates_free(&r);
    }
}

/* Nothing passes from STEP on, for so long. */
static void be_dark(void *user, struct world *world) {
    uint64_t now = world_now(world);
    const uint64_t *dark = user;
    for (int i = 0; i < 2; i++) {
        struct sim_link_config c =
            *sim_link_get(sim_net_link(world->net, world->link[i]));
        c.no_carrier = now >= STEP && now < STEP + *dark;
        sim_net_set_link(world->net, world->link[i], &c);
    }
}

/* The path becomes longer at STEP: a hand-over to another satellite. */
static void hand_over(void *user, struct world *world) {
    const uint64_t *rtt = user;
    for (int i = 0; i < 2 && world_now(world) >= STEP; i++) {
        struct sim_link_config c =
            *sim_link_get(sim_net_link(world->net, world->link[i]));
        c.delay = *rtt / 2;
        sim_net_set_link(world->net, world->link[i], &c);
    }
}

/* Its RTT is not a queue that lower rates would drain. */
TEST(a_stream_over_a_path_that_becomes_longer_comes_back) {
    static const uint64_t rtts[] = {70 * MS, 140 * MS, 240 * MS, 600 * MS};
    for (size_t i = 0; i < CASES(rtts); i++) {
        struct rates r = steady_rates(3e6, 50 * SEC);
        uint64_t rtt = rtts[i];
        struct adaptive a = steered(&r, 40 * MS);
        a.meddle = hand_over;
        a.user = &rtt;
        expect("a longer path", &a, 0, 0.8, 3 * SEC, 0.55);
        rates_free(&r);
    }
}

/* Waits between probes that doubled without end would freeze it for twice as
 * long. */
TEST(a_stream_goes_on_within_a_second_of_the_end_of_an_outage) {
    struct rates r = steady_rates(3e6, 30 * SEC);
    for (uint64_t dark = 2 * SEC; dark <= 12 * SEC; dark += 700 * MS) {
        struct adaptive a = steered(&r, 40 * MS);
        a.meddle = be_dark;
        a.user = &dark;
        a.seed = dark;
        expect("an outage", &a, 0.5, 0.6, dark + SEC, 0.3);
    }
    rates_free(&r);
}

/* ---- queues that are managed ---- */

static void expect_shaped(const char *what,
                          void (*shape)(struct sim_link_config *c), double bps,
                          double in_200, double in_400, double used) {
    struct rates r = steady_rates(bps, 30 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.shape = shape;
    expect(what, &a, in_200, in_400, SEC, used);
    rates_free(&r);
}

TEST(queues_that_drop_early_do_little_harm) {
    expect_shaped("CoDel", shape_codel, 3e6, 0.9, 0.95, 0.4);
    expect_shaped("PIE", shape_pie, 3e6, 0.9, 0.95, 0.4);
    expect_shaped("FQ-CoDel", shape_fq, 3e6, 0.9, 0.95, 0.4);
}

TEST(queues_that_mark_lose_no_picture) {
    expect_shaped("CoDel, ECN", shape_codel_ecn, 3e6, 0.95, 0.98, 0.4);
    expect_shaped("PIE, ECN", shape_pie_ecn, 3e6, 0.95, 0.98, 0.4);
    expect_shaped("FQ-CoDel, ECN", shape_fq_ecn, 3e6, 0.95, 0.98, 0.4);
}

/* It drops what is above its rate at once, without any queue that would give a
 * warning. */
TEST(a_stream_copes_with_a_policer) {
    expect_shaped("a policer of 2.5 Mbit/s on 10", shape_policer, 10e6, 0.6,
                  0.95, 0.1);
}

/* What it drops is sent again, and must leave room for that. */
TEST(a_stream_behind_a_narrow_policer_is_in_time) {
    struct rates r = steady_rates(10e6, 30 * SEC);
    struct adaptive a = plain(&r, 20 * MS);
    a.shape = shape_policer_1;
    expect("a policer of 1 Mbit/s on 10", &a, 0.7, 0.9, 2 * SEC, 0.07);
    rates_free(&r);
}

TEST(an_encoder_that_is_deaf_does_not_break_the_sender) {
    struct rates r = steady_rates(1e6, 20 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    struct outcome o;
    a.encoder.deaf = true;
    a.encoder.start_bps = 2e6;
    adaptive_play(&a, &o);
    show_outcome("deaf", &o);
    assert_true(o.in_400 > 0);
}

TEST(so_do_streams_with_b_frames) {
    struct rates r;
    struct adaptive a = plain(&r, 40 * MS);
    a.encoder.b_frames = 2;
    rates_cellular(&r, 3e6, 60 * SEC, 7);
    expect("cellular, B frames", &a, 0.85, 0.9, 2 * SEC, 0.4);
    rates_free(&r);
}

/* The longest delay that was expected after the start. */
static void watch_delay(void *user, uint64_t now, const tltcp_stats *st) {
    uint64_t *most = user;
    if (now > 2 * SEC && st->delivery_delay_ns > *most) {
        *most = st->delivery_delay_ns;
    }
}

TEST(a_sender_knows_when_a_frame_would_come_too_late) {
    struct rates r = steady_rates(1e6, 10 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    struct outcome o;
    uint64_t most = 0;
    a.watch = watch_delay;
    a.user = &most;
    adaptive_play(&a, &o);
    assert_in_range(most, 20 * MS, 200 * MS);
    a.encoder.deaf = true;
    a.encoder.start_bps = 2e6;
    adaptive_play(&a, &o);
    assert_true(most > 300 * MS);
    rates_free(&r);
}

/* The least delay expected in the last second. */
static void watch_stop(void *user, uint64_t now, const tltcp_stats *st) {
    uint64_t *least = user;
    if (now > 7 * SEC && now < 8 * SEC && st->delivery_delay_ns < *least) {
        *least = st->delivery_delay_ns;
    }
}

/* The estimated bandwidth is of before; the age of what is on its way tells. */
TEST(a_sender_knows_when_the_link_has_all_but_stopped) {
    const double bps[] = {3e6, 3e6, 3e6, 10e3};
    struct rates r;
    struct adaptive a = plain(&r, 40 * MS);
    struct outcome o;
    uint64_t least = NEVER;
    rates_steps(&r, bps, 4, 2 * SEC);
    a.encoder.latency = 5 * SEC;
    a.watch = watch_stop;
    a.user = &least;
    adaptive_play(&a, &o);
    print_message("at least %.0f ms\n", (double)least / 1e6);
    assert_true(least > 800 * MS);
    rates_free(&r);
}

/* Whether a picture freezes for more than 0.5 s is chance, too. */
TEST(steered_frames_come_in_time_over_cellular_links) {
    enum { SEEDS = 40 };
    unsigned frozen = 0;
    double in_200 = 0;
    double in_400 = 0;
    double used = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rates r;
        struct outcome o;
        struct adaptive a = steered(&r, 40 * MS);
        rates_cellular(&r, 3e6, 60 * SEC, seed);
        a.seed = seed;
        adaptive_play(&a, &o);
        assert_true(o.freeze <= SEC);
        in_200 += o.in_200 / SEEDS;
        in_400 += o.in_400 / SEEDS;
        used += o.used / SEEDS;
        frozen += o.freeze > 500 * MS;
        rates_free(&r);
    }
    print_message(
        "in 200 ms %.1f %%, in 400 ms %.1f %%, used %.1f %%, %u of %u "
        "freeze for 0.5 s\n",
        100 * in_200, 100 * in_400, 100 * used, frozen, (unsigned)SEEDS);
    assert_true(in_200 >= 0.965);
    assert_true(in_400 >= 0.99);
    assert_true(used >= 0.6);
    assert_true(frozen <= SEEDS / 4);
}

TEST(a_fall_to_a_quarter_freezes_no_steered_stream) {
    static const double bps[] = {4e6, 1e6, 4e6};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct rates r;
        struct adaptive a = steered(&r, 40 * MS);
        rates_steps(&r, bps, 3, 5 * SEC);
        a.seed = seed;
        expect("to a quarter", &a, 0.9, 0.97, 300 * MS, 0.6);
        rates_free(&r);
    }
}

TEST(skipping_frames_that_would_come_too_late_keeps_others_in_time) {
    struct rates r = steady_rates(1e6, 20 * SEC);
    struct adaptive a = plain(&r, 40 * MS);
    a.encoder.deaf = true;
    a.encoder.skips = true;
    a.encoder.start_bps = 2e6;
    expect("deaf, but skips", &a, 0.35, 0.42, SEC, 0.6);
    rates_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_in_time_over_cellular_links),
        cmocka_unit_test(a_slow_process_fills_the_link),
        cmocka_unit_test(so_do_streams_with_b_frames),
        cmocka_unit_test(
            a_fall_to_a_quarter_is_followed_in_a_round_trip_and_a_half),
        cmocka_unit_test(a_rise_by_four_is_followed_in_seconds),
        cmocka_unit_test(so_is_one_to_a_rate_whose_window_is_large),
        cmocka_unit_test(a_rise_by_four_is_followed_over_a_satellite),
        cmocka_unit_test(lost_acknowledgements_do_little_harm),
        cmocka_unit_test(a_clock_that_jumps_ahead_costs_a_moment),
        cmocka_unit_test(
            a_stream_goes_on_within_a_second_of_the_end_of_an_outage),
        cmocka_unit_test(a_stream_over_a_path_that_becomes_longer_comes_back),
        cmocka_unit_test(queues_that_drop_early_do_little_harm),
        cmocka_unit_test(queues_that_mark_lose_no_picture),
        cmocka_unit_test(a_stream_copes_with_a_policer),
        cmocka_unit_test(a_stream_behind_a_narrow_policer_is_in_time),
        cmocka_unit_test(a_thin_return_path_will_do),
        cmocka_unit_test(a_slow_return_path_leaves_most_of_the_link_in_use),
        cmocka_unit_test(jitter_leaves_most_of_the_link_in_use),
        cmocka_unit_test(random_loss_does_little_harm),
        cmocka_unit_test(an_encoder_that_overshoots_is_held_down),
        cmocka_unit_test(a_capture_that_stalls_goes_on),
        cmocka_unit_test(an_encoder_that_is_deaf_does_not_break_the_sender),
        cmocka_unit_test(a_sender_knows_when_a_frame_would_come_too_late),
        cmocka_unit_test(a_sender_knows_when_the_link_has_all_but_stopped),
        cmocka_unit_test(steered_frames_come_in_time_over_cellular_links),
        cmocka_unit_test(a_fall_to_a_quarter_freezes_no_steered_stream),
        cmocka_unit_test(
            skipping_frames_that_would_come_too_late_keeps_others_in_time),
    };
    return cmocka_run_group_tests_name("adaptive", tests, NULL, NULL);
}

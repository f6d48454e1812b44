/* SPDX-License-Identifier: MPL-2.0 */
/* Results of live video over the links of docs/measurements/live.md. */
#include "tests/simnet/marks.h"

#define SEEDS 5
#define SEEDS_BURSTS 21
#define SEEDS_RIVALS 101 /* few tell little of who wins at first */

TEST(alone) {
    struct path on = path_of(4);
    struct mark m = play_all("4 Mbit/s alone", &on, SEEDS);
    assert_true(m.seen >= 0.999);
    assert_int_equal(m.yielded, 0);
}

TEST(overload) {
    struct path on = path_of(2);
    struct mark m = play_all("2 Mbit/s alone", &on, SEEDS);
    assert_true(m.seen >= 0.9);
    assert_int_equal(m.keys_missing, 0);
    assert_true(m.freeze <= 400 * MS);
    assert_true(m.waste < 0.01);
}

/* Pictures displayed over a link with random losses. */
static double seen_over(const char *name, double loss, uint64_t jitter) {
    struct path on = path_of(6);
    on.loss = loss;
    on.jitter = jitter;
    return play_all(name, &on, SEEDS).seen;
}

static struct mark over_bursts(const char *name, double share,
                               unsigned in_a_row) {
    struct path on = path_of(6);
    on.bursts = share;
    on.in_a_row = in_a_row;
    return play_all(name, &on, SEEDS_BURSTS);
}

TEST(two_percent) {
    assert_true(seen_over("2 % loss", 0.02, 0) >= 0.999);
}

/* One run in ten showed 93 % when it took the losses for those that BBR causes,
 * and held half of the link. */
TEST(ten_percent) {
    struct path on = path_of(6);
    struct mark m;
    on.loss = 0.1;
    m = play_all("10 % loss", &on, SEEDS_BURSTS);
    assert_true(m.seen >= 0.99);
    assert_true(m.tenth >= 0.97);
}

/* As netem and linkem have them: for so many packets, not for so long.  A run
 * in a row loses whole windows, probes and their answers. */
TEST(ten_percent_in_bursts) {
    struct mark m = over_bursts("10 % loss in bursts", 0.1, 4);
    assert_true(m.seen >= 0.98);
    assert_true(m.tenth >= 0.94);
    assert_true(m.usual_freeze <= 200 * MS);
}

TEST(bursts_of_other_lengths) {
    assert_true(over_bursts("10 % in bursts of two", 0.1, 2).tenth >= 0.97);
    assert_true(over_bursts("5 % in bursts of eight", 0.05, 8).seen >= 0.98);
    assert_true(over_bursts("10 % in bursts of eight", 0.1, 8).seen >= 0.9);
}

/* The lowest RTT that was ever seen is then one that hardly ever comes again.
 */
TEST(ten_percent_and_jitter) {
    assert_true(seen_over("10 % loss and jitter", 0.1, 8 * MS) >= 0.95);
}

/* Jitter of a radio looks like a queue, in which no loss is by chance. */
TEST(two_percent_and_more_jitter) {
    struct path on = path_of(6);
    struct mark m;
    on.loss = 0.02;
    on.jitter = 30 * MS;
    m = play_all("2 % loss and 30 ms of jitter", &on, SEEDS_BURSTS);
    assert_true(m.seen >= 0.95);
    assert_true(m.tenth >= 0.85);
}

/* So does a path that is a little longer than before. */
TEST(hand_over_to_a_slightly_longer_path_that_loses) {
    struct path on = path_of(12);
    struct mark m;
    on.loss = 0.02;
    on.longer = 50 * MS;
    m = play_all("2 % loss and a slightly longer path", &on, SEEDS_BURSTS);
    assert_true(m.seen >= 0.99);
    assert_true(m.tenth >= 0.97);
}

/* The window was made for the shorter path.  Key frames come every two seconds.
 */
TEST(hand_over_to_a_longer_path) {
    struct path on = path_of(4);
    struct mark m;
    on.latency = 400 * MS;
    on.patience = 300 * MS; /* what the longer path takes */
    on.longer = 600 * MS;
    m = play_all("hand-over", &on, SEEDS);
    assert_true(m.seen >= 0.88);
    assert_true(m.freeze <= 2400 * MS);
}

/* The window needs three round trips to carry it all, which a clip of half a
 * minute shows. */
static struct path satellite_link(void) {
    struct path on = path_of(6);
    world_needs_fec();
    on.loss = 0.02;
    on.rtt = 600 * MS;
    on.latency = 400 * MS;
    return on;
}

TEST(satellite) {
    struct path on = satellite_link();
    struct mark m = play_all("satellite", &on, SEEDS);
    assert_true(m.settled >= 0.97);
    assert_true(m.seen >= 0.88);
}

/* The capacity of the path, from the beginning. */
TEST(satellite_that_is_known) {
    struct path on = satellite_link();
    struct mark m;
    on.initial_window = 375;
    m = play_all("satellite, known", &on, SEEDS);
    assert_true(m.seen >= 0.97);
    assert_true(m.waste < 0.01);
    assert_true(m.useless < 0.01);
}

TEST(beside_cubic) {
    struct path on = path_of(4);
    struct mark m;
    world_needs_fec();
    on.rival = "cubic";
    m = play_all("beside CUBIC", &on, SEEDS_RIVALS);
    assert_true(m.seen >= 0.9);
    assert_true(m.useless < 0.01);
    assert_true(m.usual_freeze <= 2500 * MS);
    assert_true(m.ratio >= 0.8 && m.ratio <= 1.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(overload),
        cmocka_unit_test(two_percent),
        cmocka_unit_test(ten_percent),
        cmocka_unit_test(ten_percent_in_bursts),
        cmocka_unit_test(bursts_of_other_lengths),
        cmocka_unit_test(ten_percent_and_jitter),
        cmocka_unit_test(two_percent_and_more_jitter),
        cmocka_unit_test(hand_over_to_a_slightly_longer_path_that_loses),
        cmocka_unit_test(hand_over_to_a_longer_path),
        cmocka_unit_test(satellite),
        cmocka_unit_test(satellite_that_is_known),
        cmocka_unit_test(beside_cubic),
    };
    return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}

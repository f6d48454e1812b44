/* SPDX-License-Identifier: MPL-2.0 */
/* Shares of flows on a bottleneck: the rivals are as strong as those of a
 * kernel.
 */
#include <stdlib.h>

#include "tests/simnet/shares.h"

#define SEEDS 9

static int in_order(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median over the seeds of who joins over who was there. */
static double ratio_of(const char *congestion, const char *rival) {
    double ratio[SEEDS];
    struct shares s;
    shares_init(&s);
    s.kind = SHARES_BULK;
    s.congestion = congestion;
    s.rival = rival;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct shares_result r;
        shares_play(&s, i + 1, &r);
        ratio[i] = r.ratio;
    }
    qsort(ratio, SEEDS, sizeof(ratio[0]), in_order);
    return ratio[SEEDS / 2];
}

/* As between kernels on this link: 0.31, 0.2 and 0.85. */
TEST(flows_that_join_bbr_get_the_shares_that_kernels_show) {
    double cubic = ratio_of("cubic", "bbr1");
    double reno = ratio_of("reno", "bbr1");
    double bbr = ratio_of("bbr1", "bbr1");
    assert_true(cubic > 0.2 && cubic < 0.45);
    assert_true(reno > 0.15 && reno < 0.35);
    assert_true(bbr > 0.7 && bbr < 1.3);
}

/* Encoders that follow the target bitrate claim a share where others fill the
 * queue: they got a twentieth when they drained it for them. */
static void expect_adaptive(const char *rival, double rate, uint64_t rtt,
                            uint64_t queue, double least) {
    double ratio[SEEDS];
    double on_time[SEEDS];
    struct shares s;
    shares_init(&s);
    s.kind = SHARES_ADAPTIVE;
    s.bitrate = 20e6;
    s.rival = rival;
    s.rate = rate;
    s.rtt = rtt;
    s.queue = queue;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct shares_result r;
        shares_play(&s, i + 1, &r);
        ratio[i] = r.ratio;
        on_time[i] = r.on_time;
    }
    qsort(ratio, SEEDS, sizeof(ratio[0]), in_order);
    qsort(on_time, SEEDS, sizeof(on_time[0]), in_order);
    print_message("%s, RTT %.0f ms: F %.2f, on time %.1f %%\n", rival,
                  (double)rtt / 1e6, ratio[SEEDS / 2],
                  100 * on_time[SEEDS / 2]);
    assert_true(ratio[SEEDS / 2] > least);
    assert_true(ratio[SEEDS / 2] < 1.5);
    assert_true(on_time[SEEDS / 2] > 0.95);
}

TEST(adaptive_streams_hold_a_share_beside_bulk_flows) {
    expect_adaptive("cubic", 4e6, 40 * MS, 60000, 0.7);
    expect_adaptive("cubic", 4e6, 20 * MS, 50000, 0.7);
    expect_adaptive("reno", 4e6, 40 * MS, 60000, 0.7);
    expect_adaptive("reno", 4e6, 100 * MS, 80000, 0.7);
    /* F was 0.64: it took the queue for its own for seconds. */
    expect_adaptive("cubic", 6e6, 20 * MS, 30000, 0.7);
    expect_adaptive("bbr1", 4e6, 40 * MS, 60000, 0.5);
}

/* A stream that wants 70 % of a link. */
static void expect_half(const char *rival, double rate, uint64_t rtt,
                        uint64_t queue, double most) {
    double ratio[SEEDS];
    struct shares s;
    shares_init(&s);
    s.rate = rate;
    s.rtt = rtt;
    s.queue = queue;
    s.bitrate = 0.7 * rate;
    s.rival = rival;
    for (unsigned k = 0; k < SEEDS; k++) {
        struct shares_result r;
        shares_play(&s, k + 1, &r);
        ratio[k] = r.ratio;
    }
    qsort(ratio, SEEDS, sizeof(ratio[0]), in_order);
    print_message("%s, %.0f Mbit/s, RTT %.0f ms, %.0f kB: F %.2f\n", rival,
                  rate / 1e6, (double)rtt / 1e6, (double)queue / 1e3,
                  ratio[SEEDS / 2]);
    assert_true(ratio[SEEDS / 2] > 0.8);
    assert_true(ratio[SEEDS / 2] < most);
}

/* It would take twice what Reno gets, if it could. */
TEST(a_stream_that_wants_most_of_a_link_leaves_others_their_part) {
    expect_half("cubic", 4e6, 40 * MS, 50000, 1.3);
    expect_half("reno", 4e6, 40 * MS, 50000, 1.3);
}

/* A sender that takes much more than it gets for what it can send is late for
 * as long as the others stay: on the first of these links 52 % were in time. */
static void expect_in_time(const char *rival, double rate, uint64_t rtt,
                           uint64_t queue, double least) {
    double on_time[SEEDS];
    struct shares s;
    shares_init(&s);
    s.rate = rate;
    s.rtt = rtt;
    s.queue = queue;
    s.bitrate = 0.7 * rate;
    s.rival = rival;
    for (unsigned k = 0; k < SEEDS; k++) {
        struct shares_result r;
        shares_play(&s, k + 1, &r);
        on_time[k] = r.on_time;
    }
    qsort(on_time, SEEDS, sizeof(on_time[0]), in_order);
    print_message("%s, RTT %.0f ms, %.0f kB: on time %.1f %%\n", rival,
                  (double)rtt / 1e6, (double)queue / 1e3,
                  100 * on_time[SEEDS / 2]);
    assert_true(on_time[SEEDS / 2] > least);
}

TEST(a_stream_is_in_time_where_others_fill_a_deep_queue) {
    expect_in_time("reno", 6e6, 80 * MS, 150000, 0.62);
    expect_in_time("reno", 10e6, 100 * MS, 250000, 0.67);
}

/* Queues of 13 to 23 ms do not show by their length that others fill them. F
 * was 1.62, 1.59, 1.43 and 1.97. */
TEST(a_short_queue_is_shared_as_well) {
    expect_half("cubic", 18.8e6, 14 * MS, 37300, 1.35);
    expect_half("reno", 18.8e6, 14 * MS, 37300, 1.35);
    expect_half("cubic", 6e6, 33 * MS, 17000, 1.35);
    expect_half("reno", 5.7e6, 54 * MS, 15500, 1.5);
}

/* Beside a flow that does not yield to losses, in queues of 1 to 3.5
 * bandwidth-delay products: F was 0.06 to 0.5 when the stream yielded. */
static void expect_held(enum shares_kind kind, double rate, uint64_t rtt,
                        uint64_t queue, double least, double on_time) {
    double ratio[SEEDS];
    double seen[SEEDS];
    double lost[SEEDS];
    struct shares s;
    shares_init(&s);
    s.kind = kind;
    s.rate = rate;
    s.rtt = rtt;
    s.queue = queue;
    s.rival = "bbr1";
    s.bitrate = kind == SHARES_ADAPTIVE ? 20e6 : 0.45 * rate;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct shares_result r;
        shares_play(&s, i + 1, &r);
        ratio[i] = r.ratio;
        seen[i] = r.on_time;
        lost[i] = r.lost;
    }
    qsort(ratio, SEEDS, sizeof(ratio[0]), in_order);
    qsort(seen, SEEDS, sizeof(seen[0]), in_order);
    qsort(lost, SEEDS, sizeof(lost[0]), in_order);
    print_message("%.0f Mbit/s, RTT %.0f ms, %.0f kB: F %.2f, on time %.1f %%, "
                  "lost %.1f %%\n",
                  rate / 1e6, (double)rtt / 1e6, (double)queue / 1e3,
                  ratio[SEEDS / 2], 100 * seen[SEEDS / 2],
                  100 * lost[SEEDS / 2]);
    assert_true(ratio[SEEDS / 2] > least && ratio[SEEDS / 2] < 1.25);
    assert_true(seen[SEEDS / 2] > on_time);
    assert_true(lost[SEEDS / 2] < 0.17);
}

TEST(streams_hold_a_part_beside_a_flow_that_does_not_yield) {
    expect_held(SHARES_FIXED, 4e6, 40 * MS, 50000, 0.7, 0.8);
    expect_held(SHARES_FIXED, 4e6, 40 * MS, 20000, 0.6, 0.7);
    expect_held(SHARES_FIXED, 10e6, 30 * MS, 75000, 0.7, 0.9);
    /* A plan by the rate that BBR leaves gave up nearly all: F was 0.07. */
    expect_held(SHARES_FIXED, 9.3e6, 64 * MS, 92600, 0.5, 0.6);
    /* A queue that is too short to stand: F was 0.71, and 79 % on time. */
    expect_held(SHARES_FIXED, 17.8e6, 13 * MS, 24000, 0.75, 0.85);
    expect_held(SHARES_ADAPTIVE, 4e6, 40 * MS, 50000, 0.5, 0.95);
    expect_held(SHARES_ADAPTIVE, 10e6, 30 * MS, 75000, 0.5, 0.97);
    expect_held(SHARES_ADAPTIVE, 12e6, 25 * MS, 130000, 0.7, 0.97);
}

/* 2.8 Mbit/s on 2; a queue that is filled is 164 ms long. */
TEST(a_stream_that_is_too_large_for_its_link_keeps_the_queue_short) {
    double queue[SEEDS];
    double queue95[SEEDS];
    struct shares s;
    shares_init(&s);
    s.rate = 2e6;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct shares_result r;
        shares_play(&s, i + 1, &r);
        queue[i] = r.queue;
        queue95[i] = r.queue95;
        assert_true(r.on_time > 0.58);
    }
    qsort(queue, SEEDS, sizeof(queue[0]), in_order);
    qsort(queue95, SEEDS, sizeof(queue95[0]), in_order);
    assert_true(queue[SEEDS / 2] < 35);
    assert_true(queue95[SEEDS / 2] < 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_that_join_bbr_get_the_shares_that_kernels_show),
        cmocka_unit_test(adaptive_streams_hold_a_share_beside_bulk_flows),
        cmocka_unit_test(
            a_stream_that_wants_most_of_a_link_leaves_others_their_part),
        cmocka_unit_test(a_stream_is_in_time_where_others_fill_a_deep_queue),
        cmocka_unit_test(a_short_queue_is_shared_as_well),
        cmocka_unit_test(streams_hold_a_part_beside_a_flow_that_does_not_yield),
        cmocka_unit_test(
            a_stream_that_is_too_large_for_its_link_keeps_the_queue_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Shares of flows on a bottleneck: the rivals are as strong as those of a
 * kernel.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/simnet/shares.h"

#define SEEDS 9
#define SEEDS_MANY 101 /* where they scatter */

/* Medians over the seeds. */
struct medians {
    double ratio; /* of who joins over who was there */
    double on_time, least_on_time;
    double lost;
    double queue, queue95; /* ms */
    double even, least;    /* of several streams */
};

static int in_order(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *x, unsigned n) {
    qsort(x, n, sizeof(x[0]), in_order);
    return x[n / 2];
}

static struct medians play_up_to(const struct shares *s, unsigned seeds) {
    double ratio[SEEDS_MANY], on_time[SEEDS_MANY], lost[SEEDS_MANY];
    double queue[SEEDS_MANY], queue95[SEEDS_MANY];
    double even[SEEDS_MANY], least[SEEDS_MANY];
    struct medians m;
    double middle;
    for (unsigned i = 0; i < seeds; i++) {
        struct shares_result r;
        shares_play(s, i + 1, &r);
        ratio[i] = r.ratio;
        on_time[i] = r.on_time;
        lost[i] = r.lost;
        queue[i] = r.queue;
        queue95[i] = r.queue95;
        even[i] = r.even;
        least[i] = r.least;
    }
    middle = median(on_time, seeds); /* sorts them */
    m = (struct medians){.ratio = median(ratio, seeds),
                         .on_time = middle,
                         .least_on_time = on_time[0],
                         .lost = median(lost, seeds),
                         .queue = median(queue, seeds),
                         .queue95 = median(queue95, seeds),
                         .even = median(even, seeds),
                         .least = median(least, seeds)};
    print_message("%s, %.1f Mbit/s, RTT %.0f ms, %.1f kB: F %.2f, on time "
                  "%.1f %%, lost %.1f %%, queue %.0f, %.0f ms, even %.2f\n",
                  s->rival != NULL ? s->rival : "alone", s->rate / 1e6,
                  (double)s->rtt / 1e6, (double)s->queue / 1e3, m.ratio,
                  100 * m.on_time, 100 * m.lost, m.queue, m.queue95, m.even);
    return m;
}

static struct medians play_seeds(const struct shares *s) {
    return play_up_to(s, SEEDS);
}

/* bitrate: what the stream wants, bit/s; 0: an encoder that follows the
 * target. */
static struct shares stream_beside(const char *rival, double bitrate,
                                   double rate, uint64_t rtt, uint64_t queue) {
    struct shares s;
    shares_init(&s);
    s.kind = bitrate > 0 ? SHARES_FIXED : SHARES_ADAPTIVE;
    s.bitrate = bitrate > 0 ? bitrate : 20e6;
    s.rival = rival;
    s.rate = rate;
    s.rtt = rtt;
    s.queue = queue;
    return s;
}

static struct medians play_stream(const char *rival, double bitrate,
                                  double rate, uint64_t rtt, uint64_t queue) {
    struct shares s = stream_beside(rival, bitrate, rate, rtt, queue);
    return play_seeds(&s);
}

static double ratio_of(const char *congestion, const char *rival) {
    struct shares s;
    shares_init(&s);
    s.kind = SHARES_BULK;
    s.congestion = congestion;
    s.rival = rival;
    return play_seeds(&s).ratio;
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
    struct medians m = play_stream(rival, 0, rate, rtt, queue);
    assert_true(m.ratio > least);
    assert_true(m.ratio < 1.5);
    assert_true(m.on_time > 0.95);
}

TEST(adaptive_streams_hold_a_share_beside_bulk_flows) {
    world_needs_fec();
    expect_adaptive("cubic", 4e6, 40 * MS, 60000, 0.7);
    expect_adaptive("cubic", 4e6, 20 * MS, 50000, 0.7);
    expect_adaptive("reno", 4e6, 40 * MS, 60000, 0.7);
    expect_adaptive("reno", 4e6, 100 * MS, 80000, 0.7);
    /* F was 0.64: it took the queue for its own for seconds. */
    expect_adaptive("cubic", 6e6, 20 * MS, 30000, 0.7);
    expect_adaptive("bbr1", 4e6, 40 * MS, 60000, 0.5);
}

/* Short round trips, and queues of a few pictures' packets: streams kept these
 * queues short although others filled them. F was 0.49, 0.50 and 0.54. */
TEST(adaptive_streams_catch_up_where_queues_are_short) {
    static const struct {
        double rate;
        uint64_t rtt, queue;
        const char *clip;
    } links[] = {{8.3e6, 16 * MS, 27000, "pyramid"},
                 {15.4e6, 21 * MS, 36500, "pyramid"},
                 {12.8e6, 19 * MS, 78000, "screen"}};
    double sum = 0;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct shares s = stream_beside("cubic", 0, links[i].rate, links[i].rtt,
                                        links[i].queue);
        struct medians m;
        assert_true(shares_set_clip(&s, links[i].clip));
        m = play_up_to(&s, 3 * SEEDS);
        assert_true(m.on_time > 0.97);
        sum += m.ratio;
    }
    assert_true(sum / 3 > 0.6);
}

/* A stream that wants 70 % of a link. */
static void expect_half(const char *rival, double rate, uint64_t rtt,
                        uint64_t queue, double most) {
    struct medians m = play_stream(rival, 0.7 * rate, rate, rtt, queue);
    assert_true(m.ratio > 0.8);
    assert_true(m.ratio < most);
}

/* Who was there first took the newcomer's queue for its own, and yielded all
 * but a twentieth for seconds. */
static void expect_kept(const char *rival, double least) {
    struct shares s;
    shares_init(&s);
    s.kind = SHARES_ADAPTIVE;
    s.bitrate = 20e6;
    s.rival = rival;
    s.rival_last = true;
    s.queue = 60000;
    assert_true(play_seeds(&s).ratio > least);
}

TEST(an_adaptive_stream_keeps_a_share_when_bulk_flows_join) {
    expect_kept("cubic", 0.4);
    expect_kept("reno", 0.4);
    expect_kept("bbr1", 0.25);
}

/* Two streams were 3 apart in the median of long queues, and one 7. */
TEST(streams_that_adapt_become_equal) {
    static const struct {
        double rate;
        uint64_t rtt, queue;
        double most;
    } links[] = {{4e6, 40 * MS, 60000, 1.3},
                 {8e6, 20 * MS, 50000, 1.5},
                 {9.2e6, 126 * MS, 251500, 2.6}};
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct shares s;
        struct medians m;
        shares_init(&s);
        s.kind = SHARES_ADAPTIVE;
        s.bitrate = 20e6;
        s.streams = 2;
        s.stagger = 2 * SEC;
        s.rate = links[i].rate;
        s.rtt = links[i].rtt;
        s.queue = links[i].queue;
        m = play_seeds(&s);
        assert_true(m.even < links[i].most);
        assert_true(m.least > 0.98);
    }
}

/* A link, a clip and a distance between the starts, at random. */
static void draw_pair(struct shares *s, struct sim_random *rnd) {
    static const char *const clips[] = {"ippp", "pyramid", "screen", "refresh",
                                        "mixed"};
    shares_init(s);
    s->kind = SHARES_ADAPTIVE;
    s->bitrate = 20e6;
    s->streams = 2;
    s->rate = 1e6 + 9e6 * sim_random_unit(rnd);
    s->rtt = (uint64_t)(20e6 * pow(10, sim_random_unit(rnd)));
    s->queue = (uint64_t)(s->rate / 8 * 0.035 * pow(11, sim_random_unit(rnd)));
    s->queue = s->queue < 6000 ? 6000 : s->queue;
    s->stagger = (uint64_t)(8e9 * sim_random_unit(rnd));
    assert_true(
        shares_set_clip(s, clips[(unsigned)(5 * sim_random_unit(rnd))]));
}

/* Each took the other's part of the queue for that of TCP, which does not
 * drain it, and its pictures for jitter; and small packets made full ones seem
 * to meet a queue: 104. */
TEST(most_pairs_of_streams_are_even_and_in_time) {
    enum { PAIRS = 200 };
    unsigned good = 0;
    struct sim_random rnd;
    sim_random_init(&rnd, 1);
    for (unsigned i = 0; i < PAIRS; i++) {
        struct shares s;
        struct shares_result r;
        draw_pair(&s, &rnd);
        shares_play(&s, i + 1, &r);
        good += 1 / r.even >= 0.8 && r.least >= 0.98;
    }
    print_message("%u of %u pairs\n", good, (unsigned)PAIRS);
    assert_true(good > 0.67 * PAIRS);
}

/* Each one's trial made the others try, and all held what they had: 16 to 18 %
 * of the packets were lost. */
TEST(streams_do_not_hold_their_parts_against_each_other) {
    static const struct {
        double rate;
        uint64_t rtt, queue;
    } links[] = {{14.1e6, 31 * MS, 104500},
                 {13.3e6, 25 * MS, 89000},
                 {12.5e6, 39 * MS, 85900}};
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct shares s;
        shares_init(&s);
        s.kind = SHARES_ADAPTIVE;
        s.bitrate = 20e6;
        s.streams = 3;
        s.stagger = 2017 * MS; /* pictures do not leave at the same time */
        s.rate = links[i].rate;
        s.rtt = links[i].rtt;
        s.queue = links[i].queue;
        assert_true(play_seeds(&s).lost < 0.03);
    }
}

/* The same as for streams that adapt: 16 to 27 % were lost, and one got a
 * hundredth of another. */
TEST(a_greedy_stream_fills_a_link_with_a_slow_return_path) {
    static const struct {
        double rate, back;
        uint64_t rtt;
    } paths[] = {
        {5e6, 32e3, 100 * MS}, {20e6, 64e3, 100 * MS}, {20e6, 128e3, 20 * MS}};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        static struct shares s;
        struct shares_result r;
        shares_init(&s);
        s.kind = SHARES_GREEDY;
        s.rate = paths[i].rate;
        s.back = paths[i].back;
        s.rtt = paths[i].rtt;
        s.queue = (uint64_t)(s.rate / 8 * 0.08);
        shares_play(&s, 1, &r);
        print_message("%.0f of %.0f kbit/s, lost %.1f %%\n", r.rate / 1e3,
                      s.rate / 1e3, 100 * r.lost);
        assert_true(r.rate > 0.75 * s.rate);
        assert_true(r.lost < 0.1);
    }
}

TEST(greedy_streams_do_not_hold_their_parts_against_each_other) {
    static const struct {
        double rate;
        uint64_t rtt, queue;
        unsigned streams;
    } links[] = {{4.4e6, 127 * MS, 218600, 2},
                 {6.4e6, 109 * MS, 159100, 3},
                 {11.2e6, 103 * MS, 319800, 5}};
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct shares s;
        struct medians m;
        shares_init(&s);
        s.kind = SHARES_GREEDY;
        s.streams = links[i].streams;
        s.stagger = 2017 * MS;
        s.rate = links[i].rate;
        s.rtt = links[i].rtt;
        s.queue = links[i].queue;
        s.length = 60 * SEC;
        m = play_seeds(&s);
        assert_true(m.lost < 0.05);
        assert_true(m.even < 3);
    }
}

/* It would take twice what Reno gets, if it could. */
TEST(a_stream_that_wants_most_of_a_link_leaves_others_their_part) {
    world_needs_fec();
    expect_half("cubic", 4e6, 40 * MS, 50000, 1.3);
    expect_half("reno", 4e6, 40 * MS, 50000, 1.3);
}

/* A sender that takes much more than it gets for what it can send is late for
 * as long as the others stay: on the first of these links 52 % were in time.
 * Reno takes 20 s and more to grow by half there, so in less than two minutes
 * who began with how much decides. */
static void expect_in_time(const char *rival, double rate, uint64_t rtt,
                           uint64_t queue, double least, double most) {
    struct shares s = stream_beside(rival, 0.7 * rate, rate, rtt, queue);
    struct medians m;
    s.length = 120 * SEC;
    m = play_seeds(&s);
    assert_true(m.on_time > least);
    assert_true(m.ratio < most);
}

TEST(a_stream_is_in_time_where_others_fill_a_deep_queue) {
    world_needs_fec();
    expect_in_time("reno", 6e6, 80 * MS, 150000, 0.58, 1.25);
    expect_in_time("reno", 10e6, 100 * MS, 250000, 0.67, 1.6);
}

/* Half of the link, held, is 3 to 4 times what each of three others gets. */
TEST(no_part_is_held_beside_flows_that_yield) {
    static const struct {
        const char *rival;
        double rate;
        uint64_t rtt, queue;
    } links[] = {{"reno", 4e6, 40 * MS, 50000}, {"cubic", 6e6, 33 * MS, 17000}};
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct shares s =
            stream_beside(links[i].rival, 0.7 * links[i].rate, links[i].rate,
                          links[i].rtt, links[i].queue);
        s.rivals = 3;
        assert_true(play_seeds(&s).ratio < 2.8);
    }
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
static void expect_held_by(unsigned seeds, enum shares_kind kind, double rate,
                           uint64_t rtt, uint64_t queue, double least,
                           double on_time) {
    double bitrate = kind == SHARES_ADAPTIVE ? 0 : 0.45 * rate;
    struct shares s = stream_beside("bbr1", bitrate, rate, rtt, queue);
    struct medians m = play_up_to(&s, seeds);
    assert_true(m.ratio > least && m.ratio < 1.25);
    assert_true(m.on_time > on_time);
    assert_true(m.lost < 0.17);
}

static void expect_held(enum shares_kind kind, double rate, uint64_t rtt,
                        uint64_t queue, double least, double on_time) {
    expect_held_by(SEEDS, kind, rate, rtt, queue, least, on_time);
}

TEST(streams_hold_a_part_beside_a_flow_that_does_not_yield) {
    world_needs_fec();
    expect_held(SHARES_FIXED, 4e6, 40 * MS, 50000, 0.7, 0.8);
    expect_held(SHARES_FIXED, 4e6, 40 * MS, 20000, 0.6, 0.7);
    expect_held(SHARES_FIXED, 10e6, 30 * MS, 75000, 0.7, 0.9);
    /* A plan by the rate that BBR leaves gave up nearly all: F was 0.07. */
    expect_held(SHARES_FIXED, 9.3e6, 64 * MS, 92600, 0.5, 0.6);
    /* A queue that is too short to stand: F was 0.71, and 79 % on time. */
    expect_held(SHARES_FIXED, 17.8e6, 13 * MS, 24000, 0.75, 0.85);
    /* A short queue, in which the flow took its own rate for the link's: F was
     * 0.55, and 61 % on time. */
    expect_held(SHARES_FIXED, 17.7e6, 78 * MS, 123500, 0.65, 0.75);
    expect_held(SHARES_ADAPTIVE, 4e6, 40 * MS, 50000, 0.5, 0.95);
    expect_held(SHARES_ADAPTIVE, 10e6, 30 * MS, 75000, 0.5, 0.97);
    expect_held(SHARES_ADAPTIVE, 12e6, 25 * MS, 130000, 0.7, 0.97);
    /* Deep queues, in which few packets are lost: F was 0.62 and 0.61. */
    expect_held_by(SEEDS_MANY, SHARES_ADAPTIVE, 4e6, 40 * MS, 60000, 0.7, 0.97);
    expect_held(SHARES_ADAPTIVE, 10.5e6, 72 * MS, 261000, 0.66, 0.98);
}

/* 2.8 Mbit/s on 2; a queue that is filled is 164 ms long. */
TEST(a_stream_that_is_too_large_for_its_link_keeps_the_queue_short) {
    struct shares s;
    struct medians m;
    shares_init(&s);
    s.rate = 2e6;
    m = play_seeds(&s);
    assert_true(m.least_on_time > 0.58);
    assert_true(m.queue < 35);
    assert_true(m.queue95 < 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_that_join_bbr_get_the_shares_that_kernels_show),
        cmocka_unit_test(adaptive_streams_hold_a_share_beside_bulk_flows),
        cmocka_unit_test(adaptive_streams_catch_up_where_queues_are_short),
        cmocka_unit_test(an_adaptive_stream_keeps_a_share_when_bulk_flows_join),
        cmocka_unit_test(streams_that_adapt_become_equal),
        cmocka_unit_test(most_pairs_of_streams_are_even_and_in_time),
        cmocka_unit_test(streams_do_not_hold_their_parts_against_each_other),
        cmocka_unit_test(a_greedy_stream_fills_a_link_with_a_slow_return_path),
        cmocka_unit_test(
            greedy_streams_do_not_hold_their_parts_against_each_other),
        cmocka_unit_test(
            a_stream_that_wants_most_of_a_link_leaves_others_their_part),
        cmocka_unit_test(a_stream_is_in_time_where_others_fill_a_deep_queue),
        cmocka_unit_test(no_part_is_held_beside_flows_that_yield),
        cmocka_unit_test(a_short_queue_is_shared_as_well),
        cmocka_unit_test(streams_hold_a_part_beside_a_flow_that_does_not_yield),
        cmocka_unit_test(
            a_stream_that_is_too_large_for_its_link_keeps_the_queue_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The cause of a standing queue, and its effect on the window. */
#include "libcongestion/short_queue.h"
#include "internal/common/rng.h"
#include "tests/support/cmocka.h"

#include <math.h>

#define MS 1e6
#define PACKET 1200.0
#define BASE (40 * MS)
#define LINK 5e-4 /* bytes/ns: 4 Mbit/s */
#define TICK 5e6  /* ns */

/* A queue that a flow of pictures shares with others, as a fluid. */
struct fluid {
    struct cong__short_queue q;
    struct cong cc;
    cmn__rng rng;
    double now, queue; /* ns, bytes */
    double sent;       /* bytes */
    double round;      /* when the next round trip ends */
    double others;     /* part of what arrives that is not the flow's */
    double jitter;     /* of the link's rate, relative */
    unsigned turned;
    bool keep;
};

static void fluid_start(struct fluid *f, double others) {
    *f = (struct fluid){.others = others, .keep = true, .now = 1e9};
    f->cc = (struct cong){.mss = PACKET,
                          .cwnd = 100 * PACKET,
                          .cwnd_max = 1e9,
                          .ssthresh = 2 * PACKET};
    f->queue = 0.08e9 * LINK;
    cmn__rng_seed(&f->rng, 7);
}

static double fluid_random(struct fluid *f) {
    return cmn__rng_unit(&f->rng);
}

/* The flow sends at a rate that changes from picture to picture, and what
 * arrives is on average what the link carries. */
static void fluid_run(struct fluid *f, double seconds, bool stays) {
    double rate = (1 - f->others) * LINK;
    double mine = rate;
    double end = f->now + seconds * 1e9;
    while (f->now < end) {
        double before = f->queue;
        double carried = LINK * (1 + f->jitter * (fluid_random(f) - 0.5));
        struct cong_ack ack = {.now = (cong_time)f->now,
                               .min_rtt = (cong_time)BASE,
                               .srtt = (cong_time)(2 * BASE)};
        if ((unsigned)(f->now / TICK) % 8 == 0) {
            mine = rate * (0.5 + fluid_random(f));
        }
        f->queue += (mine + f->others * LINK - carried) * TICK;
        if (f->queue < 0.04e9 * LINK || stays) { /* others refill it */
            f->queue += 0.02 * (0.08e9 * LINK - f->queue);
        }
        ack.rtt = (cong_time)(BASE + f->queue / LINK);
        ack.acked = mine * TICK;
        ack.now = (cong_time)(f->now + BASE + before / LINK);
        ack.round = f->now >= f->round;
        f->round = ack.round ? f->now + BASE + f->queue / LINK : f->round;
        f->turned += cong__short_queue_ack(&f->q, &f->cc, &ack, false, f->keep);
        f->now += TICK;
    }
}

TEST(alone_the_queue_is_a_flows_own) {
    struct fluid f;
    fluid_start(&f, 0);
    f.keep = false;
    fluid_run(&f, 5, false);
    assert_true(cong__queue_share(&f.q.share) > 0.85);
    assert_int_equal(f.turned, 0);
}

TEST(beside_others_a_part_of_it_is) {
    struct fluid f;
    fluid_start(&f, 0.7);
    f.keep = false;
    fluid_run(&f, 5, true);
    assert_true(cong__queue_share(&f.q.share) > 0.1);
    assert_true(cong__queue_share(&f.q.share) < 0.5);
    assert_true(f.q.foreign);
    assert_int_equal(f.cc.queue, CONG_QUEUE_FOREIGN);
}

/* Between 0 and twice its mean, from packet to packet. */
TEST(a_link_that_varies_leaves_doubt) {
    struct fluid f;
    fluid_start(&f, 0.7);
    f.jitter = 2;
    f.keep = false;
    fluid_run(&f, 5, true);
    assert_true(cong__queue_share_error(&f.q.share) > 0.05);
    assert_false(f.q.foreign);
}

TEST(nothing_is_known_before_there_are_spans) {
    struct cong__queue_share s = {0};
    assert_true(cong__queue_share(&s) < 0);
    assert_true(cong__queue_share_error(&s) >= 1);
    assert_true(cong__queue_share_packet(&s, PACKET) <= 0);
}

/* A span of 50 ms that begins `at` ms, sends the bytes, and ends with the queue
 * in ms. */
static void share_span(struct cong__queue_share *s, double at, double bytes,
                       double queue) {
    struct cong_ack ack = {.rtt = (cong_time)(BASE + queue * MS),
                           .acked = bytes};
    ack.now = (cong_time)((at + 50) * MS) + ack.rtt;
    cong__queue_share_ack(s, &ack, PACKET, BASE);
}

/* The same, alone on a link of 20 kB in 50 ms, for the spans [from, to). */
static void share_alone(struct cong__queue_share *s, int from, int to) {
    for (int i = from; i < to; i++) {
        bool less = i % 2 != 0;
        share_span(s, i * 50, less ? 15000 : 25000, less ? 50 : 62.5);
    }
}

TEST(a_few_spans_say_nothing) {
    struct cong__queue_share s = {0};
    for (int i = 0; i < 8; i++) { /* the first only begins the next */
        share_alone(&s, i, i + 1);
        assert_true(cong__queue_share(&s) < 0);
    }
    share_alone(&s, 8, 12);
    assert_true(cong__queue_share(&s) > 0.9);
}

/* A stream alone sends evenly for seconds, then pauses before a key frame. */
TEST(one_span_that_differs_says_nothing) {
    struct cong__queue_share s = {0};
    int i = 0;
    for (; i < 60; i++) {
        share_span(&s, i * 50, 20000, 20);
    }
    share_span(&s, i * 50, 10000, 18);
    assert_true(cong__queue_share(&s) >= 0 && cong__queue_share(&s) < 0.3);
    assert_false(cong__queue_share_is_below(&s, 0.6, 5));
    assert_true(cong__queue_share_is_below(&s, 0.6, -2)); /* it may be */
    for (int k = 1; k < 12; k++) {
        bool less = k % 2 != 0;
        share_span(&s, (i + k) * 50, less ? 15000 : 25000, less ? 18 : 20);
    }
    assert_true(cong__queue_share_is_below(&s, 0.6, 5));
}

/* Others fill the queue while the application pauses. */
TEST(a_pause_is_no_span) {
    struct cong__queue_share s = {0};
    share_alone(&s, 0, 12);
    share_span(&s, 12 * 50 + 2000, 20000, 200);
    assert_true(cong__queue_share(&s) > 0.9);
}

TEST(a_flow_yields_to_its_own_queue) {
    struct fluid f;
    fluid_start(&f, 0);
    fluid_run(&f, 2, false);
    assert_true(f.cc.cwnd < 60 * PACKET);
    assert_true(f.cc.cwnd >= BASE * LINK / 2);
    assert_int_equal(f.cc.queue, CONG_QUEUE_OWN);
}

TEST(a_queue_that_stays_is_foreign_and_gets_the_window_back) {
    struct fluid f;
    fluid_start(&f, 0.7);
    fluid_run(&f, 5, true);
    assert_int_equal(f.turned, 1);
    assert_true(fmax(f.cc.cwnd, f.cc.ssthresh) >= 99 * PACKET);
}

TEST(a_queue_is_not_foreign_for_good) {
    struct fluid f;
    fluid_start(&f, 0.7);
    fluid_run(&f, 5, true);
    assert_true(f.q.foreign);
    f.others = 0;
    fluid_run(&f, 5, false);
    assert_false(f.q.foreign);
}

TEST(it_can_be_configured_to_keep_the_window) {
    struct fluid f;
    fluid_start(&f, 0);
    f.keep = false;
    fluid_run(&f, 5, false);
    assert_true(f.cc.cwnd >= 100 * PACKET);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_the_queue_is_a_flows_own),
        cmocka_unit_test(beside_others_a_part_of_it_is),
        cmocka_unit_test(a_link_that_varies_leaves_doubt),
        cmocka_unit_test(nothing_is_known_before_there_are_spans),
        cmocka_unit_test(a_few_spans_say_nothing),
        cmocka_unit_test(one_span_that_differs_says_nothing),
        cmocka_unit_test(a_pause_is_no_span),
        cmocka_unit_test(a_flow_yields_to_its_own_queue),
        cmocka_unit_test(
            a_queue_that_stays_is_foreign_and_gets_the_window_back),
        cmocka_unit_test(a_queue_is_not_foreign_for_good),
        cmocka_unit_test(it_can_be_configured_to_keep_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/engine/target.h"

#include "tests/support/cmocka.h"

#define MS ((cong_time)1000000)
#define RTT (40 * MS)
#define RATE 250000.0 /* bytes/s: of the path, and delivered */

struct flow {
    tltcp__target t;
    tltcp__target_input in;
    double sent; /* bytes */
    cong_time now;
};

static void start(struct flow *f) {
    tltcp__target_init(&f->t);
    f->sent = 0;
    f->in = (tltcp__target_input){
        .bandwidth = RATE, .flight = 20000, .min_rtt = RTT, .srtt = RTT};
    f->now = 1000 * MS;
}

/* 10 ms later an ACK of what left in 10 ms. */
static void step(struct flow *f, double bytes, cong_time rtt) {
    tltcp__cross_sample newest;
    f->now += 10 * MS;
    f->sent += bytes;
    newest = (tltcp__cross_sample){f->now - rtt, f->sent, rtt};
    tltcp__target_on_ack(&f->t, &f->in, bytes, rtt, &newest, f->now);
}

static void run(struct flow *f, cong_time ns, double rate, cong_time rtt) {
    for (cong_time end = f->now + ns; f->now < end;) {
        step(f, rate / 100, rtt);
    }
}

/* The same in frames that differ in size: 10 ms in 40 bring nearly all. */
static void run_frames(struct flow *f, cong_time ns, double rate,
                       cong_time rtt) {
    static const double sizes[] = {0.7, 1.3, 1, 0.6, 1.4};
    cong_time end = f->now + ns;
    for (unsigned n = 0; f->now < end; n++) {
        double frame = sizes[n % 5] * rate / 25;
        step(f, 0.97 * frame, rtt);
        for (int i = 0; i < 3; i++) {
            step(f, 0.01 * frame, rtt);
        }
    }
}

static double target(const struct flow *f) {
    return tltcp__target_rate(&f->t, &f->in);
}

TEST(nothing_is_made_up_before_data) {
    struct flow f;
    start(&f);
    assert_true(target(&f) <= 0);
    run(&f, 50 * MS, RATE, RTT);
    assert_true(target(&f) <= 0);
}

TEST(a_path_in_use_leaves_a_margin) {
    struct flow f;
    start(&f);
    run(&f, 3000 * MS, RATE, RTT + 20 * MS);
    assert_true(target(&f) < RATE);
    assert_true(target(&f) > RATE / 2);
}

TEST(it_stays_near_the_delivered_amount) {
    struct flow f;
    start(&f);
    f.in.bandwidth = 100 * RATE;
    run(&f, 5000 * MS, RATE, RTT);
    assert_true(target(&f) <= 1.5 * RATE);
    assert_true(target(&f) > RATE);
}

TEST(the_backlog_is_subtracted) {
    struct flow f;
    double before;
    start(&f);
    run(&f, 3000 * MS, RATE, RTT);
    before = target(&f);
    f.in.backlog = RATE / 50;
    assert_true(target(&f) <= before - RATE / 50 / 0.25);
    f.in.backlog = RATE;
    assert_true(target(&f) < RATE / 4);
    assert_true(target(&f) > 0);
}

TEST(so_is_our_own_queue) {
    struct flow f;
    double before;
    start(&f);
    run(&f, 3000 * MS, RATE, RTT);
    before = target(&f);
    run(&f, 100 * MS, RATE, RTT + 70 * MS);
    assert_true(target(&f) <= before - RATE * 0.07);
}

TEST(a_queue_of_others_is_not) {
    struct flow f;
    start(&f);
    run_frames(&f, 3000 * MS, RATE, RTT);
    f.in.offered = RATE;
    run_frames(&f, 5000 * MS, RATE, RTT + 70 * MS);
    assert_true(target(&f) > 0.8 * RATE);
}

TEST(in_a_queue_of_others_the_window_is_claimed) {
    struct flow f;
    start(&f);
    run_frames(&f, 3000 * MS, RATE, RTT);
    f.in.offered = 1.4 * RATE;
    run_frames(&f, 5000 * MS, RATE, RTT + 70 * MS);
    assert_true(target(&f) > 1.1 * RATE);
}

/* Others fill a queue for 240 ms in 840. */
static void run_drained(struct flow *f, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        run_frames(f, 600 * MS, RATE, RTT);
        run_frames(f, 240 * MS, RATE, RTT + 50 * MS);
    }
}

TEST(a_queue_that_is_drained_again_and_again_is_ours) {
    struct flow f;
    start(&f);
    f.in.offered = RATE;
    run_frames(&f, 3000 * MS, RATE, RTT);
    run_drained(&f, 12);
    assert_true(target(&f) < 0.8 * RATE);
}

TEST(a_queue_that_stands_or_loses_much_is_that_of_others) {
    struct flow f;
    start(&f);
    f.in.offered = RATE;
    run_frames(&f, 3000 * MS, RATE, RTT);
    run_frames(&f, 5000 * MS, RATE, RTT + 50 * MS);
    assert_true(target(&f) > 0.8 * RATE);
    run_drained(&f, 12);
    assert_true(target(&f) < 0.8 * RATE);
    for (int i = 0; i < 6; i++) {
        f.in.signals++;
        run_drained(&f, 1);
    }
    assert_true(target(&f) > 0.8 * RATE);
}

TEST(a_queue_that_no_stream_can_bear_is_drained) {
    struct flow f;
    start(&f);
    run_frames(&f, 3000 * MS, RATE, RTT);
    f.in.offered = RATE;
    run_frames(&f, 5000 * MS, RATE, RTT + 700 * MS);
    assert_true(target(&f) < 0.5 * RATE);
}

TEST(silence_brings_it_down_in_a_quarter_of_a_second) {
    struct flow f;
    double before;
    start(&f);
    run(&f, 3000 * MS, RATE, RTT);
    before = target(&f);
    f.in.silence = 100 * MS;
    assert_true(target(&f) < 0.7 * before);
    f.in.silence = 250 * MS;
    assert_true(target(&f) <= 0.1 * RATE);
}

TEST(a_path_that_falls_to_a_quarter_is_followed) {
    struct flow f;
    start(&f);
    run(&f, 3000 * MS, RATE, RTT);
    for (cong_time queue = 0; queue < 120 * MS; queue += 10 * MS) {
        run(&f, 10 * MS, RATE / 4, RTT + queue); /* the estimator lags */
    }
    assert_true(target(&f) < RATE / 4);
}

TEST(without_a_queue_there_may_be_more_than_is_known) {
    struct flow f;
    start(&f);
    f.in.bandwidth = RATE / 10;
    run(&f, 3000 * MS, RATE / 10, RTT);
    assert_true(target(&f) > 1.2 * RATE / 10);
}

/* It hides a queue, so only losses and marks, which bound the window, tell when
 * there is no more. */
TEST(under_jitter_more_is_looked_for_only_up_to_the_window) {
    struct flow f;
    start(&f);
    f.t.jitter.delay = 20 * MS;
    f.in.bandwidth = RATE / 10;
    f.in.offered = 1.15 * RATE / 10;
    run(&f, 3000 * MS, RATE / 10, RTT);
    assert_true(target(&f) <= 1.15 * RATE / 10);
    f.in.offered = RATE;
    run(&f, 1000 * MS, RATE / 10, RTT);
    assert_true(target(&f) > 1.2 * RATE / 10);
}

/* In a queue of this length, after three seconds. */
static double target_in_queue(struct flow *f, double rate, cong_time queue) {
    f->in.bandwidth = rate;
    run(f, 3000 * MS, rate, RTT + queue);
    return target(f);
}

TEST(in_a_queue_that_they_share_the_larger_stream_yields_to_the_smaller) {
    struct flow large, small;
    start(&large);
    start(&small);
    assert_true(target_in_queue(&large, RATE, 25 * MS) < 0.9 * RATE);
    assert_true(target_in_queue(&small, RATE / 8, 25 * MS) > RATE / 8);
}

TEST(less_of_a_queue_is_tolerated_where_it_overflows_before) {
    struct flow f;
    start(&f);
    run(&f, 100 * MS, RATE / 8, RTT + 25 * MS);
    f.in.signals = 1200;
    assert_true(target_in_queue(&f, RATE / 8, 25 * MS) < 0.9 * RATE / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_made_up_before_data),
        cmocka_unit_test(a_path_in_use_leaves_a_margin),
        cmocka_unit_test(it_stays_near_the_delivered_amount),
        cmocka_unit_test(the_backlog_is_subtracted),
        cmocka_unit_test(so_is_our_own_queue),
        cmocka_unit_test(a_queue_of_others_is_not),
        cmocka_unit_test(in_a_queue_of_others_the_window_is_claimed),
        cmocka_unit_test(a_queue_that_is_drained_again_and_again_is_ours),
        cmocka_unit_test(a_queue_that_stands_or_loses_much_is_that_of_others),
        cmocka_unit_test(a_queue_that_no_stream_can_bear_is_drained),
        cmocka_unit_test(silence_brings_it_down_in_a_quarter_of_a_second),
        cmocka_unit_test(a_path_that_falls_to_a_quarter_is_followed),
        cmocka_unit_test(
            in_a_queue_that_they_share_the_larger_stream_yields_to_the_smaller),
        cmocka_unit_test(
            less_of_a_queue_is_tolerated_where_it_overflows_before),
        cmocka_unit_test(without_a_queue_there_may_be_more_than_is_known),
        cmocka_unit_test(under_jitter_more_is_looked_for_only_up_to_the_window),
    };
    return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}

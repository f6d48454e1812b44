/* SPDX-License-Identifier: MPL-2.0 */
/* The queue on the return path, told from that on the way out. */
#include "libtltcp/engine/return_path.h"
#include "tests/support/cmocka.h"

#define MS ((cong_time)TLTCP_MS)
#define SECOND (1000 * MS)
#define RTT (40 * MS)
#define OFF 7000000u /* the peer's clock is ahead by so much, us */

/* A path, and the ACKs over it. */
struct path {
    tltcp__return_path back;
    cong_time now;
    cong_time gap;   /* between ACKs */
    cong_time out;   /* queue on the way out */
    cong_time queue; /* on the return path */
    cong_time delay; /* of the ACK at the peer */
    double drift;    /* of the peer's clock */
};

static struct path make_path(void) {
    struct path p = {.now = SECOND, .gap = 10 * MS};
    tltcp__return_path_init(&p.back);
    return p;
}

/* The next ACK; its RTT, less what the return path has of it. */
static cong_time take(struct path *p) {
    cong_time rtt = RTT + p->out + p->queue;
    cong_time came = p->now - RTT / 2 - p->queue - p->delay;
    tltcp__ack ack = {
        .has_time = true,
        .came_us = (uint32_t)((double)came / 1000 * (1 + p->drift)) + OFF,
        .delay_us = (uint32_t)(p->delay / 1000)};
    tltcp__return_path_on_ack(&p->back, &ack, rtt, RTT, p->now);
    p->now += p->gap;
    return tltcp__return_path_without(&p->back, rtt, RTT);
}

/* The queue grows little by little. */
static cong_time fill(struct path *p, cong_time queue) {
    cong_time rtt = 0;
    while (p->queue < queue) {
        p->queue += 20 * MS;
        rtt = take(p);
    }
    return rtt;
}

static cong_time take_for(struct path *p, cong_time span) {
    cong_time end = p->now + span;
    cong_time rtt = 0;
    while (p->now < end) {
        rtt = take(p);
    }
    return rtt;
}

TEST(a_queue_on_the_return_path_is_left_out_and_one_on_the_way_out_is_not) {
    struct path p = make_path();
    assert_int_equal(take_for(&p, SECOND), RTT);
    p.out = 30 * MS;
    assert_int_equal(take(&p), RTT + 30 * MS);
    assert_int_equal(fill(&p, 200 * MS), RTT + 30 * MS);
    p.delay = 20 * MS;
    assert_int_equal(take(&p), RTT + 30 * MS);
    p.out = 0;
    assert_int_equal(take(&p), RTT);
}

/* Then nothing can be told from a longer path. */
TEST(a_queue_that_comes_at_once_is_not_left_out) {
    struct path p = make_path();
    (void)take_for(&p, SECOND);
    p.queue = 60 * MS;
    assert_int_equal(take_for(&p, SECOND), RTT + 60 * MS);
    assert_int_equal(p.back.interval, 0);
    assert_int_equal(fill(&p, 100 * MS), RTT + 60 * MS);
    p.queue = 0;
    assert_int_equal(take(&p), RTT);
}

TEST(clocks_that_drift_or_step_are_no_queue) {
    static const double drifts[] = {200e-6, -200e-6};
    for (size_t i = 0; i < 2; i++) {
        struct path p = make_path();
        p.drift = drifts[i];
        (void)take_for(&p, 60 * SECOND);
        assert_int_equal(p.back.interval, 0);
        p.out = 50 * MS;
        assert_int_equal(take(&p), RTT + 50 * MS);
    }
    for (int step = -3; step <= 3; step += 6) {
        struct path p = make_path();
        (void)take_for(&p, SECOND);
        p.now += step * SECOND / 4;
        (void)take(&p);
        p.out = 50 * MS;
        assert_int_equal(take_for(&p, SECOND), RTT + 50 * MS);
        assert_int_equal(p.back.interval, 0);
    }
}

TEST(acks_that_always_wait_are_to_take_a_third_of_what_passes) {
    struct path p = make_path();
    (void)take_for(&p, SECOND);
    (void)fill(&p, 100 * MS);
    (void)take_for(&p, SECOND / 2);
    assert_in_range(p.back.interval, 30 * MS, 34 * MS);
}

TEST(there_may_be_more_acks_after_half_a_minute_without_a_queue) {
    struct path p = make_path();
    (void)take_for(&p, SECOND);
    (void)fill(&p, 100 * MS);
    (void)take_for(&p, SECOND / 2);
    p.queue = 0;
    (void)take_for(&p, 29 * SECOND);
    assert_true(p.back.interval >= 30 * MS);
    (void)take_for(&p, 60 * SECOND);
    assert_int_equal(p.back.interval, 0);
}

/* A second burst of others is no reason to ask for ever fewer. */
TEST(there_are_some_acks_in_a_tenth_of_a_second) {
    struct path p = make_path();
    (void)take_for(&p, SECOND);
    (void)fill(&p, 100 * MS);
    (void)take_for(&p, 60 * SECOND);
    assert_int_equal(p.back.interval, 40 * MS);
}

TEST(feedback_is_late_by_the_queue_and_the_delay) {
    struct path p = make_path();
    tltcp__ack ack = {.has_time = true, .delay_us = 5000};
    (void)take_for(&p, SECOND);
    ack.came_us = (uint32_t)((p.now - RTT / 2 - 25 * MS) / 1000) + OFF;
    assert_int_equal(tltcp__return_path_lag(&p.back, &ack, p.now), 25 * MS);
    ack.came_us = (uint32_t)((p.now - RTT / 2 - 5 * MS) / 1000) + OFF;
    assert_int_equal(tltcp__return_path_lag(&p.back, &ack, p.now), 0);
    ack.delay_us = UINT32_MAX;
    assert_int_equal(tltcp__return_path_lag(&p.back, &ack, p.now), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_queue_on_the_return_path_is_left_out_and_one_on_the_way_out_is_not),
        cmocka_unit_test(a_queue_that_comes_at_once_is_not_left_out),
        cmocka_unit_test(clocks_that_drift_or_step_are_no_queue),
        cmocka_unit_test(
            acks_that_always_wait_are_to_take_a_third_of_what_passes),
        cmocka_unit_test(
            there_may_be_more_acks_after_half_a_minute_without_a_queue),
        cmocka_unit_test(there_are_some_acks_in_a_tenth_of_a_second),
        cmocka_unit_test(feedback_is_late_by_the_queue_and_the_delay),
    };
    return cmocka_run_group_tests_name("return_path", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Holding a part of the link beside flows that do not yield to losses. */
#include "libcongestion/hold.h"
#include "tests/support/cmocka.h"

#include <math.h>

#define MS 1000000
#define BASE (40 * MS)
#define FULL (80 * MS)
#define LINK 5e-4 /* bytes/ns: 4 Mbit/s */
#define PACKET 1200.0
#define TICK (5 * MS)
#define PART 0.5

/* A stream that sends all it may into a queue that others fill. */
struct crowd {
    struct cong cc;
    struct cong__hold h;
    struct cong__hold_path path;
    struct cong__peak_rate peak;
    cong_time now;
    cong_time round; /* when the next round trip ends */
    double sent;     /* bytes that are not acknowledged yet */
    double bad;      /* bytes that are to be lost */
    bool on;
};

static void crowd_start(struct crowd *c) {
    *c = (struct crowd){.now = 1000 * MS};
    c->cc.mss = PACKET;
    c->cc.cwnd = 6 * PACKET;
    c->cc.cwnd_max = CONG_HUGE;
    c->path = (struct cong__hold_path){true, LINK, &c->peak, PART};
}

/* What it sends in a tick, bytes. */
static double crowd_sends(const struct crowd *c) {
    double rate =
        c->cc.pacing_rate > 0 ? c->cc.pacing_rate / CONG_NS : c->cc.cwnd / FULL;
    return fmin(rate, LINK) * TICK;
}

/* Loses a share of its packets for some seconds. */
static void crowd_run(struct crowd *c, double seconds, double loss) {
    for (cong_time end = c->now + (cong_time)(seconds * CONG_NS); c->now < end;
         c->now += TICK) {
        struct cong_ack ack = {.now = c->now,
                               .rtt = FULL,
                               .min_rtt = BASE,
                               .srtt = FULL,
                               .flight = c->cc.cwnd,
                               .limited = true};
        c->sent += crowd_sends(c);
        if (c->sent < 2 * PACKET) {
            continue;
        }
        c->bad += loss * c->sent;
        if (c->bad >= PACKET) {
            ack.lost = PACKET;
            c->bad -= PACKET;
        }
        ack.acked = c->sent - ack.lost;
        ack.round = c->now >= c->round;
        c->round = ack.round ? c->now + FULL : c->round;
        c->sent = 0;
        cong__peak_rate_ack(&c->peak, &ack, PACKET);
        c->on = cong__hold_ack(&c->h, &c->cc, &ack, &c->path);
    }
}

/* Others pause, and the queue empties in this time while bytes arrive. */
static void crowd_pause(struct crowd *c, int ms, double bytes) {
    for (int left = ms - 1; left >= 0; left--) {
        cong_time queue = (FULL - BASE) / ms * left;
        struct cong_ack ack = {.now = c->now += MS,
                               .rtt = BASE + queue,
                               .min_rtt = BASE,
                               .srtt = FULL,
                               .acked = bytes / ms,
                               .flight = c->cc.cwnd,
                               .limited = true};
        cong__peak_rate_ack(&c->peak, &ack, PACKET);
        c->on = cong__hold_ack(&c->h, &c->cc, &ack, &c->path);
    }
}

static void crowd_run_until_it_tries(struct crowd *c, double loss) {
    while (c->h.state == CONG__HOLD_OFF && c->now < (cong_time)20000 * MS) {
        crowd_run(c, 0.01, loss);
    }
    assert_int_equal(c->h.state, CONG__HOLD_TRIAL);
}

static double crowd_part(const struct crowd *c) {
    return c->cc.pacing_rate / CONG_NS / LINK;
}

TEST(a_flow_holds_its_part_where_yielding_does_not_reduce_losses) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 5, 0.1);
    assert_int_equal(c.h.state, CONG__HOLD_ON);
    crowd_pause(&c, 60, 60 * MS * LINK);
    crowd_run(&c, 10, 0.1);
    assert_true(c.on);
    assert_true(crowd_part(&c) > 0.4 && crowd_part(&c) < 0.65);
}

TEST(a_flow_that_loses_what_tcp_flows_cause_goes_on_yielding) {
    struct crowd c;
    crowd_start(&c);
    crowd_run_until_it_tries(&c, 0.04);
    crowd_run(&c, 2, 0.01);
    assert_false(c.on);
    assert_true(c.cc.pacing_rate == 0);
    assert_true(c.h.again > c.now);
}

TEST(a_flow_that_loses_little_does_not_try) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 10, 0.015);
    assert_false(c.on);
    assert_int_equal(c.h.state, CONG__HOLD_OFF);
}

TEST(a_flow_does_not_try_before_losses_persist) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 1.2, 0.025);
    assert_int_equal(c.h.state, CONG__HOLD_OFF);
    for (int i = 0; i < 20; i++) {
        crowd_run(&c, 0.1, 0.005);
        assert_int_equal(c.h.state, CONG__HOLD_OFF);
    }
}

TEST(a_flow_does_not_try_in_a_queue_of_its_own) {
    struct crowd c;
    crowd_start(&c);
    c.path.stands = false;
    crowd_run(&c, 10, 0.15);
    assert_false(c.on);
}

TEST(a_rate_is_held_no_longer_than_others_fill_the_queue) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 5, 0.1);
    c.path.stands = false;
    crowd_run(&c, 1, 0.1);
    assert_true(c.on);
    crowd_run(&c, 2, 0.1);
    assert_false(c.on);
    assert_true(c.cc.pacing_rate == 0);
}

TEST(a_flow_that_does_not_know_its_rate_goes_on_yielding) {
    static const struct cong__peak_rate unknown;
    struct crowd c;
    crowd_start(&c);
    c.path.peak = &unknown;
    crowd_run(&c, 10, 0.3);
    assert_false(c.on);
    c.path.peak = &c.peak;
    crowd_pause(&c, 60, 60 * MS * LINK);
    crowd_run(&c, 5, 0.1);
    assert_int_equal(c.h.state, CONG__HOLD_ON);
    c.path.peak = &unknown;
    crowd_run(&c, 1, 0.1);
    assert_false(c.on);
}

TEST(a_rate_is_given_up_when_others_turn_out_to_yield) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 5, 0.1);
    assert_true(c.on);
    crowd_run(&c, 20, 0.002);
    assert_false(c.on);
}

/* Other flows like this one may be all that it competes with. */
TEST(a_rate_is_given_up_when_nobody_pauses_as_bbr_does) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 5, 0.1);
    assert_true(c.on);
    crowd_run(&c, 10, 0.1);
    assert_false(c.on);
    assert_true(c.h.again - c.now > (cong_time)30000 * MS);
    c.h.again = 0;
    crowd_run(&c, 10, 0.1);
    assert_false(c.on); /* nor is there another trial */
    crowd_pause(&c, 60, 60 * MS * LINK);
    crowd_run(&c, 5, 0.1);
    assert_true(c.on);
}

TEST(flows_that_lose_at_once_try_one_after_another) {
    double first = CONG_HUGE;
    double last = 0;
    for (int i = 0; i < 20; i++) {
        struct crowd c;
        double begin;
        crowd_start(&c);
        c.now += i * 1234567;
        c.h.pause.high = 200.0F * MS;
        begin = (double)c.now;
        crowd_run_until_it_tries(&c, 0.1);
        first = fmin(first, (double)c.now - begin);
        last = fmax(last, (double)c.now - begin);
    }
    assert_true(last - first > 1000 * MS);
    assert_true(last < 9e9);
}

TEST(a_rate_shrinks_when_too_much_is_lost) {
    struct crowd c;
    double before;
    crowd_start(&c);
    crowd_run(&c, 10, 0.1);
    before = crowd_part(&c);
    crowd_run(&c, 5, 0.3);
    assert_true(crowd_part(&c) < 0.8 * before);
}

TEST(others_that_pause_show_the_rate_of_the_link) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 1, 0);
    assert_true(c.h.pause.paused == 0);
    crowd_pause(&c, 60, 60 * MS * LINK);
    assert_true(c.h.pause.paused > 0);
    assert_true(fabs((double)c.h.pause.link / LINK - 1) < 0.1);
}

TEST(a_pause_of_others_shows_nothing_without_packets_of_the_flow) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 1, 0);
    crowd_pause(&c, 20, PACKET);
    assert_true(c.h.pause.paused == 0);
}

TEST(a_queue_that_falls_as_fast_as_others_slow_down_is_no_pause) {
    struct crowd c;
    crowd_start(&c);
    crowd_run(&c, 1, 0);
    crowd_pause(&c, 100, 100 * MS * 1.2 * c.peak.delivered);
    assert_true(c.h.pause.paused == 0);
}

TEST(a_trial_in_which_others_pause_is_soon_repeated) {
    struct crowd c;
    crowd_start(&c);
    crowd_run_until_it_tries(&c, 0.04);
    crowd_run(&c, 0.5, 0.01);
    crowd_pause(&c, 20, PACKET);
    crowd_run(&c, 1.5, 0.01);
    assert_int_equal(c.h.failed, 0);
    assert_true(c.h.again - c.now < 1000 * MS);
}

TEST(a_flow_with_next_to_nothing_bears_more_losses) {
    struct crowd c;
    double before;
    crowd_start(&c);
    crowd_run(&c, 5, 0.1);
    c.peak.most[0] = c.peak.most[1] = (float)(20 * LINK);
    before = (double)c.h.pace;
    crowd_run(&c, 2, 0.3);
    assert_true((double)c.h.pace > before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_flow_holds_its_part_where_yielding_does_not_reduce_losses),
        cmocka_unit_test(
            a_flow_that_loses_what_tcp_flows_cause_goes_on_yielding),
        cmocka_unit_test(a_flow_that_loses_little_does_not_try),
        cmocka_unit_test(a_flow_does_not_try_before_losses_persist),
        cmocka_unit_test(a_flow_does_not_try_in_a_queue_of_its_own),
        cmocka_unit_test(a_rate_is_held_no_longer_than_others_fill_the_queue),
        cmocka_unit_test(a_flow_that_does_not_know_its_rate_goes_on_yielding),
        cmocka_unit_test(a_rate_is_given_up_when_others_turn_out_to_yield),
        cmocka_unit_test(a_rate_is_given_up_when_nobody_pauses_as_bbr_does),
        cmocka_unit_test(flows_that_lose_at_once_try_one_after_another),
        cmocka_unit_test(a_rate_shrinks_when_too_much_is_lost),
        cmocka_unit_test(others_that_pause_show_the_rate_of_the_link),
        cmocka_unit_test(
            a_pause_of_others_shows_nothing_without_packets_of_the_flow),
        cmocka_unit_test(
            a_queue_that_falls_as_fast_as_others_slow_down_is_no_pause),
        cmocka_unit_test(a_trial_in_which_others_pause_is_soon_repeated),
        cmocka_unit_test(a_flow_with_next_to_nothing_bears_more_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

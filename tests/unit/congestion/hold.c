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

/* ---- A link on which the others are modelled ---- */

#define FLOWS 3                /* the first one is ours */
#define DEPTH (10 * MS * LINK) /* of the queue, bytes */
#define HEARD (BASE / MS)      /* ms until feedback */

struct mix {
    struct crowd c;
    bool yield;              /* the others do */
    double queue;            /* bytes */
    double window[FLOWS];    /* of the others, bytes */
    double waits[FLOWS];     /* less than a packet */
    cong_time spared[FLOWS]; /* losses before it count no more */
    double acked[HEARD][FLOWS], lost[HEARD][FLOWS]; /* a ring of ms */
    bool tried, held;
};

static void mix_start(struct mix *m, bool yield) {
    *m = (struct mix){.yield = yield};
    crowd_start(&m->c);
    m->c.cc.ssthresh = m->c.cc.cwnd;
    for (unsigned i = 0; i < FLOWS; i++) {
        m->window[i] = (2 + i) * PACKET;
    }
}

static cong_time mix_rtt(const struct mix *m) {
    return BASE + (cong_time)(m->queue / LINK);
}

static double mix_rate(const struct mix *m, unsigned flow) {
    const struct cong *cc = &m->c.cc;
    double rtt = (double)mix_rtt(m);
    if (flow == 0) {
        return cc->pacing_rate > 0 ? cc->pacing_rate / CONG_NS : cc->cwnd / rtt;
    }
    return m->yield ? m->window[flow] / rtt : 1.1 * LINK / (FLOWS - 1);
}

/* Reno: half after losses, and a packet more in each round trip. */
static void mix_yield(double *window, double acked, double lost,
                      cong_time *spared, cong_time now, cong_time rtt) {
    if (lost > 0 && now >= *spared) {
        *window = fmax(*window / 2, 2 * PACKET);
        *spared = now + rtt;
    }
    *window += PACKET * acked / *window;
}

static void mix_send(struct mix *m, size_t slot) {
    m->queue = fmax(m->queue - LINK * MS, 0);
    for (unsigned k = 0; k < FLOWS; k++) {
        unsigned flow = (unsigned)(m->c.now / MS + k) % FLOWS;
        m->acked[slot][flow] = m->lost[slot][flow] = 0;
        m->waits[flow] += mix_rate(m, flow) * MS;
        for (unsigned n = (unsigned)(m->waits[flow] / PACKET); n > 0; n--) {
            bool full = m->queue + PACKET > DEPTH;
            m->waits[flow] -= PACKET;
            m->queue += full ? 0 : PACKET;
            *(full ? &m->lost[slot][flow] : &m->acked[slot][flow]) += PACKET;
        }
    }
}

static void mix_hear(struct mix *m, size_t slot) {
    struct crowd *c = &m->c;
    struct cong_ack ack = {.now = c->now,
                           .rtt = mix_rtt(m),
                           .min_rtt = BASE,
                           .srtt = mix_rtt(m),
                           .acked = m->acked[slot][0],
                           .lost = m->lost[slot][0],
                           .flight = c->cc.cwnd,
                           .round = c->now >= c->round,
                           .limited = true};
    for (unsigned i = 1; i < FLOWS; i++) {
        mix_yield(&m->window[i], m->acked[slot][i], m->lost[slot][i],
                  &m->spared[i], c->now, ack.rtt);
    }
    if (ack.acked + ack.lost <= 0) {
        return;
    }
    c->round = ack.round ? c->now + ack.rtt : c->round;
    cong__peak_rate_ack(&c->peak, &ack, PACKET);
    c->on = cong__hold_ack(&c->h, &c->cc, &ack, &c->path);
    if (!c->on) {
        mix_yield(&c->cc.cwnd, ack.acked, ack.lost, &m->spared[0], c->now,
                  ack.rtt);
    }
}

static void mix_run(struct mix *m, unsigned seconds) {
    for (unsigned i = 0; i < 1000 * seconds; i++) {
        size_t slot = i % HEARD;
        mix_hear(m, slot);
        mix_send(m, slot);
        m->c.now += MS;
        m->tried |= m->c.h.state == CONG__HOLD_TRIAL;
        m->held |= m->c.h.state == CONG__HOLD_ON;
    }
}

/* In so short a queue, all lose much, but the others yield in the trial. */
TEST(no_part_is_held_beside_flows_that_yield) {
    struct mix m;
    mix_start(&m, true);
    mix_run(&m, 120);
    assert_true(m.tried);
    assert_false(m.held);
}

TEST(a_part_is_held_beside_flows_that_send_on) {
    struct mix m;
    mix_start(&m, false);
    mix_run(&m, 20);
    assert_true(m.held);
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
        cmocka_unit_test(no_part_is_held_beside_flows_that_yield),
        cmocka_unit_test(a_part_is_held_beside_flows_that_send_on),
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

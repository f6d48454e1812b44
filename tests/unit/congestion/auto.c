/* SPDX-License-Identifier: MPL-2.0 */
/* The controller "auto": what it takes for congestion, and what it gives up. */
#include "internal/common/rng.h"
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <math.h>

/* RTTs of 100 to 200 ms, half of them below 125, the newest as given; then a
 * loss at a window of 100. */
static double auto_after_loss(double rtt, double lost_share) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    for (int i = 0; i < 2000; i++) {
        r.ack.lost = lost_share;
        rig_ack_rtt(&r, 1, MS(100 + pow(i % 101, 2) / 100));
    }
    rig_ack_rtt(&r, 1, MS(rtt));
    rig_lose_at(&r, 100);
    double cwnd = r.cc->cwnd;
    rig_stop(&r);
    return cwnd;
}

static void auto_gives_way_to_congestion_and_not_to_chance(void **state) {
    (void)state;
    check_near(auto_after_loss(110, 0.01), 100, 1e-9);
    check_near(auto_after_loss(135, 0.01), 97, 1e-9);
    check_near(auto_after_loss(190, 0.01), 70, 1e-9);
    check_near(auto_after_loss(110, 0.2), 70, 1e-9);
}

/* Which of so many losses, of a share of all packets and so many in a row on
 * average, at RTTs from `rtt` ms to 3 ms more that say nothing, cost some of
 * the window: how many; *first is the first of them. */
static unsigned auto_cuts(double rtt, double share, double row, unsigned losses,
                          unsigned *first) {
    unsigned cuts = 0;
    cmn__rng rng;
    struct rig r;
    cmn__rng_seed(&rng, 1);
    rig_start(&r, "auto", MS(rtt));
    r.now = MS(10);
    r.ack.limited = false; /* as of a live stream */
    *first = losses;
    for (unsigned i = 0; i < losses; i++) {
        for (r.ack.lost = 1; cmn__rng_unit(&rng) > 1 / row;) {
            r.ack.lost++;
        }
        while (cmn__rng_unit(&rng) > share / (1 - share) / row) {
            rig_ack_rtt(&r, 1, MS(rtt + 3 * cmn__rng_unit(&rng)));
            r.ack.lost = 0;
        }
        rig_lose_at(&r, 100);
        *first = cuts == 0 && r.cc->cwnd < 100 ? i : *first;
        cuts += r.cc->cwnd < 100;
    }
    rig_stop(&r);
    return cuts;
}

static void auto_bears_an_eighth_in_bursts_and_no_quarter(void **state) {
    unsigned first;
    (void)state;
    assert_true(auto_cuts(100, 0.125, 4, 1000, &first) < 125);
    assert_true(auto_cuts(100, 0.25, 1, 1000, &first) > 875);
    assert_in_range(first, 20, 125);
}

/* Among RTTs that differ by a two-hundredth, the highest shows no queue. */
static void auto_finds_no_queue_in_the_noise_of_a_long_path(void **state) {
    unsigned first;
    (void)state;
    assert_int_equal(auto_cuts(600, 0.02, 1, 1000, &first), 0);
}

/* The window, 100 at first, after losses at the RTTs given in turn, each behind
 * 40 round trips of 100 ms to 100 ms and a swing, of 40 packets each. */
static double auto_after_losses(const double *rtts, int n, double swing) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    r.ack.limited = false; /* it does not grow */
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= 40 * 40; k++) {
            r.ack.round = k % 40 == 39;
            rig_ack_rtt(&r, 1, MS(100 + swing * k / (40 * 40)));
        }
        r.ack.round = false;
        rig_ack_rtt(&r, 1, MS(rtts[i]));
        rig_lose_at(&r, i == 0 ? 100 : r.cc->cwnd);
    }
    double cwnd = r.cc->cwnd;
    rig_stop(&r);
    return cwnd;
}

static void
auto_does_not_mind_losses_that_the_queue_did_not_make(void **state) {
    static const double any[] = {101, 103, 100, 102, 101, 104, 100, 103};
    static const double full[] = {140, 139, 140, 140, 139, 140, 140, 140};
    static const double half[] = {110, 112, 110, 111, 110, 112, 111, 110};
    (void)state;
    check_near(auto_after_losses(any, 8, 4), 100, 1e-9);
    /* a queue that comes and goes: at its top, and below */
    assert_true(auto_after_losses(full, 8, 40) < 100 * pow(0.71, 8));
    assert_true(auto_after_losses(half, 8, 40) < 100 * pow(0.975, 8));
}

/* A path with jitter has its lowest RTT once. */
static void auto_does_not_take_one_quick_packet_for_the_path(void **state) {
    static const double any[] = {86, 103, 100, 102, 101, 104, 100, 103};
    (void)state;
    check_near(auto_after_losses(any, 8, 4), 100, 1e-9);
}

static void auto_ends_slow_start_when_a_queue_grows(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "auto", MS(100));
    for (int i = 0; i < 200; i++) {
        r.ack.round = i % 40 == 39;
        r.ack.flight = r.cc->cwnd;
        rig_ack_rtt(&r, 1, MS(100 + i % 12));
    }
    double grown = r.cc->cwnd;
    assert_true(grown > 200);
    assert_true(isinf(r.cc->ssthresh));
    for (int i = 0; i < 80; i++) {
        r.ack.round = i % 40 == 39;
        rig_ack_rtt(&r, 1, MS(300));
    }
    assert_true(r.cc->ssthresh < grown);
    assert_true(r.cc->cwnd < grown);
    assert_true(r.cc->cwnd > grown / 2);
    rig_stop(&r);
}

/* Between two frames little is in flight: no reason to take more away.  Nor
 * does a live stream give up as much as a greedy flow. */
static double auto_kept_of_80(bool live) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    r.cc->cwnd = 100;
    r.now = MS(10);
    r.ack.limited = !live;
    r.ack.recovery = true; /* it does not grow */
    r.ack.flight = 80;
    rig_ack_rtt(&r, 1, MS(100));
    r.ack.limited = true;
    r.ack.flight = 4;
    rig_ack_rtt(&r, 1, MS(200));
    rig_event(&r, CONG_LOSS, 4, 1, 1);
    double cwnd = r.cc->cwnd;
    rig_stop(&r);
    return cwnd;
}

static void auto_measures_what_it_gives_up_by_the_use(void **state) {
    (void)state;
    check_near(auto_kept_of_80(false), 0.7 * 80, 1e-9);
    check_near(auto_kept_of_80(true), 0.8 * 80, 1e-9);
}

/* The growth of a second in congestion avoidance, from `after` on, where the
 * path showed one RTT at first, and then another. */
static double auto_growth(double first, double then, double after) {
    struct rig r;
    double before;
    rig_start(&r, "auto", -1);
    assert_int_equal(cong_set(r.cc, "claim", 6), 0);
    rig_ack_rtt(&r, 1, MS(first));
    rig_ack_rtt(&r, 1, MS(then));
    r.cc->ssthresh = 50;
    r.cc->cwnd = 100;
    r.ack.flight = 100;
    before = r.cc->cwnd;
    for (int i = 1; i <= 100; i++) {
        r.now = MS(after + 10 * i);
        rig_ack_rtt(&r, 1, MS(then));
    }
    double grown = r.cc->cwnd - before;
    rig_stop(&r);
    return grown;
}

/* A round trip in which a part of the window is used; the queue, in ms, grows
 * while more is sent, and shrinks again. */
static void auto_round(struct rig *r, double part, double queue, double swing) {
    double n = r->cc->cwnd / 20;
    for (int i = 1; i <= 20; i++) {
        bool more = i <= 10;
        double rtt = 100 + queue + swing * (more ? i : 20 - i) / 10;
        r->now += MS(5);
        r->ack.round = i == 20;
        r->ack.flight = part * r->cc->cwnd;
        rig_ack_rtt(r, more ? 1.5 * n : 0.5 * n, MS(rtt));
    }
    r->ack.round = false;
}

/* Whether a stream that uses this part of its window leaves slow start within
 * five seconds. */
static bool auto_leaves_slow_start(double part, double queue, double swing) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    rig_ack_rtt(&r, 1, MS(100));
    r.cc->cwnd = 100;
    r.ack.limited = part >= 1;
    for (int i = 0; i < 50; i++) {
        auto_round(&r, part, queue, swing);
    }
    bool left = r.cc->cwnd >= r.cc->ssthresh;
    rig_stop(&r);
    return left;
}

/* It would not yield to streams like itself, which yield to it. */
TEST(auto_leaves_slow_start_beside_streams_like_itself) {
    assert_true(auto_leaves_slow_start(0.5, 0, 30));
    assert_false(auto_leaves_slow_start(1, 0, 30));
    assert_false(auto_leaves_slow_start(0.5, 6, 30)); /* never empty */
}

/* How the window grows in four full round trips with a queue, after some with
 * another, and perhaps a loss. */
static double auto_grows_after(double before, double lost, double then) {
    struct rig r;
    rig_start(&r, "auto", MS(100));
    rig_ack_rtt(&r, 1, MS(100));
    r.cc->ssthresh = 50;
    r.cc->cwnd = 100;
    for (int i = 0; i < 10; i++) {
        auto_round(&r, 1, before, 20);
    }
    r.ack.lost = lost;
    rig_ack_rtt(&r, 1, MS(100));
    r.ack.lost = 0;
    double grown = 1 / r.cc->cwnd;
    for (int i = 0; i < 4; i++) {
        auto_round(&r, 1, then, 0);
    }
    grown *= r.cc->cwnd;
    rig_stop(&r);
    return grown;
}

/* A window that kept the queue short says nothing once the path is faster. One
 * that never met a queue may share a very short one with others. */
TEST(auto_looks_for_more_when_the_queue_of_a_full_window_is_gone) {
    assert_true(auto_grows_after(20, 0, 1) > 1.8);
    assert_true(auto_grows_after(20, 0, 8) < 1.5);
    assert_true(auto_grows_after(20, 1, 1) < 1.5);
    assert_true(auto_grows_after(0, 0, 1) < 1.5);
}

/* A live stream sends now more, now less, and loses one packet in fifty by
 * chance. From its 100th second on, the RTT is 12 ms longer, and rises by so
 * many ms with each packet while it sends more: how many of the losses in the
 * last 30 s cost some of the window. */
static unsigned auto_cuts_later(double rise) {
    unsigned cuts = 0;
    struct rig r;
    cmn__rng rng;
    cmn__rng_seed(&rng, 1);
    rig_start(&r, "auto", MS(100));
    r.ack.limited = false;
    for (int i = 0; r.now < MS(150000); i++) {
        bool more = i % 60 < 30;
        bool later = r.now > MS(100000);
        double queue = rise * (more ? i % 30 : 30 - i % 30);
        bool lost = cmn__rng_unit(&rng) < 0.02;
        r.now += more ? MS(2) : MS(4);
        r.ack.round = i % 30 == 0;
        r.ack.lost = lost;
        rig_ack_rtt(&r, 1,
                    MS(100 + cmn__rng_unit(&rng) + (later ? 12 + queue : 0)));
        if (lost) {
            rig_lose_at(&r, 100);
            cuts += r.now > MS(120000) && r.cc->cwnd < 100;
        }
    }
    rig_stop(&r);
    return cuts;
}

/* A path that has become longer does not get shorter when less is sent. */
TEST(auto_tells_a_longer_path_that_loses_from_a_queue) {
    assert_true(auto_cuts_later(0) < 10);
    assert_true(auto_cuts_later(0.5) > 150);
}

/* The window, 100 at first, after 1.5 s in a queue of 7 to 9 ms, into which
 * others send as well: 2 packets per ms, a fifth more or less in turn, of a
 * link of 3.6. So many are lost at half a second. */
static double auto_window_beside(double lost) {
    enum { STEP = 5, STEPS = 300 };
    static const double more[] = {1.2, 0.8, 0.8, 1.2, 1.2, 0.8, 1.2, 0.8};
    double at[STEPS] = {0};   /* when ACKs came, ms, and ... */
    double came[STEPS] = {0}; /* ... what they had brought by then */
    double queue = 7;
    struct rig r;
    rig_start(&r, "auto", MS(40));
    rig_ack_rtt(&r, 1, MS(40));
    r.cc->ssthresh = 50;
    r.cc->cwnd = 100;
    r.ack.flight = 100;
    r.ack.rs = &r.rs;
    for (unsigned i = 1, k = 0; i < STEPS; i++) {
        double rate = 2 * more[i / 4 % 8];
        queue += (rate + 1.6 - 3.6) / 3.6 * STEP;
        came[i] = came[i - 1] + rate * STEP;
        at[i] = STEP * i + 40 + queue;
        while (at[k + 1] <= STEP * i) {
            k++; /* the newest that came before this one was sent */
        }
        r.now = MS(at[i]);
        r.rs.delivered = r.rs.tx_in_flight = came[i] - came[k];
        r.ack.round = i % 9 == 0;
        r.ack.lost = i == 100 ? lost : 0;
        rig_ack_rtt(&r, rate * STEP, MS(40 + queue));
    }
    double cwnd = r.cc->cwnd;
    rig_stop(&r);
    return cwnd;
}

/* So short a queue overflows now and then, if it is that of others. */
TEST(auto_gives_others_their_part_of_a_short_queue_once_it_lost_there) {
    assert_true(auto_window_beside(0) > 110);
    assert_true(auto_window_beside(1) < 80);
}

/* As a later, lower RTT shows, the queue existed before. */
static void auto_claims_its_share_when_it_joins_others(void **state) {
    double alone = auto_growth(100, 100, 0);
    (void)state;
    assert_true(alone > 0);
    assert_true(auto_growth(140, 100, 0) > 4 * alone);
    check_near(auto_growth(100, 140, 0), alone, 0.1 * alone);
    check_near(auto_growth(140, 100, 5000), auto_growth(100, 100, 5000), 1e-9);
}

/* On a queue that is full from the beginning the RTT hardly rises: what is left
 * of a window of 40 that is lost in at such an RTT, after one of 130 ms. */
static double auto_kept_of_first(double rtt) {
    struct rig r;
    rig_start(&r, "auto", -1);
    for (int i = 0; i < 20; i++) {
        rig_ack_rtt(&r, 1, MS(130));
    }
    rig_ack_rtt(&r, 1, MS(rtt));
    rig_lose_at(&r, 40);
    double kept = r.cc->cwnd / 40;
    rig_stop(&r);
    return kept;
}

static void auto_doubts_the_first_losses_at_the_highest_rtt(void **state) {
    (void)state;
    check_near(auto_kept_of_first(133), 1, 1e-9);
    assert_true(auto_kept_of_first(138) < 0.9);
}

static void auto_begins_with_more_on_a_long_path(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "auto", -1);
    check_near(r.cc->cwnd, 10, 0.0);
    r.ack.limited = false;
    rig_ack_rtt(&r, 1, MS(600));
    check_near(r.cc->cwnd, 60, 1e-9);
    rig_ack_rtt(&r, 1, MS(900)); /* once */
    check_near(r.cc->cwnd, 60, 1e-9);
    rig_stop(&r);
}

static void auto_finds_its_memory_after_a_false_alarm(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "auto", MS(100));
    rig_ack_rtt(&r, 1, MS(200));
    rig_ack_rtt(&r, 1, MS(190));
    rig_lose_at(&r, 100); /* congestion */
    for (int i = 1; i <= 50; i++) {
        r.now = MS(100 * i);
        rig_ack_rtt(&r, 10, MS(100));
    }
    struct rig other = rig_copy(&r);
    rig_event(&r, CONG_LOSS, 100, 1, 1); /* chance, and a false alarm */
    r.cc->cwnd = other.cc->cwnd;
    r.cc->ssthresh = other.cc->ssthresh;
    rig_event(&r, CONG_UNDO, 100, 0, 0);
    r.now = other.now = MS(6000);
    rig_ack_rtt(&r, 10, MS(100));
    rig_ack_rtt(&other, 10, MS(100));
    check_near(r.cc->cwnd, other.cc->cwnd, 1e-12);
    rig_stop(&r);
    rig_stop(&other);
}

/* A loss by chance says nothing about what begins the next period. */
static void auto_does_not_grow_in_a_period_of_marks(void **state) {
    struct rig r;
    (void)state;
    rig_start(&r, "auto", MS(100));
    for (int i = 0; i < 2000; i++) {
        rig_ack_rtt(&r, 1, MS(100 + pow(i % 101, 2) / 100));
    }
    rig_ack_rtt(&r, 1, MS(110));
    rig_lose_at(&r, 100);
    check_near(r.cc->cwnd, 100, 1e-9);
    r.ack.recovery = true;
    r.ack.flight = 100;
    rig_ack_rtt(&r, 10, MS(110));
    assert_true(r.cc->cwnd > 100);
    rig_event(&r, CONG_ECN, 100, 0, 1); /* in the same period */
    double marked = r.cc->cwnd;
    assert_true(marked < 100);
    rig_ack_rtt(&r, 10, MS(110));
    check_near(r.cc->cwnd, marked, 1e-12);
    rig_stop(&r);
}

/* What trains of a stream are paced at, at most, when the link has carried
 * several at 1,000 bytes/ms. */
static double auto_pace_of_trains(double rtt, bool limited) {
    struct rig r;
    rig_start_sized(&r, "auto", 1000, (double)INFINITY, MS(rtt));
    r.ack.limited = limited;
    for (int train = 0; train < 4; train++) {
        r.now += MS(500);
        r.ack.round = true;
        for (int i = 0; i < 60; i++) {
            r.now += MS(1);
            rig_ack_rtt(&r, 1000, MS(rtt + 0.5 * i));
            r.ack.round = false;
        }
    }
    double most = r.cc->pacing_max;
    rig_stop(&r);
    return most;
}

TEST(auto_paces_trains_on_a_long_path_at_what_the_link_carries) {
    check_near(auto_pace_of_trains(300, false), 1.25e6, 0.01 * 1.25e6);
    check_near(auto_pace_of_trains(300, true), 0, 0.0);
    check_near(auto_pace_of_trains(100, false), 0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_leaves_slow_start_beside_streams_like_itself),
        cmocka_unit_test(
            auto_looks_for_more_when_the_queue_of_a_full_window_is_gone),
        cmocka_unit_test(auto_tells_a_longer_path_that_loses_from_a_queue),
        cmocka_unit_test(
            auto_gives_others_their_part_of_a_short_queue_once_it_lost_there),
        cmocka_unit_test(auto_gives_way_to_congestion_and_not_to_chance),
        cmocka_unit_test(auto_bears_an_eighth_in_bursts_and_no_quarter),
        cmocka_unit_test(auto_finds_no_queue_in_the_noise_of_a_long_path),
        cmocka_unit_test(auto_does_not_mind_losses_that_the_queue_did_not_make),
        cmocka_unit_test(auto_does_not_take_one_quick_packet_for_the_path),
        cmocka_unit_test(auto_ends_slow_start_when_a_queue_grows),
        cmocka_unit_test(auto_measures_what_it_gives_up_by_the_use),
        cmocka_unit_test(auto_claims_its_share_when_it_joins_others),
        cmocka_unit_test(auto_doubts_the_first_losses_at_the_highest_rtt),
        cmocka_unit_test(auto_begins_with_more_on_a_long_path),
        cmocka_unit_test(auto_finds_its_memory_after_a_false_alarm),
        cmocka_unit_test(auto_does_not_grow_in_a_period_of_marks),
        cmocka_unit_test(
            auto_paces_trains_on_a_long_path_at_what_the_link_carries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

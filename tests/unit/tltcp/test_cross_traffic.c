/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/engine/cross_traffic.h"

#include <math.h>

#include "tests/support/cmocka.h"

#define MS ((cong_time)1000000)
#define RTT (40 * MS)
#define CAPACITY 500000.0 /* bytes/s */
#define PACKET 1000.0
#define FRAME (40 * MS)

/* A stream of frames through a bottleneck that others use, too. */
struct path {
    tltcp__cross_traffic cross;
    cong_time now;
    double sent;   /* bytes */
    double queue;  /* bytes */
    double others; /* bytes/s */
    double capacity;
};

static void path_start(struct path *p, double queue, double others) {
    *p = (struct path){.queue = queue, .others = others, .capacity = CAPACITY};
    tltcp__cross_traffic_init(&p->cross);
}

/* The queue serves everybody in turn. */
static void path_wait(struct path *p, cong_time ns) {
    p->queue += (p->others - p->capacity) * (double)ns * 1e-9;
    p->queue = fmax(p->queue, 0);
    p->now += ns;
}

static void path_send(struct path *p) {
    tltcp__cross_sample sample;
    p->sent += PACKET;
    p->queue += PACKET;
    sample = (tltcp__cross_sample){
        p->now, p->sent, RTT + (cong_time)(p->queue / p->capacity * 1e9)};
    tltcp__cross_traffic_on_ack(&p->cross, &sample, RTT);
}

/* Frames of so many packets in the mean, spread over their time. */
static void path_stream(struct path *p, unsigned frames, unsigned packets) {
    static const unsigned percent[] = {70, 130, 100, 60, 140};
    for (unsigned i = 0; i < frames; i++) {
        unsigned n = packets * percent[i % 5] / 100;
        n = n > 0 ? n : 1;
        for (unsigned k = 0; k < n; k++) {
            path_send(p);
            path_wait(p, FRAME / n);
        }
    }
}

static double path_share(const struct path *p) {
    return tltcp__cross_traffic_share(&p->cross);
}

TEST(cross_traffic_is_unknown_at_first) {
    struct path p;
    path_start(&p, 0, 0);
    assert_true(path_share(&p) <= 0);
    path_send(&p);
    assert_true(path_share(&p) <= 0);
}

/* The RTT falls from 120 to 80 ms, so the spans last 40 to 27. Those of five
 * packets, which are enough for a rate, would last 10. */
TEST(a_span_lasts_a_third_of_a_round_trip) {
    struct path p;
    path_start(&p, 40000, 0);
    path_stream(&p, 20, 19);
    assert_in_range(p.cross.count, 18, 30);
}

TEST(a_span_has_packets_enough_for_a_rate) {
    struct path p;
    path_start(&p, 40000, CAPACITY - PACKET / 0.04);
    path_stream(&p, 40, 1); /* of which each takes a span */
    assert_in_range(p.cross.count, 4, 8);
}

TEST(a_queue_of_our_own_drains_when_we_pause) {
    struct path p;
    path_start(&p, 40000, 0);
    path_stream(&p, 100, 19); /* 19 of 20 kB that the path carries */
    assert_true(path_share(&p) < 0.1);
}

TEST(a_queue_of_others_does_not) {
    struct path p;
    path_start(&p, 40000, CAPACITY - 3 * PACKET / 0.04);
    path_stream(&p, 100, 3);
    assert_true(path_share(&p) > 0.7);
}

TEST(half_a_queue_differs_from_a_full_one) {
    struct path p;
    path_start(&p, 40000, CAPACITY / 2);
    path_stream(&p, 100, 10);
    assert_true(path_share(&p) > 0.3);
    assert_true(path_share(&p) < 0.7);
}

TEST(without_a_queue_there_are_no_others) {
    struct path p;
    path_start(&p, 0, 0);
    path_stream(&p, 100, 2);
    assert_true(path_share(&p) <= 0);
}

TEST(others_that_leave_are_forgotten) {
    struct path p;
    path_start(&p, 40000, CAPACITY - 3 * PACKET / 0.04);
    path_stream(&p, 100, 3);
    p.others = 0;
    path_stream(&p, 500, 19);
    assert_true(path_share(&p) < 0.3);
}

/* The encoder follows with a delay. */
TEST(a_link_that_changes_is_no_cross_traffic) {
    struct path p;
    path_start(&p, 40000, 0);
    for (unsigned i = 0; i < 60; i++) {
        bool slow = i / 4 % 2 != 0;
        p.capacity = slow ? CAPACITY / 2 : CAPACITY;
        path_stream(&p, 1, slow ? 15 : 9);
        path_stream(&p, 3, slow ? 9 : 18);
    }
    assert_true(path_share(&p) < 0.3);
}

/* The mean rate of delivery is less than half of the higher rate, at which most
 * of the changes are. */
TEST(a_link_that_is_slow_for_longer_is_no_cross_traffic) {
    struct path p;
    path_start(&p, 40000, 0);
    for (unsigned i = 0; i < 8; i++) {
        p.capacity = CAPACITY;
        path_stream(&p, 12, 19);
        p.capacity = CAPACITY / 4;
        path_stream(&p, 40, 5);
        p.queue = fmin(p.queue, 20000);
    }
    assert_true(path_share(&p) < 0.2);
}

TEST(an_outage_is_no_cross_traffic) {
    struct path p;
    path_start(&p, 40000, 0);
    path_stream(&p, 100, 19);
    for (int i = 0; i < 4; i++) {
        p.queue += CAPACITY / 4; /* nothing was served for so long */
        path_stream(&p, 50, 15);
    }
    assert_true(path_share(&p) < 0.3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_traffic_is_unknown_at_first),
        cmocka_unit_test(a_span_lasts_a_third_of_a_round_trip),
        cmocka_unit_test(a_span_has_packets_enough_for_a_rate),
        cmocka_unit_test(a_queue_of_our_own_drains_when_we_pause),
        cmocka_unit_test(a_queue_of_others_does_not),
        cmocka_unit_test(half_a_queue_differs_from_a_full_one),
        cmocka_unit_test(without_a_queue_there_are_no_others),
        cmocka_unit_test(others_that_leave_are_forgotten),
        cmocka_unit_test(a_link_that_changes_is_no_cross_traffic),
        cmocka_unit_test(a_link_that_is_slow_for_longer_is_no_cross_traffic),
        cmocka_unit_test(an_outage_is_no_cross_traffic),
    };
    return cmocka_run_group_tests_name("cross_traffic", tests, NULL, NULL);
}

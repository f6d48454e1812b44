/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/engine/jitter.h"

#include <math.h>

#include "tests/support/cmocka.h"

#define MS ((cong_time)1000000)
#define RTT (40 * MS)
#define CAPACITY 500000.0 /* bytes/s */
#define PACKET 1200.0
#define FRAME (40 * MS)
#define PACKETS 12 /* of a frame */

/* A stream of frames through a bottleneck, and what else delays it. */
struct path {
    tltcp__jitter jitter;
    uint32_t luck;
    cong_time now;
    cong_time arrived; /* the newest packet */
    double sent;       /* bytes */
    double queue;      /* bytes */
    cong_time (*delay)(struct path *p);
    unsigned packets;  /* of a frame; 0: PACKETS */
    double known;      /* of the capacity, that the sender knows; 0: all */
    cong_time picture; /* when another stream sent its newest one */
    cong_time waits;   /* queue that its pictures leave */
};

static cong_time path_luck(struct path *p, cong_time below) {
    p->luck = p->luck * 1664525u + 1013904223u;
    return (cong_time)((double)below * (p->luck >> 8) / 16777216.0);
}

static void path_send(struct path *p) {
    cong_time arrives;
    p->sent += PACKET;
    p->queue += PACKET;
    arrives = p->now + RTT + (cong_time)(p->queue / CAPACITY * 1e9);
    arrives += p->delay != NULL ? p->delay(p) : 0;
    p->arrived = arrives > p->arrived ? arrives : p->arrived;
    tltcp__jitter_on_ack(
        &p->jitter,
        &(tltcp__cross_sample){p->now, p->sent, p->arrived - p->now}, RTT,
        CAPACITY * (p->known > 0 ? p->known : 1));
}

static void path_drain(struct path *p, cong_time t) {
    p->now += t;
    p->queue = fmax(p->queue - CAPACITY * (double)t * 1e-9, 0);
}

/* The delay learnt in so many seconds, ms. */
static double path_stream(struct path *p, unsigned seconds) {
    cong_time until = p->now + seconds * 1000 * MS;
    while (p->now < until) {
        unsigned n = p->packets > 0 ? p->packets : PACKETS;
        for (unsigned i = 0; i < n; i++) {
            path_send(p);
            path_drain(p, FRAME / 2 / n); /* a burst */
        }
        path_drain(p, FRAME / 2);
    }
    return (double)p->jitter.delay / MS;
}

static cong_time of_radio(struct path *p) {
    return path_luck(p, 40 * MS);
}

static cong_time of_slots(struct path *p) {
    cong_time slot = 50 * MS;
    return (slot - (p->now + RTT) % slot) % slot;
}

static cong_time of_others(struct path *p) {
    return (cong_time)((1 + sin((double)p->now * 3e-9)) * 30e6);
}

/* Pictures of another stream, of any size: much of their queue is left when the
 * next one comes. */
static cong_time of_pictures(struct path *p) {
    while (p->now - p->picture >= FRAME) {
        p->picture += FRAME;
        p->waits = p->waits * 6 / 10 + path_luck(p, 25 * MS);
    }
    return p->waits;
}

/* In a short queue less is left. */
static cong_time of_short_queue(struct path *p) {
    while (p->now - p->picture >= FRAME) {
        p->picture += FRAME;
        p->waits = p->waits * 35 / 100 + path_luck(p, 30 * MS);
    }
    return p->waits;
}

/* Every third one is large, as in groups of B frames. */
static cong_time of_groups(struct path *p) {
    static const cong_time sizes[] = {22 * MS, 9 * MS, 12 * MS};
    while (p->now - p->picture >= FRAME) {
        p->picture += FRAME;
        p->waits = sizes[p->picture / FRAME % 3] + path_luck(p, 15 * MS);
    }
    return p->waits;
}

/* For a tenth of the time the link carries nothing. */
static cong_time of_fades(struct path *p) {
    cong_time since = p->now % (3000 * MS);
    return since < 300 * MS ? 300 * MS - since : 0;
}

TEST(a_stream_has_no_jitter_of_its_own) {
    struct path p = {.now = MS};
    assert_true(path_stream(&p, 10) <= 0);
}

TEST(random_delay_is_jitter) {
    struct path p = {.now = MS, .delay = of_radio};
    assert_in_range(path_stream(&p, 9), 12, 40);
}

/* What is left of it looks like a queue, and the stream would yield to that. */
TEST(nearly_all_of_it_is_learnt) {
    for (uint32_t luck = 0; luck < 20; luck++) {
        struct path p = {
            .now = MS, .luck = luck, .delay = of_radio, .packets = 4};
        assert_in_range(path_stream(&p, 20), 28, 41);
    }
}

/* A sender that knows too little of the path thinks that its queue is longer
 * than it is. */
TEST(it_is_learnt_where_the_path_is_faster_than_known) {
    for (uint32_t luck = 0; luck < 20; luck++) {
        struct path p = {.now = MS,
                         .luck = luck,
                         .delay = of_radio,
                         .packets = 8,
                         .known = 0.5};
        assert_in_range(path_stream(&p, 20), 26, 41);
    }
}

TEST(so_are_slots_in_which_packets_arrive) {
    struct path p = {.now = MS, .delay = of_slots};
    assert_in_range(path_stream(&p, 10), 10, 40);
}

TEST(jitter_that_ends_is_forgotten) {
    struct path p = {.now = MS, .delay = of_radio};
    assert_true(path_stream(&p, 10) > 0);
    p.delay = NULL;
    assert_true(path_stream(&p, 3) <= 0);
}

/* The sender knows a third of the rate, so the model's queue never empties. */
TEST(jitter_that_ends_in_a_queue_is_forgotten) {
    struct path p = {.now = MS, .delay = of_radio, .packets = 4};
    assert_true(path_stream(&p, 10) > 0);
    p.delay = NULL;
    p.packets = 0;
    p.known = 0.3;
    assert_true(path_stream(&p, 15) <= 0);
}

/* For how long of 400 s it is taken for jitter, once enough samples tell. */
static unsigned seconds_taken(cong_time (*delay)(struct path *p), bool lossy) {
    unsigned taken = 0;
    for (uint32_t luck = 0; luck < 20; luck++) {
        struct path p = {.now = MS, .luck = luck, .delay = delay};
        p.jitter.lossy = lossy;
        (void)path_stream(&p, 4);
        for (unsigned i = 0; i < 20; i++) {
            taken += path_stream(&p, 1) > 0;
        }
    }
    print_message("taken for jitter in %u of 400 s\n", taken);
    return taken;
}

TEST(a_queue_of_others_is_no_jitter) {
    struct path p = {.now = MS, .delay = of_others};
    for (unsigned i = 0; i < 20; i++) {
        assert_true(path_stream(&p, 1) <= 0);
    }
}

/* Of so brief a queue a sample says little about the next one, and it may be
 * jitter, but others lose packets there. */
TEST(nor_is_a_short_queue_of_others_that_lose_packets) {
    unsigned taken = seconds_taken(of_short_queue, false);
    assert_true(seconds_taken(of_short_queue, true) < taken / 2);
}

TEST(random_delay_is_jitter_although_packets_are_lost) {
    struct path p = {.now = MS, .delay = of_radio};
    p.jitter.lossy = true;
    assert_in_range(path_stream(&p, 9), 12, 40);
}

TEST(pictures_of_another_stream_are_no_jitter) {
    assert_true(seconds_taken(of_pictures, false) < 20);
}

TEST(nor_are_they_where_they_come_in_groups) {
    assert_true(seconds_taken(of_groups, false) < 20);
}

TEST(nor_are_pauses_of_a_link) {
    struct path p = {.now = MS, .delay = of_fades};
    for (unsigned i = 0; i < 20; i++) {
        assert_true(path_stream(&p, 1) <= 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_has_no_jitter_of_its_own),
        cmocka_unit_test(jitter_that_ends_in_a_queue_is_forgotten),
        cmocka_unit_test(random_delay_is_jitter),
        cmocka_unit_test(nearly_all_of_it_is_learnt),
        cmocka_unit_test(it_is_learnt_where_the_path_is_faster_than_known),
        cmocka_unit_test(so_are_slots_in_which_packets_arrive),
        cmocka_unit_test(jitter_that_ends_is_forgotten),
        cmocka_unit_test(a_queue_of_others_is_no_jitter),
        cmocka_unit_test(pictures_of_another_stream_are_no_jitter),
        cmocka_unit_test(nor_are_they_where_they_come_in_groups),
        cmocka_unit_test(nor_are_pauses_of_a_link),
        cmocka_unit_test(nor_is_a_short_queue_of_others_that_lose_packets),
        cmocka_unit_test(random_delay_is_jitter_although_packets_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

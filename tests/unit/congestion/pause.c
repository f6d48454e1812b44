/* SPDX-License-Identifier: MPL-2.0 */
/* What pauses of others show: BBRv1 is recognized, and nobody else is. */
#include "libcongestion/pause.h"
#include "tests/support/cmocka.h"

#define MS 1000000
#define BASE 40   /* ms */
#define HIGH 100  /* ms of queue */
#define PART 0.3  /* of the link */
#define LINK 5e-4 /* bytes/ns */
#define PACKET 1200.0
#define STEP 10 /* ms between packets */

struct path {
    struct cong__pause pause;
    struct cong__peak_rate peak;
    double sent;  /* ms */
    double queue; /* ms */
};

static struct path path_new(void) {
    return (struct path){
        .peak = {.delivered = PART * LINK, .most = {(float)LINK}}};
}

/* Takes the queue to `to` within `takes` ms. */
static void queue_goes(struct path *p, double to, double takes) {
    double from = p->queue;
    for (int i = 1; i * STEP <= takes; i++) {
        p->queue = from + (to - from) * i * STEP / takes;
        p->sent += STEP;
        struct cong_ack ack = {
            .now = (cong_time)((p->sent + BASE + p->queue) * MS),
            .rtt = (cong_time)((BASE + p->queue) * MS),
            .min_rtt = BASE * MS};
        cong__pause_ack(&p->pause, &ack, PACKET, &p->peak);
    }
}

static bool is_excluded(const struct path *p) {
    struct cong_ack ack = {.now = (cong_time)((p->sent + BASE + p->queue) * MS),
                           .srtt = (cong_time)((BASE + p->queue) * MS)};
    return cong__pause_excludes_bbr(&p->pause, &ack);
}

static bool is_recognized(const struct path *p) {
    return cong__pause_is_bbr(&p->pause,
                              (cong_time)((p->sent + BASE + p->queue) * MS));
}

/* A queue that stood for so long, then fell, was short, and was filled again,
 * each within so many ms. */
static bool recognizes(double stood, double high, double falls, double lasts,
                       double fills) {
    struct path p = path_new();
    queue_goes(&p, 0, 100);
    queue_goes(&p, high, 100);
    queue_goes(&p, high, stood);
    queue_goes(&p, 0, falls);
    queue_goes(&p, 0, lasts);
    assert_false(is_recognized(&p));
    queue_goes(&p, high, fills);
    return is_recognized(&p);
}

TEST(a_pause_shows_bbr) {
    /* 0.7 of the link is gone */
    assert_true(recognizes(5000, HIGH, HIGH / 0.7, 200, 300));
    assert_true(recognizes(9800, HIGH, HIGH / 0.7, 300, 500));
}

TEST(flows_that_yield_to_losses_do_not_show_as_bbr) {
    /* half of what they sent is gone, or 0.3 of it */
    assert_false(recognizes(5000, HIGH, HIGH / 0.35, 200, 300));
    assert_false(recognizes(5000, HIGH, HIGH / 0.21, 200, 300));
    /* they grow by a packet per round trip */
    assert_false(recognizes(9800, HIGH, HIGH / 0.7, 200, 1200));
    assert_false(recognizes(9800, HIGH, HIGH / 0.7, 200, 5000));
}

TEST(streams_that_come_and_go_do_not_show_as_bbr) {
    assert_false(recognizes(1500, HIGH, HIGH / 0.7, 200, 300));
    assert_false(recognizes(5000, HIGH, HIGH / 0.7, 20, 100));
}

TEST(a_short_queue_says_nothing) {
    struct path p = path_new();
    queue_goes(&p, 0, 100);
    queue_goes(&p, BASE / 2.0, 100);
    queue_goes(&p, BASE / 2.0, 9800);
    queue_goes(&p, 0, BASE / 1.4);
    queue_goes(&p, 0, 200);
    queue_goes(&p, BASE / 2.0, 300);
    assert_false(is_recognized(&p));
}

TEST(bbr_is_forgotten_when_it_no_longer_pauses) {
    struct path p = path_new();
    queue_goes(&p, 0, 100);
    for (int i = 0; i < 3; i++) {
        queue_goes(&p, HIGH, 300);
        queue_goes(&p, HIGH, 9800);
        assert_true(is_recognized(&p) == (i > 0));
        queue_goes(&p, 0, HIGH / 0.7);
        queue_goes(&p, 0, 200);
    }
    queue_goes(&p, HIGH, 300);
    queue_goes(&p, HIGH, 13000);
    assert_false(is_recognized(&p));
}

TEST(a_queue_that_stands_too_long_excludes_bbr) {
    struct path p = path_new();
    assert_false(is_excluded(&p));
    queue_goes(&p, 0, 100);
    for (int i = 0; i < 3; i++) {
        queue_goes(&p, HIGH, 300);
        queue_goes(&p, HIGH, 9800);
        assert_false(is_excluded(&p));
        queue_goes(&p, 0, HIGH / 0.7);
    }
    queue_goes(&p, HIGH, 300);
    queue_goes(&p, HIGH, 12000);
    assert_true(is_excluded(&p));
    queue_goes(&p, 0, 100);
    assert_false(is_excluded(&p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_shows_bbr),
        cmocka_unit_test(flows_that_yield_to_losses_do_not_show_as_bbr),
        cmocka_unit_test(a_queue_that_stands_too_long_excludes_bbr),
        cmocka_unit_test(streams_that_come_and_go_do_not_show_as_bbr),
        cmocka_unit_test(a_short_queue_says_nothing),
        cmocka_unit_test(bbr_is_forgotten_when_it_no_longer_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

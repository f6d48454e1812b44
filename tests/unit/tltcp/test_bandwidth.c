/* SPDX-License-Identifier: MPL-2.0 */
/* The bandwidth estimate over hours; the rest is tested in the virtual
 * network. */
#include <math.h>

#include "libtltcp/engine/bandwidth.h"
#include "tests/support/cmocka.h"

#define MS ((cong_time)TLTCP_MS)
#define STEP (100 * MS)
#define RATE 1e6 /* bytes/s */

struct path {
    tltcp__bandwidth c;
    struct cong cong;
    struct cong_rtt rtt;
    cong_time now;
    double loss; /* share of what is sent */
};

static void begin(struct path *p) {
    *p = (struct path){.cong = {.mss = 1200, .cwnd = 150000},
                       .rtt = {.srtt = 50 * MS, .min_rtt = 50 * MS}};
    tltcp__bandwidth_init(&p->c, 0, 0);
}

/* An ACK every 100 ms, of a stream at so much of RATE. */
static void flow(struct path *p, unsigned seconds, cong_time rtt, double part) {
    bool all = part >= 1;
    struct cong_rate_sample rs = {
        .rate = part * RATE, .app_limited = !all, .tx_in_flight = 100000};
    for (unsigned i = 0; i < 10 * seconds; i++) {
        struct cong_ack ack = {.now = p->now += STEP,
                               .rtt = rtt,
                               .min_rtt = 50 * MS,
                               .srtt = rtt,
                               .acked = part * RATE / 10,
                               .lost = p->loss * part * RATE / 10,
                               .rs = &rs,
                               .limited = all};
        p->rtt.srtt = rtt;
        tltcp__bandwidth_on_ack(&p->c, &p->cong, &p->rtt, &ack, 0);
    }
}

TEST(a_queue_after_hours_without_one_shows_the_rate) {
    struct path p;
    begin(&p);
    flow(&p, 5, 100 * MS, 1);
    assert_true(fabs(p.c.rate / RATE - 1) < 0.05);
    flow(&p, 5 * 3600, 50 * MS, 0.5);
    assert_true(isfinite(p.c.rate));
    flow(&p, 5, 100 * MS, 1);
    assert_true(fabs(p.c.rate / RATE - 1) < 0.05);
}

/* ACKs of an application that is the limit, every 10 ms; the RTT moves by so
 * much per time. */
static void drift(struct path *p, unsigned ms, cong_time rtt, double moves,
                  double part) {
    struct cong_rate_sample rs = {
        .rate = part * RATE, .app_limited = true, .tx_in_flight = RATE};
    for (unsigned i = 0; i < ms / 10; i++) {
        cong_time now = rtt + (cong_time)(moves * 10 * (double)(i * MS));
        struct cong_ack ack = {.now = p->now += 10 * MS,
                               .rtt = now,
                               .min_rtt = 50 * MS,
                               .srtt = now,
                               .acked = part * RATE / 100,
                               .lost = p->loss * part * RATE / 100,
                               .rs = &rs};
        p->rtt.srtt = now;
        tltcp__bandwidth_on_ack(&p->c, &p->cong, &p->rtt, &ack, 0);
    }
}

/* The path has come to carry 7 % less; the application sends 3 % more than it
 * does. */
TEST(a_queue_of_ours_that_grows_slowly_shows_the_limit) {
    struct path p;
    begin(&p);
    flow(&p, 5, 100 * MS, 1);
    drift(&p, 3000, 100 * MS, 0.03, 0.93);
    assert_true(fabs(p.c.rate / RATE - 0.93) < 0.01);
}

TEST(a_slow_change_of_the_queue_of_others_shows_nothing) {
    struct path p;
    begin(&p);
    flow(&p, 5, 100 * MS, 1);
    p.c.t_foreign = p.now;
    drift(&p, 3000, 100 * MS, 0.03, 0.93);
    assert_true(p.c.rate / RATE > 0.99);
}

TEST(a_queue_that_does_not_shrink_is_of_others) {
    static const struct {
        double moves; /* of the RTT, per time */
        bool foreign;
    } rows[] = {{-0.1, true}, {-0.3, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct path p;
        begin(&p);
        flow(&p, 5, 600 * MS, 1);
        drift(&p, 1200, 600 * MS, rows[i].moves, 0.65);
        assert_int_equal(p.c.t_foreign >= 0, rows[i].foreign);
    }
}

/* 1200 bytes take 24 ms of a path of 50 kB/s. */
TEST(a_packet_on_its_way_is_no_queue) {
    struct path p;
    double before;
    begin(&p);
    p.c.rate = 0.05 * RATE;
    before = p.c.rate;
    drift(&p, 20000, 74 * MS, 0, 0.03);
    assert_true(p.c.rate > before);
    before = p.c.rate;
    drift(&p, 20000, 98 * MS, 0, 0.03); /* two are */
    assert_true(p.c.rate <= before * 1.01);
}

/* Losses make the measured rate scatter. It must not pass for a path that has
 * come to carry more, which is then tried. */
TEST(a_change_counts_only_if_it_is_larger_than_losses_explain) {
    static const struct {
        double loss, part;
        bool foreign, changes;
    } rows[] = {{0, 0.95, false, false},
                {0, 0.83, false, true},
                {0.01, 0.83, false, false},
                {0.01, 0.83, true, true},
                {0.01, 0.6, false, true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct path p;
        begin(&p);
        p.loss = rows[i].loss;
        flow(&p, 5, 100 * MS, 1);
        p.c.t_foreign = rows[i].foreign ? p.now : -1;
        p.c.t_changed = -1;
        drift(&p, 3000, 100 * MS, 0.13, rows[i].part);
        assert_true(fabs(p.c.rate / RATE - rows[i].part) < 0.01);
        assert_int_equal(p.c.t_changed >= 0, rows[i].changes);
    }
}

TEST(a_verdict_takes_at_least_a_round_trip) {
    struct path p;
    begin(&p);
    p.rtt.min_rtt = 300 * MS;
    drift(&p, 3000, 310 * MS, 0, 1);
    assert_true(p.c.last.seconds >= 0.3 && p.c.last.seconds < 0.45);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_after_hours_without_one_shows_the_rate),
        cmocka_unit_test(a_queue_of_ours_that_grows_slowly_shows_the_limit),
        cmocka_unit_test(a_slow_change_of_the_queue_of_others_shows_nothing),
        cmocka_unit_test(a_queue_that_does_not_shrink_is_of_others),
        cmocka_unit_test(a_packet_on_its_way_is_no_queue),
        cmocka_unit_test(
            a_change_counts_only_if_it_is_larger_than_losses_explain),
        cmocka_unit_test(a_verdict_takes_at_least_a_round_trip),
    };
    return cmocka_run_group_tests_name("bandwidth", tests, NULL, NULL);
}

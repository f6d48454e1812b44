/* SPDX-License-Identifier: MPL-2.0 */
/* The highest rate of delivery. */
#include "libcongestion/peak_rate.h"
#include "tests/support/cmocka.h"

#include <math.h>

#define MS 1000000
#define PACKET 1200.0
#define BASE (40 * MS)
#define SHORT (20.0 * MS) /* queue: 16 packets at the rate below */
#define LONG (200.0 * MS)
#define RATE 1e-3 /* bytes/ns: 8 Mbit/s */
#define TIGHT 1.2
#define OPEN 2

/* Feedback at a rate; the RTT changes by this much each 10 ms. */
static cong_time deliver(struct cong__peak_rate *p, cong_time from, int spans,
                         double rate, double change) {
    double rtt = 2.0 * BASE;
    for (int i = 0; i < spans * 10; i++) {
        struct cong_ack ack = {.now = from + (i + 1) * (cong_time)MS,
                               .rtt = (cong_time)rtt,
                               .min_rtt = BASE,
                               .acked = rate * MS};
        cong__peak_rate_ack(p, &ack, PACKET);
        rtt += i / 100 % 2 == 0 ? change / 10 : -change / 10;
    }
    return from + spans * 10 * (cong_time)MS;
}

TEST(a_rate_that_is_reached_again_and_again_is_that_of_the_link) {
    struct cong__peak_rate p = {.delivered = 0};
    cong_time now = deliver(&p, MS, 3, RATE, 2 * MS);
    assert_true(cong__peak_rate_room(&p, SHORT, PACKET) >= OPEN);
    (void)deliver(&p, now, 10, RATE, 2 * MS);
    assert_true(fabs(cong__peak_rate(&p) - RATE) < 0.01 * RATE);
    assert_true(fabs(cong__peak_rate_shown(&p) - RATE) < 0.01 * RATE);
    assert_true(cong__peak_rate_room(&p, SHORT, PACKET) < TIGHT);
    /* a long queue shows the link's rate in other ways */
    assert_true(cong__peak_rate_room(&p, LONG, PACKET) > TIGHT);
    assert_true(cong__peak_rate_room(&p, LONG, PACKET) < OPEN);
}

TEST(packets_that_arrive_as_they_were_sent_say_nothing_about_the_link) {
    struct cong__peak_rate p = {.delivered = 0};
    (void)deliver(&p, MS, 50, RATE, 0);
    assert_true(fabs(cong__peak_rate(&p) - RATE) < 0.01 * RATE);
    assert_true(cong__peak_rate_shown(&p) <= 0);
    assert_true(cong__peak_rate_room(&p, SHORT, PACKET) >= OPEN);
}

TEST(a_higher_rate_ends_what_a_lower_one_seemed_to_show) {
    struct cong__peak_rate p = {.delivered = 0};
    cong_time now = deliver(&p, MS, 20, 0.7 * RATE, 2 * MS);
    (void)deliver(&p, now, 2, RATE, 2 * MS);
    assert_true(cong__peak_rate_room(&p, SHORT, PACKET) >= OPEN);
}

TEST(an_old_rate_is_forgotten) {
    struct cong__peak_rate p = {.delivered = 0};
    cong_time now = deliver(&p, MS, 20, RATE, 2 * MS);
    (void)deliver(&p, now, 2200, 0.5 * RATE, 2 * MS);
    assert_true(fabs(cong__peak_rate(&p) - 0.5 * RATE) < 0.01 * RATE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_rate_that_is_reached_again_and_again_is_that_of_the_link),
        cmocka_unit_test(
            packets_that_arrive_as_they_were_sent_say_nothing_about_the_link),
        cmocka_unit_test(a_higher_rate_ends_what_a_lower_one_seemed_to_show),
        cmocka_unit_test(an_old_rate_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

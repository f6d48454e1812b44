/* SPDX-License-Identifier: MPL-2.0 */
/* What is believed of a path over hours; the rest is seen in the virtual
 * network. */
#include <math.h>

#include "libtltcp/capacity.h"
#include "tests/support/cmocka.h"

#define MS ((cong_time)TLTCP_MS)
#define STEP (100 * MS)
#define RATE 1e6 /* bytes/s */

struct path {
    tltcp__capacity c;
    struct cong cong;
    struct cong_rtt rtt;
    cong_time now;
};

static void begin(struct path *p) {
    *p = (struct path){.cong = {.mss = 1200, .cwnd = 150000},
                       .rtt = {.srtt = 50 * MS, .min_rtt = 50 * MS}};
    tltcp__capacity_init(&p->c, 0, 0);
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
                               .rs = &rs,
                               .limited = all};
        p->rtt.srtt = rtt;
        tltcp__capacity_on_ack(&p->c, &p->cong, &p->rtt, &ack, 0);
    }
}

static void a_queue_after_hours_without_one_shows_the_rate(void **state) {
    struct path p;
    (void)state;
    begin(&p);
    flow(&p, 5, 100 * MS, 1);
    assert_true(fabs(p.c.rate / RATE - 1) < 0.05);
    flow(&p, 5 * 3600, 50 * MS, 0.5);
    assert_true(isfinite(p.c.rate));
    flow(&p, 5, 100 * MS, 1);
    assert_true(fabs(p.c.rate / RATE - 1) < 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_after_hours_without_one_shows_the_rate),
    };
    return cmocka_run_group_tests_name("capacity", tests, NULL, NULL);
}

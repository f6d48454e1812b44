/* SPDX-License-Identifier: MPL-2.0 */
/* Controllers that hear of each packet, and others that hear of a round trip's
 * packets at once. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"

#include <math.h>

#define SEEDS 12

/* One round trip: the whole window is acknowledged, by single ACKs or at once.
 */
static void mirror_round(struct rig *r, bool single, cong_time rtt) {
    double left = floor(r->cc->cwnd);
    double n = single ? 1 : left;
    cong_time begin = r->now;
    r->ack.flight = left;
    r->rs = (struct cong_rate_sample){.rate = left * 1e9 / (double)rtt};
    for (unsigned k = 1; k * n <= left; k++) {
        double done = k * n;
        r->now = begin + (cong_time)((double)rtt * done / left);
        r->ack.round = done + n > left;
        r->ack.rs = r->ack.round ? &r->rs : NULL;
        rig_ack_rtt(r, n, rtt);
    }
    r->now = begin + rtt;
}

static void mirror_event(struct rig *r, unsigned which) {
    double flight = floor(r->cc->cwnd);
    switch (which) {
    case 0:
    case 1:
        rig_event(r, CONG_LOSS, flight, 1, 1);
        rig_event(r, CONG_RECOVERED, 0, 0, 0);
        break;
    case 2:
        rig_event(r, CONG_ECN, flight, 0, 1);
        rig_event(r, CONG_RECOVERED, 0, 0, 0);
        break;
    case 3:
        rig_event(r, CONG_RTO, flight, flight, 1);
        rig_event(r, CONG_RECOVERED, 0, 0, 0);
        break;
    default:
        rig_event(r, CONG_IDLE, 0, 0, 2);
        break;
    }
}

/* Saratoga's feedback is one STATUS per round trip, TLTCP's one ACK per packet.
 * Yam takes one step and FAST one RTT per feedback; Mod
 * WestwoodNew adds a pipe or none by the ratio of two rounds. */
TEST(aggregated_feedback_agrees_with_single_acks) {
    static const char *const names[] = {"auto",     "cubic", "newreno", "peach",
                                        "prague",   "reno",  "sack",    "tahoe",
                                        "westwood", "vegas"};
    for (size_t i = 0; i < 10 * SEEDS; i++) {
        uint64_t dice = i;
        struct rig one;
        struct rig all;
        rig_start_sized(&one, names[i % 10], 1, 500, -1);
        rig_start_sized(&all, names[i % 10], 1, 500, -1);
        for (unsigned n = 0; n < 120; n++) {
            cong_time rtt = MS((double)(100 + rig_draw(&dice) % 3));
            mirror_round(&one, true, rtt);
            mirror_round(&all, false, rtt);
            if (rig_draw(&dice) % 25 == 0) {
                unsigned which = (unsigned)(rig_draw(&dice) % 5);
                mirror_event(&one, which);
                mirror_event(&all, which);
            }
            if (fabs(one.cc->cwnd - all.cc->cwnd) > 0.05 * one.cc->cwnd + 2) {
                fail_msg("%s round %u: %g by single ACKs, %g at once",
                         names[i % 10], n, one.cc->cwnd, all.cc->cwnd);
            }
        }
        rig_stop(&one);
        rig_stop(&all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aggregated_feedback_agrees_with_single_acks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

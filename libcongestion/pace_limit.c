/* SPDX-License-Identifier: MPL-2.0 */
/* Limits the rate of trains on a long path. */
#include "libcongestion/pace_limit.h"

#define LONG 1.2e8 /* base RTT of a long path, ns */
#define UNFILLED 2 /* round trips in which the window was no limit */
#define GAIN 1.25  /* times the rate of the link, so that more can show */

double cong__pace_limit_ack(struct cong__pace_limit *l,
                            const struct cong_ack *ack, double base,
                            const struct cong__peak_rate *peak) {
    if (ack->limited) {
        l->unfilled = 0;
    } else if (ack->round && l->unfilled < UNFILLED) {
        l->unfilled++;
    }
    return base > LONG && l->unfilled == UNFILLED && peak != NULL
               ? GAIN * 1e9 * cong__peak_rate_shown(peak)
               : 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* How much of a window was recently in use. */
#include "libcongestion/recent_flight.h"

#include <math.h>

#define SPAN 2000000000 /* ns */

void cong__recent_flight_ack(struct cong__recent_flight *f,
                             const struct cong_ack *ack) {
    if (cong__elapsed(f->from, ack->now) == 0 &&
        cong__elapsed(ack->now, f->from) > SPAN) {
        f->before = f->most;
        f->most = 0;
        f->from = ack->now;
    }
    f->most = fmax(f->most, cong__clean(ack->flight));
}

double cong__recent_flight(const struct cong__recent_flight *f) {
    return fmax(f->most, f->before);
}

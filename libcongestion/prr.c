/* SPDX-License-Identifier: MPL-2.0 */
/* Proportional rate reduction (RFC 9937, with its conservative bound). */
#include <congestion/prr.h>

#include "libcongestion/internal.h"

#include <math.h>

void cong_prr_enter(struct cong_prr *p, double flight) {
    flight = cong__clean(flight);
    *p = (struct cong_prr){.fs = flight, .cwnd = flight};
}

/* Bytes that may leave now. */
static double prr_allowance(const struct cong_prr *p, double acked,
                            double flight, double ssthresh, double more) {
    if (flight > ssthresh) {
        return ceil(p->delivered * ssthresh / p->fs) - p->out;
    }
    double bound = fmax(p->delivered - p->out, acked) + more;
    return fmin(ssthresh - flight, bound);
}

void cong_prr_ack(struct cong_prr *p, double acked, double flight,
                  double ssthresh, double mss, bool advanced) {
    acked = cong__clean(acked);
    flight = cong__clean(flight);
    p->delivered += acked;
    if (p->fs < mss) {
        p->fs = mss;
    }
    double send = 0;
    if (acked > 0) {
        send = prr_allowance(p, acked, flight, cong__clean(ssthresh),
                             advanced ? mss : 0);
    }
    if (!(p->out > 0) && !(send > 0)) {
        send = mss;
    }
    p->cwnd = flight + fmax(send, 0);
}

void cong_prr_sent(struct cong_prr *p, double size) {
    p->out += cong__clean(size);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The throughput equation of RFC 5348 section 3.1 and its inverse. */
#include <congestion/tfrc.h>

#include "libcongestion/internal.h"

#include <math.h>

#define P_MIN 1e-9
#define HALVINGS 100

double cong_tfrc_rate(double s, cong_time rtt, double p, double b) {
    if (!(p > 0)) {
        return (double)INFINITY;
    }
    p = fmin(p, 1);
    double r = cong__seconds(rtt > 0 ? rtt : 1);
    double timeouts = 4 * r * 3 * sqrt(3 * b * p / 8) * p * (1 + 32 * p * p);
    return s / (r * sqrt(2 * b * p / 3) + timeouts);
}

double cong_tfrc_loss_rate(double s, cong_time rtt, double rate, double b) {
    double low = log(P_MIN);
    double high = 0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        /* The more loss, the lower the rate. */
        if (cong_tfrc_rate(s, rtt, exp(middle), b) > rate) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return exp(high);
}

double cong_tfrc_first_interval(double s, cong_time rtt, double x_recv) {
    double floor = 0.5 * s / cong__seconds(rtt > 0 ? rtt : 1);
    double rate = fmax(cong__clean(x_recv), floor);
    return 1 / cong_tfrc_loss_rate(s, rtt, rate, 1);
}

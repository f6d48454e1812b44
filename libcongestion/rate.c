/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Delivery-rate sampler (draft-cheng-iccrg-delivery-rate-estimation, as in
 * draft-ietf-ccwg-bbr).
 *
 * The longer of the time it took to send a flight and the time it took to
 * acknowledge it: compressed ACKs cannot make data appear delivered faster than
 * it was sent.
 */
#include <congestion/rate.h>

#include "libcongestion/internal.h"

void cong_rate_init(struct cong_rate *r) {
    *r = (struct cong_rate){.t_sent = -1};
}

void cong_rate_on_sent(struct cong_rate *r, struct cong_rate_snapshot *snap,
                       double flight, double size, cong_time now) {
    if (!(flight > 0)) {
        r->t_first = now;
        r->t_delivered = now;
    }
    *snap = (struct cong_rate_snapshot){
        .delivered = r->delivered,
        .lost = r->lost,
        .tx_in_flight = cong__clean(flight) + cong__clean(size),
        .t_delivered = r->t_delivered,
        .t_first = r->t_first,
        .t_sent = now,
        .app_limited = r->app_limited > 0,
    };
}

void cong_rate_on_acked(struct cong_rate *r,
                        const struct cong_rate_snapshot *snap, double size,
                        cong_time now) {
    r->delivered += cong__clean(size);
    r->t_delivered = now;
    if (snap->t_sent < r->t_sent) {
        return;
    }
    r->base = snap->delivered;
    r->base_lost = snap->lost;
    r->tx_in_flight = snap->tx_in_flight;
    r->send_elapsed = cong__elapsed(snap->t_sent, snap->t_first);
    r->ack_elapsed = cong__elapsed(now, snap->t_delivered);
    r->limited = snap->app_limited;
    r->t_sent = snap->t_sent;
    r->t_first = snap->t_sent;
}

void cong_rate_on_lost(struct cong_rate *r, double size) {
    r->lost += cong__clean(size);
}

bool cong_rate_sample(struct cong_rate *r, cong_time min_rtt,
                      struct cong_rate_sample *rs) {
    if (r->app_limited > 0 && r->delivered > r->app_limited) {
        r->app_limited = 0;
    }
    if (r->t_sent < 0) {
        return false;
    }
    r->t_sent = -1;
    cong_time interval =
        r->send_elapsed > r->ack_elapsed ? r->send_elapsed : r->ack_elapsed;
    if (interval <= 0 || interval < min_rtt) {
        return false;
    }
    *rs = (struct cong_rate_sample){
        .delivered = r->delivered - r->base,
        .tx_in_flight = r->tx_in_flight,
        .lost = r->lost - r->base_lost,
        .interval = interval,
        .app_limited = r->limited,
    };
    rs->rate = rs->delivered / cong__seconds(interval);
    return true;
}

void cong_rate_app_limited(struct cong_rate *r, double flight) {
    r->app_limited = r->delivered + cong__clean(flight);
    if (!(r->app_limited > 0)) {
        r->app_limited = 1;
    }
}

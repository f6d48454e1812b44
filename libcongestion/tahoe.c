/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Tahoe.
 *
 * Source: Tsai, Wang, Wang 2014 (the section on Tahoe); RFC 5681 for the
 * arithmetic.
 *
 * State: cwnd, ssthresh (bytes).  Parameters: iw (segments; 1 in the paper).
 *
 * Interpretations: the paper halves cwnd, RFC 5681 the flight; we halve the
 * flight, which is the same while the window is the limit. Timeouts follow the
 * rule of all window controllers. After a loss, a window of one segment tells
 * the host to close the recovery period and to retransmit everything not known
 * to be delivered.  An ECN mark halves without slow start: nothing was lost.
 */
#include "libcongestion/internal.h"

static void tahoe_init(struct cong *cc, cong_time now, cong_time rtt) {
    (void)rtt;
    cong__window_init((struct window *)cc, now);
    ((struct window *)cc)->hystart.on = 0;
}

static void tahoe_ack(struct cong *cc, const struct cong_ack *ack) {
    cong__grow(cc, cong__hystart_growth((struct window *)cc, ack));
}

static void tahoe_event(struct cong *cc, const struct cong_event *ev) {
    double flight = cong__clean(ev->flight);
    switch (ev->cause) {
    case CONG_LOSS:
        cong__set_ssthresh(cc, flight / 2);
        cong__set_cwnd(cc, cc->mss);
        break;
    case CONG_ECN:
        cong__cut(cc, flight / 2);
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, flight / 2);
        break;
    case CONG_IDLE:
        cong__idle((struct window *)cc, ev);
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
    case CONG_UNDO:
        break;
    }
}

static int tahoe_set(struct cong *cc, const char *param, double value) {
    return cong__set_window_param((struct window *)cc, NULL, 0, param, value);
}

const struct cong_ops cong__tahoe = {
    .name = "tahoe",
    .size = sizeof(struct window),
    .init = tahoe_init,
    .ack = tahoe_ack,
    .event = tahoe_event,
    .set = tahoe_set,
};

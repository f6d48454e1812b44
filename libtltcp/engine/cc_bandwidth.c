/* SPDX-License-Identifier: MPL-2.0 */
/* What the host of a controller knows of the bandwidth. */
#include "libtltcp/engine/cc.h"

void tltcp__cc_restart_bandwidth(tltcp__cc *cc, tltcp_time now) {
    if (cc->bandwidth != NULL) {
        tltcp__bandwidth_init(cc->bandwidth, cc->max_rate, now);
    }
}

void tltcp__cc_learn_bandwidth(tltcp__cc *cc, const struct cong_ack *ack) {
    if (cc->bandwidth == NULL) {
        return;
    }
    if (!tltcp__route_is_in_doubt(&cc->route)) {
        cc->known = cc->bandwidth->rate;
    }
    tltcp__bandwidth_on_ack(cc->bandwidth, cc->cong, &cc->rtt, ack, cc->held);
}

void tltcp__cc_estimate_bandwidth(tltcp__cc *cc, tltcp_time heard,
                                  tltcp_time now) {
    const struct cong_ack newest = {.now = (cong_time)heard,
                                    .rtt = cc->rtt.latest,
                                    .acked = cc->rate.delivered};
    if (cc->bandwidth != NULL) {
        return;
    }
    cc->bandwidth = cmn__alloc(cc->mem, sizeof(*cc->bandwidth));
    tltcp__cc_restart_bandwidth(cc, now);
    if (heard > 0) {
        tltcp__cc_learn_bandwidth(cc, &newest);
    }
}

void tltcp__cc_forget_bandwidth(tltcp__cc *cc) {
    if (cc->bandwidth != NULL && !tltcp__bandwidth_is_known(cc->bandwidth)) {
        cmn__free(cc->mem, cc->bandwidth);
        cc->bandwidth = NULL;
    }
}

const tltcp__bandwidth *tltcp__cc_bandwidth(const tltcp__cc *cc) {
    static const tltcp__bandwidth unknown = TLTCP__BANDWIDTH_UNKNOWN;
    return cc->bandwidth != NULL ? cc->bandwidth : &unknown;
}

double tltcp__cc_offered(const tltcp__cc *cc) {
    return tltcp__bandwidth_offered(tltcp__cc_bandwidth(cc), cc->cong,
                                    cc->max_rate, cc->rtt.srtt);
}

double tltcp__cc_estimated(const tltcp__cc *cc) {
    return cc->bandwidth != NULL ? tltcp__bandwidth_estimate(cc->bandwidth)
           : cc->rtt.srtt > 0    ? tltcp__cc_offered(cc)
                                 : 0;
}

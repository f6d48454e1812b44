/* SPDX-License-Identifier: MPL-2.0 */
/* RTT estimator and retransmission timeout (RFC 6298). */
#include <congestion/rtt.h>

#define SECOND INT64_C(1000000000)
#define RTO_MAX (60 * SECOND)
/* Keeps every sum and doubling below the range of the type. */
#define SAMPLE_MAX (INT64_C(3600) * SECOND)

static cong_time at_most(cong_time a, cong_time b) {
    return a < b ? a : b;
}

static cong_time at_least(cong_time a, cong_time b) {
    return a > b ? a : b;
}

void cong_rtt_init(struct cong_rtt *r, cong_time granularity,
                   cong_time rto_min) {
    *r = (struct cong_rtt){
        .srtt = -1,
        .min_rtt = -1,
        .latest = -1,
        .granularity = at_least(granularity, 0),
        .rto_min = at_most(at_least(rto_min, 0), RTO_MAX),
        .rto_max = RTO_MAX,
    };
}

void cong_rtt_sample(struct cong_rtt *r, cong_time sample) {
    if (sample <= 0) {
        return;
    }
    sample = at_most(sample, SAMPLE_MAX);
    r->latest = sample;
    r->backoff = 0;
    if (r->min_rtt < 0 || sample < r->min_rtt) {
        r->min_rtt = sample;
    }
    if (r->srtt < 0) {
        r->srtt = sample;
        r->rttvar = sample / 2;
        return;
    }
    cong_time off = sample - r->srtt;
    r->rttvar += ((off < 0 ? -off : off) - r->rttvar) / 4;
    r->srtt += off / 8;
}

cong_time cong_rtt_rto(const struct cong_rtt *r) {
    cong_time rto = SECOND;
    if (r->srtt >= 0) {
        cong_time spread = at_least(r->granularity, 4 * r->rttvar);
        rto = at_least(r->srtt + spread, r->rto_min);
    }
    for (unsigned i = 0; i < r->backoff && rto < r->rto_max; i++) {
        rto *= 2;
    }
    return at_most(rto, r->rto_max);
}

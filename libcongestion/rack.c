/* SPDX-License-Identifier: MPL-2.0 */
/* RACK loss detection and the timing of tail probes (RFC 8985). */
#include <congestion/rack.h>

#include "libcongestion/internal.h"

#define CLEAN_RECOVERIES 16
#define REO_MULT_MAX 255
#define SECOND INT64_C(1000000000)

void cong_rack_init(struct cong_rack *r) {
    *r = (struct cong_rack){.t_sent = -1, .rtt = -1, .reo_mult = 1};
}

void cong_rack_delivered(struct cong_rack *r, cong_time t_sent, cong_time rtt) {
    if (t_sent > r->t_sent && rtt >= 0) {
        r->t_sent = t_sent;
        r->rtt = rtt;
    }
}

void cong_rack_reordered(struct cong_rack *r, bool spurious) {
    r->reordering = true;
    if (!spurious) {
        return;
    }
    r->clean = 0;
    if (r->reo_mult < REO_MULT_MAX) {
        r->reo_mult++;
    }
}

void cong_rack_recovered(struct cong_rack *r) {
    if (++r->clean >= CLEAN_RECOVERIES) {
        r->clean = 0;
        r->reo_mult = 1;
    }
}

cong_time cong_rack_reo(const struct cong_rack *r, cong_time min_rtt,
                        cong_time srtt, bool urgent) {
    if (!r->reordering && urgent) {
        return 0;
    }
    if (min_rtt <= 0) {
        return 0;
    }
    cong_time reo = min_rtt / 4;
    reo = reo <= INT64_MAX / REO_MULT_MAX ? reo * (cong_time)r->reo_mult
                                          : INT64_MAX;
    return srtt >= 0 && reo > srtt ? srtt : reo;
}

cong_time cong_rack_deadline(const struct cong_rack *r, cong_time t_sent,
                             cong_time reo) {
    if (r->t_sent < 0 || t_sent >= r->t_sent) {
        return -1;
    }
    return cong__later(cong__later(t_sent, r->rtt), reo > 0 ? reo : 0);
}

cong_time cong_rack_pto(cong_time srtt, cong_time rto, cong_time max_ack_delay,
                        bool one_out) {
    cong_time pto = SECOND;
    if (srtt >= 0) {
        pto = cong__later(srtt, srtt);
        if (one_out && max_ack_delay > 0) {
            pto = cong__later(pto, max_ack_delay);
        }
    }
    return rto >= 0 && pto > rto ? rto : pto;
}

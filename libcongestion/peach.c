/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Peach.
 *
 * Source: Akyildiz, Morabito, Palazzo 2001, as described by Tsai, Wang, Wang
 * 2014.  Dummies are copies of the last packet that congested routers drop
 * first; acknowledged dummies prove spare capacity.
 *
 * State: cwnd, ssthresh (bytes); cong::probes (dummies still to send, the
 * paper's adsn, counted down by the host); cong::probe_gap; ignore (dummies
 * that prove nothing, the paper's wdsn); asked, back and probed (the newest
 * dummies: how many, how many were acknowledged, since when); rtt (newest
 * smoothed RTT). Parameters: iw (segments, only after a silence), rwnd
 * (segments; limit of Sudden Start; by default what cwnd_max allows, at most
 * 64).
 *
 * Interpretations: the first half of the dummies of a Rapid Recovery only shows
 * that the capacity freed by halving is free, so the window grows back to its
 * old size and not to 3/2 of it. Dummies are spaced evenly over a round trip.
 * Dummies of the previous reduction that are still in flight prove nothing.
 * rwnd limits the dummies of Sudden Start; cwnd_max limits the window. A
 * feedback grows the window by its data first, then by its dummies. An undo
 * cancels the unsent dummies and ignores those in flight.
 *
 * For research only: without routers that honour the priority, dummies are
 * plain load.
 */
#include "libcongestion/internal.h"

#include <math.h>

#define RWND_DEFAULT 64
#define PROBES_MAX 65536
#define PROBE_RTTS 4 /* one to send them, one for their ACKs, and a margin */
#define RTT_UNKNOWN INT64_C(1000000000)

struct peach {
    struct window w;
    double rwnd;
    cong_time rtt;
    cong_time probed; /* when the newest dummies were requested */
    unsigned asked;   /* how many were requested, ... */
    unsigned back;    /* ... and how many were acknowledged */
    unsigned ignore;
    bool started; /* Sudden Start has begun */
    bool used;    /* a feedback or an event was seen */
};

static const struct cong__param params[] = {
    CONG__PARAM(peach, rwnd, "rwnd", 1, 65536),
};

static void peach_probe(struct peach *p, double count, double over,
                        cong_time now) {
    cong_time rtt = p->rtt > 0 ? p->rtt : RTT_UNKNOWN;
    p->w.cc.probes = (unsigned)fmin(count, PROBES_MAX);
    p->w.cc.probe_gap = cong__to_time((double)rtt / fmax(over, 1));
    p->asked = p->w.cc.probes;
    p->back = 0;
    p->probed = now;
}

/* Dummies in flight. */
static unsigned peach_probes_out(const struct peach *p, cong_time now) {
    cong_time rtt = p->rtt > 0 ? p->rtt : RTT_UNKNOWN;
    double age = cong__seconds(cong__elapsed(now, p->probed));
    unsigned gone = p->back + p->w.cc.probes;
    return age <= PROBE_RTTS * cong__seconds(rtt) && p->asked > gone
               ? p->asked - gone
               : 0;
}

static void peach_sudden_start(struct peach *p, cong_time now) {
    p->started = true;
    peach_probe(p, floor(p->rwnd) - 1, floor(p->rwnd), now);
}

static void peach_init(struct cong *cc, cong_time now, cong_time rtt) {
    struct peach *p = (struct peach *)cc;
    cong__window_init(&p->w, now);
    cong__set_cwnd(cc, cc->mss);
    p->rwnd = fmin(RWND_DEFAULT, cc->cwnd_max / cc->mss);
    p->rtt = rtt;
    if (rtt > 0) {
        peach_sudden_start(p, now);
    }
}

static void peach_ack(struct cong *cc, const struct cong_ack *ack) {
    struct peach *p = (struct peach *)cc;
    cong_time now = cong__clock_read(&p->w.clock, ack->now);
    p->used = true;
    if (ack->srtt > 0 || ack->rtt > 0) {
        p->rtt = ack->srtt > 0 ? ack->srtt : ack->rtt;
    }
    cong__set_cwnd(cc, cc->cwnd + cc->mss * cong__growth(ack) / cc->cwnd);
    p->back += ack->probes_acked < PROBES_MAX ? ack->probes_acked : PROBES_MAX;
    unsigned ignored = ack->probes_acked;
    if (ignored > p->ignore) {
        ignored = p->ignore;
    }
    p->ignore -= ignored;
    cong__set_cwnd(cc, cc->cwnd + (ack->probes_acked - ignored) * cc->mss);
    if (!p->started && p->rtt > 0) {
        peach_sudden_start(p, now);
    }
}

static void peach_rapid_recovery(struct peach *p, cong_time now) {
    struct cong *cc = &p->w.cc;
    double segments = cc->cwnd / cc->mss;
    unsigned out = peach_probes_out(p, now);
    peach_probe(p, floor(segments), floor(segments), now);
    p->ignore = out + (unsigned)fmin(segments / 2, PROBES_MAX);
    cong__cut(cc, cc->cwnd / 2);
}

static void peach_event(struct cong *cc, const struct cong_event *ev) {
    struct peach *p = (struct peach *)cc;
    cong_time now = cong__clock_read(&p->w.clock, ev->now);
    p->used = true;
    switch (ev->cause) {
    case CONG_LOSS:
        peach_rapid_recovery(p, now);
        break;
    case CONG_ECN:
        cong__cut(cc, cc->cwnd / 2);
        p->ignore = peach_probes_out(p, now);
        cc->probes = 0;
        break;
    case CONG_RTO:
        cong__timeout(cc, ev, cong__clean(ev->flight) / 2);
        p->ignore = peach_probes_out(p, now);
        peach_sudden_start(p, now);
        break;
    case CONG_IDLE:
        cong__idle(&p->w, ev);
        cc->probes = 0;
        break;
    case CONG_UNDO:
        cc->probes = 0;
        p->ignore = (unsigned)fmin(cc->cwnd / cc->mss, 65536);
        break;
    case CONG_RECOVERED:
    case CONG_NOFEEDBACK:
        break;
    }
}

static int peach_set(struct cong *cc, const char *param, double value) {
    struct peach *p = (struct peach *)cc;
    int result = cong__set_window_param(&p->w, params, CONG__COUNT(params),
                                        param, value);
    if (result == 0 && p->started && !p->used) {
        peach_sudden_start(p, p->probed);
    }
    return result;
}

const struct cong_ops cong__peach = {
    .name = "peach",
    .size = sizeof(struct peach),
    .init = peach_init,
    .ack = peach_ack,
    .event = peach_event,
    .set = peach_set,
};

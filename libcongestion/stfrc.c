/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The measurements of sender-based TFRC (Shahriar et al. 2011).
 *
 * The paper keeps what left between two requests as runs, since a record per
 * packet costs memory that grows with the bandwidth-delay product. Here, too,
 * runs are all that is kept: of what arrived within a fraction of an RTT, and
 * of what was lost in a row.  Within a run, times are interpolated.
 *
 * Interpretation: arrivals never go back, so that an RTT that shrinks between
 * two cycles does not reverse them.
 */
#include <congestion/stfrc.h>

#include "libcongestion/internal.h"

#include <congestion/tfrc.h>

#include <math.h>
#include <string.h>

#define RUNS_PER_RTT 24 /* at least; fewer than are kept */

void cong_stfrc_init(struct cong_stfrc *h, double s, double symmetry) {
    memset(h, 0, sizeof(*h));
    cong_loss_history_init(&h->history);
    h->s = s >= 1 ? s : 1;
    h->symmetry = fmin(cong__clean(symmetry), 1);
    h->rtt = -1;
    h->next = 1;
}

void cong_stfrc_set_rtt(struct cong_stfrc *h, cong_time rtt) {
    h->rtt = rtt > 0 ? rtt : -1;
}

static cong_time stfrc_arrival(const struct cong_stfrc *h, cong_time sent) {
    double forward = h->rtt > 0 ? h->symmetry * (double)h->rtt : 0;
    return cong__later(sent, (cong_time)forward);
}

/* Whether a run may take another packet: so short that interpolation hardly
 * errs, and so long that the runs kept cover an RTT. */
static bool stfrc_extends(const struct cong_stfrc *h,
                          const struct cong_stfrc_run *runs, unsigned n,
                          cong_time t) {
    return n > 0 && (h->rtt <= 0 || cong__elapsed(t, runs[n - 1].t_first) <=
                                        h->rtt / RUNS_PER_RTT);
}

/* Extends the newest run, or opens one in the free entry behind it. */
static void stfrc_append(struct cong_stfrc_run *runs, unsigned *n, bool extend,
                         const struct cong_stfrc_run *one) {
    if (extend) {
        struct cong_stfrc_run *r = &runs[*n - 1];
        r->count++;
        r->t_last = one->t_last > r->t_last ? one->t_last : r->t_last;
        r->bytes += one->bytes;
    } else {
        runs[(*n)++] = *one;
    }
}

static void stfrc_forget(struct cong_stfrc *h, unsigned n) {
    h->arrived_runs -= n;
    memmove(h->arrived, h->arrived + n, h->arrived_runs * sizeof(*h->arrived));
}

/* Makes one run of the two oldest. */
static void stfrc_merge(struct cong_stfrc *h) {
    struct cong_stfrc_run *into = &h->arrived[1];
    into->first = h->arrived[0].first;
    into->count += h->arrived[0].count;
    into->t_first = h->arrived[0].t_first;
    into->bytes += h->arrived[0].bytes;
    stfrc_forget(h, 1);
}

/* Bytes of a run that arrived after t. */
static double stfrc_bytes_after(const struct cong_stfrc_run *r, cong_time t) {
    double span = (double)cong__elapsed(r->t_last, r->t_first);
    double count = (double)r->count;
    if (r->t_first > t) {
        return r->bytes;
    }
    if (r->t_last <= t || count < 2) {
        return 0;
    }
    double before = floor((double)(t - r->t_first) * (count - 1) / span) + 1;
    return r->bytes * (count - fmin(before, count)) / count;
}

/* Bytes per second over the RTT up to t. */
static double stfrc_rate(struct cong_stfrc *h, cong_time t) {
    cong_time from = cong__earlier(t, h->rtt);
    unsigned old = 0;
    double bytes = 0;
    while (old < h->arrived_runs && h->arrived[old].t_last <= from) {
        old++;
    }
    stfrc_forget(h, old);
    for (unsigned i = 0; i < h->arrived_runs; i++) {
        bytes += stfrc_bytes_after(&h->arrived[i], from);
    }
    return bytes / cong__seconds(h->rtt);
}

/* Reports the losses of a run to the history, after all before them. */
static void stfrc_settle_run(struct cong_stfrc *h,
                             const struct cong_stfrc_run *r, double first) {
    double span = (double)cong__elapsed(r->t_last, r->t_first);
    double step = r->count > 1 ? span / (double)(r->count - 1) : 0;
    if (r->first > 1) {
        cong_loss_history_received(&h->history, r->first - 1);
    }
    for (uint64_t i = 0; i < r->count; i++) {
        cong_time t = cong__later(r->t_first, cong__to_time(step * (double)i));
        h->t_newest = t > h->t_newest ? t : h->t_newest;
        h->events += cong_loss_history_lost(&h->history, r->first + i,
                                            h->t_newest, h->rtt, first);
    }
}

static void stfrc_settle(struct cong_stfrc *h) {
    double first = cong_tfrc_first_interval(h->s, h->rtt, h->x_max);
    for (unsigned i = 0; i < h->lost_runs; i++) {
        stfrc_settle_run(h, &h->lost[i], first);
    }
    h->lost_runs = 0;
    if (h->next > 1) {
        cong_loss_history_received(&h->history, h->next - 1);
    }
}

void cong_stfrc_received(struct cong_stfrc *h, cong_time sent, double size) {
    cong_time t = stfrc_arrival(h, sent);
    const struct cong_stfrc_run one = {h->next++, 1, t, t, cong__clean(size)};
    h->was_lost = false;
    if (!(one.bytes > 0)) {
        return; /* it says nothing about the rate */
    }
    bool extend = stfrc_extends(h, h->arrived, h->arrived_runs, t);
    if (!extend && h->arrived_runs == CONG_STFRC_RUNS) {
        stfrc_merge(h);
    }
    stfrc_append(h->arrived, &h->arrived_runs, extend, &one);
    h->cycle_bytes += one.bytes;
}

void cong_stfrc_lost(struct cong_stfrc *h, cong_time sent) {
    cong_time t = stfrc_arrival(h, sent);
    const struct cong_stfrc_run one = {h->next, 1, t, t, 0};
    bool extend = h->was_lost && stfrc_extends(h, h->lost, h->lost_runs, t);
    if (!extend && h->lost_runs == CONG_STFRC_RUNS && h->rtt > 0) {
        h->x_max = fmax(h->x_max, stfrc_rate(h, t));
        stfrc_settle(h);
    }
    extend |= h->lost_runs == CONG_STFRC_RUNS; /* no RTT yet: one long run */
    stfrc_append(h->lost, &h->lost_runs, extend, &one);
    h->next++;
    h->was_lost = true;
}

/* Highest rate that the last answers report. */
static double stfrc_answered(struct cong_stfrc *h, cong_time since) {
    double most =
        since > 0 ? h->cycle_bytes / cong__seconds(since) : (double)INFINITY;
    h->answer[h->answers++ % CONG_STFRC_ANSWERS] = most;
    for (unsigned i = 0; i < CONG_STFRC_ANSWERS && i < h->answers; i++) {
        most = fmax(most, h->answer[i]);
    }
    return most;
}

void cong_stfrc_end(struct cong_stfrc *h, cong_time sent, cong_time since,
                    struct cong_stfrc_report *out) {
    cong_time t = stfrc_arrival(h, sent);
    cong_time span = h->t_cycle > 0 ? cong__elapsed(t, h->t_cycle) : 0;
    *out = (struct cong_stfrc_report){0, 0};
    if (h->rtt <= 0) {
        return;
    }
    out->x_recv = stfrc_rate(h, t);
    if (span > h->rtt) { /* a slow sender may have sent nothing in an RTT */
        out->x_recv = fmax(out->x_recv, h->cycle_bytes / cong__seconds(span));
    }
    h->t_cycle = t;
    h->x_max = fmax(h->x_max, out->x_recv);
    if (!h->was_lossy) { /* later the equation gives the rate */
        out->x_recv = fmin(out->x_recv, stfrc_answered(h, since));
    }
    stfrc_settle(h);
    out->p = cong_loss_history_rate(&h->history);
    h->cycle_bytes = 0;
    h->was_lossy = h->events > 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The measurements of a TFRC receiver (RFC 5348 sections 5.1, 5.2 and 6).
 *
 * Numbers above the third highest received are undecided (at most two packets).
 * Everything below was reported to the history.
 */
#include <congestion/tfrc.h>

#include "libcongestion/internal.h"

#include <math.h>

/* Groups losses until the sender has an RTT. */
#define RTT_UNKNOWN INT64_C(500000000)
/* Limit of the loss events in one gap; the history holds fewer. */
#define EVENTS_PER_GAP 16

void cong_tfrc_receiver_init(struct cong_tfrc_receiver *r, double s,
                             uint64_t first) {
    *r = (struct cong_tfrc_receiver){
        .s = s >= 1 ? s : 1, .rtt = -1, .t_begin = -1};
    cong_loss_history_init(&r->history);
    for (int i = 0; i < 3; i++) {
        r->top[i] = (struct cong_tfrc_arrival){.time = -1};
    }
    /* The number before the first stands for everything earlier. */
    r->top[2].seq = first;
}

static cong_time receiver_rtt_in_use(const struct cong_tfrc_receiver *r) {
    return r->rtt > 0 ? r->rtt : RTT_UNKNOWN;
}

/* Bytes per second over roughly the last RTT. */
static double receiver_receive_rate(const struct cong_tfrc_receiver *r,
                                    cong_time now) {
    if (r->t_begin < 0) {
        return 0;
    }
    double span = cong__seconds(cong__elapsed(now, r->t_begin));
    double rtt = cong__seconds(receiver_rtt_in_use(r));
    double bytes = r->bytes;
    double before = cong__seconds(r->span_before);
    if (span < rtt && before > 0) {
        double part = fmin(rtt - span, before);
        bytes += r->before * part / before;
        span += part;
    }
    return span > 0 ? cong__clean(bytes / span) : 0;
}

static void receiver_report_lost(struct cong_tfrc_receiver *r, uint64_t seq,
                                 cong_time t_arrival, cong_time rtt,
                                 cong_time now) {
    double first = 1;
    if (!r->history.lossy) {
        double x = fmax(r->x_max, receiver_receive_rate(r, now));
        first = cong_tfrc_first_interval(r->s, receiver_rtt_in_use(r), x);
    }
    cong_loss_history_lost(&r->history, seq, t_arrival, rtt, first);
}

/* Index in a gap of the first number that arrives at `t` or later; numbers are
 * `step` apart, and the first is `step` after the start of the gap. */
static double receiver_place(double t, double step) {
    return step > 0 ? fmax(ceil(t / step) - 1, 0) : CONG_HUGE;
}

/* The numbers from..to-1 are lost; arrivals are interpolated from t0 (of the
 * number before) to t1 (of the number to). Reports only those that begin an
 * event. */
static void receiver_lose_gap(struct cong_tfrc_receiver *r, uint64_t from,
                              uint64_t to, cong_time t0, cong_time t1,
                              cong_time now) {
    double count = (double)(to - from);
    double span = (double)cong__elapsed(t1, t0);
    double step = span / (count + 1);
    double rtt =
        fmax((double)receiver_rtt_in_use(r), floor(span / EVENTS_PER_GAP));
    double nth = 0;
    cong_time at = cong__later(t0, cong__to_time(step));
    do {
        receiver_report_lost(r, from + (uint64_t)nth, at, cong__to_time(rtt),
                             now);
        cong_time next =
            cong__later(r->history.t_start, cong__to_time(rtt) + 1);
        nth = fmax(receiver_place((double)cong__elapsed(next, t0), step),
                   nth + 1);
        at = cong__later(t0, cong__to_time(fmin((nth + 1) * step, span)));
        at = at > next ? at : next;
    } while (nth < count && at < t1);
    cong_loss_history_received(&r->history, to - 1);
}

/* The packet is now the third highest: decides everything between it and its
 * predecessor. */
static void receiver_decide(struct cong_tfrc_receiver *r,
                            const struct cong_tfrc_arrival *former,
                            const struct cong_tfrc_arrival *p, cong_time now) {
    uint64_t from = former->time < 0 ? former->seq : former->seq + 1;
    cong_time t0 = former->time < 0 ? p->time : former->time;
    if (p->seq > from) {
        receiver_lose_gap(r, from, p->seq, t0, p->time, now);
    }
    if (p->marked) {
        receiver_report_lost(r, p->seq, p->time, receiver_rtt_in_use(r), now);
    } else {
        cong_loss_history_received(&r->history, p->seq);
    }
}

/* Whether a number is undecided and not yet seen. */
static bool receiver_is_new(const struct cong_tfrc_receiver *r, uint64_t seq) {
    const struct cong_tfrc_arrival *t = r->top;
    if (t[2].time < 0 ? seq < t[2].seq : seq <= t[2].seq) {
        return false;
    }
    return !(t[0].time >= 0 && t[0].seq == seq) &&
           !(t[1].time >= 0 && t[1].seq == seq);
}

static void receiver_insert(struct cong_tfrc_receiver *r, uint64_t seq,
                            bool marked, cong_time now) {
    struct cong_tfrc_arrival *t = r->top;
    struct cong_tfrc_arrival p = {.seq = seq, .time = now, .marked = marked};
    for (int i = 0; i < 2; i++) {
        if (t[i].time < 0 || p.seq > t[i].seq) {
            struct cong_tfrc_arrival swap = t[i];
            t[i] = p;
            p = swap;
        }
        if (p.time < 0) {
            return;
        }
    }
    struct cong_tfrc_arrival former = t[2];
    t[2] = p;
    receiver_decide(r, &former, &p, now);
}

/* Skips intervals without data, which give no report. */
static void receiver_skip_silence(struct cong_tfrc_receiver *r, cong_time now) {
    cong_time rtt = receiver_rtt_in_use(r);
    cong_time passed = cong__elapsed(now, r->t_begin);
    if (r->t_begin >= 0 && !(r->bytes > 0) && passed >= rtt) {
        r->t_begin = cong__earlier(now, passed % rtt);
        r->before = 0;
        r->span_before = rtt;
    }
}

void cong_tfrc_receiver_on_packet(struct cong_tfrc_receiver *r, uint64_t seq,
                                  double size, cong_time rtt, bool marked,
                                  cong_time now) {
    if (rtt > 0) {
        r->rtt = rtt;
    }
    receiver_skip_silence(r, now);
    r->bytes += cong__clean(size);
    if (receiver_is_new(r, seq)) {
        receiver_insert(r, seq, marked, now);
    }
    r->urgent = r->t_begin < 0 || r->rtt < 0 ||
                cong_loss_history_rate(&r->history) > r->p_reported;
}

cong_time cong_tfrc_receiver_due(const struct cong_tfrc_receiver *r,
                                 cong_time now) {
    if (r->urgent) {
        return now;
    }
    if (!(r->bytes > 0)) {
        return -1;
    }
    return cong__later(r->t_begin, receiver_rtt_in_use(r));
}

bool cong_tfrc_receiver_report(struct cong_tfrc_receiver *r, cong_time now,
                               struct cong_tfrc_report *out) {
    if (r->top[0].time < 0) {
        return false;
    }
    *out = (struct cong_tfrc_report){
        .seq = r->top[0].seq,
        .delay = cong__elapsed(now, r->top[0].time),
        .p = cong_loss_history_rate(&r->history),
        .x_recv = receiver_receive_rate(r, now),
    };
    r->x_max = fmax(r->x_max, out->x_recv);
    r->span_before = r->t_begin < 0 ? 0 : cong__elapsed(now, r->t_begin);
    r->before = r->bytes;
    r->bytes = 0;
    r->t_begin = now;
    r->p_reported = out->p;
    r->urgent = false;
    return true;
}

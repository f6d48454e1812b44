/* SPDX-License-Identifier: MPL-2.0 */
/* The log of transmissions and their fates. */
#include "libsaratoga/engine/sentlog.h"

#include <math.h>

#include <congestion/tfrc.h>

#define NS_PER_S 1e9
#define HOLDOVER_FROM 20 /* shorter cycles have no packets to spare */

typedef struct arrival {
    cong_time at;
    double bytes;
} arrival;

void saratoga__sentlog_init(saratoga__sentlog *log, const cmn__mem *mem,
                            uint64_t max, uint32_t max_holes) {
    *log = (saratoga__sentlog){.max = max};
    cmn__ring_init(&log->ring, mem, sizeof(saratoga__sent), 1);
    cmn__ring_init(&log->arrivals, mem, sizeof(arrival), 0);
    cmn__ranges_init(&log->later, mem, max_holes);
    cong_loss_history_init(&log->history);
}

void saratoga__sentlog_free(saratoga__sentlog *log) {
    if (log->ring.mem != NULL) {
        cmn__ring_free(&log->ring);
        cmn__ring_free(&log->arrivals);
        cmn__ranges_free(&log->later);
    }
}

const saratoga__sent *saratoga__sentlog_at(const saratoga__sentlog *log,
                                           uint64_t d) {
    return cmn__ring_at(&log->ring, d);
}

static void pop(saratoga__sentlog *log) {
    log->flight -= saratoga__sentlog_at(log, log->ring.head)->len;
    cmn__ring_pop(&log->ring);
}

uint64_t saratoga__sentlog_add(saratoga__sentlog *log,
                               const saratoga__sent *sent) {
    saratoga__sent *at;
    if (cmn__ring_len(&log->ring) >= log->max) {
        log->done = log->ring.head;
        pop(log);
    }
    at = cmn__ring_push(&log->ring);
    if (at == NULL) {
        return 0;
    }
    *at = *sent;
    log->flight += sent->len;
    log->again = sent->again ? log->ring.tail - 1 : log->again;
    return log->ring.tail - 1;
}

void saratoga__sentlog_give_up(saratoga__sentlog *log) {
    while (log->ring.head != log->ring.tail) {
        pop(log);
    }
    log->done = log->ring.tail - 1;
}

/* The first number whose field, which grows with the numbers, is above x. */
static uint64_t above(const saratoga__sentlog *log, uint64_t x, bool by_time) {
    uint64_t lo = log->ring.head;
    uint64_t hi = log->ring.tail;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        const saratoga__sent *s = saratoga__sentlog_at(log, mid);
        if ((by_time ? s->at : s->timestamp) > x) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

uint64_t saratoga__sentlog_by_timestamp(const saratoga__sentlog *log,
                                        uint64_t low, uint64_t high,
                                        uint64_t irt) {
    uint64_t d = above(log, high, false);
    uint64_t newest = 0;
    while (d > log->ring.head) {
        const saratoga__sent *s = saratoga__sentlog_at(log, --d);
        if (s->timestamp < low) {
            break;
        }
        if (s->offset + s->len == irt) {
            return d;
        }
        newest = newest != 0 ? newest : d;
    }
    return newest;
}

uint64_t saratoga__sentlog_by_end(const saratoga__sentlog *log, uint64_t irt) {
    for (uint64_t d = log->ring.tail; d > log->ring.head; d--) {
        const saratoga__sent *s = saratoga__sentlog_at(log, d - 1);
        if (s->asks && s->offset + s->len == irt) {
            return d - 1;
        }
    }
    return 0;
}

uint64_t saratoga__sentlog_by_time(const saratoga__sentlog *log,
                                   saratoga_time t) {
    uint64_t d = above(log, t, true);
    return d > log->ring.head ? d - 1 : 0;
}

saratoga_time saratoga__sentlog_next_ask(const saratoga__sentlog *log,
                                         uint64_t d) {
    uint64_t i = d + 1 > log->ring.head ? d + 1 : log->ring.head;
    for (; i < log->ring.tail; i++) {
        const saratoga__sent *s = saratoga__sentlog_at(log, i);
        if (s->asks) {
            return s->at;
        }
    }
    return SARATOGA_TIME_NEVER;
}

/* All parts of a hole list answer the same d. */
void saratoga__sentlog_answered(saratoga__sentlog *log, uint64_t d) {
    uint64_t from = log->later_to;
    log->later_hint = (cmn__ranges_hint){0, 0};
    if (log->later_d != d || from <= d) {
        cmn__ranges_clear(&log->later);
        log->later_d = d;
        from = d;
    }
    from = from + 1 > log->ring.head ? from + 1 : log->ring.head;
    for (uint64_t i = from; i <= log->again; i++) {
        const saratoga__sent *s = saratoga__sentlog_at(log, i);
        if (s->again && s->len > 0) {
            /* Without memory, some bytes are sent once more than necessary. */
            (void)cmn__ranges_add(&log->later, s->offset, s->offset + s->len,
                                  NULL);
        }
    }
    log->later_to = log->again > d ? log->again : d;
}

bool saratoga__sentlog_due(saratoga__sentlog *log, uint64_t from, uint64_t end,
                           cmn__range *piece) {
    cmn__range r;
    while (from < end &&
           cmn__ranges_near(&log->later, &log->later_hint, from, &r) &&
           r.start < end) {
        if (r.start > from) {
            end = r.start;
            break;
        }
        from = r.end;
    }
    *piece = (cmn__range){from, end};
    return from < end;
}

/* Iterates over the missing ranges, transmission by transmission. */
typedef struct look {
    const cmn__ranges *missing;
    cmn__ranges_hint hint;
    uint64_t from; /* start of the search: the first range that ends above
                      this */
    cmn__range r;  /* that range, or empty after the last */
} look;

static look look_at(const cmn__ranges *missing) {
    return (look){.missing = missing, .from = UINT64_MAX};
}

static bool is_missing(look *l, const saratoga__sent *s) {
    if (s->offset < l->from || s->offset >= l->r.end) {
        l->from = s->offset;
        if (!cmn__ranges_near(l->missing, &l->hint, s->offset, &l->r)) {
            l->r = (cmn__range){UINT64_MAX, UINT64_MAX};
        }
    }
    return s->len > 0 && l->r.start < s->offset + s->len;
}

/* The last transmission whose fate is known. The report does not cover data
 * beyond irt, and the requesting packet may have overtaken the last few. */
static uint64_t last_known(const saratoga__sentlog *log, uint64_t d,
                           uint64_t irt, const cmn__ranges *missing,
                           uint32_t holdover) {
    uint64_t first = log->ring.head;
    look l = look_at(missing);
    if (d - first >= HOLDOVER_FROM) {
        for (uint64_t i = d - holdover; i < d; i++) {
            if (is_missing(&l, saratoga__sentlog_at(log, i))) {
                d = i - 1;
                break;
            }
        }
    }
    for (uint64_t i = d; i >= first && d - i < HOLDOVER_FROM; i--) {
        const saratoga__sent *s = saratoga__sentlog_at(log, i);
        d = s->offset + s->len > irt ? i - 1 : d;
    }
    return d;
}

static cong_time arrival_time(saratoga__sentlog *log, const saratoga__sent *s,
                              cong_time forward) {
    cong_time t = (cong_time)s->at + forward;
    log->t_last = t > log->t_last ? t : log->t_last;
    return log->t_last;
}

/* Receive rate over the RTT up to t, bytes/s. */
static double receive_rate(saratoga__sentlog *log, cong_time t, cong_time rtt) {
    double bytes = 0;
    while (cmn__ring_len(&log->arrivals) > 0 &&
           ((arrival *)cmn__ring_at(&log->arrivals, log->arrivals.head))->at <=
               t - rtt) {
        cmn__ring_pop(&log->arrivals);
    }
    for (uint64_t i = log->arrivals.head; i < log->arrivals.tail; i++) {
        bytes += ((arrival *)cmn__ring_at(&log->arrivals, i))->bytes;
    }
    return bytes / ((double)rtt / NS_PER_S);
}

/* Highest rate that the last answers report, bytes/s. Arrival times inferred
 * from send times do not show a growing queue; answers do, but a machine that
 * answers late makes the rate look low. */
static double reported_rate(saratoga__sentlog *log, double bytes,
                            cong_time since) {
    double most =
        since > 0 ? bytes * NS_PER_S / (double)since : (double)INFINITY;
    log->rate[log->rates++ % SARATOGA__RATES] = most;
    for (unsigned i = 0; i < SARATOGA__RATES && i < log->rates; i++) {
        most = fmax(most, log->rate[i]);
    }
    return most;
}

/* Records the fate of transmission d. */
static bool settle(look *l, const saratoga__sent *s, uint64_t d,
                   saratoga__cycle *out) {
    bool lost = is_missing(l, s);
    if (lost) {
        out->first_lost = out->lost_packets == 0 ? d : out->first_lost;
        out->last_lost = d;
        out->lost_packets++;
        out->lost += s->len;
    } else {
        out->acked += s->len;
    }
    return lost;
}

/* Without an equation, arrival times do not matter: one pass suffices. */
static void settle_all(saratoga__sentlog *log, uint64_t last,
                       const cmn__ranges *missing, saratoga__cycle *out) {
    look l = look_at(missing);
    saratoga__cycle sum = *out;
    for (uint64_t d = log->ring.head; d <= last; d++) {
        (void)settle(&l, saratoga__sentlog_at(log, d), d, &sum);
    }
    log->flight -= (uint64_t)(sum.acked + sum.lost);
    log->ring.head = last + 1;
    *out = sum;
}

static void count(saratoga__sentlog *log, uint64_t last,
                  const cmn__ranges *missing, cong_time forward,
                  saratoga__cycle *out) {
    look l = look_at(missing);
    for (uint64_t d = log->ring.head; d <= last; d++) {
        saratoga__sent *s = cmn__ring_at(&log->ring, d);
        arrival *a;
        s->lost = settle(&l, s, d, out);
        a = s->lost ? NULL : cmn__ring_push(&log->arrivals);
        if (a != NULL) {
            *a = (arrival){(cong_time)s->at + forward, s->len};
        }
    }
}

static void report_history(saratoga__sentlog *log, uint64_t last,
                           const saratoga__path *path, cong_time forward) {
    double first = cong_tfrc_first_interval(path->mss, path->rtt, log->x_max);
    for (; log->ring.head <= last; pop(log)) {
        uint64_t d = log->ring.head;
        const saratoga__sent *s = saratoga__sentlog_at(log, d);
        cong_time t = arrival_time(log, s, forward);
        if (!s->lost) {
            cong_loss_history_received(&log->history, d);
        } else if (cong_loss_history_lost(&log->history, d, t, path->rtt,
                                          first)) {
            log->events++;
        }
    }
}

bool saratoga__sentlog_cycle(saratoga__sentlog *log, uint64_t d, uint64_t irt,
                             const cmn__ranges *missing,
                             const saratoga__path *path, saratoga__cycle *out) {
    cong_time forward = (cong_time)(path->symmetry * (double)path->rtt);
    uint64_t last;
    cong_time t;
    if (d < log->ring.head || d >= log->ring.tail || path->rtt <= 0) {
        return false;
    }
    t = (cong_time)saratoga__sentlog_at(log, d)->at + forward;
    last = last_known(log, d, irt, missing, path->holdover);
    if (last < log->ring.head) {
        return false;
    }
    *out = (saratoga__cycle){.first = log->ring.head,
                             .last = last,
                             .newest = log->ring.tail - 1,
                             .packets = last + 1 - log->ring.head};
    if (path->no_history) {
        settle_all(log, last, missing, out);
    } else {
        count(log, last, missing, forward, out);
    }
    out->x_recv = receive_rate(log, t, path->rtt);
    if (log->t_cycle > 0 && t > log->t_cycle &&
        (path->no_history || t - log->t_cycle > path->rtt)) {
        /* A slow sender may have sent nothing in the last RTT. */
        double whole = out->acked * NS_PER_S / (double)(t - log->t_cycle);
        out->x_recv = whole > out->x_recv ? whole : out->x_recv;
    }
    log->t_cycle = t;
    log->x_max = out->x_recv > log->x_max ? out->x_recv : log->x_max;
    if (log->events == 0) { /* later the equation gives the rate */
        out->x_recv =
            fmin(out->x_recv, reported_rate(log, out->acked, path->since));
    }
    if (!path->no_history) {
        report_history(log, last, path, forward);
    }
    out->p = cong_loss_history_rate(&log->history);
    log->done = last;
    return true;
}

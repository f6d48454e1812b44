/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/sentlog.h"

#include <congestion/tfrc.h>

#define NS_PER_S 1e9
#define HOLDOVER_FROM 20 /* shorter cycles have nothing to spare */

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
        if ((by_time ? s->at : s->stamp) > x) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

uint64_t saratoga__sentlog_by_stamp(const saratoga__sentlog *log, uint64_t low,
                                    uint64_t high, uint64_t irt) {
    uint64_t d = above(log, high, false);
    uint64_t newest = 0;
    while (d > log->ring.head) {
        const saratoga__sent *s = saratoga__sentlog_at(log, --d);
        if (s->stamp < low) {
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

/* All parts of a hole list ask about the same d. */
static void know_later(saratoga__sentlog *log, uint64_t d) {
    uint64_t from = log->later_to;
    if (log->later_d != d || from <= d) {
        cmn__ranges_clear(&log->later);
        log->later_d = d;
        from = d;
    }
    from = from + 1 > log->ring.head ? from + 1 : log->ring.head;
    for (uint64_t i = from; i <= log->again; i++) {
        const saratoga__sent *s = saratoga__sentlog_at(log, i);
        if (s->again && s->len > 0) {
            /* Without memory some bytes are sent once more than needed. */
            (void)cmn__ranges_add(&log->later, s->offset, s->offset + s->len,
                                  NULL);
        }
    }
    log->later_to = log->again > d ? log->again : d;
}

void saratoga__sentlog_spare(saratoga__sentlog *log, uint64_t d,
                             cmn__ranges *missing) {
    uint64_t at = 0;
    cmn__ranges_hint hint = {0, 0};
    cmn__ranges_hint hint_later = {0, 0};
    cmn__range r;
    cmn__range s;
    know_later(log, d);
    while (log->later.count > 0 && cmn__ranges_near(missing, &hint, at, &r)) {
        uint64_t from = r.start > at ? r.start : at;
        at = r.end;
        if (cmn__ranges_near(&log->later, &hint_later, from, &s) &&
            s.start < r.end) {
            /* At the limit of holes one is not split: go on behind it. */
            (void)cmn__ranges_sub(missing, s.start, s.end, NULL);
            at = s.end;
        }
    }
}

static bool is_missing(const cmn__ranges *missing, cmn__ranges_hint *hint,
                       const saratoga__sent *s) {
    cmn__range r;
    return s->len > 0 && cmn__ranges_near(missing, hint, s->offset, &r) &&
           r.start < s->offset + s->len;
}

/* The last transmission whose fate is known: what reaches beyond irt was not
 * reported on, and the last few may have been overtaken by the one that
 * asked. */
static uint64_t last_known(const saratoga__sentlog *log, uint64_t d,
                           uint64_t irt, const cmn__ranges *missing,
                           uint32_t holdover) {
    uint64_t first = log->ring.head;
    cmn__ranges_hint hint = {0, 0};
    if (d - first >= HOLDOVER_FROM) {
        for (uint64_t i = d - holdover; i < d; i++) {
            if (is_missing(missing, &hint, saratoga__sentlog_at(log, i))) {
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

/* Bytes received in the RTT up to t, per second. */
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

static void count(saratoga__sentlog *log, uint64_t last,
                  const cmn__ranges *missing, bool keeps, cong_time forward,
                  saratoga__cycle *out) {
    cmn__ranges_hint hint = {0, 0};
    for (uint64_t d = log->ring.head; d <= last; d++) {
        saratoga__sent *s = cmn__ring_at(&log->ring, d);
        arrival *a;
        s->lost = is_missing(missing, &hint, s);
        out->packets++;
        if (s->lost) {
            out->lost_packets++;
            out->lost += s->len;
            continue;
        }
        out->acked += s->len;
        a = keeps ? cmn__ring_push(&log->arrivals) : NULL;
        if (a != NULL) {
            *a = (arrival){(cong_time)s->at + forward, s->len};
        }
    }
}

static void tell_history(saratoga__sentlog *log, uint64_t last,
                         const saratoga__path *path, cong_time forward) {
    double first;
    if (path->no_history) {
        for (; log->ring.head <= last; pop(log)) {
        }
        return;
    }
    first = cong_tfrc_first_interval(path->mss, path->rtt, log->x_max);
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
    *out = (saratoga__cycle){.first = log->ring.head, .last = last};
    count(log, last, missing, !path->no_history, forward, out);
    out->x_recv = receive_rate(log, t, path->rtt);
    if (log->t_cycle > 0 && t > log->t_cycle &&
        (path->no_history || t - log->t_cycle > path->rtt)) {
        /* A slow sender has little, perhaps nothing, in the last RTT. */
        double whole = out->acked * NS_PER_S / (double)(t - log->t_cycle);
        out->x_recv = whole > out->x_recv ? whole : out->x_recv;
    }
    log->t_cycle = t;
    log->x_max = out->x_recv > log->x_max ? out->x_recv : log->x_max;
    tell_history(log, last, path, forward);
    out->p = cong_loss_history_rate(&log->history);
    log->done = last;
    return true;
}

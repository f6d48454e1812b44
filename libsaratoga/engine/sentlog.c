/* SPDX-License-Identifier: MPL-2.0 */
/* The log of transmissions and their fates. */
#include "libsaratoga/engine/sentlog.h"

#define NS_PER_S 1e9
#define HOLDOVER_FROM 20 /* shorter cycles have no packets to spare */

void saratoga__sentlog_init(saratoga__sentlog *log, const cmn__mem *mem,
                            uint64_t max, uint32_t max_holes) {
    *log = (saratoga__sentlog){.max = max};
    cmn__ring_init(&log->ring, mem, sizeof(saratoga__sent), 1);
    cmn__ranges_init(&log->later, mem, max_holes);
    cong_stfrc_init(&log->stfrc, 1, 0);
}

void saratoga__sentlog_free(saratoga__sentlog *log) {
    if (log->ring.mem != NULL) {
        cmn__ring_free(&log->ring);
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

/* The rate of a whole cycle, bytes/s. */
static double cycle_rate(const saratoga__sentlog *log, cong_time t,
                         double bytes) {
    return log->t_cycle > 0 && t > log->t_cycle
               ? bytes * NS_PER_S / (double)(t - log->t_cycle)
               : 0;
}

/* Reports each fate to the equation's loss history, in order. */
static void measure(saratoga__sentlog *log, uint64_t last,
                    const cmn__ranges *missing, saratoga__cycle *out) {
    look l = look_at(missing);
    for (; log->ring.head <= last; pop(log)) {
        const saratoga__sent *s = saratoga__sentlog_at(log, log->ring.head);
        if (settle(&l, s, log->ring.head, out)) {
            cong_stfrc_lost(&log->stfrc, (cong_time)s->at);
        } else {
            cong_stfrc_received(&log->stfrc, (cong_time)s->at, s->len);
        }
    }
}

static void set_path(struct cong_stfrc *h, const saratoga__path *path) {
    h->s = path->mss;
    h->symmetry = path->symmetry;
    cong_stfrc_set_rtt(h, path->rtt);
}

bool saratoga__sentlog_cycle(saratoga__sentlog *log, uint64_t d, uint64_t irt,
                             const cmn__ranges *missing,
                             const saratoga__path *path, saratoga__cycle *out) {
    struct cong_stfrc_report report = {0, 0};
    uint64_t last;
    cong_time at;
    if (d < log->ring.head || d >= log->ring.tail || path->rtt <= 0) {
        return false;
    }
    at = (cong_time)saratoga__sentlog_at(log, d)->at;
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
        report.x_recv = cycle_rate(log, at, out->acked);
    } else {
        set_path(&log->stfrc, path);
        measure(log, last, missing, out);
        cong_stfrc_end(&log->stfrc, at, path->since, &report);
    }
    log->t_cycle = at;
    out->p = report.p;
    out->x_recv = report.x_recv;
    log->done = last;
    return true;
}

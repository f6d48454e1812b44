/* SPDX-License-Identifier: MPL-2.0 */
/* Records which packets arrived, and writes ACK chunks. */
#include "libtltcp/engine/acks.h"

#include "libtltcp/engine/ecn.h"

#define SEEN_MAX 256u /* runs remembered */
#define SENT_MAX 32u  /* runs in one ACK after the first */
/* Packets after a hole that are acknowledged one by one, so that the sender
 * soon knows whether they were lost or overtaken. */
#define HURRY 3u
/* The first packets of a connection are not marked: then it is not yet known
 * whether the time makes ACKs longer. */
#define UNTIMED 8u
#define RUNS_DOUBLE 11u /* make an ACK twice as long on the wire */

void tltcp__acks_init(tltcp__acks *a, const cmn__mem *mem, uint32_t every,
                      tltcp_time max_delay) {
    *a = (tltcp__acks){
        .due = TLTCP_TIME_NEVER,
        .every = every,
        .max_delay = max_delay,
        .delay = max_delay,
    };
    cmn__ranges_init(&a->seen, mem, SEEN_MAX);
}

void tltcp__acks_free(tltcp__acks *a) {
    cmn__ranges_free(&a->seen);
}

bool tltcp__acks_seen(const tltcp__acks *a, uint64_t pn) {
    return pn < a->floor || (pn < a->largest && cmn__ranges_has(&a->seen, pn));
}

static void raise_floor(tltcp__acks *a, uint64_t floor) {
    if (floor > a->floor) {
        (void)cmn__ranges_sub(&a->seen, 0, floor, NULL); /* never splits a
                                                            range */
        a->floor = floor;
    }
}

static void forget_lowest(tltcp__acks *a) {
    cmn__range r;
    if (cmn__ranges_next(&a->seen, 0, &r)) {
        raise_floor(a, r.end);
    }
}

/* Where ACKs are to be few, longer ones are fewer. */
static tltcp_time acks_wait(const tltcp__acks *a) {
    tltcp_time wait = a->delay + a->delay * a->runs / RUNS_DOUBLE;
    return !a->calm                      ? a->delay
           : wait < TLTCP__ACK_DELAY_MAX ? wait
                                         : TLTCP__ACK_DELAY_MAX;
}

int tltcp__acks_on_packet(tltcp__acks *a, uint64_t pn, bool eliciting,
                          uint32_t ecn, tltcp_time now) {
    bool in_order = pn == a->largest;
    int rv = cmn__ranges_add(&a->seen, pn, pn + 1, NULL);
    if (rv == CMN__RANGES_FULL) {
        forget_lowest(a);
        rv = pn < a->floor ? 0 : cmn__ranges_add(&a->seen, pn, pn + 1, NULL);
    }
    if (rv != 0) {
        return TLTCP_ERR_NOMEM;
    }
    if (pn >= a->largest) {
        a->largest = pn + 1;
        a->largest_at = now;
    }
    a->ect1 += ecn == TLTCP__ECN_ECT1;
    a->ect0 += ecn == TLTCP__ECN_ECT0;
    a->ce += ecn == TLTCP__ECN_CE;
    if (eliciting) {
        a->packets++;
        bool at_once = ++a->owed >= a->every || (!in_order && !a->calm) ||
                       ecn == TLTCP__ECN_CE || a->hurry > 0;
        tltcp_time due = at_once ? now : now + acks_wait(a);
        a->hurry -= a->hurry > 0;
        if (!in_order && !a->calm && a->every > HURRY) {
            a->hurry = HURRY - 1;
        }
        a->due = due < a->due ? due : a->due;
    }
    return 0;
}

int tltcp__acks_on_run(tltcp__acks *a, uint32_t n, uint32_t ecn,
                       tltcp_time now) {
    tltcp_time due;
    /* extends the last range, so the set is never full */
    if (cmn__ranges_add(&a->seen, a->largest, a->largest + n, NULL) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    a->largest += n;
    a->largest_at = now;
    a->ect1 += ecn == TLTCP__ECN_ECT1 ? n : 0;
    a->ect0 += ecn == TLTCP__ECN_ECT0 ? n : 0;
    a->owed += n;
    a->packets += n;
    due = a->owed >= a->every ? now : now + acks_wait(a);
    a->due = due < a->due ? due : a->due;
    return 0;
}

void tltcp__acks_on_frequency(tltcp__acks *a, uint64_t pn, uint32_t every,
                              tltcp_time delay, bool calm) {
    tltcp_time max = a->max_delay;
    if (pn < a->request_pn) {
        return; /* overtaken by a newer one */
    }
    a->request_pn = pn;
    a->calm = calm;
    a->every = every;
    max = a->times && max < TLTCP__ACK_DELAY_MAX ? TLTCP__ACK_DELAY_MAX : max;
    a->delay = delay < max ? delay : max;
}

int tltcp__acks_on_request(tltcp__acks *a, uint64_t pn, const tltcp__chunk *k) {
    cmn__reader r = cmn__reader_of(k->body, k->len);
    uint32_t every = cmn__get16(&r);
    tltcp_time delay = cmn__get16(&r) * TLTCP_MS;
    if (r.bad || cmn__reader_left(&r) > 0 || every == 0) {
        return TLTCP_ERR_PROTOCOL;
    }
    tltcp__acks_on_frequency(a, pn, every, delay,
                             (k->flags & TLTCP__FREQUENCY_CALM) != 0);
    return 0;
}

bool tltcp__acks_due(const tltcp__acks *a, tltcp_time now) {
    return a->owed > 0 && a->due <= now;
}

/* Number of runs below the first that fit into room bytes. */
static size_t acks_take_runs(const tltcp__acks *a, uint64_t below, size_t room,
                             cmn__range *run) {
    size_t n = 0;
    while (n < SENT_MAX && (n + 1) * TLTCP__ACK_RANGE_LEN <= room &&
           cmn__ranges_prev(&a->seen, below, &run[n])) {
        below = run[n++].start;
    }
    return n;
}

static void put_runs(cmn__writer *w, uint64_t below, const cmn__range *run,
                     size_t n) {
    for (size_t i = 0; i < n; i++) {
        cmn__put32(w, (uint32_t)(below - run[i].end - 1));
        cmn__put32(w, (uint32_t)(run[i].end - run[i].start - 1));
        below = run[i].start;
    }
}

uint64_t tltcp__acks_put(tltcp__acks *a, cmn__writer *w, uint32_t cumulative,
                         tltcp__position window, tltcp_time now) {
    size_t fixed = TLTCP__ACK_LEN + TLTCP__ACK_ECN_LEN;
    cmn__range run[SENT_MAX];
    size_t n;
    cmn__range top;
    tltcp__ack ack = {.cumulative = cumulative, .window = window};
    if (a->largest == 0 || cmn__writer_left(w) < fixed ||
        !cmn__ranges_prev(&a->seen, a->largest, &top)) {
        return 0;
    }
    ack.largest = (uint32_t)(a->largest - 1);
    ack.delay_us = (uint32_t)((now - a->largest_at) / TLTCP_US);
    ack.first = (uint32_t)(top.end - top.start - 1);
    ack.has_ecn = (a->ect0 | a->ect1 | a->ce) != 0;
    ack.has_time =
        a->times && a->ect1 == 0 && (ack.has_ecn || a->packets > UNTIMED);
    ack.came_us = (uint32_t)(a->largest_at / TLTCP_US);
    ack.ect0 = a->ect0;
    ack.ect1 = a->ect1;
    ack.ce = a->ce;
    n = acks_take_runs(a, top.start, cmn__writer_left(w) - fixed, run);
    tltcp__ack_put(w, &ack, n);
    put_runs(w, top.start, run, n);
    a->runs = (uint32_t)n;
    a->owed = 0;
    a->due = TLTCP_TIME_NEVER;
    return a->largest;
}

void tltcp__acks_on_acked(tltcp__acks *a, uint64_t upto) {
    cmn__range r;
    if (upto > 0 && cmn__ranges_prev(&a->seen, upto, &r)) {
        raise_floor(a, r.start);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* One direction of a link: packets and time in, packets and time out. */
#include "sim/link.h"
#include "sim/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each impairment has its own random sequence: turning one on or off does not
 * change the others. */
enum luck {
    LOSS,
    BITS,
    BURST,
    CORRUPT,
    DUPLICATE,
    REORDER,
    JITTER,
    RED,
    PIE,
    SLOT,
    LUCKS
};

struct sim_link {
    struct sim_link_config cfg;
    uint64_t seed;
    struct sim_link_stats stats;
    struct sim_random rnd[LUCKS];
    struct sim_red red;
    struct sim_pie pie;
    struct sim_queue queue;
    uint64_t busy_until;        /* end of the current transmission */
    uint64_t trace_origin;      /* when the trace was set */
    uint64_t trace_next;        /* the first opportunity not yet used */
    struct sim_packet *partial; /* partly sent at earlier opportunities */
    uint64_t partial_left;      /* bytes of it left */
    double bucket;              /* token bucket of the policer, bytes */
    uint64_t bucket_at;         /* time of that level, ns */
    uint64_t last_arrival;      /* of in-order packets */
    uint64_t slot_end;          /* of the newest slot */
    struct sim_fifo flying;     /* in-order packets in flight, first to arrive
                                   first */
    struct sim_heap astray;     /* reordered packets, by time of arrival */
    bool burst;                 /* Gilbert-Elliott: in the bad state */
};

void sim_link_free(struct sim_link *l) {
    struct sim_packet *p;
    if (l == NULL) {
        return;
    }
    while ((p = sim_fifo_take(&l->flying)) != NULL ||
           (p = sim_heap_pop(&l->astray)) != NULL) {
        sim_packet_free(p);
    }
    sim_packet_free(l->partial);
    sim_queue_free(&l->queue);
    sim_heap_free(&l->astray);
    free(l);
}

static uint64_t transmission_time(const struct sim_link *l, uint64_t bytes) {
    if (l->cfg.rate <= 0) {
        return 0;
    }
    return (uint64_t)((double)bytes * 8e9 / l->cfg.rate + 0.5);
}

static void drop(struct sim_packet *p, uint64_t *counter) {
    (*counter)++;
    sim_packet_free(p);
}

static bool in_blackout(const struct sim_link_config *c, uint64_t now) {
    uint64_t since;
    if (c->blackout_length == 0 || now < c->blackout_start) {
        return false;
    }
    since = now - c->blackout_start;
    if (c->blackout_period != 0) {
        since %= c->blackout_period;
    }
    return since < c->blackout_length;
}

static bool is_lost(struct sim_link *l, uint64_t bytes) {
    const struct sim_link_config *c = &l->cfg;
    bool lost = sim_random_chance(&l->rnd[LOSS], c->loss);
    if (c->bit_error > 0) {
        double p = -expm1((double)bytes * 8 * log1p(-c->bit_error));
        lost |= sim_random_chance(&l->rnd[BITS], p);
    }
    if (sim_random_chance(&l->rnd[BURST],
                          l->burst ? c->burst_leave : c->burst_enter)) {
        l->burst = !l->burst;
    }
    if (l->burst) {
        lost |= sim_random_chance(&l->rnd[BURST], c->burst_loss);
    }
    return lost;
}

static void corrupt(struct sim_link *l, struct sim_packet *p) {
    uint64_t bit;
    if (p->len == 0 || !sim_random_chance(&l->rnd[CORRUPT], l->cfg.corrupt)) {
        return;
    }
    bit = sim_random_below(&l->rnd[CORRUPT], (uint64_t)p->len * 8);
    p->data[bit / 8] ^= (uint8_t)(1U << (bit % 8));
    l->stats.corrupted++;
}

static void treat_ecn(const struct sim_link *l, struct sim_packet *p) {
    if (l->cfg.ecn == SIM_ECN_BLEACH) {
        p->ecn = SIM_ECN_NOT;
    } else if (l->cfg.ecn == SIM_ECN_ALL_CE && p->ecn != SIM_ECN_NOT) {
        p->ecn = SIM_ECN_CE;
    } else if (l->cfg.ecn == SIM_ECN_SWAP && p->ecn == SIM_ECN_ECT0) {
        p->ecn = SIM_ECN_ECT1;
    }
}

static uint64_t jitter_of(struct sim_link *l) {
    const struct sim_link_config *c = &l->cfg;
    if (c->jitter == 0 ||
        (c->jitter_share > 0 &&
         !sim_random_chance(&l->rnd[JITTER], c->jitter_share))) {
        return 0;
    }
    return sim_random_below(&l->rnd[JITTER], c->jitter + 1);
}

/* The first end of a slot from then on. */
static uint64_t slot_end(struct sim_link *l, uint64_t at) {
    uint64_t range = l->cfg.slot_max - l->cfg.slot_min;
    uint64_t idle = l->slot_end + 1000 * l->cfg.slot_max;
    if (at > idle) { /* an idle link does not count its slots */
        l->slot_end = at - sim_random_below(&l->rnd[SLOT], l->cfg.slot_max);
    }
    while (l->slot_end < at) {
        l->slot_end +=
            l->cfg.slot_min + sim_random_below(&l->rnd[SLOT], range + 1);
    }
    return l->slot_end;
}

static void fly(struct sim_link *l, struct sim_packet *p, uint64_t left) {
    uint64_t at = left + l->cfg.delay + jitter_of(l);
    if (l->cfg.slot_max != 0) {
        at = slot_end(l, at);
    }
    if (sim_random_chance(&l->rnd[REORDER], l->cfg.reorder)) {
        p->due = at + l->cfg.reorder_delay;
        l->stats.reordered++;
        if (!sim_heap_push(&l->astray, p->due, p)) {
            drop(p, &l->stats.dropped_nomem);
        }
        return;
    }
    p->due = at > l->last_arrival ? at : l->last_arrival;
    l->last_arrival = p->due;
    sim_fifo_append(&l->flying, p);
}

static struct sim_packet *copy_of(const struct sim_packet *p) {
    struct sim_packet *q = sim_packet_new(p->data, p->len);
    if (q != NULL) {
        q->src = p->src;
        q->dst = p->dst;
        q->sent = p->sent;
        q->born = p->born;
        q->wire = p->wire;
        q->size = p->size;
        q->ecn = p->ecn;
        q->dscp = p->dscp;
    }
    return q;
}

/* The last bit of a packet has left the sender. */
static void on_the_wire(struct sim_link *l, struct sim_packet *p,
                        uint64_t left) {
    struct sim_packet *twin = NULL;
    l->stats.wire_bytes += p->size;
    if (is_lost(l, p->size)) {
        drop(p, &l->stats.dropped_loss);
        return;
    }
    treat_ecn(l, p);
    if (sim_random_chance(&l->rnd[DUPLICATE], l->cfg.duplicate)) {
        twin = copy_of(p);
    }
    corrupt(l, p);
    fly(l, p, left);
    if (twin != NULL) {
        l->stats.duplicated++;
        fly(l, twin, left);
    }
}

static void mark(struct sim_link *l, struct sim_packet *p) {
    if (p->ecn != SIM_ECN_CE) {
        l->stats.marked++;
    }
    p->ecn = SIM_ECN_CE;
}

/* Whether CoDel drops the packet; otherwise it may mark it. */
static bool codel_drops(struct sim_link *l, struct sim_packet *p,
                        const struct sim_queue_turn *turn, uint64_t now) {
    if (!l->cfg.codel_on || !sim_codel_judge(turn->codel, &l->cfg.codel, now,
                                             now - p->sent, turn->backlog)) {
        return false;
    }
    if (l->cfg.aqm_ecn && p->ecn != SIM_ECN_NOT) {
        mark(l, p);
        return false;
    }
    return true;
}

/* The next packet to send, or NULL: none waits. */
static struct sim_packet *next_packet(struct sim_link *l, uint64_t now) {
    struct sim_queue_turn turn;
    struct sim_packet *p;
    while ((p = sim_queue_pop(&l->queue, l->cfg.fair_quantum, &turn)) != NULL) {
        if (l->cfg.pie_on) {
            sim_pie_tick(&l->pie, &l->cfg.pie, now);
            sim_pie_left(&l->pie, l->queue.packets > 0 ? now - p->sent : 0);
        }
        if (!codel_drops(l, p, &turn, now)) {
            return p;
        }
        drop(p, &l->stats.dropped_aqm);
    }
    return NULL;
}

/* Starts every transmission that begins at or before now. */
static void link_transmit(struct sim_link *l, uint64_t now) {
    while (l->queue.packets > 0 && l->busy_until <= now) {
        struct sim_packet *p = next_packet(l, l->busy_until);
        if (p != NULL) {
            l->busy_until += transmission_time(l, p->size);
            on_the_wire(l, p, l->busy_until);
        }
    }
}

static bool is_waiting(const struct sim_link *l) {
    return l->queue.packets > 0 || l->partial != NULL;
}

static uint64_t opportunity(const struct sim_link *l, uint64_t n) {
    return l->trace_origin + sim_trace_time(l->cfg.trace, n) -
           l->cfg.trace_start;
}

/* The first opportunity at or after a time. */
static uint64_t opportunity_from(const struct sim_link *l, uint64_t at) {
    return sim_trace_find(l->cfg.trace,
                          at - l->trace_origin + l->cfg.trace_start);
}

/* A packet may use several opportunities, and an opportunity several
 * packets. */
static void use_opportunity(struct sim_link *l, uint64_t at) {
    uint64_t room = SIM_TRACE_BYTES;
    while (room > 0) {
        struct sim_packet *p = l->partial;
        if (p == NULL) {
            p = l->partial = next_packet(l, at);
            l->partial_left = p != NULL ? p->size : 0;
        }
        if (p == NULL || l->partial_left > room) {
            l->partial_left -= p != NULL ? room : 0;
            break;
        }
        room -= l->partial_left;
        l->partial = NULL;
        on_the_wire(l, p, at);
    }
    l->busy_until = at;
}

/* Opportunities without a waiting packet are lost. */
static void use_trace(struct sim_link *l, uint64_t now) {
    while (is_waiting(l) && opportunity(l, l->trace_next) <= now) {
        use_opportunity(l, opportunity(l, l->trace_next));
        l->trace_next++;
    }
    if (!is_waiting(l)) {
        l->trace_next = opportunity_from(l, now + 1);
    }
}

static void advance(struct sim_link *l, uint64_t now) {
    if (l->cfg.trace != NULL) {
        use_trace(l, now);
    } else {
        link_transmit(l, now);
    }
}

static bool is_busy(const struct sim_link *l, uint64_t now) {
    return l->cfg.trace != NULL ? is_waiting(l) : l->busy_until > now;
}

/* When a packet that arrives now would begin transmission. */
static uint64_t turn_of_next(const struct sim_link *l) {
    if (l->cfg.trace != NULL) {
        uint64_t before =
            l->queue.bytes + (l->partial != NULL ? l->partial_left : 0);
        return opportunity(l, l->trace_next + before / SIM_TRACE_BYTES);
    }
    return l->busy_until + transmission_time(l, l->queue.bytes);
}

static bool queue_is_full(const struct sim_link *l, uint64_t bytes,
                          uint64_t now) {
    const struct sim_link_config *c = &l->cfg;
    if (c->limit_packets != 0 &&
        l->queue.packets + (c->rule == SIM_QUEUE_NS2) >= c->limit_packets) {
        return true;
    }
    /* An idle link accepts packets beyond the other limits. */
    if (!is_busy(l, now)) {
        return false;
    }
    return (c->limit_bytes != 0 && l->queue.bytes + bytes > c->limit_bytes) ||
           (c->limit_time != 0 && turn_of_next(l) > now + c->limit_time);
}

static bool red_drops(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    struct sim_red_arrival a = {
        .queue_packets = l->queue.packets,
        .queue_bytes = l->queue.bytes,
        .size = p->size,
        .idle = l->busy_until < now ? now - l->busy_until : 0,
        .rate = sim_link_rate(l),
    };
    enum sim_red_verdict v =
        sim_red_arrive(&l->red, &l->cfg.red, &a, &l->rnd[RED]);
    if (v == SIM_RED_EARLY && l->cfg.red.setbit && p->ecn != SIM_ECN_NOT) {
        mark(l, p);
        return false;
    }
    if (v == SIM_RED_FORCED) {
        sim_red_dropped(&l->red);
    }
    return v != SIM_RED_PASS;
}

static bool is_low(const struct sim_link *l, const struct sim_packet *p) {
    return l->cfg.lower_effort && p->dscp == SIM_DSCP_LOWER_EFFORT;
}

static bool pie_drops(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    struct sim_pie_arrival a = {
        .now = now,
        .backlog = l->queue.bytes,
        .ecn = l->cfg.aqm_ecn && p->ecn != SIM_ECN_NOT,
    };
    enum sim_pie_verdict v =
        sim_pie_arrive(&l->pie, &l->cfg.pie, &a, &l->rnd[PIE]);
    if (v == SIM_PIE_MARK) {
        mark(l, p);
    }
    return v == SIM_PIE_DROP;
}

/* Makes room by dropping lower-effort packets, or those of the longest flow. */
static bool make_room(struct sim_link *l, const struct sim_packet *p,
                      uint64_t now) {
    while (queue_is_full(l, p->size, now)) {
        struct sim_packet *victim =
            l->cfg.fair_quantum != 0 ? sim_queue_pop_longest(&l->queue)
            : is_low(l, p)           ? NULL
                                     : sim_queue_pop_low(&l->queue);
        if (victim == NULL) {
            return false;
        }
        drop(victim, &l->stats.dropped_queue);
    }
    return true;
}

static void enqueue(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    if (l->busy_until < now && l->cfg.trace == NULL) {
        l->busy_until = now; /* idle: transmission starts at once */
    }
    sim_queue_push(&l->queue, l->cfg.fair_quantum, is_low(l, p), p);
    advance(l, now);
    if (l->queue.packets > l->stats.queue_peak) {
        l->stats.queue_peak = l->queue.packets;
    }
    if (l->queue.bytes > l->stats.queue_peak_bytes) {
        l->stats.queue_peak_bytes = l->queue.bytes;
    }
}

static void admit(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    if (sim_link_rate(l) <= 0 && l->queue.packets == 0) {
        on_the_wire(l, p, now);
    } else if (l->cfg.red_on && red_drops(l, p, now)) {
        drop(p, &l->stats.dropped_red);
    } else if (l->cfg.pie_on && pie_drops(l, p, now)) {
        drop(p, &l->stats.dropped_aqm);
    } else if (!make_room(l, p, now)) {
        sim_red_dropped(&l->red);
        drop(p, &l->stats.dropped_queue);
    } else {
        if (l->cfg.mark_above != 0 && l->queue.packets >= l->cfg.mark_above &&
            p->ecn != SIM_ECN_NOT) {
            mark(l, p);
        }
        enqueue(l, p, now);
    }
}

/* A token bucket, initially full. */
static bool is_policed(struct sim_link *l, uint64_t bytes, uint64_t now) {
    double burst = (double)l->cfg.police_burst;
    if (l->cfg.police_rate <= 0) {
        return false;
    }
    l->bucket += (double)(now - l->bucket_at) * l->cfg.police_rate / 8e9;
    l->bucket = l->bucket < burst ? l->bucket : burst;
    l->bucket_at = now;
    if (l->bucket < (double)bytes) {
        return true;
    }
    l->bucket -= (double)bytes;
    return false;
}

void sim_link_send(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    advance(l, now);
    p->sent = now;
    p->size = p->wire != 0 ? p->wire : p->len + l->cfg.overhead;
    l->stats.offered++;
    l->stats.offered_bytes += p->len;
    if (l->cfg.mtu != 0 && p->len > l->cfg.mtu) {
        drop(p, &l->stats.dropped_mtu);
    } else if (l->cfg.no_carrier || in_blackout(&l->cfg, now)) {
        drop(p, &l->stats.dropped_blackout);
    } else if (is_policed(l, p->size, now)) {
        drop(p, &l->stats.dropped_police);
    } else {
        admit(l, p, now);
    }
}

/* When the next in-order packet arrives. */
static uint64_t in_order(const struct sim_link *l) {
    return l->flying.head != NULL ? l->flying.head->due : SIM_NEVER;
}

struct sim_packet *sim_link_recv(struct sim_link *l, uint64_t now) {
    struct sim_packet *p = NULL;
    advance(l, now);
    if (in_order(l) <= now && in_order(l) <= sim_heap_time(&l->astray)) {
        p = sim_fifo_take(&l->flying);
    } else if (sim_heap_time(&l->astray) <= now) {
        p = sim_heap_pop(&l->astray);
    }
    if (p != NULL) {
        l->stats.delivered++;
        l->stats.delivered_bytes += p->len;
    }
    return p;
}

uint64_t sim_link_next(const struct sim_link *l) {
    uint64_t astray = sim_heap_time(&l->astray);
    uint64_t arrival = in_order(l) < astray ? in_order(l) : astray;
    uint64_t leave = SIM_NEVER;
    if (l->cfg.trace != NULL && is_waiting(l)) {
        leave = opportunity(l, l->trace_next);
    } else if (l->queue.packets > 0) {
        leave = l->busy_until;
    }
    return leave < arrival ? leave : arrival;
}

/* Packets in flight keep their old delays. */
static void link_apply(struct sim_link *l, const struct sim_link_config *c,
                       uint64_t now) {
    bool same =
        l->cfg.trace == c->trace && l->cfg.trace_start == c->trace_start;
    bool policed = l->cfg.police_rate > 0;
    l->cfg = *c;
    if (c->trace != NULL && !same) {
        l->trace_origin = now;
        l->trace_next = sim_trace_find(c->trace, c->trace_start);
    }
    if (c->trace == NULL && l->partial != NULL) {
        on_the_wire(l, l->partial, now);
        l->partial = NULL;
    }
    if (!policed) {
        l->bucket = (double)c->police_burst;
        l->bucket_at = now;
    }
    if (c->fair_quantum != 0) {
        sim_queue_make_fair(&l->queue, l->seed);
    }
}

struct sim_link *sim_link_new(const struct sim_link_config *c, uint64_t seed) {
    struct sim_link *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    l->seed = seed;
    sim_queue_init(&l->queue);
    sim_fifo_init(&l->flying);
    for (uint64_t i = 0; i < LUCKS; i++) {
        sim_random_init(&l->rnd[i], seed + i * UINT64_C(0xd1342543de82ef95));
    }
    link_apply(l, c, 0);
    return l;
}

void sim_link_set(struct sim_link *l, const struct sim_link_config *c,
                  uint64_t now) {
    advance(l, now);
    link_apply(l, c, now);
    advance(l, now);
}

uint64_t sim_link_offered_capacity(const struct sim_link *l, uint64_t now) {
    if (l->cfg.trace == NULL) {
        return 0;
    }
    return (opportunity_from(l, now + 1) -
            opportunity_from(l, l->trace_origin)) *
           SIM_TRACE_BYTES;
}

double sim_link_rate(const struct sim_link *l) {
    return l->cfg.trace != NULL ? sim_trace_rate(l->cfg.trace) : l->cfg.rate;
}

const struct sim_link_config *sim_link_get(const struct sim_link *l) {
    return &l->cfg;
}

uint64_t sim_link_waiting(const struct sim_link *l) {
    return l->queue.packets;
}

const struct sim_link_stats *sim_link_stats(const struct sim_link *l) {
    return &l->stats;
}

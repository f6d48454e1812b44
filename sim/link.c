/* SPDX-License-Identifier: MPL-2.0 */
#include "sim/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each impairment has its own sequence: turning one on or off does not change
 * what the others do. */
enum luck {
    LOSS,
    BITS,
    BURST,
    CORRUPT,
    DUPLICATE,
    REORDER,
    JITTER,
    RED,
    LUCKS
};

struct fifo {
    struct sim_packet *head;
    struct sim_packet **tail;
};

struct sim_link {
    struct sim_link_config cfg;
    struct sim_link_stats stats;
    struct sim_random rnd[LUCKS];
    struct sim_red red;
    struct fifo queue; /* waiting, first to be sent */
    struct fifo low;   /* lower effort: when nothing else waits */
    uint64_t waiting;  /* in both */
    uint64_t waiting_bytes;
    uint64_t busy_until;    /* end of the transmission under way */
    uint64_t last_arrival;  /* of packets that keep the order */
    struct fifo flying;     /* those, first to arrive */
    struct sim_heap astray; /* those that do not, by time of arrival */
    bool burst;             /* Gilbert-Elliott: in the bad state */
};

struct sim_packet *sim_packet_new(const void *data, size_t len) {
    struct sim_packet *p;
    if (len > UINT32_MAX) {
        return NULL;
    }
    p = malloc(sizeof(*p) + len);
    if (p == NULL) {
        return NULL;
    }
    *p = (struct sim_packet){.len = (uint32_t)len};
    if (data != NULL) {
        memcpy(p->data, data, len);
    } else {
        memset(p->data, 0, len);
    }
    return p;
}

void sim_packet_free(struct sim_packet *p) {
    free(p);
}

struct sim_link *sim_link_new(const struct sim_link_config *c, uint64_t seed) {
    struct sim_link *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    l->cfg = *c;
    l->queue.tail = &l->queue.head;
    l->low.tail = &l->low.head;
    l->flying.tail = &l->flying.head;
    for (uint64_t i = 0; i < LUCKS; i++) {
        sim_random_init(&l->rnd[i], seed + i * UINT64_C(0xd1342543de82ef95));
    }
    return l;
}

/* The analyser does not see that take() keeps tail valid. */
/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */
static void append(struct fifo *f, struct sim_packet *p) {
    p->next = NULL;
    *f->tail = p;
    f->tail = &p->next;
}

static struct sim_packet *link_take(struct fifo *f) {
    struct sim_packet *p = f->head;
    if (p != NULL) {
        f->head = p->next;
        if (f->head == NULL) {
            f->tail = &f->head;
        } else {
            __builtin_prefetch(f->head->next); /* looked at when head goes */
        }
    }
    return p;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

void sim_link_free(struct sim_link *l) {
    struct sim_packet *p;
    if (l == NULL) {
        return;
    }
    while ((p = link_take(&l->queue)) != NULL ||
           (p = link_take(&l->low)) != NULL ||
           (p = link_take(&l->flying)) != NULL ||
           (p = sim_heap_pop(&l->astray)) != NULL) {
        sim_packet_free(p);
    }
    sim_heap_free(&l->astray);
    free(l);
}

static uint64_t wire_size(const struct sim_link *l,
                          const struct sim_packet *p) {
    return p->wire != 0 ? p->wire : (uint64_t)p->len + l->cfg.overhead;
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

static void fly(struct sim_link *l, struct sim_packet *p, uint64_t left) {
    uint64_t at = left + l->cfg.delay;
    if (l->cfg.jitter != 0) {
        at += sim_random_below(&l->rnd[JITTER], l->cfg.jitter + 1);
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
    append(&l->flying, p);
}

static struct sim_packet *copy_of(const struct sim_packet *p) {
    struct sim_packet *q = sim_packet_new(p->data, p->len);
    if (q != NULL) {
        q->src = p->src;
        q->dst = p->dst;
        q->sent = p->sent;
        q->born = p->born;
        q->wire = p->wire;
        q->ecn = p->ecn;
        q->dscp = p->dscp;
    }
    return q;
}

/* The last bit of a packet has left the sender. */
static void on_the_wire(struct sim_link *l, struct sim_packet *p,
                        uint64_t left) {
    struct sim_packet *twin = NULL;
    l->stats.wire_bytes += wire_size(l, p);
    if (is_lost(l, wire_size(l, p))) {
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

/* Takes the next packet out of a queue. */
static struct sim_packet *dequeue(struct sim_link *l, struct fifo *f) {
    struct sim_packet *p = link_take(f);
    if (p != NULL) {
        l->waiting--;
        l->waiting_bytes -= wire_size(l, p);
    }
    return p;
}

/* Starts every transmission that begins at or before now. */
static void advance(struct sim_link *l, uint64_t now) {
    while (l->waiting > 0 && l->busy_until <= now) {
        struct sim_packet *p = dequeue(l, &l->queue);
        if (p == NULL) {
            p = dequeue(l, &l->low);
        }
        l->busy_until += transmission_time(l, wire_size(l, p));
        on_the_wire(l, p, l->busy_until);
    }
}

static bool queue_is_full(const struct sim_link *l, uint64_t bytes,
                          uint64_t now) {
    const struct sim_link_config *c = &l->cfg;
    if (c->limit_packets != 0 &&
        l->waiting + (c->rule == SIM_QUEUE_NS2) >= c->limit_packets) {
        return true;
    }
    /* An idle link takes what the byte limit could never hold. */
    if (c->limit_bytes != 0 && l->busy_until > now &&
        l->waiting_bytes + bytes > c->limit_bytes) {
        return true;
    }
    return c->limit_time != 0 && l->busy_until > now &&
           l->busy_until - now + transmission_time(l, l->waiting_bytes) >
               c->limit_time;
}

static void mark(struct sim_link *l, struct sim_packet *p) {
    if (p->ecn != SIM_ECN_CE) {
        l->stats.marked++;
    }
    p->ecn = SIM_ECN_CE;
}

static bool red_drops(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    struct sim_red_arrival a = {
        .queue_packets = l->waiting,
        .queue_bytes = l->waiting_bytes,
        .size = wire_size(l, p),
        .idle = l->busy_until < now ? now - l->busy_until : 0,
        .rate = l->cfg.rate,
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

/* Makes room at the expense of those who give way. */
static bool make_room(struct sim_link *l, const struct sim_packet *p,
                      uint64_t now) {
    while (queue_is_full(l, wire_size(l, p), now)) {
        struct sim_packet *victim = is_low(l, p) ? NULL : dequeue(l, &l->low);
        if (victim == NULL) {
            return false;
        }
        drop(victim, &l->stats.dropped_queue);
    }
    return true;
}

static void enqueue(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    if (l->busy_until < now) {
        l->busy_until = now; /* idle: transmission starts at once */
    }
    append(is_low(l, p) ? &l->low : &l->queue, p);
    l->waiting++;
    l->waiting_bytes += wire_size(l, p);
    advance(l, now);
    if (l->waiting > l->stats.queue_peak) {
        l->stats.queue_peak = l->waiting;
    }
    if (l->waiting_bytes > l->stats.queue_peak_bytes) {
        l->stats.queue_peak_bytes = l->waiting_bytes;
    }
}

static void admit(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    if (l->cfg.rate <= 0 && l->waiting == 0) {
        on_the_wire(l, p, now);
    } else if (l->cfg.red_on && red_drops(l, p, now)) {
        drop(p, &l->stats.dropped_red);
    } else if (!make_room(l, p, now)) {
        sim_red_dropped(&l->red);
        drop(p, &l->stats.dropped_queue);
    } else {
        if (l->cfg.mark_above != 0 && l->waiting >= l->cfg.mark_above &&
            p->ecn != SIM_ECN_NOT) {
            mark(l, p);
        }
        enqueue(l, p, now);
    }
}

void sim_link_send(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    advance(l, now);
    p->sent = now;
    l->stats.offered++;
    l->stats.offered_bytes += p->len;
    if (l->cfg.mtu != 0 && p->len > l->cfg.mtu) {
        drop(p, &l->stats.dropped_mtu);
    } else if (l->cfg.no_carrier || in_blackout(&l->cfg, now)) {
        drop(p, &l->stats.dropped_blackout);
    } else {
        admit(l, p, now);
    }
}

/* When the next packet that keeps the order arrives. */
static uint64_t in_order(const struct sim_link *l) {
    return l->flying.head != NULL ? l->flying.head->due : SIM_NEVER;
}

struct sim_packet *sim_link_recv(struct sim_link *l, uint64_t now) {
    struct sim_packet *p = NULL;
    advance(l, now);
    if (in_order(l) <= now && in_order(l) <= sim_heap_time(&l->astray)) {
        p = link_take(&l->flying);
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
    if (l->waiting > 0 && l->busy_until < arrival) {
        return l->busy_until;
    }
    return arrival;
}

void sim_link_set(struct sim_link *l, const struct sim_link_config *c,
                  uint64_t now) {
    advance(l, now);
    l->waiting_bytes -= l->waiting * l->cfg.overhead;
    l->waiting_bytes += l->waiting * c->overhead;
    l->cfg = *c;
    advance(l, now);
}

const struct sim_link_config *sim_link_get(const struct sim_link *l) {
    return &l->cfg;
}

uint64_t sim_link_waiting(const struct sim_link *l) {
    return l->waiting;
}

const struct sim_link_stats *sim_link_stats(const struct sim_link *l) {
    return &l->stats;
}

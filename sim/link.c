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

struct sim_link {
    struct sim_link_config cfg;
    struct sim_link_stats stats;
    struct sim_random rnd[LUCKS];
    struct sim_red red;
    struct sim_packet *head; /* waiting, first to be sent */
    struct sim_packet **tail;
    uint64_t waiting;
    uint64_t waiting_bytes;
    uint64_t busy_until;    /* end of the transmission under way */
    uint64_t last_arrival;  /* of packets that keep the order */
    struct sim_heap flying; /* by time of arrival */
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
    l->tail = &l->head;
    for (uint64_t i = 0; i < LUCKS; i++) {
        sim_random_init(&l->rnd[i], seed + i * UINT64_C(0xd1342543de82ef95));
    }
    return l;
}

void sim_link_free(struct sim_link *l) {
    struct sim_packet *p;
    if (l == NULL) {
        return;
    }
    while ((p = l->head) != NULL) {
        l->head = p->next;
        sim_packet_free(p);
    }
    while ((p = sim_heap_pop(&l->flying)) != NULL) {
        sim_packet_free(p);
    }
    sim_heap_free(&l->flying);
    free(l);
}

static uint64_t wire_size(const struct sim_link *l,
                          const struct sim_packet *p) {
    return (uint64_t)p->len + l->cfg.overhead;
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
        at += l->cfg.reorder_delay;
        l->stats.reordered++;
    } else {
        at = at > l->last_arrival ? at : l->last_arrival;
        l->last_arrival = at;
    }
    if (!sim_heap_push(&l->flying, at, p)) {
        drop(p, &l->stats.dropped_nomem);
    }
}

static struct sim_packet *copy_of(const struct sim_packet *p) {
    struct sim_packet *q = sim_packet_new(p->data, p->len);
    if (q != NULL) {
        q->src = p->src;
        q->dst = p->dst;
        q->sent = p->sent;
        q->ecn = p->ecn;
    }
    return q;
}

/* The last bit of a packet has left the sender. */
static void on_the_wire(struct sim_link *l, struct sim_packet *p,
                        uint64_t left) {
    struct sim_packet *twin = NULL;
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

/* Starts every transmission that begins at or before now. */
static void advance(struct sim_link *l, uint64_t now) {
    struct sim_packet *p;
    while ((p = l->head) != NULL && l->busy_until <= now) {
        l->head = p->next;
        if (l->head == NULL) {
            l->tail = &l->head;
        }
        l->waiting--;
        l->waiting_bytes -= wire_size(l, p);
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

static void enqueue(struct sim_link *l, struct sim_packet *p, uint64_t now) {
    if (l->busy_until < now) {
        l->busy_until = now; /* idle: transmission starts at once */
    }
    p->next = NULL;
    *l->tail = p;
    l->tail = &p->next;
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
    if (l->cfg.rate <= 0 && l->head == NULL) {
        on_the_wire(l, p, now);
    } else if (l->cfg.red_on && red_drops(l, p, now)) {
        drop(p, &l->stats.dropped_red);
    } else if (queue_is_full(l, wire_size(l, p), now)) {
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
    } else if (in_blackout(&l->cfg, now)) {
        drop(p, &l->stats.dropped_blackout);
    } else {
        admit(l, p, now);
    }
}

struct sim_packet *sim_link_recv(struct sim_link *l, uint64_t now) {
    struct sim_packet *p;
    advance(l, now);
    if (sim_heap_time(&l->flying) > now) {
        return NULL;
    }
    p = sim_heap_pop(&l->flying);
    if (p != NULL) {
        l->stats.delivered++;
        l->stats.delivered_bytes += p->len;
    }
    return p;
}

uint64_t sim_link_next(const struct sim_link *l) {
    uint64_t arrival = sim_heap_time(&l->flying);
    if (l->head != NULL && l->busy_until < arrival) {
        return l->busy_until;
    }
    return arrival;
}

void sim_link_set(struct sim_link *l, const struct sim_link_config *c,
                  uint64_t now) {
    struct sim_packet *p;
    advance(l, now);
    l->cfg = *c;
    l->waiting_bytes = 0; /* the overhead may have changed */
    for (p = l->head; p != NULL; p = p->next) {
        /* advance() moved the head on;
         * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        l->waiting_bytes += wire_size(l, p);
    }
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

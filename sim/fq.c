/* SPDX-License-Identifier: MPL-2.0 */
/* Fair queueing (RFC 8290, 4.1 and 4.2). */
#include "sim/fq.h"

#include <stdlib.h>

struct fq_flow {
    struct fq_flow *next; /* in its round */
    struct sim_fifo packets;
    struct sim_codel codel;
    uint64_t bytes;
    int64_t deficit;
    bool listed; /* new or old */
};

/* Flows served in turn. */
struct fq_round {
    struct fq_flow *head;
    struct fq_flow **tail;
};

struct sim_fq {
    struct fq_round fresh; /* new flows */
    struct fq_round old;
    uint64_t seed;
    struct fq_flow flows[SIM_FQ_FLOWS];
};

struct sim_fq *sim_fq_new(uint64_t seed) {
    struct sim_fq *q = calloc(1, sizeof(*q));
    if (q == NULL) {
        return NULL;
    }
    q->seed = seed;
    q->fresh.tail = &q->fresh.head;
    q->old.tail = &q->old.head;
    for (size_t i = 0; i < SIM_FQ_FLOWS; i++) {
        sim_fifo_init(&q->flows[i].packets);
    }
    return q;
}

void sim_fq_free(struct sim_fq *q) {
    struct sim_packet *p;
    if (q == NULL) {
        return;
    }
    for (size_t i = 0; i < SIM_FQ_FLOWS; i++) {
        while ((p = sim_fifo_take(&q->flows[i].packets)) != NULL) {
            sim_packet_free(p);
        }
    }
    free(q);
}

static uint64_t fq_mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static struct fq_flow *flow_of(struct sim_fq *q, const struct sim_packet *p) {
    uint64_t hash = fq_mix(fq_mix(p->src ^ q->seed) + p->dst);
    return &q->flows[hash % SIM_FQ_FLOWS];
}

static void fq_join(struct fq_round *r, struct fq_flow *f) {
    f->next = NULL;
    *r->tail = f;
    r->tail = &f->next;
}

static struct fq_flow *fq_leave(struct fq_round *r) {
    struct fq_flow *f = r->head;
    r->head = f->next;
    if (r->head == NULL) {
        r->tail = &r->head;
    }
    return f;
}

static struct sim_packet *fq_take(struct fq_flow *f) {
    struct sim_packet *p = sim_fifo_take(&f->packets);
    if (p != NULL) {
        f->bytes -= p->size;
    }
    return p;
}

void sim_fq_push(struct sim_fq *q, uint32_t quantum, struct sim_packet *p) {
    struct fq_flow *f = flow_of(q, p);
    sim_fifo_append(&f->packets, p);
    f->bytes += p->size;
    if (!f->listed) {
        f->listed = true;
        f->deficit = quantum;
        fq_join(&q->fresh, f);
    }
}

/* The flow whose turn it is; NULL: none waits. */
static struct fq_flow *fq_turn(struct sim_fq *q, uint32_t quantum) {
    struct fq_round *r;
    while ((r = q->fresh.head != NULL ? &q->fresh : &q->old)->head != NULL) {
        struct fq_flow *f = r->head;
        if (f->packets.head != NULL && f->deficit > 0) {
            return f;
        }
        (void)fq_leave(r);
        if (f->packets.head != NULL) {
            f->deficit += quantum;
            fq_join(&q->old, f);
        } else if (r == &q->fresh) {
            fq_join(&q->old, f); /* otherwise it would starve the old ones
                                    (4.2) */
        } else {
            f->listed = false;
        }
    }
    return NULL;
}

struct sim_packet *sim_fq_pop(struct sim_fq *q, uint32_t quantum,
                              struct sim_codel **codel, uint64_t *backlog) {
    struct fq_flow *f = fq_turn(q, quantum);
    struct sim_packet *p = f != NULL ? fq_take(f) : NULL;
    if (p != NULL) {
        f->deficit -= p->size;
        *codel = &f->codel;
        *backlog = f->bytes;
    }
    return p;
}

struct sim_packet *sim_fq_pop_longest(struct sim_fq *q) {
    struct fq_flow *longest = &q->flows[0];
    for (size_t i = 1; i < SIM_FQ_FLOWS; i++) {
        if (q->flows[i].bytes > longest->bytes) {
            longest = &q->flows[i];
        }
    }
    return fq_take(longest);
}

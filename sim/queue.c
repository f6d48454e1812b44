/* SPDX-License-Identifier: MPL-2.0 */
/* What waits in front of a link. */
#include "sim/queue.h"

#define FULL_PACKET 1500

void sim_queue_init(struct sim_queue *q) {
    *q = (struct sim_queue){.fair = NULL};
    sim_fifo_init(&q->row);
    sim_fifo_init(&q->low);
}

void sim_queue_free(struct sim_queue *q) {
    struct sim_packet *p;
    while ((p = sim_fifo_take(&q->row)) != NULL ||
           (p = sim_fifo_take(&q->low)) != NULL) {
        sim_packet_free(p);
    }
    sim_fq_free(q->fair);
}

void sim_queue_make_fair(struct sim_queue *q, uint64_t seed) {
    if (q->fair == NULL) {
        q->fair = sim_fq_new(seed);
    }
}

void sim_queue_push(struct sim_queue *q, uint32_t quantum, bool low,
                    struct sim_packet *p) {
    if (low) {
        sim_fifo_append(&q->low, p);
    } else if (quantum != 0 && q->fair != NULL) {
        sim_fq_push(q->fair, quantum, p);
    } else {
        sim_fifo_append(&q->row, p);
    }
    q->packets++;
    q->bytes += p->size;
}

static struct sim_packet *queue_count_out(struct sim_queue *q,
                                          struct sim_packet *p) {
    if (p != NULL) {
        q->packets--;
        q->bytes -= p->size;
    }
    return p;
}

struct sim_packet *sim_queue_pop(struct sim_queue *q, uint32_t quantum,
                                 struct sim_queue_turn *turn) {
    struct sim_packet *p = queue_count_out(q, sim_fifo_take(&q->row));
    *turn = (struct sim_queue_turn){.codel = &q->codel, .backlog = q->bytes};
    if (p == NULL && q->fair != NULL) {
        p = queue_count_out(q, sim_fq_pop(q->fair,
                                          quantum != 0 ? quantum : FULL_PACKET,
                                          &turn->codel, &turn->backlog));
    }
    return p != NULL ? p : sim_queue_pop_low(q);
}

struct sim_packet *sim_queue_pop_low(struct sim_queue *q) {
    return queue_count_out(q, sim_fifo_take(&q->low));
}

struct sim_packet *sim_queue_pop_longest(struct sim_queue *q) {
    struct sim_packet *p = sim_fifo_take(&q->row);
    if (p == NULL && q->fair != NULL) {
        p = sim_fq_pop_longest(q->fair);
    }
    return queue_count_out(q, p);
}

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/fifo.h
 * @brief A FIFO of packets.
 */
#ifndef SIM_FIFO_H
#define SIM_FIFO_H

#include "sim/packet.h"

/** @brief First in, first out; start from sim_fifo_init(). */
struct sim_fifo {
    struct sim_packet *head;  /**< first, or NULL */
    struct sim_packet **tail; /**< where the next one goes */
};

/** @brief Initialises an empty FIFO. @param f FIFO */
static inline void sim_fifo_init(struct sim_fifo *f) {
    f->head = NULL;
    f->tail = &f->head;
}

/* The analyser misses that sim_fifo_take() keeps tail valid. */
/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */
/** @brief Appends a packet. @param f FIFO @param p  packet */
static inline void sim_fifo_append(struct sim_fifo *f, struct sim_packet *p) {
    p->next = NULL;
    *f->tail = p;
    f->tail = &p->next;
}

/** @brief Takes the first packet. @param f FIFO @return packet, or NULL */
static inline struct sim_packet *sim_fifo_take(struct sim_fifo *f) {
    struct sim_packet *p = f->head;
    if (p != NULL) {
        f->head = p->next;
        if (f->head == NULL) {
            f->tail = &f->head;
        } else {
            __builtin_prefetch(f->head->next); /* needed when head is taken */
        }
    }
    return p;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

#endif /* SIM_FIFO_H */

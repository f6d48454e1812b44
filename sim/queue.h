/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/queue.h
 * @brief The queue of a link: one FIFO, or one per flow, then packets of lower
 * effort.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>

#include "sim/fq.h"

/** @brief The queue; start from sim_queue_init(). */
struct sim_queue {
    struct sim_fifo row;    /**< without fair queueing */
    struct sim_fifo low;    /**< lower effort, sent when nothing else waits */
    struct sim_fq *fair;    /**< flows; NULL: not used */
    struct sim_codel codel; /**< of row and low */
    uint64_t packets;       /**< packets waiting */
    uint64_t bytes;         /**< their
                                 bytes */
};

/** @brief Queue of a packet. */
struct sim_queue_turn {
    struct sim_codel *codel; /**< CoDel state of its queue */
    uint64_t backlog;        /**< bytes waiting in it */
};

/** @brief Initialises an empty queue. @param q  queue */
void sim_queue_init(struct sim_queue *q);
/** @brief Frees queued packets. @param q  queue */
void sim_queue_free(struct sim_queue *q);
/** @brief Enables fair queueing; without memory, all flows share one queue.
 * @param q  queue @param seed  of the hash */
void sim_queue_make_fair(struct sim_queue *q, uint64_t seed);
/**
 * @brief Puts a packet in.
 * @param q        queue
 * @param quantum  quantum of fair queueing, bytes; 0: one queue
 * @param low      lower effort
 * @param p        packet
 */
void sim_queue_push(struct sim_queue *q, uint32_t quantum, bool low,
                    struct sim_packet *p);
/**
 * @brief Takes the packet whose turn it is.
 * @param q          queue
 * @param quantum    quantum of fair queueing, bytes; 0: one queue
 * @param[out] turn  its queue
 * @return it, or NULL: none waits
 */
struct sim_packet *sim_queue_pop(struct sim_queue *q, uint32_t quantum,
                                 struct sim_queue_turn *turn);
/** @brief Takes a packet of lower effort, to be dropped. @param q  queue
 * @return it, or NULL */
struct sim_packet *sim_queue_pop_low(struct sim_queue *q);
/** @brief Takes the first packet of the longest flow, to be dropped. @param q
 * queue @return it, or NULL */
struct sim_packet *sim_queue_pop_longest(struct sim_queue *q);

#endif /* SIM_QUEUE_H */

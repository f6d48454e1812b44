/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/queue.h
 * @brief What waits in front of a link: one row, or one for each flow, and
 * behind them the packets of lower effort.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>

#include "sim/fq.h"

/** @brief The queue; start from sim_queue_init(). */
struct sim_queue {
    struct sim_fifo row;    /**< when there is no fair queueing */
    struct sim_fifo low;    /**< lower effort: when nothing else waits */
    struct sim_fq *fair;    /**< flows, or NULL: never asked for */
    struct sim_codel codel; /**< of row and low */
    uint64_t packets;       /**< that wait */
    uint64_t bytes;         /**< of them */
};

/** @brief Where a packet came from. */
struct sim_queue_turn {
    struct sim_codel *codel; /**< of its row */
    uint64_t backlog;        /**< bytes that wait in it */
};

/** @brief Makes an empty queue. @param q  queue */
void sim_queue_init(struct sim_queue *q);
/** @brief Frees what waits. @param q  queue */
void sim_queue_free(struct sim_queue *q);
/** @brief Makes room for flows; when memory is short all share one row.
 * @param q  queue @param seed  of the hash */
void sim_queue_make_fair(struct sim_queue *q, uint64_t seed);
/**
 * @brief Puts a packet in.
 * @param q        queue
 * @param quantum  of fair queueing, bytes; 0: one row
 * @param low      lower effort
 * @param p        packet
 */
void sim_queue_push(struct sim_queue *q, uint32_t quantum, bool low,
                    struct sim_packet *p);
/**
 * @brief Takes the packet whose turn it is.
 * @param q          queue
 * @param quantum    of fair queueing, bytes; 0: one row
 * @param[out] turn  where it came from
 * @return it, or NULL: none waits
 */
struct sim_packet *sim_queue_pop(struct sim_queue *q, uint32_t quantum,
                                 struct sim_queue_turn *turn);
/** @brief Takes a packet of lower effort, to be dropped. @param q  queue
 * @return it, or NULL */
struct sim_packet *sim_queue_pop_low(struct sim_queue *q);
/** @brief Takes the first packet of the flow that has most bytes, to be
 * dropped. @param q  queue @return it, or NULL */
struct sim_packet *sim_queue_pop_longest(struct sim_queue *q);

#endif /* SIM_QUEUE_H */

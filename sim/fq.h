/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/fq.h
 * @brief Fair queueing: deficit round robin over flows by address, new ones
 * first (RFC 8290, 4.1 and 4.2); each flow has its own CoDel.
 */
#ifndef SIM_FQ_H
#define SIM_FQ_H

#include "sim/codel.h"
#include "sim/fifo.h"

/** Number of hash buckets for flows (RFC 8290 section 4.1.2). */
#define SIM_FQ_FLOWS 1024

/** A set of flows. */
struct sim_fq;

/** @brief Creates an empty set. @param seed of the hash @return set, or NULL
 * without memory */
struct sim_fq *sim_fq_new(uint64_t seed);
/** @brief Frees a set with its packets. @param q set, or NULL */
void sim_fq_free(struct sim_fq *q);
/**
 * @brief Appends a packet to its flow.
 * @param q        set
 * @param quantum  bytes that a flow may send in a round
 * @param p        packet, with its size
 */
void sim_fq_push(struct sim_fq *q, uint32_t quantum, struct sim_packet *p);
/**
 * @brief Takes the packet whose turn it is.
 * @param q             set
 * @param quantum       bytes that a flow may send in a round
 * @param[out] codel    the state of its flow
 * @param[out] backlog  bytes of its flow that wait behind it
 * @return packet, or NULL: none waits
 */
struct sim_packet *sim_fq_pop(struct sim_fq *q, uint32_t quantum,
                              struct sim_codel **codel, uint64_t *backlog);
/** @brief Takes the first packet of the longest flow, to be dropped.
 * @param q  set @return it, or NULL: none waits */
struct sim_packet *sim_fq_pop_longest(struct sim_fq *q);

#endif /* SIM_FQ_H */

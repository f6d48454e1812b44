/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/pie.h
 * @brief PIE: active queue management by a controller of the queueing delay
 * (RFC 8033), measured on departing packets (section 5.2).
 */
#ifndef SIM_PIE_H
#define SIM_PIE_H

#include "sim/random.h"

/** @brief Parameters (RFC 8033, 4.2 and 5.1). */
struct sim_pie_config {
    uint64_t target;   /**< QDELAY_REF, ns */
    uint64_t t_update; /**< T_UPDATE, ns */
    double mark_max;   /**< mark up to this probability, drop above it */
};

/** @brief State, initially zeroed; names as in RFC 8033. */
struct sim_pie {
    bool running;       /**< a packet has arrived */
    uint64_t next;      /**< next update of the probability, ns */
    uint64_t burst;     /**< burst_allowance, ns */
    uint64_t delay;     /**< current queueing delay, ns */
    uint64_t old;       /**< at the last update, ns */
    double p;           /**< drop_prob */
    double accumulated; /**< accu_prob */
};

/** @brief Input of PIE when a packet arrives. */
struct sim_pie_arrival {
    uint64_t now;     /**< ns */
    uint64_t backlog; /**< queued bytes */
    bool ecn;         /**< the packet may be marked */
};

/** PIE's decision about an arriving packet. */
enum sim_pie_verdict { SIM_PIE_PASS, SIM_PIE_MARK, SIM_PIE_DROP };

/** @brief Sets the RFC's 15 ms and 15 ms; marks up to 0.1. @param c  config */
void sim_pie_config_init(struct sim_pie_config *c);
/**
 * @brief Advances the time; call before the queue changes.
 * @param s      state
 * @param c      parameters
 * @param now    current time, ns
 */
void sim_pie_tick(struct sim_pie *s, const struct sim_pie_config *c,
                  uint64_t now);
/** @brief A packet has left. @param s  state @param waited  how long it was in
 * the queue, ns; 0 also when the queue is empty now */
void sim_pie_left(struct sim_pie *s, uint64_t waited);
/**
 * @brief Judges an arriving packet.
 * @param s    state
 * @param c    parameters
 * @param a    the packet and the queue
 * @param rnd  random numbers
 * @return a verdict
 */
enum sim_pie_verdict sim_pie_arrive(struct sim_pie *s,
                                    const struct sim_pie_config *c,
                                    const struct sim_pie_arrival *a,
                                    struct sim_random *rnd);

#endif /* SIM_PIE_H */

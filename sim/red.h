/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/red.h
 * @brief Random early detection (Floyd and Jacobson 1993) with the parameters
 * and arithmetic of ns-2's RED queue.
 */
#ifndef SIM_RED_H
#define SIM_RED_H

#include "sim/random.h"

/** @brief Parameters, named as in ns-2 (Queue/RED). */
struct sim_red_config {
    double thresh;       /**< average queue at which drops begin, in packets (or
                              bytes / mean_pktsize) */
    double maxthresh;    /**< average at which the probability is max_p */
    double q_weight;     /**< weight of a sample in the average */
    double max_p;        /**< 1 / linterm_ */
    double mean_pktsize; /**< bytes; used when idle and in byte mode */
    bool gentle;         /**< rise from max_p to 1 up to twice maxthresh */
    bool wait;           /**< space drops out */
    bool bytes;          /**< measure the queue in bytes */
    bool setbit;         /**< mark ECN-capable packets instead */
};

/** @brief State. */
struct sim_red {
    double avg;         /**< average queue, packets or bytes */
    double count_bytes; /**< since the last drop */
    uint64_t count;     /**< packets since the last drop */
    bool above;         /**< the average was above thresh before */
};

/** RED's decision about an arriving packet. */
enum sim_red_verdict {
    SIM_RED_PASS,  /**< queue it */
    SIM_RED_EARLY, /**< drop or mark: unlucky */
    SIM_RED_FORCED /**< drop: the average is far too high */
};

/** @brief Input of RED when a packet arrives. */
struct sim_red_arrival {
    uint64_t queue_packets; /**< waiting, not counting the one in service */
    uint64_t queue_bytes;   /**< likewise */
    uint64_t size;          /**< bytes of the packet */
    uint64_t idle;          /**< how long the link has been idle, ns */
    double rate;            /**< rate of the link, bit/s */
};

/** @brief Sets ns-2's defaults. @param c  config */
void sim_red_config_init(struct sim_red_config *c);
/**
 * @brief Judges an arriving packet.
 * @param red  state, initially zeroed
 * @param c    parameters
 * @param a    the packet and the queue
 * @param rnd  random numbers
 * @return a verdict
 */
enum sim_red_verdict sim_red_arrive(struct sim_red *red,
                                    const struct sim_red_config *c,
                                    const struct sim_red_arrival *a,
                                    struct sim_random *rnd);
/** @brief A packet was dropped for any reason. @param red  state */
void sim_red_dropped(struct sim_red *red);

#endif /* SIM_RED_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/bulk.h
 * @brief Bulk flows of chosen controllers over one bottleneck, in virtual time.
 *
 * Each flow has two hosts and access links of its own; all share the bottleneck
 * and the way back.  Equal configs give equal results, to the last bit.
 */
#ifndef SIM_BULK_H
#define SIM_BULK_H

#include <tltcp/config.h>
#include <tltcp/stats.h>

#include <stdbool.h>
#include <stdint.h>

/** Flows at most. */
#define SIM_BULK_FLOWS 64

/** @brief A flow. */
struct sim_bulk_flow {
    const char *congestion;    /**< name of its controller */
    const char *const *params; /**< tltcp_controller_options::params, or NULL */
    const double *values;      /**< tltcp_controller_options::values */
};

/** @brief The path and the flows; start from sim_bulk_config_init(). */
struct sim_bulk_config {
    double rate;  /**< of the bottleneck, bit/s on the wire of IP */
    uint64_t rtt; /**< without queues, ns */
    double queue; /**< of the bottleneck, in products of rate and rtt */
    double loss;  /**< of each packet towards the receivers, 0 to 1 */
    bool red;     /**< RED drops early, from an average of a quarter of the
                       queue on to three quarters of it */
    /** A handover each so often, ns: the RTT alternates between rtt and rtt +
     * handover_rtt, and nothing passes for handover_gap.  0: none. */
    uint64_t handover_every;
    uint64_t handover_rtt; /**< ns */
    uint64_t handover_gap; /**< ns */

    uint64_t seconds; /**< how long the flows run, ns */
    uint64_t warmup;  /**< what is not measured at the beginning, ns */
    uint64_t stagger; /**< between the starts of two flows, ns */
    uint64_t seed;    /**< of losses, starts and connections */
    /** Further options of the senders, or NULL; the controller, the buffer and
     * the idle timeout are set here. */
    const tltcp_config *sender;
    struct sim_bulk_flow flow[SIM_BULK_FLOWS];
    int flows;
};

/** @brief What a flow achieved between warmup and end. */
struct sim_bulk_result {
    double goodput;    /**< bit/s of user data at the receiver */
    double queueing;   /**< mean of srtt less the lowest RTT, seconds */
    tltcp_stats stats; /**< the sender's at the end, whole run */
};

/** @brief What all of them achieved. */
struct sim_bulk_results {
    struct sim_bulk_result flow[SIM_BULK_FLOWS];
    double utilisation; /**< sum of goodput over the rate */
    double jain;        /**< fairness index over the flows */
    uint64_t dropped;   /**< packets that found the queue full */
};

/** @brief 10 Mbit/s, 100 ms, a queue of one product, 60 s of which 20 do not
 * count, no flow.  @param c  config */
void sim_bulk_config_init(struct sim_bulk_config *c);
/**
 * @brief Runs the flows.
 * @param c         config
 * @param[out] out  results
 * @return 0, or a negative ::tltcp_error: a controller or parameter that does
 * not exist, or short memory
 */
int sim_bulk_run(const struct sim_bulk_config *c, struct sim_bulk_results *out);

#endif /* SIM_BULK_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/bulk.h
 * @brief Bulk flows of given controllers over one bottleneck, in virtual time.
 *
 * Each flow has its own two hosts and access links; all share the bottleneck
 * and the return path. Equal configs give bit-identical results.
 */
#ifndef SIM_BULK_H
#define SIM_BULK_H

#include <tltcp/config.h>
#include <tltcp/stats.h>

#include <stdbool.h>
#include <stdint.h>

/** Maximum number of flows. */
#define SIM_BULK_FLOWS 64

/** @brief A flow. */
struct sim_bulk_flow {
    const char *congestion;    /**< name of its controller */
    const char *const *params; /**< tltcp_controller_options::params, or NULL */
    const double *values;      /**< tltcp_controller_options::values */
};

/** @brief The path and the flows; start from sim_bulk_config_init(). */
struct sim_bulk_config {
    double rate;  /**< of the bottleneck, bit/s of IP packets */
    uint64_t rtt; /**< without queues, ns */
    double queue; /**< of the bottleneck, in bandwidth-delay products */
    double loss;  /**< loss probability towards the receivers, 0 to 1 */
    bool red;     /**< RED drops early, with thresholds at a quarter and three
                       quarters of the queue */
    /** Interval of handovers, ns: the RTT alternates between rtt and rtt +
     * handover_rtt, and nothing passes for handover_gap. 0: none. */
    uint64_t handover_every;
    uint64_t handover_rtt; /**< ns */
    uint64_t handover_gap; /**< ns */

    uint64_t seconds; /**< how long the flows run, ns */
    uint64_t warmup;  /**< time at the beginning that is not measured, ns */
    uint64_t stagger; /**< between the starts of two flows, ns */
    uint64_t seed;    /**< of losses, starts and connections */
    /** Further options of the senders, or NULL; the controller, the buffer and
     * the idle timeout are set here. */
    const tltcp_config *sender;
    struct sim_bulk_flow flow[SIM_BULK_FLOWS];
    int flows;
};

/** @brief Results of a flow between warmup and end. */
struct sim_bulk_result {
    double goodput;    /**< bit/s of user data at the receiver */
    double queueing;   /**< mean of srtt less the lowest RTT, seconds */
    tltcp_stats stats; /**< the sender's at the end, whole run */
};

/** @brief Results of all flows. */
struct sim_bulk_results {
    struct sim_bulk_result flow[SIM_BULK_FLOWS];
    double utilisation; /**< sum of goodput over the rate */
    double jain;        /**< fairness index over the flows */
    uint64_t dropped;   /**< packets dropped by the full queue */
};

/** @brief Sets 10 Mbit/s, 100 ms, a queue of one bandwidth-delay product, 60 s
 * including 20 s of warmup, no flow. @param c  config */
void sim_bulk_config_init(struct sim_bulk_config *c);
/**
 * @brief Runs the flows.
 * @param c         config
 * @param[out] out  results
 * @return 0, or a negative ::tltcp_error: unknown controller or parameter, or
 * out of memory
 */
int sim_bulk_run(const struct sim_bulk_config *c, struct sim_bulk_results *out);

#endif /* SIM_BULK_H */

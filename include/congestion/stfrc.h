/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/stfrc.h
 * @brief The measurements of sender-based TFRC: loss event rate and receive
 * rate, from what the sender knows.
 *
 * The sender knows when each transmission left and learns which arrived. A
 * transmission arrives a constant part of the RTT, the symmetry ratio, after it
 * left. From these times the sender derives what a TFRC receiver would report,
 * and the controller "stfrc" acts on it; the peer need not know.
 *
 * Transmissions are counted as they are reported, and only short runs of them
 * are kept: the state has a fixed size, whatever the bandwidth-delay product.
 *
 * Source: Shahriar, Atiquzzaman, Ivancic, Wood, "A Sender-based TFRC for
 * Saratoga", 2011.
 */
#ifndef CONGESTION_STFRC_H
#define CONGESTION_STFRC_H

#include <congestion/congestion.h>
#include <congestion/loss_history.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_measure
 * @{ */

/** Runs kept; beyond that, the oldest arrivals merge and losses are settled. */
#define CONG_STFRC_RUNS 32
/** Answers whose rates limit the receive rate until the first loss. */
#define CONG_STFRC_ANSWERS 2

/** @brief Transmissions within a fraction of an RTT; times between the first
 * and the last are interpolated. */
struct cong_stfrc_run {
    uint64_t first;    /**< number of the first one */
    uint64_t count;    /**< how many */
    cong_time t_first; /**< arrival of the first one */
    cong_time t_last;  /**< arrival of the last one */
    double bytes;      /**< their sizes */
};

/** @brief The measuring sender. */
struct cong_stfrc {
    struct cong_loss_history history; /**< loss intervals */
    double s;                         /**< segment size, bytes */
    double symmetry;                  /**< forward delay over RTT */
    cong_time rtt;                    /**< smoothed; -1: not known */
    uint64_t next;         /**< number of the next transmission reported */
    bool was_lost;         /**< fate of the newest one */
    unsigned arrived_runs; /**< entries of @c arrived */
    unsigned lost_runs;    /**< entries of @c lost */
    struct cong_stfrc_run arrived[CONG_STFRC_RUNS]; /**< of the last RTT */
    struct cong_stfrc_run lost[CONG_STFRC_RUNS];    /**< of this cycle */
    cong_time t_newest; /**< latest arrival that the history knows */
    cong_time t_cycle;  /**< arrival of the end of the last cycle; 0: none */
    double cycle_bytes; /**< arrived in this cycle */
    double x_max;       /**< highest receive rate, bytes/s */
    double answer[CONG_STFRC_ANSWERS]; /**< rates of the newest answers */
    unsigned answers;                  /**< how many there were */
    uint64_t events;                   /**< loss events */
    bool was_lossy;                    /**< there were some before this cycle */
};

/** @brief Result of a cycle, for cong_ack. */
struct cong_stfrc_report {
    double p;      /**< loss event rate, 0 to 1 */
    double x_recv; /**< bytes/s received over the last RTT */
};

/**
 * @brief Initialises a sender's measurements.
 * @param h         measurements
 * @param s         segment size, bytes, > 0
 * @param symmetry  forward delay over RTT, 0 to 1. A constant ratio shifts all
 *                  arrivals alike, so it matters little (the paper: 0.5 to 0.7
 *                  give the same)
 */
CONG_API void cong_stfrc_init(struct cong_stfrc *h, double s, double symmetry);
/**
 * @brief Sets the RTT that later calls use.
 * @param h    measurements
 * @param rtt  smoothed RTT, ns; 0 or less: not known
 */
CONG_API void cong_stfrc_set_rtt(struct cong_stfrc *h, cong_time rtt);
/**
 * @brief Reports that the next transmission arrived. Report transmissions, new
 * and repeated, in the order in which they left.
 * @param h     measurements
 * @param sent  when it left
 * @param size  bytes
 */
CONG_API void cong_stfrc_received(struct cong_stfrc *h, cong_time sent,
                                  double size);
/**
 * @brief Reports that the next transmission was lost.
 * @param h     measurements
 * @param sent  when it left
 */
CONG_API void cong_stfrc_lost(struct cong_stfrc *h, cong_time sent);
/**
 * @brief Ends a cycle: one answer brought the fates that were reported since
 * the last call.
 * @param h         measurements; the RTT is known
 * @param sent      when the answered transmission left
 * @param since     time since the previous answer; 0: not known. Until the
 *                  first loss, bytes per this time limit the receive rate:
 *                  arrival times inferred from send times do not show a growing
 *                  queue
 * @param[out] out  for the controller
 */
CONG_API void cong_stfrc_end(struct cong_stfrc *h, cong_time sent,
                             cong_time since, struct cong_stfrc_report *out);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_STFRC_H */

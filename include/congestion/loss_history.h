/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/loss_history.h
 * @brief Loss intervals and the loss event rate of TFRC (RFC 5348 sections 5.2
 * to 5.5), with history discounting.
 *
 * The caller reports the fate of every transmission in the order sent. The
 * history runs at the receiver (congestion/tfrc.h) or, if the sender learns
 * which transmissions arrived, at the sender.
 */
#ifndef CONGESTION_LOSS_HISTORY_H
#define CONGESTION_LOSS_HISTORY_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_measure
 * @{ */

/** Closed loss intervals that count. */
#define CONG_LOSS_INTERVALS 8

/** @brief The history of one direction; index 0 is the open interval, the
 * others are closed ones, newest first. */
struct cong_loss_history {
    double interval[CONG_LOSS_INTERVALS + 1]; /**< packets */
    double discount[CONG_LOSS_INTERVALS + 1]; /**< factors */
    double factor;     /**< discount in force for the closed ones, 0.25 to 1 */
    unsigned closed;   /**< closed intervals known, at most 8 */
    bool lossy;        /**< at least one loss event was seen */
    uint64_t newest;   /**< highest number reported */
    uint64_t start;    /**< first loss of the newest event */
    cong_time t_start; /**< its (interpolated) arrival time */
};

/** @brief Initialises an empty history. @param h  history */
CONG_API void cong_loss_history_init(struct cong_loss_history *h);
/**
 * @brief A transmission arrived.
 * @param h    history
 * @param seq  its number; transmissions are numbered without gaps
 */
CONG_API void cong_loss_history_received(struct cong_loss_history *h,
                                         uint64_t seq);
/**
 * @brief A transmission was lost, or arrived with a congestion mark.
 *
 * It begins a new loss event if there is none yet or if the newest one began
 * more than @p rtt earlier; otherwise it belongs to that event.
 *
 * @param h          history
 * @param seq        its number
 * @param t_arrival  when it arrived or would have arrived
 * @param rtt        RTT, ns
 * @param first      length of the interval before the very first event, from
 *                   cong_tfrc_first_interval(), packets
 * @return true when it began a new loss event
 */
CONG_API bool cong_loss_history_lost(struct cong_loss_history *h, uint64_t seq,
                                     cong_time t_arrival, cong_time rtt,
                                     double first);
/**
 * @brief The average loss interval.
 * @param h  history
 * @return packets; 0: no loss yet
 */
CONG_API double cong_loss_history_mean(const struct cong_loss_history *h);
/**
 * @brief The loss event rate.
 * @param h  history
 * @return 0 to 1
 */
CONG_API double cong_loss_history_rate(const struct cong_loss_history *h);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_LOSS_HISTORY_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/prr.h
 * @brief Proportional rate reduction (RFC 9937): how much may leave during a
 * recovery period.
 */
#ifndef CONGESTION_PRR_H
#define CONGESTION_PRR_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_send
 * @{ */

/** @brief State of one recovery period. */
struct cong_prr {
    double delivered; /**< bytes delivered since the recovery period began */
    double out;       /**< bytes sent since then */
    double fs;        /**< bytes in flight when it began */
    double cwnd;      /**< the window that holds now, bytes */
};

/**
 * @brief A recovery period begins.
 * @param p       state
 * @param flight  bytes in flight before the feedback that opened it
 */
CONG_API void cong_prr_enter(struct cong_prr *p, double flight);
/**
 * @brief A feedback during the recovery period; sets cong_prr::cwnd.
 * @param p         state
 * @param acked     bytes newly delivered
 * @param flight    bytes in flight after it
 * @param ssthresh  the controller's target
 * @param mss       largest payload
 * @param advanced  the cumulative acknowledgement advanced and no new loss was
 *                  found
 */
CONG_API void cong_prr_ack(struct cong_prr *p, double acked, double flight,
                           double ssthresh, double mss, bool advanced);
/**
 * @brief A packet leaves during the recovery period.
 * @param p     state
 * @param size  its bytes
 */
CONG_API void cong_prr_sent(struct cong_prr *p, double size);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_PRR_H */

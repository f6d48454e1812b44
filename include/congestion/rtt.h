/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/rtt.h
 * @brief RTT estimator and retransmission timeout (RFC 6298).
 */
#ifndef CONGESTION_RTT_H
#define CONGESTION_RTT_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_measure
 * @{ */

/** @brief A low RTT and its time. */
struct cong_rtt_low {
    cong_time rtt; /**< lowest since the one before */
    cong_time at;  /**< when it was taken */
};

/** @brief The estimator; the owner reads the fields. */
struct cong_rtt {
    cong_time srtt;        /**< smoothed RTT; -1: no sample yet */
    cong_time rttvar;      /**< its variation */
    cong_time min_rtt;     /**< lowest sample of the window; -1: none */
    cong_time lowest;      /**< lowest sample ever; -1: none */
    cong_time latest;      /**< newest sample; -1: none */
    cong_time granularity; /**< clock granularity G */
    cong_time rto_min;     /**< lower bound of the RTO */
    cong_time rto_max;     /**< upper bound of the RTO */
    cong_time window;      /**< length of the min_rtt window, ns; may be set */
    struct cong_rtt_low low[3]; /**< min_rtt, and the two samples that replace
                                   it when it ages */
    cong_time clock;  /**< newest time; without a clock, the sum of all RTTs */
    unsigned backoff; /**< expiries in a row; the RTO doubles with each */
};

/**
 * @brief Initialises an estimator.
 * @param r            estimator
 * @param granularity  clock granularity, ns, >= 0
 * @param rto_min      lower bound of the RTO, ns (1 s in RFC 6298; 200 ms in
 *                     ns-2 and Linux)
 */
CONG_API void cong_rtt_init(struct cong_rtt *r, cong_time granularity,
                            cong_time rto_min);
/**
 * @brief Takes a sample and ends any backoff.
 *
 * cong_rtt::min_rtt is the lowest sample of the last cong_rtt::window, 10 s by
 * default. After that time it follows a longer route, but also a queue that
 * never empties.
 *
 * @param r       estimator
 * @param sample  ns, > 0
 * @param now     current time; a clock that steps back reads as no time passed
 */
CONG_API void cong_rtt_sample_at(struct cong_rtt *r, cong_time sample,
                                 cong_time now);
/**
 * @brief The same without a clock: assumes that samples are one round trip
 * apart.
 * @param r       estimator
 * @param sample  ns, > 0
 */
CONG_API void cong_rtt_sample(struct cong_rtt *r, cong_time sample);
/**
 * @brief Raises cong_rtt::min_rtt at once: the path has become longer.
 * @param r    estimator
 * @param rtt  RTT without a queue, ns; without effect unless above
 *             cong_rtt::min_rtt
 */
CONG_API void cong_rtt_raise_min(struct cong_rtt *r, cong_time rtt);
/**
 * @brief The RTO in force, backoff included; 1 s without a sample.
 * @param r  estimator
 * @return ns, at most cong_rtt::rto_max
 */
CONG_API cong_time cong_rtt_rto(const struct cong_rtt *r);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_RTT_H */

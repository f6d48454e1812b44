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
    cong_time window;      /**< min_rtt is that of so long, ns; may be set */
    struct {
        cong_time rtt; /**< lowest since the one before */
        cong_time at;  /**< when it was taken */
    } low[3];          /**< the three lowest in turn: min_rtt and what follows
                            when it has aged */
    cong_time clock;   /**< newest time; without a clock, the RTTs so far */
    unsigned backoff;  /**< expiries in a row; the RTO doubles with each */
};

/**
 * @brief Sets up an estimator without samples.
 * @param r            estimator
 * @param granularity  clock granularity, ns, >= 0
 * @param rto_min      lower bound of the RTO, ns; RFC 6298: 1 s, ns-2 and
 *                     Linux: 200 ms
 */
CONG_API void cong_rtt_init(struct cong_rtt *r, cong_time granularity,
                            cong_time rto_min);
/**
 * @brief Takes a sample and ends any backoff.
 *
 * cong_rtt::min_rtt is the lowest of the last cong_rtt::window, 10 s unless the
 * host sets another: a longer route is believed after that time, and so is a
 * queue that never empties.
 *
 * @param r       estimator
 * @param sample  ns, > 0
 * @param now     current time; a clock that steps back reads as no time passed
 */
CONG_API void cong_rtt_sample_at(struct cong_rtt *r, cong_time sample,
                                 cong_time now);
/**
 * @brief The same without a clock: as if samples came a round trip apart.
 * @param r       estimator
 * @param sample  ns, > 0
 */
CONG_API void cong_rtt_sample(struct cong_rtt *r, cong_time sample);
/**
 * @brief The RTO in force, backoff included; 1 s without a sample.
 * @param r  estimator
 * @return ns, at most cong_rtt::rto_max
 */
CONG_API cong_time cong_rtt_rto(const struct cong_rtt *r);

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_RTT_H */

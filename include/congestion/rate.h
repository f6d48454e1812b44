/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/rate.h
 * @brief Delivery-rate sampler: how fast the path delivers, immune to
 * compressed ACKs (draft-cheng-iccrg-delivery-rate-estimation).
 */
#ifndef CONGESTION_RATE_H
#define CONGESTION_RATE_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_measure
 * @{ */

/** @brief The sampler of one connection. */
struct cong_rate {
    double delivered;       /**< bytes delivered so far */
    double lost;            /**< bytes lost so far */
    double app_limited;     /**< value of delivered that ends the
                                 application-limited phase; 0: none */
    cong_time t_delivered;  /**< when delivered last grew */
    cong_time t_first;      /**< when the newest delivered packet was sent */
    double base;            /**< of the packet sampled by this feedback:
                                 delivered when it left */
    double tx_in_flight;    /**< likewise: bytes in flight when it left */
    double base_lost;       /**< likewise: lost when it left */
    cong_time t_sent;       /**< likewise: its send time; -1: no packet yet */
    cong_time send_elapsed; /**< likewise: time in which its flight was sent */
    cong_time ack_elapsed;  /**< likewise: time in which it was acknowledged */
    bool limited;           /**< likewise: it left application-limited */
};

/** @brief State to be kept with each transmission. */
struct cong_rate_snapshot {
    double delivered;      /**< cong_rate::delivered when it left */
    double lost;           /**< cong_rate::lost when it left */
    double tx_in_flight;   /**< bytes in flight, itself included */
    cong_time t_delivered; /**< cong_rate::t_delivered when it left */
    cong_time t_first;     /**< cong_rate::t_first when it left */
    cong_time t_sent;      /**< when it left */
    bool app_limited;      /**< it left application-limited */
};

/** @brief Initialises a sampler. @param r  sampler */
CONG_API void cong_rate_init(struct cong_rate *r);
/**
 * @brief A transmission leaves.
 * @param r          sampler
 * @param[out] snap  to be kept with the transmission
 * @param flight     bytes in flight before it
 * @param size       its bytes
 * @param now        when it leaves
 */
CONG_API void cong_rate_on_sent(struct cong_rate *r,
                                struct cong_rate_snapshot *snap, double flight,
                                double size, cong_time now);
/**
 * @brief A transmission was newly acknowledged by the feedback in progress.
 * @param r     sampler
 * @param snap  of that transmission
 * @param size  its bytes
 * @param now   when the feedback came
 */
CONG_API void cong_rate_on_acked(struct cong_rate *r,
                                 const struct cong_rate_snapshot *snap,
                                 double size, cong_time now);
/**
 * @brief Bytes were declared lost.
 * @param r     sampler
 * @param size  bytes
 */
CONG_API void cong_rate_on_lost(struct cong_rate *r, double size);
/**
 * @brief Ends a feedback.
 * @param r        sampler
 * @param min_rtt  lowest RTT; shorter intervals give no sample; -1: not known
 * @param[out] rs  the sample
 * @return true when @p rs was filled in
 */
CONG_API bool cong_rate_sample(struct cong_rate *r, cong_time min_rtt,
                               struct cong_rate_sample *rs);
/**
 * @brief The application has nothing more to send and the window is not full.
 * @param r       sampler
 * @param flight  bytes in flight
 */
CONG_API void cong_rate_app_limited(struct cong_rate *r, double flight);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_RATE_H */

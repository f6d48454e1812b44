/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/pacer.h
 * @brief A token clock that spreads packets over time (RFC 5348 section 4.6,
 * RFC 9002 section 7.7).
 */
#ifndef CONGESTION_PACER_H
#define CONGESTION_PACER_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_send
 * @{ */

/** @brief The pacer of one sender. */
struct cong_pacer {
    double rate;      /**< bytes/s; 0: no pacing */
    double credit;    /**< bytes that may leave at once after a pause */
    cong_time t_next; /**< nominal time of the next packet; -1: none yet */
    cong_time t_base; /**< nominal time of the newest packet; -1: none yet */
    cong_time t_sent; /**< when that packet left, on the host's clock */
    double size;      /**< its bytes */
};

/** @brief Initialises a pacer without a limit. @param p  pacer */
CONG_API void cong_pacer_init(struct cong_pacer *p);
/**
 * @brief Sets the rate; it applies to the next packet at once.
 * @param p       pacer
 * @param rate    bytes/s; 0: no pacing
 * @param credit  bytes that may leave at once after a pause
 */
CONG_API void cong_pacer_set(struct cong_pacer *p, double rate, double credit);
/**
 * @brief When the next packet may leave.
 * @param p    pacer
 * @param now  current time
 * @return @p now or earlier: at once; else the time to wait for
 */
CONG_API cong_time cong_pacer_next(const struct cong_pacer *p, cong_time now);
/**
 * @brief A packet leaves.
 * @param p     pacer
 * @param size  its bytes
 * @param now   when
 */
CONG_API void cong_pacer_sent(struct cong_pacer *p, double size, cong_time now);
/**
 * @brief How many packets of one size may leave now, if a first one may.
 * @param p     pacer
 * @param size  bytes of each
 * @param now   current time
 * @return 1 or more: as many as cong_pacer_next() would let leave one by one
 */
CONG_API uint64_t cong_pacer_burst(const struct cong_pacer *p, double size,
                                   cong_time now);
/**
 * @brief Packets of one size leave together; the same as cong_pacer_sent() for
 * each.
 * @param p      pacer
 * @param size   bytes of each
 * @param count  how many, at most cong_pacer_burst()
 * @param now    when
 */
CONG_API void cong_pacer_sent_burst(struct cong_pacer *p, double size,
                                    uint64_t count, cong_time now);
/**
 * @brief The rate at which a host should send for a controller.
 * @param cc    controller
 * @param srtt  smoothed RTT, ns; -1: none yet
 * @return the controller's own rate, or twice cwnd over srtt in slow start and
 * 1.2 times after it, but no more than the controller's pacing_max, bytes/s; 0:
 * do not pace
 */
CONG_API double cong_pacing_rate(const struct cong *cc, cong_time srtt);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_PACER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/rack.h
 * @brief Time-based loss detection (RFC 8985): a transmission is lost when one
 * sent later was delivered and a reordering window has passed.
 *
 * The host keeps the transmissions in the order sent and asks about the oldest
 * ones; the detector's state does not grow with the window.
 *
 * Send times identify transmissions. A host that sends several packets at one
 * clock reading must stamp each at least 1 ns after the previous one.
 */
#ifndef CONGESTION_RACK_H
#define CONGESTION_RACK_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_loss
 * @{ */

/** @brief The detector of one sender. */
struct cong_rack {
    cong_time t_sent;  /**< send time of the newest delivered; -1: none */
    cong_time rtt;     /**< its RTT */
    unsigned reo_mult; /**< quarters of min_rtt in the reordering window */
    unsigned clean;    /**< recoveries since reo_mult last grew */
    bool reordering;   /**< reordering has been seen */
};

/** @brief Initialises a detector. @param r  detector */
CONG_API void cong_rack_init(struct cong_rack *r);
/**
 * @brief A transmission was delivered.
 * @param r       detector
 * @param t_sent  when it left
 * @param rtt     its RTT, ns
 */
CONG_API void cong_rack_delivered(struct cong_rack *r, cong_time t_sent,
                                  cong_time rtt);
/**
 * @brief A packet arrived out of order, or after it was declared lost.
 * @param r         detector
 * @param spurious  it had been declared lost: widens the window, at most once
 *                  per round trip
 */
CONG_API void cong_rack_reordered(struct cong_rack *r, bool spurious);
/** @brief A recovery period ended. @param r  detector */
CONG_API void cong_rack_recovered(struct cong_rack *r);
/**
 * @brief The reordering window.
 * @param r        detector
 * @param min_rtt  lowest RTT, ns
 * @param srtt     smoothed RTT, ns
 * @param urgent   in recovery, or three later transmissions were delivered
 * @return ns
 */
CONG_API cong_time cong_rack_reo(const struct cong_rack *r, cong_time min_rtt,
                                 cong_time srtt, bool urgent);
/**
 * @brief When a transmission counts as lost.
 * @param r       detector
 * @param t_sent  when it left
 * @param reo     from cong_rack_reo()
 * @return absolute time; -1: nothing sent later was delivered
 */
CONG_API cong_time cong_rack_deadline(const struct cong_rack *r,
                                      cong_time t_sent, cong_time reo);

/**
 * @brief The tail-probe timeout (RFC 8985 section 7.2).
 *
 * Arm it when data is outstanding, no recovery period is open and no probe is
 * in flight. When it expires, send one new packet, or retransmit the last one
 * if there is none.
 *
 * @param srtt           smoothed RTT, ns; -1: none yet
 * @param rto            the RTO in force, ns: a probe never comes later
 * @param max_ack_delay  longest time by which the peer delays an ACK, ns
 * @param one_out        only one packet is outstanding
 * @return ns after the newest transmission
 */
CONG_API cong_time cong_rack_pto(cong_time srtt, cong_time rto,
                                 cong_time max_ack_delay, bool one_out);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_RACK_H */

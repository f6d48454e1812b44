/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/tfrc.h
 * @brief TCP-friendly rate control (RFC 5348): the throughput equation, its
 * inverse, and the receiver's measurements.
 *
 * The sender is the controller "tfrc". It uses cong_ack::p and
 * cong_ack::x_recv, which come from a receiver's report or from a loss history
 * at the sender.
 */
#ifndef CONGESTION_TFRC_H
#define CONGESTION_TFRC_H

#include <congestion/congestion.h>
#include <congestion/loss_history.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_measure
 * @{ */

/**
 * @brief The throughput equation (RFC 5348 section 3.1), t_RTO = 4 RTT.
 * @param s    segment size, bytes
 * @param rtt  round-trip time, ns, > 0
 * @param p    loss event rate, 0 to 1
 * @param b    segments per ACK of the modelled TCP: 1 or 2
 * @return bytes/s; INFINITY for a @p p of 0
 */
CONG_API double cong_tfrc_rate(double s, cong_time rtt, double p, double b);
/**
 * @brief The inverse of cong_tfrc_rate().
 * @param s     segment size, bytes
 * @param rtt   round-trip time, ns, > 0
 * @param rate  bytes/s
 * @param b     segments per ACK
 * @return the loss event rate at which the equation gives @p rate, 1e-9 to 1
 */
CONG_API double cong_tfrc_loss_rate(double s, cong_time rtt, double rate,
                                    double b);
/**
 * @brief Length of the interval before the first loss event (section 6.3.1).
 * @param s       segment size, bytes
 * @param rtt     round-trip time, ns, > 0
 * @param x_recv  highest receive rate seen so far, bytes/s; 0: none
 * @return packets
 */
CONG_API double cong_tfrc_first_interval(double s, cong_time rtt,
                                         double x_recv);

/** @brief One of the highest packets received. */
struct cong_tfrc_arrival {
    uint64_t seq;   /**< number */
    cong_time time; /**< arrival; -1: none */
    bool marked;    /**< it carried a congestion mark */
};

/** @brief The measuring receiver. */
struct cong_tfrc_receiver {
    struct cong_loss_history history; /**< loss intervals */
    struct cong_tfrc_arrival top[3];  /**< highest numbers, highest first */
    double s;                         /**< segment size, bytes */
    double bytes;                     /**< bytes received since the newest
                                           report */
    double before;                    /**< bytes received in the previous
                                           interval */
    double x_max;                     /**< highest receive rate seen, bytes/s */
    double p_reported;     /**< loss event rate of the newest report */
    cong_time rtt;         /**< the sender's estimate; -1: not known */
    cong_time t_begin;     /**< start of the current interval; -1: no report
                                yet */
    cong_time span_before; /**< length of the previous interval */
    bool urgent;           /**< report at once */
};

/** @brief A receiver's report. */
struct cong_tfrc_report {
    uint64_t seq;    /**< highest number received */
    cong_time delay; /**< time since it arrived */
    double p;        /**< loss event rate, 0 to 1 */
    double x_recv;   /**< bytes/s received over the last RTT */
};

/**
 * @brief Initialises a receiver.
 * @param r      receiver
 * @param s      segment size, bytes, > 0
 * @param first  number of the sender's first transmission
 */
CONG_API void cong_tfrc_receiver_init(struct cong_tfrc_receiver *r, double s,
                                      uint64_t first);
/**
 * @brief A packet arrived.
 *
 * A packet counts as lost when three higher numbers have arrived. Its arrival
 * time is interpolated between its neighbours. Late packets count as received
 * bytes but do not cancel a loss.
 *
 * @param r       receiver
 * @param seq     number of the transmission; retransmissions have new numbers
 * @param size    bytes
 * @param rtt     the sender's RTT estimate, as carried in the packet, ns; -1:
 *                not known
 * @param marked  it carried a congestion mark
 * @param now     when it arrived
 */
CONG_API void cong_tfrc_receiver_on_packet(struct cong_tfrc_receiver *r,
                                           uint64_t seq, double size,
                                           cong_time rtt, bool marked,
                                           cong_time now);
/**
 * @brief When the next report is due: at once after the first packet and when p
 * grew; otherwise one RTT after the previous report, if a packet arrived since.
 * @param r    receiver
 * @param now  current time
 * @return absolute time; @p now or earlier: at once; -1: not until a packet
 * arrives
 */
CONG_API cong_time cong_tfrc_receiver_due(const struct cong_tfrc_receiver *r,
                                          cong_time now);
/**
 * @brief Makes a report and begins the next interval.
 * @param r         receiver
 * @param now       current time
 * @param[out] out  what to send
 * @return false if nothing has arrived yet
 */
CONG_API bool cong_tfrc_receiver_report(struct cong_tfrc_receiver *r,
                                        cong_time now,
                                        struct cong_tfrc_report *out);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_TFRC_H */

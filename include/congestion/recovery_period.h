/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/recovery_period.h
 * @brief Recovery periods: one reduction per round trip, and undo, for hosts
 * that number their packets.
 *
 * A recovery period begins when a packet sent after the newest reduction is
 * found lost or arrives with a congestion mark (RFC 9002 section 7.3.2).  It
 * ends when everything sent before it began is delivered or given up (the
 * "recover" variable of RFC 6582, RecoveryPoint of RFC 6675).  Further losses
 * of packets sent before the reduction belong to the period and reduce nothing.
 * Losses of packets sent after it are kept and begin the next period as soon as
 * this one ends.  A scalable controller (cong::ect1) reduces little for a mark,
 * so it is told of the first loss in a period of marks as well (RFC 9331
 * section 4.3).
 *
 * A period is undone when every packet declared lost in it arrives after all
 * (the Eifel response, RFC 4015). Detection works per packet and needs neither
 * the timestamps of RFC 3522 nor the heuristics of F-RTO (RFC 5682). A
 * congestion mark proves congestion and makes the period final.
 *
 * For each feedback, the host notes losses and marks, then reports them once:
 *
 * 1. cong_recovery_period_end(), with the oldest packet still open (a host may
 *    also call this last);
 * 2. cong_recovery_period_on_lost(), _on_late() and _on_ce() for each packet;
 * 3. cong_ops::ack, with cong_ack::recovery from
 *    cong_recovery_period_in_recovery();
 * 4. cong_recovery_period_report(), or cong_recovery_period_timeout() when the
 *    retransmission timer expired or congestion is persistent.
 *
 * These functions send the controller every ::CONG_LOSS, ::CONG_ECN,
 * ::CONG_RTO, ::CONG_RECOVERED and ::CONG_UNDO, each once.
 */
#ifndef CONGESTION_RECOVERY_PERIOD_H
#define CONGESTION_RECOVERY_PERIOD_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_loss
 * @{ */

/** States of recovery. */
enum cong_recovery_state {
    CONG_RECOVERY_STATE_NONE,    /**< no period is open */
    CONG_RECOVERY_STATE_REPAIR,  /**< loss or mark: the window does not grow */
    CONG_RECOVERY_STATE_RESTART, /**< timeout, or a controller that restarts
                                      after a loss: slow start continues */
};

/** @brief Packets declared lost. */
struct cong_lost_packets {
    uint64_t count; /**< how many */
    uint64_t first; /**< lowest number; undefined if count is 0 */
    uint64_t last;  /**< highest number; likewise */
};

/** @brief The recovery periods of one sender.  Hosts may read the fields. */
struct cong_recovery_period {
    enum cong_recovery_state state; /**< state of the current period */
    bool final;        /**< the newest reduction cannot be undone */
    uint64_t reduced;  /**< first packet sent after the newest reduction */
    uint64_t restored; /**< the value to which an undo resets it */
    uint64_t repeated; /**< first packet sent after the newest report of a lost
                            retransmission */
    uint64_t end;      /**< first packet sent after the period began */
    double cwnd;       /**< window before the period, bytes */
    double ssthresh;   /**< threshold before it, bytes */
    struct cong_lost_packets lost; /**< in the newest period */
    uint64_t late;                 /**< how many of them arrived after all */
    /** Lost packets sent after the newest reduction: they begin the next
     * period. */
    struct cong_lost_packets next;
    unsigned nth; /**< highest number of losses of the same data; not yet
                       reported */
    bool ce;      /**< a packet arrived with a mark; not yet reported */
    bool new_ce;  /**< one sent after the newest reduction; not yet reported */
    bool marks_only; /**< the newest period was one of marks so far */
};

/** @brief State of the host at a report. */
struct cong_recovery_report {
    cong_time now;  /**< current time */
    uint64_t next;  /**< number of the next packet to be sent */
    double flight;  /**< bytes in flight before the feedback */
    double missing; /**< bytes known lost and not yet retransmitted */
};

/** Result of a report; bits. */
enum cong_recovery_outcome {
    CONG_RECOVERY_UNCHANGED = 0, /**< nothing was reported to the controller */
    CONG_RECOVERY_ENTERED = 1,   /**< a period began */
    CONG_RECOVERY_REPEATED = 2,  /**< within a period, a retransmission was lost
                                      or a packet sent after the reduction was
                                      marked */
    CONG_RECOVERY_RESTARTED = 4, /**< the controller restarts: declare
                                      everything in flight lost, without noting
                                      it, and continue in slow start */
    CONG_RECOVERY_UNDONE = 8     /**< a period was spurious; window and
                                      threshold are restored */
};

/**
 * @brief Initialises, with no period open. Also call it when the path changes.
 * @param p     periods
 * @param next  number of the next packet: losses and marks of packets before it
 *              are ignored
 */
CONG_API void cong_recovery_period_init(struct cong_recovery_period *p,
                                        uint64_t next);
/**
 * @brief Notes that a packet was declared lost.
 *
 * Packets are declared lost in the order of their numbers, or nearly so.
 *
 * @param p       periods
 * @param number  of the packet
 * @param nth     n-th loss of the data in it, from 1
 */
CONG_API void cong_recovery_period_on_lost(struct cong_recovery_period *p,
                                           uint64_t number, unsigned nth);
/**
 * @brief Notes that a packet that had been declared lost arrived.
 * @param p       periods
 * @param number  of the packet
 */
CONG_API void cong_recovery_period_on_late(struct cong_recovery_period *p,
                                           uint64_t number);
/**
 * @brief Notes that packets arrived with a congestion mark.
 * @param p       periods
 * @param number highest packet that may have carried it; if only counts are
 *               known, the highest that the feedback newly acknowledges
 */
CONG_API void cong_recovery_period_on_ce(struct cong_recovery_period *p,
                                         uint64_t number);
/**
 * @brief Whether this feedback must not grow the window. Losses and marks noted
 * since the newest report count.
 * @param p  periods
 * @return the value for cong_ack::recovery
 */
CONG_API bool
cong_recovery_period_in_recovery(const struct cong_recovery_period *p);
/**
 * @brief Reports losses and marks noted since the previous report.
 * @param p   periods
 * @param cc  controller
 * @param r state of the host
 * @return ::cong_recovery_outcome bits
 */
CONG_API unsigned
cong_recovery_period_report(struct cong_recovery_period *p, struct cong *cc,
                            const struct cong_recovery_report *r);
/**
 * @brief The retransmission timer expired, or congestion is persistent (RFC
 * 9002 section 7.6). Call it instead of cong_recovery_period_report().
 *
 * If the host declares everything in flight lost after an expiry, it may report
 * the expiry first and not note these losses. The period then cannot be undone.
 *
 * @param p    periods
 * @param cc   controller
 * @param r state of the host
 * @param nth  n-th expiry for the same data, from 1
 */
CONG_API void cong_recovery_period_timeout(struct cong_recovery_period *p,
                                           struct cong *cc,
                                           const struct cong_recovery_report *r,
                                           unsigned nth);
/**
 * @brief Ends the period if the fate of everything sent before it is known.
 * @param p       periods
 * @param cc      controller
 * @param oldest  lowest packet whose fate is unknown or whose data is neither
 *                delivered nor given up; the number of the next packet if there
 *                is none
 * @param flight  bytes in flight
 * @param now     current time
 * @return true when a period ended
 */
CONG_API bool cong_recovery_period_end(struct cong_recovery_period *p,
                                       struct cong *cc, uint64_t oldest,
                                       double flight, cong_time now);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_RECOVERY_PERIOD_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/recovery.h
 * @brief The recovery engines of classic TCP for a byte stream with cumulative
 * acknowledgements: Tahoe, Reno (RFC 5681 section 3.2), NewReno (RFC 6582),
 * SACK (RFC 2018, RFC 6675).
 *
 * The engine counts duplicate ACKs, reports losses to the controller, and
 * inflates the window, so that controllers need not. Hosts that know the fate
 * of every transmission use congestion/recovery_period.h with congestion/prr.h
 * instead.
 *
 * With SACK, the host keeps the scoreboard. It calls cong_recovery_arrived()
 * for every segment that arrived behind the hole and treats everything else
 * below cong_recovery_lost_below() as lost. It compares the window with the
 * pipe (RFC 6675 section 4): bytes sent that neither arrived nor are lost, and
 * bytes sent again. The timer finds a retransmission that is lost again.
 *
 * For every ACK, the host calls cong_ops::ack with cong_ack::recovery set to
 * cong_recovery::open, then one function of this file, and then performs the
 * returned actions.
 */
#ifndef CONGESTION_RECOVERY_H
#define CONGESTION_RECOVERY_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup congestion_loss
 * @{ */

/** Kinds of recovery engines. */
enum cong_recovery_kind {
    CONG_RECOVERY_TAHOE, /**< a loss restarts slow start; no recovery period */
    CONG_RECOVERY_RENO,  /**< any advance ends the recovery period */
    CONG_RECOVERY_NEWRENO, /**< one hole per round trip until all are filled
                            */
    CONG_RECOVERY_SACK     /**< all known holes, as far as the pipe allows */
};

/** Duplicate ACKs, or segments that arrived behind a hole, that mean a loss. */
#define CONG_RECOVERY_DUPLICATES 3

/** What the host does next; bits. */
enum cong_recovery_action {
    CONG_RECOVERY_NOTHING = 0, /**< nothing */
    CONG_RECOVERY_REPAIR = 1,  /**< retransmit the first unacknowledged segment,
                                    regardless of the window */
    CONG_RECOVERY_GO_BACK = 2, /**< retransmit everything not known to be
                                    delivered, in slow start */
    CONG_RECOVERY_RESTART_RTO = 4 /**< restart the retransmission timer */
};

/** @brief The engine of one connection. */
struct cong_recovery {
    enum cong_recovery_kind kind; /**< set by cong_recovery_init() */
    bool limited_transmit; /**< the first two duplicates release a segment each
                                (RFC 3042); off by default */
    bool open;             /**< a recovery period is open */
    bool guarded;          /**< recover is valid */
    bool restarted;      /**< a go-back is in progress; its end is reported when
                              recover is reached */
    bool partial;        /**< a partial ACK of this recovery period was seen */
    unsigned duplicates; /**< since the newest advance */
    uint64_t recover;    /**< end of the data sent when the newest recovery
                              period began or the timer expired */
    double inflation;    /**< bytes; may be negative */
    /** SACK: first bytes of the highest segments that arrived, highest
     * first */
    uint64_t arrived[CONG_RECOVERY_DUPLICATES];
};

/**
 * @brief Initialises an engine.
 * @param r     engine
 * @param kind kind of engine
 */
CONG_API void cong_recovery_init(struct cong_recovery *r,
                                 enum cong_recovery_kind kind);
/**
 * @brief The window in force, including inflation and limited transmit.
 * @param r   engine
 * @param cc  controller
 * @return bytes, at least cong::mss
 */
CONG_API double cong_recovery_window(const struct cong_recovery *r,
                                     const struct cong *cc);
/**
 * @brief SACK: reports a segment that arrived behind the hole, before the
 * function for the ACK that carries this.
 * @param r      engine
 * @param start  offset of its first byte; each segment is reported once
 */
CONG_API void cong_recovery_arrived(struct cong_recovery *r, uint64_t start);
/**
 * @brief SACK: where lost data ends (IsLost() of RFC 6675).
 * @param r  engine
 * @return offset; what begins below it and has not arrived is lost; 0: none
 */
CONG_API uint64_t cong_recovery_lost_below(const struct cong_recovery *r);
/**
 * @brief Processes a duplicate ACK: one that leaves data outstanding, repeats
 * the highest cumulative number, and carries neither data nor a window change.
 * @param r       engine
 * @param cc      controller; receives the loss event
 * @param una     the repeated cumulative number
 * @param next    end of the data sent so far
 * @param flight  bytes outstanding, arrived or not, without limited
 *                transmit
 * @param now     current time
 * @return ::cong_recovery_action bits
 */
CONG_API unsigned cong_recovery_duplicate(struct cong_recovery *r,
                                          struct cong *cc, uint64_t una,
                                          uint64_t next, double flight,
                                          cong_time now);
/**
 * @brief Processes an ACK that advances.
 * @param r       engine
 * @param cc      controller; receives the end of a recovery period
 * @param una     the new cumulative number
 * @param acked   bytes by which it advanced
 * @param flight  bytes outstanding after it
 * @param now     current time
 * @return ::cong_recovery_action bits
 */
CONG_API unsigned cong_recovery_advance(struct cong_recovery *r,
                                        struct cong *cc, uint64_t una,
                                        double acked, double flight,
                                        cong_time now);
/**
 * @brief The retransmission timer expired.
 * @param r       engine
 * @param cc      controller; receives the timeout
 * @param next    end of the data sent so far
 * @param flight  bytes outstanding
 * @param nth     n-th expiry for the same data, from 1
 * @param now     current time
 * @return ::cong_recovery_action bits
 */
CONG_API unsigned cong_recovery_timeout(struct cong_recovery *r,
                                        struct cong *cc, uint64_t next,
                                        double flight, unsigned nth,
                                        cong_time now);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_RECOVERY_H */

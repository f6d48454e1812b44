/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/stats.h
 * @brief Counters and gauges of a connection, with units in their names.
 */
#ifndef TLTCP_STATS_H
#define TLTCP_STATS_H

#include <tltcp/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_watch
 * @{ */

/**
 * @brief A snapshot of a connection.
 *
 * Counters start with the connection; gauges are current values. Section bytes
 * are stream bytes; packets and wire bytes are UDP payload.
 */
typedef struct tltcp_stats {
    size_t struct_size; /**< set by tltcp_stats_init() */

    uint64_t sections_offered;    /**< written by the application */
    uint64_t sections_delivered;  /**< every byte acknowledged */
    uint64_t sections_partial;    /**< expired with some bytes acknowledged */
    uint64_t sections_expired;    /**< expired with no byte acknowledged */
    uint64_t bytes_offered;       /**< written by the application */
    uint64_t bytes_delivered;     /**< acknowledged, each counted once */
    uint64_t bytes_expired;       /**< given up */
    uint64_t bytes_sent;          /**< stream bytes put into packets, including
                                       retransmissions */
    uint64_t bytes_retransmitted; /**< retransmitted bytes among them */
    uint64_t bytes_queued; /**< written, not acknowledged, not given up */

    uint64_t packets_sent;          /**< datagrams out */
    uint64_t packets_received;      /**< valid datagrams in */
    uint64_t packets_lost;          /**< declared lost */
    uint64_t packets_lost_obsolete; /**< those of packets_lost with nothing to
                                         retransmit */
    uint64_t packets_spurious;      /**< declared lost but acknowledged later */
    uint64_t packets_dropped;     /**< malformed, duplicate or foreign datagrams
                                       in */
    uint64_t wire_bytes_sent;     /**< UDP payload out */
    uint64_t wire_bytes_received; /**< UDP payload in */
    uint64_t pseudo_retransmissions; /**< see the paper, section 5.5 */
    uint64_t seq_updates_sent;  /**< seq_updates sent in packets without data */
    uint64_t probes_sent;       /**< probe timeouts that fired */
    uint64_t rto_count;         /**< retransmission timeouts or persistent
                                     congestion */
    uint64_t ecn_ce;            /**< sent packets that were marked */
    uint64_t congestion_events; /**< reductions of the window */

    uint64_t bytes_received;    /**< stream bytes that arrived, each counted
                                     once */
    uint64_t bytes_read;        /**< handed to the application */
    uint64_t gaps;              /**< gaps handed to the application */
    uint64_t gap_bytes;         /**< bytes in gaps */
    uint64_t sections_complete; /**< received complete */
    uint64_t sections_cut;      /**< received incomplete or not at all */
    uint64_t bytes_unread;      /**< received, not yet read by the
                                     application */

    uint64_t cwnd_bytes;        /**< congestion window; UINT64_MAX: none */
    uint64_t ssthresh_bytes;    /**< slow-start threshold; UINT64_MAX: none */
    uint64_t bytes_in_flight;   /**< sent, neither acknowledged nor lost */
    uint64_t pacing_rate_bps;   /**< bit/s; 0: not paced */
    uint64_t delivery_rate_bps; /**< newest sample, bit/s */
    uint64_t estimated_bps;     /**< estimated bandwidth of the path, bit/s of
                                     sections; 0: not known yet */
    uint64_t srtt_ns;           /**< smoothed RTT; 0: none yet */
    uint64_t rttvar_ns;         /**< its variation */
    uint64_t min_rtt_ns;        /**< lowest RTT; 0: none yet */
    uint64_t latest_rtt_ns;     /**< newest RTT */
    uint64_t rto_ns;            /**< retransmission or probe timeout in force */
    uint64_t datagram_bytes;    /**< datagram size in use, UDP payload */
    double loss_rate;           /**< packets_lost / packets_sent */
    tltcp_time since;           /**< when the connection was created */
    tltcp_time now;             /**< when the snapshot was taken */
    char congestion[24];        /**< name of the controller */
    char recovery[24];          /**< name of the recovery */
    uint64_t packets_forged;    /**< secured: datagrams in that were not sealed
                                     with the current keys; also counted in
                                     packets_dropped */
    uint64_t callers_rejected;  /**< listener: callers with a wrong or missing
                                     passphrase or key */
    uint64_t callers_turned_away; /**< listener: callers beyond its limits */
    uint64_t callers_retried;     /**< listener: callers asked for a token */
    uint64_t sections_dependent;  /**< given up because a section they depend on
                                       is lost; also counted as partial or
                                       expired */
    uint64_t sections_yielded;  /**< given up in favour of sections that others
                                     need; also counted as partial or expired */
    uint64_t repair_bytes_sent; /**< forward error correction: repair symbols
                                     sent */
    uint64_t bytes_rebuilt;     /**< recovered from repair symbols; included in
                                     bytes_received */
    uint64_t target_bps; /**< what an encoder should produce now, bit/s of
                              sections: the bandwidth less what it takes to
                              drain the queues in sender and path; falls when
                              acknowledgements are overdue; 0: not known yet.
                              Changes by over 5 % are notified
                              (::TLTCP_EVENT_RATE) */
    uint64_t delivery_delay_ns; /**< expected time for a byte written now to
                                     reach the peer: the backlog, the path's
                                     queue, half the minimum RTT, and the time
                                     for which acknowledgements are overdue; at
                                     least the time for which the oldest data in
                                     flight has waited; 0: not known yet */
    char transport[8];          /**< what carries the datagrams: "udp", or
                                     "tcp"; of a listener: "" */
} tltcp_stats;

/** @brief Zeroes a snapshot and sets its size tag. @param s  snapshot, of any
 * content */
#define tltcp_stats_init(s) tltcp_stats_init_sized((s), sizeof(*(s)))

/**
 * @brief Implements tltcp_stats_init(); do not call directly.
 * @param s     snapshot to initialise
 * @param size  sizeof(tltcp_stats) as the caller was compiled
 */
TLTCP_API void tltcp_stats_init_sized(tltcp_stats *s, size_t size);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_STATS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/stats.h
 * @brief Counters and gauges of a transfer and of an engine, with units in
 * their names.
 */
#ifndef SARATOGA_STATS_H
#define SARATOGA_STATS_H

#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_watch
 * @{ */

/** @brief A snapshot of a transfer. */
typedef struct saratoga_stats {
    size_t struct_size;      /**< set by saratoga_stats_init() */
    uint64_t size_bytes;     /**< of the file; ::SARATOGA_SIZE_UNKNOWN */
    uint64_t resumed_bytes;  /**< bytes held before the transfer began */
    uint64_t bytes;          /**< sender: known to be held by the receiver;
                                  receiver: held, each byte once */
    uint64_t progress_bytes; /**< end of the contiguous bytes held */
    uint64_t highest_bytes;  /**< end of the highest byte sent or received */
    uint64_t written_bytes;  /**< receiver: written by the application */
    uint64_t digested_bytes; /**< receiver: included in the running checksum */
    uint64_t data_packets;   /**< DATA sent or received, including
                                  retransmissions */
    uint64_t data_bytes;     /**< their payload */
    uint64_t retransmitted_packets; /**< sender: retransmissions among them */
    uint64_t retransmitted_bytes;   /**< their payload */
    uint64_t duplicate_bytes;       /**< receiver: received more than once */
    uint64_t requests_packets;      /**< DATA that requested a STATUS */
    uint64_t status_packets;        /**< STATUS sent or received */
    uint64_t status_bytes;          /**< their UDP payload */
    uint64_t metadata_packets;      /**< METADATA sent or received */
    uint64_t holes_reported; /**< holes reported in STATUS, including repeats */
    uint64_t holes;          /**< currently missing ranges */
    uint64_t hole_bytes;     /**< bytes in them */
    uint64_t polls;          /**< empty DATA sent */
    uint64_t loss_events;    /**< stfrc: loss events; else cycles with loss */
    uint64_t wire_bytes;     /**< bytes sent, including IP and UDP headers */
    uint64_t srtt_ns;        /**< smoothed RTT; 0: none yet */
    uint64_t min_rtt_ns;     /**< lowest RTT; 0: none yet */
    uint64_t latest_rtt_ns;  /**< newest RTT; 0: none yet */
    uint64_t rate_bps;       /**< sending rate in force; 0: no limit */
    uint64_t cwnd_bytes;     /**< congestion window; UINT64_MAX: none */
    uint64_t flight_bytes;   /**< sent, fate unknown */
    double loss_rate;        /**< stfrc: loss event rate; otherwise the recent
                                  packet loss ratio, 0 to 1 */
    double receive_rate;     /**< newest x_recv, bytes/s */
    saratoga_time since;     /**< when the transfer began */
    saratoga_time now;       /**< time of the snapshot, or of the end if the
                                  transfer has ended */
    uint32_t request;        /**< ::saratoga_request_type */
    uint32_t kind;           /**< ::saratoga_kind */
    uint32_t descriptor;     /**< ::saratoga_descriptor */
    uint32_t checksum;       /**< ::saratoga_checksum on the wire */
    uint32_t id;             /**< Id on the wire */
    uint32_t sending;        /**< 1: this side sends, 0: receives */
    char congestion[24];     /**< name of the controller, or "open" */
    uint64_t todo_bytes;     /**< sender: new and lost bytes still to be sent;
                                  also 0 while the peer seems unreachable */
    uint64_t unanswered_ns;  /**< sender: how long the peer has been asked for a
                                  STATUS in vain; 0: it is not */
} saratoga_stats;

/** @brief Zeroes a snapshot and sets its size tag. @param s  snapshot, of any
 * content */
#define saratoga_stats_init(s) saratoga_stats_init_sized((s), sizeof(*(s)))

/**
 * @brief Implements saratoga_stats_init(); do not call directly.
 * @param s     snapshot to initialise
 * @param size  sizeof(saratoga_stats) as the caller was compiled
 */
SARATOGA_API void saratoga_stats_init_sized(saratoga_stats *s, size_t size);

/** @brief A snapshot of an engine. */
typedef struct saratoga_engine_stats {
    size_t struct_size;         /**< set by saratoga_engine_stats_init() */
    uint64_t packets_received;  /**< datagrams in */
    uint64_t packets_dropped;   /**< malformed, foreign or without a session */
    uint64_t packets_sent;      /**< datagrams out */
    uint64_t bytes_received;    /**< UDP payload in */
    uint64_t bytes_sent;        /**< UDP payload out */
    uint64_t refusals;          /**< failure STATUS sent to unknown peers */
    uint64_t refusals_withheld; /**< refusals not sent because of the rate
                                     limit */
    uint64_t status_deferred;   /**< STATUS delayed by the uplink rate */
    uint64_t beacons_sent;      /**< BEACONs out */
    uint64_t beacons_received;  /**< BEACONs in */
    uint64_t transfers;         /**< current transfers, including lingering
                                     ones */
    uint64_t transfers_begun;   /**< transfers begun so far */
    uint64_t sealed_sessions;   /**< secured: current sessions, including
                                     half-open ones */
    uint64_t sealed_forged;     /**< secured: datagrams dropped as damaged or
                                     forged */
    uint64_t sealed_repeated;   /**< secured: datagrams dropped as replayed */
    uint64_t sealed_foreign;    /**< secured: datagrams dropped as unencrypted
                                     or of no session */
    uint64_t callers_rejected;  /**< callers with a wrong or missing passphrase
                                     or key; REQUESTs not signed with
                                     auth_key */
    uint64_t early_dropped;     /**< DATA dropped because they arrived before
                                     their transfer was accepted and the buffer
                                     was full */
    uint64_t challenges_sent;   /**< address challenges sent to peers before
                                     serving them */
    uint64_t unproven_evicted;  /**< transfers of unproven peers evicted to make
                                     room for others */
    uint64_t too_big; /**< saratoga_node: datagrams that the system refused as
                           longer than the link's MTU: saratoga_config::mtu is
                           too high */
} saratoga_engine_stats;

/** @brief Zeroes a snapshot and sets its size tag. @param s  snapshot, of any
 * content */
#define saratoga_engine_stats_init(s) \
    saratoga_engine_stats_init_sized((s), sizeof(*(s)))

/**
 * @brief Implements saratoga_engine_stats_init(); do not call directly.
 * @param s     snapshot to initialise
 * @param size  sizeof(saratoga_engine_stats) as the caller was compiled
 */
SARATOGA_API void saratoga_engine_stats_init_sized(saratoga_engine_stats *s,
                                                   size_t size);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_STATS_H */

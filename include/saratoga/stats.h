/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/stats.h
 * @brief Counters and gauges of a transfer and of an engine, units in their
 * names.
 */
#ifndef SARATOGA_STATS_H
#define SARATOGA_STATS_H

#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A snapshot of a transfer. */
typedef struct saratoga_stats {
    size_t struct_size;      /**< set by saratoga_stats_init() */
    uint64_t size_bytes;     /**< of the file; ::SARATOGA_SIZE_UNKNOWN */
    uint64_t resumed_bytes;  /**< held before it began */
    uint64_t bytes;          /**< sender: known to be held by the receiver;
                                  receiver: held, each byte once */
    uint64_t progress_bytes; /**< everything below is held */
    uint64_t highest_bytes;  /**< end of the highest byte sent or received */
    uint64_t written_bytes;  /**< receiver: safely with the application */
    uint64_t digested_bytes; /**< receiver: in the running checksum */
    uint64_t data_packets;   /**< DATA sent or received, repeats included */
    uint64_t data_bytes;     /**< their payload */
    uint64_t retransmitted_packets; /**< sender: of these, repeats */
    uint64_t retransmitted_bytes;   /**< their payload */
    uint64_t duplicate_bytes;       /**< receiver: came again */
    uint64_t requests_packets;      /**< DATA that asked for a STATUS */
    uint64_t status_packets;        /**< STATUS sent or received */
    uint64_t status_bytes;          /**< their UDP payload */
    uint64_t metadata_packets;      /**< METADATA sent or received */
    uint64_t holes_reported; /**< holes named in them, repeats included */
    uint64_t holes;          /**< missing pieces now */
    uint64_t hole_bytes;     /**< bytes in them */
    uint64_t polls;          /**< empty DATA sent */
    uint64_t loss_events;    /**< stfrc: loss events; else cycles with loss */
    uint64_t wire_bytes;     /**< sent, IP and UDP headers included */
    uint64_t srtt_ns;        /**< smoothed RTT; 0: none yet */
    uint64_t min_rtt_ns;     /**< lowest RTT; 0: none yet */
    uint64_t latest_rtt_ns;  /**< newest RTT; 0: none yet */
    uint64_t rate_bps;       /**< sending rate in force; 0: no limit */
    uint64_t cwnd_bytes;     /**< congestion window; UINT64_MAX: none */
    uint64_t flight_bytes;   /**< sent, fate unknown */
    double loss_rate;        /**< stfrc: loss event rate; else the share of
                                  packets lost lately, 0 to 1 */
    double receive_rate;     /**< newest x_recv, bytes/s */
    saratoga_time since;     /**< when it began */
    saratoga_time now;       /**< of the snapshot; when it ended, if it has */
    uint32_t request;        /**< ::saratoga_request_type */
    uint32_t kind;           /**< ::saratoga_kind */
    uint32_t descriptor;     /**< ::saratoga_descriptor */
    uint32_t checksum;       /**< ::saratoga_checksum on the wire */
    uint32_t id;             /**< Id on the wire */
    uint32_t sending;        /**< 1: this side sends, 0: receives */
    char congestion[24];     /**< name of the controller, or "open" */
    uint64_t todo_bytes;     /**< sender: to be sent now, new or again; 0 also
                                  while the peer seems gone */
} saratoga_stats;

/** @brief Zeroes and tags a snapshot. @param s  snapshot, of any content */
#define saratoga_stats_init(s) saratoga_stats_init_sized((s), sizeof(*(s)))

/**
 * @brief Behind saratoga_stats_init(); do not call directly.
 * @param s     snapshot to set up
 * @param size  sizeof(saratoga_stats) as the caller was compiled
 */
SARATOGA_API void saratoga_stats_init_sized(saratoga_stats *s, size_t size);

/** @brief A snapshot of an engine. */
typedef struct saratoga_engine_stats {
    size_t struct_size;         /**< set by saratoga_engine_stats_init() */
    uint64_t packets_received;  /**< datagrams in */
    uint64_t packets_dropped;   /**< malformed, foreign or of no session */
    uint64_t packets_sent;      /**< datagrams out */
    uint64_t bytes_received;    /**< UDP payload in */
    uint64_t bytes_sent;        /**< UDP payload out */
    uint64_t refusals;          /**< failure STATUS sent to strangers */
    uint64_t refusals_withheld; /**< not sent, the rate being reached */
    uint64_t status_deferred;   /**< STATUS that waited for the uplink */
    uint64_t beacons_sent;      /**< BEACONs out */
    uint64_t beacons_received;  /**< BEACONs in */
    uint64_t transfers;         /**< now, those that linger included */
    uint64_t transfers_begun;   /**< so far */
    uint64_t sealed_sessions;   /**< secured: now, half-open ones included */
    uint64_t sealed_forged;     /**< secured: dropped, damaged or forged */
    uint64_t sealed_repeated;   /**< secured: dropped, seen before */
    uint64_t sealed_foreign;    /**< secured: dropped, plain or of nobody */
    uint64_t callers_rejected;  /**< with a wrong passphrase or key, or none;
                                     REQUESTs that no auth_key signed */
    uint64_t early_dropped;     /**< DATA that came before their transfer was
                                     accepted and found no room to wait in */
    uint64_t challenges_sent;   /**< packets that ask a peer to prove its
                                     address before it is served */
    uint64_t unproven_evicted;  /**< transfers of unproven peers ended to make
                                     room for others */
    uint64_t too_big; /**< saratoga_node: datagrams that the system did
                           not send, as longer than its link takes:
                           saratoga_config::mtu is too high */
} saratoga_engine_stats;

/** @brief Zeroes and tags a snapshot. @param s  snapshot, of any content */
#define saratoga_engine_stats_init(s) \
    saratoga_engine_stats_init_sized((s), sizeof(*(s)))

/**
 * @brief Behind saratoga_engine_stats_init(); do not call directly.
 * @param s     snapshot to set up
 * @param size  sizeof(saratoga_engine_stats) as the caller was compiled
 */
SARATOGA_API void saratoga_engine_stats_init_sized(saratoga_engine_stats *s,
                                                   size_t size);

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_STATS_H */

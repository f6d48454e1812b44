/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/link.h
 * @brief One direction of a link: packets and time in, packets and time out.
 *
 * A pure state machine: no clock, no socket, no thread.  The simulator drives
 * it in virtual time, linkem in real time.  A packet goes through, in this
 * order: MTU and blackout, policer, queue (drop-tail, RED, CoDel or PIE; one
 * for all or fair queueing), transmission at the rate or at the opportunities
 * of a trace, loss, corruption, duplication, ECN path, delay with jitter and
 * reordering.  Loss happens after the queue: a lost packet has used its share
 * of the rate.
 *
 * @code
 * sim_link_send(link, packet, now);
 * while ((p = sim_link_recv(link, now)) != NULL) { ... sim_packet_free(p); }
 * arm a timer for sim_link_next(link);
 * @endcode
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "sim/codel.h"
#include "sim/heap.h"
#include "sim/packet.h"
#include "sim/pie.h"
#include "sim/random.h"
#include "sim/red.h"
#include "sim/trace.h"

/** Size of the buffer for the message of sim_link_config_check(). */
#define SIM_WHY_MAX 160

/** DSCP of lower-effort packets (RFC 8622). */
#define SIM_DSCP_LOWER_EFFORT 1

/** What a path does to ECN codepoints. */
enum sim_ecn_path {
    SIM_ECN_KEEP,   /**< nothing */
    SIM_ECN_BLEACH, /**< clears them */
    SIM_ECN_ALL_CE, /**< marks every ECN-capable packet */
    SIM_ECN_SWAP    /**< turns ECT(0) into ECT(1) */
};

/** Meaning of a queue limit in packets. */
enum sim_queue_rule {
    /** ns-2's DropTail: a packet is accepted while fewer than limit - 1 wait,
     * not counting the one in transmission. A burst into an idle link of limit
     * 18 delivers 18; limit 1 delivers nothing. */
    SIM_QUEUE_NS2,
    /** ns-3 and Linux: limit packets may wait behind the one in
     * transmission. */
    SIM_QUEUE_WAITING
};

/** Bytes of the headers of IPv4 and UDP. */
#define SIM_IP_UDP 28

/** @brief Everything about a link; start from sim_link_config_init().
 * Probabilities are 0 to 1, times ns. */
struct sim_link_config {
    double rate; /**< bit/s; 0: infinitely fast, no queue */
    /** Instead of a rate: when packets may leave. Owned by the caller; must
     * outlive the link. NULL: none. */
    const struct sim_trace *trace;
    uint64_t trace_start; /**< offset in the trace where the link begins, ns */
    uint64_t delay;       /**< propagation, ns */
    uint64_t jitter;      /**< up to this much additional delay, uniform; keeps
                               the order */
    double jitter_share;  /**< of the packets have it, others wait behind them,
                               as behind retransmissions of a radio; 0: all */
    uint64_t slot_min;    /**< packets arrive at ends of slots, whose lengths */
    uint64_t slot_max;    /**< are uniform between these, ns; 0: at any time */
    uint32_t overhead;    /**< bytes added to each packet for rate, byte limits
                               and bit errors, such as SIM_IP_UDP */
    uint32_t mtu; /**< larger packets (without overhead) are dropped; 0: no
                       limit */

    uint64_t limit_packets;   /**< queue limit in packets; 0: none */
    uint64_t limit_bytes;     /**< queue limit in bytes; 0: none */
    uint64_t limit_time;      /**< longest wait in the queue, ns; 0: none */
    enum sim_queue_rule rule; /**< what limit_packets counts */
    /** Packets of SIM_DSCP_LOWER_EFFORT wait behind all others, which may push
     * them out (RFC 8622); TCP Peach relies on this. */
    bool lower_effort;
    bool red_on;                   /**< RED before the limits */
    struct sim_red_config red;     /**< when red_on */
    bool codel_on;                 /**< CoDel; one per flow with fair_quantum */
    struct sim_codel_config codel; /**< when codel_on */
    bool pie_on;                   /**< PIE before the limits */
    struct sim_pie_config pie;     /**< when pie_on */
    bool aqm_ecn; /**< CoDel and PIE mark ECN-capable packets instead of
                       dropping */
    /** Fair queueing: bytes that each flow sends per turn. When the queue is
     * full, the longest flow loses its first packet. 0: one queue.
     */
    uint32_t fair_quantum;
    uint64_t mark_above; /**< mark ECN-capable packets when this many packets
                              wait; 0: never */

    double police_rate;    /**< token bucket: the excess is lost, bit/s; 0:
                                none */
    uint64_t police_burst; /**< bytes that the bucket holds */

    double loss;        /**< loss probability of each packet */
    double bit_error;   /**< error probability of each bit; any error loses the
                             packet */
    double burst_enter; /**< Gilbert-Elliott: good to bad, per packet */
    double burst_leave; /**< bad to good, per packet */
    double burst_loss;  /**< loss while bad */
    double corrupt;     /**< probability that one random bit is flipped */
    double duplicate;   /**< probability of a second copy */
    double reorder; /**< probability that a packet takes reorder_delay more and
                         is reordered */
    uint64_t reorder_delay; /**< ns */
    enum sim_ecn_path ecn;  /**< treatment of ECN codepoints */

    uint64_t blackout_start;  /**< from then on, all packets are lost */
    uint64_t blackout_length; /**< its length; 0: no blackout */
    uint64_t blackout_period; /**< repetition period; 0: once */
    bool no_carrier;          /**< nothing passes, blackout or not */
};

/** @brief Counters of a link. */
struct sim_link_stats {
    uint64_t offered;          /**< packets put in */
    uint64_t offered_bytes;    /**< their contents */
    uint64_t delivered;        /**< packets delivered, including copies */
    uint64_t delivered_bytes;  /**< their contents */
    uint64_t wire_bytes;       /**< transmitted, including overhead */
    uint64_t dropped_queue;    /**< queue full */
    uint64_t dropped_red;      /**< by RED */
    uint64_t dropped_aqm;      /**< by CoDel or PIE */
    uint64_t dropped_police;   /**< by the policer */
    uint64_t dropped_loss;     /**< loss, bit errors and bursts */
    uint64_t dropped_blackout; /**< offered in a blackout or without carrier */
    uint64_t dropped_mtu;      /**< too large */
    uint64_t dropped_nomem;    /**< memory was short */
    uint64_t marked;           /**< CE set by the queue */
    uint64_t duplicated;       /**< extra copies made */
    uint64_t corrupted;        /**< with a flipped bit */
    uint64_t reordered;        /**< held back */
    uint64_t queue_peak;       /**< peak of waiting packets */
    uint64_t queue_peak_bytes; /**< peak of waiting bytes */
};

/** A link. */
struct sim_link;

/** @brief Sets an ideal link: no delay, no loss, infinitely fast. @param c
 * config
 */
void sim_link_config_init(struct sim_link_config *c);
/**
 * @brief Checks a config.
 * @param c         config
 * @param[out] why  error message, SIM_WHY_MAX bytes
 * @return true: usable
 */
bool sim_link_config_check(const struct sim_link_config *c, char *why);

/**
 * @brief Creates a link.
 * @param c     checked config, copied
 * @param seed  of its luck
 * @return the link, or NULL without memory
 */
struct sim_link *sim_link_new(const struct sim_link_config *c, uint64_t seed);
/** @brief Frees a link with its packets. @param l  link, or NULL */
void sim_link_free(struct sim_link *l);
/**
 * @brief Changes the parameters; queued packets and those in flight stay.
 *
 * A packet in transmission ends at the old rate; later ones use the new rate.
 * @param l    link
 * @param c    checked config, copied
 * @param now  current time, ns
 */
void sim_link_set(struct sim_link *l, const struct sim_link_config *c,
                  uint64_t now);
/** @brief The current parameters. @param l  link @return valid until
 * sim_link_set() */
const struct sim_link_config *sim_link_get(const struct sim_link *l);
/**
 * @brief Puts a packet in; the link takes ownership.
 * @param l    link
 * @param p    packet
 * @param now  current time, ns; never less than before
 */
void sim_link_send(struct sim_link *l, struct sim_packet *p, uint64_t now);
/**
 * @brief Takes the next packet that has arrived.
 * @param l    link
 * @param now  current time, ns
 * @return a packet, now owned by the caller, or NULL: none yet
 */
struct sim_packet *sim_link_recv(struct sim_link *l, uint64_t now);
/** @brief When sim_link_recv() should next be called. @param l  link
 * @return ns; SIM_NEVER: the link is empty */
uint64_t sim_link_next(const struct sim_link *l);
/**
 * @brief Bytes that the trace could have carried since it was set.
 * @param l    link
 * @param now  current time, ns
 * @return bytes; 0 without a trace
 */
uint64_t sim_link_offered_capacity(const struct sim_link *l, uint64_t now);
/** @brief The rate, or the mean rate of the trace. @param l  link @return
 * bit/s; 0: infinitely fast */
double sim_link_rate(const struct sim_link *l);
/** @brief Packets waiting, not counting the one in transmission. @param l  link
 * @return packets as of the last call */
uint64_t sim_link_waiting(const struct sim_link *l);
/** @brief Counters. @param l  link @return valid as long as the link */
const struct sim_link_stats *sim_link_stats(const struct sim_link *l);

#endif /* SIM_LINK_H */

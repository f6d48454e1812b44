/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/scenario.h
 * @brief An experiment as text: links, flows, and measurements.
 * docs/papers/experiments.md describes the language.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "sim/link.h"

/** Size of the buffer for an error message. */
#define SCENARIO_WHY_MAX 512
/** Maximum controller parameters per flow. */
#define SCENARIO_PARAMS_MAX 8
/** Longest name or word, including its terminating zero. */
#define SCENARIO_WORD_MAX 32

/** Kinds of flows. */
enum scenario_kind {
    SCENARIO_TLTCP,   /**< a TLTCP connection; without deadlines, equivalent to
                           TCP */
    SCENARIO_CBR,     /**< packets at a constant rate, unresponsive */
    SCENARIO_SARATOGA /**< a Saratoga transfer */
};

/** @brief A link in one direction between two named nodes. */
struct scenario_link {
    uint32_t from;                 /**< node */
    uint32_t to;                   /**< node */
    struct sim_link_config config; /**< checked */
};

/** @brief A change of a link during the experiment. */
struct scenario_change {
    uint64_t at;                   /**< when, ns */
    uint32_t link;                 /**< which one */
    struct sim_link_config config; /**< from then on */
};

/** @brief A group of flows of one kind. Times in ns, rates in bit/s, sizes in
 * bytes. */
struct scenario_flow {
    char name[SCENARIO_WORD_MAX];
    enum scenario_kind kind;
    uint32_t from;         /**< node of the senders' access links */
    uint32_t to;           /**< node of the receivers' access links */
    uint64_t count;        /**< how many */
    uint64_t start;        /**< start time */
    uint64_t stagger;      /**< each starts up to this much later, uniformly */
    uint64_t stop;         /**< end time; SIM_NEVER: none */
    double access_rate;    /**< rate of the sender's access link; 0: no limit */
    uint64_t access_delay; /**< one way */
    double exit_rate;      /**< rate of the receiver's access link; 0: no
                                limit */
    uint64_t exit_delay;   /**< one way */
    uint64_t exit_spread;  /**< up to this much additional delay, uniform */
    uint64_t packet; /**< size of a full data packet on the wire, as in the
                          paper; 0: the actual size with IP and UDP */
    uint64_t ack;    /**< size of other packets, if packet is given */

    char congestion[SCENARIO_WORD_MAX];
    char recovery[SCENARIO_WORD_MAX];
    uint64_t window;         /**< receive window, packets; 0: none */
    uint64_t initial_window; /**< packets; 0: the controller's own */
    uint64_t section;        /**< bytes of a section */
    uint64_t deadline;       /**< of a section, from the end of the previous
                                  one; 0: reliable */
    uint64_t bytes;          /**< bytes to transfer; 0: endless */
    uint64_t rto_min;        /**< lower bound of the timeout */
    uint64_t ack_every;      /**< packets per acknowledgement */
    bool limited_transmit;   /**< RFC 3042, with duplicate ACKs */
    bool hold_skipped;       /**< as in tltcp/config.h */
    bool pacing;             /**< spread packets over the round trip */
    bool ecn;                /**< packets are ECN-capable */
    double rate;             /**< CBR: on the wire; open loop and "fixed": of IP
                                  packets */
    double symmetry;         /**< Saratoga: forward delay / RTT */
    uint64_t status_spacing; /**< Saratoga: between STATUS requests; 0: RTT */
    double uplink;           /**< Saratoga: known rate of the return path */
    char params[SCENARIO_PARAMS_MAX][SCENARIO_WORD_MAX]; /**< cong_set() */
    double values[SCENARIO_PARAMS_MAX];                  /**< for params */
    uint32_t n_params;
};

/** @brief A measurement period, ns. */
struct scenario_period {
    uint64_t from;
    uint64_t to;
};

/** @brief An experiment. */
struct scenario {
    char (*nodes)[SCENARIO_WORD_MAX];
    struct scenario_link *links;
    struct scenario_change *changes;
    struct scenario_flow *flows;
    struct scenario_period *periods;
    uint32_t n_nodes, n_links, n_changes, n_flows, n_periods;
    uint64_t duration; /**< ns */
    uint64_t sample;   /**< interval between samples, ns; 0: none */
    uint64_t seed;     /**< random seed of everything */
};

/**
 * @brief Reads an experiment.
 * @param[out] s    to be freed with scenario_free() in any case
 * @param text      the whole text
 * @param settings  NAME=VALUE for parameters that the text declares by "set"
 * @param count     how many
 * @param[out] why  error message with its location, SCENARIO_WHY_MAX bytes
 * @return true: it can be run
 */
bool scenario_read(struct scenario *s, const char *text, char *const *settings,
                   int count, char *why);
/** @brief Frees the contents. @param s  experiment */
void scenario_free(struct scenario *s);

#endif /* SIM_SCENARIO_H */

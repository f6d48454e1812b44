/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/scenario.h
 * @brief An experiment as text: who sends what over which links, what is
 * measured.  docs/papers/experiments.md describes the language.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "sim/link.h"

/** Room for a complaint. */
#define SCENARIO_WHY_MAX 512
/** Parameters that one flow may give to its controller. */
#define SCENARIO_PARAMS_MAX 8
/** Longest name or word, its end included. */
#define SCENARIO_WORD_MAX 32

/** What sends. */
enum scenario_kind {
    SCENARIO_TLTCP,   /**< a TLTCP connection; without deadlines it is TCP */
    SCENARIO_CBR,     /**< packets at a constant rate, unheeding */
    SCENARIO_SARATOGA /**< a Saratoga transfer */
};

/** @brief A link in one direction between two named nodes. */
struct scenario_link {
    uint32_t from;                 /**< node */
    uint32_t to;                   /**< node */
    struct sim_link_config config; /**< checked */
};

/** @brief A link is changed in the course of the experiment. */
struct scenario_change {
    uint64_t at;                   /**< when, ns */
    uint32_t link;                 /**< which one */
    struct sim_link_config config; /**< from then on */
};

/** @brief So many flows of one kind.  Times ns, rates bit/s, sizes bytes. */
struct scenario_flow {
    char name[SCENARIO_WORD_MAX];
    enum scenario_kind kind;
    uint32_t from;         /**< node that the senders hang on */
    uint32_t to;           /**< node that the receivers hang on */
    uint64_t count;        /**< how many */
    uint64_t start;        /**< the first moment */
    uint64_t stagger;      /**< each starts up to this much later, uniform */
    uint64_t stop;         /**< the last moment; SIM_NEVER: none */
    double access_rate;    /**< sender's own link; 0: no limit */
    uint64_t access_delay; /**< one way */
    double exit_rate;      /**< receiver's own link; 0: no limit */
    uint64_t exit_delay;   /**< one way */
    uint64_t exit_spread;  /**< each up to this much longer, uniform */
    uint64_t packet; /**< size of a full data packet on the wire, as in the
                          paper; 0: what the engine really sends, with IP and
                          UDP */
    uint64_t ack;    /**< size of what is not data, when packet is given */

    char congestion[SCENARIO_WORD_MAX];
    char recovery[SCENARIO_WORD_MAX];
    uint64_t window;         /**< receive window, packets; 0: none */
    uint64_t initial_window; /**< packets; 0: the controller's own */
    uint64_t section;        /**< bytes of a section */
    uint64_t deadline;       /**< of a section, from the end of the one before;
                                  0: reliable */
    uint64_t bytes;          /**< to transfer; 0: without end */
    uint64_t rto_min;        /**< lower bound of the timeout */
    uint64_t ack_every;      /**< packets per acknowledgement */
    bool limited_transmit;   /**< RFC 3042, with duplicate ACKs */
    bool pacing;             /**< spread packets over the round trip */
    bool ecn;                /**< packets are ECN-capable */
    double rate;     /**< CBR: wire; open loop and "fixed": of IP packets */
    double symmetry; /**< Saratoga: forward delay / RTT */
    uint64_t status_spacing; /**< Saratoga: between STATUS requests; 0: RTT */
    double uplink;           /**< Saratoga: known rate of the way back */
    char params[SCENARIO_PARAMS_MAX][SCENARIO_WORD_MAX]; /**< cong_set() */
    double values[SCENARIO_PARAMS_MAX];                  /**< for params */
    uint32_t n_params;
};

/** @brief A stretch of time over which is counted, ns. */
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
    uint64_t sample;   /**< between two samples, ns; 0: none */
    uint64_t seed;     /**< of everything that is left to chance */
};

/**
 * @brief Reads an experiment.
 * @param[out] s    free with scenario_free() in any case
 * @param text      the whole text
 * @param settings  NAME=VALUE for parameters that the text declares by "set"
 * @param count     how many
 * @param[out] why  SCENARIO_WHY_MAX bytes: what is wrong, and where
 * @return true when it can be run
 */
bool scenario_read(struct scenario *s, const char *text, char *const *settings,
                   int count, char *why);
/** @brief Frees the contents. @param s  experiment */
void scenario_free(struct scenario *s);

#endif /* SIM_SCENARIO_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/flow.h
 * @brief One flow of a running experiment, of any kind.
 */
#ifndef SIM_FLOW_H
#define SIM_FLOW_H

#include "sim/net.h"
#include "sim/scenario.h"

/** @brief Arrivals at one end of a flow. */
struct flow_arrivals {
    double packets; /**< all of them */
    double full;    /**< data packets: larger than acknowledgements */
    double bytes;   /**< on the wire */
    double delay;   /**< sum of one-way delays, s */
};

/** @brief Counters of a flow's engine, since the start of the flow. */
struct flow_counts {
    double bytes;    /**< delivered, each byte counted once: acknowledged
                          (TLTCP) */
    double payload;  /**< of a full packet; 0: not known */
    double sequence; /**< stream offset up to which everything is settled */
    double sent;     /**< packets */
    double lost;     /**< packets declared lost */
    double cuts;     /**< reductions of the window */
    double timeouts; /**< retransmission timeouts */
    double pseudo;   /**< pseudo-retransmissions of the TLTCP paper */
    double cwnd;     /**< full packets, now; 0: none */
    double srtt;     /**< s, now */
    double done;     /**< when everything had arrived, s; 0: not yet */
};

struct flow;

/** @brief Functions of a kind of flow. */
struct flow_ops {
    /** Makes both ends; sets flow::from and flow::to. */
    bool (*open)(struct flow *f, char *why);
    /** Begins to send. */
    void (*start)(struct flow *f);
    /** Stops sending. */
    void (*stop)(struct flow *f);
    /** Reads the counters. */
    void (*counts)(const struct flow *f, struct flow_counts *c);
    /** Frees the result of open(). */
    void (*close)(struct flow *f);
};

/** @brief A flow. */
struct flow {
    const struct scenario_flow *spec;
    const struct flow_ops *ops;
    struct sim_net *net;
    void *self;           /**< state of the kind */
    uint64_t index;       /**< index among those of spec */
    uint64_t seed;        /**< its seed */
    uint64_t start_at;    /**< ns */
    uint64_t exit_delay;  /**< delay of the receiver's access link, ns */
    uint32_t from;        /**< node of the sender */
    uint32_t to;          /**< node of the receiver */
    uint64_t full_packet; /**< bytes of a full datagram, if known */
    struct sim_timer start;
    struct sim_timer stop;
    struct flow_arrivals there; /**< at the receiver */
    struct flow_arrivals back;  /**< at the sender */
};

/** TLTCP connections; without deadlines, they are equivalent to TCP. */
extern const struct flow_ops flow_tltcp;
/** Packets at a constant rate. */
extern const struct flow_ops flow_cbr;
/** Saratoga transfers. */
extern const struct flow_ops flow_saratoga;

#endif /* SIM_FLOW_H */

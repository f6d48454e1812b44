/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/congestion.h
 * @brief Congestion controllers behind three functions.
 *
 * Windows are bytes and rates bytes per second, both in double; times are
 * signed nanoseconds on the host's monotonic clock.  A controller is a pure
 * function of its inputs: no clock, no allocation, no global state.  The host
 * owns the memory and decides what may be sent during recovery; the controller
 * says how much.
 *
 * Order of calls for one feedback: the host updates RTT, bytes in flight and
 * the rate sampler, calls cong_ops::ack once, then cong_ops::event for what the
 * same feedback revealed.
 *
 * Invalid inputs are clamped: bytes and rates below zero or not a number count
 * as 0 (or as not given, where there is such a value), an RTT of 0 or less is
 * no sample, and a clock that steps back reads as no time passed. The window
 * stays within [mss, cwnd_max] and finite, unless cwnd_max is infinite and the
 * controller limits by rate alone.
 *
 * Threads: one controller is used by one thread at a time; different ones do
 * not touch each other.
 */
#ifndef CONGESTION_CONGESTION_H
#define CONGESTION_CONGESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <congestion/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Nanoseconds; -1: none. */
typedef int64_t cong_time;

/** @brief A sample of the delivery rate. */
struct cong_rate_sample {
    double rate;         /**< bytes/s */
    double delivered;    /**< bytes over the sampled flight */
    double tx_in_flight; /**< bytes out when the sampled packet left */
    double lost;         /**< bytes lost since then */
    cong_time interval;  /**< length of the sampled flight */
    bool app_limited;    /**< the application had too little to send */
};

/** @brief One feedback packet, digested by the host.  Later versions append
 * fields; what is left 0 has no effect. */
struct cong_ack {
    cong_time now;     /**< when it was processed */
    cong_time rtt;     /**< newest sample; -1: this feedback carries none */
    cong_time min_rtt; /**< lowest RTT; -1: none yet */
    cong_time srtt;    /**< smoothed RTT; -1: none yet */
    double acked;      /**< bytes newly delivered, each counted once ever */
    double lost;       /**< bytes newly found lost */
    double flight;     /**< bytes in flight before this feedback */
    double p;          /**< loss event rate, 0 to 1; < 0: not measured */
    double x_recv;     /**< receive rate, bytes/s; < 0: not measured */
    const struct cong_rate_sample *rs; /**< NULL: none */
    unsigned probes_acked;             /**< dummies delivered (Peach) */
    bool round;                        /**< a round trip ended */
    bool limited;  /**< window or pacer, not the application, held back */
    bool recovery; /**< in a recovery period: a window does not grow */
    double ce;     /**< of acked, bytes that arrived with a congestion mark;
                        0: none, or not known by bytes */
};

/** Causes of an event. */
enum cong_cause {
    CONG_LOSS,       /**< a recovery period began, or a repair was lost again */
    CONG_ECN,        /**< the path marked packets; nothing was lost */
    CONG_RTO,        /**< the retransmission timer expired */
    CONG_RECOVERED,  /**< the recovery period is over; after a timeout too */
    CONG_NOFEEDBACK, /**< cong::feedback_timeout passed in silence */
    CONG_IDLE, /**< about to send after a silence with nothing in flight */
    CONG_UNDO /**< the period was a false alarm, and is over; window restored */
};

/** @brief What happened beside deliveries. */
struct cong_event {
    cong_time now;         /**< when */
    enum cong_cause cause; /**< what */
    double flight;         /**< bytes in flight at detection; NOFEEDBACK: 0
                                when nothing left since the newest feedback */
    double missing;        /**< bytes known lost, not repaired */
    unsigned count;        /**< LOSS: n-th loss of the same data; RTO: n-th
                                expiry; IDLE: whole RTOs of silence */
};

/** Whose queue stands on the path, as far as a controller can tell. */
enum cong_queue {
    CONG_QUEUE_UNKNOWN, /**< there is none, or the controller cannot tell */
    CONG_QUEUE_OWN,     /**< the flow's own, which the controller keeps short */
    CONG_QUEUE_FOREIGN  /**< other flows fill it: it stays when this one slows
                             down, and the window is this flow's share */
};

struct cong_ops;

/** @brief A controller: what it was told and what it answers. */
struct cong {
    const struct cong_ops *ops; /**< which one */
    double mss;                 /**< largest payload of a packet, bytes */
    double cwnd_max;            /**< the window never exceeds this, bytes */
    double cwnd;                /**< window, bytes; INFINITY: the rate alone */
    double ssthresh;            /**< slow-start threshold, bytes */
    double pacing_rate; /**< bytes/s; 0: the host paces cwnd over srtt */
    cong_time feedback_timeout; /**< CONG_NOFEEDBACK after this; 0: never */
    cong_time probe_gap;        /**< time between two dummies */
    unsigned probes;            /**< dummies to send; the host counts down */
    bool repair_only;           /**< no new data until CONG_RECOVERED */
    bool ect1; /**< packets should leave as ECT(1) instead of ECT(0): the
                    controller answers to marks as L4S asks (RFC 9331); a
                    network that marks them does so early and often */
    unsigned char queue; /**< a ::cong_queue: whose queue stands on the path */
};

/** @brief A kind of controller. */
struct cong_ops {
    const char *name; /**< lower case, as users write it */
    size_t size; /**< bytes of its state; struct cong is the first member */
    /** Sets the initial window; @p rtt is -1 when not known.  The state behind
     * struct cong is zeroed beforehand. */
    void (*init)(struct cong *cc, cong_time now, cong_time rtt);
    /** Takes one feedback. */
    void (*ack)(struct cong *cc, const struct cong_ack *ack);
    /** Takes one event. */
    void (*event)(struct cong *cc, const struct cong_event *ev);
    /** Sets a parameter; 0, or < 0 for unknown or out of range.  NULL: there
     * are none. */
    int (*set)(struct cong *cc, const char *param, double value);
};

/**
 * @brief Finds a controller by name.
 * @param name  as in cong_list(), or registered by cong_register(); may be NULL
 * @return its table, or NULL when there is none
 */
CONG_API const struct cong_ops *cong_find(const char *name);

/** Controllers that a process can register. */
#define CONG_REGISTER_MAX 16

/**
 * @brief Adds a controller of the program's own, to be used by name.
 *
 * Where a host takes a table (::cong_ops) by pointer, that is simpler and needs
 * no registration.  This is for places where only a name fits: an option, a
 * URI, the property of an element.
 *
 * The list of added controllers belongs to the process, can only grow and is
 * read without a lock.  What was registered stays until the process ends, so
 * @p ops and its name must stay valid that long: do not register from a module
 * that may be unloaded.  Registering the same table again does nothing.
 *
 * Any thread may call this at any time.
 *
 * @param ops  a complete table: name, init, ack, event, and a size of at least
 *             sizeof(struct cong)
 * @retval 0  cong_find() knows it now
 * @retval -1 the table is not complete
 * @retval -2 the name is taken, by the library or by another table
 * @retval -3 ::CONG_REGISTER_MAX controllers are registered
 */
CONG_API int cong_register(const struct cong_ops *ops);

/**
 * @brief The names of the controllers that the library brings.
 * @return sorted, NULL-terminated, static
 */
CONG_API const char *const *cong_list(void);

/**
 * @brief Starts a controller.
 *
 * The host may change cong::cwnd, cong::ssthresh and cong::cwnd_max afterwards
 * (an undo, a smaller receive buffer); the controller goes on from there.
 *
 * @param cc        ops->size bytes of the caller's, aligned for any type
 * @param ops       which controller
 * @param mss       largest payload, bytes, at least 1; anything else counts
 *                  as 1
 * @param cwnd_max  bound of the window, bytes; INFINITY (or 1e18 and more):
 *                  none; below @p mss or not a number counts as @p mss
 * @param now       current time
 * @param rtt       RTT already known, or -1; 0 counts as not known
 */
CONG_API void cong_init(struct cong *cc, const struct cong_ops *ops, double mss,
                        double cwnd_max, cong_time now, cong_time rtt);

/**
 * @brief Sets a parameter of a controller.
 * @param cc     started by cong_init()
 * @param param  its name; docs/design/controllers.md lists them per controller
 * @param value  its value
 * @retval 0  set
 * @retval -1 the controller has no such parameter
 * @retval -2 the value is out of range
 */
CONG_API int cong_set(struct cong *cc, const char *param, double value);

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_CONGESTION_H */

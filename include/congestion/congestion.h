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
 * For each feedback, the host updates RTT, bytes in flight and the rate
 * sampler, calls cong_ops::ack once, then cong_ops::event for each loss or mark
 * that the feedback revealed.
 *
 * Invalid inputs are clamped: negative or NaN bytes and rates count as 0 (or as
 * "not given", where the field has such a value), an RTT of 0 or less is no
 * sample, and a clock that steps back reads as if no time had passed. The
 * window stays within [mss, cwnd_max] and finite, unless cwnd_max is infinite
 * and the controller limits by rate alone.
 *
 * Threads: use a controller from one thread at a time. Different controllers
 * are independent.
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

/** @addtogroup congestion_control
 * @{ */

/** Nanoseconds; -1: none. */
typedef int64_t cong_time;

/** @brief A sample of the delivery rate. */
struct cong_rate_sample {
    double rate;         /**< bytes/s */
    double delivered;    /**< bytes over the sampled flight */
    double tx_in_flight; /**< bytes in flight when the sampled packet left */
    double lost;         /**< bytes lost since then */
    cong_time interval;  /**< length of the sampled flight */
    bool app_limited;    /**< the application sent less than the window
                              allowed */
};

/** @brief One feedback packet, processed by the host. Later versions append
 * fields; a field left 0 has no effect. */
struct cong_ack {
    cong_time now;     /**< when it was processed */
    cong_time rtt;     /**< newest sample; -1: this feedback carries none */
    cong_time min_rtt; /**< lowest RTT; -1: none yet */
    cong_time srtt;    /**< smoothed RTT; -1: none yet */
    double acked;      /**< bytes newly delivered; each byte counts once */
    double lost;       /**< bytes newly declared lost */
    double flight;     /**< bytes in flight before this feedback */
    double p;          /**< loss event rate, 0 to 1; < 0: not measured */
    double x_recv;     /**< receive rate, bytes/s; < 0: not measured */
    const struct cong_rate_sample *rs; /**< NULL: none */
    unsigned probes_acked;             /**< dummy packets delivered (Peach) */
    bool round;                        /**< a round trip ended */
    bool limited;  /**< the window or the pacer, not the application, was the
                        limit */
    bool recovery; /**< in a recovery period: a window does not grow */
    double ce;     /**< bytes of acked that arrived with a congestion mark; 0:
                        none, or the host does not count them */
};

/** Causes of an event. */
enum cong_cause {
    CONG_LOSS,       /**< a recovery period began, or a retransmission was
                          lost */
    CONG_ECN,        /**< the path marked packets; nothing was lost */
    CONG_RTO,        /**< the retransmission timer expired */
    CONG_RECOVERED,  /**< the recovery period is over; also after a timeout */
    CONG_NOFEEDBACK, /**< cong::feedback_timeout passed in silence */
    CONG_IDLE, /**< about to send after a silence with nothing in flight */
    CONG_UNDO  /**< the recovery period was spurious and is over; the window is
                    restored */
};

/** @brief An event other than a delivery. */
struct cong_event {
    cong_time now;         /**< when */
    enum cong_cause cause; /**< what */
    double flight;         /**< bytes in flight at detection; NOFEEDBACK: 0 when
                                nothing was sent since the newest feedback */
    double missing;        /**< bytes known lost and not yet retransmitted */
    unsigned count;        /**< LOSS: n-th loss of the same data; RTO: n-th
                                expiry; IDLE: whole RTOs of silence */
};

/** Who causes the standing queue on the path, as far as a controller can
 * tell. */
enum cong_queue {
    CONG_QUEUE_UNKNOWN, /**< no queue, or the controller cannot tell */
    CONG_QUEUE_OWN,     /**< this flow; the controller keeps it short */
    CONG_QUEUE_FOREIGN, /**< other flows: the queue stays when this flow slows
                             down, and the window is this flow's share */
    CONG_QUEUE_BBR      /**< likewise, and they yield neither to losses nor to
                             a queue, as BBRv1 does */
};

struct cong_ops;

/** @brief A controller: its inputs and outputs. */
struct cong {
    const struct cong_ops *ops; /**< which one */
    double mss;                 /**< largest payload of a packet, bytes */
    double cwnd_max;            /**< the window never exceeds this, bytes */
    double cwnd;                /**< window, bytes; INFINITY: the rate alone */
    double ssthresh;            /**< slow-start threshold, bytes */
    double pacing_rate; /**< bytes/s; 0: the host paces cwnd over srtt, ... */
    double pacing_max;  /**< ... at no more than this, bytes/s; 0: no limit */
    cong_time feedback_timeout; /**< CONG_NOFEEDBACK after this; 0: never */
    cong_time probe_gap;        /**< time between two dummy packets */
    unsigned probes;            /**< dummy packets to send; the host counts
                                     down */
    bool repair_only;           /**< no new data until CONG_RECOVERED */
    bool ect1; /**< send packets as ECT(1) instead of ECT(0): the controller
                    responds to marks as L4S requires (RFC 9331), and an L4S
                    network marks such packets early and often */
    unsigned char queue; /**< a ::cong_queue: who causes the standing queue */
};

/** @brief A kind of controller. */
struct cong_ops {
    const char *name; /**< lower-case name, as in options */
    size_t size;      /**< size of its state, bytes; struct cong is the first
                           member */
    /** Sets the initial window; @p rtt is -1 when unknown.  The state behind
     * struct cong is zeroed beforehand. */
    void (*init)(struct cong *cc, cong_time now, cong_time rtt);
    /** Processes one feedback. */
    void (*ack)(struct cong *cc, const struct cong_ack *ack);
    /** Processes one event. */
    void (*event)(struct cong *cc, const struct cong_event *ev);
    /** Sets a parameter; returns 0, or < 0 when it is unknown or out of range.
     * NULL: no parameters. */
    int (*set)(struct cong *cc, const char *param, double value);
};

/**
 * @brief Finds a controller by name.
 * @param name  as in cong_list(), or registered by cong_register(); may be NULL
 * @return its table, or NULL if there is no such controller
 */
CONG_API const struct cong_ops *cong_find(const char *name);

/** Maximum number of controllers that a process can register. */
#define CONG_REGISTER_MAX 16

/**
 * @brief Registers a controller of the program under a name.
 *
 * A host that takes a table (::cong_ops) by pointer needs no registration.
 * Register a controller to use it where only a name fits: in an option, a URI
 * or an element property.
 *
 * The list of registered controllers belongs to the process, only grows, and is
 * read without a lock. A registration lasts until the process ends, so @p ops
 * and its name must stay valid that long: do not register from a module that
 * may be unloaded.  Registering the same table again does nothing.
 *
 * Any thread may call this at any time.
 *
 * @param ops  a complete table: name, init, ack, event, and a size of at least
 *             sizeof(struct cong)
 * @retval 0  registered; cong_find() finds it
 * @retval -1 the table is incomplete
 * @retval -2 the name is taken, by the library or by another table
 * @retval -3 ::CONG_REGISTER_MAX controllers are registered
 */
CONG_API int cong_register(const struct cong_ops *ops);

/**
 * @brief The names of the built-in controllers.
 * @return sorted, NULL-terminated, static
 */
CONG_API const char *const *cong_list(void);

/**
 * @brief Initialises a controller.
 *
 * The host may change cong::cwnd, cong::ssthresh and cong::cwnd_max later (an
 * undo, a smaller receive buffer); the controller continues from the new
 * values.
 *
 * @param cc        caller's memory of ops->size bytes, aligned for any type
 * @param ops       which controller
 * @param mss       largest payload, bytes, at least 1; anything else counts
 *                  as 1
 * @param cwnd_max  upper limit of the window, bytes; INFINITY (or at least
 *                  1e18): none; a value below @p mss or NaN counts as @p mss
 * @param now       current time
 * @param rtt       RTT already known, or -1; 0 counts as unknown
 */
CONG_API void cong_init(struct cong *cc, const struct cong_ops *ops, double mss,
                        double cwnd_max, cong_time now, cong_time rtt);

/**
 * @brief Sets a parameter of a controller.
 * @param cc     initialised by cong_init()
 * @param param  its name; docs/design/controllers.md lists them per controller
 * @param value  its value
 * @retval 0  set
 * @retval -1 the controller has no such parameter
 * @retval -2 the value is out of range
 */
CONG_API int cong_set(struct cong *cc, const char *param, double value);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_CONGESTION_H */

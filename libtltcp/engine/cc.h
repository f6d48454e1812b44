/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CC_H
#define LIBTLTCP_CC_H

#include <congestion/congestion.h>
#include <congestion/pacer.h>
#include <congestion/prr.h>
#include <congestion/rate.h>
#include <congestion/recovery_period.h>
#include <congestion/rtt.h>
#include <tltcp/config.h>
#include <tltcp/stats.h>

#include "internal/common/mem.h"
#include "libtltcp/engine/bandwidth.h"
#include "libtltcp/engine/route.h"

/* Varies the nth of waits that no longer grow, by up to 7/32: interference may
 * recur at regular intervals, as a satellite's handovers do. */
static inline tltcp_time tltcp__uneven(tltcp_time wait, unsigned nth) {
    return wait - wait / 32 * (nth * 5 % 8);
}

typedef struct tltcp__cc_param {
    char name[24];
    double value;
} tltcp__cc_param;

/* The host of a congestion controller: feeds it and decides from its outputs
 * whether a packet may leave. */
typedef struct tltcp__cc {
    const cmn__mem *mem;
    struct cong *cong;       /* maybe packed; see cc_packed.h */
    tltcp__cc_param *params; /* controller parameters from the config */
    size_t n_params;
    double initial_window; /* packets; 0: the controller's own */
    struct cong_rtt rtt;
    struct cong_rate rate;
    struct cong_pacer pacer;
    struct cong_prr prr;
    double delivered;            /* rate of the newest sample, bytes/s */
    double max_rate;             /* bytes/s; 0: no limit */
    double granularity;          /* seconds that a burst must cover */
    tltcp__bandwidth *bandwidth; /* NULL: no data flows */
    struct cong_recovery_period period;
    tltcp__route route;
    double kept;        /* window of a controller that restarts; 0: none */
    double known;       /* rate of the path before an RTT in doubt, bytes/s */
    cong_time stretch;  /* delay of ACKs that was asked for; 0: usual */
    cong_time lag;      /* how long the newest one took there too much, ... */
    cong_time t_cong;   /* ... by which the controller's time is behind */
    cong_time held;     /* delay at the peer of the ACK of the newest RTT */
    cong_time t_sent;   /* when a packet last left; -1: never */
    cong_time t_resume; /* once the pacer blocks, it blocks until then */
    cong_time t_due;    /* what the pacer holds up is due then; -1: nothing */
    cong_time t_strain; /* last sign that the path is near its limit */
    cong_time t_queue;  /* first RTT sample in a row that shows a queue */
    bool packs;         /* the controller may be packed ... */
    bool packed;        /* ... and is */
    bool use_prr;       /* applies in this recovery period */
    bool paced;
    bool low_is_small;   /* the lowest RTT is that of a small packet */
    bool slack;          /* the path is far from its limit */
    uint8_t small_left;  /* RTTs of small packets until one may lower that */
    uint8_t relapses;    /* how often that ended, up to RELAPSES_MAX */
    uint8_t queued;      /* number of such samples, up to SLACK_QUEUED */
    bool limited;        /* window or pacer was the limit since the last
                            feedback */
    bool report_limited; /* the same since the last report */
    bool full;           /* data waited for the window, or for a rate that is a
                            limit, since the last feedback */
} tltcp__cc;

/* Returns 0, TLTCP_ERR_NOMEM or TLTCP_ERR_INVAL (a parameter of the
 * controller). */
int tltcp__cc_init(tltcp__cc *cc, const cmn__mem *mem, const tltcp_config *cfg,
                   double mss, tltcp_time now);
void tltcp__cc_free(tltcp__cc *cc);
/* Leaves congestion control to a reliable transport: replaces the controller.
 * Returns 0 or TLTCP_ERR_NOMEM. */
int tltcp__cc_follow(tltcp__cc *cc, tltcp_time now);
/* Call it when nothing is in flight, and little is likely to be soon. It saves
 * memory until the controller is needed again. If memory is short then, the
 * controller misses that event. */
void tltcp__cc_rest(tltcp__cc *cc);
/* The path has become longer: restarts the controller, whose memory is of the
 * old path, with the window that it has. */
void tltcp__cc_on_longer_path(tltcp__cc *cc, cong_time rtt, tltcp_time now);
/* Restarts for a new path. */
void tltcp__cc_restart(tltcp__cc *cc, tltcp_time now);

static inline bool tltcp__cc_recovers(const tltcp__cc *cc) {
    return cc->period.state == CONG_RECOVERY_STATE_REPAIR;
}

/* Takes the RTT of a packet of `size` bytes. On a slow link a small packet
 * takes less time than a full one, which would then seem to meet a queue: it
 * does not lower the lowest RTT. Returns the RTT that counts. */
cong_time tltcp__cc_on_rtt(tltcp__cc *cc, cong_time rtt, double size,
                           cong_time now);

/* Bytes that may be in flight now. */
double tltcp__cc_window(const tltcp__cc *cc);
/* Whether the window allows another packet. */
bool tltcp__cc_window_open(const tltcp__cc *cc, double flight);
/* Whether the pacer allows a packet; notes when the pacer limits the flow. */
bool tltcp__cc_pacer_open(tltcp__cc *cc, double flight, tltcp_time now);
/* Data waits for the window. */
void tltcp__cc_on_full(tltcp__cc *cc);
/* When the pacer allows the next packet. */
tltcp_time tltcp__cc_pace_at(const tltcp__cc *cc, tltcp_time now);
/* Call it before a packet leaves: reports an idle period to the controller. A
 * sender that waits for an ACK, which comes up to ack_delay late, is not idle.
 */
void tltcp__cc_on_wake(tltcp__cc *cc, double flight, tltcp_time ack_delay,
                       tltcp_time now);
void tltcp__cc_on_sent(tltcp__cc *cc, double size, tltcp_time now);
/* How many packets of one size the pacer lets leave now, and the same as
 * on_sent() for each; not in a recovery period that repairs. */
uint64_t tltcp__cc_burst(const tltcp__cc *cc, double size, tltcp_time now);
void tltcp__cc_on_burst_sent(tltcp__cc *cc, double size, uint64_t count,
                             tltcp_time now);

/* Time for the controller. Feedback that came late over a slow return path is
 * of when it would have come without a queue there. */
cong_time tltcp__cc_clock(tltcp__cc *cc, tltcp_time now);
/* One feedback; fills in what the host knows and calls the controller. */
void tltcp__cc_on_ack(tltcp__cc *cc, struct cong_ack *ack, bool advanced);
/* Whether silence reduces the controller's rate (TFRC). */
bool tltcp__cc_has_feedback_timer(const tltcp__cc *cc);
/* Loss event rate and receive rate, from the receiver or measured here. */
void tltcp__cc_on_report(tltcp__cc *cc, double p, double x_recv, double flight,
                         tltcp_time now);
/* Reports the losses and marks that were noted in `period`; a
 * ::cong_recovery_outcome. */
unsigned tltcp__cc_on_congestion(tltcp__cc *cc,
                                 const struct cong_recovery_report *r);
/* The same when congestion is persistent. */
void tltcp__cc_on_persistent(tltcp__cc *cc,
                             const struct cong_recovery_report *r);
/* The fate of all packets below `oldest` is known. True when that ends the
 * period. */
bool tltcp__cc_on_settled(tltcp__cc *cc, uint64_t oldest, double flight,
                          tltcp_time now);
void tltcp__cc_on_event(tltcp__cc *cc, enum cong_cause cause, double flight,
                        double missing, unsigned count, tltcp_time now);
/* Updates pacing after direct calls of the controller. */
void tltcp__cc_set_pace(tltcp__cc *cc);

/* cc_bandwidth.c. */
/* Starts the estimate when data leaves. Its first input is the newest feedback,
 * which came at `heard`; 0: none yet. Without memory, the bandwidth stays
 * unknown. */
void tltcp__cc_estimate_bandwidth(tltcp__cc *cc, tltcp_time heard,
                                  tltcp_time now);
/* Frees the estimate when no data flows, unless the path has shown its rate. */
void tltcp__cc_forget_bandwidth(tltcp__cc *cc);
/* The estimate for reading. It is never NULL: without data it knows nothing. */
const tltcp__bandwidth *tltcp__cc_bandwidth(const tltcp__cc *cc);
/* What the controller allows, bytes of sections per second. */
double tltcp__cc_offered(const tltcp__cc *cc);
/* The estimated bandwidth, likewise; 0: not known. */
double tltcp__cc_estimated(const tltcp__cc *cc);
/* Updates the estimate by a feedback that the controller has processed. */
void tltcp__cc_learn_bandwidth(tltcp__cc *cc, const struct cong_ack *ack);
/* Starts the estimate again for another path. */
void tltcp__cc_restart_bandwidth(tltcp__cc *cc, tltcp_time now);

/* The estimated bandwidth, bit/s of sections. */
uint64_t tltcp__cc_estimated_bps(const tltcp__cc *cc);
void tltcp__cc_get_stats(const tltcp__cc *cc, tltcp_stats *st);

#endif /* LIBTLTCP_CC_H */

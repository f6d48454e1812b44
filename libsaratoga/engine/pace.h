/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_PACE_H
#define LIBSARATOGA_PACE_H

#include <congestion/pacer.h>
#include <congestion/recovery_period.h>
#include <congestion/rtt.h>

#include "internal/common/mem.h"
#include "libsaratoga/engine/config.h"
#include "libsaratoga/engine/sentlog.h"

#define SARATOGA__REPORTS 8

/* Decides when the next DATA may leave: by a fixed rate (open loop), or by a
 * congestion controller that gets a report per cycle. */
typedef struct saratoga__pace {
    enum saratoga__law law;
    struct cong *cong; /* NULL: open loop */
    struct cong_pacer pacer;
    struct cong_rate_sample sample;
    double rate;        /* bytes/s of IP packets: the fixed rate or the limit;
                           0: none */
    double granularity; /* seconds that a burst must cover */
    double overhead;    /* bytes of headers in front of a payload */
    double mss;
    double p;
    double x_recv;
    double sent[SARATOGA__REPORTS]; /* packets sent from one report of losses to
                                       the next, */
    double gone[SARATOGA__REPORTS]; /* newest first, and those lost */
    saratoga_time feedback_at;      /* when to report silence to the
                                       controller */
    saratoga_time cycle_at;         /* when the last cycle ended; 0: never */
    saratoga_time round_at;
    bool limited; /* the controller held DATA back since the last feedback */
    bool waits;   /* for the pacer alone: lateness is compensated */
    struct cong_recovery_period period; /* of a window controller */
    uint64_t slow_start_end; /* newest transmission when slow start ended:
                                tfrc */
} saratoga__pace;

/* What the pace depends on, apart from the options. */
typedef struct saratoga__pace_terms {
    double mss;         /* bytes of a full payload */
    double overhead;    /* bytes of headers in front of it */
    double granularity; /* seconds that a burst must cover */
    cong_time rtt;      /* or -1 */
} saratoga__pace_terms;

/* Returns 0, SARATOGA_ERR_NOMEM or SARATOGA_ERR_INVAL (a parameter). */
int saratoga__pace_init(saratoga__pace *p, const cmn__mem *mem,
                        const saratoga_options *o,
                        const saratoga__pace_terms *terms, saratoga_time now);
/* Whether its law is fed with a loss rate and a receive rate. */
bool saratoga__pace_has_equation(const saratoga__pace *p);
void saratoga__pace_free(saratoga__pace *p, const cmn__mem *mem);
void saratoga__pace_set_rate(saratoga__pace *p, uint64_t bps);
/* Applies the controller's outputs; call before the queries below. */
void saratoga__pace_update(saratoga__pace *p, cong_time srtt);
/* Whether the window has no room for another DATA packet. */
bool saratoga__pace_is_shut(const saratoga__pace *p, double flight);
/* When the next DATA may leave; now or earlier: at once; SARATOGA_TIME_NEVER:
 * the window is full. */
saratoga_time saratoga__pace_next(const saratoga__pace *p, double flight,
                                  saratoga_time now);
/* A packet of that size, headers included, leaves. */
void saratoga__pace_sent(saratoga__pace *p, double size, saratoga_time now);

/* What is known at the end of a cycle. */
typedef struct saratoga__pace_report {
    const saratoga__cycle *cycle;
    const struct cong_rtt *rtt;
    cong_time sample; /* newest RTT; -1: none */
    double flight;    /* bytes in flight before the answer */
    double missing;   /* bytes known lost, not repaired */
} saratoga__pace_report;

void saratoga__pace_on_cycle(saratoga__pace *p, const saratoga__pace_report *r,
                             saratoga_time now);
/* No STATUS for an RTO, the nth in a row; `next` is the number of the next
 * transmission. */
void saratoga__pace_on_rto(saratoga__pace *p, double flight, uint64_t next,
                           unsigned nth, saratoga_time now);
/* Restarts the silence timer: any STATUS arrived, or the first request after it
 * left, which may be late on a thin return path. */
void saratoga__pace_await(saratoga__pace *p, saratoga_time now);
/* Reports silence to the controller when it is due and a STATUS is outstanding,
 * or nothing was sent that requests one. */
void saratoga__pace_on_timeout(saratoga__pace *p, double flight, bool owed,
                               saratoga_time now);

#endif /* LIBSARATOGA_PACE_H */

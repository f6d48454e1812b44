/* SPDX-License-Identifier: MPL-2.0 */
/* Measures the queue on the return path, and what it carries. */
#include "libtltcp/engine/return_path.h"

#define MS ((cong_time)TLTCP_MS)
#define SECOND ((cong_time)TLTCP_S)
#define QUEUE_LEAST (8 * MS) /* less is noise, or clocks that drift */
#define JUMP (40 * MS)       /* ACKs do not fill a queue so fast */
#define SPAN (100 * MS) /* long enough to see whether ACKs always wait, ... */
#define SPAN_ACKS 4     /* ... and with as many of them */
#define LAG_MOST (10 * SECOND) /* more is a clock's step */
#define PART 3                 /* ACKs are to take this part of the path */
#define INTERVAL_MIN (5 * MS)
/* The sender needs some ACKs in a tenth of a second. */
#define INTERVAL_MAX (40 * MS)
#define DRAIN SECOND /* the queue is gone by then, if fewer ACKs suffice */
#define PROVEN (30 * SECOND)
#define PROVEN_MOST (480 * SECOND)
#define STEP_PART 4 /* of the interval, when more may be wanted */
#define STEP_TIME (5 * SECOND)

void tltcp__return_path_init(tltcp__return_path *r) {
    *r = (tltcp__return_path){.low = -1, .t_stood = -1, .proven = PROVEN};
}

/* The transit of an ACK, ns from that of the first one. */
static uint32_t time_taken(const tltcp__ack *ack, cong_time now) {
    uint32_t came = (uint32_t)((uint64_t)now / TLTCP_US);
    return came - ack->came_us - ack->delay_us;
}

static cong_time transit(const tltcp__return_path *r, const tltcp__ack *ack,
                         cong_time now) {
    return (int32_t)(time_taken(ack, now) - r->origin) * (cong_time)TLTCP_US;
}

/* The transit without a queue. A jump is one of the path or of other traffic,
 * which must not be left out. */
static cong_time base_of(const tltcp__return_path *r, cong_time passed) {
    cong_time jump = passed - r->newest;
    return jump > JUMP ? r->base + jump : r->base;
}

static void note_transit(tltcp__return_path *r, cong_time passed, cong_time rtt,
                         cong_time min_rtt) {
    cong_time most = rtt > 0 && min_rtt > 0 ? rtt - min_rtt : INT64_MAX;
    most = most > 0 ? most : 0;
    r->base = base_of(r, passed);
    r->base = passed < r->base ? passed : r->base;
    r->newest = passed;
    r->queue = passed - r->base;
    if (r->queue > most) { /* the clocks have drifted */
        r->queue = most;
        r->base = passed - most;
    }
}

static void set_interval(tltcp__return_path *r, cong_time interval,
                         cong_time now) {
    r->interval = interval < INTERVAL_MAX ? interval : INTERVAL_MAX;
    r->t_set = now;
}

/* ACKs waited all the time: there are to be fewer. */
static void want_fewer(tltcp__return_path *r, cong_time now) {
    cong_time each = (now - r->span) / r->acks;
    bool again = r->interval > 0;
    r->t_stood = now;
    if (!again) {
        set_interval(r, PART * each, now);
        r->interval = r->interval > INTERVAL_MIN ? r->interval : INTERVAL_MIN;
    } else if (now - r->t_set > DRAIN) {
        set_interval(r, 2 * r->interval, now);
        r->proven = r->proven < PROVEN_MOST ? 2 * r->proven : PROVEN_MOST;
    }
}

/* They did not: there may be more some time. */
static void want_more(tltcp__return_path *r, cong_time now) {
    if (r->interval > 0 && now - r->t_stood > r->proven &&
        now - r->t_set > STEP_TIME) {
        set_interval(r, r->interval - r->interval / STEP_PART, now);
        r->interval = r->interval < INTERVAL_MIN ? 0 : r->interval;
    }
}

void tltcp__return_path_on_ack(tltcp__return_path *r, const tltcp__ack *ack,
                               cong_time rtt, cong_time min_rtt,
                               cong_time now) {
    bool first = !r->known;
    if (first) {
        r->known = true;
        r->origin = time_taken(ack, now);
    }
    note_transit(r, transit(r, ack, now), rtt, min_rtt);
    r->low = r->low < 0 || r->queue < r->low ? r->queue : r->low;
    r->acks++;
    if (first) {
        r->span = now;
        r->acks = 0;
    }
    if (now - r->span < SPAN || r->acks < SPAN_ACKS) {
        return;
    }
    if (r->low > QUEUE_LEAST) {
        want_fewer(r, now);
    } else {
        want_more(r, now);
    }
    r->span = now;
    r->low = -1;
    r->acks = 0;
}

cong_time tltcp__return_path_lag(const tltcp__return_path *r,
                                 const tltcp__ack *ack, cong_time now) {
    cong_time passed = transit(r, ack, now);
    cong_time lag = r->known && ack->has_time ? passed - base_of(r, passed) : 0;
    if (lag < QUEUE_LEAST && r->interval == 0) {
        return 0;
    }
    lag = (lag > 0 ? lag : 0) + (cong_time)(ack->delay_us * TLTCP_US);
    return lag < LAG_MOST && lag < now ? lag : 0;
}

cong_time tltcp__return_path_queue(const tltcp__return_path *r) {
    return r->queue < QUEUE_LEAST ? 0 : r->queue;
}

cong_time tltcp__return_path_without(const tltcp__return_path *r, cong_time rtt,
                                     cong_time min_rtt) {
    cong_time without = rtt - tltcp__return_path_queue(r);
    return without > min_rtt ? without : rtt < min_rtt ? rtt : min_rtt;
}

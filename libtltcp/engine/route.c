/* SPDX-License-Identifier: MPL-2.0 */
/* Tells a longer path from a queue. */
#include "libtltcp/engine/route.h"

#define JUMP_MIN INT64_C(40000000) /* ns; or the lowest RTT, if longer */
#define PAUSE INT64_C(100000000)   /* ns between packets, at most */
#define STAYS_PART 8               /* of the jump may be missing later */
#define SPAN INT64_C(60000000)     /* ns; shorter rates are noise */
#define FLIGHT_TIMES 1.2           /* what is in flight cannot be the queue */

static bool route_jumps(const tltcp__route *r, cong_time rtt, cong_time min_rtt,
                        cong_time now) {
    cong_time jump = rtt - r->rtt;
    return r->rtt > 0 && jump > JUMP_MIN && jump > min_rtt &&
           now - r->at <= jump + PAUSE;
}

/* Frees what is known of the jump. */
static void route_end(tltcp__route *r, const cmn__mem *mem) {
    cmn__free(mem, r->jump);
    r->jump = NULL;
}

static void route_begin(tltcp__route *r, const cmn__mem *mem,
                        const struct cong_ack *ack) {
    if (r->jump == NULL) {
        r->jump = cmn__alloc(mem, sizeof(*r->jump));
    }
    if (r->jump != NULL) {
        *r->jump = (tltcp__route_jump){.before = r->rtt,
                                       .seen = ack->now,
                                       .high = ack->rtt,
                                       .low = ack->rtt,
                                       .flight = ack->flight,
                                       .span = ack->now};
    }
}

static void route_measure(tltcp__route_jump *j, const struct cong_ack *ack) {
    j->flight = ack->flight > j->flight ? ack->flight : j->flight;
    j->came += ack->acked;
    if (ack->now - j->span >= SPAN) {
        double rate = j->came / (double)(ack->now - j->span);
        j->rate = rate > j->rate ? rate : j->rate;
        j->span = ack->now;
        j->came = 0;
    }
}

static bool route_is_queue(const tltcp__route_jump *j, cong_time min_rtt) {
    return j->rate * (double)(j->low - min_rtt) < FLIGHT_TIMES * j->flight;
}

/* The jump is not refuted; a packet that was sent after it may confirm it. */
static cong_time route_go_on(tltcp__route *r, const cmn__mem *mem,
                             const struct cong_ack *ack, cong_time min_rtt) {
    tltcp__route_jump *j = r->jump;
    cong_time longer = -1;
    route_measure(j, ack);
    j->low = ack->rtt < j->low ? ack->rtt : j->low;
    if (j->low < j->high - (j->high - j->before) / STAYS_PART) {
        route_end(r, mem);
    } else if (ack->now - ack->rtt >= j->seen) {
        longer = route_is_queue(j, min_rtt) ? -1 : j->low;
        route_end(r, mem);
    }
    return longer;
}

cong_time tltcp__route_on_ack(tltcp__route *r, const cmn__mem *mem,
                              const struct cong_ack *ack, cong_time min_rtt) {
    cong_time longer = -1;
    if (ack->rtt <= 0) {
        return -1;
    }
    if (route_jumps(r, ack->rtt, min_rtt, ack->now)) {
        route_begin(r, mem, ack); /* again, if each way jumps by itself */
    } else if (r->jump != NULL) {
        longer = route_go_on(r, mem, ack, min_rtt);
    }
    r->at = ack->now;
    r->rtt = ack->rtt;
    return longer;
}

void tltcp__route_free(tltcp__route *r, const cmn__mem *mem) {
    route_end(r, mem);
    *r = (tltcp__route){0};
}

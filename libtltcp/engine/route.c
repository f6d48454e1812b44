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

static void route_begin(tltcp__route *r, const struct cong_ack *ack) {
    r->before = r->rtt;
    r->jumped = ack->now;
    r->high = ack->rtt;
    r->low = ack->rtt;
    r->flight = ack->flight;
    r->rate = 0;
    r->span = ack->now;
    r->came = 0;
}

static void route_measure(tltcp__route *r, const struct cong_ack *ack) {
    r->flight = ack->flight > r->flight ? ack->flight : r->flight;
    r->came += ack->acked;
    if (ack->now - r->span >= SPAN) {
        double rate = r->came / (double)(ack->now - r->span);
        r->rate = rate > r->rate ? rate : r->rate;
        r->span = ack->now;
        r->came = 0;
    }
}

static bool route_is_queue(const tltcp__route *r, cong_time min_rtt) {
    return r->rate * (double)(r->low - min_rtt) < FLIGHT_TIMES * r->flight;
}

/* The jump is not refuted; a packet that was sent after it may confirm it. */
static cong_time route_go_on(tltcp__route *r, const struct cong_ack *ack,
                             cong_time min_rtt) {
    route_measure(r, ack);
    r->low = ack->rtt < r->low ? ack->rtt : r->low;
    if (r->low < r->high - (r->high - r->before) / STAYS_PART) {
        r->before = 0;
    } else if (ack->now - ack->rtt >= r->jumped) {
        r->before = 0;
        return route_is_queue(r, min_rtt) ? -1 : r->low;
    }
    return -1;
}

cong_time tltcp__route_on_ack(tltcp__route *r, const struct cong_ack *ack,
                              cong_time min_rtt) {
    cong_time longer = -1;
    if (ack->rtt <= 0) {
        return -1;
    }
    if (route_jumps(r, ack->rtt, min_rtt, ack->now)) {
        route_begin(r, ack); /* again, if each way jumps by itself */
    } else if (r->before > 0) {
        longer = route_go_on(r, ack, min_rtt);
    }
    r->at = ack->now;
    r->rtt = ack->rtt;
    return longer;
}

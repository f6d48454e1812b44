/* SPDX-License-Identifier: MPL-2.0 */
/* Times of what is queued and expected. */
#include "libtltcp/engine/lookahead_times.h"

#include <math.h>

#define HORIZON (3 * TLTCP_S) /* how far ahead sections are expected */
#define PLAN_MAX 256          /* no plan has as many sections */

int64_t tltcp__from_now(tltcp_time t, tltcp_time now) {
    if (t < now) {
        return -(int64_t)(now - t);
    }
    return t - now < (tltcp_time)TLTCP__NEVER ? (int64_t)(t - now)
                                              : TLTCP__NEVER;
}

int64_t tltcp__time_plus(int64_t at, tltcp_time span) {
    return span >= (tltcp_time)TLTCP__NEVER ? TLTCP__NEVER : at + (int64_t)span;
}

int64_t tltcp__time_minus(int64_t at, int64_t span) {
    return at >= TLTCP__NEVER ? TLTCP__NEVER : at - span;
}

int64_t tltcp__time_of_sending(double bytes, double ns_per_byte) {
    const int64_t most = TLTCP__NEVER / PLAN_MAX;
    double ns = bytes * ns_per_byte;
    return ns < (double)most ? (int64_t)ns : most;
}

int64_t tltcp__time_with_reserve(int64_t due, int64_t written) {
    return due >= TLTCP__NEVER ? due
                               : due - (due - written) / TLTCP__RESERVE_PART;
}

double tltcp__chance_missing(double loss, double packets, unsigned repairs) {
    return 1 - pow(1 - pow(loss, 1 + repairs), fmax(packets, 1));
}

bool tltcp__is_queued(const tltcp__section *s) {
    return s->state == TLTCP__SECTION_LIVE && !s->ahead;
}

static tltcp_time next_key(const tltcp__cadence *c) {
    if (c->last_key == 0) {
        return TLTCP_TIME_NEVER;
    }
    return c->gop != 0 ? c->last_key + c->gop
                       : c->last + TLTCP_S - (c->last - c->last_key) % TLTCP_S;
}

tltcp__expected tltcp__expected_first(const tltcp__cadence *c) {
    return (tltcp__expected){.at = c->last, .next_key = next_key(c)};
}

bool tltcp__expected_next(tltcp__expected *e, const tltcp__cadence *c,
                          tltcp_time now) {
    bool known = c->gop != 0;
    if (c->gap == 0 || e->at > now + HORIZON) {
        return false;
    }
    e->at += c->gap;
    e->key = e->at >= e->next_key - c->gap / 2 &&
             (known || e->at < e->next_key + c->gap / 2);
    e->guessed = e->key && !known;
    if (e->key && known) {
        e->next_key += c->gop;
    }
    e->written = tltcp__from_now(e->at, now);
    e->written = e->written > 0 ? e->written : 0;
    return true;
}

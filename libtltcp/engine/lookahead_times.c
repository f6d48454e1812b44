/* SPDX-License-Identifier: MPL-2.0 */
/* Times of what is queued and expected. */
#include "libtltcp/engine/lookahead_times.h"

int64_t tltcp__from_now(tltcp_time t, tltcp_time now) {
    if (t == TLTCP_TIME_NEVER) {
        return TLTCP__NEVER;
    }
    return t >= now ? (int64_t)(t - now) : -(int64_t)(now - t);
}

int64_t tltcp__later(int64_t at, tltcp_time span) {
    return span >= (tltcp_time)TLTCP__NEVER ? TLTCP__NEVER : at + (int64_t)span;
}

int64_t tltcp__earlier(int64_t at, int64_t span) {
    return at >= TLTCP__NEVER ? TLTCP__NEVER : at - span;
}

tltcp_time tltcp__next_key(const tltcp__cadence *c) {
    if (c->last_key == 0) {
        return TLTCP_TIME_NEVER;
    }
    return c->gop != 0 ? c->last_key + c->gop
                       : c->last + TLTCP_S - (c->last - c->last_key) % TLTCP_S;
}

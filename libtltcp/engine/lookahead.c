/* SPDX-License-Identifier: MPL-2.0 */
/* Gives up sections in advance so that others arrive in time. */
#include "libtltcp/engine/lookahead.h"

/* Whether a KEY of its stream is queued behind the section. */
static bool key_waits(const tltcp__dependencies *d, const cmn__ring *recs,
                      uint64_t first) {
    const tltcp__section *s = cmn__ring_at(recs, first);
    return d->stream[s->stream].key > first + 1;
}

bool tltcp__lookahead_keeps(const tltcp__dependencies *d, const cmn__ring *recs,
                            uint64_t first, uint64_t before,
                            const tltcp__path_estimate *path, tltcp_time now) {
    if (path->rate <= 0) {
        tltcp__path_estimate window = *path;
        window.rate = path->window;
        return !path->starved || path->window <= 0 ||
               !key_waits(d, recs, first) ||
               tltcp__lookahead_tiers_keeps(d, recs, first, before, &window,
                                            now);
    }
    return path->settled
               ? tltcp__lookahead_plan_keeps(d, recs, first, before, path, now)
               : tltcp__lookahead_tiers_keeps(d, recs, first, before, path,
                                              now);
}

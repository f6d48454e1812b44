/* SPDX-License-Identifier: MPL-2.0 */
/* Gives up sections in advance so that others arrive in time. */
#include "libtltcp/engine/lookahead.h"

bool tltcp__lookahead_keeps(const tltcp__dependencies *d, const cmn__ring *recs,
                            uint64_t first, uint64_t before,
                            const tltcp__path_estimate *path, tltcp_time now) {
    if (path->rate <= 0) {
        return true;
    }
    return path->settled
               ? tltcp__lookahead_plan_keeps(d, recs, first, before, path, now)
               : tltcp__lookahead_tiers_keeps(d, recs, first, before, path,
                                              now);
}

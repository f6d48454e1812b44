/* SPDX-License-Identifier: MPL-2.0 */
/* Finds the section of a byte, and whether a section is still to be sent.
 */
#include "libtltcp/engine/sections.h"

uint64_t tltcp__sections_find(const tltcp__sections *s, uint64_t seq) {
    uint64_t lo = s->recs.head;
    uint64_t hi = s->recs.tail;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (tltcp__sections_rec(s, mid)->end > seq) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

bool tltcp__sections_is_live(const tltcp__sections *s, uint64_t section) {
    return tltcp__sections_knows(s, section) &&
           tltcp__sections_rec(s, section)->state == TLTCP__SECTION_LIVE;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Offsets and sizes of variable width. */
#include "libsaratoga/engine/descriptor.h"

uint32_t saratoga__descriptor_for(uint64_t size) {
    uint32_t d = SARATOGA_16_BIT;
    while (size > saratoga__highest(d)) {
        d++;
    }
    return d;
}

saratoga__wide saratoga__get_wide(cmn__reader *r, uint32_t descriptor) {
    saratoga__wide x = {0, 0};
    switch (descriptor) { /* constant widths compile to single loads */
    case SARATOGA_16_BIT:
        x.lo = cmn__get16(r);
        break;
    case SARATOGA_32_BIT:
        x.lo = cmn__get32(r);
        break;
    case SARATOGA_128_BIT:
        x.hi = cmn__get64(r);
        x.lo = cmn__get64(r);
        break;
    default:
        x.lo = cmn__get64(r);
        break;
    }
    return x;
}

void saratoga__put_wide(cmn__writer *w, uint32_t descriptor, saratoga__wide x) {
    switch (descriptor) {
    case SARATOGA_16_BIT:
        cmn__put16(w, (uint16_t)x.lo);
        break;
    case SARATOGA_32_BIT:
        cmn__put32(w, (uint32_t)x.lo);
        break;
    case SARATOGA_128_BIT:
        cmn__put64(w, x.hi);
        cmn__put64(w, x.lo);
        break;
    default:
        cmn__put64(w, x.lo);
        break;
    }
}

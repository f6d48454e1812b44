/* SPDX-License-Identifier: MPL-2.0 */
/* Writes and reads timestamps. */
#include "libsaratoga/engine/timestamp.h"

#define NS UINT64_C(1000000000)
#define Y2K UINT64_C(946684822)
#define SECOND (UINT64_C(1) << 32)

uint64_t saratoga__timestamp_clock(saratoga_time now, int64_t posix_offset) {
    uint64_t ns = now + (uint64_t)posix_offset;
    uint64_t fraction = ns % NS;
    /* 32 bits of seconds: good until 2106, then they wrap with the type. */
    return ns / NS << 32 | ((fraction << 32) / NS);
}

void saratoga__timestamp_write(uint32_t kind, uint64_t x, uint8_t *out) {
    cmn__writer w = cmn__writer_of(out, SARATOGA__TIMESTAMP_LEN);
    memset(out, 0, SARATOGA__TIMESTAMP_LEN);
    switch (kind) {
    case SARATOGA_TS_LOCAL:
        cmn__put64(&w, x);
        break;
    case SARATOGA_TS_POSIX32:
        cmn__put32(&w, (uint32_t)(x >> 32));
        break;
    case SARATOGA_TS_POSIX64:
        cmn__put64(&w, x >> 32);
        break;
    case SARATOGA_TS_POSIX32_F:
        cmn__put64(&w, x);
        break;
    case SARATOGA_TS_POSIX64_F:
        cmn__put64(&w, x >> 32);
        cmn__put32(&w, (uint32_t)x);
        break;
    default:
        cmn__put32(&w, (uint32_t)((x >> 32) - Y2K));
        break;
    }
    out[SARATOGA__TIMESTAMP_LEN - 1] = (uint8_t)kind;
}

bool saratoga__timestamp_read(uint32_t kind, const uint8_t *in, uint64_t *low,
                              uint64_t *high) {
    cmn__reader r = cmn__reader_of(in, SARATOGA__TIMESTAMP_LEN);
    uint64_t first;
    uint64_t width = 1;
    if (in[SARATOGA__TIMESTAMP_LEN - 1] != kind) {
        return false;
    }
    switch (kind) {
    case SARATOGA_TS_LOCAL:
    case SARATOGA_TS_POSIX32_F:
        first = cmn__get64(&r);
        break;
    case SARATOGA_TS_POSIX32:
        first = (uint64_t)cmn__get32(&r) << 32;
        width = SECOND;
        break;
    case SARATOGA_TS_POSIX64:
        first = cmn__get64(&r) << 32;
        width = SECOND;
        break;
    case SARATOGA_TS_POSIX64_F:
        first = cmn__get64(&r) << 32;
        first |= cmn__get32(&r);
        break;
    default:
        first = ((uint64_t)cmn__get32(&r) + Y2K) << 32;
        width = SECOND;
        break;
    }
    *low = first;
    *high = first + (width - 1);
    return true;
}

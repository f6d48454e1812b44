/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_DESCRIPTOR_H
#define LIBSARATOGA_DESCRIPTOR_H

#include <saratoga/types.h>

#include "internal/common/wire.h"

/* Offsets and sizes of 16 to 128 bits on the wire. */

/* A number of up to 128 bits. */
typedef struct saratoga__wide {
    uint64_t hi;
    uint64_t lo;
} saratoga__wide;

/* Octets of a descriptor. */
static inline size_t saratoga__width(uint32_t descriptor) {
    return (size_t)2 << descriptor;
}

/* The highest number of a descriptor, clamped to 64 bits. */
static inline uint64_t saratoga__highest(uint32_t descriptor) {
    return descriptor >= SARATOGA_64_BIT
               ? UINT64_MAX
               : (UINT64_C(1) << (8 * saratoga__width(descriptor))) - 1;
}

/* The narrowest descriptor for a size. */
uint32_t saratoga__descriptor_for(uint64_t size);

saratoga__wide saratoga__get_wide(cmn__reader *r, uint32_t descriptor);
/* Numbers too large for the descriptor lose their upper bits, as the offsets of
 * a stream must. */
void saratoga__put_wide(cmn__writer *w, uint32_t descriptor, saratoga__wide x);
static inline void saratoga__put_offset(cmn__writer *w, uint32_t descriptor,
                                        uint64_t x) {
    saratoga__put_wide(w, descriptor, (saratoga__wide){0, x});
}

#endif /* LIBSARATOGA_DESCRIPTOR_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_SIZED_H
#define COMMON_SIZED_H

#include <stddef.h>
#include <string.h>

/* Takes a public struct whose first member is its size, and whose caller may
 * have been built with an earlier or later header. `out`, of `size` bytes,
 * holds the defaults of members that the caller does not know. */
static inline void cmn__sized_take(void *out, size_t size, const void *in) {
    size_t known;

    memcpy(&known, in, sizeof(known));
    memcpy(out, in, known < size ? known : size);
    memcpy(out, &size, sizeof(size));
}

#endif /* COMMON_SIZED_H */

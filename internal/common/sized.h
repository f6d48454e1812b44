/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_SIZED_H
#define COMMON_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Public structs whose first member is their size. Their caller may have been
 * built with an earlier or later header. */

/* Whether it was initialised. */
static inline bool cmn__sized_is_set(const void *in) {
    size_t known = 0;

    if (in != NULL) {
        memcpy(&known, in, sizeof(known));
    }
    return known >= sizeof(known);
}

/* `out`, of `size` bytes, holds the defaults of members that the caller does
 * not know. */
static inline void cmn__sized_take(void *out, size_t size, const void *in) {
    size_t known;

    memcpy(&known, in, sizeof(known));
    memcpy(out, in, known < size ? known : size);
    memcpy(out, &size, sizeof(size));
}

/* Fills in the members of `out` that the caller knows from `in`, of `size`
 * bytes. */
static inline void cmn__sized_give(void *out, const void *in, size_t size) {
    size_t known;

    memcpy(&known, out, sizeof(known));
    memcpy(out, in, known < size ? known : size);
    memcpy(out, &known, sizeof(known));
}

#endif /* COMMON_SIZED_H */

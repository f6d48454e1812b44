/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TALLY_H
#define COMMON_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* Counters by 64-bit keys, in O(1). Keys must not be predictable to an attacker
 * who wants collisions; 0 is not used. */
typedef struct cmn__tally {
    cmn__mem mem;
    struct cmn__tally_entry {
        uint64_t key;
        uint64_t count;
        uint64_t more[2]; /* for the owner; initially 0 */
    } * entry;
    size_t cap; /* a power of two, or 0 */
    size_t len;
} cmn__tally;

void cmn__tally_init(cmn__tally *t, const cmn__mem *mem);
void cmn__tally_free(cmn__tally *t);
uint64_t cmn__tally_get(const cmn__tally *t, uint64_t key);
/* Returns 0, or -1 without memory. */
int cmn__tally_up(cmn__tally *t, uint64_t key);
void cmn__tally_down(cmn__tally *t, uint64_t key);
/* The owner's numbers of a counter, or NULL if the count is 0. Valid until the
 * next change. */
uint64_t *cmn__tally_more(const cmn__tally *t, uint64_t key);

#endif /* COMMON_TALLY_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_ORIGIN_H
#define SECURE_ORIGIN_H

#include <stdbool.h>

#include "internal/common/tally.h"

/* Callers by where they come from: their address (an IPv4 address or an IPv6
 * /64), IPv6 /56 and /48. The holder of a /48 can call from 65,536 /64. */
#define SEC__BLOCKS 3

/* A token for each block, 0: unknown. */
typedef struct sec__origin {
    uint64_t block[SEC__BLOCKS];
} sec__origin;

/* Per block: connections, and the owner's numbers. */
typedef struct sec__origins {
    cmn__tally of[SEC__BLOCKS];
} sec__origins;

/* The owner's numbers: half-open connections, and one more. */
enum { SEC__ORIGIN_HALF_OPEN, SEC__ORIGIN_OWN };

void sec__origins_init(sec__origins *t, const cmn__mem *mem);
void sec__origins_free(sec__origins *t);

/* A connection is created; its address is proven; it is freed. The first
 * returns 0, or -1 without memory. */
int sec__origins_enter(sec__origins *t, const sec__origin *o);
void sec__origins_on_proven(sec__origins *t, const sec__origin *o);
void sec__origins_leave(sec__origins *t, const sec__origin *o, bool proven);

/* Connections of block i; 0: none, or the block is unknown. */
uint64_t sec__origins_count(const sec__origins *t, const sec__origin *o, int i);
/* The owner's numbers of block i; NULL: unknown, or without a connection. */
uint64_t *sec__origins_more(const sec__origins *t, const sec__origin *o, int i);
/* The limit of block i, where an address may have `most` of `all`: a /56 twice
 * as many, a /48 four times as many, but they leave a quarter to others. Where
 * an address may have all, they may, too. */
uint64_t sec__origins_limit(int i, uint64_t most, uint64_t all);
/* Whether a block has as many connections, or half-open ones, as it may. */
bool sec__origins_are_full(const sec__origins *t, const sec__origin *o,
                           uint64_t most, uint64_t all);
bool sec__origins_are_half_open(const sec__origins *t, const sec__origin *o,
                                uint64_t most, uint64_t all);

#endif /* SECURE_ORIGIN_H */

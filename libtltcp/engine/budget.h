/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_BUDGET_H
#define LIBTLTCP_BUDGET_H

#include <tltcp/config.h>
#include <tltcp/conn.h>

#include "internal/secure/origin.h"

/* Resource limits for the callers of a listener: memory for the data they send,
 * and half-open connections. Both are counted in total and by the caller's
 * address, IPv6 /56 and /48.
 *
 * Memory. Each connection owns TLTCP__BUDGET_OWN bytes. Further memory comes
 * from the rest of tltcp_listener_options::max_memory, and one connection never
 * takes more than what remains free, so newcomers find some (dynamic
 * thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2),
 * 1998).
 *
 * Handshakes. Callers with a token are limited as well. Above half the limit,
 * they are dropped at random, with a probability that rises to 1 at the limit,
 * so a caller that repeats its INITIAL gets in eventually (as with OpenSSH's
 * MaxStartups). */

#define TLTCP__BUDGET_OWN ((size_t)32 << 10)

typedef struct tltcp__budget {
    uint64_t max_memory;
    uint64_t held; /* memory beyond each connection's own */
    uint64_t half_open;
    uint64_t max_half_open;    /* limit for callers with a token */
    uint64_t max_half_open_of; /* likewise, from one address */
    uint64_t count;            /* connections */
    uint64_t luck;             /* state of a random number generator */
    uint64_t dropped;          /* callers dropped early */
    sec__origins origins;      /* their own number is memory */
} tltcp__budget;

/* luck: an unpredictable number other than 0. */
void tltcp__budget_init(tltcp__budget *b, const cmn__mem *mem,
                        const tltcp_listener_options *o, uint64_t luck);
void tltcp__budget_free(tltcp__budget *b);

sec__origin tltcp__origin_of(const tltcp_pktinfo *info);

/* Whether a new caller may make a connection now. */
bool tltcp__budget_admits(tltcp__budget *b, const sec__origin *o);
/* A connection is created; its address is proven; it is freed. The first
 * returns 0, or -1 without memory. */
int tltcp__budget_enter(tltcp__budget *b, const sec__origin *o);
void tltcp__budget_on_proven(tltcp__budget *b, const sec__origin *o);
void tltcp__budget_leave(tltcp__budget *b, const sec__origin *o, bool proven);

/* Whether a connection that holds `held` bytes may hold `more`. */
bool tltcp__budget_allows(const tltcp__budget *b, const sec__origin *o,
                          size_t held, size_t more);
/* Records that a connection now holds `is` bytes instead of `was`. */
void tltcp__budget_charge(tltcp__budget *b, const sec__origin *o, size_t was,
                          size_t is);

#endif /* LIBTLTCP_BUDGET_H */

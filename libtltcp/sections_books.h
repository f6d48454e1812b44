/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SECTIONS_BOOKS_H
#define LIBTLTCP_SECTIONS_BOOKS_H

#include "libtltcp/sections.h"

/* What sections*.c share of the books of sections. */

static inline tltcp__section *tltcp__sections_rec(const tltcp__sections *s,
                                                  uint64_t number) {
    return cmn__ring_at(&s->recs, number);
}

static inline bool tltcp__sections_knows(const tltcp__sections *s,
                                         uint64_t number) {
    return number >= s->recs.head && number < s->recs.tail;
}

/* It is done: tells its fate. */
void tltcp__sections_settle(tltcp__sections *s, uint64_t number, int fate);
/* An expired section gets its fate once nothing of it is in flight. */
int tltcp__sections_settle_expired(tltcp__sections *s, uint64_t number);
/* Expires a live section before or at its deadline. */
int tltcp__sections_give_up(tltcp__sections *s, uint64_t number, uint8_t cause);
void tltcp__sections_off_the_clock(tltcp__sections *s, tltcp__section *r);
int tltcp__sections_drop_repairs(tltcp__sections *s, uint64_t start,
                                 uint64_t end);
/* Moves nxt to where live data is, or to the end. */
void tltcp__sections_find_new(tltcp__sections *s);
/* Moves una and seq_update over what is settled, and forgets old records. */
void tltcp__sections_advance(tltcp__sections *s);

#endif /* LIBTLTCP_SECTIONS_BOOKS_H */

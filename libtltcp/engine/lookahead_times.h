/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LOOKAHEAD_TIMES_H
#define LIBTLTCP_LOOKAHEAD_TIMES_H

#include "libtltcp/engine/dependencies.h"

/* Times of what is queued and expected, for both ways of
 * tltcp__lookahead_keeps(). They are signed, in ns from now. */

#define TLTCP__NEVER (INT64_MAX / 4)
#define TLTCP__QUEUED_MAX 64 /* queued sections considered */
/* Sections that others need keep 1/3 of their time in reserve, for larger
 * sections than expected and for changes of the path. */
#define TLTCP__RESERVE_PART 3

int64_t tltcp__from_now(tltcp_time t, tltcp_time now);
/* At a span after, or before, another. Never stays never. */
int64_t tltcp__time_plus(int64_t at, tltcp_time span);
int64_t tltcp__time_minus(int64_t at, int64_t span);

/* Time of sending, so bounded that all of a plan together is not never. */
int64_t tltcp__time_of_sending(double bytes, double ns_per_byte);
/* When a section that others need should be complete, to keep the reserve. */
int64_t tltcp__time_with_reserve(int64_t due, int64_t written);

/* Probability that one of so many packets is missing when every lost one was
 * sent again so often. */
double tltcp__chance_missing(double loss, double packets, unsigned repairs);

/* Whether a section waits for its turn. */
bool tltcp__is_queued(const tltcp__section *s);

/* The sections that others need and that a stream is expected to write, one
 * after the other. Until the second KEY shows the length of a GOP, a KEY is
 * guessed at every full second after the first, where encoders usually put
 * them. */
typedef struct tltcp__expected {
    tltcp_time at;       /* when it is written; at first: the newest one */
    tltcp_time next_key; /* TLTCP_TIME_NEVER: not known */
    int64_t written;     /* from now; 0 if it is overdue */
    bool key;
    bool guessed; /* a KEY that may not be written */
} tltcp__expected;

tltcp__expected tltcp__expected_first(const tltcp__cadence *c);
/* The next one; false: none within the horizon. */
bool tltcp__expected_next(tltcp__expected *e, const tltcp__cadence *c,
                          tltcp_time now);

#endif /* LIBTLTCP_LOOKAHEAD_TIMES_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LOOKAHEAD_TIMES_H
#define LIBTLTCP_LOOKAHEAD_TIMES_H

#include "libtltcp/engine/dependencies.h"

/* Signed times from now, in ns, of what is queued and expected. */

#define TLTCP__NEVER (INT64_MAX / 4)

int64_t tltcp__from_now(tltcp_time t, tltcp_time now);
/* At a span after, or before, another. Never stays never. */
int64_t tltcp__later(int64_t at, tltcp_time span);
int64_t tltcp__earlier(int64_t at, int64_t span);

/* When the next KEY is expected; TLTCP_TIME_NEVER: not known. Until the second
 * KEY shows the length of a GOP, a KEY is expected at every full second after
 * the first, where encoders usually put them. */
tltcp_time tltcp__next_key(const tltcp__cadence *c);

#endif /* LIBTLTCP_LOOKAHEAD_TIMES_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_REPLAY_H
#define SECURE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* Replay window: each packet number is accepted once, and none older than the
 * window (RFC 6479). */

#define SEC__REPLAY_BITS 8192u /* 0.1 s at 1 Gbit/s */

typedef struct sec__replay {
    uint64_t top; /* highest number seen, plus 1; 0: none */
    uint64_t seen[SEC__REPLAY_BITS / 64];
} sec__replay;

/* Whether pn may be new. */
bool sec__replay_fresh(const sec__replay *w, uint64_t pn);
/* Records a genuine packet. True if it is the highest so far. */
bool sec__replay_mark(sec__replay *w, uint64_t pn);

#endif /* SECURE_REPLAY_H */

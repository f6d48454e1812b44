/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A bulk flow beside a world's own, through the same two links.
 *
 * It behaves as a kernel's TCP does: no pacing but
 * that of BBR, ten segments to begin with, and
 * acknowledgements as Linux gives them: the second of two segments that leave
 * at once has PSH, and is answered at once.  So what is sent alone stays alone,
 * as each ACK lets go what it acknowledges: 1.75 segments for each ACK, not
 * two. The end of a train is what a full queue drops, so shorter ones lose
 * less.
 */
#ifndef TESTS_SIMNET_RIVAL_H
#define TESTS_SIMNET_RIVAL_H

#include "tests/simnet/world.h"

#define RIVAL_REMEMBERED 1024 /* more than are ever on their way */

struct rival {
    struct world *world;
    struct sim_host *from, *to;
    struct sim_peer *peer;
    struct sim_source source;
    struct sim_reader reader;
    uint64_t train_at;           /* when the newest train left */
    unsigned train;              /* segments in it before the newest */
    bool push[RIVAL_REMEMBERED]; /* by packet number */
};

/* Joins a world that is open; sends from now on until rival_leave(). */
void rival_join(struct rival *r, struct world *w, const char *congestion,
                uint64_t seed);
/* Puts two hosts behind the links of a world, at no distance from its ends. */
void rival_route(struct world *w, struct sim_host *from, struct sim_host *to);
/* To be called before world_close(). */
void rival_leave(struct rival *r);

#endif /* TESTS_SIMNET_RIVAL_H */

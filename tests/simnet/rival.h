/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A bulk flow beside a world's own, through the same two links.
 *
 * It behaves as a kernel's TCP does: whole windows at once, no pacing, ten
 * segments to begin with.
 */
#ifndef TESTS_SIMNET_RIVAL_H
#define TESTS_SIMNET_RIVAL_H

#include "tests/simnet/world.h"

struct rival {
    struct world *world;
    struct sim_host *from, *to;
    struct sim_peer *peer;
    struct sim_source source;
    struct sim_reader reader;
};

/* Joins a world that is open; sends from now on until rival_leave(). */
void rival_join(struct rival *r, struct world *w, const char *congestion,
                uint64_t seed);
/* To be called before world_close(). */
void rival_leave(struct rival *r);

#endif /* TESTS_SIMNET_RIVAL_H */

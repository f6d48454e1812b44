/* SPDX-License-Identifier: MPL-2.0 */
/* Streams of fixed rate over links that carry only a part of them. */
#ifndef TESTS_SIMNET_SMALL_H
#define TESTS_SIMNET_SMALL_H

#include "tests/simnet/world.h"

enum {
    SMALL_CHAIN,
    SMALL_SCREEN,
    SMALL_PLAIN_B,
    SMALL_PYRAMID,
    SMALL_HEAVY,
    SMALL_KINDS
};

/* Medians of all seeds, shares of 1. */
struct small {
    double used;       /* of the link, by pictures that were shown */
    double worst;      /* seed */
    double bound;      /* of `used` */
    double seen;       /* pictures */
    double seen_bound; /* likewise */
    double late;       /* of the bytes that arrived */
    double dropped;    /* of the pictures, unsent */
    uint64_t freeze;
};

const char *small_name(int kind);
/* Over a link of so large a part of the stream's mean rate, 40 ms. */
struct small small_play(int kind, double part, uint64_t latency,
                        unsigned seeds);

#endif /* TESTS_SIMNET_SMALL_H */

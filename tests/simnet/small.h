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

/* A stream over a link that is too small, or long, or loses. */
struct small_case {
    int kind;
    double part;      /* of the stream's mean rate, that the link carries */
    uint64_t latency; /* beyond what the empty path takes */
    uint64_t rtt;     /* 0: 40 ms */
    double loss;
    double bursts;       /* share lost, in a row ... */
    unsigned in_a_row;   /* ... on average */
    uint64_t jitter;     /* each way ... */
    double jitter_share; /* ... of this share of the packets; 0: all */
    uint64_t slot;       /* packets arrive at ends of slots up to so long */
    uint32_t gop;        /* pictures; 0: 50 */
    uint32_t from;       /* pictures before it do not count */
    uint64_t seed;       /* the first one; 0: 1 */
};

/* Medians of all seeds, shares of 1. */
struct small {
    double used;       /* of the link, by pictures that were shown */
    double worst;      /* seed */
    double seen_worst; /* likewise, of the pictures */
    double bound;      /* of `used` */
    double seen;       /* pictures */
    double seen_bound; /* likewise */
    double late;       /* of the bytes that arrived */
    double dropped;    /* of the pictures, unsent */
    uint64_t freeze;
    uint64_t freeze_bound; /* the least that can be */
};

const char *small_name(int kind);
/* Over a link of so large a part of the stream's mean rate, 40 ms. */
struct small small_play(int kind, double part, uint64_t latency,
                        unsigned seeds);
struct small small_play_case(const struct small_case *on, unsigned seeds);
/* Prints what became of each picture of one run. */
void small_trace(const struct small_case *on);

#endif /* TESTS_SIMNET_SMALL_H */

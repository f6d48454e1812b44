/* SPDX-License-Identifier: MPL-2.0 */
/* Results of live video over a link with default settings: the controller, the
 * repair, the look-ahead. */
#ifndef TESTS_SIMNET_MARKS_H
#define TESTS_SIMNET_MARKS_H

#include "tests/simnet/world.h"

#define MARKS_SEEDS_MAX 101

/* A link, the same both ways, and who was there first. */
struct path {
    double rate; /* bit/s */
    uint64_t rtt;
    double loss;
    double bursts;     /* share lost, in a row ... */
    unsigned in_a_row; /* ... on average; 0: four packets */
    uint64_t jitter;   /* of a busy machine or a radio, one way */
    uint64_t latency;  /* that the viewer allows */
    uint64_t patience; /* how much longer a picture is of use */
    uint64_t longer;   /* RTT from the eleventh second on; 0: the same */
    const char *rival;
    uint32_t initial_window; /* packets, by who knows the path; 0: default */
    const char *param;       /* of the controller; NULL: all at their default */
    double value;
};

struct mark {
    double seen;    /* of what could be at best */
    double tenth;   /* the same, of the worst tenth of the runs the best */
    double ratio;   /* of our rate to the rival's */
    double settled; /* seen, of what was sent after the first three seconds */
    double late;    /* of the bytes that arrived, came too late ... */
    double useless; /* ... and nothing that was seen refers to, however far */
    double waste;   /* late by a player that adds what the path takes */
    uint64_t freeze;
    uint64_t usual_freeze; /* the median of the longest ones of each run */
    unsigned keys_missing;
    unsigned yielded;
};

/* The effect on a long-running rival in the first ten seconds. */
struct harm {
    double kept;     /* of the rate that it has alone */
    double overflow; /* packets that the queue drops, more than without us */
};

/* A link of so many Mbit/s and 40 ms, and 200 ms of latency. */
struct path path_of(double mbit);
/* The medians of the seeds from 1 on; of freezes, keys and what yielded all
 * that was. */
struct mark play_all(const char *name, const struct path *on, unsigned seeds);
/* Likewise beside the rival that is named. */
struct harm play_harm(const struct path *on, unsigned seeds);

#endif /* TESTS_SIMNET_MARKS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Live streams and bulk flows on one bottleneck: who gets what, how much of a
 * stream is in time, and how long the queue is.
 */
#ifndef TESTS_SIMNET_SHARES_H
#define TESTS_SIMNET_SHARES_H

#include "tests/simnet/world.h"

#define SHARES_PICTURES 4000
#define SHARES_RIVALS 8
#define SHARES_STREAMS 5

enum shares_kind {
    SHARES_FIXED,    /* an encoder that keeps its rate */
    SHARES_ADAPTIVE, /* one that follows the target bitrate */
    SHARES_GREEDY,   /* data without end and deadlines */
    SHARES_BULK      /* the same as a kernel's TCP sends it */
};

/* One bottleneck and who is on it. */
struct shares {
    double rate; /* of the bottleneck, bit/s */
    uint64_t rtt;
    uint64_t queue; /* bytes */
    double back;    /* of the return path, bit/s; 0: as the bottleneck */
    double loss;
    double bursts;     /* likewise, lost in bursts */
    const char *rival; /* NULL: none */
    unsigned rivals;
    uint64_t head_start; /* of those who join first */
    bool rival_last;     /* the streams do */
    enum shares_kind kind;
    unsigned streams;
    uint64_t stagger; /* between the starts of two streams */
    double bitrate;   /* of a stream at most, bit/s */
    unsigned clip;    /* of adaptive streams; see shares_set_clip() */
    bool mixed;       /* each has another one */
    uint64_t latency;
    uint64_t length;        /* of the measurement */
    const char *congestion; /* of the streams */
    const char *param;      /* of the controller; NULL: all at their default */
    double value;
    bool trace; /* prints a line every 100 ms */
};

/* The share of the first stream, and how it compares with the others. */
struct shares_result {
    double rate;    /* bit/s of data that arrived */
    double ratio;   /* over the mean of the rivals */
    double on_time; /* of the pictures */
    unsigned pictures;
    unsigned seen;  /* pictures on time with all that they refer to */
    unsigned keys;  /* key frames missing */
    double queue;   /* ms that packets wait at the bottleneck: median ... */
    double queue95; /* ... and 95th percentile */
    double lost;    /* of a stream's packets, in the mean */
    double even;    /* highest rate of a stream over the lowest, after 10 s */
    double least;   /* lowest share of the pictures of a stream on time */
    uint64_t freeze;
};

/* 4 Mbit/s, 40 ms, 50 kB; one stream of 2.8 Mbit/s for 30 s, 400 ms. */
void shares_init(struct shares *s);
/* What adaptive encoders make of their target: "ippp", "pyramid" of B frames,
 * "screen" with huge key frames, intra "refresh", or "mixed". False: none of
 * these. */
bool shares_set_clip(struct shares *s, const char *name);
void shares_play(const struct shares *s, uint64_t seed,
                 struct shares_result *r);
/* Pictures that a stream shows alone on a part of the link. */
unsigned shares_seen_alone(const struct shares *s, double part, uint64_t seed);

#endif /* TESTS_SIMNET_SHARES_H */

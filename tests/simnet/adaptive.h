/* SPDX-License-Identifier: MPL-2.0 */
/* A live encoder that follows the target bitrate, over links that change. */
#ifndef TESTS_SIMNET_ADAPTIVE_H
#define TESTS_SIMNET_ADAPTIVE_H

#include "sim/random.h"
#include "tests/simnet/world.h"

#define ADAPTIVE_BIN (20 * MS) /* a link keeps its rate for so long */

/* The rate of a link over time, in bins. */
struct rates {
    double *bps;
    size_t count;
};

struct encoder {
    double fps;
    double start_bps; /* before there is a target */
    double min_bps, max_bps;
    double gain;       /* of its frames over what it is asked for; 1: obeys */
    bool deaf;         /* stays at start_bps */
    bool skips;        /* no frame that would come later than in 200 ms */
    bool steered;      /* as by tltcpsink encoder=auto: the rate changes in
                          steps, late frames are skipped */
    double informed;   /* asks for this share of what the recording carried
                          lately; 0: follows the target */
    unsigned gop;      /* frames from key to key; 0: only after a loss */
    unsigned b_frames; /* between two references; they refer to both */
    uint64_t latency;  /* deadline of frames after capture */
    uint64_t stall_at; /* the capture stalls ... */
    uint64_t stall;    /* ... for so long; 0: it does not */
    uint64_t skip_at;  /* the sender's clock jumps ahead ... */
    uint64_t skip;     /* ... by so much; 0: it does not */
};

struct adaptive {
    struct encoder encoder;
    const struct rates *rates; /* out of CLIENT */
    /* Instead of rates: a recording, from some time on; NULL: none. */
    const struct sim_trace *trace;
    uint64_t trace_start;
    uint64_t length; /* with a recording */
    double back_bps; /* return path; 0: as fast as out */
    double ack_loss; /* on the return path */
    double loss;     /* out of CLIENT */
    /* What else the link out of CLIENT does; NULL: nothing. */
    void (*shape)(struct sim_link_config *c);
    uint64_t slow; /* the sender's process: time between two looks at the
                      network; 0: it looks at once */
    uint64_t rtt;
    uint64_t queue; /* bytes */
    uint64_t seed;
    const char *congestion;
    bool verbose; /* prints a line per tenth of a second */
    /* Called for each bin; NULL: not wanted. */
    void (*watch)(void *user, uint64_t now, const tltcp_stats *st);
    /* Likewise; may change the links, but for the rate out of CLIENT. */
    void (*meddle)(void *user, struct world *w);
    void *user;
};

struct outcome {
    double in_200, in_400; /* share of frames shown so soon after capture */
    double coded;          /* share of captured frames */
    uint64_t freeze;       /* longest, between frames within 400 ms */
    double used;           /* decodable bytes of what the link could carry */
    unsigned keys;
    unsigned lost; /* frames not delivered whole */
};

void adaptive_play(const struct adaptive *a, struct outcome *o);

/* When the target first met a bound after a step of the link. */
struct adaptive_step {
    uint64_t at;  /* of the step, ns */
    double bound; /* bit/s */
    bool below;   /* it is to fall below; else to rise above */
    uint64_t met; /* after the step; NEVER: not at all */
};

/* For adaptive::watch, with an adaptive_step. */
void adaptive_watch_step(void *user, uint64_t now, const tltcp_stats *st);

/* As a moving cellular user has it: the rate wanders, falls and fades. */
void rates_cellular(struct rates *r, double mean_bps, uint64_t ns,
                    uint64_t seed);
/* Changes to the next of n rates every ns. */
void rates_steps(struct rates *r, const double *bps, size_t n, uint64_t ns);
/* A trace in mahimahi's format.  False when it cannot be read. */
bool rates_load(struct rates *r, const char *path, uint64_t from, uint64_t ns);
void rates_free(struct rates *r);

/* For adaptive::shape. */
void shape_codel(struct sim_link_config *c);
void shape_codel_ecn(struct sim_link_config *c);
void shape_pie(struct sim_link_config *c);
void shape_pie_ecn(struct sim_link_config *c);
void shape_fq(struct sim_link_config *c);
void shape_fq_ecn(struct sim_link_config *c);
void shape_policer(struct sim_link_config *c);
void shape_policer_1(struct sim_link_config *c);

#endif /* TESTS_SIMNET_ADAPTIVE_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef BENCH_FANOUT_H
#define BENCH_FANOUT_H

#include <stddef.h>
#include <stdint.h>

/* One live stream to many viewers, with one process at each end, over one of
 * several comparable transports. */

#define FANOUT_VIEWERS_MAX 1024u
#define FANOUT_CHUNK ((size_t)1316) /* seven packets of a transport stream */

struct fanout_options {
    const char *role;      /* "serve" or "view" */
    const char *transport; /* name of a struct fanout_ops */
    const char *host;
    unsigned port;       /* to listen on, or to call */
    unsigned viewers;    /* how many to wait for, or to be */
    double mbps;         /* of the stream */
    double seconds;      /* of it, whose costs count */
    double warm;         /* seconds of it before */
    unsigned latency_ms; /* budget for repairs */
    unsigned train;      /* datagrams that bare UDP sends at once */
    unsigned threads;    /* of TLTCP's server */
};

/* Functions of a transport. They end the program on failure. */
struct fanout_ops {
    const char *name;
    /* Listens on host and port. */
    void (*serve)(const struct fanout_options *o);
    /* Accepts waiting callers; returns the total. */
    unsigned (*accept)(void);
    /* Sends a frame to every caller without waiting. */
    void (*send)(const uint8_t *frame, size_t len);
    /* Calls as all the viewers. */
    void (*view)(const struct fanout_options *o);
    /* Adds the bytes received by each viewer; waits at most 20 ms. */
    void (*receive)(uint64_t *bytes);
};

/* Sleeps until a time of bench_now(). */
void fanout_sleep_until(uint64_t when);

extern const struct fanout_ops fanout_bare;
extern const struct fanout_ops fanout_tltcp;
extern const struct fanout_ops fanout_srt;
extern const struct fanout_ops fanout_rist;

#endif /* BENCH_FANOUT_H */

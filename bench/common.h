/* SPDX-License-Identifier: MPL-2.0 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdint.h>

/* What the benchmark programs share.  Each is started twice by bench/run, once
 * as `recv` and once as `send`, pinned to a core each, and prints one line of
 * JSON at its end. */

struct bench_options {
    const char *role;     /* "recv" or "send" */
    const char *mode;     /* what to compare */
    const char *port;     /* to send to */
    double seconds;       /* how long to send */
    double rate;          /* hostile datagrams per second */
    unsigned slices;      /* to measure; 0: as many as `seconds` let */
    double mbps;          /* Mbit/s to send at most; 0: as fast as it goes */
    unsigned datagram;    /* bytes of UDP payload */
    unsigned connections; /* idle connections */
    int cpu;              /* core to run on; -1: any */
};

/* Reads the command line or ends the program with status 2. */
void bench_parse(struct bench_options *o, int argc, char **argv);
/* Prints "port N", for bench/run to hand to the sender. */
void bench_say_port(unsigned port);
/* Ends the program with status 1 and a message. */
void bench_fail(const char *what, const char *why);

uint64_t bench_now(void);    /* ns */
double bench_cpu(void);      /* user and system seconds of this process */
double bench_resident(void); /* bytes in memory */

/* Prints what was carried since `start`, when bench_cpu() was `cpu`. */
void bench_report(const struct bench_options *o, uint64_t bytes, uint64_t start,
                  double cpu);

#endif /* BENCH_COMMON_H */

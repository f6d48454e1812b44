/* SPDX-License-Identifier: MPL-2.0 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdint.h>

/* Shared by the benchmark programs. bench/run starts each twice, as `recv` and
 * as `send`, each pinned to a core. Both print one line of JSON at the end. */

struct bench_options {
    const char *role;     /* "recv" or "send" */
    const char *mode;     /* what to measure */
    const char *port;     /* to send to */
    double seconds;       /* how long to send */
    double rate;          /* hostile datagrams per second */
    unsigned slices;      /* number to measure; 0: as many as fit into
                             `seconds` */
    double mbps;          /* maximum Mbit/s to send; 0: as fast as possible */
    unsigned datagram;    /* bytes of UDP payload */
    unsigned connections; /* idle connections */
    unsigned first;       /* number of the first of them */
    int cpu;              /* core to run on; -1: any */
};

/* Reads the command line or ends the program with status 2. */
void bench_parse(struct bench_options *o, int argc, char **argv);
/* Prints "port N", which bench/run passes to the sender. */
void bench_say_port(unsigned port);
/* Ends the program with status 1 and a message. */
void bench_fail(const char *what, const char *why);
/* Gives a socket 8 MiB each way, or as much as this user may. */
void bench_widen_buffers(int fd);

uint64_t bench_now(void);    /* ns */
double bench_cpu(void);      /* user and system seconds of this process */
double bench_resident(void); /* bytes in memory */

#define BENCH_THREADS 64u
/* The processor time of each thread of a process but its first one, ns; the
 * places of others are left as they are. */
void bench_thread_times(int process, double ns[BENCH_THREADS]);
/* That of the busiest one since `before`, and of all of them in *sum. */
double bench_busiest_thread(int process, const double before[BENCH_THREADS],
                            double *sum);

/* Prints the results since `start`, when bench_cpu() was `cpu`. */
void bench_report(const struct bench_options *o, uint64_t bytes, uint64_t start,
                  double cpu);

#endif /* BENCH_COMMON_H */

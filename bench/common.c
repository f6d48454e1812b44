/* SPDX-License-Identifier: MPL-2.0 */
/* What the benchmark programs share. */
#include "bench/common.h"

#include <dirent.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUFFER (8 * 1024 * 1024)

void bench_fail(const char *what, const char *why) {
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

static void widen(int fd, int forced, int plain) {
    int size = BUFFER;

    if (setsockopt(fd, SOL_SOCKET, forced, &size, sizeof(size)) != 0) {
        (void)setsockopt(fd, SOL_SOCKET, plain, &size, sizeof(size));
    }
}

void bench_widen_buffers(int fd) {
    widen(fd, SO_RCVBUFFORCE, SO_RCVBUF);
    widen(fd, SO_SNDBUFFORCE, SO_SNDBUF);
}

static void common_usage(const char *program) {
    fprintf(stderr,
            "usage: %s --role recv|send --mode MODE [--port N] [--seconds S]\n"
            "       [--datagram BYTES] [--mbps N] [--slices N]\n"
            "       [--connections N] [--first N] [--rate N] [--cpu N]\n",
            program);
    exit(2);
}

static void pin(int cpu) {
    cpu_set_t set;

    if (cpu < 0) {
        return;
    }
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        fprintf(stderr, "bench: core %d does not exist; not pinned\n", cpu);
    }
}

void bench_parse(struct bench_options *o, int argc, char **argv) {
    static const struct option options[] = {
        {"role", required_argument, NULL, 'r'},
        {"mode", required_argument, NULL, 'm'},
        {"port", required_argument, NULL, 'p'},
        {"seconds", required_argument, NULL, 's'},
        {"datagram", required_argument, NULL, 'd'},
        {"slices", required_argument, NULL, 'M'},
        {"mbps", required_argument, NULL, 'b'},
        {"rate", required_argument, NULL, 'R'},
        {"connections", required_argument, NULL, 'n'},
        {"first", required_argument, NULL, 'f'},
        {"cpu", required_argument, NULL, 'c'},
        {NULL, 0, NULL, 0}};
    int c;

    *o = (struct bench_options){.role = "",
                                .mode = "",
                                .port = "0",
                                .seconds = 2,
                                .datagram = 1400,
                                .connections = 1000,
                                .cpu = -1};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'r':
            o->role = optarg;
            break;
        case 'm':
            o->mode = optarg;
            break;
        case 'p':
            o->port = optarg;
            break;
        case 's':
            o->seconds = strtod(optarg, NULL);
            break;
        case 'R':
            o->rate = strtod(optarg, NULL);
            break;
        case 'M':
            o->slices = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            o->mbps = strtod(optarg, NULL);
            break;
        case 'd':
            o->datagram = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'n':
            o->connections = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'f':
            o->first = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'c':
            o->cpu = (int)strtol(optarg, NULL, 10);
            break;
        default:
            common_usage(argv[0]);
        }
    }
    if ((strcmp(o->role, "recv") != 0 && strcmp(o->role, "send") != 0) ||
        optind != argc) {
        common_usage(argv[0]);
    }
    pin(o->cpu);
}

void bench_say_port(unsigned port) {
    printf("port %u\n", port);
    fflush(stdout);
}

uint64_t bench_now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double bench_cpu(void) {
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

double bench_resident(void) {
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f != NULL) {
        /* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
        if (fscanf(f, "%lu %lu", &size, &resident) != 2) {
            resident = 0;
        }
        fclose(f);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* Nanoseconds; 0 if the thread is gone. */
static double thread_time(int process, const char *thread) {
    char path[512];
    char line[128];
    double ns = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", process,
                   thread);
    file = fopen(path, "r");
    if (file != NULL) {
        ns = fgets(line, sizeof(line), file) != NULL ? strtod(line, NULL) : 0;
        (void)fclose(file);
    }
    return ns;
}

void bench_thread_times(int process, double ns[BENCH_THREADS]) {
    char path[64];
    const struct dirent *task;
    DIR *tasks;
    unsigned n = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", process);
    tasks = opendir(path);
    while (tasks != NULL && n < BENCH_THREADS &&
           (task = readdir(tasks)) != NULL) {
        long id = strtol(task->d_name, NULL, 10);

        if (id > 0 && id != process) {
            ns[n++] = thread_time(process, task->d_name);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

double bench_busiest_thread(int process, const double before[BENCH_THREADS],
                            double *sum) {
    double ns[BENCH_THREADS] = {0};
    double most = 0;

    bench_thread_times(process, ns);
    *sum = 0;
    for (unsigned i = 0; i < BENCH_THREADS; i++) {
        *sum += ns[i] - before[i];
        most = ns[i] - before[i] > most ? ns[i] - before[i] : most;
    }
    return most;
}

void bench_report(const struct bench_options *o, uint64_t bytes, uint64_t start,
                  double cpu) {
    double seconds = (double)(bench_now() - start) / 1e9;

    printf("{\"role\":\"%s\",\"mode\":\"%s\",\"bytes\":%" PRIu64
           ",\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n",
           o->role, o->mode, bytes, seconds, bench_cpu() - cpu);
    fflush(stdout);
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A live stream to many viewers: cost per viewer at the server and at the
 * viewers.
 *
 *   bench_fanout serve|view LIBRARY HOST PORT VIEWERS MBPS SECONDS LATENCY_MS
 *                WARM_SECONDS TRAIN [THREADS]
 *
 * The server waits for all viewers, prints "ready", and sends a frame every 40
 * ms for WARM_SECONDS + SECONDS; costs count in SECONDS. Bare UDP sends TRAIN
 * datagrams at once. TLTCP's server has THREADS I/O threads. Each end prints
 * one line of JSON.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/common.h"
#include "bench/fanout.h"

#define FRAME_NS UINT64_C(40000000)
#define CALL_NS UINT64_C(30000000000)   /* for all viewers to call */
#define SETTLE_NS UINT64_C(1000000000)  /* after the last call */
#define SILENCE_NS UINT64_C(3000000000) /* ends a viewer */
#define NAP_NS UINT64_C(10000000)

static const struct fanout_ops *const transports[] = {
    &fanout_bare,
    &fanout_tltcp,
#ifdef BENCH_HAVE_SRT
    &fanout_srt,
#endif
#ifdef BENCH_HAVE_RIST
    &fanout_rist,
#endif
};

void fanout_sleep_until(uint64_t when) {
    struct timespec t = {.tv_sec = (time_t)(when / 1000000000u),
                         .tv_nsec = (long)(when % 1000000000u)};

    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void wait_for_callers(const struct fanout_options *o,
                             const struct fanout_ops *ops) {
    uint64_t end = bench_now() + CALL_NS;

    while (ops->accept() < o->viewers) {
        if (bench_now() > end) {
            bench_fail(ops->name, "not all viewers have called");
        }
        fanout_sleep_until(bench_now() + NAP_NS);
    }
}

/* Memory counts from `empty` on, without that of the program itself.
 */
static void fanout_report(const struct fanout_options *o, uint64_t start,
                          double cpu, double empty) {
    printf("{\"role\":\"%s\",\"transport\":\"%s\",\"viewers\":%u,"
           "\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"resident_bytes\":%.0f",
           o->role, o->transport, o->viewers,
           (double)(bench_now() - start) / 1e9, bench_cpu() - cpu,
           bench_resident() - empty);
}

static void fanout_serve(const struct fanout_options *o,
                         const struct fanout_ops *ops) {
    size_t len = (size_t)(o->mbps * 1e6 / 8 * (double)FRAME_NS / 1e9);
    uint64_t warm = (uint64_t)(o->warm * 1e9 / (double)FRAME_NS);
    uint64_t frames = warm + (uint64_t)(o->seconds * 1e9 / (double)FRAME_NS);
    double busy[BENCH_THREADS] = {0};
    double most;
    double sum;
    uint8_t *frame;
    uint64_t start;
    double cpu;
    double empty;

    len -= len % FANOUT_CHUNK;
    frame = calloc(1, len + 1);
    if (frame == NULL || len == 0) {
        bench_fail("frame", "no memory, or a rate below one chunk a frame");
        return;
    }
    empty = bench_resident();
    ops->serve(o);
    printf("listening\n");
    fflush(stdout);
    wait_for_callers(o, ops);
    start = bench_now() + SETTLE_NS;
    fanout_sleep_until(start);
    cpu = bench_cpu();
    for (uint64_t i = 0; i < frames; i++) {
        fanout_sleep_until(start + i * FRAME_NS);
        if (i == warm) {
            cpu = bench_cpu();
            bench_thread_times(getpid(), busy);
        }
        ops->send(frame, len);
    }
    fanout_sleep_until(start + frames * FRAME_NS);
    fanout_report(o, start + warm * FRAME_NS, cpu, empty);
    most = bench_busiest_thread(getpid(), busy, &sum);
    printf(",\"busiest_thread_seconds\":%.6f,\"threads_seconds\":%.6f,"
           "\"bytes\":%" PRIu64 "}\n",
           most / 1e9, sum / 1e9, frames * len);
    fflush(stdout);
    fanout_sleep_until(bench_now() + SETTLE_NS);
    free(frame);
}

static uint64_t fanout_sum(const uint64_t *bytes, unsigned n) {
    uint64_t total = 0;

    for (unsigned i = 0; i < n; i++) {
        total += bytes[i];
    }
    return total;
}

/* Measures for SECONDS, from WARM_SECONDS after the first received byte. */
static void fanout_view(const struct fanout_options *o,
                        const struct fanout_ops *ops) {
    static uint64_t bytes[FANOUT_VIEWERS_MAX];
    uint64_t start = 0;
    uint64_t warm = (uint64_t)(o->warm * 1e9);
    bool counts = false;
    uint64_t heard = bench_now();
    uint64_t total = 0;
    double cpu = 0;
    double empty = bench_resident();

    ops->view(o);
    while (bench_now() < heard + (start == 0 ? CALL_NS : SILENCE_NS) &&
           (start == 0 ||
            (double)(bench_now() - start) < (o->warm + o->seconds) * 1e9)) {
        uint64_t now_total;

        ops->receive(bytes);
        now_total = fanout_sum(bytes, o->viewers);
        if (start == 0 && now_total > 0) {
            start = bench_now();
        }
        if (!counts && start > 0 && bench_now() - start >= warm) {
            counts = true;
            cpu = bench_cpu();
        }
        heard = now_total > total ? bench_now() : heard;
        total = now_total;
    }
    fanout_report(o, start + warm, cpu, empty);
    printf(",\"bytes\":[");
    /* Data in flight still counts as delivered, but not as work. */
    for (heard = bench_now() + SETTLE_NS; bench_now() < heard;) {
        ops->receive(bytes);
    }
    for (unsigned i = 0; i < o->viewers; i++) {
        printf("%s%" PRIu64, i > 0 ? "," : "", bytes[i]);
    }
    printf("]}\n");
    fflush(stdout);
}

static const struct fanout_ops *transport_of(const char *name) {
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        if (strcmp(transports[i]->name, name) == 0) {
            return transports[i];
        }
    }
    return NULL;
}

/* "list" prints the available transports. */
static int list_libraries(void) {
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        printf("%s\n", transports[i]->name);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct fanout_options o;
    const struct fanout_ops *ops;

    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        return list_libraries();
    }
    ops = argc == 11 || argc == 12 ? transport_of(argv[2]) : NULL;
    if (ops == NULL) {
        fprintf(stderr,
                "usage: %s serve|view LIBRARY HOST PORT VIEWERS MBPS "
                "SECONDS LATENCY_MS WARM_SECONDS TRAIN [THREADS]\n"
                "   or: %s list\n",
                argv[0], argv[0]);
        return 2;
    }
    o = (struct fanout_options){.role = argv[1],
                                .transport = argv[2],
                                .host = argv[3],
                                .port = (unsigned)strtoul(argv[4], NULL, 10),
                                .viewers = (unsigned)strtoul(argv[5], NULL, 10),
                                .mbps = strtod(argv[6], NULL),
                                .seconds = strtod(argv[7], NULL),
                                .latency_ms =
                                    (unsigned)strtoul(argv[8], NULL, 10),
                                .warm = strtod(argv[9], NULL),
                                .train = (unsigned)strtoul(argv[10], NULL, 10),
                                .threads = 1};
    if (argc == 12) {
        o.threads = (unsigned)strtoul(argv[11], NULL, 10);
    }
    if (o.train == 0) {
        bench_fail("train", "at least 1");
    }
    if (o.viewers == 0 || o.viewers > FANOUT_VIEWERS_MAX) {
        bench_fail("viewers", "from 1 to 1024");
    }
    if (strcmp(o.role, "serve") == 0) {
        fanout_serve(&o, ops);
    } else {
        fanout_view(&o, ops);
    }
    /* The transports' threads end with the process. */
    fflush(stdout);
    _Exit(0);
}

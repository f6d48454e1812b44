/* SPDX-License-Identifier: MPL-2.0 */
/* Cost of one feedback per controller: bench_calls [--rounds N] [NAME ...].
 * Prints one JSON object: processor time per call of cong_ops::ack in
 * nanoseconds, the tenth percentile of many runs short enough that most are
 * undisturbed. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <congestion/congestion.h>

#define MSS 1200
#define RUNS 300
#define ACKS_PER_ROUND 100
#define ROUND_NS 50000000

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A path whose queue builds and drains; every tenth round loses a packet. */
static void one_round(struct cong *cc, long round) {
    struct cong_rate_sample rs = {.rate = 2.4e6,
                                  .delivered = ACKS_PER_ROUND * MSS,
                                  .tx_in_flight = ACKS_PER_ROUND * MSS,
                                  .interval = ROUND_NS};
    struct cong_ack ack = {.min_rtt = ROUND_NS,
                           .acked = MSS,
                           .flight = ACKS_PER_ROUND * MSS,
                           .p = 0.001,
                           .x_recv = 2.4e6,
                           .rs = &rs,
                           .limited = true};
    cong_time start = round * ROUND_NS;
    for (int i = 0; i < ACKS_PER_ROUND; i++) {
        ack.now = start + (cong_time)i * (ROUND_NS / ACKS_PER_ROUND);
        ack.rtt = ROUND_NS + (round % 7) * 100000 + (cong_time)i * 1000;
        ack.srtt = ack.rtt;
        ack.round = i == ACKS_PER_ROUND - 1;
        cc->ops->ack(cc, &ack);
    }
    if (round % 10 == 9) {
        struct cong_event ev = {.now = ack.now,
                                .cause = CONG_LOSS,
                                .flight = ack.flight,
                                .missing = MSS,
                                .count = 1};
        cc->ops->event(cc, &ev);
        ev.cause = CONG_RECOVERED;
        cc->ops->event(cc, &ev);
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(const struct cong_ops *ops, long rounds) {
    double took[RUNS];
    struct cong *cc = malloc(ops->size);
    if (cc == NULL) {
        return -1;
    }
    for (int run = 0; run < RUNS; run++) {
        cong_init(cc, ops, MSS, 1e7, 0, ROUND_NS);
        double before = seconds();
        for (long round = 1; round <= rounds; round++) {
            one_round(cc, round);
        }
        took[run] = seconds() - before;
    }
    free(cc);
    qsort(took, RUNS, sizeof(took[0]), by_value);
    return took[RUNS / 10] * 1e9 / (double)(rounds * ACKS_PER_ROUND);
}

static int print(const char *const *names, long rounds) {
    printf("{\"ns_per_ack\":{");
    for (const char *const *name = names; *name != NULL; name++) {
        const struct cong_ops *ops = cong_find(*name);
        if (ops == NULL) {
            fprintf(stderr, "no controller %s\n", *name);
            return 2;
        }
        printf("%s\"%s\":%.1f", name == names ? "" : ",", *name,
               measure(ops, rounds));
    }
    printf("}}\n");
    return 0;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
    long rounds = 100;
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        rounds = c == 'r' ? strtol(optarg, NULL, 10) : 0;
        if (rounds <= 0) {
            fprintf(stderr, "usage: %s [--rounds N] [NAME ...]\n", argv[0]);
            return 2;
        }
    }
    const char *const *named = (const char *const *)(argv + optind);
    return print(optind < argc ? named : cong_list(), rounds);
}

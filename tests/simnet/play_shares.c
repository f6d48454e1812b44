/* SPDX-License-Identifier: MPL-2.0 */
/* One row of a table of shares, as JSON; see bench/shares.py. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simnet/shares.h"

#define SEEDS_MAX 101

static int play_shares_usage(void) {
    fprintf(stderr,
            "usage: play_shares [--rate MBIT] [--rtt MS] [--queue KB]\n"
            "    [--loss P] [--rival NAME] [--rivals N] [--rival-last]\n"
            "    [--bursts P] [--kind fixed|adaptive|greedy|bulk]\n"
            "    [--streams N] [--stagger S] [--bitrate MBIT] [--latency MS]\n"
            "    [--seconds S] [--congestion NAME] [--param NAME --value X]\n"
            "    [--clip ippp|pyramid|screen|refresh|mixed]\n"
            "    [--back KBIT] [--seeds N] [--first SEED] [--trace]\n");
    return 2;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The lowest, the median and the highest. */
static void show(const char *name, double *x, unsigned n) {
    qsort(x, n, sizeof(*x), by_size);
    printf("\"%s\":[%.3f,%.3f,%.3f]", name, x[0], x[n / 2], x[n - 1]);
}

enum shares_column {
    RATE,
    RATIO,
    SEEN,
    ON_TIME,
    QUEUE,
    QUEUE95,
    LOST,
    EVEN,
    LEAST,
    FREEZE,
    KEYS,
    COLUMNS
};

static void play_seeds(const struct shares *s, unsigned first, unsigned n) {
    static const char *const names[COLUMNS] = {
        "rate", "F",    "seen",  "on_time", "queue", "queue95",
        "lost", "even", "least", "freeze",  "keys"};
    static double column[COLUMNS][SEEDS_MAX];
    for (unsigned i = 0; i < n; i++) {
        struct shares_result r;
        bool half = s->kind == SHARES_FIXED && s->rival != NULL;
        uint64_t frames = s->length / (40 * MS);
        uint64_t freeze;
        double bound =
            half ? shares_seen_alone(s, 1.0 / (1 + s->rivals), first + i)
                 : (double)frames;
        shares_play(s, first + i, &r);
        freeze = r.freeze / MS;
        column[RATE][i] = r.rate * 1e-6;
        column[RATIO][i] = r.ratio;
        column[SEEN][i] = r.seen / (bound > 0 ? bound : 1);
        column[ON_TIME][i] = r.on_time;
        column[QUEUE][i] = r.queue;
        column[QUEUE95][i] = r.queue95;
        column[LOST][i] = r.lost;
        column[EVEN][i] = r.even;
        column[LEAST][i] = r.least;
        column[FREEZE][i] = (double)freeze;
        column[KEYS][i] = r.keys;
    }
    printf("{");
    for (int i = 0; i < COLUMNS; i++) {
        printf("%s", i > 0 ? "," : "");
        show(names[i], column[i], n);
    }
    printf("}\n");
}

static bool kind_of(struct shares *s, const char *text) {
    s->kind = strcmp(text, "adaptive") == 0 ? SHARES_ADAPTIVE
              : strcmp(text, "greedy") == 0 ? SHARES_GREEDY
              : strcmp(text, "bulk") == 0   ? SHARES_BULK
                                            : SHARES_FIXED;
    s->bitrate = s->kind == SHARES_ADAPTIVE ? 20e6 : s->bitrate;
    return s->kind != SHARES_FIXED || strcmp(text, "fixed") == 0;
}

struct seeds {
    unsigned first;
    unsigned seeds;
};

static bool set_link(struct shares *s, int c, double x) {
    switch (c) {
    case 'r':
        s->rate = x * 1e6;
        break;
    case 't':
        s->rtt = (uint64_t)(x * MS);
        break;
    case 'q':
        s->queue = (uint64_t)(x * 1000);
        break;
    case 'K':
        s->back = x * 1000;
        break;
    case 'l':
        s->loss = x;
        break;
    case 'B':
        s->bursts = x;
        break;
    default:
        return false;
    }
    return true;
}

static bool set_option(struct shares *s, struct seeds *run, int c) {
    double x = optarg != NULL ? strtod(optarg, NULL) : 0;
    switch (c) {
    case 'R':
        s->rival = optarg;
        break;
    case 'N':
        s->rivals = (unsigned)x;
        break;
    case 'k':
        return kind_of(s, optarg);
    case 'S':
        s->streams = (unsigned)x;
        break;
    case 'b':
        s->bitrate = x * 1e6;
        break;
    case 'L':
        s->latency = (uint64_t)(x * MS);
        break;
    case 's':
        s->length = (uint64_t)(x * SEC);
        break;
    case 'c':
        s->congestion = optarg;
        break;
    case 'p':
        s->param = optarg;
        break;
    case 'v':
        s->value = x;
        break;
    case 'n':
        run->seeds = (unsigned)x;
        break;
    case 'f':
        run->first = (unsigned)x;
        break;
    case 'A':
        s->rival_last = true;
        break;
    case 'G':
        s->stagger = (uint64_t)(x * SEC);
        break;
    case 'C':
        return shares_set_clip(s, optarg);
    case 'T':
        s->trace = true;
        break;
    default:
        return set_link(s, c, x);
    }
    return true;
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"rate", required_argument, NULL, 'r'},
        {"rtt", required_argument, NULL, 't'},
        {"queue", required_argument, NULL, 'q'},
        {"loss", required_argument, NULL, 'l'},
        {"back", required_argument, NULL, 'K'},
        {"rival", required_argument, NULL, 'R'},
        {"rivals", required_argument, NULL, 'N'},
        {"kind", required_argument, NULL, 'k'},
        {"streams", required_argument, NULL, 'S'},
        {"bitrate", required_argument, NULL, 'b'},
        {"latency", required_argument, NULL, 'L'},
        {"seconds", required_argument, NULL, 's'},
        {"congestion", required_argument, NULL, 'c'},
        {"param", required_argument, NULL, 'p'},
        {"value", required_argument, NULL, 'v'},
        {"seeds", required_argument, NULL, 'n'},
        {"first", required_argument, NULL, 'f'},
        {"bursts", required_argument, NULL, 'B'},
        {"rival-last", no_argument, NULL, 'A'},
        {"stagger", required_argument, NULL, 'G'},
        {"clip", required_argument, NULL, 'C'},
        {"trace", no_argument, NULL, 'T'},
        {NULL, 0, NULL, 0},
    };
    static struct shares s;
    struct seeds run = {.first = 1, .seeds = 5};
    int c;
    shares_init(&s);
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (!set_option(&s, &run, c)) {
            return play_shares_usage();
        }
    }
    if (run.seeds < 1 || run.seeds > SEEDS_MAX || s.streams > SHARES_STREAMS ||
        s.rivals + s.streams > SHARES_RIVALS) {
        return play_shares_usage();
    }
    play_seeds(&s, run.first, run.seeds);
    return 0;
}

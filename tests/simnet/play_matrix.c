/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Encoders that follow the target bitrate, over all kinds of links, as a table:
 *
 *   play_matrix [--seeds N] [--first N] [--traces DIR] [--only TEXT]
 *               [--informed SHARE] [--json]
 *
 * Each row is one case over several seeds: the median and the worst run.  In
 * 200 and in 400 ms of capture: of the coded frames, and in brackets of the
 * captured ones.  Of recordings, the bound says how many captured frames could
 * be in time at best, because the link carries nothing for so long.  With
 * --informed, encoders over recordings do not follow the target, but know what
 * the link carried in the last tenth of a second, and ask for a share of it.
 */
#include <dirent.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/trace_file.h"
#include "tests/simnet/adaptive.h"
#include "tests/simnet/shares.h"

#define SEEDS_MAX 101
#define SECONDS 60
#define DOWN ".down" /* ends the names of recordings towards the user */

/* Values of a run. */
enum column {
    IN_200,
    IN_400,
    ALL_200, /* of the captured frames */
    ALL_400,
    BOUND_200,
    BOUND_400,
    FREEZE,
    BOUND_FREEZE,
    USED,
    RATIO, /* F, or the shares of two streams */
    MET,   /* when the target met its bound, ms */
    COLUMNS
};

static double value[COLUMNS][SEEDS_MAX];

struct options {
    unsigned first, seeds;
    const char *traces;
    const char *only;
    double informed;
    bool json;
};

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- a stream alone ---- */

static struct adaptive alone(uint64_t seed) {
    return (struct adaptive){.encoder = {.fps = 25,
                                         .start_bps = 1e6,
                                         .min_bps = 100e3,
                                         .max_bps = 8e6,
                                         .gain = 1,
                                         .latency = 400 * MS,
                                         .steered = true,
                                         .gop = 50},
                             .rtt = 40 * MS,
                             .queue = 60000,
                             .seed = seed};
}

static void note(unsigned i, const struct outcome *o) {
    value[IN_200][i] = 100 * o->in_200;
    value[IN_400][i] = 100 * o->in_400;
    value[ALL_200][i] = 100 * o->in_200 * o->coded;
    value[ALL_400][i] = 100 * o->in_400 * o->coded;
    value[FREEZE][i] = (double)o->freeze / 1e9;
    value[USED][i] = 100 * o->used;
}

/* The lowest, the median and the highest of each column. */
static void print_json(const char *name, unsigned n) {
    static const char *const names[COLUMNS] = {
        "in_200",    "in_400",    "all_200", "all_400",
        "bound_200", "bound_400", "freeze",  "bound_freeze",
        "used",      "ratio",     "met"};
    printf("{\"case\":\"%s\"", name);
    for (int c = 0; c < COLUMNS; c++) {
        printf(",\"%s\":[%.3f,%.3f,%.3f]", names[c], value[c][0],
               value[c][n / 2], value[c][n - 1]);
    }
    printf("}\n");
}

static void row(const struct options *opt, const char *name) {
    static bool head;
    unsigned n = opt->seeds;
    for (int c = 0; c < COLUMNS; c++) {
        qsort(value[c], n, sizeof(double), by_size);
    }
    if (opt->json) {
        print_json(name, n);
        return;
    }
    if (!head) {
        printf("%-30s %-26s %-26s %-12s %-12s %-10s %-16s %s\n", "case",
               "200 med (all)|worst (bnd)", "400 med (all)|worst (bnd)",
               "freeze|worst", "bound|worst", "used|worst", "F low|med|high",
               "met med|worst");
        head = true;
    }
    printf("%-30s %5.1f (%5.1f) %5.1f (%5.1f) %5.1f (%5.1f) %5.1f (%5.1f) "
           "%5.2f %5.2f  %5.2f %5.2f  %4.0f %4.0f  %5.2f %5.2f %5.2f  %5.0f "
           "%5.0f\n",
           name, value[IN_200][n / 2], value[ALL_200][n / 2], value[IN_200][0],
           value[BOUND_200][n / 2], value[IN_400][n / 2], value[ALL_400][n / 2],
           value[IN_400][0], value[BOUND_400][n / 2], value[FREEZE][n / 2],
           value[FREEZE][n - 1], value[BOUND_FREEZE][n / 2],
           value[BOUND_FREEZE][n - 1], value[USED][n / 2], value[USED][0],
           value[RATIO][0], value[RATIO][n / 2], value[RATIO][n - 1],
           value[MET][n / 2], value[MET][n - 1]);
    (void)fflush(stdout);
}

static bool wanted(const struct options *opt, const char *name) {
    memset(value, 0, sizeof(value));
    return opt->only == NULL || strstr(name, opt->only) != NULL;
}

/* ---- recordings ---- */

/* Frames that come in time where each needs one packet only, and all that the
 * link will do is known. */
static void bound(const struct adaptive *a, unsigned i) {
    uint64_t n = 0;
    uint64_t dark = 0;
    uint64_t interval = (uint64_t)(1e9 / a->encoder.fps);
    for (uint64_t t = 0; t < a->length; t += interval, n++) {
        uint64_t at = t + a->trace_start;
        uint64_t leaves =
            sim_trace_time(a->trace, sim_trace_find(a->trace, at));
        uint64_t takes = leaves - at + a->rtt / 2;
        value[BOUND_200][i] += takes <= 200 * MS;
        value[BOUND_400][i] += takes <= 400 * MS;
        dark = takes <= 400 * MS ? 0 : dark + interval;
        value[BOUND_FREEZE][i] =
            fmax(value[BOUND_FREEZE][i], (double)(dark + interval) / 1e9);
    }
    value[BOUND_200][i] *= 100.0 / (double)n;
    value[BOUND_400][i] *= 100.0 / (double)n;
}

static void play_recording(const struct options *opt, const char *path,
                           const char *name, uint64_t queue) {
    char why[SIM_TRACE_WHY_MAX];
    char text[80];
    const struct sim_trace *trace = trace_file(path, why);
    if (trace == NULL) {
        (void)fprintf(stderr, "play_matrix: %s: %s\n", path, why);
        exit(1);
    }
    (void)snprintf(text, sizeof(text), "%.*s-%d",
                   (int)(strlen(name) - strlen(DOWN)), name,
                   (int)(queue / 1000));
    if (!wanted(opt, text)) {
        return;
    }
    for (unsigned i = 0; i < opt->seeds; i++) {
        struct adaptive a = alone(opt->first + i);
        struct outcome o;
        a.trace = trace;
        a.trace_start =
            (opt->first - 1 + i) * 17 * SEC % sim_trace_length(trace);
        a.length = SECONDS * SEC;
        a.queue = queue;
        a.encoder.max_bps = 30e6;
        a.encoder.informed = opt->informed;
        adaptive_play(&a, &o);
        note(i, &o);
        bound(&a, i);
    }
    row(opt, text);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void play_recordings(const struct options *opt) {
    struct dirent **files;
    int n =
        opt->traces != NULL ? scandir(opt->traces, &files, NULL, by_name) : 0;
    for (int i = 0; i < n; i++) {
        char path[512];
        const char *name = files[i]->d_name;
        size_t len = strlen(name);
        (void)snprintf(path, sizeof(path), "%s/%s", opt->traces, name);
        if (len > strlen(DOWN) &&
            strcmp(name + len - strlen(DOWN), DOWN) == 0) {
            play_recording(opt, path, name, 60000);
            play_recording(opt, path, name, 250000);
        }
        free(files[i]);
    }
}

/* ---- links that change ---- */

struct links {
    const char *name;
    double bps[4]; /* mean of a cellular link, or steps */
    unsigned steps;
    uint64_t ns; /* of a step */
    uint64_t rtt;
    uint64_t queue;
    void (*change)(struct adaptive *a); /* NULL: nothing more */
};

static void overshoots(struct adaptive *a) {
    a->encoder.gain = 2;
}

static void is_deaf(struct adaptive *a) {
    a->encoder.deaf = true;
    a->encoder.start_bps = 2e6;
}

static void stalls(struct adaptive *a) {
    a->encoder.stall_at = 10 * SEC;
    a->encoder.stall = 3 * SEC;
}

static void skips(struct adaptive *a) {
    a->encoder.skip_at = 10 * SEC;
    a->encoder.skip = 3 * SEC;
}

static void loses_acks(struct adaptive *a) {
    a->ack_loss = 0.3;
}

static void loses(struct adaptive *a) {
    a->loss = 0.02;
}

static void is_thin_back(struct adaptive *a) {
    a->back_bps = 64e3;
}

static void shape_jitter_30(struct sim_link_config *c) {
    c->jitter = 30 * MS;
}

static void shape_jitter_60(struct sim_link_config *c) {
    c->jitter = 60 * MS;
}

static void shape_jitter_of_few(struct sim_link_config *c) {
    c->jitter = 80 * MS;
    c->jitter_share = 0.2;
}

static void shape_slots(struct sim_link_config *c) {
    c->slot_min = 20 * MS;
    c->slot_max = 60 * MS;
}

static void has_b_frames(struct adaptive *a) {
    a->encoder.b_frames = 2;
}

#define SHAPE(name)                               \
    static void with_##name(struct adaptive *a) { \
        a->shape = shape_##name;                  \
    }
SHAPE(codel)
SHAPE(codel_ecn)
SHAPE(fq)
SHAPE(fq_ecn)
SHAPE(pie)
SHAPE(pie_ecn)
SHAPE(policer)
SHAPE(policer_1)
SHAPE(jitter_30)
SHAPE(jitter_60)
SHAPE(jitter_of_few)
SHAPE(slots)

#define S5 (5 * SEC)
#define S10 (10 * SEC)
#define S30 (30 * SEC)
static const struct links links[] = {
    {"cellular 1", {1e6}, 0, 0, 40 * MS, 60000, NULL},
    {"cellular 3", {3e6}, 0, 0, 40 * MS, 60000, NULL},
    {"cellular 3, 250 kB", {3e6}, 0, 0, 40 * MS, 250000, NULL},
    {"cellular 3, 100 ms", {3e6}, 0, 0, 100 * MS, 60000, NULL},
    {"cellular 6", {6e6}, 0, 0, 60 * MS, 100000, NULL},
    {"cellular 3, B frames", {3e6}, 0, 0, 40 * MS, 60000, has_b_frames},
    {"quarter 4 1 4", {4e6, 1e6, 4e6}, 3, S5, 40 * MS, 60000, NULL},
    {"quarter 4 1 4, 250 kB", {4e6, 1e6, 4e6}, 3, S5, 40 * MS, 250000, NULL},
    {"quarter 8 2 8, 100 ms", {8e6, 2e6, 8e6}, 3, S5, 100 * MS, 100000, NULL},
    {"quarter 2 0.5 2", {2e6, .5e6, 2e6}, 3, S5, 40 * MS, 60000, NULL},
    {"quarter 4 1 4, 10 ms", {4e6, 1e6, 4e6}, 3, S5, 10 * MS, 60000, NULL},
    {"steady 4", {4e6}, 1, S30, 40 * MS, 60000, NULL},
    {"steady 1", {1e6}, 1, S30, 40 * MS, 60000, NULL},
    {"steady 0.3", {.3e6}, 1, S30, 40 * MS, 60000, NULL},
    {"steady 4, 10 ms", {4e6}, 1, S30, 10 * MS, 60000, NULL},
    {"steady 4, 600 ms", {4e6}, 1, S30, 600 * MS, 250000, NULL},
    {"overshoots by 2", {3e6}, 1, S30, 40 * MS, 60000, overshoots},
    {"overshoots, cellular 3", {3e6}, 0, 0, 40 * MS, 60000, overshoots},
    {"deaf, 2 on 1", {1e6}, 1, S30, 40 * MS, 60000, is_deaf},
    {"capture stalls 3 s", {3e6}, 1, S30, 40 * MS, 60000, stalls},
    {"clock steps 3 s", {3e6}, 1, S30, 40 * MS, 60000, skips},
    {"30 % of ACKs lost", {3e6}, 1, S30, 40 * MS, 60000, loses_acks},
    {"64 kbit/s back", {3e6}, 1, S30, 40 * MS, 60000, is_thin_back},
    {"64 kbit/s back of 12", {12e6}, 1, S30, 30 * MS, 60000, is_thin_back},
    {"jitter 30 ms", {4e6}, 1, S30, 40 * MS, 60000, with_jitter_30},
    {"jitter 60 ms", {4e6}, 1, S30, 40 * MS, 60000, with_jitter_60},
    {"jitter 30 ms of 12", {12e6}, 1, S30, 40 * MS, 60000, with_jitter_30},
    {"jitter of each fifth", {4e6}, 1, S30, 40 * MS, 60000, with_jitter_of_few},
    {"slots 20 to 60 ms", {4e6}, 1, S30, 40 * MS, 60000, with_slots},
    {"2 % lost", {3e6}, 1, S30, 40 * MS, 60000, loses},
    {"CoDel", {3e6}, 1, S30, 40 * MS, 250000, with_codel},
    {"CoDel, ECN", {3e6}, 1, S30, 40 * MS, 250000, with_codel_ecn},
    {"FQ-CoDel", {3e6}, 1, S30, 40 * MS, 250000, with_fq},
    {"FQ-CoDel, ECN", {3e6}, 1, S30, 40 * MS, 250000, with_fq_ecn},
    {"PIE", {3e6}, 1, S30, 40 * MS, 250000, with_pie},
    {"PIE, ECN", {3e6}, 1, S30, 40 * MS, 250000, with_pie_ecn},
    {"policer 2.5 of 10", {10e6}, 1, S30, 40 * MS, 60000, with_policer},
    {"policer 1 of 10, 20 ms", {10e6}, 1, S30, 20 * MS, 60000, with_policer_1},
};

/* From when on the target was above 90 % of what it had before. */
struct recovery {
    double before; /* bit/s, mean of the second before the first step */
    unsigned count;
    uint64_t down, up; /* times of the steps, from the start */
    uint64_t below;    /* when the target was first below the new rate, ... */
    uint64_t back;     /* ... and above 90 % of the old; NEVER: not yet */
    double low;
};

static void watch_recovery(void *user, uint64_t now, const tltcp_stats *st) {
    struct recovery *r = user;
    double target = (double)st->target_bps;
    if (now > r->down - SEC && now <= r->down) {
        r->before += target;
        r->count++;
    }
    if (now > r->down && now <= r->up && target < r->low && r->below == NEVER) {
        r->below = now - r->down;
    }
    if (now > r->up && target > 0.9 * r->before / r->count &&
        r->back == NEVER) {
        r->back = now - r->up;
    }
}

static void play_link(const struct options *opt, const struct links *l) {
    if (!wanted(opt, l->name)) {
        return;
    }
    for (unsigned i = 0; i < opt->seeds; i++) {
        struct rates r;
        struct adaptive a = alone(opt->first + i);
        struct outcome o;
        struct recovery w = {.down = l->ns,
                             .up = 2 * l->ns,
                             .low = l->bps[1],
                             .below = NEVER,
                             .back = NEVER};
        if (l->steps > 0) {
            rates_steps(&r, l->bps, l->steps, l->ns);
        } else {
            rates_cellular(&r, l->bps[0], SECONDS * SEC, opt->first + i);
        }
        a.rates = &r;
        a.rtt = l->rtt;
        a.queue = l->queue;
        if (l->change != NULL) {
            l->change(&a);
        }
        if (l->steps == 3) {
            a.watch = watch_recovery;
            a.user = &w;
        }
        adaptive_play(&a, &o);
        note(i, &o);
        value[MET][i] = l->steps == 3 ? fmin((double)w.back / 1e6, 99999) : 0;
        rates_free(&r);
    }
    row(opt, l->name);
}

/* ---- one step ---- */

static const struct {
    double from, to;
    uint64_t rtt;
} steps[] = {
    {4e6, 1e6, 40 * MS},  {4e6, 1e6, 100 * MS}, {4e6, 1e6, 300 * MS},
    {4e6, 1e6, 600 * MS}, {2e6, .5e6, 40 * MS}, {8e6, 2e6, 40 * MS},
    {1e6, 4e6, 10 * MS},  {1e6, 4e6, 40 * MS},  {1e6, 4e6, 100 * MS},
    {2e6, 8e6, 40 * MS},  {2e6, 8e6, 100 * MS}, {.5e6, 2e6, 100 * MS},
    {1e6, 4e6, 300 * MS}, {2e6, 8e6, 300 * MS}, {.5e6, 2e6, 300 * MS},
    {1e6, 4e6, 600 * MS}, {2e6, 8e6, 600 * MS}, {.5e6, 2e6, 600 * MS},
};

static void play_step(const struct options *opt, size_t k) {
    const double bps[] = {steps[k].from, steps[k].to};
    bool falls = bps[1] < bps[0];
    char name[64];
    (void)snprintf(name, sizeof(name), "step %.1f %.1f, %d ms", bps[0] / 1e6,
                   bps[1] / 1e6, (int)(steps[k].rtt / MS));
    if (!wanted(opt, name)) {
        return;
    }
    for (unsigned i = 0; i < opt->seeds; i++) {
        struct rates r;
        struct adaptive_step s = {.at = S10 + i * 40 * MS / opt->seeds,
                                  .bound = falls ? bps[1] : 0.9 * 0.93 * bps[1],
                                  .below = falls,
                                  .met = NEVER};
        struct adaptive a = alone(opt->first + i);
        struct outcome o;
        rates_steps(&r, bps, 2, S10);
        for (uint64_t t = S10; t < s.at; t += ADAPTIVE_BIN) {
            r.bps[t / ADAPTIVE_BIN] = bps[0];
        }
        s.at = (s.at + ADAPTIVE_BIN - 1) / ADAPTIVE_BIN * ADAPTIVE_BIN;
        a.rates = &r;
        a.rtt = steps[k].rtt;
        a.queue = 250000;
        a.encoder.latency = 2 * SEC;
        a.watch = adaptive_watch_step;
        a.user = &s;
        adaptive_play(&a, &o);
        note(i, &o);
        value[RATIO][i] = o.lost;
        value[MET][i] = fmin((double)s.met / 1e6, 99999);
        rates_free(&r);
    }
    row(opt, name);
}

/* ---- beside others ---- */

static const struct beside {
    const char *rival;
    unsigned rivals;
    double rate, rtt, queue; /* Mbit/s, ms, kB */
    bool last;               /* the rival comes last */
} besides[] = {
    {"cubic", 1, 4, 40, 60, false},  {"cubic", 1, 8, 60, 120, false},
    {"cubic", 1, 4, 40, 60, true},   {"cubic", 1, 6, 20, 30, false},
    {"reno", 1, 4, 40, 60, false},   {"reno", 1, 8, 60, 120, false},
    {"cubic", 5, 12, 40, 90, false}, {"cubic", 5, 20, 60, 200, false},
    {"cubic", 1, 4, 40, 150, false}, {"reno", 1, 2, 40, 60, false},
    {"bbr1", 1, 4, 40, 150, false},  {"bbr1", 1, 4, 40, 60, false},
    {"bbr1", 1, 8, 60, 120, false},  {"bbr1", 1, 6, 20, 60, false},
    {"bbr1", 1, 6, 120, 90, false},  {"bbr1", 5, 12, 40, 90, false},
    {NULL, 0, 4, 40, 60, false},     {NULL, 0, 2, 40, 60, false},
    {NULL, 0, 4, 40, 150, false},    {NULL, 0, 8, 80, 100, false},
};

static void play_beside(const struct options *opt, const struct beside *b) {
    char name[64];
    (void)snprintf(name, sizeof(name), "%s%u %s, %.0f/%.0f/%.0f",
                   b->last ? "before " : "beside ", b->rivals,
                   b->rival != NULL ? b->rival : "two", b->rate, b->rtt,
                   b->queue);
    if (!wanted(opt, name)) {
        return;
    }
    for (unsigned i = 0; i < opt->seeds; i++) {
        static struct shares s;
        struct shares_result r;
        shares_init(&s);
        s.kind = SHARES_ADAPTIVE;
        s.bitrate = 20e6;
        s.rate = b->rate * 1e6;
        s.rtt = (uint64_t)(b->rtt * MS);
        s.queue = (uint64_t)(b->queue * 1000);
        s.rival = b->rival;
        s.rivals = b->rivals;
        s.rival_last = b->last;
        s.streams = b->rival != NULL ? 1 : 2;
        s.stagger = 2 * SEC + i * 40 * MS / opt->seeds; /* any phase */
        s.latency = 300 * MS;
        shares_play(&s, opt->first + i, &r);
        value[IN_400][i] = 100.0 * r.seen / r.pictures;
        value[ALL_400][i] = value[IN_400][i];
        value[FREEZE][i] = (double)r.freeze / 1e9;
        value[USED][i] = 100 * r.rate / s.rate;
        value[RATIO][i] = b->rival != NULL ? r.ratio : r.even;
    }
    row(opt, name);
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"first", required_argument, NULL, 'f'},
        {"traces", required_argument, NULL, 't'},
        {"only", required_argument, NULL, 'o'},
        {"informed", required_argument, NULL, 'i'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    struct options opt = {.first = 1, .seeds = 7};
    int c;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'n':
            opt.seeds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'f':
            opt.first = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 't':
            opt.traces = optarg;
            break;
        case 'o':
            opt.only = optarg;
            break;
        case 'i':
            opt.informed = strtod(optarg, NULL);
            break;
        case 'j':
            opt.json = true;
            break;
        default:
            return 2;
        }
    }
    if (opt.seeds < 1 || opt.seeds > SEEDS_MAX || opt.first < 1) {
        return 2;
    }
    play_recordings(&opt);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        play_link(&opt, &links[i]);
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        play_step(&opt, i);
    }
    for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++) {
        play_beside(&opt, &besides[i]);
    }
    return 0;
}

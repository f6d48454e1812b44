/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/small.h"

#include <stdlib.h>

#include "tests/simnet/clip.h"

#define PICTURES 750
#define SEEDS_MAX 21
#define PAYLOAD 0.95 /* of a link; the rest is headers */
#define RTT (40 * MS)
#define GRACE (1000 * MS) /* as tltcpsink has it */
#define STEP (5 * MS)     /* of the bound's clock */
#define STEPS 400

static struct clip clip;
static struct world w; /* large */

static const struct {
    const char *name;
    void (*make)(struct clip *c, uint64_t seed, uint32_t count);
} kinds[SMALL_KINDS] = {{"ippp", clip_make_chain},
                        {"screen", clip_make_screen},
                        {"ibbp", clip_make},
                        {"pyramid", clip_make_branched},
                        {"heavy", clip_make_heavy}};

const char *small_name(int kind) {
    return kinds[kind].name;
}

/* Bytes per second that the clip needs. */
static double mean_rate(const struct clip *c) {
    double bytes = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        bytes += c->bytes[i];
    }
    return bytes / ((double)c->count * (double)CLIP_INTERVAL * 1e-9);
}

static void plan_link(struct plan *p, double rate) {
    for (int i = 0; i < 2; i++) {
        p->link[i].rate = rate;
        p->link[i].delay = RTT / 2;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = 50000;
        p->config[i].idle_timeout_ms = 5000;
    }
    p->config[SERVER].unordered = true;
}

/* The best that can be had, by time that the link is behind at the start of a
 * group of pictures: [t] with t steps at most; -1: cannot be. */
struct best {
    double got[STEPS]; /* bytes or pictures shown until then */
};

static double seconds_of(uint64_t ns) {
    return (double)ns * 1e-9;
}

static void note_best(struct best *b, double behind, double got) {
    int t = behind > 0 ? (int)(behind / seconds_of(STEP)) : 0;
    if (t < STEPS && got > b->got[t]) {
        b->got[t] = got;
    }
}

/* The pictures [first, end) are sent up to some picture and no further, by a
 * link that is `at` seconds behind and has brought `got`. */
static void play_group(const struct clip *c, uint32_t first, uint32_t end,
                       double rate, double at, double got, bool bytes,
                       struct best *next) {
    double span = (double)(end - first) * seconds_of(CLIP_INTERVAL);
    note_best(next, at - span, got);
    for (uint32_t i = first; i < end; i++) {
        double written = (double)(i - first) * seconds_of(CLIP_INTERVAL);
        at = (at > written ? at : written) + c->bytes[i] / rate;
        if (at <= written + seconds_of(c->latency)) {
            got += bytes ? c->bytes[i] : 1;
        }
        note_best(next, at - span, got);
    }
}

static void forget_best(struct best *b) {
    for (int t = 0; t < STEPS; t++) {
        b->got[t] = -1;
    }
}

static uint32_t end_of_group(const struct clip *c, uint32_t first) {
    uint32_t end = first + 1;
    while (end < c->count && c->cls[end] != TL_CLASS_KEY) {
        end++;
    }
    return end;
}

/* What could be shown at best of a stream whose pictures all refer to the one
 * before: all is known in advance.  Bytes or pictures. */
static double best_of_chains(const struct clip *c, double rate, bool bytes) {
    static struct best now;
    static struct best next;
    double best = 0;
    forget_best(&now);
    now.got[0] = 0;
    for (uint32_t first = 0; first < c->count;) {
        uint32_t end = end_of_group(c, first);
        forget_best(&next);
        for (int t = 0; t < STEPS; t++) {
            if (now.got[t] >= 0) {
                play_group(c, first, end, rate, t * seconds_of(STEP),
                           now.got[t], bytes, &next);
            }
        }
        now = next;
        first = end;
    }
    for (int t = 0; t < STEPS; t++) {
        best = now.got[t] > best ? now.got[t] : best;
    }
    return best;
}

static bool is_chain(const struct clip *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->cls[i] == TL_CLASS_DISPOSABLE) {
            return false;
        }
    }
    return true;
}

static double bytes_seen(const struct clip *c, const bool *seen) {
    double bytes = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        bytes += seen[i] ? c->bytes[i] : 0;
    }
    return bytes;
}

static void judge(double part, struct small *s) {
    static bool seen[CLIP_MAX];
    double rate = mean_rate(&clip) * part * PAYLOAD;
    double room = rate * (double)clip.count * (double)CLIP_INTERVAL * 1e-9;
    double total =
        mean_rate(&clip) * (double)clip.count * (double)CLIP_INTERVAL * 1e-9;
    struct view v;
    clip_judge_each(&clip, &w.flow[CLIENT], RTT / 2, clip.latency, &v, seen);
    s->used = bytes_seen(&clip, seen) / room;
    s->seen = (double)v.seen / clip.count;
    s->late = v.waste;
    s->freeze = v.freeze;
    s->dropped = (double)w.flow[CLIENT].fates[TLTCP_FATE_UNSENT] / clip.count;
    if (is_chain(&clip)) {
        s->bound = best_of_chains(&clip, rate, true) / room;
        s->seen_bound = best_of_chains(&clip, rate, false) / clip.count;
    } else {
        s->bound = total < room ? total / room : 1;
        s->seen_bound = (double)clip_bound(&clip, rate) / clip.count;
    }
}

static void play_one(int kind, double part, uint64_t latency, uint64_t seed,
                     struct small *s) {
    struct plan p;
    kinds[kind].make(&clip, seed, PICTURES);
    clip.latency = latency;
    clip.grace = GRACE;
    plan_init(&p, seed);
    clip_plan(&clip, &p);
    plan_link(&p, 8 * mean_rate(&clip) * part);
    world_start(&w, &p);
    world_run(&w);
    world_check_end(&w);
    assert_string_equal(w.why, "");
    judge(part, s);
    world_close(&w);
}

static int small_by_use(const void *a, const void *b) {
    double x = ((const struct small *)a)->used;
    double y = ((const struct small *)b)->used;
    return x < y ? -1 : x > y;
}

struct small small_play(int kind, double part, uint64_t latency,
                        unsigned seeds) {
    static struct small all[SEEDS_MAX];
    struct small s;
    for (unsigned i = 0; i < seeds; i++) {
        play_one(kind, part, latency, i + 1, &all[i]);
    }
    qsort(all, seeds, sizeof(all[0]), small_by_use);
    s = all[seeds / 2];
    s.worst = all[0].used;
    return s;
}

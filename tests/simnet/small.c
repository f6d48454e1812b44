/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/small.h"

#include <stdlib.h>

#include "tests/simnet/oracle.h"

#define PICTURES 750
#define SEEDS_MAX 21
#define PAYLOAD 0.95 /* of a link; the rest is headers */
#define RTT (40 * MS)
#define GRACE (1000 * MS) /* as tltcpsink has it */

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
    struct view v;
    clip_judge_each(&clip, &w.flow[CLIENT], RTT / 2, clip.latency, &v, seen);
    s->used = bytes_seen(&clip, seen) / room;
    s->seen = (double)v.seen / clip.count;
    s->late = v.waste;
    s->freeze = v.freeze;
    s->dropped = (double)w.flow[CLIENT].fates[TLTCP_FATE_UNSENT] / clip.count;
    s->bound = oracle_most(&clip, rate, true) / room;
    s->seen_bound = oracle_most(&clip, rate, false) / clip.count;
}

static void play_one(int kind, double part, uint64_t latency, uint64_t seed,
                     struct small *s) {
    struct plan p;
    kinds[kind].make(&clip, seed, PICTURES);
    clip.latency = latency;
    clip.grace = GRACE;
    clip.tells_parents = true; /* as the elements do */
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

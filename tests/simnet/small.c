/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/small.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/simnet/oracle.h"

#define PICTURES 750
#define SEEDS_MAX 101
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

static void plan_link(struct plan *p, const struct small_case *on,
                      double rate) {
    double in_a_row = on->in_a_row > 0 ? on->in_a_row : 1;
    for (int i = 0; i < 2; i++) {
        p->link[i].rate = rate;
        p->link[i].delay = on->rtt / 2;
        p->link[i].loss = on->loss;
        p->link[i].burst_enter = on->bursts / (1 - on->bursts) / in_a_row;
        p->link[i].burst_leave = 1 / in_a_row;
        p->link[i].burst_loss = 1;
        p->link[i].jitter = on->jitter;
        p->link[i].jitter_share = on->jitter_share;
        p->link[i].slot_max = on->slot;
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

static double share_seen(const bool *seen, uint32_t from) {
    uint32_t n = 0;
    for (uint32_t i = from; i < clip.count; i++) {
        n += seen[i];
    }
    return (double)n / (clip.count - from);
}

static bool shown[CLIP_MAX];

static void judge(const struct small_case *on, struct small *s) {
    double rate = mean_rate(&clip) * on->part * PAYLOAD;
    double room = rate * (double)clip.count * (double)CLIP_INTERVAL * 1e-9;
    struct view v;
    clip_judge_each(&clip, &w.flow[CLIENT], on->rtt / 2, clip.latency, &v,
                    shown);
    s->used = bytes_seen(&clip, shown) / room;
    s->seen = share_seen(shown, on->from);
    s->late = v.waste;
    s->freeze = v.freeze;
    s->dropped = (double)w.flow[CLIENT].fates[TLTCP_FATE_UNSENT] / clip.count;
    s->bound = oracle_most(&clip, rate, true) / room;
    s->seen_bound = oracle_most(&clip, rate, false) / clip.count;
    s->freeze_bound =
        on->loss + on->bursts > 0 ? 0 : oracle_freeze(&clip, rate);
}

static void play_one(const struct small_case *on, uint64_t seed,
                     struct small *s) {
    struct plan p;
    clip.gop = on->gop;
    kinds[on->kind].make(&clip, seed, PICTURES);
    clip.latency = on->latency;
    clip.grace = GRACE;
    clip.tells_parents = true; /* as the elements do */
    plan_init(&p, seed);
    clip_plan(&clip, &p);
    plan_link(&p, on, 8 * mean_rate(&clip) * on->part);
    world_start(&w, &p);
    world_run(&w);
    world_check_end(&w);
    assert_string_equal(w.why, "");
    judge(on, s);
}

static int small_by_use(const void *a, const void *b) {
    double x = ((const struct small *)a)->used;
    double y = ((const struct small *)b)->used;
    return x < y ? -1 : x > y;
}

static struct small_case with_defaults(const struct small_case *given) {
    struct small_case on = *given;
    on.rtt = on.rtt > 0 ? on.rtt : RTT;
    on.seed = on.seed > 0 ? on.seed : 1;
    return on;
}

struct small small_play_case(const struct small_case *given, unsigned seeds) {
    static struct small all[SEEDS_MAX];
    struct small_case on = with_defaults(given);
    struct small s;
    double least = 1;
    for (unsigned i = 0; i < seeds; i++) {
        play_one(&on, on.seed + i, &all[i]);
        least = all[i].seen < least ? all[i].seen : least;
        world_close(&w);
    }
    qsort(all, seeds, sizeof(all[0]), small_by_use);
    s = all[seeds / 2];
    s.worst = all[0].used;
    s.seen_worst = least;
    return s;
}

struct small small_play(int kind, double part, uint64_t latency,
                        unsigned seeds) {
    struct small_case on = {.kind = kind, .part = part, .latency = latency};
    return small_play_case(&on, seeds);
}

static const char *what_became(const struct flow *f, uint32_t i,
                               uint64_t until) {
    const struct tally *t = &f->tally[i];
    return shown[i]                             ? "shown"
           : t->whole != 0 && t->whole <= until ? "broken"
           : t->whole != 0                      ? "late"
           : t->cause == TLTCP_CAUSE_YIELDED    ? "yielded"
           : t->cause == TLTCP_CAUSE_DEADLINE   ? "expired"
                                                : "dropped";
}

void small_trace(const struct small_case *given) {
    struct small_case on = with_defaults(given);
    const struct flow *f = &w.flow[CLIENT];
    struct small s;
    play_one(&on, on.seed, &s);
    for (uint32_t i = 0; i < clip.count; i++) {
        uint64_t offset = sim_host_now(f->source.peer->host) - world_now(&w);
        uint64_t written = f->source.sections[i].written - offset;
        uint64_t whole = f->tally[i].whole;
        printf("%4u %6u %u %6u bytes, parent %4u: %-8s took %5d ms of %u\n", i,
               (unsigned)(written / MS), clip.cls[i], clip.bytes[i],
               clip.parent[i],
               what_became(f, i,
                           written + clip.shown[i] + clip.latency + on.rtt / 2),
               whole > 0 ? (int)((whole - written) / MS) : -1,
               (unsigned)((clip.shown[i] + clip.latency + on.rtt / 2) / MS));
    }
    printf("queue dropped %u of %u packets\n",
           (unsigned)sim_link_stats(sim_net_link(w.net, w.link[CLIENT]))
               ->dropped_queue,
           (unsigned)w.end[CLIENT].datagrams);
    world_close(&w);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/marks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "libtltcp/engine/conn.h"
#include "tests/simnet/clip.h"
#include "tests/simnet/rival.h"

#define PICTURES 750
#define START 75             /* pictures until a long path is in use */
#define PAYLOAD 0.95         /* of a link; the rest is headers */
#define HEAD_START (3 * SEC) /* of a rival */
#define WHILE (20 * SEC)     /* after which it has all of a long path */
#define FIRST (10 * SEC)
#define IN_A_ROW 4 /* packets */

static struct clip clip;
static struct world w; /* large */

static void plan_sender(tltcp_config *c, const struct path *on) {
    static const char *names[2];
    static double value;
    c->controller.initial_window = on->initial_window;
    if (on->initial_window > 0) { /* losses are known, too */
        c->fec = TLTCP_FEC_ON;
    }
    if (on->param != NULL) {
        names[0] = on->param;
        value = on->value;
        c->controller.params = names;
        c->controller.values = &value;
    }
}

static void plan_path(struct plan *p, const struct path *on, uint64_t seed) {
    double in_a_row = on->in_a_row > 0 ? on->in_a_row : IN_A_ROW;
    clip_make(&clip, seed, PICTURES);
    clip.latency = on->latency;
    clip.grace = 1000 * MS; /* as tltcpsink has it */
    plan_init(p, seed);
    clip_plan(&clip, p);
    for (int i = 0; i < 2; i++) {
        p->config[i].idle_timeout_ms = 5000; /* as the elements have it */
        p->link[i].rate = on->rate;
        p->link[i].delay = on->rtt / 2;
        p->link[i].loss = on->loss;
        p->link[i].burst_enter = on->bursts / (1 - on->bursts) / in_a_row;
        p->link[i].burst_leave = 1 / in_a_row;
        p->link[i].burst_loss = 1;
        p->link[i].jitter = on->jitter;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = 50000;
    }
    p->config[SERVER].unordered = true;
    plan_sender(&p->config[CLIENT], on);
    p->source[CLIENT].start = on->rival != NULL ? HEAD_START : 100 * MS;
}

/* The share of the pictures from one on that could be seen in time. */
static double seen_after(const struct flow *f, uint32_t from, uint64_t after) {
    struct view all;
    struct view first;
    struct clip part = clip;
    clip_judge(&clip, f, 0, after, &all);
    part.count = from;
    clip_judge(&part, f, 0, after, &first);
    return (double)(all.seen - first.seen) / (clip.count - from);
}

static void judge(const struct path *on, struct mark *m) {
    const struct flow *f = &w.flow[CLIENT];
    double share = on->rate / (on->rival != NULL ? 2 : 1);
    uint64_t in_time = on->latency + on->patience;
    unsigned bound = clip_bound(&clip, PAYLOAD * share / 8);
    struct view v;
    clip_judge(&clip, f, 0, in_time, &v);
    m->seen = (double)v.seen / bound;
    m->settled = seen_after(f, START, in_time);
    m->late = v.waste;
    m->useless = v.useless;
    m->freeze = v.freeze;
    m->keys_missing = v.sent[TL_CLASS_KEY] - v.whole[TL_CLASS_KEY];
    m->yielded = (unsigned)end_stats(&w.end[CLIENT]).sections_yielded;
    clip_judge(&clip, f, on->rtt / 2, in_time, &v);
    m->waste = v.waste;
}

/* As if the call had been made only now, on a queue that is full already. */
static void forget_path(void) {
    tltcp__cc_restart(&w.end[CLIENT].peer->conn->sender.cc,
                      sim_host_now(w.end[CLIENT].host));
}

/* As after a hand-over. */
static void make_longer(uint64_t rtt) {
    world_run_for(&w, FIRST);
    for (int i = 0; i < 2; i++) {
        struct sim_link_config c =
            *sim_link_get(sim_net_link(w.net, w.link[i]));
        c.delay = rtt / 2;
        sim_net_set_link(w.net, w.link[i], &c);
    }
}

static void play_path(const struct path *on, uint64_t seed, struct mark *m) {
    static struct rival rival;
    struct plan p;
    uint64_t before = 0;
    plan_path(&p, on, seed);
    *m = (struct mark){0};
    world_start(&w, &p);
    if (on->rival != NULL) {
        rival_join(&rival, &w, on->rival, seed);
        world_run_for(&w, HEAD_START);
        before = rival.reader.bytes;
        forget_path();
    }
    if (on->longer > 0) {
        make_longer(on->longer);
    }
    world_run(&w);
    if (on->rival != NULL) {
        m->ratio = (double)w.flow[CLIENT].reader.bytes /
                   (double)(rival.reader.bytes - before);
    }
    world_check_end(&w);
    assert_string_equal(w.why, "");
    judge(on, m);
    if (on->rival != NULL) {
        rival_leave(&rival);
    }
    world_close(&w);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *x, size_t n) {
    qsort(x, n, sizeof(*x), by_value);
    return x[n / 2];
}

struct mark play_all(const char *name, const struct path *on, unsigned seeds) {
    double seen[MARKS_SEEDS_MAX], settled[MARKS_SEEDS_MAX];
    double ratio[MARKS_SEEDS_MAX], waste[MARKS_SEEDS_MAX];
    double late[MARKS_SEEDS_MAX], useless[MARKS_SEEDS_MAX];
    double freeze[MARKS_SEEDS_MAX];
    struct mark all = {0};
    for (unsigned i = 0; i < seeds; i++) {
        struct mark m;
        play_path(on, i + 1, &m);
        seen[i] = m.seen;
        settled[i] = m.settled;
        ratio[i] = m.ratio;
        waste[i] = m.waste;
        late[i] = m.late;
        useless[i] = m.useless;
        freeze[i] = (double)m.freeze;
        all.freeze = m.freeze > all.freeze ? m.freeze : all.freeze;
        all.keys_missing += m.keys_missing;
        all.yielded += m.yielded;
    }
    all.seen = median(seen, seeds);
    all.tenth = seen[seeds / 10]; /* they are sorted now */
    all.settled = median(settled, seeds);
    all.ratio = median(ratio, seeds);
    all.waste = median(waste, seeds);
    all.late = median(late, seeds);
    all.useless = median(useless, seeds);
    all.usual_freeze = (uint64_t)median(freeze, seeds);
    print_message(
        "%s: %.2f %% of the bound (a tenth of the runs at most %.2f), after "
        "three seconds %.2f %% of all, "
        "F %.2f, late %.2f %%, useless %.2f %%, freeze %" PRIu64
        " ms, the longest %" PRIu64 ", keys missing %u\n",
        name, 100 * all.seen, 100 * all.tenth, 100 * all.settled, all.ratio,
        100 * all.late, 100 * all.useless, all.usual_freeze / MS,
        all.freeze / MS, all.keys_missing);
    return all;
}

/* A new call, whose handshake has measured the path while it was empty. */
static void call_again(const struct path *on) {
    struct tltcp__cc *cc = &w.end[CLIENT].peer->conn->sender.cc;
    forget_path();
    cong_rtt_sample_at(&cc->rtt, (cong_time)on->rtt, (cong_time)world_now(&w));
    cc->t_sent = -1;
}

/* What the rival gets, and the queue drops, in the seconds after a long while;
 * with the stream or without. */
static void play_first_seconds(const struct path *on, uint64_t seed,
                               bool streams, double got[2]) {
    static struct rival rival;
    const struct sim_link_stats *link;
    struct plan p;
    plan_path(&p, on, seed);
    p.source[CLIENT].start = streams ? WHILE : NEVER / 2;
    p.no_delivery_check = true;
    world_start(&w, &p);
    link = sim_link_stats(sim_net_link(w.net, w.link[CLIENT]));
    rival_join(&rival, &w, on->rival, seed);
    world_run_for(&w, WHILE);
    got[0] = -(double)rival.reader.bytes;
    got[1] = -(double)link->dropped_queue;
    call_again(on);
    world_run_for(&w, FIRST);
    got[0] += (double)rival.reader.bytes;
    got[1] += (double)link->dropped_queue;
    assert_string_equal(w.why, "");
    rival_leave(&rival);
    world_close(&w);
}

struct harm play_harm(const struct path *on, unsigned seeds) {
    double kept[MARKS_SEEDS_MAX], overflow[MARKS_SEEDS_MAX];
    for (unsigned i = 0; i < seeds; i++) {
        double with[2], without[2];
        play_first_seconds(on, i + 1, false, without);
        play_first_seconds(on, i + 1, true, with);
        kept[i] = with[0] / without[0];
        overflow[i] = with[1] - without[1];
    }
    return (struct harm){median(kept, seeds), median(overflow, seeds)};
}

struct path path_of(double mbit) {
    return (struct path){.rate = mbit * 1e6,
                         .rtt = 40 * MS,
                         .latency = 200 * MS,
                         .patience = 200 * MS};
}

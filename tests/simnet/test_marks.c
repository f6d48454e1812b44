/* SPDX-License-Identifier: MPL-2.0 */
/* What live video reaches over the links of docs/live-bench.md with everything
 * at its default: the controller, the repair, the look-ahead. */
#include <inttypes.h>
#include <stdlib.h>

#include "libtltcp/conn.h"
#include "libtltcp/fec.h"
#include "tests/simnet/clip.h"
#include "tests/simnet/rival.h"

#define SEEDS 5
#define SEEDS_RIVALS 21 /* few tell little of who wins at first */
#define PICTURES 750
#define START 125    /* pictures until a long path is in use */
#define PAYLOAD 0.95 /* of a link; the rest is headers */

static struct clip clip;
static struct world w; /* large */

/* A link, the same both ways, and who was there first. */
struct path {
    double rate; /* bit/s */
    uint64_t rtt;
    double loss;
    uint64_t jitter;   /* of a busy machine or a radio, one way */
    uint64_t latency;  /* that the viewer allows */
    uint64_t patience; /* how much longer a picture is of use */
    const char *rival;
};

struct mark {
    double seen;    /* of what could be at best */
    double ratio;   /* of our rate to the rival's */
    double settled; /* seen, of what was sent after the first five seconds */
    double waste;   /* of the bytes that arrived, came too late */
    uint64_t freeze;
    unsigned keys_missing;
    unsigned yielded;
};

static void plan_path(struct plan *p, const struct path *on, uint64_t seed) {
    clip_make(&clip, seed, PICTURES);
    clip.latency = on->latency;
    clip.grace = 1000 * MS; /* as tltcpsink has it */
    plan_init(p, seed);
    clip_plan(&clip, p);
    for (int i = 0; i < 2; i++) {
        p->link[i].rate = on->rate;
        p->link[i].delay = on->rtt / 2;
        p->link[i].loss = on->loss;
        p->link[i].jitter = on->jitter;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = 50000;
    }
    p->config[SERVER].unordered = true;
    p->source[CLIENT].start = on->rival != NULL ? 3 * SEC : 100 * MS;
}

/* Pictures that came whole, but after their time. */
static double waste_of(const struct flow *f, uint64_t after) {
    uint64_t offset = sim_host_now(f->source.peer->host) - world_now(f->world);
    double late = 0, all = 0;
    for (uint64_t i = 0; i < f->source.count; i++) {
        const struct sim_section *s = &f->source.sections[i];
        uint64_t whole = f->tally[i].whole;
        all += (double)f->tally[i].got;
        late += whole > s->written - offset + after ? (double)s->len : 0;
    }
    return late / all;
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
    m->waste = waste_of(f, in_time + on->rtt / 2);
    m->freeze = v.freeze;
    m->keys_missing = v.sent[TL_CLASS_KEY] - v.whole[TL_CLASS_KEY];
    m->yielded = (unsigned)end_stats(&w.end[CLIENT]).sections_yielded;
}

/* As if the call had been made only now, on a queue that is full already. */
static void forget_path(void) {
    tltcp__cc_restart(&w.end[CLIENT].peer->conn->sender.cc,
                      sim_host_now(w.end[CLIENT].host));
}

static void play_path(const struct path *on, uint64_t seed, struct mark *m) {
    static struct rival rival;
    struct plan p;
    uint64_t before = 0;
    plan_path(&p, on, seed);
    *m = (struct mark){0};
    assert_int_equal(world_open(&w, &p), 0);
    if (on->rival != NULL) {
        rival_join(&rival, &w, on->rival, seed);
        world_run_for(&w, 3 * SEC);
        before = rival.reader.bytes;
        forget_path();
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
    assert_int_equal(w.alloc.blocks, 0);
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

/* The medians of the seeds; of freezes, keys and what yielded all that was. */
static struct mark play_all(const char *name, const struct path *on) {
    double seen[SEEDS_RIVALS], settled[SEEDS_RIVALS];
    double ratio[SEEDS_RIVALS], waste[SEEDS_RIVALS];
    unsigned seeds = on->rival != NULL ? SEEDS_RIVALS : SEEDS;
    struct mark all = {0};
    for (unsigned i = 0; i < seeds; i++) {
        struct mark m;
        play_path(on, i + 1, &m);
        seen[i] = m.seen;
        settled[i] = m.settled;
        ratio[i] = m.ratio;
        waste[i] = m.waste;
        all.freeze = m.freeze > all.freeze ? m.freeze : all.freeze;
        all.keys_missing += m.keys_missing;
        all.yielded += m.yielded;
    }
    all.seen = median(seen, seeds);
    all.settled = median(settled, seeds);
    all.ratio = median(ratio, seeds);
    all.waste = median(waste, seeds);
    print_message(
        "%s: %.2f %% of the bound, after five seconds %.2f %% of all, "
        "F %.2f, waste %.2f %%, longest freeze %" PRIu64
        " ms, keys missing %u\n",
        name, 100 * all.seen, 100 * all.settled, all.ratio, 100 * all.waste,
        all.freeze / MS, all.keys_missing);
    return all;
}

static struct path link_of(double mbit) {
    return (struct path){.rate = mbit * 1e6,
                         .rtt = 40 * MS,
                         .latency = 200 * MS,
                         .patience = 200 * MS};
}

static void alone(void **state) {
    struct path on = link_of(4);
    struct mark m = play_all("4 Mbit/s alone", &on);
    (void)state;
    assert_true(m.seen >= 0.999);
    assert_int_equal(m.yielded, 0);
}

static void overload(void **state) {
    struct path on = link_of(2);
    struct mark m = play_all("2 Mbit/s alone", &on);
    (void)state;
    assert_true(m.seen >= 0.9);
    assert_int_equal(m.keys_missing, 0);
    assert_true(m.freeze <= 400 * MS);
    assert_true(m.waste < 0.01);
}

static void two_percent(void **state) {
    struct path on = link_of(6);
    struct mark m;
    (void)state;
    on.loss = 0.02;
    m = play_all("2 % loss", &on);
    assert_true(m.seen >= 0.999);
}

static void ten_percent(void **state) {
    struct path on = link_of(6);
    struct mark m;
    (void)state;
    on.loss = 0.1;
    m = play_all("10 % loss", &on);
    assert_true(m.seen >= 0.95);
}

/* The lowest RTT that was ever seen is then one that hardly ever comes again.
 */
static void ten_percent_and_jitter(void **state) {
    struct path on = link_of(6);
    struct mark m;
    (void)state;
    on.loss = 0.1;
    on.jitter = 8 * MS;
    m = play_all("10 % loss and jitter", &on);
    assert_true(m.seen >= 0.95);
}

/* The window needs three round trips to carry it all, which a clip of half a
 * minute shows. */
static void satellite(void **state) {
    struct path on = link_of(6);
    struct mark m;
    (void)state;
    if (!tltcp__fec_available()) {
        skip();
    }
    on.loss = 0.02;
    on.rtt = 600 * MS;
    on.latency = 400 * MS;
    m = play_all("satellite", &on);
    assert_true(m.settled >= 0.97);
    assert_true(m.seen >= 0.88);
}

static void beside_cubic(void **state) {
    struct path on = link_of(4);
    struct mark m;
    (void)state;
    on.rival = "cubic";
    m = play_all("beside CUBIC", &on);
    assert_true(m.seen >= 0.8);
    assert_true(m.ratio >= 0.8 && m.ratio <= 1.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(overload),
        cmocka_unit_test(two_percent),
        cmocka_unit_test(ten_percent),
        cmocka_unit_test(ten_percent_and_jitter),
        cmocka_unit_test(satellite),
        cmocka_unit_test(beside_cubic),
    };
    return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/adaptive.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_SIZE 4.0 /* times a frame */
#define NOISE 0.25   /* deviation of the logarithm of sizes */
#define PAYBACK 0.2  /* of what frames were too large, per frame */
#define WORST 2e3    /* bit/s: a link in a fade */
#define PACKET_BITS 12000.0
#define SMALL_B 0.5 /* a B frame, of the mean */
#define STEER_SHARE 0.95
#define STEER_CHANGE 0.05
#define STEER_AT_ONCE 0.8
#define STEER_UP (150 * MS)
#define STEER_DOWN (100 * MS)
#define GRACE SEC /* tltcpsink's reference-grace */
#define SKIP_MOST (500 * MS)
#define SEEN_LATE (60 * MS) /* an informed encoder knows the link so late */
#define SEEN_SECONDS 0.1    /* mean of its rate */
#define SEEN_DRAIN 0.15     /* s in which what waits should drain */

static struct world w; /* large */

/* State of the encoder. */
static struct {
    const struct encoder *e;
    struct sim_random rnd;
    double debt;
    uint64_t lost;   /* sections */
    uint64_t key_at; /* newest key frame, ns */
    uint64_t skipped;
    double steered; /* rate of a steered encoder; 0: none yet */
    tltcp_time steered_at;
    tltcp_time paused_at; /* after the newest frame, which is ... */
    uint64_t late;        /* ... followed by one so late, ns */
    double seen;          /* bytes that the recording carried by ... */
    uint64_t seen_at;     /* ... then */
    double seen_rate;     /* bytes/s */
    bool started;
    bool stalled;
} state;

static double normal(struct sim_random *r) {
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += sim_random_unit(r);
    }
    return sum - 6;
}

/* Like gst_tltcp_encoder_due(). */
static double steer(double bps, tltcp_time now) {
    double old = state.steered;
    uint64_t wait = 0;
    bps *= STEER_SHARE;
    if (bps > old) {
        wait = STEER_UP;
    } else if (bps > STEER_AT_ONCE * old) {
        wait = STEER_DOWN;
    }
    if (old <= 0 || (fabs(bps - old) > STEER_CHANGE * old &&
                     now - state.steered_at >= wait)) {
        state.steered = bps;
        state.steered_at = now;
    }
    return state.steered;
}

/* Bytes that the recording could have carried by then. */
static double recorded(uint64_t until) {
    return (double)sim_link_offered_capacity(
        sim_net_link(w.net, w.link[CLIENT]), until);
}

/* What the link carried lately, less what waits. */
static double informed(const tltcp_stats *st) {
    uint64_t now = world_now(&w);
    uint64_t at = now > SEEN_LATE ? now - SEEN_LATE : 0;
    double carried = recorded(at);
    double passed = (double)(at - state.seen_at) / 1e9;
    double waits = (double)(st->bytes_in_flight + st->bytes_queued);
    if (passed > 0) {
        state.seen_rate += fmin(passed / SEEN_SECONDS, 1) *
                           ((carried - state.seen) / passed - state.seen_rate);
        state.seen = carried;
        state.seen_at = at;
    }
    waits -= state.seen_rate * (double)st->min_rtt_ns / 1e9;
    return 8 * fmax(state.e->informed * state.seen_rate -
                        fmax(waits, 0) / SEEN_DRAIN,
                    0);
}

static double asked(const tltcp_stats *st, tltcp_time now) {
    const struct encoder *e = state.e;
    double bps = e->start_bps;
    if (e->informed > 0) {
        bps = informed(st);
    } else if (e->steered && !e->deaf && st->target_bps == 0) {
        bps = state.steered > 0 ? state.steered : bps;
    } else if (st->target_bps > 0 && !e->deaf) {
        bps = (double)st->target_bps;
        bps = e->steered ? steer(bps, now) : bps;
    }
    return e->gain * fmin(fmax(bps, e->min_bps), e->max_bps);
}

static uint64_t lateness(double size, const tltcp_stats *st) {
    double rate = (double)st->estimated_bps / 8;
    uint64_t take = rate > 0 ? (uint64_t)(1e9 * size / rate) : 0;
    uint64_t comes = st->delivery_delay_ns + take;
    return rate > 0 && comes > state.e->latency ? comes - state.e->latency : 0;
}

/* Like tltcpsink: pauses until frames would come in time, but not for long.  A
 * pause as long as the lateness ends unless that grows. */
static bool is_paused(double size, const tltcp_stats *st, tltcp_time now) {
    bool over = now >= state.paused_at + state.late;
    return state.late > 0 && now < state.paused_at + SKIP_MOST &&
           lateness(size, st) > (over ? state.late : 0);
}

static void pause_late(double size, const tltcp_stats *st, tltcp_time now) {
    state.late = lateness(size, st);
    state.paused_at = now;
}

/* A lost reference leads to a key frame, but one in a round trip. */
static bool wants_key(const tltcp_stats *st, tltcp_time now) {
    uint64_t lost = st->sections_partial + st->sections_expired;
    bool harmed = lost > state.lost && now - state.key_at > st->srtt_ns;
    if (harmed || !state.started) {
        state.lost = lost;
        state.key_at = now;
        state.started = true;
        return true;
    }
    return false;
}

static void encode(void *user, uint64_t number, tltcp_time now,
                   struct sim_section *s) {
    const struct encoder *e = state.e;
    tltcp_stats st = end_stats(&w.end[CLIENT]);
    double budget = asked(&st, now) / 8 / e->fps;
    bool b = e->b_frames > 0 && number % (e->b_frames + 1) != 0;
    bool key;
    double size = budget * exp(NOISE * normal(&state.rnd));
    (void)user;
    if (e->stall > 0 && !state.stalled && now >= e->stall_at) {
        w.flow[CLIENT].source.due += e->stall;
        state.stalled = true;
    }
    if (e->skips && state.started &&
        !tltcp_conn_would_arrive(w.end[CLIENT].peer->conn, (size_t)budget,
                                 now + 200 * MS, now)) {
        s->len = 1; /* stands for no frame at all */
        s->deadline = NEVER;
        return;
    }
    if (e->steered && is_paused(budget, &st, now)) {
        state.skipped++;
        return;
    }
    key = !b && (wants_key(&st, now) || (e->gop > 0 && number % e->gop == 0));
    size *= key ? KEY_SIZE : b ? SMALL_B : 1;
    size -= PAYBACK * state.debt;
    size = fmax(size, fmax(0.1 * budget, 100));
    state.debt += size - budget;
    if (e->steered) {
        pause_late(size, &st, now);
    }
    s->len = (size_t)size;
    s->meta.due = now + e->latency;
    s->deadline = s->meta.due + (e->steered && !b ? GRACE : 0);
    s->meta.section_class = key ? TL_CLASS_KEY
                            : b ? TL_CLASS_DISPOSABLE
                                : TL_CLASS_REFERENCE;
}

static void set_link(double bps) {
    struct sim_link_config c =
        *sim_link_get(sim_net_link(w.net, w.link[CLIENT]));
    c.rate = fmax(bps, WORST);
    sim_net_set_link(w.net, w.link[CLIENT], &c);
}

static void plan_adaptive(struct plan *p, const struct adaptive *a) {
    plan_init(p, a->seed);
    for (int i = 0; i < 2; i++) {
        p->link[i].delay = a->rtt / 2;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = a->queue;
        p->link[i].rate = a->rates != NULL ? fmax(a->rates->bps[0], WORST) : 0;
        p->config[i].congestion = a->congestion;
        /* As of programs that call again. */
        p->config[i].connect_timeout_ms = 60000;
    }
    if (a->trace != NULL) {
        p->link[CLIENT].trace = a->trace;
        p->link[CLIENT].trace_start = a->trace_start;
    }
    if (a->back_bps > 0) {
        p->link[SERVER].rate = a->back_bps;
    }
    p->link[SERVER].loss = a->ack_loss;
    p->link[CLIENT].loss = a->loss;
    if (a->shape != NULL) {
        a->shape(&p->link[CLIENT]);
    }
    p->config[SERVER].unordered = true;
    p->source[CLIENT].sections = UINT64_MAX;
    p->source[CLIENT].interval = (uint64_t)(1e9 / a->encoder.fps);
    p->source[CLIENT].shape = encode;
    p->keep_open = true;
    p->no_delivery_check = true;
    p->no_flight_check = true;
    p->gives_up = true;
}

static void show(double bps) {
    tltcp_stats st = end_stats(&w.end[CLIENT]);
    printf("%6.2f link %5.2f target %5.2f estimate %5.2f cwnd %6.0f flight "
           "%6" PRIu64 " queued %6" PRIu64 " rtt %4.0f min %3.0f lost %" PRIu64
           " yielded %" PRIu64 "\n",
           (double)world_now(&w) / 1e9, bps / 1e6, (double)st.target_bps / 1e6,
           (double)st.estimated_bps / 1e6, (double)st.cwnd_bytes,
           st.bytes_in_flight, st.bytes_queued, (double)st.latest_rtt_ns / 1e6,
           (double)st.min_rtt_ns / 1e6,
           st.sections_partial + st.sections_expired, st.sections_yielded);
}

/* In the time of the world, which does not jump. */
static uint64_t captured_at(const struct sim_section *s) {
    const struct encoder *e = state.e;
    return s->written - (s->written >= e->skip_at + e->skip ? e->skip : 0);
}

/* Each frame is shown when it and what it refers to are there. */
static void judge_frames(const struct flow *f, uint64_t now,
                         struct outcome *o) {
    uint64_t ready = NEVER; /* the newest reference */
    uint64_t shown = 0;
    uint64_t good = 0;
    double bytes = 0;
    for (uint64_t i = 0; i < f->source.count; i++) {
        const struct sim_section *s = &f->source.sections[i];
        const struct tally *t = &f->tally[i];
        bool key = s->meta.section_class == TL_CLASS_KEY;
        uint64_t captured = captured_at(s);
        uint64_t at = t->whole != 0 ? t->whole : NEVER;
        if (s->meta.section_class == TL_CLASS_OTHER) {
            continue; /* was not encoded */
        }
        at = key || at > ready ? at : ready;
        o->keys += key;
        o->lost += t->whole == 0 && captured + SEC < now;
        if (s->meta.section_class != TL_CLASS_DISPOSABLE) {
            ready = at;
        }
        if (at == NEVER) {
            continue;
        }
        bytes += (double)s->len;
        o->in_200 += at <= captured + 200 * MS;
        good = at <= captured + 400 * MS;
        o->in_400 += (double)good;
        if (good) {
            o->freeze = shown > 0 && captured - shown > o->freeze
                            ? captured - shown
                            : o->freeze;
            shown = captured;
        }
    }
    o->in_200 /= (double)f->source.count;
    o->in_400 /= (double)f->source.count;
    o->coded =
        (double)f->source.count / (double)(f->source.count + state.skipped);
    o->used = 8 * bytes;
}

static void after_bin(const struct adaptive *a, size_t bin, double bps) {
    tltcp_stats st = end_stats(&w.end[CLIENT]);
    if (a->encoder.skip > 0 && bin == a->encoder.skip_at / ADAPTIVE_BIN) {
        sim_host_skip(w.end[CLIENT].host, a->encoder.skip);
    }
    if (a->meddle != NULL) {
        a->meddle(a->user, &w);
    }
    if (a->watch != NULL) {
        a->watch(a->user, world_now(&w), &st);
    }
    if (a->verbose && bin % 5 == 0) {
        show(bps);
    }
}

/* Returns the bits that the link could carry. */
static double play_rates(const struct adaptive *a) {
    double carried = 0;
    for (size_t i = 0; i < a->rates->count; i++) {
        set_link(a->rates->bps[i]);
        carried += a->rates->bps[i] * (double)ADAPTIVE_BIN / 1e9;
        world_run_for(&w, ADAPTIVE_BIN);
        after_bin(a, i, a->rates->bps[i]);
    }
    return carried;
}

/* Likewise. */
static double play_trace(const struct adaptive *a) {
    double carried = 0;
    double shown = 0;
    for (size_t i = 0; i < a->length / ADAPTIVE_BIN; i++) {
        world_run_for(&w, ADAPTIVE_BIN);
        carried = 8 * recorded(world_now(&w));
        after_bin(a, i, (carried - shown) / 0.1);
        shown = i % 5 == 0 ? carried : shown;
    }
    return carried;
}

void adaptive_play(const struct adaptive *a, struct outcome *o) {
    struct plan p;
    double carried;
    *o = (struct outcome){0};
    memset(&state, 0, sizeof(state));
    state.e = &a->encoder;
    sim_random_init(&state.rnd, a->seed);
    plan_adaptive(&p, a);
    world_start(&w, &p);
    sim_host_set_slow(w.end[CLIENT].host, a->slow);
    carried = a->trace != NULL ? play_trace(a) : play_rates(a);
    world_run_for(&w, SEC);
    if (!a->verbose) {
        assert_string_equal(w.why, "");
    }
    judge_frames(&w.flow[CLIENT], world_now(&w), o);
    o->used /= carried;
    world_close(&w);
}

void adaptive_watch_step(void *user, uint64_t now, const tltcp_stats *st) {
    struct adaptive_step *s = user;
    double target = (double)st->target_bps;
    bool met = s->below ? target < s->bound : target > s->bound;
    if (now > s->at && met && s->met == NEVER) {
        s->met = now - s->at;
    }
}

static void rates_room(struct rates *r, uint64_t ns) {
    r->count = (size_t)(ns / ADAPTIVE_BIN);
    r->bps = calloc(r->count, sizeof(*r->bps));
    assert_non_null(r->bps);
}

void rates_cellular(struct rates *r, double mean_bps, uint64_t ns,
                    uint64_t seed) {
    struct sim_random rnd;
    double slow = 0;
    double fast = 0;
    size_t fade = 0;
    rates_room(r, ns);
    sim_random_init(&rnd, seed);
    for (size_t i = 0; i < r->count; i++) {
        slow = 0.995 * slow + 0.06 * normal(&rnd);
        fast = 0.7 * fast + 0.25 * normal(&rnd);
        if (fade == 0 && sim_random_chance(&rnd, 0.001)) {
            fade = 5 + (size_t)sim_random_below(&rnd, 25);
        }
        r->bps[i] = mean_bps * exp(slow + fast - 0.2) * (fade > 0 ? 0.1 : 1);
        fade -= fade > 0;
    }
}

void rates_steps(struct rates *r, const double *bps, size_t n, uint64_t ns) {
    rates_room(r, n * ns);
    for (size_t i = 0; i < r->count; i++) {
        r->bps[i] = bps[i * ADAPTIVE_BIN / ns];
    }
}

/* Where nothing may leave, the packet in service leaves at the end of that. */
static void fill_gaps(struct rates *r) {
    size_t gap = 0;
    for (size_t i = r->count; i-- > 0;) {
        gap = r->bps[i] > 0 ? 0 : gap + 1;
        if (gap > 0) {
            r->bps[i] = PACKET_BITS / ((double)(gap * ADAPTIVE_BIN) / 1e9);
        }
    }
}

bool rates_load(struct rates *r, const char *path, uint64_t from, uint64_t ns) {
    FILE *f = fopen(path, "r");
    char line[32];
    if (f == NULL) {
        return false;
    }
    rates_room(r, ns);
    while (fgets(line, sizeof(line), f) != NULL) {
        uint64_t at = strtoull(line, NULL, 10) * MS;
        if (at >= from && at < from + ns) {
            r->bps[(at - from) / ADAPTIVE_BIN] +=
                PACKET_BITS / ((double)ADAPTIVE_BIN / 1e9);
        }
    }
    fill_gaps(r);
    return fclose(f) == 0;
}

void rates_free(struct rates *r) {
    free(r->bps);
    r->bps = NULL;
}

void shape_codel(struct sim_link_config *c) {
    c->codel_on = true;
    sim_codel_config_init(&c->codel);
}

void shape_codel_ecn(struct sim_link_config *c) {
    shape_codel(c);
    c->aqm_ecn = true;
}

void shape_pie(struct sim_link_config *c) {
    c->pie_on = true;
    sim_pie_config_init(&c->pie);
}

void shape_pie_ecn(struct sim_link_config *c) {
    shape_pie(c);
    c->aqm_ecn = true;
}

void shape_fq(struct sim_link_config *c) {
    shape_codel(c);
    c->fair_quantum = 1500;
}

void shape_fq_ecn(struct sim_link_config *c) {
    shape_fq(c);
    c->aqm_ecn = true;
}

void shape_policer(struct sim_link_config *c) {
    c->police_rate = 2.5e6;
    c->police_burst = 30000;
}

void shape_policer_1(struct sim_link_config *c) {
    shape_policer(c);
    c->police_rate = 1e6;
}

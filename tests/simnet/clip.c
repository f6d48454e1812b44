/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/clip.h"

#include <stdlib.h>

#define MINI_GOP 3

struct means {
    uint32_t key, reference, disposable; /* bytes */
};

/* What the caller asked for. */
static uint32_t gop_of(const struct clip *c) {
    return c->gop > 0 ? c->gop : CLIP_GOP;
}

/* Each refers to the reference before it. */
static void link_up(struct clip *c) {
    uint32_t newest = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        newest = c->cls[i] == TL_CLASS_KEY ? i : newest;
        c->parent[i] = newest;
        newest = c->cls[i] == TL_CLASS_REFERENCE ? i : newest;
    }
}

static uint8_t class_of(uint32_t i, uint32_t gop) {
    uint32_t at = i % gop;
    if (at == 0) {
        return TL_CLASS_KEY;
    }
    return (at - 1) % MINI_GOP == 0 ? TL_CLASS_REFERENCE : TL_CLASS_DISPOSABLE;
}

/* Between half and one and a half times the mean, the middle more likely. */
static uint32_t vary(struct sim_random *r, uint32_t mean) {
    uint64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += sim_random_below(r, mean);
    }
    return mean / 2 + (uint32_t)(sum / 3);
}

static void fill(struct clip *c, uint64_t seed, const struct means *m) {
    struct sim_random r;
    sim_random_init(&r, seed);
    for (uint32_t i = 0; i < c->count; i++) {
        c->cls[i] = class_of(i, c->gop);
        c->bytes[i] =
            vary(&r, c->cls[i] == TL_CLASS_KEY         ? m->key
                     : c->cls[i] == TL_CLASS_REFERENCE ? m->reference
                                                       : m->disposable);
    }
    link_up(c);
}

void clip_make(struct clip *c, uint64_t seed, uint32_t count) {
    static const struct means means = {42500, 17500, 11250};
    *c = (struct clip){.count = count,
                       .gop = gop_of(c),
                       .latency = 200 * MS,
                       .grace = 200 * MS};
    fill(c, seed, &means);
}

void clip_make_heavy(struct clip *c, uint64_t seed, uint32_t count) {
    static const struct means means = {25000, 10000, 2100};
    *c = (struct clip){.count = count,
                       .gop = gop_of(c),
                       .latency = 600 * MS,
                       .grace = 1000 * MS};
    fill(c, seed, &means);
}

/* Each picture refers to the one before it. */
static void fill_chain(struct clip *c, uint64_t seed, uint32_t key,
                       uint32_t reference) {
    struct sim_random r;
    sim_random_init(&r, seed);
    for (uint32_t i = 0; i < c->count; i++) {
        bool is_key = i % c->gop == 0;
        c->cls[i] = is_key ? TL_CLASS_KEY : TL_CLASS_REFERENCE;
        c->bytes[i] = vary(&r, is_key ? key : reference);
        c->parent[i] = is_key ? i : i - 1;
    }
}

void clip_make_chain(struct clip *c, uint64_t seed, uint32_t count) {
    *c = (struct clip){.count = count,
                       .gop = gop_of(c),
                       .latency = 200 * MS,
                       .grace = 200 * MS};
    fill_chain(c, seed, 40000, 10000);
}

void clip_make_screen(struct clip *c, uint64_t seed, uint32_t count) {
    *c = (struct clip){.count = count,
                       .gop = gop_of(c),
                       .latency = 200 * MS,
                       .grace = 200 * MS};
    fill_chain(c, seed, 100000, 3500);
}

/* Coded as shown four and so on behind: key 0, then 4 2 1 3, 8 6 5 7 and so on,
 * and the last one of a group of 50 alone. */
void clip_make_branched(struct clip *c, uint64_t seed, uint32_t count) {
    static const struct {
        uint32_t bytes;
        uint8_t cls;
        uint8_t back;  /* so far to what it refers to */
        uint8_t shown; /* so many pictures later than it is written */
    } rows[4] = {{29000, TL_CLASS_REFERENCE, 4, 5},
                 {9500, TL_CLASS_REFERENCE, 1, 2},
                 {6000, TL_CLASS_DISPOSABLE, 1, 0},
                 {5500, TL_CLASS_DISPOSABLE, 2, 1}};
    struct sim_random r;
    sim_random_init(&r, seed);
    *c = (struct clip){.count = count,
                       .gop = gop_of(c),
                       .latency = 200 * MS,
                       .grace = 200 * MS};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i % c->gop;
        uint32_t k = (at + 3) % 4;
        bool key = at == 0;
        c->cls[i] = key ? TL_CLASS_KEY : rows[k].cls;
        c->bytes[i] = vary(&r, key ? 70000 : rows[k].bytes);
        c->shown[i] = key ? 2 * CLIP_INTERVAL : rows[k].shown * CLIP_INTERVAL;
        c->parent[i] = key ? i : rows[k].back > at ? i - at : i - rows[k].back;
    }
}

/* A reference that the next reference leaves out. */
static bool is_branch(const struct clip *c, uint32_t i) {
    return c->cls[i] == TL_CLASS_REFERENCE && c->shown[i] < 3 * CLIP_INTERVAL &&
           c->shown[i] > 0;
}

static void tell_parents(const struct clip *c, uint32_t number,
                         struct tltcp_meta *m) {
    m->depends = c->parent[number] < number ? number - c->parent[number]
                                            : TL_DEPENDS_NONE;
    if (is_branch(c, number)) {
        m->section_class = TL_CLASS_DISPOSABLE;
    }
}

static void shape(void *user, uint64_t number, tltcp_time now,
                  struct sim_section *s) {
    const struct clip *c = user;
    bool needed = c->cls[number] != TL_CLASS_DISPOSABLE;
    s->len = c->bytes[number];
    s->deadline = now + c->shown[number] + c->latency + (needed ? c->grace : 0);
    if (!c->plain) {
        s->meta.section_class = c->cls[number];
        s->meta.due = now + c->shown[number] + c->latency;
    }
    if (c->tells_parents) {
        tell_parents(c, (uint32_t)number, &s->meta);
    }
}

void clip_plan(const struct clip *c, struct plan *p) {
    struct sim_source_config *s = &p->source[CLIENT];
    s->sections = c->count;
    s->interval = CLIP_INTERVAL;
    s->start = 100 * MS;
    s->shape = shape;
    s->user = (void *)c;
    p->gives_up = true;
}

/* Of world time: when a picture must be there that may take so long. */
static uint64_t time_of(const struct flow *f, uint32_t i, uint64_t may_take) {
    uint64_t offset = sim_host_now(f->source.peer->host) - world_now(f->world);
    return f->source.sections[i].written - offset + may_take;
}

/* From the newest on, so that who needs a picture is known before it. */
static void judge_late(const struct clip *c, const struct flow *f,
                       uint64_t may_take, bool *used, struct view *v) {
    double all = 0;
    for (uint32_t i = c->count; i-- > 0;) {
        uint64_t whole = i < f->source.count ? f->tally[i].whole : 0;
        used[c->parent[i]] |= used[i];
        if (whole == 0) {
            continue;
        }
        all += c->bytes[i];
        if (whole > time_of(f, i, may_take + c->shown[i])) {
            v->waste += c->bytes[i];
            v->useless += used[i] ? 0 : c->bytes[i];
        }
    }
    v->waste /= all > 0 ? all : 1;
    v->useless /= all > 0 ? all : 1;
}

void clip_judge(const struct clip *c, const struct flow *f, uint64_t transit,
                uint64_t patience, struct view *v) {
    static bool seen[CLIP_MAX];
    clip_judge_each(c, f, transit, patience, v, seen);
}

void clip_judge_each(const struct clip *c, const struct flow *f,
                     uint64_t transit, uint64_t patience, struct view *v,
                     bool *seen) {
    static uint64_t there[CLIP_MAX]; /* when it was, with all it refers to */
    static bool used[CLIP_MAX];
    uint64_t dark = 0;
    memset(v, 0, sizeof(*v));
    memset(used, 0, sizeof(used));
    for (uint32_t i = 0; i < c->count && i < f->source.count; i++) {
        uint64_t until = time_of(f, i, transit + patience + c->shown[i]);
        uint64_t whole = f->tally[i].whole;
        uint64_t ready = whole == 0 ? NEVER : whole;
        if (c->parent[i] < i && there[c->parent[i]] > ready) {
            ready = there[c->parent[i]];
        }
        there[i] = ready;
        v->sent[c->cls[i]]++;
        v->whole[c->cls[i]] += whole != 0;
        v->on_time[c->cls[i]] += ready <= until;
        v->seen += ready <= until;
        v->late += whole != 0 && whole > until;
        seen[i] = ready <= until;
        used[i] = ready <= until;
        dark = ready <= until ? 0 : dark + CLIP_INTERVAL;
        v->freeze = dark > v->freeze ? dark : v->freeze;
    }
    judge_late(c, f, transit + patience, used, v);
}

static int smaller(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

unsigned clip_bound(const struct clip *c, double rate) {
    static uint32_t small[CLIP_MAX];
    double left =
        rate * ((double)c->count * (double)CLIP_INTERVAL + (double)c->latency) *
        1e-9;
    unsigned n = 0;
    unsigned k = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->cls[i] == TL_CLASS_DISPOSABLE) {
            small[k++] = c->bytes[i];
        } else {
            left -= c->bytes[i];
            n++;
        }
    }
    qsort(small, k, sizeof(small[0]), smaller);
    for (unsigned i = 0; i < k && left >= small[i]; i++) {
        left -= small[i];
        n++;
    }
    return n;
}

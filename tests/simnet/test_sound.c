/* SPDX-License-Identifier: MPL-2.0 */
/* Sound beside pictures on one connection: how long it waits for large key
 * frames. */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/simnet/world.h"

#define PICTURES 500
#define GOP 50
#define OF_PICTURE 3 /* sections: the picture and two of sound */
#define PICTURE (40 * MS)
#define KEY 120000 /* bytes: 0.3 s of the link */
#define REFERENCE 8000
#define SOUND 400
#define LATENCY (400 * MS)

static struct world w; /* large */

static void shape(void *user, uint64_t number, tltcp_time now,
                  struct sim_section *s) {
    bool key = number % (OF_PICTURE * GOP) == 0;
    bool picture = number % OF_PICTURE == 0;
    (void)user;
    s->len = key ? KEY : picture ? REFERENCE : SOUND;
    s->deadline = now + LATENCY;
    s->meta.section_class = key       ? TL_CLASS_KEY
                            : picture ? TL_CLASS_REFERENCE
                                      : TL_CLASS_AUDIO;
    s->meta.stream = picture ? 0 : 1;
}

static void plan_both(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    for (int i = 0; i < 2; i++) {
        p->link[i].rate = 3e6;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = 30000;
    }
    p->config[SERVER].unordered = true;
    p->source[CLIENT].sections = (uint64_t)OF_PICTURE * PICTURES;
    p->source[CLIENT].interval = PICTURE / OF_PICTURE;
    p->source[CLIENT].shape = shape;
    p->gives_up = true;
}

struct delays {
    uint64_t p95, most; /* of sound, from writing to reading */
    unsigned lost;      /* sections of sound */
    unsigned pictures;  /* that came whole */
};

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of what was written after the first GOP, while the path is not known yet. */
static void measure(struct delays *d) {
    static uint64_t delay[OF_PICTURE * PICTURES];
    const struct flow *f = &w.flow[CLIENT];
    size_t n = 0;
    *d = (struct delays){0};
    for (uint64_t i = OF_PICTURE * GOP; i < f->source.count; i++) {
        uint64_t whole = f->tally[i].whole; /* the caller's clock is ours */
        if (i % OF_PICTURE == 0) {
            d->pictures += whole != 0;
        } else if (whole == 0) {
            d->lost++;
        } else {
            delay[n++] = whole - f->source.sections[i].written;
        }
    }
    qsort(delay, n, sizeof(delay[0]), by_value);
    assert_true(n > 0);
    d->p95 = delay[n * 95 / 100];
    d->most = delay[n - 1];
}

static void play_both(const struct plan *p, struct delays *d) {
    world_start(&w, p);
    world_run_checked(&w);
    measure(d);
    world_close(&w);
    print_message("sound: 95 %% within %" PRIu64 " ms, all within %" PRIu64
                  " ms, %u lost; %u pictures\n",
                  d->p95 / MS, d->most / MS, d->lost, d->pictures);
}

TEST(sound_passes_key_frames) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct plan p;
        struct delays passing;
        struct delays waiting;
        plan_both(&p, seed);
        play_both(&p, &passing);
        p.config[CLIENT].paper.in_order = true;
        play_both(&p, &waiting);
        assert_int_equal(passing.lost, 0);
        assert_true(2 * passing.p95 < waiting.p95);
        assert_true(passing.most < waiting.most);
        assert_true(passing.pictures + 1 >= waiting.pictures);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_passes_key_frames),
    };
    return cmocka_run_group_tests_name("sound", tests, NULL, NULL);
}

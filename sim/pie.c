/* SPDX-License-Identifier: MPL-2.0 */
/* PIE (RFC 8033). */
#include "sim/pie.h"

#define MAX_BURST UINT64_C(150000000) /* ns */
#define VERY_LATE UINT64_C(250000000) /* ns */
#define MEAN_PACKET UINT64_C(1000)    /* bytes */
#define ALPHA 0.125                   /* per second of delay */
#define BETA 1.25
#define SURE 8.5      /* accumulated probability that always drops */
#define UNLIKELY 0.85 /* and that never does */

void sim_pie_config_init(struct sim_pie_config *c) {
    *c = (struct sim_pie_config){
        .target = 15000000, .t_update = 15000000, .mark_max = 0.1};
}

/* Small probabilities change in small steps (RFC 8033 section 4.2). */
static double step_scale(double p) {
    static const double steps[][2] = {
        {0.000001, 2048}, {0.00001, 512}, {0.0001, 128},
        {0.001, 32},      {0.01, 8},      {0.1, 2},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (p < steps[i][0]) {
            return 1 / steps[i][1];
        }
    }
    return 1;
}

static void pie_compute(struct sim_pie *s, const struct sim_pie_config *c) {
    double delay = (double)s->delay * 1e-9;
    double step = ALPHA * (delay - (double)c->target * 1e-9) +
                  BETA * (delay - (double)s->old * 1e-9);
    step *= step_scale(s->p);
    if (s->p >= 0.1 && step > 0.02) {
        step = 0.02;
    }
    s->p += s->delay > VERY_LATE ? step + 0.02 : step;
    if (s->delay == 0 && s->old == 0) {
        s->p *= 0.98;
    }
    s->p = s->p < 0 ? 0 : s->p > 1 ? 1 : s->p;
}

static void pie_update(struct sim_pie *s, const struct sim_pie_config *c) {
    bool calm = s->delay < c->target / 2 && s->old < c->target / 2;
    pie_compute(s, c);
    s->burst = s->burst > c->t_update ? s->burst - c->t_update : 0;
    if (s->p == 0 && calm) {
        s->burst = MAX_BURST;
    }
    s->old = s->delay;
}

void sim_pie_tick(struct sim_pie *s, const struct sim_pie_config *c,
                  uint64_t now) {
    if (!s->running) {
        s->running = true;
        s->burst = MAX_BURST;
        s->next = now + c->t_update;
    }
    while (s->next <= now) {
        if (s->p == 0 && s->delay == 0 && s->old == 0) {
            s->burst = MAX_BURST; /* a long idle time in one step */
            s->next = now + c->t_update;
            return;
        }
        pie_update(s, c);
        s->next += c->t_update;
    }
}

void sim_pie_left(struct sim_pie *s, uint64_t waited) {
    s->delay = waited;
}

static bool drops_early(struct sim_pie *s, const struct sim_pie_config *c,
                        uint64_t backlog, struct sim_random *rnd) {
    if (s->burst > 0 || backlog <= 2 * MEAN_PACKET ||
        (s->old < c->target / 2 && s->p < 0.2)) {
        return false;
    }
    s->accumulated = s->p == 0 ? 0 : s->accumulated + s->p;
    if (s->accumulated < UNLIKELY) {
        return false;
    }
    if (s->accumulated < SURE && !sim_random_chance(rnd, s->p)) {
        return false;
    }
    s->accumulated = 0;
    return true;
}

enum sim_pie_verdict sim_pie_arrive(struct sim_pie *s,
                                    const struct sim_pie_config *c,
                                    const struct sim_pie_arrival *a,
                                    struct sim_random *rnd) {
    sim_pie_tick(s, c, a->now);
    if (!drops_early(s, c, a->backlog, rnd)) {
        return SIM_PIE_PASS;
    }
    return a->ecn && s->p <= c->mark_max ? SIM_PIE_MARK : SIM_PIE_DROP;
}

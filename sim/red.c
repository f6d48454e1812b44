/* SPDX-License-Identifier: MPL-2.0 */
/* Random early detection, as in ns-2. */
#include "sim/red.h"

#include <math.h>

void sim_red_config_init(struct sim_red_config *c) {
    *c = (struct sim_red_config){
        .thresh = 5,
        .maxthresh = 15,
        .q_weight = 0.002,
        .max_p = 0.1,
        .mean_pktsize = 500,
        .gentle = true,
        .wait = true,
    };
}

static double scale(const struct sim_red_config *c) {
    return c->bytes ? c->mean_pktsize : 1;
}

static void update_average(struct sim_red *red, const struct sim_red_config *c,
                           const struct sim_red_arrival *a) {
    double queue = (double)(c->bytes ? a->queue_bytes : a->queue_packets);
    /* While idle, the average decays as if empty queues had been seen at the
     * rate at which packets could have left. */
    double missed =
        floor((double)a->idle * 1e-9 * a->rate / (8 * c->mean_pktsize));
    red->avg *= pow(1 - c->q_weight, missed + 1);
    red->avg += c->q_weight * queue;
}

static double base_probability(const struct sim_red_config *c, double avg) {
    double lo = c->thresh * scale(c);
    double hi = c->maxthresh * scale(c);
    double p;
    if (avg < hi) {
        p = c->max_p * (avg - lo) / (hi - lo);
    } else if (c->gentle) {
        p = c->max_p + (1 - c->max_p) * (avg - hi) / hi;
    } else {
        p = 1;
    }
    return p < 1 ? p : 1;
}

static double spaced_probability(const struct sim_red *red,
                                 const struct sim_red_config *c, double p,
                                 double size) {
    double n =
        c->bytes ? red->count_bytes / c->mean_pktsize : (double)red->count;
    if (c->wait) {
        p = n * p < 1 ? 0 : n * p < 2 ? p / (2 - n * p) : 1;
    } else {
        p = n * p < 1 ? p / (1 - n * p) : 1;
    }
    return c->bytes && p < 1 ? p * size / c->mean_pktsize : p;
}

enum sim_red_verdict sim_red_arrive(struct sim_red *red,
                                    const struct sim_red_config *c,
                                    const struct sim_red_arrival *a,
                                    struct sim_random *rnd) {
    double p;
    update_average(red, c, a);
    red->count++;
    red->count_bytes += (double)a->size;
    if (red->avg < c->thresh * scale(c) || a->queue_packets <= 1) {
        red->above = false;
        return SIM_RED_PASS;
    }
    if (red->avg >= c->maxthresh * scale(c) * (c->gentle ? 2 : 1)) {
        return SIM_RED_FORCED;
    }
    if (!red->above) {
        red->above = true;
        red->count = 1;
        red->count_bytes = (double)a->size;
        return SIM_RED_PASS;
    }
    p = base_probability(c, red->avg);
    p = spaced_probability(red, c, p, (double)a->size);
    if (!sim_random_chance(rnd, p)) {
        return SIM_RED_PASS;
    }
    sim_red_dropped(red);
    return SIM_RED_EARLY;
}

void sim_red_dropped(struct sim_red *red) {
    red->count = 0;
    red->count_bytes = 0;
}

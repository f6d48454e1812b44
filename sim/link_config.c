/* SPDX-License-Identifier: MPL-2.0 */
/* Defaults of a link, and checks. */
#include <math.h>
#include <stdio.h>

#include "sim/link.h"

void sim_link_config_init(struct sim_link_config *c) {
    *c = (struct sim_link_config){.rate = 0};
    sim_red_config_init(&c->red);
    sim_codel_config_init(&c->codel);
    sim_pie_config_init(&c->pie);
}

static bool link_config_complain(char *why, const char *what, double value,
                                 const char *allowed) {
    (void)snprintf(why, SIM_WHY_MAX, "%s is %g; it must be %s", what, value,
                   allowed);
    return false;
}

static bool check_probabilities(const struct sim_link_config *c, char *why) {
    const struct {
        const char *name;
        double value;
    } p[] = {
        {"loss", c->loss},
        {"bit error rate", c->bit_error},
        {"burst entry probability", c->burst_enter},
        {"burst exit probability", c->burst_leave},
        {"burst loss", c->burst_loss},
        {"corruption", c->corrupt},
        {"duplication", c->duplicate},
        {"reordering", c->reorder},
        {"jitter share", c->jitter_share},
    };
    for (size_t i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
        if (!(p[i].value >= 0 && p[i].value <= 1)) {
            return link_config_complain(why, p[i].name, p[i].value,
                                        "from 0 to 1");
        }
    }
    return true;
}

static bool check_red(const struct sim_red_config *c, char *why) {
    if (!(c->thresh >= 0 && c->thresh < c->maxthresh)) {
        return link_config_complain(why, "RED's lower threshold", c->thresh,
                                    "at least 0 and below the upper one");
    }
    if (!(c->q_weight > 0 && c->q_weight <= 1)) {
        return link_config_complain(why, "RED's queue weight", c->q_weight,
                                    "above 0, at most 1");
    }
    if (!(c->max_p > 0 && c->max_p <= 1)) {
        return link_config_complain(why, "RED's max_p", c->max_p,
                                    "above 0, at most 1");
    }
    if (!(c->mean_pktsize >= 1)) {
        return link_config_complain(why, "RED's mean packet size",
                                    c->mean_pktsize, "at least 1 byte");
    }
    return true;
}

static bool check_aqm(const struct sim_link_config *c, char *why) {
    if (c->codel_on &&
        (c->codel.target == 0 || c->codel.interval <= c->codel.target)) {
        return link_config_complain(why, "CoDel's interval in ns",
                                    (double)c->codel.interval,
                                    "above its target, which is above 0");
    }
    if (c->pie_on && (c->pie.target == 0 || c->pie.t_update == 0)) {
        return link_config_complain(why, "PIE's target in ns",
                                    (double)c->pie.target, "above 0");
    }
    if (c->codel_on + c->pie_on + c->red_on > 1) {
        (void)snprintf(why, SIM_WHY_MAX,
                       "RED, CoDel and PIE exclude each other");
        return false;
    }
    if (c->fair_quantum != 0 && c->lower_effort) {
        (void)snprintf(why, SIM_WHY_MAX,
                       "fair queueing and lower effort exclude each other");
        return false;
    }
    return !c->red_on || check_red(&c->red, why);
}

static bool check_rates(const struct sim_link_config *c, char *why) {
    if (!(c->rate >= 0 && isfinite(c->rate))) {
        return link_config_complain(why, "rate", c->rate,
                                    "0 (no limit) or more bit/s");
    }
    if (!(c->police_rate >= 0 && isfinite(c->police_rate))) {
        return link_config_complain(why, "policed rate", c->police_rate,
                                    "0 (none) or more bit/s");
    }
    if (c->trace != NULL && c->trace_start >= sim_trace_length(c->trace)) {
        return link_config_complain(why, "start in the trace in s",
                                    (double)c->trace_start * 1e-9,
                                    "below its length");
    }
    return true;
}

bool sim_link_config_check(const struct sim_link_config *c, char *why) {
    if (c->blackout_period != 0 && c->blackout_period < c->blackout_length) {
        return link_config_complain(why, "blackout period in s",
                                    (double)c->blackout_period * 1e-9,
                                    "at least the blackout's length");
    }
    if (c->slot_min > c->slot_max) {
        return link_config_complain(why, "shortest slot in s",
                                    (double)c->slot_min * 1e-9,
                                    "at most the longest");
    }
    return check_rates(c, why) && check_probabilities(c, why) &&
           check_aqm(c, why);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* CoDel: active queue management by the time that packets wait (RFC 8289). */
#include "sim/codel.h"

#include <math.h>

#define FULL_PACKET 1500

void sim_codel_config_init(struct sim_codel_config *c) {
    *c = (struct sim_codel_config){.target = 5000000, .interval = 100000000};
}

static uint64_t control_law(const struct sim_codel *s,
                            const struct sim_codel_config *c, uint64_t from) {
    return from +
           (uint64_t)((double)c->interval / sqrt((double)s->count) + 0.5);
}

/* Whether the wait has been above the target for an interval. */
static bool stands(struct sim_codel *s, const struct sim_codel_config *c,
                   uint64_t now, uint64_t waited, uint64_t backlog) {
    if (waited < c->target || backlog <= FULL_PACKET) {
        s->first_above = 0;
        return false;
    }
    if (s->first_above == 0) {
        s->first_above = now + c->interval;
        return false;
    }
    return now >= s->first_above;
}

/* Resumes the previous drop rate, if that was recent. */
static void start_dropping(struct sim_codel *s,
                           const struct sim_codel_config *c, uint64_t now) {
    uint64_t delta = s->count - s->last_count;
    bool recent = now < s->drop_next + 16 * c->interval;
    s->dropping = true;
    s->count = delta > 1 && recent ? delta : 1;
    s->last_count = s->count;
    s->drop_next = control_law(s, c, now);
}

bool sim_codel_judge(struct sim_codel *s, const struct sim_codel_config *c,
                     uint64_t now, uint64_t waited, uint64_t backlog) {
    bool act = stands(s, c, now, waited, backlog);
    if (!act) {
        s->dropping = false;
        return false;
    }
    if (!s->dropping) {
        start_dropping(s, c, now);
        return true;
    }
    if (now < s->drop_next) {
        return false;
    }
    s->count++;
    s->drop_next = control_law(s, c, s->drop_next);
    return true;
}

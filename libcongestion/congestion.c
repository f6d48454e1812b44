/* SPDX-License-Identifier: MPL-2.0 */
/* The list of controllers, and their initialisation. */
#include <congestion/congestion.h>

#include "libcongestion/internal.h"

#include <math.h>
#include <string.h>

/* Sorted by name, like names[]. */
static const struct cong_ops *const table[] = {
    &cong__auto,    &cong__bbr,      &cong__cubic,
    &cong__fast,    &cong__fixed,    &cong__mod_westwoodnew,
    &cong__newreno, &cong__peach,    &cong__prague,
    &cong__reno,    &cong__sack,     &cong__stfrc,
    &cong__tahoe,   &cong__tfrc,     &cong__tibet,
    &cong__vegas,   &cong__westwood, &cong__westwoodnew,
    &cong__yam,
};

static const char *const names[] = {
    "auto",    "bbr",   "cubic",  "fast",  "fixed",    "mod-westwoodnew",
    "newreno", "peach", "prague", "reno",  "sack",     "stfrc",
    "tahoe",   "tfrc",  "tibet",  "vegas", "westwood", "westwoodnew",
    "yam",     NULL,
};

const struct cong_ops *cong__find_builtin(const char *name) {
    for (size_t i = 0; i < CONG__COUNT(table); i++) {
        if (strcmp(table[i]->name, name) == 0) {
            return table[i];
        }
    }
    return NULL;
}

const char *const *cong_list(void) {
    return names;
}

void cong_init(struct cong *cc, const struct cong_ops *ops, double mss,
               double cwnd_max, cong_time now, cong_time rtt) {
    memset(cc, 0, ops->size);
    cc->ops = ops;
    cc->mss = mss >= 1 && mss <= CONG_HUGE ? mss : 1;
    cc->cwnd_max = cwnd_max >= cc->mss ? cwnd_max : cc->mss;
    if (cc->cwnd_max >= CONG_HUGE) {
        cc->cwnd_max = (double)INFINITY;
    }
    ops->init(cc, now, rtt > 0 ? rtt : -1);
}

int cong_set(struct cong *cc, const char *param, double value) {
    if (cc->ops->set == NULL || param == NULL) {
        return -1;
    }
    return cc->ops->set(cc, param, value);
}

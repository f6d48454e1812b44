/* SPDX-License-Identifier: MPL-2.0 */
/* Parameters by name, for cong_set(). */
#include "libcongestion/internal.h"

#include <string.h>

enum { OK = 0, UNKNOWN = -1, OUT_OF_RANGE = -2 };

static double *params_field(void *state, size_t offset) {
    return (double *)(void *)((char *)state + offset);
}

int cong__set_param(struct cong *cc, const struct cong__param *params, size_t n,
                    const char *name, double value) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(params[i].name, name) != 0) {
            continue;
        }
        if (!(value >= params[i].min && value <= params[i].max)) {
            return OUT_OF_RANGE;
        }
        *params_field(cc, params[i].offset) = value;
        return OK;
    }
    return UNKNOWN;
}

int cong__set_window_param(struct window *w, const struct cong__param *params,
                           size_t n, const char *name, double value) {
    static const struct cong__param iw = CONG__PARAM(window, iw, "iw", 1, 1e6);
    static const struct cong__param hystart =
        CONG__FLAG(window, hystart.on, "hystart");
    if (w->hystart.on >= 0 && strcmp(name, hystart.name) == 0) {
        return cong__set_param(&w->cc, &hystart, 1, name, value);
    }
    double before = w->iw * w->cc.mss;
    int result = cong__set_param(&w->cc, &iw, 1, name, value);
    if (result == UNKNOWN) {
        return cong__set_param(&w->cc, params, n, name, value);
    }
    if (result == OK && w->cc.cwnd == before) {
        cong__set_cwnd(&w->cc, w->iw * w->cc.mss);
    }
    return result;
}

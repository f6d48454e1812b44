/* SPDX-License-Identifier: MPL-2.0 */
#include "drivers/uv/saratoga_impl.h"

/* The rate of the link is one for all that peers fetch at the same time: those
 * that send share it evenly. */

/* A transfer that was quiet for this long leaves its share to the others. */
#define QUIET SARATOGA_S

static bool shares(const saratoga__file *f) {
    return f->id == 0 && f->fd >= 0 && !f->exists && !f->ended &&
           f->handle != 0;
}

static bool is_busy(saratoga__file *f, uint64_t now) {
    saratoga_stats st;

    saratoga_stats_init(&st);
    if (saratoga_transfer_get_stats(f->u->node, f->handle, &st, now) != 0) {
        return false;
    }
    if (st.wire_bytes != f->wire_bytes || f->busy_at == 0) {
        f->wire_bytes = st.wire_bytes;
        f->busy_at = now;
    }
    return now - f->busy_at < QUIET;
}

void saratoga__share_rate(saratoga_uv *u) {
    uint64_t now = saratoga__now();
    unsigned busy = 0;

    if (u->options.rate_bps == 0) {
        return;
    }
    for (saratoga__file *f = u->files; f != NULL; f = f->next) {
        busy += shares(f) && is_busy(f, now) ? 1u : 0;
    }
    if (busy == u->sharing) {
        return;
    }
    u->sharing = busy;
    for (saratoga__file *f = u->files; f != NULL; f = f->next) {
        if (shares(f)) {
            (void)saratoga_transfer_set_rate(
                u->node, f->handle, u->options.rate_bps / (busy > 0 ? busy : 1),
                now);
        }
    }
}

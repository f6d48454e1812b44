/* SPDX-License-Identifier: MPL-2.0 */
/* Saves the map of a partial file now and then. */
#include "libsaratoga/node/checkpoint.h"

#include <stdlib.h>

#include "libsaratoga/node/transfer.h"

/* Interval between two saves of a map, which a crash may cost. The first saves
 * are close together, so that even a short pass leaves a map. */
#define SAVE_FIRST (250 * SARATOGA_MS)
#define SAVE_EVERY (2 * SARATOGA_S)

static size_t count_ranges(const saratoga__file *f, uint64_t *bytes) {
    saratoga_range r = {0, 0};
    size_t n = 0;

    *bytes = 0;
    while (n < SARATOGA__RANGES_MAX &&
           saratoga_transfer_held(f->u->engine, f->handle, r.end, &r) == 1) {
        *bytes += r.end - r.start;
        n++;
    }
    return n;
}

bool saratoga__checkpoint_draw(saratoga__file *f) {
    saratoga_partial p = f->recv.partial;
    saratoga_range *ranges;
    saratoga_range r = {0, 0};
    size_t n = count_ranges(f, &f->recv.saved);

    if (n == 0 || !f->recv.described || f->recv.endless) {
        return false;
    }
    ranges = malloc(n * sizeof(*ranges));
    if (ranges == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        (void)saratoga_transfer_held(f->u->engine, f->handle, r.end, &r);
        ranges[i] = r;
    }
    p.ranges = ranges;
    p.count = n;
    free(f->recv.map);
    f->recv.map = saratoga__map_encode(&p, &f->recv.map_len);
    free(ranges);
    return f->recv.map != NULL;
}

int saratoga__checkpoint_save(saratoga__file *f) {
    int rv = 0;

    uv_mutex_lock(&f->recv.map_lock);
    if (!f->recv.part.finished) {
        rv = saratoga__part_save(&f->recv.part, f->recv.map, f->recv.map_len);
    }
    uv_mutex_unlock(&f->recv.map_lock);
    return rv;
}

/* Data that failed to reach the disk is lost: no later sync would report it. */
static void saved(saratoga__file *f, int status) {
    if (status != 0 && f->phase <= SARATOGA__CANCELLED) {
        saratoga__file_stop(f, status, SARATOGA_CANNOT_RECEIVE);
    }
    saratoga__file_check(f);
}

void saratoga__checkpoint_tick(saratoga__file *f, uint64_t now) {
    struct saratoga__receive *r = &f->recv;
    saratoga_stats st;

    if (f->local.medium != SARATOGA__PART || saratoga__has_ended(f) ||
        r->verdict == SARATOGA__COMMITTED || f->work.job.busy ||
        f->handle == 0 || now < r->next_save) {
        return;
    }
    r->save_wait = r->save_wait == 0 ? SAVE_FIRST : 2 * r->save_wait;
    r->save_wait = r->save_wait < SAVE_EVERY ? r->save_wait : SAVE_EVERY;
    r->next_save = now + r->save_wait;
    saratoga_stats_init(&st);
    if (saratoga_transfer_get_stats(f->u->engine, f->handle, &st,
                                    saratoga__now()) == 0 &&
        st.written_bytes != r->saved && saratoga__checkpoint_draw(f)) {
        r->saved = st.written_bytes;
        saratoga__file_job(f, saratoga__checkpoint_save, saved);
    }
}

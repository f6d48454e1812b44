/* SPDX-License-Identifier: MPL-2.0 */
/* Lets a client that restarts take over its dead transfer. */
#include "libsaratoga/node/takeover.h"

#include <string.h>

#include "libsaratoga/node/transfer.h"

/* A sender silent for this long is dead if its host asks again. */
#define SILENCE (750 * SARATOGA_MS)
/* A transfer alive after this keeps the file. */
#define WAIT_MOST (3 * SARATOGA_S)

static saratoga__file *rival_of(const saratoga__file *f) {
    for (saratoga__file *g = f->u->files; g != NULL; g = g->next) {
        if (g != f && g->id == 0 && g->local.medium == SARATOGA__PART &&
            g->peer.host == f->peer.host &&
            strcmp(g->local.name, f->local.name) == 0) {
            return g;
        }
    }
    return NULL;
}

bool saratoga__takeover_wait(saratoga__file *f) {
    if (f->recv.wait_until == 0 && rival_of(f) != NULL) {
        f->recv.wait_until = saratoga__now() + WAIT_MOST;
        return true;
    }
    return false;
}

static void note_packets(saratoga__file *f, uint64_t now) {
    saratoga_stats st;

    saratoga_stats_init(&st);
    if (f->handle != 0 &&
        saratoga_transfer_get_stats(f->u->engine, f->handle, &st, now) == 0 &&
        (st.data_packets != f->recv.packets || f->recv.active_at == 0)) {
        f->recv.packets = st.data_packets;
        f->recv.active_at = now;
    }
}

bool saratoga__takeover_tick(saratoga__file *f, uint64_t now) {
    saratoga__file *rival;

    if (f->id != 0 || saratoga__has_ended(f)) {
        return false;
    }
    if (f->local.medium == SARATOGA__PART) {
        note_packets(f, now);
    }
    if (f->recv.wait_until == 0 || f->recv.wait_until == UINT64_MAX) {
        return false;
    }
    rival = rival_of(f);
    if (rival != NULL && !saratoga__has_ended(rival) &&
        now >= rival->recv.active_at + SILENCE) {
        rival->recv.superseded = true;
        saratoga__file_cancel(rival);
    }
    if (rival != NULL && now < f->recv.wait_until) {
        return false;
    }
    f->recv.wait_until = UINT64_MAX; /* once is enough */
    return true;
}

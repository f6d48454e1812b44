/* SPDX-License-Identifier: MPL-2.0 */
/*
 * All concurrent transfers share the rate of the link. Hosts share it evenly.
 * Of the transfers with one host, the oldest gets nearly all of its share,
 * because a pass may end at any moment: complete files are worth more than many
 * halves. The others get just enough to stay alive, plus what the oldest does
 * not use while it waits for an answer. One whose answer is overdue, since its
 * peer may be gone, is like the others.
 */
#include "libsaratoga/node/rate_share.h"

#include "internal/common/tally.h"
#include "libsaratoga/node/transfer.h"

/* Interval after which unused rate is redistributed. */
#define AGAIN (10 * SARATOGA_MS)
/* Weight of a host's oldest transfer; the others have 1. */
#define WEIGHT 32u
/* An answer that takes longer than two RTTs and this is overdue. */
#define OVERDUE (250 * SARATOGA_MS)

static bool shares(const saratoga__file *f) {
    return f->send.shares_rate &&
           (f->local.medium == SARATOGA__SOURCE || saratoga__is_stream(f)) &&
           !saratoga__has_ended(f) && f->handle != 0;
}

/* 0: it only waits for an answer. 1: it can use the link. WEIGHT: it may also
 * be a host's first. */
static unsigned share_claim(const saratoga__file *f, uint64_t now) {
    saratoga_stats st;

    saratoga_stats_init(&st);
    if (saratoga_transfer_get_stats(f->u->engine, f->handle, &st, now) != 0 ||
        st.todo_bytes == 0) {
        return 0;
    }
    return st.unanswered_ns > 2 * st.srtt_ns + OVERDUE ? 1 : WEIGHT;
}

/* Whether it is the first of its host, and is noted as such. Without memory,
 * each is. */
static bool is_first(cmn__tally *hosts, const saratoga__file *f) {
    bool first = cmn__tally_get(hosts, f->peer.host) == 0;

    if (first) {
        (void)cmn__tally_up(hosts, f->peer.host);
    }
    return first;
}

/* The sum of the weights. Later entries of the list are older. */
static unsigned weigh(saratoga_node *u, uint64_t now) {
    const cmn__mem mem = cmn__mem_default();
    saratoga__file *oldest = NULL;
    cmn__tally hosts;
    unsigned sum = 0;

    for (saratoga__file *f = u->files; f != NULL; f = f->next) {
        f->send.weight = shares(f) ? share_claim(f, now) : 0;
        oldest = f;
    }
    cmn__tally_init(&hosts, &mem);
    for (saratoga__file *f = oldest; f != NULL; f = f->prev) {
        if (f->send.weight == WEIGHT && !is_first(&hosts, f)) {
            f->send.weight = 1;
        }
        sum += f->send.weight;
    }
    cmn__tally_free(&hosts);
    return sum;
}

static void set(saratoga__file *f, unsigned sum, uint64_t now) {
    unsigned weight =
        f->send.weight > 0 ? f->send.weight : 1; /* in case it wakes up */
    uint64_t rate = f->u->options.rate_bps * weight / (sum > 0 ? sum : 1);

    if (rate != f->send.rate) {
        f->send.rate = rate;
        (void)saratoga_transfer_set_rate(f->u->engine, f->handle,
                                         rate > 0 ? rate : 1, now);
    }
}

void saratoga__share_rate(saratoga_node *u) {
    uint64_t now = saratoga__now();
    unsigned sum;

    if (u->options.rate_bps == 0) {
        return;
    }
    u->share_at = now + AGAIN + u->n_files * SARATOGA_MS;
    sum = weigh(u, now);
    for (saratoga__file *f = u->files; f != NULL; f = f->next) {
        if (shares(f)) {
            set(f, sum, now);
        }
    }
}

void saratoga__share_rate_when_due(saratoga_node *u) {
    if (saratoga__now() >= u->share_at) {
        saratoga__share_rate(u);
    }
}

int saratoga_node_set_rate(saratoga_node *u, uint64_t id, uint64_t rate_bps) {
    saratoga__file *f = id != 0 ? saratoga__file_find(u, id) : NULL;
    int rv = 0;

    if (rate_bps == 0) {
        return SARATOGA_ERR_INVAL;
    }
    if (id == 0 && u->options.rate_bps == 0) {
        return SARATOGA_ERR_STATE;
    }
    if (id != 0 && (f == NULL || f->handle == 0)) {
        return SARATOGA_ERR_GONE;
    }
    if (id == 0) {
        u->options.rate_bps = rate_bps;
        saratoga__share_rate(u);
    } else {
        rv = saratoga_transfer_set_rate(u->engine, f->handle, rate_bps,
                                        saratoga__now());
        f->send.shares_rate = f->send.shares_rate && rv != 0;
    }
    saratoga__wake(u);
    return rv;
}

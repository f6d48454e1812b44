/* SPDX-License-Identifier: MPL-2.0 */
/* Limits for peers whose address is not proven. */
#include "libsaratoga/node/strangers.h"

/* A challenge is answered within a round trip; a lost one is repeated with the
 * REQUEST. */
#define WAIT_MOST (1500 * SARATOGA_MS)
/* Per second, for all unproven peers together. */
#define HASHED 16e6
#define BEGUN 2.0
#define BEGUN_SAVED 4.0 /* at most */

static void stranger_refill(struct saratoga__stranger_budget *b, uint64_t now) {
    double passed = b->at == 0 ? 2 : (double)(now - b->at) * 1e-9;

    b->at = now;
    b->hashing += passed * HASHED;
    b->hashing = b->hashing < HASHED ? b->hashing : HASHED;
    b->begun += passed * BEGUN;
    b->begun = b->begun < BEGUN_SAVED ? b->begun : BEGUN_SAVED;
}

static bool stranger_spend(double *budget, double cost) {
    bool enough = *budget >= cost;

    *budget -= enough ? cost : 0;
    return enough;
}

/* A blind put may arrive over a link without a return path. */
static bool stranger_is_cheap(const saratoga__file *f) {
    bool gets = f->request == SARATOGA_GET || f->request == SARATOGA_TAKE;

    return f->request == SARATOGA_BLIND_PUT ||
           (gets && f->local.name[0] != '\0');
}

bool saratoga__stranger_waits(saratoga__file *f) {
    uint64_t now = saratoga__now();

    if (f->peer.proven || stranger_is_cheap(f)) {
        return false;
    }
    stranger_refill(&f->u->strangers, now);
    if (stranger_spend(&f->u->strangers.begun, 1)) {
        return false;
    }
    f->peer.waits_from = now;
    (void)saratoga_transfer_challenge(f->u->engine, f->handle, now);
    return true;
}

bool saratoga__stranger_tick(saratoga__file *f, uint64_t now) {
    struct saratoga__stranger_budget *b = &f->u->strangers;

    if (f->peer.waits_from == 0 || saratoga__has_ended(f) ||
        now < f->peer.waits_from + WAIT_MOST) {
        return false;
    }
    stranger_refill(b, now);
    return stranger_spend(&b->begun, 1);
}

bool saratoga__stranger_may_hash(saratoga_node *u, uint64_t size) {
    stranger_refill(&u->strangers, saratoga__now());
    return stranger_spend(&u->strangers.hashing, (double)size);
}

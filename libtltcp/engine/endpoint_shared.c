/* SPDX-License-Identifier: MPL-2.0 */
/* What the endpoints of a group share: admission and limits of callers. */
#include "libtltcp/engine/config.h"
#include "libtltcp/engine/endpoint.h"

static void shared_trace(void *user, const char *name, const char *key,
                         uint64_t count, const char *why, uint64_t now) {
    const tltcp_config *cfg = user;
    const char *const keys[] = {key, NULL};
    const double values[] = {(double)count};
    const tltcp_trace_event ev = {
        .name = name, .now = now, .keys = keys, .values = values, .text = why};

    cfg->on_trace(cfg->user, &ev);
}

static bool shared_set_limits(tltcp__shared *sh, tltcp_endpoint *first,
                              tltcp_time now) {
    const tltcp_config *cfg = &first->cfg;
    const sec__key_source keys = tltcp__config_keys(cfg);
    uint64_t room = cfg->listener.max_memory / TLTCP__BUDGET_OWN;
    const sec__limits limits = {
        .max = cfg->listener.max_connections < room
                   ? cfg->listener.max_connections
                   : room,
        .max_of_network = cfg->listener.max_per_address,
        .max_half_open = cfg->listener.max_half_open,
        .max_half_open_of = cfg->listener.max_half_open_per_address,
        .careful = cfg->listener.always_retry,
        .secured = sec__keys_any(&keys),
        .tell = cfg->on_trace != NULL ? shared_trace : NULL,
    };
    bool ok = sec__admission_init(&sh->admission, &sh->mem, &limits,
                                  &first->secret, now);

    tltcp__budget_init(&sh->budget, &sh->mem, &cfg->listener,
                       sec__secret_next(&first->secret) | 1u);
    return ok;
}

static void shared_free(tltcp__shared *sh) {
    cmn__mem mem = sh->mem;

    sec__admission_free(&sh->admission);
    tltcp__budget_free(&sh->budget);
    cmn__free(&mem, sh);
}

tltcp__shared *tltcp__shared_new(const tltcp_endpoint_group *g,
                                 tltcp_endpoint *first, tltcp_time now) {
    tltcp__shared *sh = cmn__alloc(&first->mem, sizeof(*sh));

    if (sh == NULL) {
        return NULL;
    }
    sh->mem = first->mem;
    sh->lock = g->lock;
    sh->unlock = g->unlock;
    sh->arg = g->arg;
    sh->users = 1;
    sh->now = now;
    if (!shared_set_limits(sh, first, now)) {
        shared_free(sh);
        return NULL;
    }
    return sh;
}

tltcp__shared *tltcp__shared_lock(tltcp_endpoint *ep) {
    tltcp__shared *sh = ep->shared;

    if (sh->lock != NULL) {
        sh->lock(sh->arg);
    }
    sh->admission.limits.user = &ep->cfg; /* the trace is this endpoint's */
    return sh;
}

void tltcp__shared_unlock(tltcp_endpoint *ep) {
    if (ep->shared->unlock != NULL) {
        ep->shared->unlock(ep->shared->arg);
    }
}

tltcp_time tltcp__shared_time(tltcp__shared *sh, tltcp_time now) {
    if (now > sh->now) {
        sh->now = now;
    }
    return sh->now;
}

void tltcp__shared_leave(tltcp_endpoint *ep) {
    tltcp__shared *sh = tltcp__shared_lock(ep);
    bool last = --sh->users == 0;

    tltcp__shared_unlock(ep);
    ep->shared = NULL;
    if (last) {
        shared_free(sh);
    }
}

/* The last place may have been taken by another thread since the caller was
 * judged. */
static bool shared_enter(tltcp__shared *sh, const sec__origin *o) {
    if (!sec__admission_has_room(&sh->admission, o) ||
        sec__admission_enter(&sh->admission, o) != 0) {
        return false;
    }
    if (tltcp__budget_enter(&sh->budget, o) != 0) {
        sec__admission_leave(&sh->admission, o, false);
        return false;
    }
    return true;
}

bool tltcp__shared_enter(tltcp_endpoint *ep, const sec__origin *o) {
    bool ok = shared_enter(tltcp__shared_lock(ep), o);

    tltcp__shared_unlock(ep);
    return ok;
}

/* --- Connections --------------------------------------------------------- */

void tltcp__endpoint_on_proven(tltcp_endpoint *ep, tltcp_conn *c) {
    tltcp__shared *sh = tltcp__shared_lock(ep);

    sec__admission_on_proven(&sh->admission, &c->caller.origin);
    tltcp__budget_on_proven(&sh->budget, &c->caller.origin);
    tltcp__shared_unlock(ep);
}

bool tltcp__endpoint_allows(tltcp_endpoint *ep, const tltcp_conn *c,
                            size_t more) {
    bool allows = c->caller.charged + more <= TLTCP__BUDGET_OWN;

    if (!allows) {
        tltcp__shared *sh = tltcp__shared_lock(ep);

        allows = tltcp__budget_allows(&sh->budget, &c->caller.origin,
                                      c->caller.charged, more);
        tltcp__shared_unlock(ep);
    }
    return allows;
}

void tltcp__endpoint_charge(tltcp_endpoint *ep, tltcp_conn *c, size_t held) {
    if (held > TLTCP__BUDGET_OWN || c->caller.charged > TLTCP__BUDGET_OWN) {
        tltcp__shared *sh = tltcp__shared_lock(ep);

        tltcp__budget_charge(&sh->budget, &c->caller.origin, c->caller.charged,
                             held);
        tltcp__shared_unlock(ep);
    }
    c->caller.charged = held;
}

void tltcp__shared_on_free(tltcp_endpoint *ep, tltcp_conn *c) {
    tltcp__shared *sh;

    tltcp__endpoint_charge(ep, c, 0);
    sh = tltcp__shared_lock(ep);
    sec__admission_leave(&sh->admission, &c->caller.origin, c->paths.proven);
    tltcp__budget_leave(&sh->budget, &c->caller.origin, c->paths.proven);
    tltcp__shared_unlock(ep);
}

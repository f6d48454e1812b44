/* SPDX-License-Identifier: MPL-2.0 */
/* Which connection id a packet carries: each path has one of its own in each
 * direction as long as there are any (RFC 9000 section 9.5). */
#include "libtltcp/engine/conn.h"

/* Fills up the ids that the peer may hold. */
static void issue_ids(tltcp_conn *c) {
    tltcp__ids *ids = c->ids;
    while (ids->issued - ids->oldest < TLTCP__IDS_ACTIVE) {
        uint64_t id = sec__secret_next(&c->secret);
        uint64_t offset = sec__secret_next(&c->secret);
        tltcp__id *x;

        if (c->ep != NULL) {
            id = tltcp__endpoint_own_id(c->ep, id);
        }
        x = id != 0 && offset != 0 ? tltcp__ids_new(ids, id, (uint32_t)offset)
                                   : NULL;
        if (x == NULL) { /* without memory: after the next RETIRE_ID */
            return;
        }
        x->conn = c;
        c->want |= TLTCP__WANT_IDS;
        if (c->ep != NULL) {
            tltcp__endpoint_add_id(c->ep, x);
        }
    }
}

void tltcp__conn_start_ids(tltcp_conn *c) {
    if (c->seal == NULL || !c->opt.ids) {
        return;
    }
    c->ids = cmn__alloc(&c->mem, sizeof(*c->ids));
    if (c->ids != NULL) { /* else the connection goes without */
        tltcp__ids_init(c->ids, &c->peer);
        issue_ids(c);
    }
}

void tltcp__conn_free_ids(tltcp_conn *c) {
    for (uint32_t i = 0; c->ids != NULL && i < TLTCP__IDS_ACTIVE; i++) {
        if (c->ep != NULL && c->ids->ours[i].id != 0) {
            tltcp__endpoint_remove_id(c->ep, &c->ids->ours[i]);
        }
    }
    cmn__free(&c->mem, c->ids);
    c->ids = NULL;
}

tltcp__id *tltcp__conn_own_id(tltcp_conn *c, uint64_t id) {
    if (id == c->own.id && (c->ids == NULL || c->ids->oldest == 0)) {
        return &c->own;
    }
    return c->ids != NULL ? tltcp__ids_find(c->ids, id) : NULL;
}

const tltcp__peer_id *tltcp__conn_peer_id(const tltcp_conn *c,
                                          uint32_t number) {
    const tltcp__peer_id *x =
        c->ids != NULL ? tltcp__ids_peer(c->ids, number) : NULL;
    return x != NULL ? x : &c->peer;
}

uint32_t tltcp__conn_id_for_new_path(tltcp_conn *c) {
    if (c->ids == NULL) {
        return 0;
    }
    (void)tltcp__ids_take(c->ids, 0);
    return c->ids->taken; /* without a spare one, the newest is used again */
}

void tltcp__conn_use_id(tltcp_conn *c, uint32_t number) {
    if (c->ids == NULL || number == c->peer.number) {
        return;
    }
    c->peer = *tltcp__conn_peer_id(c, number);
    c->ids->from = tltcp__sentmap_next(&c->sender.map);
    c->ids->confirmed = false;
}

/* Retires the ids that no path uses. */
static void settle(tltcp_conn *c) {
    const tltcp__candidate *k = &c->paths.candidate;
    uint32_t below = c->peer.number;
    if (!c->ids->confirmed) { /* overtaken packets still carry the last one */
        return;
    }
    if (k->path != 0 && k->number < below) {
        below = k->number;
    }
    if (tltcp__ids_retire(c->ids, below)) {
        c->want |= TLTCP__WANT_IDS;
    }
}

void tltcp__conn_ids_on_acked(tltcp_conn *c, uint64_t pn) {
    if (c->ids != NULL && !c->ids->confirmed && pn >= c->ids->from) {
        c->ids->confirmed = true;
        settle(c);
    }
}

/* Uses another id on the current path. */
static bool renew_id(tltcp_conn *c, uint32_t least) {
    const tltcp__peer_id *x = tltcp__ids_take(c->ids, least);
    if (x == NULL) {
        return false;
    }
    tltcp__conn_use_id(c, x->number);
    return true;
}

void tltcp__conn_follow_id(tltcp_conn *c, uint32_t number, uint64_t path) {
    if (c->ids != NULL && number > c->peer.number && path == c->paths.current &&
        tltcp__conn_flows(c)) {
        (void)renew_id(c, number);
    }
}

/* The id of that path cannot be used again. Only ids below the one in use can
 * be retired, so that one is renewed, too. The last spare id is kept. */
void tltcp__conn_ids_on_no_answer(tltcp_conn *c, uint32_t number) {
    if (c->ids == NULL) {
        return;
    }
    if (number > c->peer.number && tltcp__ids_spare(c->ids) > 1) {
        (void)renew_id(c, 0);
    }
    settle(c);
}

int tltcp__conn_on_new_id(tltcp_conn *c, const tltcp__chunk *k) {
    if (c->seal == NULL || !c->opt.ids) {
        return TLTCP_ERR_PROTOCOL;
    }
    return c->ids != NULL ? tltcp__ids_on_new(c->ids, k) : 0;
}

/* Makes an id of ours invalid. */
static void drop_id(tltcp_conn *c, uint32_t number) {
    tltcp__id *x =
        number == 0 ? &c->own : &c->ids->ours[number % TLTCP__IDS_ACTIVE];
    if (c->ep != NULL) {
        tltcp__endpoint_remove_id(c->ep, x);
    }
    if (number != 0) {
        *x = (tltcp__id){0};
    }
}

int tltcp__conn_on_retire_id(tltcp_conn *c, const tltcp__chunk *k) {
    uint32_t below;
    if (c->seal == NULL || !c->opt.ids || !tltcp__retire_id_parse(k, &below)) {
        return TLTCP_ERR_PROTOCOL;
    }
    if (c->ids == NULL) {
        return 0;
    }
    if (!tltcp__ids_may_retire(c->ids, below)) {
        return TLTCP_ERR_PROTOCOL;
    }
    while (c->ids->oldest < below) {
        drop_id(c, c->ids->oldest);
        c->ids->oldest++;
    }
    issue_ids(c);
    return 0;
}

bool tltcp_conn_migrate(tltcp_conn *c) {
    bool renewed = c->ids != NULL && tltcp__conn_flows(c) && renew_id(c, 0);
    if (c->state == TLTCP__CONN_OPEN) {
        c->want |= TLTCP__WANT_PING; /* the peer learns of the address */
    }
    return renewed;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Look-up of the connections of an endpoint, by id and by caller. */
#include "libtltcp/engine/endpoint.h"

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static tltcp__id **id_chain(const tltcp_endpoint *ep, uint64_t id) {
    return &ep->by_id[mix(id ^ ep->salt) & (ep->buckets - 1)];
}

static tltcp_conn **caller_chain(const tltcp_endpoint *ep, uint64_t path,
                                 uint64_t id) {
    return &ep->by_caller[mix(path + mix(id ^ ep->salt)) & (ep->buckets - 1)];
}

tltcp_conn *tltcp__endpoint_find_id(const tltcp_endpoint *ep, uint64_t id) {
    tltcp__id *x = *id_chain(ep, id);
    while (x != NULL && x->id != id) {
        x = x->next;
    }
    return x != NULL ? x->conn : NULL;
}

tltcp_conn *tltcp__endpoint_find_caller(const tltcp_endpoint *ep, uint64_t path,
                                        uint64_t id) {
    tltcp_conn *c = *caller_chain(ep, path, id);
    while (c != NULL && (c->caller.id != id || c->caller.path != path)) {
        c = c->caller.next_by_caller;
    }
    return c;
}

void tltcp__endpoint_add_id(tltcp_endpoint *ep, tltcp__id *id) {
    tltcp__id **at = id_chain(ep, id->id);
    id->next = *at;
    *at = id;
}

void tltcp__endpoint_remove_id(tltcp_endpoint *ep, const tltcp__id *id) {
    tltcp__id **at = id_chain(ep, id->id);
    while (*at != NULL && *at != id) {
        at = &(*at)->next;
    }
    if (*at == id) {
        *at = id->next;
    }
}

static void add_caller(tltcp_endpoint *ep, tltcp_conn *c) {
    tltcp_conn **at = caller_chain(ep, c->caller.path, c->caller.id);
    c->caller.next_by_caller = *at;
    *at = c;
}

/* Doubles the buckets; without memory, the chains just grow. */
static void widen(tltcp_endpoint *ep) {
    tltcp_endpoint wide = *ep;
    wide.buckets = 2 * ep->buckets;
    wide.by_id = cmn__alloc(&ep->mem, wide.buckets * sizeof(tltcp__id *));
    wide.by_caller = cmn__alloc(&ep->mem, wide.buckets * sizeof(tltcp_conn *));
    if (wide.by_id == NULL || wide.by_caller == NULL) {
        cmn__free(&ep->mem, wide.by_id);
        cmn__free(&ep->mem, wide.by_caller);
        return;
    }
    for (size_t i = 0; i < ep->buckets; i++) {
        tltcp__id *next_id;
        tltcp_conn *next;
        for (tltcp__id *x = ep->by_id[i]; x != NULL; x = next_id) {
            next_id = x->next;
            tltcp__endpoint_add_id(&wide, x);
        }
        for (tltcp_conn *c = ep->by_caller[i]; c != NULL; c = next) {
            next = c->caller.next_by_caller;
            add_caller(&wide, c);
        }
    }
    cmn__free(&ep->mem, ep->by_id);
    cmn__free(&ep->mem, ep->by_caller);
    *ep = wide;
}

void tltcp__endpoint_add(tltcp_endpoint *ep, tltcp_conn *c) {
    tltcp__endpoint_add_id(ep, &c->own);
    add_caller(ep, c);
    ep->count++;
    if (ep->count > ep->buckets) {
        widen(ep);
    }
}

void tltcp__endpoint_unlink_caller(tltcp_endpoint *ep, tltcp_conn *c) {
    tltcp_conn **at = caller_chain(ep, c->caller.path, c->caller.id);
    while (*at != NULL && *at != c) {
        at = &(*at)->caller.next_by_caller;
    }
    if (*at == c) {
        *at = c->caller.next_by_caller;
    }
}

uint64_t tltcp__endpoint_own_id(const tltcp_endpoint *ep, uint64_t id) {
    uint64_t last = id & 0xff;
    uint64_t own = last - last % ep->parts + ep->index;

    return id - last + (own <= 0xff ? own : own - ep->parts);
}

void tltcp__endpoint_on_free(tltcp_endpoint *ep, tltcp_conn *c) {
    tltcp__endpoint_unlink_caller(ep, c);
    tltcp__endpoint_remove_id(ep, &c->own);
    ep->count--;
    tltcp__shared_on_free(ep, c);
}

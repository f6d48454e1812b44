/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_ENDPOINT_H
#define LIBTLTCP_ENDPOINT_H

#include <tltcp/endpoint_group.h>

#include "internal/secure/admission.h"
#include "libtltcp/engine/budget.h"
#include "libtltcp/engine/conn.h"

/* Static keys of a listener; `on` false: none. */
typedef struct tltcp__identity {
    uint8_t secret[SEC__KEY_LEN];
    uint8_t public_key[SEC__KEY_LEN];
    uint8_t (*callers)[SEC__KEY_LEN]; /* accepted ones */
    size_t n;
    bool listed; /* false: the application decides */
    bool on;
} tltcp__identity;

/* What the endpoints of a group share. Members below the lock require it. The
 * lock is the innermost: nothing is called with it that takes another. */
typedef struct tltcp__shared {
    cmn__mem mem;
    void (*lock)(void *arg); /* NULL: all endpoints are used on one thread */
    void (*unlock)(void *arg);
    void *arg;
    unsigned users; /* endpoints that are not freed yet */
    tltcp_time now;
    sec__admission admission;
    tltcp__budget budget;
} tltcp__shared;

/* Connections by id, and by the path and id of the caller, so that a late or
 * repeated INITIAL makes no second connection. Both are chained hash tables. */
struct tltcp_endpoint {
    cmn__mem mem;
    tltcp_config cfg; /* without secrets */
    void *strings;    /* of cfg */
    sec__secret secret;
    tltcp__shared *shared;
    unsigned index; /* in the group, which shows in the connection ids ... */
    unsigned parts; /* ... of this many endpoints */
    sec__key *keys; /* secured: keys that callers may use */
    int n_keys;
    tltcp__identity identity;
    uint64_t salt; /* keeps attackers from choosing the chain */
    tltcp__id **by_id;
    tltcp_conn **by_caller;
    size_t buckets;   /* a power of two */
    size_t count;     /* connections */
    uint64_t dropped; /* datagrams without a connection */
    uint64_t first_pn;
    uint32_t first_seq;
};

/* endpoint_shared.c: what a group shares.  The first makes it, with `users` 1;
 * NULL: no memory.  The endpoint and its secret must be there. */
tltcp__shared *tltcp__shared_new(const tltcp_endpoint_group *g,
                                 tltcp_endpoint *first, tltcp_time now);
/* An endpoint is freed; with the last one, what they share. */
void tltcp__shared_leave(tltcp_endpoint *ep);
/* Locks what is shared, for an endpoint, and unlocks it. */
tltcp__shared *tltcp__shared_lock(tltcp_endpoint *ep);
void tltcp__shared_unlock(tltcp_endpoint *ep);
/* The time for what is shared, where another thread may have read the clock
 * later and come earlier: it never runs backwards. Requires the lock. */
tltcp_time tltcp__shared_time(tltcp__shared *sh, tltcp_time now);
/* A connection of that caller is made, if there is room; false: it cannot
 * be. */
bool tltcp__shared_enter(tltcp_endpoint *ep, const sec__origin *o);
/* It is freed. */
void tltcp__shared_on_free(tltcp_endpoint *ep, tltcp_conn *c);

/* endpoint_identity.c: takes the static keys of the config.  Returns 0 or
 * TLTCP_ERR_NOMEM. */
int tltcp__identity_take(tltcp_endpoint *ep);
/* Wipes them. */
void tltcp__identity_clear(tltcp_endpoint *ep);
sec__statics tltcp__identity_statics(const tltcp_endpoint *ep);
/* Whether a caller with that static public key may come; NULL: it has none. */
bool tltcp__identity_welcomes(const tltcp_endpoint *ep, const uint8_t *key);

/* endpoint_table.c */
tltcp_conn *tltcp__endpoint_find_id(const tltcp_endpoint *ep, uint64_t id);
/* The connection of that caller's INITIAL. */
tltcp_conn *tltcp__endpoint_find_caller(const tltcp_endpoint *ep, uint64_t path,
                                        uint64_t id);
void tltcp__endpoint_add(tltcp_endpoint *ep, tltcp_conn *c);
void tltcp__endpoint_unlink_caller(tltcp_endpoint *ep, tltcp_conn *c);

#endif /* LIBTLTCP_ENDPOINT_H */

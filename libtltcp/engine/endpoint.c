/* SPDX-License-Identifier: MPL-2.0 */
/* A listener: dispatches datagrams to connections, admits callers. */
#include "libtltcp/engine/endpoint.h"

#include "internal/common/sized.h"
#include "internal/common/strings.h"
#include "libtltcp/engine/config.h"

#define TABLE_FIRST 64u

/* A received datagram, and what to do with it. */
typedef struct arrival {
    const tltcp_pktinfo *info;
    const void *dgram;
    size_t len;
    tltcp_dispatch *out;
    tltcp_time now;
} arrival;

static int take_keys(tltcp_endpoint *ep) {
    sec__key_source keys = tltcp__config_keys(&ep->cfg);
    int rv = tltcp__identity_take(ep);

    if (rv != 0 || !sec__keys_any(&keys)) {
        return rv;
    }
    keys.statics = tltcp__identity_statics(ep);
    ep->keys = cmn__alloc(&ep->mem, SEC__KEYS_MAX * sizeof(*ep->keys));
    if (ep->keys == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    ep->n_keys = sec__keys_take(&keys, ep->shared->admission.salt, ep->keys,
                                SEC__KEYS_MAX);
    return ep->n_keys < 0 ? TLTCP_ERR_NOMEM : 0;
}

/* A passphrase is stretched once. */
static int copy_keys(tltcp_endpoint *ep, const tltcp_endpoint *first) {
    int rv = tltcp__identity_take(ep);

    if (rv != 0 || first->keys == NULL) {
        return rv;
    }
    ep->keys = cmn__alloc(&ep->mem, SEC__KEYS_MAX * sizeof(*ep->keys));
    if (ep->keys == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    ep->n_keys = first->n_keys;
    return sec__keys_copy(ep->keys, first->keys, first->n_keys)
               ? 0
               : TLTCP_ERR_NOMEM;
}

/* The first of a group makes the keys and what they share. */
static int take_part(tltcp_endpoint *ep, const tltcp_endpoint_group *g,
                     tltcp_endpoint *first, tltcp_time now) {
    if (ep == first) {
        ep->shared = tltcp__shared_new(g, ep, now);
        return ep->shared != NULL ? take_keys(ep) : TLTCP_ERR_NOMEM;
    }
    (void)tltcp__shared_lock(first);
    first->shared->users++;
    tltcp__shared_unlock(first);
    ep->shared = first->shared;
    return copy_keys(ep, first);
}

/* Keeps of the config what connections need: its strings may be freed, and its
 * secrets have been taken. */
static bool keep_strings(tltcp_endpoint *ep) {
    tltcp_config *c = &ep->cfg;

    ep->strings = cmn__strings_copy(
        &ep->mem, &(cmn__strings){.text = {&c->congestion, &c->recovery},
                                  .names = &c->controller.params,
                                  .values = &c->controller.values});
    c->passphrase = NULL;
    c->key = NULL;
    c->listener.more_passphrases = NULL;
    c->listener.more_keys = NULL;
    c->identity = (tltcp_identity_options){0};
    return ep->strings != NULL;
}

/* Makes endpoint `index` of the group. */
static int make_part(tltcp_endpoint **out, unsigned index,
                     const tltcp_endpoint_group *g, const tltcp_config *cfg,
                     const uint8_t *seed, tltcp_time now) {
    cmn__mem mem = cfg->allocator.realloc != NULL
                       ? (cmn__mem){cfg->allocator.realloc, cfg->allocator.user}
                       : cmn__mem_default();
    tltcp_endpoint *ep = cmn__alloc(&mem, sizeof(*ep));
    int rv = TLTCP_ERR_NOMEM;

    if (ep == NULL) {
        return rv;
    }
    ep->mem = mem;
    ep->cfg = *cfg;
    ep->cfg.user = g->users != NULL ? g->users[index] : cfg->user;
    ep->index = index;
    ep->parts = g->count;
    ep->buckets = TABLE_FIRST;
    sec__secret_init(&ep->secret, seed);
    ep->salt = sec__secret_next(&ep->secret);
    ep->by_id = cmn__alloc(&mem, TABLE_FIRST * sizeof(tltcp__id *));
    ep->by_caller = cmn__alloc(&mem, TABLE_FIRST * sizeof(tltcp_conn *));
    if (ep->salt != 0 && ep->by_id != NULL && ep->by_caller != NULL) {
        rv = take_part(ep, g, index == 0 ? ep : out[0], now);
    }
    if (rv == 0 && !keep_strings(ep)) {
        rv = TLTCP_ERR_NOMEM;
    }
    if (rv != 0) {
        tltcp_endpoint_free(ep);
        return rv;
    }
    out[index] = ep;
    return 0;
}

/* Endpoints other than the first have seeds from it. */
static int make_group(tltcp_endpoint **out, const tltcp_endpoint_group *g,
                      const tltcp_config *cfg, const uint8_t *seed,
                      tltcp_time now) {
    uint8_t other[TLTCP_SEED_LEN];
    int rv = make_part(out, 0, g, cfg, seed, now);
    unsigned made = rv == 0 ? 1 : 0;

    while (rv == 0 && made < g->count) {
        rv = sec__secret_derive(&out[0]->secret, other)
                 ? make_part(out, made, g, cfg, other, now)
                 : TLTCP_ERR_NOMEM;
        made += rv == 0 ? 1 : 0;
    }
    sec__wipe(other, sizeof(other));
    while (rv != 0 && made > 0) {
        tltcp_endpoint_free(out[--made]);
    }
    return rv;
}

int tltcp_endpoint_new_group(tltcp_endpoint **out,
                             const tltcp_endpoint_group *group,
                             const tltcp_config *config, const uint8_t *seed,
                             tltcp_time now) {
    tltcp_config cfg;
    int rv = tltcp_config_check(config, NULL);

    if (rv != 0) {
        return rv;
    }
    if (group->count < 1 || group->count > TLTCP_THREADS_MAX ||
        (group->lock == NULL) != (group->unlock == NULL)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp__config_take(&cfg, config);
    return make_group(out, group, &cfg, seed, now);
}

int tltcp_endpoint_new(tltcp_endpoint **out, const tltcp_config *config,
                       const uint8_t *seed, tltcp_time now) {
    const tltcp_endpoint_group alone = {.count = 1};

    return tltcp_endpoint_new_group(out, &alone, config, seed, now);
}

void tltcp_endpoint_free(tltcp_endpoint *ep) {
    cmn__mem mem;
    if (ep == NULL) {
        return;
    }
    mem = ep->mem;
    cmn__free(&mem, ep->by_id);
    cmn__free(&mem, ep->by_caller);
    cmn__free(&mem, ep->strings);
    if (ep->keys != NULL) {
        sec__keys_clear(ep->keys, SEC__KEYS_MAX);
        cmn__free(&mem, ep->keys);
    }
    tltcp__identity_clear(ep);
    if (ep->shared != NULL) {
        tltcp__shared_leave(ep);
    }
    sec__secret_clear(&ep->secret);
    cmn__free(&mem, ep);
}

size_t tltcp_endpoint_count(const tltcp_endpoint *ep) {
    return ep->count;
}

/* Reading locks, too, although the counters do not change. */
static tltcp__shared *lock_to_read(const tltcp_endpoint *ep) {
    return tltcp__shared_lock((tltcp_endpoint *)ep);
}

uint64_t tltcp_endpoint_rejected(const tltcp_endpoint *ep) {
    uint64_t n = lock_to_read(ep)->admission.rejected;

    tltcp__shared_unlock((tltcp_endpoint *)ep);
    return n;
}

int tltcp_endpoint_get_stats(const tltcp_endpoint *ep, tltcp_stats *st) {
    const sec__admission *a;
    tltcp_stats full;
    if (!cmn__sized_is_set(st)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_stats_init(&full);
    cmn__sized_take(&full, sizeof(full), st);
    full.packets_dropped += ep->dropped;
    a = &lock_to_read(ep)->admission;
    full.callers_rejected = a->rejected;
    full.callers_turned_away = a->turned_away;
    full.callers_retried = a->retried;
    tltcp__shared_unlock((tltcp_endpoint *)ep);
    cmn__sized_give(st, &full, sizeof(full));
    return 0;
}

void tltcp__endpoint_set_first(tltcp_endpoint *ep, uint64_t pn, uint32_t seq) {
    ep->first_pn = pn;
    ep->first_seq = seq;
}

static int reply_versions(tltcp_dispatch *out, uint64_t scid) {
    static const uint32_t versions[] = {TLTCP__VERSION, TLTCP__VERSION_GREASE};
    const sec__packet p = {.type = SEC__VERSIONS, .dcid = scid};
    cmn__writer w = cmn__writer_of(out->reply, sizeof(out->reply));
    sec__packet_put(&w, &p);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        cmn__put32(&w, versions[i]);
    }
    sec__packet_seal(&w, out->reply);
    out->reply_len = (size_t)(w.p - out->reply);
    return TLTCP_REPLY;
}

/* Makes the connection of a caller whose INITIAL is p. */
static tltcp_conn *make_called(tltcp_endpoint *ep, const arrival *a,
                               const sec__packet *p) {
    uint8_t seed[TLTCP_SEED_LEN];
    tltcp_conn *c;
    int rv = TLTCP_ERR_NOMEM;
    if (sec__secret_derive(&ep->secret, seed)) {
        rv = tltcp__conn_make(&c, &ep->cfg, seed, a->info->path, a->now);
    }
    sec__wipe(seed, sizeof(seed));
    if (rv != 0) {
        return NULL;
    }
    c->caller.origin = tltcp__origin_of(a->info);
    c->own.id = tltcp__endpoint_own_id(ep, c->own.id);
    if (c->own.id == 0 || !tltcp__shared_enter(ep, &c->caller.origin)) {
        tltcp_conn_free(c);
        return NULL;
    }
    tltcp__conn_set_first(c, ep->first_pn, ep->first_seq);
    c->ep = ep;
    c->state = TLTCP__CONN_CALLED;
    c->caller.id = p->scid;
    c->caller.path = a->info->path;
    tltcp__endpoint_add(ep, c);
    return c;
}

_Static_assert(SEC__WRONG_KEY == -TLTCP_ERR_AUTH &&
                   SEC__FULL == -TLTCP_ERR_LIMIT &&
                   SEC__REFUSED == -TLTCP_ERR_REFUSED,
               "codes on the wire are those of errors");

/* Sends a rejection of kind sec__refusal; 0: none. */
static int reply_reject(tltcp_dispatch *out, const sec__packet *p,
                        uint32_t why) {
    if (why == 0) {
        return TLTCP_DROPPED;
    }
    out->reply_len = sec__refuse(p, why, out->reply);
    return TLTCP_REPLY;
}

static int reply_wrong_key(tltcp_dispatch *out, const sec__packet *p) {
    out->rejected = true;
    return reply_reject(out, p, SEC__WRONG_KEY);
}

/* Rejects a caller with a wrong or missing key. */
static int endpoint_reject(tltcp_endpoint *ep, const arrival *a,
                           const sec__packet *p) {
    tltcp__shared *sh = tltcp__shared_lock(ep);

    sec__admission_on_rejected(&sh->admission, tltcp__shared_time(sh, a->now));
    tltcp__shared_unlock(ep);
    return reply_wrong_key(a->out, p);
}

static bool find_token_keys(tltcp_endpoint *ep, sec__admitted *who) {
    tltcp__shared *sh = tltcp__shared_lock(ep);
    bool found;

    who->now = tltcp__shared_time(sh, who->now);
    found = sec__admission_find_keys(&sh->admission, who);
    tltcp__shared_unlock(ep);
    return found;
}

/* Rejects a caller whose static key is not welcome. */
static int endpoint_on_stranger(tltcp_endpoint *ep, const arrival *a,
                                const sec__packet *p) {
    tltcp__shared *sh = tltcp__shared_lock(ep);

    sec__admission_on_stranger(&sh->admission, a->info->network,
                               tltcp__shared_time(sh, a->now));
    tltcp__shared_unlock(ep);
    return reply_wrong_key(a->out, p);
}

/* Opens a secured caller's INITIAL and replaces its body by the plain one.
 * *hello is NULL on failure and at a listener without keys. */
static enum sec__hello_result open_call(tltcp_endpoint *ep, const arrival *a,
                                        sec__packet *p, uint8_t *plain,
                                        sec__hello **hello) {
    enum sec__hello_result result = SEC__HELLO_NOMEM;
    sec__admitted who = {.p = p,
                         .path = a->info->path,
                         .now = a->now,
                         .ring = {.keys = ep->keys,
                                  .n = ep->n_keys,
                                  .source = &ep->secret,
                                  .statics = tltcp__identity_statics(ep)}};

    *hello = NULL;
    if (ep->keys == NULL) {
        return SEC__HELLO_FINE;
    }
    *hello = cmn__alloc(&ep->mem, sizeof(**hello));
    /* Another endpoint may have taken the call meanwhile. The rest is
     * expensive, so it is done without the lock. */
    if (*hello != NULL && find_token_keys(ep, &who)) {
        result = sec__admission_open(&ep->shared->admission, &who, *hello,
                                     plain, &p->body_len);
    }
    if (result == SEC__HELLO_FINE &&
        !tltcp__identity_welcomes(ep, sec__hello_identity(*hello))) {
        result = SEC__HELLO_FORGED;
    }
    if (result != SEC__HELLO_FINE) {
        sec__hello_free(*hello, &ep->mem);
        *hello = NULL;
        return result;
    }
    p->body = plain;
    return SEC__HELLO_FINE;
}

/* Makes the connection of a caller whose message is open. */
static tltcp_conn *make_welcome(tltcp_endpoint *ep, const arrival *a,
                                const sec__packet *p, sec__hello *hello) {
    tltcp_conn *c = make_called(ep, a, p);

    if (c == NULL) {
        sec__hello_free(hello, &ep->mem);
        return NULL;
    }
    c->handshake.hello = hello;
    if (hello != NULL &&
        tltcp__conn_set_identity(c, sec__hello_identity(hello)) != 0) {
        tltcp_conn_free(c);
        return NULL;
    }
    return c;
}

static bool spend_token(tltcp_endpoint *ep, const sec__packet *p,
                        tltcp_time now) {
    tltcp__shared *sh = tltcp__shared_lock(ep);
    bool ok =
        sec__admission_spend(&sh->admission, p, tltcp__shared_time(sh, now));

    tltcp__shared_unlock(ep);
    return ok;
}

/* Admits a caller within the limits. */
static int endpoint_admit(tltcp_endpoint *ep, const arrival *a,
                          const sec__packet *p) {
    uint8_t plain[SEC__HELLO_MAX];
    sec__packet open = *p;
    sec__hello *hello;
    tltcp_conn *c;
    enum sec__hello_result result = open_call(ep, a, &open, plain, &hello);

    if (result == SEC__HELLO_WRONG) {
        return endpoint_reject(ep, a, p);
    }
    if (result == SEC__HELLO_FORGED) {
        return endpoint_on_stranger(ep, a, p);
    }
    c = result == SEC__HELLO_FINE ? make_welcome(ep, a, p, hello) : NULL;
    if (c == NULL) { /* without memory: the caller will try again */
        return TLTCP_DROPPED;
    }
    tltcp__conn_take(c, a->info, &open, a->len, a->now);
    if (c->state != TLTCP__CONN_CALLED || /* its hello was invalid */
        (hello != NULL && !spend_token(ep, p, a->now))) {
        tltcp_conn_free(c);
        return TLTCP_DROPPED;
    }
    a->out->conn = c;
    return TLTCP_CALLER;
}

/* What to do about a new caller: JUDGED_ADMIT, or the verdict. Requires the
 * lock. */
#define JUDGED_ADMIT (-1)

static int judge_caller(tltcp_endpoint *ep, const arrival *a,
                        const sec__packet *p) {
    tltcp__shared *sh = ep->shared;
    const sec__origin origin = tltcp__origin_of(a->info);
    const tltcp_time now = tltcp__shared_time(sh, a->now);
    uint32_t why;
    switch (sec__admission_judge(&sh->admission, p, a->info->path, &origin, now,
                                 &why)) {
    case SEC__ASK:
        a->out->reply_len = sec__admission_ask(
            &sh->admission, &ep->secret, p, a->info->path, now, a->out->reply);
        return TLTCP_REPLY;
    case SEC__TURN_AWAY:
        return reply_reject(a->out, p, why);
    default:
        break;
    }
    if (ep->identity.on &&
        !sec__admission_hears(&sh->admission, a->info->network, now)) {
        return TLTCP_DROPPED;
    }
    return tltcp__budget_admits(&sh->budget, &origin)
               ? JUDGED_ADMIT
               : TLTCP_DROPPED; /* the caller will try again */
}

static int on_new_caller(tltcp_endpoint *ep, const arrival *a,
                         const sec__packet *p) {
    sec__hello_msg hello;
    int verdict;
    if (sec__hello_get(p, &hello) != (ep->keys != NULL)) {
        return endpoint_reject(ep, a, p);
    }
    (void)tltcp__shared_lock(ep);
    verdict = judge_caller(ep, a, p);
    tltcp__shared_unlock(ep);
    return verdict == JUDGED_ADMIT ? endpoint_admit(ep, a, p) : verdict;
}

static int endpoint_on_initial(tltcp_endpoint *ep, const arrival *a) {
    sec__packet p;
    /* the length first: it is the cheapest check */
    if (a->len < SEC__DATAGRAM_MIN ||
        !sec__packet_parse(a->dgram, a->len, &p) || p.scid == 0) {
        return TLTCP_DROPPED;
    }
    if (p.version != TLTCP__VERSION) {
        return reply_versions(a->out, p.scid);
    }
    a->out->conn = tltcp__endpoint_find_caller(ep, a->info->path, p.scid);
    if (a->out->conn == NULL) {
        return on_new_caller(ep, a, &p);
    }
    tltcp__conn_take(a->out->conn, a->info, &p, a->len, a->now);
    return TLTCP_TAKEN;
}

/* An unknown sender costs only a table look-up. */
static int endpoint_on_short(tltcp_endpoint *ep, const arrival *a,
                             uint64_t id) {
    tltcp_conn *c = tltcp__endpoint_find_id(ep, id);
    if (c == NULL ||
        tltcp_conn_recv(c, a->info, a->dgram, a->len, a->now) != 0) {
        return TLTCP_DROPPED;
    }
    a->out->conn = c;
    return TLTCP_TAKEN;
}

int tltcp_endpoint_recv(tltcp_endpoint *ep, const tltcp_pktinfo *info,
                        const void *dgram, size_t len, tltcp_dispatch *out,
                        tltcp_time now) {
    const arrival a = {
        .info = info, .dgram = dgram, .len = len, .out = out, .now = now};
    int verdict = TLTCP_DROPPED;
    uint8_t type;
    uint64_t id;
    out->conn = NULL;
    out->reply_len = 0;
    out->rejected = false;
    if (sec__packet_peek(dgram, len, &type, &id)) {
        if (type == SEC__SHORT) {
            verdict = endpoint_on_short(ep, &a, id);
        } else if (type == SEC__INITIAL) {
            verdict = endpoint_on_initial(ep, &a);
        }
    }
    ep->dropped += verdict == TLTCP_DROPPED;
    return verdict;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Sealed datagrams of a node. */
#include "libsaratoga/node/secure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal/secure/carrier.h"
#include "libsaratoga/node/address.h"
#include "libsaratoga/node/routes.h"
#include "libsaratoga/node/sockets.h"
#include "libsaratoga/node/transfer.h"

/* Smallest MTU that a handshake needs with IPv6 headers. */
#define MTU_MIN 1280u
#define MAX_DATAGRAM 65535u
/* Limit of the sessions that hosts begin within ten minutes. A /48, which may
 * have four times as many as a host, leaves others a quarter. */
#define SESSIONS_MAX 4096u
#define SESSIONS_OF_HOST 768u
#define HALF_OPEN_MAX 256u
#define HALF_OPEN_OF_HOST 64u

/* A key of a passphrase, which takes tens of milliseconds. */
typedef struct stretching {
    uv_work_t work;
    saratoga_node *node; /* NULL: it is gone */
    sec__key_job job;
} stretching;

struct saratoga__secure {
    sec__carrier *carrier;
    uint8_t *scratch;       /* NULL: the node has no key */
    stretching *stretching; /* under way, or NULL */
    uint64_t plain;         /* REQUESTs of callers without a key */
};

/* --- Setting up ---------------------------------------------------------- */

static sec__key_source keys_of(const saratoga_node_config *c) {
    return (sec__key_source){.passphrase = c->passphrase,
                             .key = c->key,
                             .key_len = c->key_len,
                             .more_passphrases = c->more_passphrases,
                             .more_keys = c->more_keys};
}

static void secure_trace(void *user, const char *name, const char *key,
                         uint64_t count, const char *reason, uint64_t now) {
    const saratoga_config *c = user;
    const char *const names[] = {key, NULL};
    const double values[] = {(double)count};
    const saratoga_trace_event ev = {.name = name,
                                     .now = now,
                                     .keys = names,
                                     .values = values,
                                     .text = reason};
    c->on_trace(c->user, &ev);
}

/* Why options conflict, or NULL. */
static const char *contradiction(const saratoga_node *u,
                                 const sec__key_source *keys) {
    if (!sec__keys_own(keys)) {
        return "more_passphrases and more_keys need a passphrase or key";
    }
    if (u->engine_config.mtu < MTU_MIN) {
        return "with a passphrase or key, the MTU must be at least 1280";
    }
    if (u->engine_config.lite || u->options.lite) {
        return "UDP-Lite cannot carry sealed datagrams: use it without a "
               "passphrase or key";
    }
    if (u->config.group != NULL) {
        return "datagrams to a group are not sealed: use a group without a "
               "passphrase or key";
    }
    if (u->config.join) {
        return "beacons to a group are not sealed: a node with a passphrase "
               "or key ignores them";
    }
    return saratoga__secure_objection(
        u,
        u->engine_config.beacon_interval > 0 ? &u->routes.beacon.remote : NULL,
        &u->options);
}

static bool make_carrier(sec__carrier **out, const sec__carrier_config *c) {
    const cmn__mem mem = cmn__mem_default();
    uint8_t seed[SEC__SEED_LEN];
    bool ok = uv_random(NULL, NULL, seed, sizeof(seed), 0, NULL) == 0 &&
              sec__carrier_new(out, &mem, c, seed, saratoga__now()) == 0;
    sec__wipe(seed, sizeof(seed));
    return ok;
}

static int secure_make(saratoga_node *u, const sec__key_source *keys,
                       bool secured) {
    const sec__carrier_config c = {
        .keys = *keys,
        .limits = {.max = SESSIONS_MAX,
                   .max_of_network = SESSIONS_OF_HOST,
                   .max_half_open = HALF_OPEN_MAX,
                   .max_half_open_of = HALF_OPEN_OF_HOST,
                   .tell =
                       u->engine_config.on_trace != NULL ? secure_trace : NULL,
                   .user = &u->engine_config},
        .version = SARATOGA__SECURE_VERSION,
        .max_datagram = secured ? MAX_DATAGRAM : SEC__DATAGRAM_MIN,
        .rekey_packets = u->config.rekey_packets};
    u->secure = calloc(1, sizeof(*u->secure));
    if (u->secure == NULL || !make_carrier(&u->secure->carrier, &c)) {
        return SARATOGA_ERR_NOMEM;
    }
    if (secured) {
        sec__carrier_defer_keys(u->secure->carrier);
        u->secure->scratch = malloc(NET__BURST_MAX);
        u->engine_config.carrier_overhead += SEC__CARRIER_OVERHEAD;
    }
    return secured && u->secure->scratch == NULL ? SARATOGA_ERR_NOMEM : 0;
}

int saratoga__secure_open(saratoga_node *u, char *why) {
    const sec__key_source keys = keys_of(&u->config);
    bool secured = sec__keys_any(&keys);
    const char *wrong = sec__keys_check(&keys);
    int rv = SARATOGA_ERR_INVAL;
    if (wrong == NULL && secured) {
        wrong = contradiction(u, &keys);
    }
    if (wrong == NULL) {
        rv = secure_make(u, &keys, secured);
        wrong = saratoga_strerror(rv);
    }
    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "%s", wrong);
        saratoga__secure_close(u); /* discard the incomplete carrier */
    }
    /* the application owns them */
    u->config.passphrase = NULL;
    u->config.key = NULL;
    u->config.more_passphrases = NULL;
    u->config.more_keys = NULL;
    return rv;
}

void saratoga__secure_close(saratoga_node *u) {
    if (u->secure != NULL) {
        if (u->secure->stretching != NULL) {
            u->secure->stretching->node = NULL;
        }
        sec__carrier_free(u->secure->carrier);
        free(u->secure->scratch);
        free(u->secure);
        u->secure = NULL;
    }
}

bool saratoga__is_secured(const saratoga_node *u) {
    return u->secure != NULL && u->secure->scratch != NULL;
}

const char *saratoga__secure_objection(const saratoga_node *u,
                                       const net__addr *to,
                                       const saratoga_options *o) {
    (void)u;
    if (o->multicast || (to != NULL && saratoga__is_multicast(to))) {
        return "a passphrase or key secures transfers with one host, not "
               "with a group";
    }
    if (o->no_status) {
        return "a passphrase or key needs a return path, which a one-way "
               "transfer does not have";
    }
    return NULL;
}

/* --- Keys of passphrases ------------------------------------------------- */

static void stretch_on_pool(uv_work_t *work) {
    stretching *x = work->data;
    sec__key_job_run(&x->job);
}

static void stretch_on_done(uv_work_t *work, int status) {
    stretching *x = work->data;
    (void)status;
    if (x->node != NULL) {
        x->node->secure->stretching = NULL;
        sec__carrier_take_key(x->node->secure->carrier, &x->job);
        saratoga__wake(x->node);
    } else {
        (void)sec__key_job_end(&x->job, NULL);
    }
    free(x);
}

void saratoga__secure_stretch(saratoga_node *u) {
    stretching *x;
    if (u->secure == NULL || !sec__carrier_wants_key(u->secure->carrier)) {
        return;
    }
    x = calloc(1, sizeof(*x));
    if (x == NULL) {
        return; /* the next turn tries again */
    }
    sec__carrier_key_job(u->secure->carrier, &x->job);
    x->node = u;
    x->work.data = x;
    u->secure->stretching = x;
    if (uv_queue_work(u->loop.uv, &x->work, stretch_on_pool, stretch_on_done) !=
        0) {
        stretch_on_pool(&x->work);
        stretch_on_done(&x->work, 0);
    }
}

/* --- Receiving ----------------------------------------------------------- */

/* Saratoga's first byte is 0x20 to 0x3f. */
static bool looks_sealed(const uint8_t *data, size_t len) {
    return len > 0 && (data[0] & 0xf0u) == (SEC__SHORT & 0xf0u);
}

/* A REQUEST of Saratoga's version 1. */
#define PLAIN_REQUEST 0x21u

static void reply(saratoga_node *u, const net__route *r,
                  const sec__delivery *out) {
    uint8_t *room = saratoga__socket_room(u);
    if (room != NULL) {
        memcpy(room, out->word, out->len);
        net__udp_put(u->net.udp, r, 0, out->len, out->len);
    }
}

bool saratoga__secure_take(saratoga_node *u, const net__route *r,
                           const uint8_t *data, size_t len, uint64_t now) {
    saratoga_pktinfo info;
    sec__delivery out;
    sec__place from;
    if (u->secure == NULL ||
        (!saratoga__is_secured(u) && !looks_sealed(data, len))) {
        return false;
    }
    u->secure->plain += len > 0 && data[0] == PLAIN_REQUEST ? 1 : 0;
    saratoga__place(u, r, &info);
    from = (sec__place){.host = info.host,
                        .path = info.path,
                        .origin = {{net__route_network(u->routes.key, r),
                                    net__route_block(u->routes.key, r, 56),
                                    net__route_block(u->routes.key, r, 48)}}};
    switch (
        sec__carrier_recv(u->secure->carrier, &from, data, len, &out, now)) {
    case SEC__CARGO:
        saratoga__remember(u, info.path, r);
        info.host = out.from.host;
        info.path = out.from.path;
        /* The peer has received our part of the handshake. */
        info.flags |= SARATOGA_PKT_PROVEN;
        saratoga_engine_recv(u->engine, &info, out.cargo, out.len, now);
        break;
    case SEC__TAKEN:
        saratoga__remember(u, info.path, r);
        break;
    case SEC__ANSWERED:
        reply(u, r, &out);
        break;
    default:
        break;
    }
    return true;
}

/* --- Sending ------------------------------------------------------------- */

uint8_t *saratoga__secure_scratch(saratoga_node *u, size_t *room) {
    *room = NET__BURST_MAX;
    return u->secure->scratch;
}

static void secure_put(saratoga_node *u, uint64_t path, size_t len,
                       size_t segment) {
    const net__route *r = saratoga__route_of_path(u, path);
    if (r != NULL && len > 0) {
        net__udp_put(u->net.udp, r, 0, len, segment);
    }
}

/* Sealed datagrams are longer, so one burst of the engine may need two. */
void saratoga__secure_put(saratoga_node *u, const saratoga_pktinfo *to,
                          size_t len, size_t segment, uint64_t now) {
    const sec__place place = {.host = to->host, .path = to->path};
    uint8_t *room = saratoga__socket_room(u);
    uint64_t path = 0;
    size_t n = 0;
    for (size_t at = 0; at < len && room != NULL; at += segment) {
        size_t piece = len - at < segment ? len - at : segment;
        if (n + piece + SEC__CARRIER_OVERHEAD > NET__BURST_MAX) {
            secure_put(u, path, n, segment + SEC__CARRIER_OVERHEAD);
            room = saratoga__socket_room(u);
            n = 0;
        }
        if (room != NULL) {
            n += sec__carrier_seal(u->secure->carrier, &place,
                                   u->secure->scratch + at, piece, room + n,
                                   &path, now);
        }
    }
    secure_put(u, path, n, segment + SEC__CARRIER_OVERHEAD);
}

bool saratoga__secure_send(saratoga_node *u, uint64_t now) {
    uint8_t *room;
    uint64_t path;
    size_t len;
    if (u->secure == NULL) {
        return true;
    }
    while ((room = saratoga__socket_room(u)) != NULL) {
        len = sec__carrier_send(u->secure->carrier, room, NET__BURST_MAX, &path,
                                now);
        if (len == 0) {
            return true;
        }
        secure_put(u, path, len, len);
    }
    return false;
}

uint64_t saratoga__secure_timeout(const saratoga_node *u) {
    return u->secure != NULL ? sec__carrier_timeout(u->secure->carrier)
                             : UINT64_MAX;
}

void saratoga__secure_on_timeout(saratoga_node *u, uint64_t now) {
    if (u->secure != NULL) {
        sec__carrier_on_timeout(u->secure->carrier, now);
    }
}

static int rejection_of(uint32_t why) {
    switch (why) {
    case SEC__WRONG_KEY:
        return SARATOGA_ERR_AUTH;
    case SEC__OTHER_VERSION:
        return SARATOGA_ERR_VERSION;
    default:
        return SARATOGA_ERR_LIMIT;
    }
}

void saratoga__secure_end_rejected(saratoga_node *u) {
    sec__refused r;
    while (u->secure != NULL &&
           sec__carrier_next_refusal(u->secure->carrier, &r)) {
        for (saratoga__file *f = u->files; f != NULL; f = f->next) {
            if (f->id != 0 && f->peer.path == r.peer.path && f->handle != 0 &&
                !saratoga__has_ended(f)) {
                f->peer.rejection = rejection_of(r.why);
                saratoga__file_cancel(f);
            }
        }
    }
}

void saratoga__secure_terminate(saratoga_node *u) {
    if (u->secure != NULL && u->net.udp != NULL) {
        sec__carrier_close(u->secure->carrier);
        (void)saratoga__secure_send(u, saratoga__now());
        (void)net__udp_flush(u->net.udp);
    }
}

uint64_t saratoga__secure_rejected(const saratoga_node *u) {
    return u->secure == NULL
               ? 0
               : u->secure->plain + sec__carrier_rejected(u->secure->carrier);
}

void saratoga__secure_get_stats(const saratoga_node *u,
                                saratoga_engine_stats *st) {
    sec__carrier_stats own;
    if (u->secure == NULL) {
        return;
    }
    sec__carrier_get_stats(u->secure->carrier, &own);
    st->sealed_sessions = own.sessions;
    st->sealed_forged = own.forged;
    st->sealed_repeated = own.repeated;
    st->sealed_foreign = own.foreign;
    st->callers_rejected += saratoga__secure_rejected(u);
}

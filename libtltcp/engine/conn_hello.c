/* SPDX-License-Identifier: MPL-2.0 */
/* The connection's part of the secured handshake. */
#include "libtltcp/engine/conn.h"

/* Both messages are known: starts sealing packets. */
static bool start_sealing(tltcp_conn *c) {
    c->seal =
        sec__hello_seal(c->handshake.hello, &c->mem, tltcp__conn_is_client(c),
                        c->opt.max_datagram, c->opt.rekey_packets);
    return c->seal != NULL;
}

bool tltcp__conn_make_hello(tltcp_conn *c) {
    uint8_t payload[SEC__HELLO_MAX];
    cmn__writer w = cmn__writer_of(payload, sizeof(payload));
    tltcp__params p = tltcp__conn_params(c);
    if (c->handshake.hello == NULL || c->handshake.hello->len > 0 ||
        tltcp__conn_is_client(c)) {
        return true;
    }
    if (c->state == TLTCP__CONN_DYING) {
        tltcp__close_put(&w, 0, c->close.code, tltcp__conn_reason(c));
    } else {
        tltcp__params_put(&w, &p);
    }
    if (!sec__hello_answer(c->handshake.hello, c->own.id, payload,
                           (size_t)(w.p - payload)) ||
        !start_sealing(c)) {
        tltcp__conn_terminate(c, TLTCP_ERR_NOMEM);
        return false;
    }
    return true;
}

/* Makes the client's message; keeps the previous one on failure. */
static bool make_call(tltcp_conn *c, const sec__terms *t, const sec__key *key) {
    uint8_t payload[SEC__HELLO_MAX];
    uint8_t e[TLTCP_SEED_LEN];
    cmn__writer w = cmn__writer_of(payload, sizeof(payload));
    tltcp__params p = tltcp__conn_params(c);
    sec__hello next = {.first_pn =
                           (uint32_t)tltcp__sentmap_next(&c->sender.map)};
    bool ok;
    tltcp__params_put(&w, &p);
    ok = sec__secret_ephemeral(&c->secret, e) &&
         sec__hello_call(&next, t, key, e, payload, (size_t)(w.p - payload));
    if (ok) {
        *c->handshake.hello = next;
    }
    sec__wipe(e, sizeof(e));
    sec__wipe(&next, sizeof(next));
    return ok;
}

bool tltcp__conn_follow(tltcp_conn *c, const sec__packet *p) {
    sec__offer o;
    const sec__key *key;
    sec__terms t;
    if (c->handshake.hello == NULL) {
        return true;
    }
    if (!sec__offer_get(p, &o) ||
        !sec__hello_is_answered(c->handshake.hello, &o)) {
        return false;
    }
    key = sec__caller_key(c->handshake.keys, o.salt);
    t = (sec__terms){.version = TLTCP__VERSION,
                     .caller_id = c->own.id,
                     .token = p->token,
                     .token_len = p->token_len,
                     .salt = o.salt,
                     .public_key = o.public_key,
                     .statics = sec__caller_statics(c->handshake.keys)};
    return key != NULL && make_call(c, &t, key);
}

bool tltcp__conn_open_answer(tltcp_conn *c, sec__packet *p, uint8_t *plain) {
    sec__hello_msg msg;
    if (c->handshake.hello == NULL) {
        return true;
    }
    if (!sec__hello_get(p, &msg) ||
        !sec__hello_take_answer(c->handshake.hello, &msg, p->scid, plain,
                                &p->body_len) ||
        !start_sealing(c)) {
        return false;
    }
    p->body = plain;
    return true;
}

bool tltcp__conn_hold(tltcp_conn *c, const sec__packet *p) {
    tltcp__held_offer *held = c->handshake.offer;
    sec__offer o;
    if (!c->handshake.defers_keys || c->handshake.keys == NULL ||
        !sec__offer_get(p, &o) ||
        sec__caller_knows(c->handshake.keys, o.salt)) {
        return false;
    }
    if (held != NULL && memcmp(held->salt, o.salt, sizeof(o.salt)) == 0) {
        return true;
    }
    held = cmn__alloc(&c->mem, sizeof(*held) + p->token_len + p->body_len);
    if (held == NULL) {
        return true; /* the next attempt may find memory */
    }
    memcpy(held->salt, o.salt, sizeof(o.salt));
    held->token_len = p->token_len;
    held->body_len = p->body_len;
    memcpy(held->bytes, p->token, p->token_len);
    memcpy(held->bytes + p->token_len, p->body, p->body_len);
    cmn__free(&c->mem, c->handshake.offer);
    c->handshake.offer = held;
    return true;
}

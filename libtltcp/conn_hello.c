/* SPDX-License-Identifier: MPL-2.0 */
/* The secured handshake, as a connection sees it. */
#include "libtltcp/conn.h"

/* Both messages are known: from now on packets are sealed. */
static bool start_sealing(tltcp_conn *c) {
    c->seal = tltcp__hello_seal(c->hello, &c->mem, c->ep == NULL,
                                c->max_datagram, c->rekey_packets);
    return c->seal != NULL;
}

bool tltcp__conn_make_hello(tltcp_conn *c) {
    uint8_t payload[TLTCP__HELLO_MAX];
    uint8_t e[TLTCP_SEED_LEN];
    cmn__writer w = cmn__writer_of(payload, sizeof(payload));
    tltcp__params p = tltcp__conn_params(c);
    bool ok;
    if (c->hello == NULL || c->hello->len > 0) {
        return true;
    }
    if (c->state == TLTCP__DYING) {
        tltcp__close_put(&w, 0, c->close_code, c->reason);
    } else {
        tltcp__params_put(&w, &p);
    }
    if (c->ep == NULL) {
        tltcp__secret_derive(&c->secret, e);
        ok = tltcp__hello_call(c->hello, c->id, e, payload,
                               (size_t)(w.p - payload));
    } else {
        ok = tltcp__hello_answer(c->hello, c->id, payload,
                                 (size_t)(w.p - payload)) &&
             start_sealing(c);
    }
    if (!ok) {
        tltcp__conn_bury(c, TLTCP_ERR_NOMEM);
    }
    return ok;
}

bool tltcp__conn_open_answer(tltcp_conn *c, tltcp__packet *p, uint8_t *plain) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    tltcp__chunk k;
    if (c->hello == NULL) {
        return true;
    }
    if (!tltcp__chunk_next(&r, &k) || k.type != TLTCP__NOISE ||
        !tltcp__hello_take_answer(c->hello, &k, p->scid, plain, &p->body_len) ||
        !start_sealing(c)) {
        return false;
    }
    p->body = plain;
    return true;
}

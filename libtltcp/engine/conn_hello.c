/* SPDX-License-Identifier: MPL-2.0 */
/* The secured handshake, as a connection sees it. */
#include "libtltcp/engine/conn.h"

/* Both messages are known: from now on packets are sealed. */
static bool start_sealing(tltcp_conn *c) {
    c->seal = sec__hello_seal(c->hello, &c->mem, c->ep == NULL, c->max_datagram,
                              c->rekey_packets);
    return c->seal != NULL;
}

bool tltcp__conn_make_hello(tltcp_conn *c) {
    uint8_t payload[SEC__HELLO_MAX];
    uint8_t e[TLTCP_SEED_LEN];
    cmn__writer w = cmn__writer_of(payload, sizeof(payload));
    tltcp__params p = tltcp__conn_params(c);
    bool ok;
    if (c->hello == NULL || c->hello->len > 0) {
        return true;
    }
    if (c->state == TLTCP__DYING) {
        tltcp__close_put(&w, 0, c->close_code, tltcp__conn_reason(c));
    } else {
        tltcp__params_put(&w, &p);
    }
    if (c->ep == NULL) {
        ok = sec__secret_ephemeral(&c->secret, e) &&
             sec__hello_call(c->hello, c->id, e, payload,
                             (size_t)(w.p - payload));
        sec__wipe(e, sizeof(e));
    } else {
        ok = sec__hello_answer(c->hello, c->id, payload,
                               (size_t)(w.p - payload)) &&
             start_sealing(c);
    }
    if (!ok) {
        tltcp__conn_terminate(c, TLTCP_ERR_NOMEM);
    }
    return ok;
}

void tltcp__hello_put(const sec__hello *h, cmn__writer *w) {
    tltcp__chunk_put(w, TLTCP__NOISE, h->suite, h->len);
    cmn__put_bytes(w, h->msg, h->len);
}

bool tltcp__conn_open_answer(tltcp_conn *c, sec__packet *p, uint8_t *plain) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    tltcp__chunk k;
    sec__hello_msg msg;
    if (c->hello == NULL) {
        return true;
    }
    if (!tltcp__chunk_next(&r, &k) || k.type != TLTCP__NOISE) {
        return false;
    }
    msg = (sec__hello_msg){.body = k.body, .len = k.len};
    if (!sec__hello_take_answer(c->hello, &msg, p->scid, plain, &p->body_len) ||
        !start_sealing(c)) {
        return false;
    }
    p->body = plain;
    return true;
}

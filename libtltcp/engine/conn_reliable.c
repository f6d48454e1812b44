/* SPDX-License-Identifier: MPL-2.0 */
/* Connections over a reliable transport, such as TCP. */
#include "libtltcp/engine/conn.h"

int tltcp_conn_set_reliable(tltcp_conn *c, uint64_t path, tltcp_time now) {
    int rv;
    if (c->state >= TLTCP__CONN_OPEN) {
        return TLTCP_ERR_STATE;
    }
    if (c->sender.dup != NULL) {
        return TLTCP_ERR_UNSUPPORTED;
    }
    rv = tltcp__cc_follow(&c->sender.cc, now);
    if (rv != 0) {
        return rv;
    }
    cmn__free(&c->mem, c->sender.loss_events); /* of the controller before */
    c->sender.loss_events = NULL;
    tltcp__conn_tick(c, now);
    c->paths.current = path;
    c->sender.reliable = true;
    c->sender.pto_count = 0;
    c->sender.ecn.on = false;
    c->sender.sec.fec.on = false;
    c->opt.ecn = false;
    c->opt.fec = false;
    c->blocked = false;
    if (c->state == TLTCP__CONN_CALLING) { /* it went to another transport */
        c->want |= TLTCP__WANT_HELLO;
    }
    return 0;
}

void tltcp_conn_set_blocked(tltcp_conn *c, bool blocked) {
    c->blocked = blocked;
    if (blocked) {
        tltcp__sender_on_blocked(&c->sender);
    }
}

void tltcp_conn_lost(tltcp_conn *c, int error, const char *reason,
                     tltcp_time now) {
    tltcp__conn_tick(c, now);
    if (c->state == TLTCP__CONN_CLOSED) {
        return;
    }
    error = error < 0 ? error : TLTCP_ERR_ABORTED;
    if (c->state != TLTCP__CONN_CLOSING) {
        tltcp__conn_fail(c, error, reason);
    }
    /* Everything was delivered before CLOSING, and the peer has left first. */
    tltcp__conn_terminate(c, c->state == TLTCP__CONN_CLOSING ? 0 : error);
}

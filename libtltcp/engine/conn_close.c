/* SPDX-License-Identifier: MPL-2.0 */
/* The peer's CLOSE. */
#include "libtltcp/engine/conn.h"

/* The codes of CLOSE are the negated error codes; see the protocol document. */
static int error_of(uint32_t code) {
    switch (code) {
    case 0:
        return 0;
    case -TLTCP_ERR_REFUSED:
        return TLTCP_ERR_REFUSED;
    case -TLTCP_ERR_AUTH:
        return TLTCP_ERR_AUTH;
    case -TLTCP_ERR_VERSION:
        return TLTCP_ERR_VERSION;
    default:
        return TLTCP_ERR_ABORTED;
    }
}

/* The application may print it: removes terminal control characters. */
static void keep_reason(tltcp_conn *c, const uint8_t *text, size_t len) {
    char *reason = tltcp__conn_new_reason(c, len);
    for (size_t i = 0; reason != NULL && i < len; i++) {
        bool control = text[i] < 0x20 || text[i] == 0x7f;
        reason[i] = (char)(control ? (uint8_t)'?' : text[i]);
    }
}

int tltcp__conn_on_close(tltcp_conn *c, const tltcp__chunk *k) {
    cmn__reader r = cmn__reader_of(k->body, k->len);
    uint32_t code = cmn__get32(&r);
    size_t len = cmn__reader_left(&r);
    if (r.bad || len > TLTCP_REASON_MAX) {
        return TLTCP_ERR_PROTOCOL;
    }
    if ((k->flags & TLTCP__CLOSE_ECHO) != 0) {
        if (c->state == TLTCP__CONN_CLOSING) {
            tltcp__conn_terminate(c, 0);
        }
        return 0;
    }
    if (!c->close.known) {
        c->close.code = code;
        keep_reason(c, r.p, len);
    }
    if (c->peer.id != 0) {
        tltcp__conn_echo_close(c, error_of(code));
    } else {
        tltcp__conn_terminate(c, error_of(code));
    }
    return 0;
}

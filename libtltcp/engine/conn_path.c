/* SPDX-License-Identifier: MPL-2.0 */
/* Migration of the peer's address: each path is validated by its own echo (RFC
 * 9000 sections 8.2 and 9.3). */
#include "libtltcp/engine/conn.h"

int tltcp__conn_on_challenge(tltcp_conn *c, const tltcp__chunk *k,
                             uint64_t path) {
    cmn__reader r = cmn__reader_of(k->body, k->len);
    c->paths.response = cmn__get64(&r);
    c->paths.response_path = path;
    c->want |= TLTCP__WANT_RESPONSE;
    return r.bad || r.p < r.end ? TLTCP_ERR_PROTOCOL : 0;
}

/* The peer answers there: the path becomes the one in use. An attacker may have
 * forwarded its packets from another address, so the old path is challenged too
 * (RFC 9000 section 9.3.3), except when the peer returns to an earlier path. */
static void move_to_candidate(tltcp_conn *c, tltcp_time now) {
    uint64_t left = c->paths.current;
    uint32_t left_number = c->peer.number;
    uint32_t number = c->paths.candidate.number;
    bool back = c->paths.candidate.path == c->paths.left;
    uint64_t nonce = back ? 0 : sec__secret_next(&c->secret);
    tltcp__conn_move(c, c->paths.candidate.path, now);
    tltcp__conn_use_id(c, number);
    c->paths.left = back ? 0 : left;
    if (nonce != 0) {
        c->paths.candidate = (tltcp__candidate){.path = left,
                                                .nonce = nonce,
                                                .received = c->mtu.base,
                                                .at = now,
                                                .number = left_number};
        c->want |= TLTCP__WANT_CHALLENGE;
    }
}

/* An old path becomes valid again only if the peer sends from there: a NAT may
 * still deliver packets although the peer has moved. */
static bool proves_candidate(const tltcp_conn *c, uint64_t nonce,
                             uint64_t path) {
    const tltcp__candidate *k = &c->paths.candidate;
    return k->path != 0 && nonce == k->nonce &&
           (k->path != c->paths.left || k->path == path);
}

int tltcp__conn_on_response(tltcp_conn *c, const tltcp__chunk *k, uint64_t path,
                            tltcp_time now) {
    cmn__reader r = cmn__reader_of(k->body, k->len);
    uint64_t nonce = cmn__get64(&r);
    if (r.bad || r.p < r.end) {
        return TLTCP_ERR_PROTOCOL;
    }
    if (proves_candidate(c, nonce, path)) {
        move_to_candidate(c, now);
    }
    return 0;
}

void tltcp__conn_on_other_path(tltcp_conn *c, uint64_t path, size_t len,
                               tltcp_time now) {
    tltcp__candidate *k = &c->paths.candidate;
    if (tltcp__conn_is_client(c) || !tltcp__conn_flows(c)) {
        return;
    }
    if (k->path != path) {
        uint64_t nonce = sec__secret_next(&c->secret);
        if (nonce == 0) {
            return;
        }
        *k = (tltcp__candidate){.path = path,
                                .nonce = nonce,
                                .at = now,
                                .number = tltcp__conn_id_for_new_path(c)};
        c->want |= TLTCP__WANT_CHALLENGE;
    }
    k->received += len;
    c->paths.may_have_moved = true;
}

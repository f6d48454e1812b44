/* SPDX-License-Identifier: MPL-2.0 */
/* Peers on the same machine, whose packets need no checksum. */
#include <tltcp/local.h>

#include "internal/common/siphash.h"
#include "libtltcp/engine/conn.h"

/* What an end can say only if it has the token. */
static uint64_t local_proof(const uint8_t *token, uint64_t client,
                            bool server) {
    uint8_t about[sizeof(client) + 1];
    cmn__writer w = cmn__writer_of(about, sizeof(about));
    cmn__put64(&w, client);
    cmn__put8(&w, server);
    return cmn__siphash(token, about, sizeof(about));
}

int tltcp_conn_set_local(tltcp_conn *c, const uint8_t *token) {
    bool client = tltcp__conn_is_client(c);
    uint64_t id = client ? c->own.id : c->peer.id;
    uint64_t of_client = local_proof(token, id, false);
    uint64_t of_server = local_proof(token, id, true);
    if (c->state != (client ? TLTCP__CONN_CALLING : TLTCP__CONN_CALLED)) {
        return TLTCP_ERR_STATE;
    }
    if (c->handshake.hello != NULL) { /* its packets have tags */
        return 0;
    }
    if (client) {
        c->handshake.proof = of_client;
        c->handshake.peer_proof = of_server;
    } else if (of_client != 0 && c->handshake.peer_proof == of_client) {
        c->handshake.proof = of_server;
        c->local = of_server != 0;
    }
    return 0;
}

void tltcp__conn_on_local(tltcp_conn *c, uint64_t proof) {
    if (!tltcp__conn_is_client(c)) {
        c->handshake.peer_proof = proof;
    } else if (proof != 0 && proof == c->handshake.peer_proof) {
        c->local = true;
    }
}

void tltcp__conn_put_check(const tltcp_conn *c, cmn__writer *w,
                           const uint8_t *packet) {
    if (c->local && packet[0] == SEC__SHORT) {
        cmn__put32(w, 0);
    } else {
        sec__packet_seal(w, packet);
    }
}

bool tltcp__conn_is_intact(const tltcp_conn *c, const uint8_t *dgram,
                           size_t len) {
    return (c->local && sec__packet_is_unchecked(dgram, len)) ||
           sec__packet_is_intact(dgram, len);
}

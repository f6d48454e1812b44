/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_IDS_H
#define LIBTLTCP_IDS_H

#include <tltcp/conn.h>

#include "libtltcp/engine/chunk.h"

/* Connection ids of a sealed connection: an end that changes its path uses
 * another id of its peer's, and thus other packet numbers on the wire, so that
 * an observer cannot link the paths (RFC 9000 sections 5.1 and 9.5).
 *
 * Each end numbers its ids from 0, the id of the handshake. The peer may hold
 * TLTCP__IDS_ACTIVE of them; it retires them from the lowest on, and gets new
 * ones. */

#define TLTCP__IDS_ACTIVE 4u

/* An id of ours, to which the peer sends. */
typedef struct tltcp__id {
    struct tltcp__id *next; /* in the endpoint's table */
    tltcp_conn *conn;
    uint64_t id;     /* 0: none */
    uint32_t offset; /* of packet numbers on the wire */
    uint32_t number;
} tltcp__id;

/* An id of the peer's. */
typedef struct tltcp__peer_id {
    uint64_t id; /* 0: none */
    uint32_t offset;
    uint32_t number;
} tltcp__peer_id;

typedef struct tltcp__ids {
    /* Number n is in place n % TLTCP__IDS_ACTIVE, except our number 0, which
     * the connection keeps. */
    tltcp__id ours[TLTCP__IDS_ACTIVE];
    tltcp__peer_id peers[TLTCP__IDS_ACTIVE];
    uint64_t from;    /* first packet with the current id of the peer's */
    uint32_t issued;  /* our numbers below this are issued ... */
    uint32_t oldest;  /* ... and below this retired */
    uint32_t taken;   /* highest number of the peer's that was used */
    uint32_t retired; /* the peer's numbers below this are not used again */
    uint32_t at_hand; /* our number on the packet that is being processed */
    bool confirmed;   /* packets with the current id were acknowledged */
} tltcp__ids;

void tltcp__ids_init(tltcp__ids *ids, const tltcp__peer_id *peer);

/* Room for another id of ours; NULL while the peer holds enough. */
tltcp__id *tltcp__ids_new(tltcp__ids *ids, uint64_t id, uint32_t offset);
/* Our id with these bits, except number 0; NULL: not active. */
tltcp__id *tltcp__ids_find(tltcp__ids *ids, uint64_t id);
/* Whether the peer may retire all of ours below that number. */
bool tltcp__ids_may_retire(const tltcp__ids *ids, uint32_t below);

/* Takes a NEW_ID chunk. 0 or TLTCP_ERR_PROTOCOL. */
int tltcp__ids_on_new(tltcp__ids *ids, const tltcp__chunk *k);
/* The peer's id of that number; NULL: unknown or retired. */
const tltcp__peer_id *tltcp__ids_peer(const tltcp__ids *ids, uint32_t number);
/* Takes the lowest id of the peer's that was never used, with at least that
 * number. NULL: there is none. */
const tltcp__peer_id *tltcp__ids_take(tltcp__ids *ids, uint32_t least);
/* How many ids tltcp__ids_take() still has. */
unsigned tltcp__ids_spare(const tltcp__ids *ids);
/* Forgets the peer's ids below that number. False: they were forgotten. */
bool tltcp__ids_retire(tltcp__ids *ids, uint32_t below);

/* Writes RETIRE_ID, if any was retired, and NEW_ID for all active ones; at most
 * TLTCP__IDS_LEN bytes. */
void tltcp__ids_put(const tltcp__ids *ids, cmn__writer *w);

#define TLTCP__IDS_LEN \
    (TLTCP__RETIRE_ID_LEN + TLTCP__IDS_ACTIVE * TLTCP__NEW_ID_LEN)

#endif /* LIBTLTCP_IDS_H */

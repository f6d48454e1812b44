/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SIMNET_LIE_H
#define TESTS_SIMNET_LIE_H

#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

/* Packets that the peer would never send: the liar is played by injecting them
 * with the right connection id. */

struct lie {
    uint8_t buf[1472];
    cmn__writer w;
};

/* The one of the running test. */
extern struct world w;
extern uint32_t lie_next_pn;

/* A connection on which both sides have sent some data; the client's stream
 * goes on slowly. */
void lie_open(uint64_t seed);
/* Ends it; nothing may be left in memory. */
void lie_close(void);

/* Begins a packet from the victim's peer. */
void lie_begin(struct lie *l, const struct end *victim);
/* Opens a connection and begins a packet. */
void lie_start(struct lie *l, const struct end *victim, uint64_t seed);
/* Adds a number of n bytes. */
void lie_put(struct lie *l, uint64_t v, size_t n);
void lie_ack(struct lie *l, uint32_t largest, uint32_t first,
             uint32_t cumulative);
void lie_data(struct lie *l, unsigned flags, uint32_t seq, uint32_t section,
              uint32_t len);
/* Data that opens a section and says so much of it. */
void lie_meta(struct lie *l, uint32_t section, const tltcp__meta *m);
/* UPDATE, FIN or WINDOW. */
void lie_place(struct lie *l, uint8_t type, uint32_t seq, uint32_t section);
void lie_repair(struct lie *l, uint32_t start, uint32_t len, uint8_t index);
/* Hands it over.  What tltcp_conn_recv() says of it. */
int lie_tell(struct lie *l, const struct end *victim);

/* Nothing of the client reaches the server any more. */
void lie_mute_client(void);

/* The data that the server has read of the client's stream. */
uint32_t stream_read(void);
uint32_t sections_read(void);

#endif /* TESTS_SIMNET_LIE_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_COSTS_FLOOD_H
#define TESTS_LOOPBACK_COSTS_FLOOD_H

#include "tests/loopback/costs/server.h"

/* Sends datagrams from any address of 127.0.0.0/8, as fast as the server takes
 * them, and counts what comes back. */

#define DATAGRAM 1500u

struct datagram {
    uint8_t data[DATAGRAM];
    size_t len;
};

struct flood {
    const struct server *server;
    int fd;
    uint32_t source; /* the newest of the addresses */
    uint64_t random;
    uint64_t packets;
    uint64_t bytes; /* with the headers of IP and UDP, as everywhere here */
    uint64_t packets_back;
    uint64_t bytes_back;
    double share;      /* of a core that it may cost the server; 0: no limit */
    uint64_t since;    /* CLOCK_MONOTONIC, in ns */
    uint64_t cpu_then; /* of the server */
    uint64_t packets_then;
    _Atomic uint64_t *count; /* of packets, for others to see; or NULL */
};

/* Packets a second, at most, where there is a share. */
#define FLOOD_RATE 50000u

void flood_open(struct flood *f, const struct server *s);
void flood_close(struct flood *f);
uint64_t flood_draw(struct flood *f);
/* From an address that has never sent anything. */
void flood_forge(struct flood *f, const struct datagram *d);
/* From a socket of the caller's, from the address that it is bound to. */
void flood_from(struct flood *f, int fd, const struct datagram *d);
/* Waits until the server has taken all; what it answers is counted. */
void flood_settle(struct flood *f);

#endif /* TESTS_LOOPBACK_COSTS_FLOOD_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_CROWD_H
#define TLTCP_SOCKET_CROWD_H

#include <tltcp/conn.h>

#include "internal/secure/origin.h"

struct tltcp__link;

/*
 * TCP connections whose peers have not called yet, in the order of their
 * arrival, and how many each network has. Calls require the mutex.
 */
struct tltcp__crowd {
    struct tltcp__link *oldest;
    struct tltcp__link *newest;
    unsigned count;
    sec__origins origins;
};

void tltcp__crowd_init(struct tltcp__crowd *c);
void tltcp__crowd_free(struct tltcp__crowd *c);
/* False: no memory. */
bool tltcp__crowd_add(struct tltcp__crowd *c, struct tltcp__link *l);
void tltcp__crowd_remove(struct tltcp__crowd *c, struct tltcp__link *l);

/* The one that must yield to a new one from there; NULL: there is room. An
 * address may have `each`, its IPv6 /56 twice as many, its /48 four times as
 * many, all `most`. Of those beyond, the oldest of the network with the most
 * yields: who calls at once gets in, and others lose nothing by a crowd. */
struct tltcp__link *tltcp__crowd_yields(const struct tltcp__crowd *c,
                                        const tltcp_pktinfo *from,
                                        unsigned each, unsigned most);
/* The next one to yield; NULL: there is none. */
struct tltcp__link *tltcp__crowd_first(const struct tltcp__crowd *c);

#endif /* TLTCP_SOCKET_CROWD_H */

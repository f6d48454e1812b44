/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_ROUTE_H
#define NET_ROUTE_H

#include "internal/net/udp.h"

/* Routes as 64-bit tokens, the only form of addresses that an engine sees. */

#define NET__KEY_LEN 16

/* Tokens are SipHash values: without the key, collisions cannot be constructed.
 * They are never 0. */

/* Token of an address, ignoring the port. */
uint64_t net__host_token(const uint8_t *key, const net__addr *a);
/* Token of an address and its port. */
uint64_t net__addr_token(const uint8_t *key, const net__addr *a);
/* Token of remote and local address and the remote port. */
uint64_t net__route_token(const uint8_t *key, const net__route *r);
/* Token of one customer: an IPv4 address or an IPv6 /64. */
uint64_t net__route_network(const uint8_t *key, const net__route *r);
/* Token of the first 56 or 48 bits of an IPv6 address; 0 for IPv4. */
uint64_t net__route_block(const uint8_t *key, const net__route *r,
                          unsigned bits);

/* The newest routes of one connection. */
#define NET__ROUTES 3u

typedef struct net__known_route {
    uint64_t token; /* 0: none */
    net__route route;
} net__known_route;

/* Most connections never have another one. */
typedef struct net__routes {
    net__known_route first;
    struct net__more_routes *more; /* NULL: none yet */
} net__routes;

void net__routes_free(net__routes *t);
/* Stores a route; the one whose token is `keep` stays. Without memory, no
 * other than the first one is. */
void net__routes_add(net__routes *t, uint64_t token, const net__route *r,
                     uint64_t keep);
const net__route *net__routes_find(const net__routes *t, uint64_t token);

#endif /* NET_ROUTE_H */

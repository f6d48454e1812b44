/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_ROUTE_H
#define NET_ROUTE_H

#include "internal/net/udp.h"

/* Routes as 64-bit tokens, which is all that an engine sees of an address. */

#define NET__KEY_LEN 16

/* Tokens are SipHash: without the key nobody can make two addresses share one.
 * They are never 0. */

/* Of an address, whatever the port. */
uint64_t net__host_token(const uint8_t *key, const net__addr *a);
/* Of an address and its port. */
uint64_t net__addr_token(const uint8_t *key, const net__addr *a);
/* Of remote and local address and the remote port. */
uint64_t net__route_token(const uint8_t *key, const net__route *r);
/* Stands for one customer: an IPv4 address or an IPv6 /64. */
uint64_t net__route_network(const uint8_t *key, const net__route *r);
/* The first 56 or 48 bits of an IPv6 address; 0 for IPv4. */
uint64_t net__route_block(const uint8_t *key, const net__route *r,
                          unsigned bits);

/* The newest routes of one connection. */
#define NET__ROUTES 3u

typedef struct net__routes {
    uint64_t token[NET__ROUTES];
    net__route route[NET__ROUTES];
    unsigned next; /* where the next new one goes */
} net__routes;

/* Remembers a route; the one whose token is `keep` stays. */
void net__routes_add(net__routes *t, uint64_t token, const net__route *r,
                     uint64_t keep);
const net__route *net__routes_find(const net__routes *t, uint64_t token);

#endif /* NET_ROUTE_H */

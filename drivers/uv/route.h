/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_ROUTE_H
#define DRIVERS_UV_ROUTE_H

#include "drivers/uv/udp.h"

/* Routes as 64-bit tokens, which is all that an engine sees of an address. */

#define DRV__KEY_LEN 16

/* SipHash-2-4 (Aumasson, Bernstein 2012): whoever does not know the key cannot
 * make two addresses share a token. */
uint64_t drv__siphash(const uint8_t *key, const void *data, size_t len);
/* Equal for equal routes, never 0. */
uint64_t drv__route_token(const uint8_t *key, const drv__route *r);
/* Stands for one customer: an IPv4 address or an IPv6 /64. */
uint64_t drv__route_network(const uint8_t *key, const drv__route *r);

/* The newest routes of one connection. */
#define DRV__ROUTES 3u

typedef struct drv__routes {
    uint64_t token[DRV__ROUTES];
    drv__route route[DRV__ROUTES];
    unsigned next; /* where the next new one goes */
} drv__routes;

/* Remembers a route; the one whose token is `keep` stays. */
void drv__routes_add(drv__routes *t, uint64_t token, const drv__route *r,
                     uint64_t keep);
const drv__route *drv__routes_find(const drv__routes *t, uint64_t token);

#endif /* DRIVERS_UV_ROUTE_H */

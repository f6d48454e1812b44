/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/net/route.h"

#include <stdlib.h>
#include <string.h>

static uint64_t load64(const uint8_t *p) {
    uint64_t v = 0;

    for (unsigned i = 0; i < 8; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static uint64_t rotl(uint64_t v, unsigned n) {
    return (v << n) | (v >> (64 - n));
}

static void rounds(uint64_t v[4], unsigned n) {
    while (n-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotl(v[1], 13) ^ v[0];
        v[3] = rotl(v[3], 16) ^ v[2];
        v[0] = rotl(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotl(v[1], 17) ^ v[2];
        v[3] = rotl(v[3], 21) ^ v[0];
        v[2] = rotl(v[2], 32);
    }
}

static void absorb(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

uint64_t net__siphash(const uint8_t *key, const void *data, size_t len) {
    uint64_t k0 = load64(key);
    uint64_t k1 = load64(key + 8);
    uint64_t v[4] = {
        k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
        k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    const uint8_t *p = data;
    uint8_t last[8] = {0};

    for (; p + 8 <= (const uint8_t *)data + len; p += 8) {
        absorb(v, load64(p));
    }
    memcpy(last, p, len & 7u);
    last[7] = (uint8_t)len;
    absorb(v, load64(last));
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t net__route_token(const uint8_t *key, const net__route *r) {
    struct {
        struct in6_addr remote;
        struct in6_addr local;
        uint32_t scope;
        uint32_t port;
    } flat = {.local = r->local};
    uint64_t token;

    net__addr_ip(&r->remote, &flat.remote);
    flat.port = net__addr_port(&r->remote);
    if (r->remote.sa.sa_family == AF_INET6) {
        flat.scope = r->remote.in6.sin6_scope_id;
    }
    token = net__siphash(key, &flat, sizeof(flat));
    return token != 0 ? token : 1;
}

uint64_t net__route_network(const uint8_t *key, const net__route *r) {
    struct in6_addr ip;
    uint64_t token;

    net__addr_ip(&r->remote, &ip);
    token = net__siphash(key, &ip, IN6_IS_ADDR_V4MAPPED(&ip) ? 16 : 8);
    return token != 0 ? token : 1;
}

const net__route *net__routes_find(const net__routes *t, uint64_t token) {
    for (unsigned i = 0; i < NET__ROUTES; i++) {
        if (t->token[i] == token) {
            return &t->route[i];
        }
    }
    return NULL;
}

void net__routes_add(net__routes *t, uint64_t token, const net__route *r,
                     uint64_t keep) {
    if (net__routes_find(t, token) != NULL) {
        return;
    }
    if (t->token[t->next] == keep) {
        t->next = (t->next + 1) % NET__ROUTES;
    }
    t->token[t->next] = token;
    t->route[t->next] = *r;
    t->next = (t->next + 1) % NET__ROUTES;
}

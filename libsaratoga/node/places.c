/* SPDX-License-Identifier: MPL-2.0 */
/* Counts the hosts being served, per network. */
#include "libsaratoga/node/places.h"

#include <netinet/in.h>
#include <string.h>

#include "internal/common/siphash.h"

/* Fraction of the places that a network must leave to others, at least one
 * place if there are two. */
static const struct {
    unsigned bits;
    unsigned left; /* one in this many */
} places_network[SARATOGA__NETWORKS] = {{64, 4}, {56, 8}, {48, 16}};

void saratoga__places_init(struct saratoga__places *p) {
    const cmn__mem mem = cmn__mem_default();

    cmn__tally_init(&p->transfers, &mem);
    cmn__tally_init(&p->hosts, &mem);
    p->count = 0;
}

void saratoga__places_free(struct saratoga__places *p) {
    cmn__tally_free(&p->transfers);
    cmn__tally_free(&p->hosts);
}

static uint64_t places_token(const uint8_t *key, const struct in6_addr *ip,
                             unsigned bits) {
    uint8_t prefix[17] = {(uint8_t)bits};
    uint64_t token;

    memcpy(prefix + 1, ip, bits / 8);
    token = cmn__siphash(key, prefix, sizeof(prefix));
    return token != 0 ? token : 1;
}

static saratoga__place_key places_key(const uint8_t *key,
                                      const net__addr *remote) {
    saratoga__place_key k = {0};
    struct in6_addr ip;

    net__addr_ip(remote, &ip);
    k.host = places_token(key, &ip, 128);
    for (unsigned i = 0; i < SARATOGA__NETWORKS && !IN6_IS_ADDR_V4MAPPED(&ip);
         i++) {
        k.network[i] = places_token(key, &ip, places_network[i].bits);
    }
    return k;
}

static bool places_has_room(const struct saratoga__places *p, unsigned max,
                            const saratoga__place_key *k) {
    bool room = max == 0 || p->count < max;

    for (unsigned i = 0; i < SARATOGA__NETWORKS && max > 1; i++) {
        unsigned left = max / places_network[i].left;

        room = room &&
               (k->network[i] == 0 || cmn__tally_get(&p->hosts, k->network[i]) <
                                          max - (left > 0 ? left : 1));
    }
    return room;
}

static void places_drop_host(struct saratoga__places *p,
                             const saratoga__place_key *k, unsigned networks) {
    for (unsigned i = 0; i < networks; i++) {
        if (k->network[i] != 0) {
            cmn__tally_down(&p->hosts, k->network[i]);
        }
    }
}

/* False: no memory. */
static bool places_add_host(struct saratoga__places *p,
                            const saratoga__place_key *k) {
    for (unsigned i = 0; i < SARATOGA__NETWORKS; i++) {
        if (k->network[i] != 0 &&
            cmn__tally_up(&p->hosts, k->network[i]) != 0) {
            places_drop_host(p, k, i);
            return false;
        }
    }
    p->count++;
    return true;
}

bool saratoga__places_enter(struct saratoga__places *p, unsigned max,
                            const uint8_t *key, const net__addr *remote,
                            saratoga__place_key *place) {
    saratoga__place_key k = places_key(key, remote);
    bool first = cmn__tally_get(&p->transfers, k.host) == 0;

    if (first && (!places_has_room(p, max, &k) || !places_add_host(p, &k))) {
        return false;
    }
    if (cmn__tally_up(&p->transfers, k.host) != 0) {
        if (first) {
            places_drop_host(p, &k, SARATOGA__NETWORKS);
            p->count--;
        }
        return false;
    }
    *place = k;
    return true;
}

void saratoga__places_leave(struct saratoga__places *p,
                            saratoga__place_key *place) {
    if (place->host == 0) {
        return;
    }
    cmn__tally_down(&p->transfers, place->host);
    if (cmn__tally_get(&p->transfers, place->host) == 0) {
        places_drop_host(p, place, SARATOGA__NETWORKS);
        p->count--;
    }
    place->host = 0;
}

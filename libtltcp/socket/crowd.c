/* SPDX-License-Identifier: MPL-2.0 */
/* TCP connections without a call, and which of them yields. */
#include "libtltcp/socket/crowd.h"

#include "libtltcp/socket/tcp_link.h"

static sec__origin crowd_origin(const tltcp_pktinfo *from) {
    return (sec__origin){{from->network, from->block56, from->block48}};
}

void tltcp__crowd_init(struct tltcp__crowd *c) {
    const cmn__mem mem = cmn__mem_default();

    *c = (struct tltcp__crowd){0};
    sec__origins_init(&c->origins, &mem);
}

void tltcp__crowd_free(struct tltcp__crowd *c) {
    sec__origins_free(&c->origins);
}

bool tltcp__crowd_add(struct tltcp__crowd *c, struct tltcp__link *l) {
    const sec__origin from = crowd_origin(&l->info);

    if (sec__origins_enter(&c->origins, &from) != 0) {
        return false;
    }
    l->older = c->newest;
    if (l->older != NULL) {
        l->older->newer = l;
    } else {
        c->oldest = l;
    }
    c->newest = l;
    c->count++;
    return true;
}

void tltcp__crowd_remove(struct tltcp__crowd *c, struct tltcp__link *l) {
    const sec__origin from = crowd_origin(&l->info);

    sec__origins_leave(&c->origins, &from, false);
    if (l->older != NULL) {
        l->older->newer = l->newer;
    } else {
        c->oldest = l->newer;
    }
    if (l->newer != NULL) {
        l->newer->older = l->older;
    } else {
        c->newest = l->older;
    }
    l->older = NULL;
    l->newer = NULL;
    c->count--;
}

/* How many there are around it: more in one address weigh more than in the
 * whole network. */
static uint64_t crowd_weight(const struct tltcp__crowd *c,
                             const sec__origin *o) {
    uint64_t weight = 0;

    for (int i = 0; i < SEC__BLOCKS; i++) {
        weight = 2 * weight + sec__origins_count(&c->origins, o, i);
    }
    return weight;
}

/* The oldest of the largest crowd in block i of an origin; NULL: of all. */
static struct tltcp__link *crowd_pick(const struct tltcp__crowd *c,
                                      const sec__origin *in, int i) {
    struct tltcp__link *pick = NULL;
    uint64_t most = 0;

    for (struct tltcp__link *l = c->oldest; l != NULL; l = l->newer) {
        const sec__origin o = crowd_origin(&l->info);
        bool counts = in == NULL || o.block[i] == in->block[i];
        uint64_t weight = counts ? crowd_weight(c, &o) : 0;

        if (weight > most) {
            most = weight;
            pick = l;
        }
    }
    return pick;
}

struct tltcp__link *tltcp__crowd_yields(const struct tltcp__crowd *c,
                                        const tltcp_pktinfo *from,
                                        unsigned each, unsigned most) {
    const sec__origin o = crowd_origin(from);

    for (int i = 0; i < SEC__BLOCKS; i++) {
        if (o.block[i] != 0 &&
            sec__origins_count(&c->origins, &o, i) >= (uint64_t)each << i) {
            return crowd_pick(c, &o, i);
        }
    }
    return c->count >= most ? tltcp__crowd_first(c) : NULL;
}

struct tltcp__link *tltcp__crowd_first(const struct tltcp__crowd *c) {
    return crowd_pick(c, NULL, 0);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* TCP connections without a call, and which of them yields. */
#include "libtltcp/socket/crowd.h"

#include "libtltcp/socket/tcp_link.h"

#define SCALES 3u

struct crowd_keys {
    uint64_t of[SCALES]; /* 0: none, as an IPv4 address has no /56 */
};

static struct crowd_keys crowd_keys(const tltcp_pktinfo *from) {
    return (struct crowd_keys){{from->network, from->block56, from->block48}};
}

void tltcp__crowd_init(struct tltcp__crowd *c) {
    const cmn__mem mem = cmn__mem_default();

    *c = (struct tltcp__crowd){0};
    cmn__tally_init(&c->of, &mem);
}

void tltcp__crowd_free(struct tltcp__crowd *c) {
    cmn__tally_free(&c->of);
}

static void crowd_uncount(struct tltcp__crowd *c, const struct crowd_keys *k,
                          unsigned scales) {
    for (unsigned i = 0; i < scales; i++) {
        if (k->of[i] != 0) {
            cmn__tally_down(&c->of, k->of[i]);
        }
    }
}

static bool crowd_count(struct tltcp__crowd *c, const struct crowd_keys *k) {
    for (unsigned i = 0; i < SCALES; i++) {
        if (k->of[i] != 0 && cmn__tally_up(&c->of, k->of[i]) != 0) {
            crowd_uncount(c, k, i);
            return false;
        }
    }
    return true;
}

bool tltcp__crowd_add(struct tltcp__crowd *c, struct tltcp__link *l) {
    const struct crowd_keys k = crowd_keys(&l->info);

    if (!crowd_count(c, &k)) {
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
    const struct crowd_keys k = crowd_keys(&l->info);

    crowd_uncount(c, &k, SCALES);
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
                             const struct crowd_keys *k) {
    uint64_t weight = 0;

    for (unsigned i = 0; i < SCALES; i++) {
        weight =
            2 * weight + (k->of[i] != 0 ? cmn__tally_get(&c->of, k->of[i]) : 0);
    }
    return weight;
}

/* The oldest of the largest crowd among those with that key; 0: all. */
static struct tltcp__link *crowd_pick(const struct tltcp__crowd *c,
                                      unsigned scale, uint64_t key) {
    struct tltcp__link *pick = NULL;
    uint64_t most = 0;

    for (struct tltcp__link *l = c->oldest; l != NULL; l = l->newer) {
        const struct crowd_keys k = crowd_keys(&l->info);
        uint64_t weight =
            key == 0 || k.of[scale] == key ? crowd_weight(c, &k) : 0;

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
    const struct crowd_keys k = crowd_keys(from);

    for (unsigned i = 0; i < SCALES; i++) {
        if (k.of[i] != 0 && cmn__tally_get(&c->of, k.of[i]) >= (uint64_t)each
                                                                   << i) {
            return crowd_pick(c, i, k.of[i]);
        }
    }
    return c->count >= most ? tltcp__crowd_first(c) : NULL;
}

struct tltcp__link *tltcp__crowd_first(const struct tltcp__crowd *c) {
    return crowd_pick(c, 0, 0);
}

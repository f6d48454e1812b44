/* SPDX-License-Identifier: MPL-2.0 */
/* Which connection ids are active. */
#include "libtltcp/engine/ids.h"

void tltcp__ids_init(tltcp__ids *ids, const tltcp__peer_id *peer) {
    *ids = (tltcp__ids){.issued = 1, .confirmed = true};
    ids->peers[0] = *peer;
}

static tltcp__id *ids_own(tltcp__ids *ids, uint32_t number) {
    return &ids->ours[number % TLTCP__IDS_ACTIVE];
}

tltcp__id *tltcp__ids_new(tltcp__ids *ids, uint64_t id, uint32_t offset) {
    tltcp__id *x = ids_own(ids, ids->issued);
    if (ids->issued - ids->oldest >= TLTCP__IDS_ACTIVE ||
        ids->issued == UINT32_MAX) {
        return NULL;
    }
    *x = (tltcp__id){.id = id, .offset = offset, .number = ids->issued};
    ids->issued++;
    return x;
}

tltcp__id *tltcp__ids_find(tltcp__ids *ids, uint64_t id) {
    for (uint32_t i = 0; i < TLTCP__IDS_ACTIVE; i++) {
        if (ids->ours[i].id == id && id != 0) {
            return &ids->ours[i];
        }
    }
    return NULL;
}

bool tltcp__ids_may_retire(const tltcp__ids *ids, uint32_t below) {
    return below <= ids->at_hand; /* this id is still in use */
}

int tltcp__ids_on_new(tltcp__ids *ids, const tltcp__chunk *k) {
    tltcp__peer_id x;
    tltcp__peer_id *known;
    if (!tltcp__new_id_parse(k, &x.number, &x.id, &x.offset) || x.id == 0) {
        return TLTCP_ERR_PROTOCOL;
    }
    if (x.number < ids->retired) { /* repeated late */
        return 0;
    }
    if (x.number - ids->retired >= TLTCP__IDS_ACTIVE) {
        return TLTCP_ERR_PROTOCOL;
    }
    known = &ids->peers[x.number % TLTCP__IDS_ACTIVE];
    if (known->id != 0 && (known->id != x.id || known->offset != x.offset)) {
        return TLTCP_ERR_PROTOCOL;
    }
    *known = x;
    return 0;
}

const tltcp__peer_id *tltcp__ids_peer(const tltcp__ids *ids, uint32_t number) {
    const tltcp__peer_id *x = &ids->peers[number % TLTCP__IDS_ACTIVE];
    return x->id != 0 && x->number == number ? x : NULL;
}

/* The lowest number that is active, was never used, and is not below. */
static uint32_t first_unused(const tltcp__ids *ids, uint32_t least) {
    uint32_t n = ids->taken + 1;
    return n > least ? n : least;
}

const tltcp__peer_id *tltcp__ids_take(tltcp__ids *ids, uint32_t least) {
    uint32_t n = first_unused(ids, least);
    for (; n - ids->retired < TLTCP__IDS_ACTIVE; n++) {
        const tltcp__peer_id *x = tltcp__ids_peer(ids, n);
        if (x != NULL) {
            ids->taken = n;
            return x;
        }
    }
    return NULL;
}

unsigned tltcp__ids_spare(const tltcp__ids *ids) {
    uint32_t n = first_unused(ids, 0);
    unsigned count = 0;
    for (; n - ids->retired < TLTCP__IDS_ACTIVE; n++) {
        count += tltcp__ids_peer(ids, n) != NULL;
    }
    return count;
}

bool tltcp__ids_retire(tltcp__ids *ids, uint32_t below) {
    if (below <= ids->retired) {
        return false;
    }
    for (uint32_t i = 0; i < TLTCP__IDS_ACTIVE; i++) {
        if (ids->peers[i].number < below) {
            ids->peers[i] = (tltcp__peer_id){0};
        }
    }
    ids->retired = below;
    return true;
}

void tltcp__ids_put(const tltcp__ids *ids, cmn__writer *w) {
    uint32_t n = ids->oldest > 0 ? ids->oldest : 1;
    if (ids->retired > 0) {
        tltcp__retire_id_put(w, ids->retired);
    }
    for (; n < ids->issued; n++) {
        const tltcp__id *x = &ids->ours[n % TLTCP__IDS_ACTIVE];
        tltcp__new_id_put(w, n, x->id, x->offset);
    }
}

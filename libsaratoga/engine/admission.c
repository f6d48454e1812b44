/* SPDX-License-Identifier: MPL-2.0 */
/* Limits for peers whose address is not proven. */
#include "libsaratoga/engine/admission.h"

#include <string.h>

#define PROVEN_FOR (60 * SARATOGA_S)
#define LISTING_COST 8 /* cost of a directory listing, in requests */

int saratoga__admission_init(saratoga__admission *a, saratoga__context *ctx,
                             saratoga_time now) {
    a->ctx = ctx;
    memcpy(&a->salt, ctx->token_key, sizeof(a->salt));
    a->max = ctx->cfg.max_transfers / 2 + 1;
    a->max = a->max < ctx->cfg.max_unproven ? a->max : ctx->cfg.max_unproven;
    a->tokens = ctx->cfg.unproven_rate;
    a->tokens_at = now;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are wanted */
    a->unproven = cmn__alloc(&ctx->mem, a->max * sizeof(*a->unproven));
    return a->unproven != NULL ? 0 : SARATOGA_ERR_NOMEM;
}

void saratoga__admission_free(saratoga__admission *a) {
    if (a->ctx != NULL) {
        cmn__free(&a->ctx->mem, a->unproven);
    }
}

bool saratoga__admission_pass(saratoga__admission *a, uint32_t type,
                              saratoga_time now) {
    double rate = a->ctx->cfg.unproven_rate;
    double cost =
        type == SARATOGA_GETDIR && rate >= LISTING_COST ? LISTING_COST : 1;
    a->tokens += (double)(now - a->tokens_at) * 1e-9 * rate;
    a->tokens = a->tokens < rate ? a->tokens : rate;
    a->tokens_at = now;
    if (a->tokens < cost) {
        return false;
    }
    a->tokens -= cost;
    return true;
}

/* ---- proven addresses ---- */

/* Set of neighbouring cells that may hold an address. */
static uint32_t place_set(const saratoga__admission *a, uint64_t path) {
    uint64_t x = (path ^ a->salt) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return (uint32_t)x % (SARATOGA__PLACES / SARATOGA__PLACE_WAYS) *
           SARATOGA__PLACE_WAYS;
}

bool saratoga__admission_knows(const saratoga__admission *a, uint64_t path,
                               saratoga_time now) {
    const saratoga__known *set = &a->place[place_set(a, path)];
    for (uint32_t i = 0; i < SARATOGA__PLACE_WAYS; i++) {
        if (set[i].path == path && set[i].until > now) {
            return true;
        }
    }
    return false;
}

void saratoga__admission_learn(saratoga__admission *a, uint64_t path,
                               saratoga_time now) {
    saratoga__known *set = &a->place[place_set(a, path)];
    saratoga__known *at = set;
    for (uint32_t i = 0; i < SARATOGA__PLACE_WAYS; i++) {
        if (set[i].path == path) {
            at = &set[i];
            break;
        }
        at = set[i].until < at->until ? &set[i] : at;
    }
    *at = (saratoga__known){path, saratoga__later(now, PROVEN_FOR)};
}

/* ---- sessions of unproven peers ---- */

saratoga__session *saratoga__admission_victim(saratoga__admission *a) {
    return a->count < a->max
               ? NULL
               : a->unproven[cmn__rng_below(&a->ctx->rng, a->count)];
}

void saratoga__admission_enter(saratoga__admission *a, saratoga__session *s) {
    s->proof.slot = a->count;
    a->unproven[a->count++] = s;
}

void saratoga__admission_leave(saratoga__admission *a, saratoga__session *s) {
    uint32_t slot = s->proof.slot;
    if (slot == SARATOGA__NO_SLOT) {
        return;
    }
    s->proof.slot = SARATOGA__NO_SLOT;
    a->unproven[slot] = a->unproven[--a->count];
    if (slot < a->count) {
        a->unproven[slot]->proof.slot = slot;
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Keeps DATA that arrive before a transfer is accepted. */
#include "libsaratoga/engine/pre_accept.h"

#include <string.h>

#include "internal/common/wire.h"

#define HEAD 2u
#define FIRST ((size_t)16 << 10)

static bool pre_accept_has_room(saratoga__pre_accept *e, saratoga__context *ctx,
                                size_t need) {
    size_t cap = e->cap == 0 ? FIRST : 2 * e->cap;
    uint8_t *wide;
    if (ctx->pre_accept_bytes + need > SARATOGA__PRE_ACCEPT_MAX) {
        return false;
    }
    if (e->len + need <= e->cap) {
        return true;
    }
    cap = cap < e->len + need ? e->len + need : cap;
    wide = cmn__resize(&ctx->mem, e->bytes, cap);
    if (wide == NULL) {
        return false;
    }
    e->bytes = wide;
    e->cap = cap;
    return true;
}

void saratoga__pre_accept_keep(saratoga__pre_accept *e, saratoga__context *ctx,
                               const uint8_t *packet, size_t len) {
    cmn__writer w;
    if (len > UINT16_MAX || !pre_accept_has_room(e, ctx, HEAD + len)) {
        ctx->stats.early_dropped++;
        return;
    }
    w = cmn__writer_of(e->bytes + e->len, HEAD + len);
    cmn__put16(&w, (uint16_t)len);
    cmn__put_bytes(&w, packet, len);
    e->len += HEAD + len;
    ctx->pre_accept_bytes += HEAD + len;
}

void saratoga__pre_accept_free(saratoga__pre_accept *e,
                               saratoga__context *ctx) {
    ctx->pre_accept_bytes -= e->len;
    cmn__free(&ctx->mem, e->bytes);
    *e = (saratoga__pre_accept){0};
}

const uint8_t *saratoga__pre_accept_at(const saratoga__pre_accept *e,
                                       size_t *at, size_t *len) {
    cmn__reader r = cmn__reader_of(e->bytes + *at, e->len - *at);
    *len = cmn__get16(&r);
    *at += HEAD + *len;
    return cmn__get_bytes(&r, *len);
}

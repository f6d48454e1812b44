/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/engine/early.h"

#include <string.h>

#include "internal/common/wire.h"

#define HEAD 2u
#define FIRST ((size_t)16 << 10)

static bool early_has_room(saratoga__early *e, saratoga__env *env,
                           size_t need) {
    size_t cap = e->cap == 0 ? FIRST : 2 * e->cap;
    uint8_t *wide;
    if (env->early_bytes + need > SARATOGA__EARLY_MAX) {
        return false;
    }
    if (e->len + need <= e->cap) {
        return true;
    }
    cap = cap < e->len + need ? e->len + need : cap;
    wide = cmn__resize(&env->mem, e->bytes, cap);
    if (wide == NULL) {
        return false;
    }
    e->bytes = wide;
    e->cap = cap;
    return true;
}

void saratoga__early_keep(saratoga__early *e, saratoga__env *env,
                          const uint8_t *packet, size_t len) {
    cmn__writer w;
    if (len > UINT16_MAX || !early_has_room(e, env, HEAD + len)) {
        env->stats.early_dropped++;
        return;
    }
    w = cmn__writer_of(e->bytes + e->len, HEAD + len);
    cmn__put16(&w, (uint16_t)len);
    cmn__put_bytes(&w, packet, len);
    e->len += HEAD + len;
    env->early_bytes += HEAD + len;
}

void saratoga__early_free(saratoga__early *e, saratoga__env *env) {
    env->early_bytes -= e->len;
    cmn__free(&env->mem, e->bytes);
    *e = (saratoga__early){0};
}

const uint8_t *saratoga__early_at(const saratoga__early *e, size_t *at,
                                  size_t *len) {
    cmn__reader r = cmn__reader_of(e->bytes + *at, e->len - *at);
    *len = cmn__get16(&r);
    *at += HEAD + *len;
    return cmn__get_bytes(&r, *len);
}

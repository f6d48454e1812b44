/* SPDX-License-Identifier: MPL-2.0 */
/* Bytes that continue the newest ones: copied, or kept where they are. */
#include "libtltcp/engine/reasm.h"

/* Whether the newest bytes are in the section, and no other ones are known to
 * be there or wait for earlier ones. */
static bool ends_within(const tltcp__reasm *r, const tltcp__incoming *in) {
    return in != NULL && in->got > 0 && in->high == r->cum && !in->end_known &&
           r->top == r->cum && r->have.count == 0 && !r->has_final;
}

static bool append_stored(tltcp__reasm *r, const uint8_t *data, size_t len,
                          uint64_t section) {
    uint64_t end = r->cum + len;
    if (tltcp__reasm_needs_memory(r, r->cum, end, section) ||
        cmn__pages_reserve(&r->buf, r->cum, end) != 0) {
        return false;
    }
    cmn__pages_put(&r->buf, r->cum, data, len);
    return true;
}

bool tltcp__reasm_append(tltcp__reasm *r, const void *data, size_t len,
                         uint64_t section) {
    tltcp__incoming *in =
        section >= r->recs.head ? tltcp__reasm_rec(r, section) : NULL;
    uint64_t end = r->cum + len;
    bool lent = r->lent != NULL && r->lent->open;
    if (!ends_within(r, in) || end > r->cursor + r->limit ||
        !(lent ? tltcp__lent_put(r->lent, r->cum, data, len)
               : append_stored(r, data, len, section))) {
        return false;
    }
    r->cum = end;
    r->top = end;
    in->high = end;
    in->got += len;
    r->stats->bytes_received += len;
    return true;
}

int tltcp__reasm_appended(tltcp__reasm *r, uint64_t from) {
    return cmn__ranges_add(&r->got, from, r->cum, NULL) == 0 ? 0
                                                             : TLTCP_ERR_NOMEM;
}

void tltcp__reasm_borrow(tltcp__reasm *r, size_t stride) {
    if (r->lent == NULL) {
        r->lent = tltcp__lent_new(r->buf.mem);
    }
    if (r->lent != NULL) {
        tltcp__lent_begin(r->lent, stride);
    }
}

/* Copies bytes that were lent. */
static int store_lent(void *user, uint64_t at, const uint8_t *data,
                      size_t len) {
    tltcp__reasm *r = user;
    if (cmn__pages_reserve(&r->buf, at, at + len) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    cmn__pages_put(&r->buf, at, data, len);
    return 0;
}

int tltcp__reasm_take_room(tltcp__reasm *r, void **room, size_t least) {
    void *other;
    if (r->lent == NULL || !r->lent->open) {
        return 0;
    }
    other = tltcp__lent_keep(r->lent, *room, least);
    if (other != NULL) {
        *room = other;
        return 0;
    }
    return tltcp__lent_undo(r->lent, store_lent, r);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Shared by the files that process packets. */
#include "libsaratoga/engine/engine_input.h"

saratoga__session *saratoga__input_session(const saratoga_engine *e,
                                           uint64_t host, uint32_t id,
                                           bool sends) {
    saratoga__key key = {host, id, sends};
    return saratoga__table_by_key(&e->table, &key);
}

void saratoga__input_heard_from(saratoga__session *s,
                                const saratoga_pktinfo *from) {
    if ((s->to.flags & SARATOGA_PKT_MULTICAST) == 0) {
        s->to.path = from->path;
    }
}

void saratoga__input_drop(saratoga_engine *e) {
    e->ctx.stats.packets_dropped++;
}

bool saratoga__input_is_full(saratoga_engine *e, uint64_t host) {
    return !saratoga__engine_has_room(e) ||
           saratoga__table_of_host(&e->table, host) >= e->ctx.cfg.max_per_host;
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/engine/engine_internal.h"

static saratoga__stray *push(saratoga_engine *n, const saratoga_pktinfo *to) {
    saratoga__stray *s;
    if (n->strays == SARATOGA__STRAYS) {
        return NULL;
    }
    s = &n->stray[(n->stray_first + n->strays) % SARATOGA__STRAYS];
    n->strays++;
    *s = (saratoga__stray){.to = *to};
    return s;
}

static bool take_token(saratoga_engine *n, saratoga_time now) {
    double rate = n->env.cfg.error_rate;
    double passed = (double)(now - n->refusals_at) * 1e-9;
    n->refusals += passed * rate;
    n->refusals = n->refusals > rate ? rate : n->refusals;
    n->refusals_at = now;
    if (n->refusals < 1) {
        return false;
    }
    n->refusals -= 1;
    return true;
}

void saratoga__stray_refuse(saratoga_engine *n, const saratoga_pktinfo *to,
                            uint32_t id, uint32_t code, saratoga_time now) {
    saratoga__stray *s;
    if ((to->flags & SARATOGA_PKT_MULTICAST) != 0) {
        return; /* many would answer */
    }
    s = take_token(n, now) ? push(n, to) : NULL;
    if (s == NULL) {
        n->env.stats.refusals_withheld++;
        return;
    }
    s->to.flags = 0;
    s->len = saratoga__write_plain_status(id, code, s->bytes, sizeof(s->bytes));
    n->env.stats.refusals++;
}

int saratoga__stray_beacon(saratoga_engine *n, const saratoga_pktinfo *to) {
    saratoga__beacon b = {.abilities = saratoga__env_abilities(&n->env),
                          .descriptor = n->env.defaults.max_descriptor,
                          .free_width = SARATOGA_DESCRIPTOR_FIT,
                          .free_kib = n->free_kib,
                          .eid = (const uint8_t *)n->env.eid,
                          .eid_len = strlen(n->env.eid)};
    saratoga__stray *s = push(n, to);
    cmn__writer w;
    if (s == NULL) {
        return SARATOGA_ERR_LIMIT;
    }
    b.abilities |= n->tell_free ? (uint32_t)SARATOGA_FREE_SPACE : 0;
    w = cmn__writer_of(s->bytes, sizeof(s->bytes));
    saratoga__beacon_write(&w, &b);
    s->len = (size_t)(w.p - s->bytes);
    n->env.stats.beacons_sent++;
    return 0;
}

size_t saratoga__stray_write(saratoga_engine *n, saratoga_pktinfo *to,
                             uint8_t *buf, size_t cap) {
    const saratoga__stray *s = &n->stray[n->stray_first];
    if (n->strays == 0 || s->len > cap) {
        return 0;
    }
    *to = s->to;
    memcpy(buf, s->bytes, s->len);
    n->stray_first = (n->stray_first + 1) % SARATOGA__STRAYS;
    n->strays--;
    return s->len;
}

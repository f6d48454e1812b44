/* SPDX-License-Identifier: MPL-2.0 */
/* Packets without a session: refusals, challenges, beacons. */
#include "libsaratoga/engine/engine_internal.h"
#include "libsaratoga/engine/timestamp.h"

static saratoga__stateless *push(saratoga_engine *e,
                                 const saratoga_pktinfo *to) {
    saratoga__stateless *s;
    if (e->stateless_count == SARATOGA__STATELESS_MAX) {
        return NULL;
    }
    s = &e->stateless[(e->stateless_first + e->stateless_count) %
                      SARATOGA__STATELESS_MAX];
    e->stateless_count++;
    *s = (saratoga__stateless){.to = *to};
    return s;
}

static bool take_token(saratoga_engine *e, saratoga_time now) {
    double rate = e->ctx.cfg.error_rate;
    double passed = (double)(now - e->refusals_at) * 1e-9;
    e->refusals += passed * rate;
    e->refusals = e->refusals > rate ? rate : e->refusals;
    e->refusals_at = now;
    if (e->refusals < 1) {
        return false;
    }
    e->refusals -= 1;
    return true;
}

void saratoga__stateless_refuse(saratoga_engine *e, const saratoga_pktinfo *to,
                                uint32_t id, uint32_t code, saratoga_time now) {
    saratoga__stateless *s;
    if ((to->flags & SARATOGA_PKT_MULTICAST) != 0) {
        return; /* many would answer */
    }
    s = take_token(e, now) ? push(e, to) : NULL;
    if (s == NULL) {
        e->ctx.stats.refusals_withheld++;
        return;
    }
    s->to.flags = 0;
    s->len = saratoga__write_plain_status(id, code, s->bytes, sizeof(s->bytes));
    e->ctx.stats.refusals++;
}

/* A sealed timestamp: a peer that echoes it has proven its address.
 */
void saratoga__stateless_challenge(saratoga_engine *e,
                                   const saratoga_pktinfo *to, uint32_t id,
                                   saratoga_time now) {
    uint8_t timestamp[SARATOGA__TIMESTAMP_LEN];
    saratoga__data d = {.asks = true, .id = id, .timestamp = timestamp};
    saratoga__stateless *s = NULL;
    cmn__writer w;
    if ((to->flags & SARATOGA_PKT_MULTICAST) == 0) {
        s = push(e, to);
    }
    if (s == NULL) {
        return;
    }
    s->to.flags = 0;
    saratoga__timestamp_write(
        SARATOGA_TS_LOCAL,
        saratoga__timestamp_clock(now, e->ctx.cfg.posix_offset), timestamp);
    saratoga__token_seal(e->ctx.token_key, to->host, id, timestamp);
    w = cmn__writer_of(s->bytes, sizeof(s->bytes));
    saratoga__data_write_head(&w, &d);
    s->len = (size_t)(w.p - s->bytes);
    e->ctx.stats.challenges_sent++;
}

/* Whether the timestamp is a genuine one that is no older than that, and when
 * it was made. */
static bool stateless_is_own(const saratoga_engine *e, uint64_t host,
                             const saratoga__challenge *c,
                             saratoga_time max_age, uint64_t *made,
                             saratoga_time now) {
    uint64_t clock = saratoga__timestamp_clock(now, e->ctx.cfg.posix_offset);
    uint32_t kind = c->timestamp[SARATOGA__TIMESTAMP_LEN - 1];
    uint64_t high;
    return kind < SARATOGA_TS_OFF &&
           saratoga__token_is_genuine(e->ctx.token_key, host, c->id,
                                      c->timestamp) &&
           saratoga__timestamp_read(kind, c->timestamp, made, &high) &&
           *made <= clock && (clock - *made) >> 32 <= max_age / SARATOGA_S;
}

bool saratoga__stateless_is_answer(const saratoga_engine *e, uint64_t host,
                                   const saratoga__challenge *c,
                                   saratoga_time now) {
    saratoga_time wait = e->ctx.defaults.inactivity;
    uint64_t made;
    return stateless_is_own(e, host, c, saratoga__later(wait, SARATOGA_S),
                            &made, now);
}

bool saratoga__stateless_is_challenge(const saratoga_engine *e, uint64_t host,
                                      const saratoga__challenge *c,
                                      uint64_t *made, saratoga_time now) {
    return c->timestamp[SARATOGA__TIMESTAMP_LEN - 1] == SARATOGA_TS_LOCAL &&
           stateless_is_own(e, host, c, e->ctx.auth.window, made, now);
}

void saratoga__stateless_echo(saratoga_engine *e, const saratoga_pktinfo *to,
                              const saratoga__data *d) {
    saratoga__status_pkt p = {.descriptor = d->descriptor,
                              .no_metadata = true,
                              .id = d->id,
                              .timestamp = d->timestamp};
    saratoga__stateless *s = push(e, to);
    cmn__writer w;
    if (s == NULL) {
        return;
    }
    s->to.flags = 0;
    w = cmn__writer_of(s->bytes, sizeof(s->bytes));
    saratoga__status_write_head(&w, &p);
    s->len = (size_t)(w.p - s->bytes);
}

int saratoga__stateless_beacon(saratoga_engine *e, const saratoga_pktinfo *to) {
    saratoga__beacon b = {.abilities = saratoga__context_abilities(&e->ctx),
                          .descriptor = e->ctx.defaults.max_descriptor,
                          .free_width = SARATOGA_DESCRIPTOR_FIT,
                          .free_kib = e->free_kib,
                          .eid = (const uint8_t *)e->ctx.eid,
                          .eid_len = strlen(e->ctx.eid)};
    saratoga__stateless *s = push(e, to);
    cmn__writer w;
    if (s == NULL) {
        return SARATOGA_ERR_LIMIT;
    }
    b.abilities |= e->report_free ? (uint32_t)SARATOGA_FREE_SPACE : 0;
    w = cmn__writer_of(s->bytes, sizeof(s->bytes));
    saratoga__beacon_write(&w, &b);
    s->len = (size_t)(w.p - s->bytes);
    e->ctx.stats.beacons_sent++;
    return 0;
}

size_t saratoga__stateless_send(saratoga_engine *e, saratoga_pktinfo *to,
                                uint8_t *buf, size_t cap) {
    const saratoga__stateless *s = &e->stateless[e->stateless_first];
    if (e->stateless_count == 0 || s->len > cap) {
        return 0;
    }
    *to = s->to;
    memcpy(buf, s->bytes, s->len);
    e->stateless_first = (e->stateless_first + 1) % SARATOGA__STATELESS_MAX;
    e->stateless_count--;
    return s->len;
}

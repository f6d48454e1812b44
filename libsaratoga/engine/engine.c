/* SPDX-License-Identifier: MPL-2.0 */
/* The engine: creates sessions, runs timers, sends. */
#include "libsaratoga/engine/engine_internal.h"

#include "internal/common/siphash.h"
#include "internal/common/sized.h"

#define IPV6_HEADERS 48
/* Lingering sessions inspected to find one to evict; nearly always the first
 * fits. */
#define LINGERING_LOOKS 64u

static void on_moved(void *owner, uint64_t id, uint32_t slot) {
    saratoga_engine *e = owner;
    e->table.session[id]->timer_slot = slot;
}

static int take_config(saratoga_engine *e, const saratoga_config *config) {
    saratoga_config *c = &e->ctx.cfg;
    saratoga__config_take(c, config);
    saratoga__options_take(&e->ctx.defaults, c->transfer);
    c->transfer = &e->ctx.defaults;
    if (c->eid != NULL) {
        strncpy(e->ctx.eid, c->eid, SARATOGA_EID_MAX);
        c->eid = e->ctx.eid;
    }
    return saratoga__options_own(&e->ctx.defaults, &e->ctx.mem,
                                 &e->ctx.defaults_block);
}

static uint64_t seed_number(const uint8_t *seed) {
    cmn__reader r = cmn__reader_of(seed, SARATOGA_SEED_LEN);
    uint64_t x = 0;
    while (cmn__reader_left(&r) > 0) {
        x = x * UINT64_C(0x9e3779b97f4a7c15) ^ cmn__get64(&r);
    }
    return x;
}

static void derive_token_key(saratoga__context *ctx) {
    cmn__writer w = cmn__writer_of(ctx->token_key, sizeof(ctx->token_key));
    for (uint8_t i = 0; i < 2; i++) {
        const uint8_t label[] = {'t', 'o', 'k', 'e', 'n', i};
        cmn__put64(&w, cmn__siphash(ctx->secret, label, sizeof(label)));
    }
}

static int init_parts(saratoga_engine *e, saratoga_time now) {
    saratoga__context *ctx = &e->ctx;
    saratoga__work_queue_init(&ctx->queue, &ctx->mem);
    saratoga__auth_init(&ctx->auth, &ctx->mem, &ctx->cfg,
                        now + (uint64_t)ctx->cfg.posix_offset);
    cmn__ring_init(&ctx->events, &ctx->mem, sizeof(saratoga_event), 0);
    saratoga__table_init(&e->table, &ctx->mem, ctx->cfg.max_transfers,
                         cmn__rng_next(&ctx->rng));
    saratoga__multimap_init(&e->group_index, &ctx->mem);
    cmn__heap_init(&e->timers, &ctx->mem, on_moved, e);
    e->refusals_at = now;
    e->refusals = ctx->cfg.error_rate;
    e->beacon_at = SARATOGA_TIME_NEVER;
    if (ctx->cfg.eid != NULL && ctx->cfg.beacon_interval > 0) {
        e->beacon_at = now;
    }
    return saratoga__admission_init(&e->admission, ctx, now);
}

int saratoga_engine_new(saratoga_engine **engine, const saratoga_config *config,
                        const uint8_t *seed, saratoga_time now) {
    cmn__mem mem = cmn__mem_default();
    saratoga_engine *e;
    int rv;
    if (engine == NULL || seed == NULL) {
        return SARATOGA_ERR_INVAL;
    }
    rv = saratoga_config_check(config, NULL);
    if (rv != 0) {
        return rv;
    }
    if (config != NULL && config->allocator.realloc != NULL) {
        mem = (cmn__mem){config->allocator.realloc, config->allocator.user};
    }
    e = cmn__alloc(&mem, sizeof(*e));
    if (e == NULL) {
        return SARATOGA_ERR_NOMEM;
    }
    e->ctx.mem = mem;
    rv = take_config(e, config);
    if (rv != 0) {
        cmn__free(&mem, e);
        return rv;
    }
    cmn__rng_seed(&e->ctx.rng, seed_number(seed));
    memcpy(e->ctx.secret, seed + SARATOGA_SEED_LEN - SARATOGA__ID_KEY_LEN,
           SARATOGA__ID_KEY_LEN);
    derive_token_key(&e->ctx);
    rv = init_parts(e, now);
    if (rv != 0) {
        saratoga_engine_free(e);
        return rv;
    }
    *engine = e;
    return 0;
}

void saratoga_engine_free(saratoga_engine *engine) {
    cmn__mem mem;
    if (engine == NULL) {
        return;
    }
    mem = engine->ctx.mem;
    for (uint32_t i = 0; i < engine->table.cap; i++) {
        if (engine->table.session[i] != NULL) {
            saratoga__session_free(engine->table.session[i]);
            cmn__free(&mem, engine->table.session[i]);
        }
    }
    saratoga__multimap_free(&engine->group_index);
    saratoga__admission_free(&engine->admission);
    saratoga__table_free(&engine->table);
    cmn__heap_free(&engine->timers);
    cmn__ring_free(&engine->ctx.events);
    saratoga__work_queue_free(&engine->ctx.queue);
    saratoga__auth_free(&engine->ctx.auth);
    saratoga__wipe(engine->ctx.token_key, sizeof(engine->ctx.token_key));
    saratoga__wipe(engine->ctx.secret, sizeof(engine->ctx.secret));
    cmn__free(&mem, engine->ctx.defaults_block);
    cmn__free(&mem, engine);
}

/* ---- sessions ---- */

bool saratoga__is_sender(uint32_t type, bool initiator) {
    bool gives = type == SARATOGA_PUT || type == SARATOGA_GIVE ||
                 type == SARATOGA_BLIND_PUT;
    return gives == initiator && type != SARATOGA_DELETE;
}

static saratoga__key engine_key_of(const saratoga__session *s) {
    return (saratoga__key){s->host, s->id, s->sends};
}

static uint32_t headers(const saratoga_engine *e,
                        const saratoga_pktinfo *peer) {
    uint32_t usual = e->ctx.cfg.overhead;
    bool six = (peer->flags & SARATOGA_PKT_IPV6) != 0;
    return e->ctx.cfg.carrier_overhead +
           (six && usual < IPV6_HEADERS ? IPV6_HEADERS : usual);
}

int saratoga__engine_add(saratoga_engine *e, const saratoga_options *opt,
                         const saratoga_pktinfo *peer, uint32_t id,
                         uint32_t type, bool sends, saratoga__session **out,
                         saratoga_time now) {
    saratoga__session *s = cmn__alloc(&e->ctx.mem, sizeof(*s));
    saratoga__key key;
    int rv;
    if (s == NULL) {
        return SARATOGA_ERR_NOMEM;
    }
    rv = saratoga__session_init(s, &e->ctx, opt, now);
    if (rv != 0) {
        cmn__free(&e->ctx.mem, s);
        return rv;
    }
    s->to = *peer;
    s->host = peer->host;
    s->to.coverage = 0;
    s->overhead = headers(e, peer);
    s->to.flags &= SARATOGA_PKT_MULTICAST;
    s->id = id;
    s->type = type;
    s->sends = sends;
    key = engine_key_of(s);
    rv = saratoga__table_add(&e->table, s, &key, &s->index, &s->handle);
    if (rv == 0 &&
        cmn__heap_add(&e->timers, SARATOGA_TIME_NEVER, s->index) != 0) {
        saratoga__table_remove(&e->table, s->index, &key);
        rv = SARATOGA_ERR_NOMEM;
    }
    if (rv != 0) {
        saratoga__session_free(s);
        cmn__free(&e->ctx.mem, s);
        return rv;
    }
    e->ctx.stats.transfers_begun++;
    *out = s;
    return 0;
}

static void leave_ready(saratoga_engine *e, saratoga__session *s) {
    if (!s->is_ready) {
        return;
    }
    s->is_ready = false;
    if (s->ready_next == s) {
        e->ready = NULL;
        return;
    }
    s->ready_prev->ready_next = s->ready_next;
    s->ready_next->ready_prev = s->ready_prev;
    if (e->ready == s) {
        e->ready = s->ready_next;
    }
}

static void join_ready(saratoga_engine *e, saratoga__session *s) {
    if (s->is_ready) {
        return;
    }
    s->is_ready = true;
    if (e->ready == NULL) {
        s->ready_next = s;
        s->ready_prev = s;
        e->ready = s;
        return;
    }
    s->ready_next = e->ready;
    s->ready_prev = e->ready->ready_prev;
    s->ready_prev->ready_next = s;
    s->ready_next->ready_prev = s;
}

static void leave_status_queue(saratoga_engine *e, saratoga__session *s) {
    saratoga__session **at = &e->status_first;
    saratoga__session *before = NULL;
    if (!s->in_status_queue) {
        return;
    }
    while (*at != s) {
        before = *at;
        at = &(*at)->status_next;
    }
    *at = s->status_next;
    if (e->status_last == s) {
        e->status_last = before;
    }
    s->in_status_queue = false;
}

static void join_status_queue(saratoga_engine *e, saratoga__session *s) {
    if (s->in_status_queue) {
        return;
    }
    s->in_status_queue = true;
    s->status_next = NULL;
    if (e->status_first == NULL) {
        e->status_first = s;
    } else {
        e->status_last->status_next = s;
    }
    e->status_last = s;
}

/* A finished session lingers only to answer late DATA, until its time is over
 * or a new session needs the room. */
static void join_lingering(saratoga_engine *e, saratoga__session *s) {
    if (s->state != SARATOGA__LINGER || s->lingers) {
        return;
    }
    s->lingers = true;
    saratoga__admission_leave(&e->admission, s);
    s->linger_next = NULL;
    s->linger_prev = e->linger_last;
    *(e->linger_last != NULL ? &e->linger_last->linger_next
                             : &e->linger_first) = s;
    e->linger_last = s;
    saratoga__table_discount(&e->table, s->host);
}

static void leave_lingering(saratoga_engine *e, saratoga__session *s) {
    if (!s->lingers) {
        return;
    }
    *(s->linger_prev != NULL ? &s->linger_prev->linger_next
                             : &e->linger_first) = s->linger_next;
    *(s->linger_next != NULL ? &s->linger_next->linger_prev : &e->linger_last) =
        s->linger_prev;
    s->lingers = false;
    saratoga__table_recount(&e->table, s->host);
}

void saratoga__engine_remove(saratoga_engine *e, saratoga__session *s) {
    saratoga__key key = engine_key_of(s);
    leave_ready(e, s);
    leave_lingering(e, s);
    saratoga__group_index_remove(e, s);
    saratoga__admission_leave(&e->admission, s);
    leave_status_queue(e, s);
    cmn__heap_remove(&e->timers, s->timer_slot);
    saratoga__session_free(s);
    saratoga__table_remove(&e->table, s->index, &key);
    cmn__free(&e->ctx.mem, s);
}

bool saratoga__engine_rekey(saratoga_engine *e, saratoga__session *s,
                            uint64_t host, uint32_t id) {
    saratoga__key old = engine_key_of(s);
    saratoga__key key = {host, id, s->sends};
    if (!saratoga__table_rekey(&e->table, s->index, &old, &key)) {
        return false;
    }
    s->host = host;
    s->id = id;
    return true;
}

static bool has_last_word(const saratoga__session *s) {
    return s->send_error || s->send_reply;
}

bool saratoga__engine_has_room(saratoga_engine *e) {
    saratoga__session *s = e->linger_first;
    unsigned looks = LINGERING_LOOKS;
    if (e->table.count < e->table.max) {
        return true;
    }
    while (s != NULL && looks-- > 0) {
        if (s->released && !s->in.volunteer && !has_last_word(s)) {
            saratoga__engine_remove(e, s);
            return true;
        }
        s = s->linger_next;
    }
    return false;
}

void saratoga__engine_touch(saratoga_engine *e, saratoga__session *s,
                            saratoga_time now) {
    if (s->state == SARATOGA__OVER && s->released && !has_last_word(s)) {
        saratoga__engine_remove(e, s);
        return;
    }
    cmn__heap_update(&e->timers, s->timer_slot, saratoga__session_wake(s, now));
    join_ready(e, s);
    join_lingering(e, s);
    saratoga__group_index_update(e, s);
    if (saratoga__session_wants_status(s, now)) {
        join_status_queue(e, s);
    }
}

saratoga__session *saratoga__engine_find(const saratoga_engine *e,
                                         saratoga_handle handle) {
    saratoga__session *s = saratoga__table_by_handle(&e->table, handle);
    return s != NULL && !s->released ? s : NULL;
}

/* ---- time ---- */

saratoga_time saratoga_engine_timeout(const saratoga_engine *engine) {
    cmn__heap_item first;
    saratoga_time at = engine->beacon_at;
    if (engine->ctx.queue.unseen) {
        return 0;
    }
    if (cmn__heap_first(&engine->timers, &first)) {
        at = saratoga__sooner(at, first.key);
    }
    if (engine->status_first != NULL) {
        at = saratoga__sooner(at, engine->ctx.uplink_free);
    }
    return at;
}

static void beacon_timeout(saratoga_engine *e, saratoga_time now) {
    if (now >= e->beacon_at) {
        (void)saratoga__stateless_beacon(e, &e->ctx.cfg.beacon_to);
        e->beacon_at = saratoga__later(now, e->ctx.cfg.beacon_interval);
    }
}

void saratoga_engine_on_timeout(saratoga_engine *engine, saratoga_time now) {
    uint32_t budget = engine->table.count;
    cmn__heap_item first;
    beacon_timeout(engine, now);
    while (budget-- > 0 && cmn__heap_first(&engine->timers, &first) &&
           first.key <= now) {
        saratoga__session *s = engine->table.session[first.id];
        saratoga__session_on_timeout(s, now);
        saratoga__engine_touch(engine, s, now);
    }
}

/* ---- output ---- */

static void emit(const saratoga__session *s, saratoga_pktinfo *to,
                 uint32_t flags) {
    const saratoga_pktinfo *group = &s->ctx->cfg.group;
    bool member = !s->sends && s->opt.multicast;
    *to = s->to;
    if (member && s->to.group != 0) {
        to->path = s->to.group;
        to->flags |= SARATOGA_PKT_MULTICAST;
    } else if (member && group->path != 0) {
        *to = *group;
        to->flags |= SARATOGA_PKT_MULTICAST;
    }
    to->flags |= flags;
    if (s->opt.well_known_port) {
        to->flags |= SARATOGA_PKT_WELL_KNOWN;
    }
    if ((flags & SARATOGA_PKT_LITE) != 0) {
        size_t timestamp =
            s->opt.timestamps == SARATOGA_TS_OFF ? 0 : SARATOGA__TIMESTAMP_LEN;
        to->coverage =
            (uint32_t)(8 + timestamp + saratoga__width(s->descriptor));
    }
}

static size_t write_status(saratoga_engine *e, saratoga_pktinfo *to,
                           uint8_t *buf, size_t cap, saratoga_time now) {
    while (e->status_first != NULL) {
        saratoga__session *s = e->status_first;
        size_t room;
        size_t len;
        if (now < e->ctx.uplink_free) {
            e->ctx.stats.status_deferred++;
            return 0;
        }
        leave_status_queue(e, s);
        if (!saratoga__session_wants_status(s, now)) {
            continue;
        }
        room = saratoga__proof_room(s);
        len = saratoga__receiver_write_status(s, buf, cap < room ? cap : room,
                                              now);
        saratoga__proof_on_sent(s, len, 1);
        emit(s, to, 0);
        saratoga__engine_touch(e, s, now); /* at the end of the queue again */
        if (len > 0) {
            return len;
        }
    }
    return 0;
}

static size_t write_ready(saratoga_engine *e, saratoga_pktinfo *to,
                          uint8_t *buf, size_t cap, size_t *segment,
                          saratoga_time now) {
    while (e->ready != NULL) {
        saratoga__session *s = e->ready;
        uint32_t flags = 0;
        size_t len = saratoga__session_write(s, buf, cap, segment, &flags, now);
        if (len > 0) {
            emit(s, to, flags);
            saratoga__proof_on_sent(s, len, (len + *segment - 1) / *segment);
            e->ready = s->ready_next; /* round robin */
            saratoga__engine_touch(e, s, now);
            return len;
        }
        leave_ready(e, s);
        cmn__heap_update(&e->timers, s->timer_slot,
                         saratoga__session_wake(s, now));
    }
    return 0;
}

size_t saratoga_engine_send(saratoga_engine *engine, saratoga_pktinfo *to,
                            void *buf, size_t cap, size_t *segment,
                            saratoga_time now) {
    size_t len = saratoga__stateless_send(engine, to, buf, cap);
    if (len == 0) {
        len = write_status(engine, to, buf, cap, now);
    }
    *segment = len;
    if (len == 0) {
        len = write_ready(engine, to, buf, cap, segment, now);
    }
    if (len > 0) {
        engine->ctx.stats.packets_sent += (len + *segment - 1) / *segment;
        engine->ctx.stats.bytes_sent += len;
    }
    return len;
}

/* ---- events and work ---- */

static bool pending_done(saratoga_engine *e, saratoga_event *ev) {
    bool found = false;
    for (uint32_t i = 0; i < e->table.cap && e->ctx.done_pending > 0 && !found;
         i++) {
        saratoga__session *s = e->table.session[i];
        found = s != NULL && saratoga__session_pending_done(s, ev);
    }
    return found;
}

int saratoga_engine_next_event(saratoga_engine *engine, saratoga_event *ev) {
    return saratoga__context_next_event(&engine->ctx, ev) ||
           pending_done(engine, ev);
}

int saratoga_engine_next_work(saratoga_engine *engine, saratoga_work *work) {
    saratoga__work_item *item = saratoga__work_queue_issue(&engine->ctx.queue);
    saratoga__session *s;
    if (item == NULL) {
        return 0;
    }
    s = saratoga__table_by_handle(&engine->table, item->handle);
    *work = (saratoga_work){.id = item->id,
                            .handle = item->handle,
                            .type = item->type,
                            .checksum = item->checksum,
                            .offset = item->offset,
                            .len = item->len,
                            .length = item->length,
                            .buf = item->buf,
                            .digest = item->digest,
                            .user = s != NULL ? s->user : NULL};
    return 1;
}

int saratoga_engine_work_done(saratoga_engine *engine, uint64_t id,
                              int64_t result, saratoga_time now) {
    saratoga__work_item *work =
        saratoga__work_queue_finish(&engine->ctx.queue, id);
    saratoga__session *s;
    if (work == NULL) {
        return SARATOGA_ERR_GONE;
    }
    s = saratoga__table_by_handle(&engine->table, work->handle);
    if (work->abandoned || s == NULL) {
        saratoga__work_queue_drop(&engine->ctx.queue, work);
        return 0;
    }
    saratoga__session_on_work(s, work, result, now);
    saratoga__engine_touch(engine, s, now);
    return 0;
}

/* ---- beacons, settings ---- */

int saratoga_engine_beacon(saratoga_engine *engine, const saratoga_pktinfo *to,
                           saratoga_time now) {
    (void)now;
    return engine->ctx.cfg.eid == NULL ? SARATOGA_ERR_STATE
                                       : saratoga__stateless_beacon(engine, to);
}

void saratoga_engine_set_free_space(saratoga_engine *engine, uint64_t kib) {
    engine->report_free = kib != UINT64_MAX;
    engine->free_kib = kib;
}

void saratoga_engine_set_willing(saratoga_engine *engine, bool send,
                                 bool receive) {
    engine->ctx.cfg.willing_to_send = send && engine->ctx.cfg.can_send;
    engine->ctx.cfg.willing_to_receive = receive && engine->ctx.cfg.can_receive;
}

void saratoga_engine_set_uplink(saratoga_engine *engine, uint64_t bps) {
    engine->ctx.cfg.uplink_bps = bps;
    engine->ctx.uplink_free = 0;
}

uint64_t saratoga_engine_rejected(const saratoga_engine *engine) {
    return engine->ctx.stats.callers_rejected;
}

int saratoga_engine_get_stats(const saratoga_engine *engine,
                              saratoga_engine_stats *st) {
    saratoga_engine_stats full = engine->ctx.stats;
    if (!cmn__sized_is_set(st)) {
        return SARATOGA_ERR_INVAL;
    }
    full.transfers = engine->table.count;
    cmn__sized_give(st, &full, sizeof(full));
    return 0;
}

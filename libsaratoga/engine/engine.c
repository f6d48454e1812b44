/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/engine/engine_internal.h"

#define IPV6_HEADERS 48
/* At what lingers, for one that may go: nearly always the first may. */
#define LINGERING_LOOKS 64u

static void on_moved(void *owner, uint64_t id, uint32_t slot) {
    saratoga_engine *n = owner;
    n->table.session[id]->timer_slot = slot;
}

static int take_config(saratoga_engine *n, const saratoga_config *config) {
    saratoga_config *c = &n->env.cfg;
    saratoga__config_take(c, config);
    saratoga__options_take(&n->env.defaults, c->transfer);
    c->transfer = &n->env.defaults;
    if (c->eid != NULL) {
        strncpy(n->env.eid, c->eid, SARATOGA_EID_MAX);
        c->eid = n->env.eid;
    }
    return saratoga__options_own(&n->env.defaults, &n->env.mem,
                                 &n->env.defaults_block);
}

static uint64_t seed_number(const uint8_t *seed) {
    cmn__reader r = cmn__reader_of(seed, SARATOGA_SEED_LEN);
    uint64_t x = 0;
    while (cmn__reader_left(&r) > 0) {
        x = x * UINT64_C(0x9e3779b97f4a7c15) ^ cmn__get64(&r);
    }
    return x;
}

static void init_parts(saratoga_engine *n, saratoga_time now) {
    saratoga__env *e = &n->env;
    saratoga__jobs_init(&e->jobs, &e->mem);
    saratoga__auth_init(&e->auth, &e->mem, &e->cfg,
                        now + (uint64_t)e->cfg.posix_offset);
    cmn__ring_init(&e->events, &e->mem, sizeof(saratoga_event), 0);
    saratoga__table_init(&n->table, &e->mem, e->cfg.max_transfers,
                         cmn__rng_next(&e->rng));
    saratoga__index_init(&n->others, &e->mem);
    cmn__heap_init(&n->timers, &e->mem, on_moved, n);
    n->refusals_at = now;
    n->refusals = e->cfg.error_rate;
    n->beacon_at = SARATOGA_TIME_NEVER;
    if (e->cfg.eid != NULL && e->cfg.beacon_interval > 0) {
        n->beacon_at = now;
    }
}

int saratoga_engine_new(saratoga_engine **node, const saratoga_config *config,
                        const uint8_t *seed, saratoga_time now) {
    cmn__mem mem = cmn__mem_default();
    saratoga_engine *n;
    int rv;
    if (node == NULL || seed == NULL) {
        return SARATOGA_ERR_INVAL;
    }
    rv = saratoga_config_check(config, NULL);
    if (rv != 0) {
        return rv;
    }
    if (config != NULL && config->allocator.realloc != NULL) {
        mem = (cmn__mem){config->allocator.realloc, config->allocator.user};
    }
    n = cmn__alloc(&mem, sizeof(*n));
    if (n == NULL) {
        return SARATOGA_ERR_NOMEM;
    }
    n->env.mem = mem;
    rv = take_config(n, config);
    if (rv != 0) {
        cmn__free(&mem, n);
        return rv;
    }
    cmn__rng_seed(&n->env.rng, seed_number(seed));
    memcpy(n->env.secret, seed + SARATOGA_SEED_LEN - SARATOGA__ID_KEY_LEN,
           SARATOGA__ID_KEY_LEN);
    init_parts(n, now);
    *node = n;
    return 0;
}

void saratoga_engine_free(saratoga_engine *node) {
    cmn__mem mem;
    if (node == NULL) {
        return;
    }
    mem = node->env.mem;
    for (uint32_t i = 0; i < node->table.cap; i++) {
        if (node->table.session[i] != NULL) {
            saratoga__session_free(node->table.session[i]);
            cmn__free(&mem, node->table.session[i]);
        }
    }
    saratoga__index_free(&node->others);
    saratoga__table_free(&node->table);
    cmn__heap_free(&node->timers);
    cmn__ring_free(&node->env.events);
    saratoga__jobs_free(&node->env.jobs);
    saratoga__auth_free(&node->env.auth);
    saratoga__wipe(node->env.secret, sizeof(node->env.secret));
    cmn__free(&mem, node->env.defaults_block);
    cmn__free(&mem, node);
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

static uint32_t headers(const saratoga_engine *n,
                        const saratoga_pktinfo *peer) {
    uint32_t usual = n->env.cfg.overhead;
    bool six = (peer->flags & SARATOGA_PKT_IPV6) != 0;
    return n->env.cfg.carrier_overhead +
           (six && usual < IPV6_HEADERS ? IPV6_HEADERS : usual);
}

int saratoga__engine_add(saratoga_engine *n, const saratoga_options *opt,
                         const saratoga_pktinfo *peer, uint32_t id,
                         uint32_t type, bool sends, saratoga__session **out,
                         saratoga_time now) {
    saratoga__session *s = cmn__alloc(&n->env.mem, sizeof(*s));
    saratoga__key key;
    int rv;
    if (s == NULL) {
        return SARATOGA_ERR_NOMEM;
    }
    rv = saratoga__session_init(s, &n->env, opt, now);
    if (rv != 0) {
        cmn__free(&n->env.mem, s);
        return rv;
    }
    s->to = *peer;
    s->host = peer->host;
    s->to.coverage = 0;
    s->overhead = headers(n, peer);
    s->to.flags &= SARATOGA_PKT_MULTICAST;
    s->id = id;
    s->type = type;
    s->sends = sends;
    key = engine_key_of(s);
    rv = saratoga__table_add(&n->table, s, &key, &s->index, &s->handle);
    if (rv == 0 &&
        cmn__heap_add(&n->timers, SARATOGA_TIME_NEVER, s->index) != 0) {
        saratoga__table_remove(&n->table, s->index, &key);
        rv = SARATOGA_ERR_NOMEM;
    }
    if (rv != 0) {
        saratoga__session_free(s);
        cmn__free(&n->env.mem, s);
        return rv;
    }
    n->env.stats.transfers_begun++;
    *out = s;
    return 0;
}

static void leave_ready(saratoga_engine *n, saratoga__session *s) {
    if (!s->is_ready) {
        return;
    }
    s->is_ready = false;
    if (s->ready_next == s) {
        n->ready = NULL;
        return;
    }
    s->ready_prev->ready_next = s->ready_next;
    s->ready_next->ready_prev = s->ready_prev;
    if (n->ready == s) {
        n->ready = s->ready_next;
    }
}

static void join_ready(saratoga_engine *n, saratoga__session *s) {
    if (s->is_ready) {
        return;
    }
    s->is_ready = true;
    if (n->ready == NULL) {
        s->ready_next = s;
        s->ready_prev = s;
        n->ready = s;
        return;
    }
    s->ready_next = n->ready;
    s->ready_prev = n->ready->ready_prev;
    s->ready_prev->ready_next = s;
    s->ready_next->ready_prev = s;
}

static void leave_status_queue(saratoga_engine *n, saratoga__session *s) {
    saratoga__session **at = &n->status_first;
    saratoga__session *before = NULL;
    if (!s->in_status_queue) {
        return;
    }
    while (*at != s) {
        before = *at;
        at = &(*at)->status_next;
    }
    *at = s->status_next;
    if (n->status_last == s) {
        n->status_last = before;
    }
    s->in_status_queue = false;
}

static void join_status_queue(saratoga_engine *n, saratoga__session *s) {
    if (s->in_status_queue) {
        return;
    }
    s->in_status_queue = true;
    s->status_next = NULL;
    if (n->status_first == NULL) {
        n->status_first = s;
    } else {
        n->status_last->status_next = s;
    }
    n->status_last = s;
}

/* What is over and said so holds no place against what begins: it stays to
 * answer stray DATA, until its time is over or its room is wanted. */
static void join_lingering(saratoga_engine *n, saratoga__session *s) {
    if (s->state != SARATOGA__LINGER || s->lingers) {
        return;
    }
    s->lingers = true;
    s->linger_next = NULL;
    s->linger_prev = n->linger_last;
    *(n->linger_last != NULL ? &n->linger_last->linger_next
                             : &n->linger_first) = s;
    n->linger_last = s;
    saratoga__table_discount(&n->table, s->host);
}

static void leave_lingering(saratoga_engine *n, saratoga__session *s) {
    if (!s->lingers) {
        return;
    }
    *(s->linger_prev != NULL ? &s->linger_prev->linger_next
                             : &n->linger_first) = s->linger_next;
    *(s->linger_next != NULL ? &s->linger_next->linger_prev : &n->linger_last) =
        s->linger_prev;
    s->lingers = false;
    saratoga__table_recount(&n->table, s->host);
}

void saratoga__engine_remove(saratoga_engine *n, saratoga__session *s) {
    saratoga__key key = engine_key_of(s);
    leave_ready(n, s);
    leave_lingering(n, s);
    saratoga__others_forget(n, s);
    leave_status_queue(n, s);
    cmn__heap_remove(&n->timers, s->timer_slot);
    saratoga__session_free(s);
    saratoga__table_remove(&n->table, s->index, &key);
    cmn__free(&n->env.mem, s);
}

bool saratoga__engine_rekey(saratoga_engine *n, saratoga__session *s,
                            uint64_t host, uint32_t id) {
    saratoga__key old = engine_key_of(s);
    saratoga__key key = {host, id, s->sends};
    if (!saratoga__table_rekey(&n->table, s->index, &old, &key)) {
        return false;
    }
    s->host = host;
    s->id = id;
    return true;
}

static bool has_last_word(const saratoga__session *s) {
    return s->send_error || s->send_reply;
}

bool saratoga__engine_has_room(saratoga_engine *n) {
    saratoga__session *s = n->linger_first;
    unsigned looks = LINGERING_LOOKS;
    if (n->table.count < n->table.max) {
        return true;
    }
    while (s != NULL && looks-- > 0) {
        if (s->released && !s->in.volunteer && !has_last_word(s)) {
            saratoga__engine_remove(n, s);
            return true;
        }
        s = s->linger_next;
    }
    return false;
}

void saratoga__engine_touch(saratoga_engine *n, saratoga__session *s,
                            saratoga_time now) {
    if (s->state == SARATOGA__OVER && s->released && !has_last_word(s)) {
        saratoga__engine_remove(n, s);
        return;
    }
    cmn__heap_update(&n->timers, s->timer_slot, saratoga__session_wake(s, now));
    join_ready(n, s);
    join_lingering(n, s);
    saratoga__others_note(n, s);
    if (saratoga__session_wants_status(s, now)) {
        join_status_queue(n, s);
    }
}

saratoga__session *saratoga__engine_find(const saratoga_engine *n,
                                         saratoga_handle handle) {
    saratoga__session *s = saratoga__table_by_handle(&n->table, handle);
    return s != NULL && !s->released ? s : NULL;
}

/* ---- time ---- */

saratoga_time saratoga_engine_timeout(const saratoga_engine *node) {
    cmn__heap_item first;
    saratoga_time at = node->beacon_at;
    if (node->env.jobs.unseen) {
        return 0;
    }
    if (cmn__heap_first(&node->timers, &first)) {
        at = saratoga__sooner(at, first.key);
    }
    if (node->status_first != NULL) {
        at = saratoga__sooner(at, node->env.uplink_free);
    }
    return at;
}

static void beacon_timeout(saratoga_engine *n, saratoga_time now) {
    if (now >= n->beacon_at) {
        (void)saratoga__stray_beacon(n, &n->env.cfg.beacon_to);
        n->beacon_at = saratoga__later(now, n->env.cfg.beacon_interval);
    }
}

void saratoga_engine_on_timeout(saratoga_engine *node, saratoga_time now) {
    uint32_t budget = node->table.count;
    cmn__heap_item first;
    beacon_timeout(node, now);
    while (budget-- > 0 && cmn__heap_first(&node->timers, &first) &&
           first.key <= now) {
        saratoga__session *s = node->table.session[first.id];
        saratoga__session_on_timeout(s, now);
        saratoga__engine_touch(node, s, now);
    }
}

/* ---- output ---- */

static void emit(const saratoga__session *s, saratoga_pktinfo *to,
                 uint32_t flags) {
    const saratoga_pktinfo *group = &s->env->cfg.group;
    bool told = !s->sends && s->opt.multicast;
    *to = s->to;
    if (told && s->to.group != 0) {
        to->path = s->to.group;
        to->flags |= SARATOGA_PKT_MULTICAST;
    } else if (told && group->path != 0) {
        *to = *group;
        to->flags |= SARATOGA_PKT_MULTICAST;
    }
    to->flags |= flags;
    if (s->opt.well_known_port) {
        to->flags |= SARATOGA_PKT_WELL_KNOWN;
    }
    if ((flags & SARATOGA_PKT_LITE) != 0) {
        size_t stamp =
            s->opt.timestamps == SARATOGA_TS_OFF ? 0 : SARATOGA__STAMP_LEN;
        to->coverage = (uint32_t)(8 + stamp + saratoga__width(s->descriptor));
    }
}

static size_t write_status(saratoga_engine *n, saratoga_pktinfo *to,
                           uint8_t *buf, size_t cap, saratoga_time now) {
    while (n->status_first != NULL) {
        saratoga__session *s = n->status_first;
        size_t len;
        if (now < n->env.uplink_free) {
            n->env.stats.status_deferred++;
            return 0;
        }
        leave_status_queue(n, s);
        if (!saratoga__session_wants_status(s, now)) {
            continue;
        }
        len = saratoga__receiver_write_status(s, buf, cap, now);
        emit(s, to, 0);
        saratoga__engine_touch(n, s, now); /* at the end of the queue again */
        if (len > 0) {
            return len;
        }
    }
    return 0;
}

static size_t write_ready(saratoga_engine *n, saratoga_pktinfo *to,
                          uint8_t *buf, size_t cap, size_t *segment,
                          saratoga_time now) {
    while (n->ready != NULL) {
        saratoga__session *s = n->ready;
        uint32_t flags = 0;
        size_t len = saratoga__session_write(s, buf, cap, segment, &flags, now);
        if (len > 0) {
            emit(s, to, flags);
            n->ready = s->ready_next; /* everybody has a turn */
            saratoga__engine_touch(n, s, now);
            return len;
        }
        leave_ready(n, s);
        cmn__heap_update(&n->timers, s->timer_slot,
                         saratoga__session_wake(s, now));
    }
    return 0;
}

size_t saratoga_engine_send(saratoga_engine *node, saratoga_pktinfo *to,
                            void *buf, size_t cap, size_t *segment,
                            saratoga_time now) {
    size_t len = saratoga__stray_write(node, to, buf, cap);
    if (len == 0) {
        len = write_status(node, to, buf, cap, now);
    }
    *segment = len;
    if (len == 0) {
        len = write_ready(node, to, buf, cap, segment, now);
    }
    if (len > 0) {
        node->env.stats.packets_sent += (len + *segment - 1) / *segment;
        node->env.stats.bytes_sent += len;
    }
    return len;
}

/* ---- events and work ---- */

static bool tell_late(saratoga_engine *n, saratoga_event *ev) {
    bool told = false;
    for (uint32_t i = 0; i < n->table.cap && n->env.untold > 0 && !told; i++) {
        saratoga__session *s = n->table.session[i];
        told = s != NULL && saratoga__session_tell_late(s, ev);
    }
    return told;
}

int saratoga_engine_next_event(saratoga_engine *node, saratoga_event *ev) {
    return saratoga__env_next_event(&node->env, ev) || tell_late(node, ev);
}

int saratoga_engine_next_work(saratoga_engine *node, saratoga_work *work) {
    saratoga__job *job = saratoga__jobs_issue(&node->env.jobs);
    saratoga__session *s;
    if (job == NULL) {
        return 0;
    }
    s = saratoga__table_by_handle(&node->table, job->handle);
    *work = (saratoga_work){.id = job->id,
                            .handle = job->handle,
                            .type = job->type,
                            .checksum = job->checksum,
                            .offset = job->offset,
                            .len = job->len,
                            .length = job->length,
                            .buf = job->buf,
                            .digest = job->digest,
                            .user = s != NULL ? s->user : NULL};
    return 1;
}

int saratoga_engine_work_done(saratoga_engine *node, uint64_t id,
                              int64_t result, saratoga_time now) {
    saratoga__job *job = saratoga__jobs_finish(&node->env.jobs, id);
    saratoga__session *s;
    if (job == NULL) {
        return SARATOGA_ERR_GONE;
    }
    s = saratoga__table_by_handle(&node->table, job->handle);
    if (job->orphan || s == NULL) {
        saratoga__jobs_drop(&node->env.jobs, job);
        return 0;
    }
    saratoga__session_on_job(s, job, result, now);
    saratoga__engine_touch(node, s, now);
    return 0;
}

/* ---- beacons, settings ---- */

int saratoga_engine_beacon(saratoga_engine *node, const saratoga_pktinfo *to,
                           saratoga_time now) {
    (void)now;
    return node->env.cfg.eid == NULL ? SARATOGA_ERR_STATE
                                     : saratoga__stray_beacon(node, to);
}

void saratoga_engine_set_free_space(saratoga_engine *node, uint64_t kib) {
    node->tell_free = kib != UINT64_MAX;
    node->free_kib = kib;
}

void saratoga_engine_set_willing(saratoga_engine *node, bool send,
                                 bool receive) {
    node->env.cfg.willing_to_send = send && node->env.cfg.can_send;
    node->env.cfg.willing_to_receive = receive && node->env.cfg.can_receive;
}

void saratoga_engine_set_uplink(saratoga_engine *node, uint64_t bps) {
    node->env.cfg.uplink_bps = bps;
    node->env.uplink_free = 0;
}

int saratoga_engine_get_stats(const saratoga_engine *node,
                              saratoga_engine_stats *st) {
    size_t size = st->struct_size;
    saratoga_engine_stats full = node->env.stats;
    if (size < sizeof(st->struct_size)) {
        return SARATOGA_ERR_INVAL;
    }
    full.struct_size = size;
    full.transfers = node->table.count;
    memcpy(st, &full, size < sizeof(full) ? size : sizeof(full));
    return 0;
}

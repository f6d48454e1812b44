/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/engine/engine_internal.h"

#define EVICT_AFTER SARATOGA_S /* of silence */

typedef struct input {
    const saratoga_pktinfo *from;
    const uint8_t *dgram;
    size_t len;
    uint32_t id;
    saratoga_time now;
} input;

static saratoga__session *engine_recv_find(const saratoga_engine *e,
                                           uint64_t host, uint32_t id,
                                           bool sends) {
    saratoga__key key = {host, id, sends};
    return saratoga__table_by_key(&e->table, &key);
}

/* Answers go to where the newest packet came from. */
static void heard_from(saratoga__session *s, const saratoga_pktinfo *from) {
    if ((s->to.flags & SARATOGA_PKT_MULTICAST) == 0) {
        s->to.path = from->path;
    }
}

static void engine_recv_drop(saratoga_engine *e) {
    e->ctx.stats.packets_dropped++;
}

/* ---- proof of addresses ---- */

static bool is_proven(const saratoga_engine *e, const input *in) {
    return (in->from->flags & SARATOGA_PKT_PROVEN) != 0 ||
           saratoga__admission_knows(&e->admission, in->from->host, in->now);
}

/* The peer of a session receives at its address. */
static void prove(saratoga_engine *e, saratoga__session *s) {
    saratoga_event ev = {0};
    if (s->proof.proven) {
        return;
    }
    s->proof.proven = true;
    saratoga__admission_leave(&e->admission, s);
    s->out.poll_due &= s->out.size == 0;
    if (s->state == SARATOGA__ASKED || s->state == SARATOGA__OPEN) {
        (void)saratoga__session_event(s, SARATOGA_EVENT_PROVEN, &ev);
    }
}

/* A packet of a session's peer. */
static void note_received(saratoga_engine *e, saratoga__session *s,
                          const input *in) {
    saratoga__proof_on_received(s, in->len);
    if ((in->from->flags & SARATOGA_PKT_PROVEN) != 0) {
        prove(e, s);
    }
}

static void evict(saratoga_engine *e, saratoga__session *s, saratoga_time now) {
    saratoga__admission_leave(&e->admission, s);
    if (s->state == SARATOGA__EXPECTING) { /* the application never saw it */
        s->done_reported = true;
        s->released = true;
    }
    e->ctx.stats.unproven_evicted++;
    saratoga__session_end(s, SARATOGA_ERR_TIMEOUT, SARATOGA_TIMED_OUT, false,
                          false, now);
    saratoga__engine_touch(e, s, now);
}

/* Makes room for one more unproven peer, at the cost of one that has been
 * silent.  False: the one drawn is busy. */
static bool make_way(saratoga_engine *e, saratoga_time now) {
    saratoga__session *victim = saratoga__admission_victim(&e->admission);
    if (victim == NULL) {
        return true;
    }
    if (saratoga__admission_knows(&e->admission, victim->host, now)) {
        prove(e, victim); /* in another transfer */
        return true;
    }
    if (now < saratoga__later(victim->heard, EVICT_AFTER)) {
        return false;
    }
    evict(e, victim, now);
    return true;
}

/* Whether a peer may begin.  An unproven one may where it is one of few; if not
 * it is asked to echo a timestamp, and nothing is kept of it. */
static bool admit(saratoga_engine *e, const input *in, uint32_t type) {
    if (is_proven(e, in) || e->ctx.defaults.unconfirmed == UINT64_MAX ||
        (saratoga__admission_pass(&e->admission, type, in->now) &&
         make_way(e, in->now))) {
        return true;
    }
    saratoga__stateless_challenge(e, in->from, in->id, in->now);
    return false;
}

/* A new session of a peer. */
static void enter(saratoga_engine *e, saratoga__session *s, const input *in) {
    saratoga__session *victim;
    s->proof.proven = is_proven(e, in);
    note_received(e, s, in);
    if (!saratoga__proof_is_missing(s)) {
        return;
    }
    victim = saratoga__admission_victim(&e->admission);
    if (victim != NULL) { /* a signed request is let in past admit() */
        evict(e, victim, in->now);
    }
    saratoga__admission_enter(&e->admission, s);
}

/* An empty packet that asks, when nothing was sent yet: its sender wants to
 * know that this address is ours.  The answer repeats what it forgot. */
static bool answers_challenge(saratoga_engine *e, const input *in,
                              const saratoga__data *d) {
    saratoga__session *s;
    if (d->len > 0 || !d->asks || d->eod || d->timestamp == NULL ||
        d->offset.lo != 0 || d->offset.hi != 0) {
        return false;
    }
    s = engine_recv_find(e, in->from->host, in->id, false);
    if (s == NULL) {
        s = engine_recv_find(e, in->from->host, in->id, true);
    }
    if (s == NULL || !s->initiator ||
        s->proof.challenges >= s->opt.request_tries ||
        (s->state != SARATOGA__ASKING &&
         !(s->sends && s->type == SARATOGA_BLIND_PUT && !s->out.confirmed))) {
        return false;
    }
    s->proof.challenges++;
    s->heard = in->now;
    heard_from(s, in->from);
    saratoga__stateless_echo(e, in->from, d);
    s->send_request = s->state == SARATOGA__ASKING;
    s->send_metadata |= s->state == SARATOGA__OPEN;
    saratoga__engine_touch(e, s, in->now);
    return true;
}

/* ---- BEACON ---- */

static void engine_recv_on_beacon(saratoga_engine *e, const input *in) {
    saratoga__beacon b;
    saratoga_event ev = {.type = SARATOGA_EVENT_BEACON, .from = *in->from};
    size_t len;
    if (!saratoga__beacon_parse(in->dgram, in->len, &b)) {
        engine_recv_drop(e);
        return;
    }
    len = b.eid_len < SARATOGA_EID_MAX ? b.eid_len : SARATOGA_EID_MAX;
    memcpy(ev.eid, b.eid, len);
    ev.abilities = b.abilities;
    ev.descriptor = b.descriptor;
    ev.free_kib = b.free_kib;
    ev.path = "";
    e->ctx.stats.beacons_received++;
    (void)saratoga__context_event(&e->ctx, &ev);
}

/* ---- REQUEST ---- */

static bool keep_packet(saratoga__session *s, const input *in,
                        const saratoga__request *q) {
    if (q->auth_len == 0) {
        return true;
    }
    s->asked_packet = cmn__resize(&s->ctx->mem, NULL, in->len);
    if (s->asked_packet == NULL) {
        return false;
    }
    memcpy(s->asked_packet, in->dgram, in->len);
    return true;
}

static bool is_full(saratoga_engine *e, uint64_t host) {
    return !saratoga__engine_has_room(e) ||
           saratoga__table_of_host(&e->table, host) >= e->ctx.cfg.max_per_host;
}

/* A signed request came from a holder of the key. */
static bool may_begin(saratoga_engine *e, const input *in, uint32_t type) {
    return e->ctx.auth.key_len > 0 || admit(e, in, type);
}

static void new_request(saratoga_engine *e, const input *in,
                        const saratoga__request *q, saratoga__session *s,
                        const saratoga_entry *announced) {
    bool sends = saratoga__is_sender(q->type, false);
    uint32_t busy = sends ? SARATOGA_CANNOT_SEND : SARATOGA_CANNOT_RECEIVE;
    if (s == NULL && !may_begin(e, in, q->type)) {
        return;
    }
    if (s == NULL && (is_full(e, in->from->host) ||
                      saratoga__engine_add(e, &e->ctx.defaults, in->from, q->id,
                                           q->type, sends, &s, in->now) != 0)) {
        saratoga__stateless_refuse(e, in->from, q->id, busy, in->now);
        return;
    }
    if (!s->proof.proven && s->proof.slot == SARATOGA__NO_SLOT) {
        enter(e, s, in);
    }
    s->to.flags = 0;
    s->of_group = (in->from->flags & SARATOGA_PKT_MULTICAST) != 0;
    s->type = q->type;
    s->peer_abilities = q->abilities;
    s->peer_descriptor = q->descriptor;
    memcpy(s->path, q->path, q->path_len + 1);
    if (announced != NULL) {
        s->entry = *announced;
        s->has_entry = true;
    }
    if (!keep_packet(s, in, q)) {
        saratoga__session_end(s, SARATOGA_ERR_NOMEM, busy, false, true,
                              in->now);
    } else {
        saratoga__session_ask(s, q);
    }
    saratoga__engine_touch(e, s, in->now);
}

/* METADATA that left within this RTT. */
static bool was_just_sent(const saratoga__session *s, saratoga_time now) {
    return s->out.meta_sent && s->rtt.srtt > 0 &&
           now < saratoga__later(s->out.meta_at, (saratoga_time)s->rtt.srtt);
}

/* A REQUEST that was repeated because our answer got lost. */
static void repeat_answer(saratoga__session *s, saratoga_time now) {
    switch (s->state) {
    case SARATOGA__OPEN:
        s->send_reply = !s->sends;
        s->send_metadata |= s->sends && !was_just_sent(s, now);
        s->out.poll_due |= s->sends && saratoga__proof_is_missing(s);
        break;
    case SARATOGA__LINGER:
        s->in.volunteer = true;
        break;
    case SARATOGA__OVER:
        s->send_error = s->status != SARATOGA_SUCCESS;
        s->send_reply = s->type == SARATOGA_DELETE && !s->send_error;
        break;
    default:
        break;
    }
}

/* METADATA of the copy that the requester holds came before the REQUEST, and
 * looked like a blind put. */
static bool announced_before(saratoga_engine *e, const saratoga__request *q,
                             const input *in) {
    saratoga__session *s = engine_recv_find(e, in->from->host, q->id, false);
    saratoga_entry entry;
    if (s == NULL || s->state != SARATOGA__EXPECTING || !s->announced) {
        return false;
    }
    entry = s->entry;
    saratoga__engine_remove(e, s);
    new_request(e, in, q, NULL, &entry);
    return true;
}

/* With a key, only signed requests are served, each once. Repeats are dropped
 * silently: the network duplicates packets. */
static bool is_allowed(saratoga_engine *e, const input *in,
                       const saratoga__request *q) {
    enum saratoga__verdict v = SARATOGA__GENUINE;
    if (e->ctx.auth.key_len > 0) {
        v = saratoga__auth_judge(&e->ctx.auth, in->dgram, 8 + q->path_len,
                                 q->auth, q->auth_len,
                                 in->now + (uint64_t)e->ctx.cfg.posix_offset);
    }
    if (v == SARATOGA__FORGED) {
        e->ctx.stats.callers_rejected++;
        saratoga__stateless_refuse(e, in->from, q->id, SARATOGA_ACCESS_DENIED,
                                   in->now);
    } else if (v == SARATOGA__REPLAYED) {
        engine_recv_drop(e);
    }
    return v == SARATOGA__GENUINE;
}

/* Only requests that one member can answer for all are allowed to a group. */
static bool is_for_all(const input *in, const saratoga__request *q) {
    return (in->from->flags & SARATOGA_PKT_MULTICAST) == 0 ||
           q->type == SARATOGA_GET || q->type == SARATOGA_GETDIR ||
           q->type == SARATOGA_NOOP;
}

static void on_request(saratoga_engine *e, const input *in) {
    saratoga__request q;
    saratoga__session *s;
    saratoga_event ev = {
        .type = SARATOGA_EVENT_NOOP, .from = *in->from, .path = ""};
    if (!saratoga__request_parse(in->dgram, in->len, &q) ||
        !is_for_all(in, &q)) {
        engine_recv_drop(e);
        return;
    }
    if (!is_allowed(e, in, &q)) {
        return;
    }
    if (q.type == SARATOGA_NOOP) {
        ev.abilities = q.abilities;
        ev.descriptor = q.descriptor;
        (void)saratoga__context_event(&e->ctx, &ev);
        return;
    }
    if (q.type > SARATOGA_GETDIR ||
        (q.type == SARATOGA_DELETE && q.path_len == 0)) {
        saratoga__stateless_refuse(e, in->from, q.id, SARATOGA_BAD_REQUEST,
                                   in->now);
        return;
    }
    s = engine_recv_find(e, in->from->host, q.id,
                         saratoga__is_sender(q.type, false));
    if (s == NULL && announced_before(e, &q, in)) {
        return;
    }
    if (s == NULL || (s->state == SARATOGA__EXPECTING && !s->initiator)) {
        new_request(e, in, &q, s, NULL);
    } else if (s->initiator || s->type != q.type ||
               strcmp(s->path, q.path) != 0) {
        saratoga__stateless_refuse(e, in->from, q.id, SARATOGA_UNKNOWN_ID,
                                   in->now);
    } else {
        heard_from(s, in->from);
        note_received(e, s, in);
        s->heard = s->state == SARATOGA__ASKED ? in->now : s->heard;
        repeat_answer(s, in->now);
        saratoga__engine_touch(e, s, in->now);
    }
}

/* ---- METADATA and DATA ---- */

/* METADATA or DATA without a REQUEST: perhaps a blind put. */
static saratoga__session *new_unsolicited(saratoga_engine *e, const input *in) {
    bool group = (in->from->flags & SARATOGA_PKT_MULTICAST) != 0;
    saratoga__session *s = NULL;
    /* what this e sends to a group comes back to it */
    if (group && (e->ctx.cfg.own_transfers_only ||
                  saratoga__group_index_is_sent(e, in->id))) {
        engine_recv_drop(e);
        return NULL;
    }
    if (e->ctx.auth.key_len > 0) { /* nothing of it is signed */
        saratoga__stateless_refuse(e, in->from, in->id, SARATOGA_ACCESS_DENIED,
                                   in->now);
        return NULL;
    }
    if (!admit(e, in, SARATOGA_BLIND_PUT)) {
        return NULL;
    }
    if (is_full(e, in->from->host) || !e->ctx.cfg.can_receive ||
        saratoga__engine_add(e, &e->ctx.defaults, in->from, in->id,
                             SARATOGA_BLIND_PUT, false, &s, in->now) != 0) {
        saratoga__stateless_refuse(e, in->from, in->id, SARATOGA_CANNOT_RECEIVE,
                                   in->now);
        return NULL;
    }
    s->to.flags = 0;
    s->opt.multicast = group;
    s->state = SARATOGA__EXPECTING;
    enter(e, s, in);
    return s;
}

/* The transfer that a packet with a foreign host or Id answers: one that asked
 * a group, or one that waits for the same path. */
static saratoga__session *requester_of(const saratoga_engine *e,
                                       const input *in, const char *path) {
    bool group = (in->from->flags & SARATOGA_PKT_MULTICAST) != 0;
    saratoga__session *s = saratoga__group_index_requester(e, in->id);
    return s == NULL && group && path != NULL
               ? saratoga__group_index_waiting(e, path, in->from->host)
               : s;
}

/* The first answer is taken; later ones are refused. */
static saratoga__session *engine_recv_take_answer(saratoga_engine *e,
                                                  const input *in,
                                                  saratoga__session *s) {
    if (s->state != SARATOGA__ASKING) {
        saratoga__stateless_refuse(e, in->from, in->id, SARATOGA_NOT_INTERESTED,
                                   in->now);
        return NULL;
    }
    if (!saratoga__engine_rekey(e, s, in->from->host, in->id)) {
        return NULL;
    }
    s->to = *in->from;
    s->to.flags = 0;
    return s;
}

/* The receiver of METADATA (with a path) or DATA; NULL: none here. */
static saratoga__session *receiver_of(saratoga_engine *e, const input *in,
                                      const char *path) {
    saratoga__session *s = engine_recv_find(e, in->from->host, in->id, false);
    if (s == NULL) {
        s = requester_of(e, in, path);
        s = s != NULL ? engine_recv_take_answer(e, in, s)
                      : new_unsolicited(e, in);
    } else {
        note_received(e, s, in);
    }
    if (s == NULL) {
        return NULL;
    }
    heard_from(s, in->from);
    if ((in->from->flags & SARATOGA_PKT_MULTICAST) != 0) {
        s->opt.multicast = true; /* also when it began as unicast */
        s->to.group = in->from->group;
    }
    return s;
}

static void on_blind_metadata(saratoga_engine *e, saratoga__session *s,
                              const saratoga__metadata *m, const input *in) {
    if (m->entry.huge) {
        saratoga__session_end(s, SARATOGA_ERR_TOO_LONG, SARATOGA_TOO_LONG,
                              false, true, in->now);
        return;
    }
    s->entry = m->entry;
    s->kind = m->kind;
    s->descriptor = m->descriptor;
    s->sum_type = m->sum_type;
    s->sum_len = m->sum_len;
    memcpy(s->sum, m->sum, m->sum_len);
    s->has_entry = true;
    memcpy(s->path, m->entry.path, sizeof(s->path));
    if (e->ctx.cfg.update_check && !s->announced) {
        s->announced = true; /* a REQUEST may follow */
    } else {
        saratoga__session_ask(s, NULL);
    }
}

static void on_metadata(saratoga_engine *e, const input *in) {
    saratoga__metadata m;
    saratoga__session *s;
    if (!saratoga__metadata_parse(in->dgram, in->len, &m)) {
        engine_recv_drop(e);
        return;
    }
    s = receiver_of(e, in, m.entry.path);
    if (s == NULL) {
        return;
    }
    if (s->state == SARATOGA__EXPECTING) {
        on_blind_metadata(e, s, &m, in);
    } else {
        saratoga__session_on_metadata(s, &m, in->now);
    }
    saratoga__engine_touch(e, s, in->now);
}

static void on_data(saratoga_engine *e, const input *in) {
    saratoga__data d;
    saratoga__session *s;
    if (!saratoga__data_parse(in->dgram, in->len, &d)) {
        engine_recv_drop(e);
        return;
    }
    if (answers_challenge(e, in, &d)) {
        return;
    }
    s = receiver_of(e, in, NULL);
    if (s == NULL) {
        return;
    }
    if (s->state <= SARATOGA__ASKED && !s->sends) {
        saratoga__pre_accept_keep(&s->pre_accept, &e->ctx, in->dgram, in->len);
    }
    if (s->state == SARATOGA__OVER) {
        /* Refused or given up; the sender has not heard. */
        s->send_error |= s->status != SARATOGA_SUCCESS && d.asks;
    } else if (s->state == SARATOGA__EXPECTING && s->announced) {
        saratoga__session_ask(s, NULL); /* a blind put, then */
    } else {
        saratoga__session_on_data(s, &d, in->now);
    }
    saratoga__engine_touch(e, s, in->now);
}

/* ---- STATUS ---- */

/* Members of a group report holes to its sender, and to each other. */
static saratoga__session *find_in_group(const saratoga_engine *e,
                                        const input *in) {
    saratoga__session *s = engine_recv_find(e, e->group, in->id, true);
    return s != NULL ? s : saratoga__group_index_find(e, in->id);
}

/* Whether a STATUS echoes a timestamp that only its peer can have seen; such
 * an address is remembered. */
static void check_echo(saratoga_engine *e, saratoga__session *s,
                       const saratoga__status_pkt *p, const input *in) {
    note_received(e, s, in);
    if (saratoga__proof_in_status(s, p)) {
        saratoga__admission_learn(&e->admission, s->host, in->now);
        prove(e, s);
    }
}

/* The answer to a challenge, or to a session that was evicted. */
static bool is_stateless_answer(saratoga_engine *e, const input *in,
                                const saratoga__status_pkt *p) {
    if (p->timestamp == NULL ||
        !saratoga__stateless_is_answer(e, in->from->host, in->id, p->timestamp,
                                       in->now)) {
        return false;
    }
    saratoga__admission_learn(&e->admission, in->from->host, in->now);
    return true;
}

static saratoga__session *status_session(const saratoga_engine *e,
                                         const input *in) {
    saratoga__session *s = engine_recv_find(e, in->from->host, in->id, true);
    if (s == NULL || s->state >= SARATOGA__LINGER) {
        saratoga__session *other =
            engine_recv_find(e, in->from->host, in->id, false);
        s = other != NULL ? other : s;
    }
    return s;
}

static void on_status(saratoga_engine *e, const input *in) {
    saratoga__status_pkt p;
    saratoga__session *s = status_session(e, in);
    if (!saratoga__status_parse(in->dgram, in->len, &p)) {
        engine_recv_drop(e);
        return;
    }
    if (s == NULL && is_stateless_answer(e, in, &p)) {
        return;
    }
    if (s != NULL) {
        check_echo(e, s, &p, in);
    } else {
        s = find_in_group(e, in);
    }
    if (s == NULL) {
        engine_recv_drop(e); /* a STATUS is never answered by a STATUS */
        return;
    }
    if (!s->opt.multicast) {
        heard_from(s, in->from);
    }
    saratoga__session_on_status(s, &p, in->len, in->now);
    saratoga__engine_touch(e, s, in->now);
}

void saratoga_engine_recv(saratoga_engine *engine, const saratoga_pktinfo *from,
                          const void *dgram, size_t len, saratoga_time now) {
    saratoga__head h;
    input in = {.from = from, .dgram = dgram, .len = len, .now = now};
    engine->ctx.stats.packets_received++;
    engine->ctx.stats.bytes_received += len;
    if (!saratoga__head_parse(dgram, len, &h)) {
        engine_recv_drop(engine);
        return;
    }
    in.id = h.id;
    if ((from->flags & SARATOGA_PKT_LITE) != 0 && h.type != SARATOGA__DATA) {
        engine_recv_drop(engine); /* not protected well enough */
        return;
    }
    switch (h.type) {
    case SARATOGA__BEACON:
        engine_recv_on_beacon(engine, &in);
        break;
    case SARATOGA__REQUEST:
        on_request(engine, &in);
        break;
    case SARATOGA__METADATA:
        on_metadata(engine, &in);
        break;
    case SARATOGA__DATA:
        on_data(engine, &in);
        break;
    case SARATOGA__STATUS:
        on_status(engine, &in);
        break;
    default:
        engine_recv_drop(engine);
        saratoga__stateless_refuse(engine, from, h.id, SARATOGA_BAD_PACKET,
                                   now);
        break;
    }
}

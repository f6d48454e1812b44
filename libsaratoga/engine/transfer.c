/* SPDX-License-Identifier: MPL-2.0 */
/* The public calls on transfers: start, accept, cancel, options. */
#include <stddef.h>

#include "internal/common/sized.h"
#include "libsaratoga/engine/digest.h"
#include "libsaratoga/engine/engine_internal.h"

#define AUTH_MAX 256
#define ID_TRIES 8

/* ---- starting ---- */

static bool is_giving(uint32_t type) {
    return saratoga__is_sender(type, true);
}

static int check_request(const saratoga_request *q) {
    bool known = q->type <= SARATOGA_GETDIR || q->type == SARATOGA_BLIND_PUT;
    size_t len = q->path != NULL ? strlen(q->path) : 0;
    if (q->struct_size == 0 || !known || len >= SARATOGA_PATH_MAX ||
        q->auth_len > AUTH_MAX || (q->type == SARATOGA_DELETE && len == 0) ||
        (is_giving(q->type) && q->source == NULL)) {
        return SARATOGA_ERR_INVAL;
    }
    return q->options != NULL ? saratoga_options_check(q->options, NULL) : 0;
}

static bool has_id(const saratoga_engine *e, uint64_t host, uint32_t id) {
    saratoga__key key = {host, id, true};
    bool found = saratoga__table_by_key(&e->table, &key) != NULL;
    key.sends = false;
    return found || saratoga__table_by_key(&e->table, &key) != NULL;
}

static bool is_zero(const uint8_t *p, size_t len) {
    while (len > 0 && *p == 0) {
        p++;
        len--;
    }
    return len == 0;
}

/* Anyone who sees the generator's output could predict its next values. */
static uint32_t random_id(saratoga_engine *e) {
    uint64_t x = cmn__rng_next(&e->ctx.rng);
    char drawn[17] = "";
    for (int i = 0; i < 16; i++) {
        drawn[i] = "0123456789abcdef"[x >> 4 * i & 15];
    }
    return saratoga__keyed_id(e->ctx.secret, "", 0, drawn);
}

static uint32_t stable_id(const saratoga_engine *e, const saratoga_request *q) {
    return saratoga__keyed_id(e->ctx.cfg.id_key,
                              q->peer_name != NULL ? q->peer_name : "", q->type,
                              q->path != NULL ? q->path : "");
}

static int choose_id(saratoga_engine *e, const saratoga_request *q,
                     uint32_t *id) {
    bool random = is_zero(e->ctx.cfg.id_key, sizeof(e->ctx.cfg.id_key));
    *id = q->id;
    if (*id != 0) {
        return has_id(e, q->to.host, *id) ? SARATOGA_ERR_STATE : 0;
    }
    *id = random ? random_id(e) : stable_id(e, q);
    if (*id == 0) {
        return SARATOGA_ERR_NOMEM;
    }
    for (int i = 0; i < ID_TRIES; i++) {
        if (*id != 0 && !has_id(e, q->to.host, *id)) {
            return 0;
        }
        *id = random ? random_id(e) : *id + 1;
    }
    return SARATOGA_ERR_STATE;
}

static int fill(saratoga__session *s, const saratoga_request *q) {
    int rv = 0;
    if (q->path != NULL) {
        memcpy(s->path, q->path, strlen(q->path) + 1);
    }
    if (q->auth_len > 0) {
        s->auth = cmn__resize(&s->ctx->mem, NULL, q->auth_len);
        if (s->auth == NULL) {
            return SARATOGA_ERR_NOMEM;
        }
        memcpy(s->auth, q->auth, q->auth_len);
        s->auth_len = q->auth_len;
    }
    s->user = q->user;
    s->initiator = true;
    if (s->sends) {
        rv = saratoga__session_describe(s, q->source, SARATOGA_128_BIT);
    } else if (q->partial != NULL) {
        rv = saratoga__receiver_keep(s, q->partial);
        s->announce = s->opt.update_check;
    }
    return rv;
}

static void transfer_begin(saratoga__session *s, saratoga_time now) {
    s->state = SARATOGA__ASKING;
    if (s->type == SARATOGA_BLIND_PUT) {
        /* A blind put begins without knowing what the peer accepts. */
        saratoga__session_open(s, now);
    } else {
        s->send_request = true;
    }
}

static int send_noop(saratoga_engine *e, const saratoga_request *q,
                     saratoga_handle *handle, saratoga_time now) {
    saratoga__stateless *s;
    cmn__writer w;
    saratoga__request pkt = {.abilities = saratoga__context_abilities(&e->ctx),
                             .type = SARATOGA_NOOP,
                             .id = q->id,
                             .descriptor = e->ctx.defaults.max_descriptor,
                             .path = ""};
    if (e->stateless_count == SARATOGA__STATELESS_MAX) {
        return SARATOGA_ERR_LIMIT;
    }
    s = &e->stateless[(e->stateless_first + e->stateless_count++) %
                      SARATOGA__STATELESS_MAX];
    s->to = q->to;
    w = cmn__writer_of(s->bytes, sizeof(s->bytes));
    saratoga__request_write(&w, &pkt);
    saratoga__sign(&e->ctx, &w, s->bytes, 8, now);
    s->len = (size_t)(w.p - s->bytes);
    *handle = 0;
    return 0;
}

int saratoga_transfer_start(saratoga_engine *engine,
                            const saratoga_request *request,
                            saratoga_handle *handle, saratoga_time now) {
    saratoga_options opt;
    saratoga__session *s;
    uint32_t id;
    int rv = check_request(request);
    if (rv == 0 && request->type == SARATOGA_NOOP) {
        return send_noop(engine, request, handle, now);
    }
    rv = rv != 0 ? rv : choose_id(engine, request, &id);
    if (rv != 0) {
        return rv;
    }
    saratoga__options_take(&opt, request->options != NULL
                                     ? request->options
                                     : &engine->ctx.defaults);
    (void)saratoga__engine_has_room(engine); /* otherwise the table refuses */
    rv = saratoga__engine_add(engine, &opt, &request->to, id, request->type,
                              is_giving(request->type), &s, now);
    if (rv != 0) {
        return rv;
    }
    rv = fill(s, request);
    if (rv != 0) {
        saratoga__engine_remove(engine, s);
        return rv;
    }
    *handle = s->handle;
    if ((s->to.flags & SARATOGA_PKT_MULTICAST) != 0) {
        engine->group = s->to.host;
        s->of_group = !s->sends;
    }
    transfer_begin(s, now);
    saratoga__engine_touch(engine, s, now);
    return 0;
}

/* ---- answering ---- */

static int take_source(saratoga__session *s, const saratoga_source *src,
                       saratoga_time now) {
    int rv;
    if (src == NULL || (src->kind == SARATOGA_STREAM &&
                        (s->peer_abilities & SARATOGA_STREAMS) == 0)) {
        return SARATOGA_ERR_INVAL;
    }
    rv = saratoga__session_describe(s, src, s->peer_descriptor);
    if (rv == SARATOGA_ERR_TOO_LONG) {
        saratoga__session_end(s, rv, SARATOGA_TOO_LONG, false, true, now);
    }
    return rv;
}

static int transfer_take_options(saratoga__session *s,
                                 const saratoga_options *o) {
    saratoga_options full;
    void *block;
    saratoga__options_take(&full, o);
    if (saratoga__options_own(&full, &s->ctx->mem, &block) != 0) {
        return SARATOGA_ERR_NOMEM;
    }
    cmn__free(&s->ctx->mem, s->opt_block);
    s->opt_block = block;
    s->opt = full;
    return 0;
}

/* The answer goes to a group: all its members receive it, no matter who
 * asked. */
static int take_group(saratoga__session *s, const saratoga_answer *a) {
    size_t end = offsetof(saratoga_answer, group) + sizeof(a->group);
    if (a->struct_size < end || a->group.path == 0) {
        return 0;
    }
    if (s->type != SARATOGA_GET) {
        return SARATOGA_ERR_INVAL;
    }
    s->to = a->group;
    s->to.flags = SARATOGA_PKT_MULTICAST;
    s->opt.multicast = true;
    return 0;
}

static int transfer_take_answer(saratoga__session *s, const saratoga_answer *a,
                                saratoga_time now) {
    bool multicast = s->opt.multicast;
    int rv = 0;
    if (a != NULL && a->options != NULL) {
        rv = saratoga_options_check(a->options, NULL);
        if (rv == 0) {
            rv = transfer_take_options(s, a->options);
            s->opt.multicast |= multicast;
        }
    }
    if (rv == 0 && s->sends) {
        rv = take_source(s, a != NULL ? a->source : NULL, now);
        rv = rv == 0 ? take_group(s, a) : rv;
    } else if (rv == 0 && a != NULL && a->partial != NULL) {
        rv = saratoga__receiver_keep(s, a->partial);
    }
    if (rv == 0 && a != NULL) {
        s->user = a->user;
    }
    return rv;
}

static void forget_packet(saratoga__session *s) {
    cmn__free(&s->ctx->mem, s->asked_packet);
    s->asked_packet = NULL;
}

/* Applies the METADATA of a blind put, which came with its request event. */
static void take_early_metadata(saratoga__session *s, saratoga_time now) {
    saratoga__metadata m = {.descriptor = s->descriptor,
                            .kind = s->kind,
                            .lite = s->entry.lite,
                            .id = s->id,
                            .sum_type = s->sum_type,
                            .sum_len = s->sum_len};
    uint8_t sum[SARATOGA__SUM_MAX];
    if (s->type != SARATOGA_BLIND_PUT || !s->has_entry) {
        return;
    }
    memcpy(sum, s->sum, sizeof(sum));
    m.sum = sum;
    m.entry = s->entry;
    saratoga__session_on_metadata(s, &m, now);
}

int saratoga_transfer_accept(saratoga_engine *engine, saratoga_handle handle,
                             const saratoga_answer *answer, saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    int rv;
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (s->state != SARATOGA__ASKED) {
        return SARATOGA_ERR_STATE;
    }
    rv = transfer_take_answer(s, answer, now);
    if (rv == 0) {
        forget_packet(s);
        if (s->type == SARATOGA_DELETE) {
            s->send_reply = true;
            saratoga__session_end(s, 0, SARATOGA_SUCCESS, false, false, now);
        } else {
            saratoga__session_open(s, now);
            s->send_reply = !s->sends && !s->opt.multicast;
            take_early_metadata(s, now);
            saratoga__session_replay(s, now);
        }
    }
    saratoga__engine_touch(engine, s, now);
    return rv;
}

int saratoga_transfer_join(saratoga_engine *engine, saratoga_handle handle,
                           saratoga_handle running, saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    saratoga__session *other = saratoga__engine_find(engine, running);
    if (s == NULL || other == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (s->state != SARATOGA__ASKED || s->type != SARATOGA_GET ||
        other->state != SARATOGA__OPEN || !other->sends ||
        !other->opt.multicast) {
        return SARATOGA_ERR_STATE;
    }
    forget_packet(s);
    other->send_metadata = true; /* tells members the Id */
    saratoga__session_end(s, 0, SARATOGA_SUCCESS, false, false, now);
    saratoga__engine_touch(engine, s, now);
    saratoga__engine_touch(engine, other, now);
    return 0;
}

static int end_by_driver(saratoga_engine *e, saratoga__session *s,
                         unsigned status, saratoga_time now) {
    bool denied = (status & 0xFF) == SARATOGA_ACCESS_DENIED;
    unsigned most = denied ? SARATOGA_DENIED_LAST | 0xFFu : 0xFFu;
    if (status == SARATOGA_SUCCESS || status > most) {
        return SARATOGA_ERR_INVAL;
    }
    forget_packet(s);
    saratoga__session_end(s, SARATOGA_ERR_CANCELLED, status, false, true, now);
    saratoga__engine_touch(e, s, now);
    return 0;
}

int saratoga_transfer_challenge(saratoga_engine *engine, saratoga_handle handle,
                                saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (s->state != SARATOGA__ASKED) {
        return SARATOGA_ERR_STATE;
    }
    s->proof.awaited = saratoga__proof_is_missing(s);
    if (s->proof.awaited) {
        saratoga__stateless_challenge(engine, &s->to, s->id, now);
    }
    return 0;
}

int saratoga_transfer_refuse(saratoga_engine *engine, saratoga_handle handle,
                             unsigned status, saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (s->state != SARATOGA__ASKED) {
        return SARATOGA_ERR_STATE;
    }
    return end_by_driver(engine, s, status, now);
}

int saratoga_transfer_cancel(saratoga_engine *engine, saratoga_handle handle,
                             unsigned status, saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (!saratoga__session_lives(s)) {
        return SARATOGA_ERR_STATE;
    }
    return end_by_driver(engine, s, status, now);
}

int saratoga_transfer_release(saratoga_engine *engine, saratoga_handle handle,
                              saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    s->done_reported = true;
    if (saratoga__session_lives(s)) {
        saratoga__session_end(s, SARATOGA_ERR_CANCELLED, SARATOGA_UNSPECIFIED,
                              false, s->state != SARATOGA__ASKING, now);
    }
    s->released = true;
    saratoga__engine_touch(engine, s, now);
    return 0;
}

/* ---- control ---- */

int saratoga_transfer_set_digest(saratoga_engine *engine,
                                 saratoga_handle handle, uint32_t type,
                                 const uint8_t *digest, saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    size_t len = saratoga_digest_len(type);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (!s->out.digest_pending) {
        return SARATOGA_ERR_STATE;
    }
    if (type > SARATOGA_SHA256 ||
        (type != SARATOGA_NONE && (len == 0 || digest == NULL))) {
        return SARATOGA_ERR_INVAL;
    }
    s->out.digest_pending = false;
    s->sum_type = type;
    s->sum_len = len;
    if (len > 0) {
        memcpy(s->sum, digest, len);
    }
    if (s->state == SARATOGA__OPEN) {
        s->send_metadata = true;
        s->out.patient = false;
        saratoga__sender_restart_poll(s, now);
    }
    saratoga__engine_touch(engine, s, now);
    return 0;
}

int saratoga_transfer_set_rate(saratoga_engine *engine, saratoga_handle handle,
                               uint64_t rate_bps, saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (!s->sends) {
        return SARATOGA_ERR_STATE;
    }
    s->opt.rate_bps = rate_bps;
    saratoga__pace_set_rate(&s->out.pace, rate_bps);
    saratoga__pace_update(&s->out.pace, s->rtt.srtt);
    saratoga__engine_touch(engine, s, now);
    return 0;
}

int saratoga_transfer_set_link_down(saratoga_engine *engine,
                                    saratoga_handle handle, bool down,
                                    saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (s->down && !down) {
        s->heard = now;
        s->out.unanswered = SARATOGA_TIME_NEVER;
        s->out.unacked_packets = 0;
        s->out.poll_due |= s->sends && s->state == SARATOGA__OPEN &&
                           s->out.next > s->out.proven;
    }
    s->down = down;
    saratoga__engine_touch(engine, s, now);
    return 0;
}

int saratoga_transfer_held(const saratoga_engine *engine,
                           saratoga_handle handle, uint64_t from,
                           saratoga_range *out) {
    const saratoga__session *s = saratoga__engine_find(engine, handle);
    cmn__range r;
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (s->sends || s->in.got.mem == NULL ||
        !cmn__ranges_next(&s->in.sink.held, from, &r)) {
        return 0;
    }
    *out = (saratoga_range){r.start, r.end};
    return 1;
}

static void sender_stats(const saratoga__session *s, saratoga_stats *st) {
    const saratoga__sender *o = &s->out;
    if (o->unanswered < st->now) {
        st->unanswered_ns = st->now - o->unanswered;
    }
    st->size_bytes = o->size;
    st->resumed_bytes = o->resumed;
    st->bytes = o->held > o->proven ? o->held : o->proven;
    st->progress_bytes = o->proven;
    st->highest_bytes = o->next;
    st->todo_bytes = o->stalled ? 0 : o->todo.total;
    st->flight_bytes = o->log.flight;
    st->rate_bps = (uint64_t)(8 * o->pace.pacer.rate);
    st->cwnd_bytes = UINT64_MAX;
    st->loss_rate = o->pace.p;
    st->receive_rate = o->pace.x_recv;
    if (o->pace.cong != NULL && o->pace.cong->cwnd < 1.8e19) {
        st->cwnd_bytes = (uint64_t)o->pace.cong->cwnd;
    }
    strncpy(st->congestion,
            o->pace.cong != NULL ? o->pace.cong->ops->name : "open",
            sizeof(st->congestion) - 1);
}

static void receiver_stats(const saratoga__session *s, saratoga_stats *st) {
    const saratoga__receiver *in = &s->in;
    cmn__range r;
    st->size_bytes = in->size;
    st->resumed_bytes = in->resumed;
    st->bytes = in->got.total;
    st->highest_bytes = in->highest;
    st->written_bytes = in->sink.held.total;
    st->digested_bytes = in->sink.digested;
    if (cmn__ranges_next(&in->got, 0, &r) && r.start == 0) {
        st->progress_bytes = r.end;
    }
    st->holes = in->got.count > 0 ? in->got.count - 1 : 0;
    st->hole_bytes = in->highest - in->got.total;
    st->cwnd_bytes = UINT64_MAX;
}

static uint64_t time_of(cong_time t) {
    return t > 0 ? (uint64_t)t : 0;
}

int saratoga_transfer_get_stats(const saratoga_engine *engine,
                                saratoga_handle handle, saratoga_stats *st,
                                saratoga_time now) {
    const saratoga__session *s = saratoga__engine_find(engine, handle);
    saratoga_stats full;
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (!cmn__sized_is_set(st)) {
        return SARATOGA_ERR_INVAL;
    }
    full = s->st;
    full.size_bytes = SARATOGA_SIZE_UNKNOWN;
    full.now = saratoga__session_lives(s) ? now : s->ended_at;
    if (s->sends && s->out.todo.mem != NULL) {
        sender_stats(s, &full);
    } else if (s->in.got.mem != NULL) {
        receiver_stats(s, &full);
    }
    full.srtt_ns = time_of(s->rtt.srtt);
    full.min_rtt_ns = time_of(s->rtt.min_rtt);
    full.latest_rtt_ns = time_of(s->rtt.latest);
    full.since = s->born;
    full.request = s->type;
    full.kind = s->kind;
    full.descriptor = s->descriptor;
    full.checksum = saratoga__sum_follows(s->sum_type, s->sum_len)
                        ? (uint32_t)SARATOGA_NONE
                        : s->sum_type;
    full.id = s->id;
    full.sending = s->sends ? 1 : 0;
    cmn__sized_give(st, &full, sizeof(full));
    return 0;
}

int saratoga_transfer_set_user(saratoga_engine *engine, saratoga_handle handle,
                               void *user) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    s->user = user;
    return 0;
}

void *saratoga_transfer_user(const saratoga_engine *engine,
                             saratoga_handle handle) {
    const saratoga__session *s = saratoga__engine_find(engine, handle);
    return s != NULL ? s->user : NULL;
}

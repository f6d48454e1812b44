/* SPDX-License-Identifier: MPL-2.0 */
/* Processes REQUESTs. */
#include "libsaratoga/engine/engine_input.h"

static bool keep_packet(saratoga__session *s, const saratoga__input *in,
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

/* A signed request came from a holder of the key. */
static bool may_begin(saratoga_engine *e, const saratoga__input *in,
                      uint32_t type) {
    return e->ctx.auth.key_len > 0 || saratoga__input_admit(e, in, type);
}

static void new_request(saratoga_engine *e, const saratoga__input *in,
                        const saratoga__request *q, saratoga__session *s,
                        const saratoga_entry *announced) {
    bool sends = saratoga__is_sender(q->type, false);
    uint32_t busy = sends ? SARATOGA_CANNOT_SEND : SARATOGA_CANNOT_RECEIVE;
    if (s == NULL && !may_begin(e, in, q->type)) {
        return;
    }
    if (s == NULL && (saratoga__input_is_full(e, in->from->host) ||
                      saratoga__engine_add(e, &e->ctx.defaults, in->from, q->id,
                                           q->type, sends, &s, in->now) != 0)) {
        saratoga__stateless_refuse(e, in->from, q->id, busy, in->now);
        return;
    }
    if (!s->proof.proven && s->proof.slot == SARATOGA__NO_SLOT) {
        saratoga__input_enter(e, s, in);
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

/* Whether METADATA were sent within the last RTT. */
static bool was_just_sent(const saratoga__session *s, saratoga_time now) {
    return s->out.meta_sent && s->rtt.srtt > 0 &&
           now < saratoga__later(s->out.meta_at, (saratoga_time)s->rtt.srtt);
}

/* Answers a REQUEST that was repeated because our answer was lost. */
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

/* METADATA of the requester's copy arrived before the REQUEST and looked like a
 * blind put. */
static bool announced_before(saratoga_engine *e, const saratoga__request *q,
                             const saratoga__input *in) {
    saratoga__session *s =
        saratoga__input_session(e, in->from->host, q->id, false);
    saratoga_entry entry;
    if (s == NULL || s->state != SARATOGA__EXPECTING || !s->announced) {
        return false;
    }
    entry = s->entry;
    saratoga__engine_remove(e, s);
    new_request(e, in, q, NULL, &entry);
    return true;
}

/* A signed REQUEST to this engine alone names a challenge of it, which is thus
 * proven to have arrived at the requester's address. */
static enum saratoga__verdict judge_bound(saratoga_engine *e,
                                          const saratoga__input *in,
                                          const saratoga__signed *field) {
    saratoga__challenge c;
    enum saratoga__verdict v = SARATOGA__UNBOUND;
    uint64_t nonce;
    uint64_t made;
    if (!saratoga__auth_is_bound(&e->ctx.auth, field, &c, &nonce)) {
        return SARATOGA__FORGED;
    }
    if (saratoga__stateless_is_challenge(e, in->from->host, &c, &made,
                                         in->now)) {
        v = saratoga__auth_spend(&e->ctx.auth, made, nonce);
    }
    if (v == SARATOGA__GENUINE) {
        saratoga__admission_learn(&e->admission, in->from->path, in->now);
    }
    return v;
}

/* A no-op or a REQUEST to a group gets no challenge. */
static enum saratoga__verdict judge(saratoga_engine *e,
                                    const saratoga__input *in,
                                    const saratoga__request *q) {
    const saratoga__signed field = {in->dgram, 8 + q->path_len, q->auth,
                                    q->auth_len};
    bool group = (in->from->flags & SARATOGA_PKT_MULTICAST) != 0;
    if (e->ctx.auth.key_len == 0) {
        return SARATOGA__GENUINE;
    }
    return group || q->type == SARATOGA_NOOP
               ? saratoga__auth_judge(&e->ctx.auth, &field,
                                      in->now +
                                          (uint64_t)e->ctx.cfg.posix_offset)
               : judge_bound(e, in, &field);
}

/* With a key, only signed requests are served, each once. Repeats are dropped
 * silently: the network duplicates packets. */
static bool is_allowed(saratoga_engine *e, const saratoga__input *in,
                       const saratoga__request *q) {
    enum saratoga__verdict v = judge(e, in, q);
    if (v == SARATOGA__FORGED) {
        e->ctx.stats.callers_rejected++;
        saratoga__stateless_refuse(
            e, in->from, q->id, SARATOGA_DENIED(SARATOGA_DENIED_KEY), in->now);
    } else if (v == SARATOGA__UNBOUND) {
        saratoga__stateless_challenge(e, in->from, q->id, in->now);
    } else if (v == SARATOGA__REPLAYED) {
        saratoga__input_drop(e);
    }
    return v == SARATOGA__GENUINE;
}

/* A group may be sent only requests that one member can answer for all. */
static bool is_for_all(const saratoga__input *in, const saratoga__request *q) {
    return (in->from->flags & SARATOGA_PKT_MULTICAST) == 0 ||
           q->type == SARATOGA_GET || q->type == SARATOGA_GETDIR ||
           q->type == SARATOGA_NOOP;
}

void saratoga__input_on_request(saratoga_engine *e, const saratoga__input *in) {
    saratoga__request q;
    saratoga__session *s;
    saratoga_event ev = {
        .type = SARATOGA_EVENT_NOOP, .from = *in->from, .path = ""};
    if (!saratoga__request_parse(in->dgram, in->len, &q) ||
        !is_for_all(in, &q)) {
        saratoga__input_drop(e);
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
    s = saratoga__input_session(e, in->from->host, q.id,
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
        saratoga__input_heard_from(s, in->from);
        saratoga__input_count(e, s, in);
        s->heard = s->state == SARATOGA__ASKED ? in->now : s->heard;
        repeat_answer(s, in->now);
        if (s->state == SARATOGA__ASKED && s->proof.awaited &&
            saratoga__proof_is_missing(s)) {
            saratoga__stateless_challenge(e, in->from, in->id, in->now);
        }
        saratoga__engine_touch(e, s, in->now);
    }
}

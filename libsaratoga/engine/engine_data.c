/* SPDX-License-Identifier: MPL-2.0 */
/* Received DATA and METADATA: finds or begins their session. */
#include "libsaratoga/engine/engine_input.h"

/* METADATA or DATA without a REQUEST: possibly a blind put. */
static saratoga__session *new_unsolicited(saratoga_engine *e,
                                          const saratoga__input *in) {
    bool group = (in->from->flags & SARATOGA_PKT_MULTICAST) != 0;
    saratoga__session *s = NULL;
    /* an engine receives its own packets to a group */
    if (group && (e->ctx.cfg.own_transfers_only ||
                  saratoga__group_index_is_sent(e, in->id))) {
        saratoga__input_drop(e);
        return NULL;
    }
    if (e->ctx.auth.key_len > 0) { /* a blind put is not signed */
        saratoga__stateless_refuse(
            e, in->from, in->id, SARATOGA_DENIED(SARATOGA_DENIED_KEY), in->now);
        return NULL;
    }
    if (!saratoga__input_admit(e, in, SARATOGA_BLIND_PUT)) {
        return NULL;
    }
    if (saratoga__input_is_full(e, in->from->host) || !e->ctx.cfg.can_receive ||
        saratoga__engine_add(e, &e->ctx.defaults, in->from, in->id,
                             SARATOGA_BLIND_PUT, false, &s, in->now) != 0) {
        saratoga__stateless_refuse(e, in->from, in->id, SARATOGA_CANNOT_RECEIVE,
                                   in->now);
        return NULL;
    }
    s->to.flags = 0;
    s->opt.multicast = group;
    s->state = SARATOGA__EXPECTING;
    saratoga__input_enter(e, s, in);
    return s;
}

/* The transfer that a packet with an unknown host or Id answers: one that asked
 * a group, or one that waits for the same path. */
static saratoga__session *requester_of(const saratoga_engine *e,
                                       const saratoga__input *in,
                                       const char *path) {
    bool group = (in->from->flags & SARATOGA_PKT_MULTICAST) != 0;
    saratoga__session *s = saratoga__group_index_requester(e, in->id);
    return s == NULL && group && path != NULL
               ? saratoga__group_index_waiting(e, path, in->from->host)
               : s;
}

/* The first answer is taken; later ones are refused. */
static saratoga__session *engine_recv_take_answer(saratoga_engine *e,
                                                  const saratoga__input *in,
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

/* The receiver of METADATA (with a path) or DATA; NULL: none. */
static saratoga__session *
receiver_of(saratoga_engine *e, const saratoga__input *in, const char *path) {
    saratoga__session *s =
        saratoga__input_session(e, in->from->host, in->id, false);
    if (s == NULL) {
        s = requester_of(e, in, path);
        s = s != NULL ? engine_recv_take_answer(e, in, s)
                      : new_unsolicited(e, in);
    } else {
        saratoga__input_count(e, s, in);
    }
    if (s == NULL) {
        return NULL;
    }
    saratoga__input_heard_from(s, in->from);
    if ((in->from->flags & SARATOGA_PKT_MULTICAST) != 0) {
        s->opt.multicast = true; /* also when it began as unicast */
        s->to.group = in->from->group;
    }
    return s;
}

static void on_blind_metadata(saratoga_engine *e, saratoga__session *s,
                              const saratoga__metadata *m,
                              const saratoga__input *in) {
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

void saratoga__input_on_metadata(saratoga_engine *e,
                                 const saratoga__input *in) {
    saratoga__metadata m;
    saratoga__session *s;
    if (!saratoga__metadata_parse(in->dgram, in->len, &m)) {
        saratoga__input_drop(e);
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

/* DATA of a blind put whose METADATA were lost: requests METADATA at once, and
 * again at each request for a STATUS. */
static void want_metadata(saratoga_engine *e, saratoga__session *s,
                          const saratoga__input *in, const saratoga__data *d) {
    bool group = (in->from->flags & SARATOGA_PKT_MULTICAST) != 0;
    if (s->state == SARATOGA__EXPECTING && !group &&
        (d->asks || !s->metadata_wanted)) {
        s->metadata_wanted = true;
        saratoga__stateless_echo(e, in->from, d);
    }
}

void saratoga__input_on_data(saratoga_engine *e, const saratoga__input *in) {
    saratoga__data d;
    saratoga__session *s;
    if (!saratoga__data_parse(in->dgram, in->len, &d)) {
        saratoga__input_drop(e);
        return;
    }
    if (saratoga__input_answers_challenge(e, in, &d)) {
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
        /* Refused or given up, but the sender does not know yet. */
        s->send_error |= s->status != SARATOGA_SUCCESS && d.asks;
    } else if (s->state == SARATOGA__EXPECTING && s->announced) {
        saratoga__session_ask(s, NULL); /* so it is a blind put */
    } else {
        want_metadata(e, s, in, &d);
        saratoga__session_on_data(s, &d, in->now);
    }
    saratoga__engine_touch(e, s, in->now);
}

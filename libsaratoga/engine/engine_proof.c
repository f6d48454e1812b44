/* SPDX-License-Identifier: MPL-2.0 */
/* Address validation: when peers may begin, and when they are proven. */
#include "libsaratoga/engine/engine_input.h"

#define EVICT_AFTER SARATOGA_S /* of silence */

static bool is_proven(const saratoga_engine *e, const saratoga__input *in) {
    return (in->from->flags & SARATOGA_PKT_PROVEN) != 0 ||
           saratoga__admission_knows(&e->admission, in->from->path, in->now);
}

void saratoga__input_prove(saratoga_engine *e, saratoga__session *s) {
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

void saratoga__input_count(saratoga_engine *e, saratoga__session *s,
                           const saratoga__input *in) {
    saratoga__proof_on_received(s, in->len);
    if ((in->from->flags & SARATOGA_PKT_PROVEN) != 0) {
        saratoga__input_prove(e, s);
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

/* Makes room for another unproven peer by evicting a silent one. False: the one
 * drawn is active. */
static bool make_way(saratoga_engine *e, saratoga_time now) {
    saratoga__session *victim = saratoga__admission_victim(&e->admission);
    if (victim == NULL) {
        return true;
    }
    if (saratoga__admission_knows(&e->admission, victim->to.path, now)) {
        saratoga__input_prove(e, victim); /* proven by another transfer */
        return true;
    }
    if (now < saratoga__later(victim->heard, EVICT_AFTER)) {
        return false;
    }
    evict(e, victim, now);
    return true;
}

bool saratoga__input_admit(saratoga_engine *e, const saratoga__input *in,
                           uint32_t type) {
    if (is_proven(e, in) || e->ctx.defaults.unconfirmed == UINT64_MAX ||
        (saratoga__admission_pass(&e->admission, type, in->now) &&
         make_way(e, in->now))) {
        return true;
    }
    saratoga__stateless_challenge(e, in->from, in->id, in->now);
    return false;
}

void saratoga__input_enter(saratoga_engine *e, saratoga__session *s,
                           const saratoga__input *in) {
    saratoga__session *victim;
    s->proof.proven = is_proven(e, in);
    saratoga__input_count(e, s, in);
    if (!saratoga__proof_is_missing(s)) {
        return;
    }
    victim = saratoga__admission_victim(&e->admission);
    /* A signed request is let in past saratoga__input_admit(). */
    if (victim != NULL) {
        evict(e, victim, in->now);
    }
    saratoga__admission_enter(&e->admission, s);
}

/* An empty packet that requests a STATUS before anything was sent is an address
 * challenge. The answer repeats what the stateless peer forgot. */
bool saratoga__input_answers_challenge(saratoga_engine *e,
                                       const saratoga__input *in,
                                       const saratoga__data *d) {
    saratoga__session *s;
    if (d->len > 0 || !d->asks || d->eod || d->timestamp == NULL ||
        d->offset.lo != 0 || d->offset.hi != 0) {
        return false;
    }
    s = saratoga__input_session(e, in->from->host, in->id, false);
    if (s == NULL) {
        s = saratoga__input_session(e, in->from->host, in->id, true);
    }
    if (s == NULL || !s->initiator) {
        return false;
    }
    if (s->proof.challenges >= s->opt.request_tries ||
        (s->state != SARATOGA__ASKING &&
         !(s->sends && s->type == SARATOGA_BLIND_PUT && !s->out.confirmed))) {
        return s->sends; /* a sender is sent nothing else: it comes late */
    }
    saratoga__challenges_learn(&e->ctx.challenges, in->from->host, in->id,
                               d->timestamp);
    s->proof.challenges++;
    /* The peer is there: a lost answer is repeated as often as the first
     * REQUEST. One is left counted, since its answer gives no RTT. */
    s->tries = s->tries > 0;
    s->retry_wait = s->opt.request_retry;
    s->heard = in->now;
    saratoga__input_heard_from(s, in->from);
    saratoga__stateless_echo(e, in->from, d);
    s->send_request = s->state == SARATOGA__ASKING;
    s->send_metadata |= s->state == SARATOGA__OPEN;
    saratoga__engine_touch(e, s, in->now);
    return true;
}

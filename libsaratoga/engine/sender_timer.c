/* SPDX-License-Identifier: MPL-2.0 */
/* A sender's timers: stalls, timeouts, polls. */
#include "libsaratoga/engine/session.h"

#define ONE_WAY_METADATA SARATOGA_S /* repetition interval */
#define STALL_MIN (2 * SARATOGA_S)
#define SILENCES 4 /* keep-alives within the silence that ends a session */

static saratoga_time stall_after(const saratoga__session *s) {
    saratoga_time rto = (saratoga_time)cong_rtt_rto(&s->rtt);
    saratoga_time half = s->opt.inactivity / 2;
    if (!s->out.confirmed) {
        return half;
    }
    return 4 * rto > STALL_MIN ? 4 * rto : STALL_MIN;
}

/* Until when group members may request missing data. */
static saratoga_time linger_end(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    saratoga_time last = o->sent_at > o->meta_at ? o->sent_at : o->meta_at;
    return saratoga__later(last, s->opt.linger);
}

/* Ends a pass of a one-way transfer: begins another or finishes. */
static void end_pass(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    if (o->passes > 1) {
        o->passes--;
        (void)cmn__ranges_add(&o->todo, 0, o->size, NULL);
        saratoga__sender_plan(s);
    } else if (!s->opt.multicast || now >= linger_end(s)) {
        saratoga__session_end(s, 0, SARATOGA_SUCCESS, false, false, now);
    }
}

static void one_way_timeout(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    bool drained = saratoga__sender_is_drained(s);
    if (drained && (o->eod_sent || s->unchanged)) {
        end_pass(s, now);
    } else if (now >= saratoga__later(o->meta_at, ONE_WAY_METADATA)) {
        s->send_metadata = true;
        o->meta_at = now;
    }
}

/* A controller may allow only a packet per minute, and a stream may be idle:
 * the session must survive that. */
static saratoga_time keep_alive_at(const saratoga__session *s) {
    const saratoga__sender *o = &s->out;
    if (!o->confirmed || o->poll_due || !o->meta_sent) {
        return SARATOGA_TIME_NEVER;
    }
    return saratoga__later(o->sent_at > 0 ? o->sent_at : o->meta_at,
                           s->opt.inactivity / SILENCES);
}

static bool owes_answer(const saratoga__sender *o) {
    return o->unanswered != SARATOGA_TIME_NEVER;
}

static bool only_polls(const saratoga__sender *o) {
    return o->stalled || o->patient || o->todo.count == 0;
}

static void check_stall(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    if (!o->stalled && owes_answer(o) &&
        now >= saratoga__later(o->unanswered, stall_after(s))) {
        o->stalled = true;
        o->poll_due = true;
        saratoga__context_trace(s->ctx, "saratoga:stalled", s->handle, now,
                                NULL, NULL, "no answer");
    }
}

static void check_rto(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    if (o->pace.law != SARATOGA__WINDOW || now < o->rto_at) {
        return;
    }
    o->timeouts++;
    s->rtt.backoff = o->timeouts;
    saratoga__pace_on_rto(&o->pace, (double)o->log.flight, o->log.ring.tail,
                          o->timeouts, now);
    saratoga__sentlog_give_up(&o->log);
    o->poll_due = true;
    o->rto_at = SARATOGA_TIME_NEVER;
}

void saratoga__sender_on_timeout(saratoga__session *s, saratoga_time now) {
    saratoga__sender *o = &s->out;
    saratoga__pace_on_timeout(&o->pace, (double)o->log.flight, owes_answer(o),
                              now);
    if (saratoga__sender_is_one_way(s)) {
        one_way_timeout(s, now);
        return;
    }
    check_stall(s, now);
    check_rto(s, now);
    o->poll_due |= now >= keep_alive_at(s);
    o->poll_due |= now >= saratoga__sender_next_ask(s) &&
                   saratoga__sender_is_window_shut(s);
    if (now >= o->poll_at && only_polls(o)) {
        o->poll_due |= o->stalled || o->todo.count == 0;
        o->patient = false; /* a repair is a poll, too */
        o->poll_at = SARATOGA_TIME_NEVER;
    }
    if (s->unchanged && o->meta_sent &&
        now >= saratoga__later(o->meta_at, saratoga__sender_first_wait(s))) {
        s->send_metadata = true;
    }
}

static saratoga_time one_way_wake(const saratoga__session *s,
                                  saratoga_time at) {
    const saratoga__sender *o = &s->out;
    if (saratoga__sender_is_drained(s)) {
        saratoga_time end =
            s->opt.multicast && o->passes <= 1 ? linger_end(s) : 0;
        return saratoga__sooner(at, end);
    }
    return saratoga__sooner(at, saratoga__later(o->meta_at, ONE_WAY_METADATA));
}

saratoga_time saratoga__sender_wake(const saratoga__session *s,
                                    saratoga_time now) {
    const saratoga__sender *o = &s->out;
    saratoga_time at = o->pace.feedback_at;
    if (!saratoga__sender_is_held_up(s)) {
        at = saratoga__sooner(
            at, saratoga__pace_next(&o->pace, (double)o->log.flight, now + 1));
    }
    if (saratoga__sender_is_one_way(s)) {
        return one_way_wake(s, at);
    }
    if (owes_answer(o) && !o->stalled) {
        at = saratoga__sooner(at,
                              saratoga__later(o->unanswered, stall_after(s)));
    }
    if (o->pace.law == SARATOGA__WINDOW) {
        at = saratoga__sooner(at, o->rto_at);
    }
    if (saratoga__sender_is_window_shut(s) && !o->poll_due) {
        at = saratoga__sooner(at, saratoga__sender_next_ask(s));
    }
    if (only_polls(o)) {
        at = saratoga__sooner(at, o->poll_at);
    }
    at = saratoga__sooner(at, keep_alive_at(s));
    if (s->unchanged) {
        at = saratoga__sooner(
            at, saratoga__later(o->meta_at, saratoga__sender_first_wait(s)));
    }
    return at;
}

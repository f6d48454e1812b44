/* SPDX-License-Identifier: MPL-2.0 */
/* Loss, probe and lifetime timers. */
#include "libtltcp/engine/sender.h"

#define PTO_SHIFT_MAX 6u
#define PTO_MAX (10 * TLTCP_S)
#define PTO_EVEN 6u /* probe timeouts in a row before live data backs off */
#define ASK_EVERY (600 * TLTCP_MS) /* or one PTO */

#define PROMPT_EVERY 2u /* packets for an ACK */

#define PTO_CALL_MAX TLTCP_S /* for the first calls without an answer */
#define PTO_CALLS 10u        /* number of these calls */

/* How often the wait has doubled. Burst losses end after a number of packets,
 * and data after its deadline is useless. So for data with a deadline, even if
 * all of it was just given up, the first probes keep an even pace of about one
 * packet per round trip, as Linux does for thin streams
 * (tcp_thin_linear_timeouts). */
static unsigned backoff(const tltcp__sender *s) {
    unsigned even = s->sec.live ? PTO_EVEN : 0;
    return s->pto_count > even ? s->pto_count - even : 0;
}

/* Data of the dupack recovery is out.  A probe that is answered would end the
 * RTO's backoff, which only new data may (Karn). */
static bool awaits_rto(const tltcp__sender *s) {
    return s->dup != NULL && s->dup->rto_at != TLTCP_TIME_NEVER;
}

/* Where much is lost, a call must be repeated often to be heard in time. */
static tltcp_time longest_wait(const tltcp__sender *s) {
    bool calls = s->cc.rtt.srtt < 0 && s->pto_count < PTO_CALLS;
    return calls ? PTO_CALL_MAX : PTO_MAX;
}

/* A second packet makes the peer acknowledge at once, so its delay is left out,
 * as RFC 8985 section 7.2 does; elsewhere a longer silence is worth waiting for
 * what it may be. */
static tltcp_time probe_wait(const tltcp__sender *s) {
    tltcp_time pto = tltcp__sender_pto(s);
    bool prompt = s->map.flying > 1 && s->frequency.every <= PROMPT_EVERY &&
                  s->cc.rtt.srtt >= 0 && !s->reliable;
    return prompt && tltcp__sender_loses(s) ? pto - tltcp__sender_ack_delay(s)
                                            : pto;
}

static tltcp_time doubled_wait(const tltcp__sender *s) {
    unsigned shift = backoff(s);
    tltcp_time wait = probe_wait(s)
                      << (shift < PTO_SHIFT_MAX ? shift : PTO_SHIFT_MAX);
    return tltcp__earlier(wait, longest_wait(s));
}

static tltcp_time ask_wait(const tltcp__sender *s) {
    tltcp_time pto = tltcp__sender_pto(s);
    return pto > ASK_EVERY ? pto : ASK_EVERY;
}

/* Live data must know soon that an outage is over.  So where the next probes
 * would be far off, PINGs go first: little traffic where many starve. */
static bool asks(const tltcp__sender *s) {
    return s->sec.live && doubled_wait(s) > ask_wait(s);
}

/* When the wait for a probe timeout began. On a path that loses packets, new
 * live data must not put the timeout off until the window is full. */
static tltcp_time silent_since(const tltcp__sender *s) {
    const tltcp__sent *oldest = tltcp__sentmap_first_in_flight(&s->map);
    tltcp_time since;
    if (oldest == NULL || !tltcp__sender_loses(s)) {
        return s->t_eliciting;
    }
    since = s->acked_at > s->t_probe ? s->acked_at : s->t_probe;
    since = oldest->at > since ? oldest->at : since;
    return tltcp__earlier(since, s->t_eliciting);
}

static tltcp_time pto_at(const tltcp__sender *s) {
    bool even = asks(s);
    bool grows = !even && backoff(s) < PTO_SHIFT_MAX;
    tltcp_time wait = even ? ask_wait(s) : doubled_wait(s);
    if (s->map.flying == 0 || awaits_rto(s)) {
        return TLTCP_TIME_NEVER;
    }
    return silent_since(s) + (grows ? wait : tltcp__uneven(wait, s->pto_count));
}

tltcp_time tltcp__sender_timeout(const tltcp__sender *s) {
    tltcp_time at = s->loss_at != TLTCP_TIME_NEVER ? s->loss_at : pto_at(s);
    if (s->dup != NULL) {
        at = tltcp__earlier(at, s->dup->rto_at);
    }
    at = tltcp__earlier(at, s->report_by);
    return tltcp__earlier(at, tltcp__sections_deadline(&s->sec));
}

/* In a silence that reduces the rate no more, the timer waits for the next
 * packet: four short round trips would wake the host for nothing. */
static void on_no_report(tltcp__sender *s, tltcp_time now) {
    double rate = s->cc.cong->pacing_rate;
    double flight = tltcp__sender_flight(s);
    tltcp__cc_on_event(&s->cc, CONG_NOFEEDBACK, flight, 0, 1, now);
    tltcp__sender_expect_report(s, now);
    if (flight <= 0 && s->cc.cong->pacing_rate >= rate) {
        s->report_by = TLTCP_TIME_NEVER;
    }
}

int tltcp__sender_on_timeout(tltcp__sender *s, tltcp_time now,
                             tltcp__feedback_result *result) {
    int rv = tltcp__sections_expire(&s->sec, now);
    if (s->dup != NULL && s->dup->rto_at <= now) {
        s->sec.stats->rto_count++;
        s->pto_count++; /* silence, too: the path may swallow large packets */
        result->pto_fired = true;
        tltcp__dupack_on_timeout(s->dup, &s->cc, &s->sec, now);
    }
    if (s->report_by <= now) {
        on_no_report(s, now);
    }
    if (rv == 0 && s->loss_at <= now) {
        rv = tltcp__sender_detect(s, now, result);
    } else if (rv == 0 && s->loss_at == TLTCP_TIME_NEVER && pto_at(s) <= now) {
        result->asks = asks(s);
        s->pto_probes = result->asks ? 0 : TLTCP__PTO_PROBES;
        s->pto_count++;
        tltcp__ecn_on_silence(&s->ecn, s->pto_count);
        s->sec.stats->probes_sent++;
        result->pto_fired = true;
        s->t_probe = now;
        s->t_eliciting = now; /* if nothing is sent, wait again */
    }
    return rv;
}

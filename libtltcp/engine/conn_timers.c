/* SPDX-License-Identifier: MPL-2.0 */
/* Timers of a connection. */
#include "libtltcp/engine/conn.h"

#define CLOSE_TRIES 16u
#define CHALLENGE_TRIES 3u
/* Keep-alive PINGs to a silent peer per idle timeout. */
#define ASKS 50u

/* When the sender has something for a packet. */
static tltcp_time data_at(const tltcp_conn *c) {
    const tltcp__sender *s = &c->sender;
    if (!tltcp__sender_would_send(s)) {
        return TLTCP_TIME_NEVER;
    }
    return s->pto_probes > 0 ? 0 : tltcp__cc_pace_at(&s->cc, c->now);
}

static bool urgent(const tltcp_conn *c) {
    switch (c->state) {
    case TLTCP__CONN_CALLING:
    case TLTCP__CONN_ANSWERED:
        return tltcp__conn_wants(c, TLTCP__WANT_HELLO) &&
               tltcp__conn_allowance(c) >= SEC__DATAGRAM_MIN;
    case TLTCP__CONN_OPEN:
        return (c->want & (uint16_t)~TLTCP__WANT_HELLO) != 0;
    case TLTCP__CONN_CLOSING:
    case TLTCP__CONN_DYING:
        return tltcp__conn_wants(c, TLTCP__WANT_CLOSE);
    default:
        return false;
    }
}

/* When a caller that has been answered, but not heard since, is forgotten. */
static tltcp_time forgotten_at(const tltcp_conn *c) {
    return !c->confirmed && c->unanswered != TLTCP_TIME_NEVER
               ? c->unanswered + c->opt.confirm
               : TLTCP_TIME_NEVER;
}

/* Before the connection is open, the connect timer applies. */
static tltcp_time idle_at(const tltcp_conn *c) {
    if (c->opt.idle == 0 || c->state < TLTCP__CONN_OPEN) {
        return TLTCP_TIME_NEVER;
    }
    return tltcp__earlier(c->heard_at + c->opt.idle, forgotten_at(c));
}

/* A peer that sends but acknowledges nothing does not delay a close. */
static tltcp_time linger_until(const tltcp_conn *c) {
    tltcp_time at = c->close.requested && c->opt.idle > 0 &&
                            c->unanswered != TLTCP_TIME_NEVER
                        ? c->unanswered + 2 * c->opt.idle
                        : TLTCP_TIME_NEVER;
    return tltcp__earlier(at, c->close.linger_until);
}

/* When the next packet is due. */
static tltcp_time send_at(const tltcp_conn *c) {
    tltcp_time at = c->acks.owed > 0 ? c->acks.due : TLTCP_TIME_NEVER;
    at = tltcp__earlier(at, tltcp__conn_report_at(c));
    at = tltcp__earlier(at, data_at(c));
    if (c->state == TLTCP__CONN_OPEN) {
        at = tltcp__earlier(at, tltcp__sender_dummy_at(&c->sender));
    }
    if (c->state == TLTCP__CONN_OPEN && c->may_probe_mtu &&
        tltcp__conn_spares_mtu_probe(c)) {
        at = tltcp__earlier(at, tltcp__mtu_due(&c->mtu));
    }
    return at;
}

/* When the next CLOSE is due. */
static tltcp_time close_at(const tltcp_conn *c) {
    return c->state == TLTCP__CONN_CLOSING &&
                   !tltcp__conn_wants(c, TLTCP__WANT_CLOSE)
               ? c->close.at
               : TLTCP_TIME_NEVER;
}

tltcp_time tltcp_conn_timeout(const tltcp_conn *c) {
    tltcp_time at;
    if (c->state == TLTCP__CONN_CLOSED) {
        return TLTCP_TIME_NEVER;
    }
    if (!c->blocked && urgent(c)) {
        return 0;
    }
    if (c->blocked && c->state == TLTCP__CONN_DYING) {
        return c->close.at;
    }
    at = tltcp__earlier(c->handshake.until, linger_until(c));
    at = tltcp__earlier(at, idle_at(c));
    at = tltcp__earlier(at, close_at(c));
    if (c->state == TLTCP__CONN_CALLED || c->state == TLTCP__CONN_DYING) {
        return at;
    }
    at = tltcp__earlier(at, tltcp__sender_timeout(&c->sender));
    if (!tltcp__conn_flows(c)) {
        return at;
    }
    if (!c->blocked) {
        at = tltcp__earlier(at, send_at(c));
    }
    at = tltcp__earlier(at, c->state == TLTCP__CONN_OPEN ? c->ping_at
                                                         : TLTCP_TIME_NEVER);
    if (c->paths.candidate.path != 0) {
        at = tltcp__earlier(at, c->paths.candidate.at);
    }
    return at;
}

static void on_candidate_timer(tltcp_conn *c, tltcp_time now) {
    tltcp__candidate *k = &c->paths.candidate;
    if (k->path == 0 || k->at > now) {
        return;
    }
    if (k->tries >= CHALLENGE_TRIES) {
        uint32_t number = k->number;
        *k = (tltcp__candidate){0};
        tltcp__conn_ids_on_no_answer(c, number);
    } else {
        c->want |= TLTCP__WANT_CHALLENGE;
        k->at = TLTCP_TIME_NEVER; /* until it has been sent */
    }
}

/* Whether the peer is silent: it has received the CLOSE and is gone, or there
 * is an outage, which may end. A caller that is still there pings after a third
 * of the idle timeout, perhaps from a new address. */
static bool is_silent(const tltcp_conn *c) {
    return c->now >= c->heard_at + (c->paths.may_have_moved ? c->opt.idle
                                                            : c->opt.idle / 2);
}

static void on_close_timer(tltcp_conn *c, tltcp_time now) {
    if (c->state != TLTCP__CONN_CLOSING || c->close.at > now ||
        tltcp__conn_wants(c, TLTCP__WANT_CLOSE)) {
        return;
    }
    if (c->close.tries >= CLOSE_TRIES && is_silent(c)) {
        tltcp__conn_terminate(
            c, 0); /* everything was delivered; the peer left first */
    } else {
        c->want |= TLTCP__WANT_CLOSE;
    }
}

/* Burst losses end after a number of packets, not after a time, and probes
 * become ever rarer. One PING per round trip is little traffic (RFC 8085
 * section 3.1.3). */
static tltcp_time ask_again_after(const tltcp_conn *c) {
    tltcp_time wait = c->opt.idle / ASKS;
    tltcp_time rtt = (tltcp_time)c->sender.cc.rtt.srtt;
    wait = wait > rtt ? wait : rtt;
    return c->opt.idle > 0 && wait < c->opt.keep_alive ? wait
                                                       : c->opt.keep_alive;
}

static void on_ping_timer(tltcp_conn *c, tltcp_time now) {
    if (c->ping_at <= now && c->state == TLTCP__CONN_OPEN) {
        c->want |= TLTCP__WANT_PING;
        c->ping_at = now + ask_again_after(c);
        tltcp__conn_trim(c);
    }
}

/* Runs the timers that end a connection. True when one fired. */
static bool on_last_timers(tltcp_conn *c, tltcp_time now) {
    if (idle_at(c) <= now || c->handshake.until <= now) {
        tltcp__conn_terminate(
            c, c->state == TLTCP__CONN_CLOSING ? 0 : TLTCP_ERR_TIMEOUT);
    } else if (linger_until(c) <= now && c->state < TLTCP__CONN_CLOSING) {
        tltcp__conn_fail(c, TLTCP_ERR_ABORTED,
                         "closed before everything was delivered");
    } else if (linger_until(c) <= now && c->state == TLTCP__CONN_CLOSING) {
        tltcp__conn_terminate(c, 0);
    }
    return c->state >= TLTCP__CONN_DYING;
}

void tltcp_conn_on_timeout(tltcp_conn *c, tltcp_time now) {
    tltcp__feedback_result result = {0};
    uint64_t lost = c->stats.packets_lost;
    int rv;
    tltcp__conn_tick(c, now);
    if (c->blocked && c->state == TLTCP__CONN_DYING && c->close.at <= now) {
        tltcp__conn_terminate(c, c->close.error); /* CLOSE cannot leave */
    }
    if (c->state >= TLTCP__CONN_DYING || on_last_timers(c, now)) {
        return;
    }
    rv = tltcp__sender_on_timeout(&c->sender, now, &result);
    if (rv != 0) {
        tltcp__conn_fail(c, rv, tltcp_strerror(rv));
        return;
    }
    tltcp__conn_on_result(c, &result, now);
    tltcp__trace_losses(c, lost, now);
    on_candidate_timer(c, now);
    on_close_timer(c, now);
    on_ping_timer(c, now);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Output: packets. */
#include "libtltcp/engine/conn_run.h"

#define CLOSE_WAIT_MAX TLTCP_S
#define CLOSE_SHIFT_MAX 10u
#define CHALLENGE_MIN 48u       /* bytes; three times a PING allows it */
#define PINGED_ACKS 32u         /* one in this many lone ACKs is acknowledged */
#define PINGED_CALM 6u          /* likewise where they are few */
#define SKIP_NUMBER_WITHIN 512u /* packets */
#define ACK_ROOM 300u           /* for an ACK with many ranges */
#define DSCP_LOWER_EFFORT 1u    /* RFC 8622 */

/* A packet being built. */
typedef struct draft {
    cmn__writer w;
    uint8_t *start;
    tltcp__sent *rec;
    tltcp_time now;
    size_t trailer;
    bool eliciting;
} draft;

static void clear_want(tltcp_conn *c, unsigned what) {
    c->want &= (uint16_t)~what;
}

/* One unpredictable number serves several draws, because each costs an HMAC. */
static uint32_t draw_below(tltcp_conn *c, uint32_t n) {
    uint32_t got;
    if (c->luck < n) {
        c->luck = sec__secret_next(&c->secret);
    }
    got = (uint32_t)(c->luck % n);
    c->luck /= n;
    return got;
}

/* Skips a packet number now and then. Also skips one before further probes if
 * the first had no answer: the gap makes the peer acknowledge each at once (RFC
 * 9002 section 6.2.4), and the return path may lose all answers but one. Not
 * with a controller whose receiver counts it as a loss (TFRC), nor with the
 * paper's recovery. */
static void skip_numbers_sometimes(tltcp_conn *c) {
    tltcp__sender *s = &c->sender;
    if (c->state != TLTCP__CONN_OPEN || s->dup != NULL ||
        tltcp__sender_wants_reports(s)) {
        return;
    }
    if (s->pto_probes > 0 && s->pto_count > 1) {
        tltcp__sender_skip_number(s);
    } else if (--c->skip_number_in == 0) {
        tltcp__sender_skip_number(s);
        c->skip_number_in = 1 + draw_below(c, SKIP_NUMBER_WITHIN);
    }
}

/* Whether the peer has left too many lone ACKs unacknowledged. */
static bool is_never_acknowledged(const tltcp_conn *c) {
    const tltcp__sentmap *m = &c->sender.map;
    return tltcp__sentmap_is_full(m) ||
           (c->ep != NULL && tltcp__sentmap_silent_bytes(m) > 0 &&
            !tltcp__endpoint_allows(c->ep, c, TLTCP__SENTMAP_SILENT_LOT));
}

/* Opens a packet of at most cap bytes, including its checksum or tag, to an id
 * of the peer's. */
static bool open_packet_to(tltcp_conn *c, draft *d, const tltcp__peer_id *to,
                           uint8_t type, uint8_t *buf, size_t cap,
                           tltcp_time now) {
    size_t trailer = SEC__CHECK_LEN;
    sec__packet p = {
        .type = type,
        .version = TLTCP__VERSION,
        .dcid = to->id,
        .scid = c->own.id,
        .token = c->handshake.token,
        .token_len = type == SEC__INITIAL ? c->handshake.token_len : 0,
    };
    skip_numbers_sometimes(c);
    p.pn = (uint32_t)tltcp__sentmap_next(&c->sender.map) + to->offset;
    if (type == SEC__SHORT && c->seal != NULL) {
        p.type |= sec__seal_phase(c->seal);
        trailer = SEC__TAG_LEN;
    }
    *d = (draft){.w = cmn__writer_of(buf, cap - trailer),
                 .trailer = trailer,
                 .start = buf,
                 .now = now};
    if (is_never_acknowledged(c) &&
        c->state != TLTCP__CONN_DYING) { /* CLOSE may still leave */
        tltcp__conn_fail(c, TLTCP_ERR_LIMIT, "the peer acknowledges nothing");
        return false;
    }
    d->rec = tltcp__sentmap_open(&c->sender.map);
    if (d->rec == NULL && c->state == TLTCP__CONN_DYING) {
        tltcp__conn_terminate(c, c->close.error); /* not even for CLOSE */
        return false;
    }
    if (d->rec == NULL) {
        tltcp__conn_fail(c, TLTCP_ERR_NOMEM, "out of memory");
        return false;
    }
    sec__packet_put(&d->w, &p);
    return true;
}

static bool open_packet(tltcp_conn *c, draft *d, uint8_t type, uint8_t *buf,
                        size_t cap, tltcp_time now) {
    return open_packet_to(c, d, &c->peer, type, buf, cap, now);
}

/* Appends the tag or the checksum. False: the packet cannot be sealed and must
 * not be sent. */
static bool finish_packet(tltcp_conn *c, draft *d, uint64_t pn) {
    size_t len = (size_t)(d->w.p - d->start) - SEC__SHORT_LEN;
    d->w.end += d->trailer;
    if (d->trailer == SEC__CHECK_LEN) {
        tltcp__conn_put_check(c, &d->w, d->start);
        return true;
    }
    if (!sec__seal_put(c->seal, pn, d->start, len)) {
        tltcp__conn_terminate(c, TLTCP_ERR_LIMIT);
        return false;
    }
    d->w.p += SEC__TAG_LEN;
    return true;
}

static size_t close_packet(tltcp_conn *c, draft *d) {
    uint64_t pn = tltcp__sentmap_next(&c->sender.map) - 1;
    size_t len;
    if (!finish_packet(c, d, pn)) {
        return 0;
    }
    len = (size_t)(d->w.p - d->start);
    /* dummies do not count against the window */
    d->rec->size = (d->rec->flags & TLTCP__SENT_DUMMY) == 0 ? (uint32_t)len : 0;
    if (!c->paths.proven) {
        c->paths.sent += len;
    }
    if (d->eliciting && c->unanswered == TLTCP_TIME_NEVER) {
        c->unanswered = d->now;
    }
    c->stats.packets_sent++;
    c->stats.wire_bytes_sent += len;
    tltcp__sender_on_sent(&c->sender, d->rec, d->eliciting, d->now);
    tltcp__trace_packet(c, true, pn, len, d->now);
    return len;
}

static void pad_to(draft *d, size_t size) {
    size_t have = (size_t)(d->w.p - d->start) + d->trailer;
    if (have < size) {
        memset(d->w.p, TLTCP__PADDING, size - have);
        d->w.p += size - have;
    }
}

/* The first stream offset and section that the peer may not send yet. */
static tltcp__position window_now(const tltcp_conn *c) {
    uint64_t seq;
    uint64_t section;
    tltcp__reasm_window(&c->reasm, &seq, &section);
    return (tltcp__position){(uint32_t)seq + c->first_seq, (uint32_t)section};
}

static void put_ack(tltcp_conn *c, draft *d) {
    uint32_t cum = (uint32_t)c->reasm.cum + c->first_seq;
    uint64_t upto =
        tltcp__acks_put(&c->acks, &d->w, cum, window_now(c), d->now);
    if (upto > 0) {
        d->rec->acked_upto = upto;
        tltcp__reasm_on_granted(&c->reasm);
        clear_want(c, TLTCP__WANT_ACK);
    }
}

/* Must precede the ACK, which would otherwise cause a retransmission. */
static void put_rebuilt(tltcp_conn *c, draft *d) {
    tltcp__fec_receiver *b = c->fec_receiver;
    while (b != NULL && b->reported > 0 &&
           cmn__writer_left(&d->w) >= TLTCP__REBUILT_LEN + ACK_ROOM) {
        const tltcp__rebuilt_range *x = &b->report[--b->reported];
        tltcp__rebuilt_put(&d->w, (uint32_t)x->start + c->first_seq,
                           (uint32_t)(x->end - x->start));
    }
}

/* An ACK that is owed goes with any packet, though it may not be due. */
static void put_owed_ack(tltcp_conn *c, draft *d) {
    if (c->acks.owed > 0 || tltcp__conn_wants(c, TLTCP__WANT_ACK)) {
        put_rebuilt(c, d);
        put_ack(c, d);
    }
}

static void put_window(tltcp_conn *c, draft *d) {
    tltcp__position_put(&d->w, TLTCP__WINDOW, window_now(c));
    tltcp__reasm_on_granted(&c->reasm);
    d->rec->flags |= TLTCP__SENT_WINDOW;
    d->eliciting = true;
    clear_want(c, TLTCP__WANT_WINDOW);
}

static void put_fin(tltcp_conn *c, draft *d) {
    tltcp__position p = {(uint32_t)c->sender.sec.end + c->sender.first_seq,
                         (uint32_t)c->sender.sec.recs.tail};
    tltcp__position_put(&d->w, TLTCP__FIN, p);
    d->rec->flags |= TLTCP__SENT_FIN;
    d->eliciting = true;
    clear_want(c, TLTCP__WANT_FIN);
}

static void put_ping(tltcp_conn *c, draft *d) {
    tltcp__chunk_put(&d->w, TLTCP__PING, 0, 0);
    d->eliciting = true;
    clear_want(c, TLTCP__WANT_PING);
}

static void put_report(tltcp_conn *c, draft *d) {
    struct cong_tfrc_report measured;
    tltcp__report r;
    if (cong_tfrc_receiver_report(c->measure, (cong_time)d->now, &measured)) {
        r.p = measured.p;
        r.x_recv = measured.x_recv;
        tltcp__report_put(&d->w, &r);
    }
}

static void put_nonce(draft *d, uint8_t type, uint64_t nonce) {
    tltcp__chunk_put(&d->w, type, 0, sizeof(nonce));
    cmn__put64(&d->w, nonce);
}

static void put_close(const tltcp_conn *c, draft *d) {
    tltcp__close_put(&d->w, c->close.flags, c->close.code,
                     c->close.flags == 0 ? tltcp__conn_reason(c) : "");
}

/* INITIAL or ANSWER. */
static size_t send_hello(tltcp_conn *c, uint8_t *buf, size_t cap,
                         tltcp_time now) {
    uint8_t type = tltcp__conn_is_client(c) ? SEC__INITIAL : SEC__ANSWER;
    tltcp__params p = tltcp__conn_params(c);
    draft d;
    if (tltcp__conn_allowance(c) < SEC__DATAGRAM_MIN || cap < c->mtu.base ||
        !tltcp__conn_make_hello(c) ||
        !open_packet(c, &d, type, buf, c->mtu.base, now)) {
        return 0;
    }
    if (c->handshake.hello != NULL) {
        sec__hello_put(&d.w, c->handshake.hello);
    } else {
        tltcp__params_put(&d.w, &p);
    }
    if (c->state == TLTCP__CONN_ANSWERED && c->handshake.hello == NULL) {
        put_ack(c, &d);
    }
    if (type == SEC__INITIAL) {
        pad_to(&d, SEC__DATAGRAM_MIN);
    }
    d.rec->flags |= TLTCP__SENT_HELLO;
    d.eliciting = true;
    clear_want(c, TLTCP__WANT_HELLO);
    return close_packet(c, &d);
}

static tltcp_time close_wait(const tltcp_conn *c) {
    unsigned shift =
        c->close.tries < CLOSE_SHIFT_MAX ? c->close.tries : CLOSE_SHIFT_MAX;
    return tltcp__earlier(tltcp__sender_pto(&c->sender) << shift,
                          CLOSE_WAIT_MAX);
}

/* CLOSE, or the echo of the peer's. */
static size_t send_close(tltcp_conn *c, uint8_t *buf, size_t cap,
                         tltcp_time now) {
    bool stranger = !tltcp__conn_is_client(c) && !c->paths.proven;
    draft d;
    if (tltcp__conn_allowance(c) < c->mtu.base || cap < c->mtu.base ||
        (stranger && !tltcp__conn_make_hello(c)) ||
        !open_packet(c, &d, stranger ? SEC__ANSWER : SEC__SHORT, buf,
                     c->mtu.base, now)) {
        return 0;
    }
    if (stranger && c->handshake.hello != NULL) {
        sec__hello_put(&d.w, c->handshake.hello);
    } else {
        put_ack(c, &d);
        put_close(c, &d);
    }
    clear_want(c, TLTCP__WANT_CLOSE);
    if (c->state == TLTCP__CONN_DYING) {
        tltcp__conn_enter(c, TLTCP__CONN_CLOSED);
    } else {
        c->close.at = now + close_wait(c);
        c->close.tries++;
    }
    return close_packet(c, &d);
}

static size_t send_challenge(tltcp_conn *c, uint8_t *buf, size_t cap,
                             tltcp_time now) {
    tltcp__candidate *k = &c->paths.candidate;
    uint64_t room = 3 * k->received - k->sent;
    draft d;
    size_t len;
    clear_want(c, TLTCP__WANT_CHALLENGE);
    k->at = now + tltcp__sender_pto(&c->sender);
    if (k->path == 0 || room < CHALLENGE_MIN || cap < c->mtu.base ||
        !open_packet_to(c, &d, tltcp__conn_peer_id(c, k->number), SEC__SHORT,
                        buf, c->mtu.base, now)) {
        return 0;
    }
    put_nonce(&d, TLTCP__CHALLENGE, k->nonce);
    pad_to(&d, room < c->mtu.base ? (size_t)room : c->mtu.base);
    k->tries++;
    k->at = now + (tltcp__sender_pto(&c->sender) << (k->tries - 1));
    len = close_packet(c, &d);
    k->sent += len;
    return len;
}

static size_t send_response(tltcp_conn *c, uint8_t *buf, size_t cap,
                            tltcp_time now) {
    const tltcp__candidate *k = &c->paths.candidate;
    uint32_t number =
        c->paths.response_path == k->path ? k->number : c->peer.number;
    draft d;
    clear_want(c, TLTCP__WANT_RESPONSE);
    if (cap < c->mtu.base ||
        !open_packet_to(c, &d, tltcp__conn_peer_id(c, number), SEC__SHORT, buf,
                        c->mtu.base, now)) {
        return 0;
    }
    put_nonce(&d, TLTCP__RESPONSE, c->paths.response);
    return close_packet(c, &d);
}

/* NEW_ID and RETIRE_ID. */
static size_t send_ids(tltcp_conn *c, uint8_t *buf, size_t cap,
                       tltcp_time now) {
    draft d;
    clear_want(c, TLTCP__WANT_IDS);
    if (cap < c->mtu.base ||
        !open_packet(c, &d, SEC__SHORT, buf, c->mtu.base, now)) {
        return 0;
    }
    tltcp__ids_put(c->ids, &d.w);
    put_owed_ack(c, &d);
    d.rec->flags |= TLTCP__SENT_IDS;
    d.eliciting = true;
    return close_packet(c, &d);
}

static bool mtu_probe_due(const tltcp_conn *c, tltcp_time now) {
    return c->state == TLTCP__CONN_OPEN && c->may_probe_mtu &&
           tltcp__mtu_due(&c->mtu) <= now && tltcp__conn_spares_mtu_probe(c);
}

static size_t send_mtu_probe(tltcp_conn *c, uint8_t *buf, size_t cap,
                             tltcp_time now) {
    uint32_t size;
    draft d;
    if (cap < c->mtu.limit) {
        c->may_probe_mtu = false; /* the driver's buffer is too small for it */
        return 0;
    }
    size = tltcp__mtu_start(&c->mtu);
    if (!open_packet(c, &d, SEC__SHORT, buf, size, now)) {
        return 0;
    }
    put_ping(c, &d);
    pad_to(&d, size);
    d.rec->flags |= TLTCP__SENT_MTU_PROBE;
    return close_packet(c, &d);
}

/* A dummy of Peach: looks like data, carries none, and is dropped first by a
 * congested router. */
static size_t send_dummy(tltcp_conn *c, uint8_t *buf, size_t cap,
                         tltcp_time now) {
    draft d;
    if (cap < c->mtu.current ||
        !open_packet(c, &d, SEC__SHORT, buf, c->mtu.current, now)) {
        return 0;
    }
    put_ping(c, &d);
    pad_to(&d, c->mtu.current);
    d.rec->flags |= TLTCP__SENT_DUMMY;
    tltcp__sender_on_dummy(&c->sender, now);
    return close_packet(c, &d);
}

/* Whether there is a reason other than data to send an ordinary packet. */
static bool has_reason(tltcp_conn *c, tltcp_time now) {
    return tltcp__acks_due(&c->acks, now) || tltcp__conn_report_at(c) <= now ||
           tltcp__conn_wants(c, TLTCP__WANT_ACK | TLTCP__WANT_PING |
                                    TLTCP__WANT_FIN | TLTCP__WANT_WINDOW);
}

/* A side that only receives would never learn which of its ACKs arrived. */
static void ping_now_and_then(tltcp_conn *c, draft *d) {
    if (d->eliciting) {
        c->acks.since_ping = 0;
    } else if (++c->acks.since_ping >=
               (c->acks.calm ? PINGED_CALM : PINGED_ACKS)) {
        c->acks.since_ping = 0;
        put_ping(c, d);
    }
}

static size_t send_ordinary(tltcp_conn *c, uint8_t *buf, size_t cap,
                            tltcp_time now) {
    bool data = tltcp__sender_may_send(&c->sender, now);
    draft d;
    int rv = 0;
    if (!data && !has_reason(c, now)) {
        return 0;
    }
    if (data) {
        tltcp__cc_on_wake(&c->sender.cc, tltcp__sender_flight(&c->sender),
                          tltcp__sender_ack_delay(&c->sender), now);
    }
    if (!open_packet(c, &d, SEC__SHORT, buf, cap, now)) {
        return 0;
    }
    put_owed_ack(c, &d);
    if (tltcp__conn_report_at(c) <= now) {
        put_report(c, &d);
    }
    if (tltcp__conn_wants(c, TLTCP__WANT_WINDOW)) {
        put_window(c, &d);
    }
    if (tltcp__conn_wants(c, TLTCP__WANT_FIN)) {
        put_fin(c, &d);
    }
    if (tltcp__conn_wants(c, TLTCP__WANT_PING)) {
        put_ping(c, &d);
    }
    if (data) {
        rv = tltcp__sender_fill(&c->sender, d.rec, &d.w, now, &d.eliciting);
    }
    if (rv != 0) {
        tltcp__conn_fail(c, rv, tltcp_strerror(rv));
        return 0;
    }
    ping_now_and_then(c, &d);
    if (c->sender.ecn.on) {
        d.rec->flags |= TLTCP__SENT_ECT;
    }
    return close_packet(c, &d);
}

/* Packets that are sent alone: other paths, other sizes. */
static size_t send_special(tltcp_conn *c, tltcp_pktinfo *info, uint8_t *buf,
                           size_t cap, tltcp_time now) {
    if (tltcp__conn_flows(c) && tltcp__conn_wants(c, TLTCP__WANT_CHALLENGE)) {
        size_t n = send_challenge(c, buf, cap, now);
        if (n > 0) {
            info->path = c->paths.candidate.path;
        }
        return n;
    }
    if (tltcp__conn_flows(c) && tltcp__conn_wants(c, TLTCP__WANT_RESPONSE)) {
        size_t n = send_response(c, buf, cap, now);
        if (n > 0) {
            info->path = c->paths.response_path;
        }
        return n;
    }
    if (tltcp__conn_wants(c, TLTCP__WANT_HELLO) &&
        (c->state == TLTCP__CONN_CALLING || c->state == TLTCP__CONN_ANSWERED)) {
        return send_hello(c, buf, cap, now);
    }
    if (tltcp__conn_wants(c, TLTCP__WANT_CLOSE) &&
        c->state >= TLTCP__CONN_CLOSING) {
        return send_close(c, buf, cap, now);
    }
    if (tltcp__conn_flows(c) && tltcp__conn_wants(c, TLTCP__WANT_IDS)) {
        return send_ids(c, buf, cap, now);
    }
    if (c->state == TLTCP__CONN_OPEN &&
        tltcp__sender_dummy_at(&c->sender) <= now &&
        !tltcp__sender_may_send(&c->sender, now)) { /* data goes first */
        info->dscp = DSCP_LOWER_EFFORT;
        return send_dummy(c, buf, cap, now);
    }
    return mtu_probe_due(c, now) ? send_mtu_probe(c, buf, cap, now) : 0;
}

/* Sends as many ordinary packets of one size as fit. */
static size_t send_train(tltcp_conn *c, uint8_t *buf, size_t cap,
                         size_t *segment, tltcp_time now) {
    size_t total = 0;
    size_t size = c->full;
    while (cap - total >= size && tltcp__conn_flows(c)) {
        size_t len = send_ordinary(c, buf + total, size, now);
        total += len;
        if (len < size) {
            *segment = total == len ? len : size;
            return total;
        }
        total += tltcp__conn_send_run(c, buf + total, cap - total, size, now);
    }
    *segment = size;
    return total;
}

/* RFC 9002 section 7.8: the sampler must know when the flow is
 * application-limited. */
static void note_limit(tltcp_conn *c, tltcp_time now) {
    double flight = tltcp__sender_flight(&c->sender);
    if (c->state == TLTCP__CONN_OPEN && !tltcp__sender_ready(&c->sender, now) &&
        flight + c->sender.cc.cong->mss <= tltcp__cc_window(&c->sender.cc)) {
        cong_rate_app_limited(&c->sender.cc.rate, flight);
    }
}

size_t tltcp_conn_send(tltcp_conn *c, tltcp_pktinfo *info, void *buf,
                       size_t cap, size_t *segment, tltcp_time now) {
    size_t n;
    tltcp__conn_tick(c, now);
    *info = (tltcp_pktinfo){.path = c->paths.current, .dscp = c->opt.dscp};
    n = send_special(c, info, buf, cap, now);
    *segment = n;
    if (n == 0 && tltcp__conn_flows(c)) {
        n = send_train(c, buf, cap, segment, now);
        info->ecn =
            tltcp__ecn_codepoint(&c->sender.ecn, c->sender.cc.cong->ect1);
        if (n == 0) {
            note_limit(c, now);
        }
    }
    if (c->seal != NULL && !sec__seal_flush(c->seal)) {
        tltcp__conn_terminate(c, TLTCP_ERR_LIMIT);
        return 0;
    }
    if (c->rests) {
        tltcp__sender_rest(&c->sender);
        if (c->seal != NULL) {
            sec__seal_trim(c->seal);
        }
    }
    return n;
}

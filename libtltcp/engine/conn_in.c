/* SPDX-License-Identifier: MPL-2.0 */
/* Input: packets and their chunks. */
#include "libtltcp/engine/conn.h"

#define RETRIES_MAX 8
#define SILENCE TLTCP_S /* after which memory is freed */
#define PAGES_FOR_CHUNK (3 * CMN__PAGE_BYTES)
/* Interval between answers to a repeated call. */
#define ANSWER_EVERY (50 * TLTCP_MS)

/* What the chunks of one packet request. */
typedef struct intake {
    tltcp_time now;
    uint64_t path;
    uint64_t pn;
    cong_time peer_rtt; /* -1: not sent */
    bool eliciting;
    bool newest; /* the packet has the highest number so far */
} intake;

static uint64_t stream_offset(const tltcp_conn *c, uint32_t wire) {
    return cmn__widen(wire - c->first_seq, c->reasm.cum);
}

static uint64_t section_number(const tltcp_conn *c, uint32_t wire) {
    return cmn__widen(wire, c->reasm.recs.head);
}

/* Whether the listener's memory limit allows a chunk with `len` bytes: pages,
 * their tables, the record of the section. */
static bool may_hold(const tltcp_conn *c, size_t len) {
    return tltcp__conn_may_hold(c, len + PAGES_FOR_CHUNK);
}

static int on_data(tltcp_conn *c, const tltcp__chunk *k) {
    tltcp__data d;
    uint64_t start;
    uint64_t number;
    bool grows;
    int rv;
    if (!tltcp__data_parse(k, &d)) {
        return TLTCP_ERR_PROTOCOL;
    }
    start = stream_offset(c, d.seq);
    number = section_number(c, d.section);
    grows = tltcp__reasm_needs_memory(&c->reasm, start, start + d.len, number);
    if (grows && !may_hold(c, d.len)) {
        return TLTCP_ERR_LIMIT;
    }
    rv = (k->flags & TLTCP__DATA_META) != 0
             ? tltcp__reasm_on_meta(&c->reasm, number, &d.meta)
             : 0;
    if (rv == 0) {
        rv = tltcp__reasm_on_data(&c->reasm, start, d.bytes, d.len, number,
                                  k->flags);
    }
    if (grows) {
        tltcp__conn_charge(c);
    }
    if (rv == 0 && c->fec_receiver != NULL && c->fec_receiver->blocks > 0) {
        rv = tltcp__fec_receiver_on_data(c->fec_receiver, &c->reasm, start,
                                         start + d.len);
    }
    return rv;
}

static int on_repair(tltcp_conn *c, const tltcp__chunk *k) {
    tltcp__repair_chunk p;
    tltcp__repair_in in;
    int rv;
    if (!c->opt.fec || !tltcp__repair_parse(k, &p)) {
        return TLTCP_ERR_PROTOCOL;
    }
    in = (tltcp__repair_in){.start = stream_offset(c, p.start),
                            .section = section_number(c, p.section),
                            .symbol = p.symbol,
                            .size = p.size,
                            .index = p.index,
                            .flags = k->flags};
    in.end = in.start + p.len;
    if (!may_hold(c, tltcp__fec_receiver_wants(c->fec_receiver, &in))) {
        return TLTCP_ERR_LIMIT;
    }
    if (c->fec_receiver == NULL) {
        c->fec_receiver = tltcp__fec_receiver_new(&c->mem, c->reasm.limit / 2);
        if (c->fec_receiver == NULL) {
            return TLTCP_ERR_NOMEM;
        }
        c->fec_receiver->least = TLTCP__FEC_RECEIVER_LEAST;
    }
    rv = tltcp__reasm_on_meta(&c->reasm, in.section, &p.meta);
    if (rv == 0) {
        rv = tltcp__fec_receiver_on_repair(c->fec_receiver, &c->reasm, &in);
    }
    tltcp__conn_charge(c);
    return rv;
}

static int on_rebuilt(tltcp_conn *c, const tltcp__chunk *k) {
    uint32_t start;
    uint32_t len;
    if (!tltcp__rebuilt_parse(k, &start, &len)) {
        return TLTCP_ERR_PROTOCOL;
    }
    return tltcp__sender_on_rebuilt(&c->sender, start, len);
}

static int on_skip(tltcp_conn *c, const tltcp__chunk *k) {
    tltcp__skip s;
    if (!tltcp__skip_parse(k, &s)) {
        return TLTCP_ERR_PROTOCOL;
    }
    return tltcp__reasm_on_skip(&c->reasm, stream_offset(c, s.start),
                                stream_offset(c, s.end),
                                section_number(c, s.section));
}

static int on_position(tltcp_conn *c, const tltcp__chunk *k) {
    tltcp__position p;
    if (!tltcp__position_parse(k, &p)) {
        return TLTCP_ERR_PROTOCOL;
    }
    switch (k->type) {
    case TLTCP__UPDATE:
        return tltcp__reasm_on_update(&c->reasm, stream_offset(c, p.seq),
                                      section_number(c, p.section));
    case TLTCP__FIN:
        c->want |= TLTCP__WANT_ACK; /* the peer waits for it */
        return tltcp__reasm_on_fin(&c->reasm, stream_offset(c, p.seq),
                                   section_number(c, p.section));
    default:
        tltcp__sender_on_window(&c->sender, p);
        return 0;
    }
}

static int on_ack(tltcp_conn *c, const tltcp__chunk *k, tltcp_time now) {
    uint64_t lost = c->stats.packets_lost;
    tltcp__feedback_result result = {0};
    tltcp__ack a;
    int rv;
    if (!tltcp__ack_parse(k, &a)) {
        return TLTCP_ERR_PROTOCOL;
    }
    rv = tltcp__sender_on_ack(&c->sender, &a, now, &result);
    if (rv == 0 && c->seal != NULL) {
        uint64_t pn =
            cmn__widen(a.largest, tltcp__sentmap_next(&c->sender.map));
        sec__seal_on_acked(c->seal, pn);
        tltcp__conn_ids_on_acked(c, pn);
    }
    if (rv == 0) {
        tltcp__conn_on_result(c, &result, now);
        tltcp__sender_ask_for_acks(&c->sender, now);
        tltcp__trace_losses(c, lost, now);
        tltcp__trace_metrics(c, now);
    }
    return rv;
}

static int on_report(tltcp_conn *c, const tltcp__chunk *k, tltcp_time now) {
    tltcp__report r;
    if (!tltcp__report_parse(k, &r)) {
        return TLTCP_ERR_PROTOCOL;
    }
    tltcp__sender_on_report(&c->sender, &r, now);
    return 0;
}

static int on_rtt(tltcp_conn *c, const tltcp__chunk *k, intake *in) {
    uint32_t us;
    if (!tltcp__rtt_parse(k, &us)) {
        return TLTCP_ERR_PROTOCOL;
    }
    if (c->measure == NULL) {
        c->measure = cmn__alloc(&c->mem, sizeof(*c->measure));
        if (c->measure == NULL) {
            return TLTCP_ERR_NOMEM;
        }
        cong_tfrc_receiver_init(c->measure, c->mtu.base, in->pn);
    }
    in->peer_rtt = (cong_time)us * (cong_time)TLTCP_US;
    return 0;
}

static int on_chunk(tltcp_conn *c, const tltcp__chunk *k, intake *in) {
    in->eliciting |= k->type != TLTCP__ACK && k->type != TLTCP__CLOSE &&
                     k->type != TLTCP__REPORT && k->type != TLTCP__REBUILT;
    switch (k->type) {
    case TLTCP__DATA:
        return on_data(c, k);
    case TLTCP__REPAIR:
        return on_repair(c, k);
    case TLTCP__REBUILT:
        return on_rebuilt(c, k);
    case TLTCP__UPDATE:
    case TLTCP__FIN:
    case TLTCP__WINDOW:
        return on_position(c, k);
    case TLTCP__SKIP:
        return on_skip(c, k);
    case TLTCP__ACK:
        return on_ack(c, k, in->now);
    case TLTCP__CHALLENGE:
        return tltcp__conn_on_challenge(c, k, in->path);
    case TLTCP__RESPONSE:
        return tltcp__conn_on_response(c, k, in->path, in->now);
    case TLTCP__NEW_ID:
        return tltcp__conn_on_new_id(c, k);
    case TLTCP__RETIRE_ID:
        return tltcp__conn_on_retire_id(c, k);
    case TLTCP__REPORT:
        return on_report(c, k, in->now);
    case TLTCP__RTT:
        return on_rtt(c, k, in);
    case TLTCP__ACK_FREQUENCY:
        return tltcp__acks_on_request(&c->acks, in->pn, k);
    case TLTCP__CLOSE:
        return tltcp__conn_on_close(c, k);
    case TLTCP__PING:
        c->want |= TLTCP__WANT_ACK;
        return k->len == 0 ? 0 : TLTCP_ERR_PROTOCOL;
    default:
        return k->type >= TLTCP__CHUNK_MAY_SKIP ? 0 : TLTCP_ERR_PROTOCOL;
    }
}

/* Chunks of INITIAL and ANSWER. */
static int on_hello_chunk(tltcp_conn *c, const tltcp__chunk *k, intake *in,
                          bool *have_params) {
    if (k->type == TLTCP__PARAMS) {
        tltcp__params p;
        if (!tltcp__params_parse(k, &p) ||
            (!c->handshake.has_params && !tltcp__conn_on_params(c, &p))) {
            return TLTCP_ERR_PROTOCOL;
        }
        *have_params = true;
        in->eliciting = true;
        return 0;
    }
    if (k->type == TLTCP__ACK || k->type == TLTCP__CLOSE ||
        k->type == TLTCP__PING || k->type >= TLTCP__CHUNK_MAY_SKIP) {
        return on_chunk(c, k, in);
    }
    return TLTCP_ERR_PROTOCOL;
}

/* Why, by the triggers of qlog where it has one. */
#define INVALID "invalid"
#define DUPLICATE "duplicate"
#define UNEXPECTED "unexpected_packet" /* for its type, now */
#define UNDECRYPTED "decryption_failure"
#define TOO_MUCH "limit_reached"

static void drop(tltcp_conn *c, const char *why) {
    c->stats.packets_dropped++;
    tltcp__trace_dropped(c, why);
}

static int take_chunks(tltcp_conn *c, const sec__packet *p, intake *in) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    bool have_params = false;
    tltcp__chunk k;
    int rv = 0;
    while (rv == 0 && c->state != TLTCP__CONN_CLOSED &&
           tltcp__chunk_next(&r, &k)) {
        rv = p->type == SEC__SHORT ? on_chunk(c, &k, in)
                                   : on_hello_chunk(c, &k, in, &have_params);
    }
    if (rv == 0 && r.bad) {
        rv = TLTCP_ERR_PROTOCOL;
    }
    if (rv == 0 && p->type != SEC__SHORT && !have_params &&
        c->state < TLTCP__CONN_OPEN) {
        rv = TLTCP_ERR_PROTOCOL;
    }
    return rv;
}

/* Whether no data has come or gone yet. */
static bool is_unused(const tltcp_conn *c) {
    return c->sender.sec.end == 0 && c->reasm.top == 0;
}

/* A numbered packet for this connection. */
static void take_numbered(tltcp_conn *c, const tltcp_pktinfo *info,
                          const sec__packet *p, size_t len, tltcp_time now) {
    uint64_t pn = cmn__widen(p->pn, c->acks.largest);
    intake in = {.now = now,
                 .path = info->path,
                 .pn = pn,
                 .peer_rtt = -1,
                 .newest = pn >= c->acks.largest};
    int rv;
    if (tltcp__acks_seen(&c->acks, pn)) {
        drop(c, DUPLICATE);
        return;
    }
    c->rests = now - c->heard_at >= SILENCE || is_unused(c);
    if (c->rests) {
        tltcp__conn_trim(c);
    }
    rv = take_chunks(c, p, &in);
    if (rv == TLTCP_ERR_LIMIT) { /* treat it as lost */
        drop(c, TOO_MUCH);
        return;
    }
    if (rv == 0) {
        rv = tltcp__acks_on_packet(&c->acks, pn, in.eliciting, info->ecn, now);
    }
    if (rv != 0) {
        tltcp__conn_fail(c, rv, tltcp_strerror(rv));
        return;
    }
    if (c->measure != NULL) {
        cong_tfrc_receiver_on_packet(c->measure, pn, (double)len, in.peer_rtt,
                                     info->ecn == TLTCP__ECN_CE,
                                     (cong_time)now);
    }
    tltcp__conn_charge(c);
    c->stats.packets_received++;
    c->stats.wire_bytes_received += len;
    c->heard_at = now;
    if (c->ping_at != TLTCP_TIME_NEVER) {
        c->ping_at = now + c->opt.keep_alive;
    }
    tltcp__trace_packet(c, false, pn, len, now);
    if (info->path != c->paths.current && in.newest) {
        tltcp__conn_on_other_path(c, info->path, len, now);
    }
    tltcp__conn_check_closing(c, now);
    if (is_unused(c)) { /* nor may any */
        tltcp__sender_trim(&c->sender);
    }
    if (c->rests) {
        tltcp__sender_rest(&c->sender);
    }
}

static void conn_in_on_short(tltcp_conn *c, const tltcp_pktinfo *info,
                             const sec__packet *p, size_t len, tltcp_time now) {
    if (c->state < TLTCP__CONN_ANSWERED || c->state >= TLTCP__CONN_DYING) {
        drop(c, UNEXPECTED);
        return;
    }
    if (c->state == TLTCP__CONN_ANSWERED) {
        /* A peer that knows the id has received our answer, which proves the
         * path of the INITIAL. Any other path must answer a CHALLENGE (RFC 9000
         * section 8.2). */
        c->paths.proven = true;
        tltcp__conn_open(c, now);
        tltcp__endpoint_on_proven(c->ep, c);
    }
    c->confirmed = true;
    take_numbered(c, info, p, len, now);
}

static void on_answer(tltcp_conn *c, const tltcp_pktinfo *info,
                      const sec__packet *p, size_t len, tltcp_time now) {
    bool first = c->state == TLTCP__CONN_CALLING;
    uint8_t text[SEC__HELLO_MAX];
    sec__packet plain = *p;
    if (!tltcp__conn_is_client(c) || c->state >= TLTCP__CONN_DYING ||
        p->version != TLTCP__VERSION || p->scid == 0 ||
        (!first && p->scid != c->peer.id)) {
        drop(c, UNEXPECTED);
        return;
    }
    if (first && !tltcp__conn_open_answer(c, &plain, text)) {
        drop(c, UNDECRYPTED);
        return;
    }
    c->peer.id = p->scid;
    if (first || c->seal == NULL) { /* a repeated one has no effect */
        take_numbered(c, info, &plain, len, now);
    }
    if (c->state == TLTCP__CONN_CALLING) {
        tltcp__conn_open(c, now);
    }
    /* An ACK proves our address, so do not delay it. */
    if (c->state == TLTCP__CONN_OPEN) {
        c->want |= TLTCP__WANT_ACK;
        c->want &= (uint16_t)~TLTCP__WANT_HELLO;
    }
}

static void conn_in_on_initial(tltcp_conn *c, const tltcp_pktinfo *info,
                               const sec__packet *p, size_t len,
                               tltcp_time now) {
    if (c->state != TLTCP__CONN_CALLED && c->state != TLTCP__CONN_ANSWERED) {
        drop(c, UNEXPECTED);
        return;
    }
    c->paths.received += len;
    if (c->handshake.has_params) { /* our answer was lost or is late */
        if (now - c->sender.t_eliciting >= ANSWER_EVERY) {
            c->want |= TLTCP__WANT_HELLO;
        }
        drop(c, DUPLICATE);
        return;
    }
    c->peer.id = p->scid;
    take_numbered(c, info, p, len, now);
}

void tltcp__conn_on_retry(tltcp_conn *c, const sec__packet *p, tltcp_time now) {
    if (c->state != TLTCP__CONN_CALLING || !tltcp__conn_is_client(c) ||
        c->handshake.retries >= RETRIES_MAX || p->version != TLTCP__VERSION ||
        p->token_len == 0) {
        drop(c, UNEXPECTED);
        return;
    }
    if (tltcp__conn_hold(c, p)) {
        return;
    }
    if (!tltcp__conn_follow(c, p)) {
        drop(c, INVALID);
        return;
    }
    cmn__free(&c->mem, c->handshake.token); /* it has expired in transit */
    c->handshake.token = cmn__alloc(&c->mem, p->token_len);
    if (c->handshake.token == NULL) {
        tltcp__conn_fail(c, TLTCP_ERR_NOMEM, NULL);
        return;
    }
    memcpy(c->handshake.token, p->token, p->token_len);
    c->handshake.token_len = (uint32_t)p->token_len;
    c->handshake.retries++;
    c->heard_at = now;
    c->want |= TLTCP__WANT_HELLO;
}

/* The listener has other keys, or has reached a limit. */
static void on_reject(tltcp_conn *c, const sec__packet *p) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    uint32_t code = cmn__get32(&r);
    if (c->state != TLTCP__CONN_CALLING || !tltcp__conn_is_client(c) ||
        p->version != TLTCP__VERSION) {
        drop(c, UNEXPECTED);
    } else if (code == (uint32_t)-TLTCP_ERR_AUTH) {
        tltcp__conn_fail(c, TLTCP_ERR_AUTH,
                         c->handshake.hello != NULL
                             ? "the listener has no such passphrase or key"
                             : "the listener requires a passphrase or key");
    } else if (code == (uint32_t)-TLTCP_ERR_LIMIT) {
        tltcp__conn_fail(c, TLTCP_ERR_LIMIT,
                         "the listener has reached its limit of connections");
    } else if (code == (uint32_t)-TLTCP_ERR_REFUSED) {
        tltcp__conn_fail(c, TLTCP_ERR_REFUSED,
                         "too many connections from your address");
    } else {
        drop(c, INVALID);
    }
}

static void on_versions(tltcp_conn *c, const sec__packet *p) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    bool ours = false;
    if (c->state != TLTCP__CONN_CALLING || !tltcp__conn_is_client(c) ||
        p->version != 0) {
        drop(c, UNEXPECTED);
        return;
    }
    while (cmn__reader_left(&r) >= sizeof(uint32_t)) {
        ours |= cmn__get32(&r) == TLTCP__VERSION;
    }
    if (ours) { /* the listener would have answered, so it is forged */
        drop(c, INVALID);
        return;
    }
    tltcp__conn_fail(c, TLTCP_ERR_VERSION,
                     "the listener supports only other protocol versions");
}

void tltcp__conn_take(tltcp_conn *c, const tltcp_pktinfo *info,
                      const sec__packet *p, size_t len, tltcp_time now) {
    tltcp__conn_tick(c, now);
    switch (p->type) {
    case SEC__SHORT:
        conn_in_on_short(c, info, p, len, now);
        break;
    case SEC__INITIAL:
        conn_in_on_initial(c, info, p, len, now);
        break;
    case SEC__ANSWER:
        on_answer(c, info, p, len, now);
        break;
    case SEC__RETRY:
        tltcp__conn_on_retry(c, p, now);
        break;
    case SEC__REJECT:
        on_reject(c, p);
        break;
    default:
        on_versions(c, p);
        break;
    }
}

static void on_forged(tltcp_conn *c) {
    drop(c, UNDECRYPTED);
    if (++c->stats.packets_forged >= SEC__FORGED_MAX) {
        tltcp__conn_fail(c, TLTCP_ERR_LIMIT, "too many forged packets");
    }
}

/* Opens it in place, or, if `own` is NULL, elsewhere. Returns its text, or
 * NULL. */
static const uint8_t *open_short(tltcp_conn *c, uint64_t pn,
                                 const uint8_t *dgram, uint8_t *own,
                                 const sec__packet *p) {
    uint8_t phase = p->type & SEC__PHASE;
    bool genuine =
        own != NULL
            ? sec__seal_open_packet(c->seal, phase, pn, own, p->body_len)
            : sec__seal_open(c->seal, phase, pn, dgram, SEC__SHORT_LEN, p->body,
                             p->body_len, c->seal->plain);
    return !genuine      ? NULL
           : own != NULL ? own + SEC__SHORT_LEN
                         : c->seal->plain;
}

bool tltcp__conn_unseal(tltcp_conn *c, const uint8_t *dgram, uint8_t *own,
                        size_t len, sec__packet *p, uint32_t *number) {
    const tltcp__id *id;
    uint64_t pn;
    if (len > c->opt.max_datagram || !sec__packet_parse_sealed(dgram, len, p) ||
        (id = tltcp__conn_own_id(c, p->dcid)) == NULL ||
        sec__seal_plain(c->seal) == NULL) {
        drop(c, INVALID);
        return false;
    }
    *number = id->number;
    p->pn -= id->offset;
    pn = cmn__widen(p->pn, c->acks.largest);
    if (tltcp__acks_seen(&c->acks, pn)) {
        drop(c, DUPLICATE);
        return false;
    }
    p->body = open_short(c, pn, dgram, own, p);
    if (p->body == NULL) {
        on_forged(c);
        return false;
    }
    p->type = SEC__SHORT;
    p->body_len -= SEC__TAG_LEN;
    return true;
}

void tltcp__conn_take_unsealed(tltcp_conn *c, const tltcp_pktinfo *info,
                               const sec__packet *p, uint32_t number,
                               size_t len, tltcp_time now) {
    if (c->ids != NULL) {
        c->ids->at_hand = number;
    }
    tltcp__conn_take(c, info, p, len, now);
    tltcp__conn_follow_id(c, number, info->path);
    if (c->rests) {
        sec__seal_trim(c->seal);
    }
}

/* A sealed packet: processes its content only after authentication. */
static void take_sealed(tltcp_conn *c, const tltcp_pktinfo *info,
                        const uint8_t *dgram, size_t len, tltcp_time now) {
    sec__packet p;
    uint32_t number;
    if (tltcp__conn_unseal(c, dgram, NULL, len, &p, &number)) {
        tltcp__conn_take_unsealed(c, info, &p, number, len, now);
    }
}

static bool is_short(const uint8_t *dgram, size_t len) {
    return len > 0 && (dgram[0] & ~SEC__PHASE) == SEC__SHORT;
}

int tltcp_conn_recv(tltcp_conn *c, const tltcp_pktinfo *info, const void *dgram,
                    size_t len, tltcp_time now) {
    sec__packet p;
    if (c->state == TLTCP__CONN_CLOSED) {
        return TLTCP_ERR_CLOSED;
    }
    tltcp__conn_tick(c, now);
    if (c->sender.reliable && info->path != c->paths.current) {
        drop(c, UNEXPECTED); /* a TCP connection does not move */
        return 0;
    }
    if (c->seal != NULL && is_short(dgram, len)) {
        take_sealed(c, info, dgram, len, now);
        return 0;
    }
    if (!(c->local ? sec__packet_parse_local(dgram, len, &p)
                   : sec__packet_parse(dgram, len, &p)) ||
        (p.type != SEC__INITIAL && p.dcid != c->own.id)) {
        drop(c, INVALID);
        return 0;
    }
    tltcp__conn_take(c, info, &p, len, now);
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Life of a connection: creation, parameters, states, end. */
#include "libtltcp/engine/conn.h"

#include <assert.h>

#include "libtltcp/engine/config.h"

#define FATES_MAX 65536u
#define RATE_EVERY (100 * TLTCP_MS)
#define TARGET_EVERY (10 * TLTCP_MS)
#define RATE_STEP 0.05
#define SKIP_NUMBER_FIRST 64u /* packets */
/* A listener waits so long for what follows its answer, by default. */
#define ANSWER_STANDS (5 * TLTCP_S)
/* The last CLOSE waits no longer for a reliable transport: its peer may never
 * read again. */
#define BLOCKED_MAX TLTCP_S

static void on_fate(void *owner, uint64_t number, const tltcp__section *s,
                    int fate) {
    tltcp_conn *c = owner;
    tltcp__fate_record t = {.section = number,
                            .tag = s->tag,
                            .bytes = s->end - s->start,
                            .acked = s->acked,
                            .written = s->written,
                            .deadline = s->deadline,
                            .now = c->now,
                            .fate = fate,
                            .cause = s->cause,
                            .cls = s->cls,
                            .stream = s->stream};
    tltcp__fate_record *slot;
    tltcp__trace_fate(c, &t);
    if (!c->events.report_fates) {
        return;
    }
    if (cmn__ring_len(&c->events.fates) >= FATES_MAX) {
        cmn__ring_pop(&c->events.fates);
    }
    slot = cmn__ring_push(&c->events.fates);
    if (slot != NULL) {
        *slot = t;
    }
}

static void set_options(tltcp_conn *c, const tltcp_config *cfg,
                        tltcp_time now) {
    c->events.report_fates = cfg->report_fates;
    c->opt.ecn = cfg->packets.ecn;
    c->opt.dscp = (uint8_t)cfg->io.dscp;
    c->opt.fec = cfg->fec != TLTCP_FEC_OFF && tltcp__fec_available();
    c->opt.max_datagram = cfg->packets.max_datagram;
    c->opt.rekey_packets = cfg->rekey_packets;
    c->opt.ack_every = (uint8_t)cfg->packets.ack_every;
    c->trace.fn = cfg->on_trace;
    c->trace.user = cfg->user;
    c->opt.idle = cfg->idle_timeout_ms * TLTCP_MS;
    c->opt.keep_alive = cfg->keep_alive_ms == UINT32_MAX
                            ? TLTCP_TIME_NEVER
                            : cfg->keep_alive_ms * TLTCP_MS;
    c->now = now;
    c->heard_at = now;
    c->handshake.until = now + cfg->connect_timeout_ms * TLTCP_MS;
    c->opt.confirm = c->handshake.until > now + ANSWER_STANDS
                         ? c->handshake.until - now
                         : ANSWER_STANDS;
    c->close.linger_until = TLTCP_TIME_NEVER;
    c->unanswered = TLTCP_TIME_NEVER;
    c->close.at = TLTCP_TIME_NEVER;
    c->ping_at = TLTCP_TIME_NEVER;
}

static int set_stream_id(tltcp_conn *c, const char *id, size_t len) {
    if (len == 0) {
        return 0;
    }
    c->stream_id = cmn__alloc(&c->mem, len + 1);
    if (c->stream_id == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    memcpy(c->stream_id, id, len);
    return 0;
}

static int set_parts(tltcp_conn *c, const tltcp_config *cfg, tltcp_time now) {
    int rv = tltcp__sender_init(&c->sender, &c->mem, cfg, &c->stats, now);
    tltcp__reasm_init(&c->reasm, &c->mem, cfg->recv_buffer, cfg->max_sections,
                      cfg->unordered, &c->stats);
    tltcp__acks_init(&c->acks, &c->mem, cfg->packets.ack_every,
                     cfg->packets.max_ack_delay_ms * TLTCP_MS);
    tltcp__mtu_init(&c->mtu, cfg->packets.base_datagram,
                    cfg->packets.max_datagram, cfg->packets.mtu_probing);
    cmn__ring_init(&c->events.fates, &c->mem, sizeof(tltcp__fate_record), 0);
    c->sender.sec.on_fate = on_fate;
    c->sender.sec.owner = c;
    return rv;
}

int tltcp__conn_make(tltcp_conn **conn, const tltcp_config *cfg,
                     const uint8_t *seed, uint64_t path, tltcp_time now) {
    cmn__mem mem = cfg->allocator.realloc != NULL
                       ? (cmn__mem){cfg->allocator.realloc, cfg->allocator.user}
                       : cmn__mem_default();
    tltcp_conn *c = cmn__alloc(&mem, sizeof(*c));
    int rv;
    if (c == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    c->mem = mem;
    c->paths.current = path;
    set_options(c, cfg, now);
    sec__secret_init(&c->secret, seed);
    c->own = (tltcp__id){.conn = c, .id = sec__secret_next(&c->secret)};
    rv = c->own.id != 0 ? set_parts(c, cfg, now) : TLTCP_ERR_NOMEM;
    if (rv != 0) {
        tltcp_conn_free(c);
        return rv;
    }
    c->since = now;
    *conn = c;
    return 0;
}

static int set_key(tltcp_conn *c, const tltcp_config *cfg) {
    const sec__key_source keys = tltcp__config_keys(cfg);
    c->handshake.hello = cmn__alloc(&c->mem, sizeof(*c->handshake.hello));
    c->handshake.keys = cmn__alloc(&c->mem, sizeof(*c->handshake.keys));
    return c->handshake.hello != NULL && c->handshake.keys != NULL &&
                   sec__caller_init(c->handshake.keys, &keys)
               ? 0
               : TLTCP_ERR_NOMEM;
}

int tltcp__conn_set_identity(tltcp_conn *c, const uint8_t *peer) {
    if (peer != NULL) {
        c->identity = cmn__alloc(&c->mem, SEC__KEY_LEN);
        if (c->identity == NULL) {
            return TLTCP_ERR_NOMEM;
        }
        memcpy(c->identity, peer, SEC__KEY_LEN);
    }
    return 0;
}

/* Frees the handshake's state. */
static void free_handshake(tltcp_conn *c) {
    sec__hello_free(c->handshake.hello, &c->mem);
    c->handshake.hello = NULL;
    cmn__free(&c->mem, c->handshake.offer);
    c->handshake.offer = NULL;
    cmn__free(&c->mem, c->handshake.token);
    c->handshake.token = NULL;
    c->handshake.token_len = 0;
    if (c->handshake.keys != NULL) {
        sec__caller_clear(c->handshake.keys);
        cmn__free(&c->mem, c->handshake.keys);
        c->handshake.keys = NULL;
    }
}

int tltcp_conn_new(tltcp_conn **conn, const tltcp_config *config,
                   const uint8_t *seed, uint64_t path, tltcp_time now) {
    tltcp_config cfg;
    tltcp_conn *c = NULL;
    int rv = tltcp_config_check(config, NULL);
    if (rv != 0) {
        return rv;
    }
    tltcp__config_take(&cfg, config);
    if (cfg.identity.secret != NULL && cfg.identity.listener == NULL) {
        return TLTCP_ERR_INVAL;
    }
    rv = tltcp__conn_make(&c, &cfg, seed, path, now);
    if (rv == 0 && cfg.stream_id != NULL) {
        rv = set_stream_id(c, cfg.stream_id, strlen(cfg.stream_id));
    }
    if (rv == 0 && tltcp__config_calls_sealed(&cfg)) {
        rv = set_key(c, &cfg);
    }
    if (rv == 0) {
        rv = tltcp__conn_set_identity(c, cfg.identity.listener);
    }
    if (rv != 0) {
        tltcp_conn_free(c);
        return rv;
    }
    c->state = TLTCP__CONN_CALLING;
    c->paths.proven = true; /* the caller chose the peer's address */
    c->want = TLTCP__WANT_HELLO;
    *conn = c;
    return 0;
}

void tltcp_conn_free(tltcp_conn *c) {
    cmn__mem mem;
    if (c == NULL) {
        return;
    }
    mem = c->mem;
    if (c->ep != NULL) {
        tltcp__endpoint_on_free(c->ep, c);
    }
    tltcp__conn_free_ids(c);
    tltcp__sender_free(&c->sender, &mem);
    tltcp__reasm_free(&c->reasm);
    tltcp__fec_receiver_free(c->fec_receiver);
    tltcp__acks_free(&c->acks);
    cmn__ring_free(&c->events.fates);
    cmn__free(&mem, c->stream_id);
    cmn__free(&mem, c->identity);
    cmn__free(&mem, c->close.reason);
    free_handshake(c);
    sec__seal_free(c->seal, &mem);
    cmn__free(&mem, c->measure);
    sec__secret_clear(&c->secret);
    cmn__free(&mem, c);
}

void tltcp__conn_set_first(tltcp_conn *c, uint64_t pn, uint32_t seq) {
    cmn__ring *r = &c->sender.map.packets;
    r->head = pn;
    r->tail = pn;
    c->sender.map.oldest = pn;
    cong_recovery_period_init(&c->sender.cc.period, pn);
    c->sender.first_seq = seq;
}

/* Without pacing, ACKs are the clock, and must not be fewer. */
static bool wants_times(const tltcp_conn *c) {
    return c->sender.dup == NULL && c->sender.cc.paced &&
           !tltcp__cc_has_feedback_timer(&c->sender.cc);
}

tltcp__params tltcp__conn_params(const tltcp_conn *c) {
    tltcp__params p = {
        .window = (uint32_t)c->reasm.limit,
        .sections = c->reasm.max_sections,
        .idle_ms = (uint32_t)(c->opt.idle / TLTCP_MS),
        .datagram = c->opt.max_datagram,
        .features = TLTCP__FEATURE_SKIP | TLTCP__FEATURE_META |
                    TLTCP__FEATURE_FREQUENCY |
                    (wants_times(c) ? TLTCP__FEATURE_TIMES : 0) |
                    (c->opt.fec ? TLTCP__FEATURE_REPAIR : 0) |
                    (c->handshake.hello != NULL ? TLTCP__FEATURE_IDS : 0),
        .ack_every = c->sender.dup != NULL ? 1 : c->opt.ack_every,
        .ack_delay_ms = (uint32_t)(c->acks.max_delay / TLTCP_MS),
        .first_seq = c->sender.first_seq,
        .local = c->handshake.proof,
    };
    if (tltcp__conn_is_client(c) && c->stream_id != NULL) {
        p.stream_id_len = strlen(c->stream_id);
        memcpy(p.stream_id, c->stream_id, p.stream_id_len);
    }
    return p;
}

/* Sets the keep-alive interval from the agreed idle timeout. */
static void set_keep_alive(tltcp_conn *c) {
    bool unset = c->opt.keep_alive == 0;
    if (c->opt.keep_alive == TLTCP_TIME_NEVER) {
        return;
    }
    if (c->opt.idle > 0 && (unset || c->opt.keep_alive > c->opt.idle / 3)) {
        c->opt.keep_alive = c->opt.idle / 3;
    } else if (unset) {
        c->opt.keep_alive = TLTCP_TIME_NEVER;
    }
}

/* Bytes after the chunks of a SHORT packet: checksum or tag. */
static size_t trailer(const tltcp_conn *c) {
    return c->seal != NULL ? SEC__TAG_LEN : SEC__CHECK_LEN;
}

/* The unit of the window: whole datagrams, or segments as in the paper's
 * TCP. */
static void set_mss(tltcp_conn *c) {
    struct cong *cong = c->sender.cc.cong;
    uint32_t mss;
    c->full = c->seal != NULL
                  ? (uint32_t)sec__seal_packet(c->seal, c->mtu.current)
                  : c->mtu.current;
    mss = c->full;
    if (c->sender.dup != NULL) {
        mss -= SEC__SHORT_LEN + TLTCP__UPDATE_LEN + TLTCP__DATA_LEN +
               (uint32_t)trailer(c);
    }
    c->sender.sec.fec.room = c->full - SEC__SHORT_LEN - TLTCP__RTT_LEN -
                             TLTCP__UPDATE_LEN - TLTCP__REPAIR_LEN -
                             TLTCP__META_MAX - trailer(c);
    cong->cwnd_max = cong->cwnd_max < 1e15
                         ? cong->cwnd_max / cong->mss * (double)mss
                         : cong->cwnd_max;
    cong->mss = mss;
}

/* TFRC's reports and the paper's recovery need the frequency of PARAMS. */
static void set_frequency(tltcp_conn *c, const tltcp__params *p) {
    bool on = (p->features & TLTCP__FEATURE_FREQUENCY) != 0 &&
              c->sender.dup == NULL &&
              !tltcp__cc_has_feedback_timer(&c->sender.cc);
    tltcp__ack_frequency_init(&c->sender.frequency, on, c->opt.ack_every,
                              p->ack_delay_ms);
    c->sender.frequency.patient = (p->features & TLTCP__FEATURE_TIMES) != 0;
}

bool tltcp__conn_on_params(tltcp_conn *c, const tltcp__params *p) {
    tltcp_time idle = p->idle_ms * TLTCP_MS;
    if (!tltcp__conn_is_client(c) &&
        set_stream_id(c, p->stream_id, p->stream_id_len) != 0) {
        return false;
    }
    c->first_seq = p->first_seq;
    c->sender.sec.peer_seq = p->window;
    c->sender.sec.peer_section = p->sections;
    c->sender.peer_ack_delay = p->ack_delay_ms * TLTCP_MS;
    c->acks.every = p->ack_every;
    c->acks.times = (p->features & TLTCP__FEATURE_TIMES) != 0;
    set_frequency(c, p);
    if ((p->features & TLTCP__FEATURE_SKIP) == 0) {
        c->sender.sec.no_skips = true;
    }
    c->sender.sec.sends_meta =
        c->sender.dup == NULL && (p->features & TLTCP__FEATURE_META) != 0;
    c->sender.sec.fec.on = c->opt.fec && c->sender.dup == NULL &&
                           (p->features & TLTCP__FEATURE_REPAIR) != 0;
    c->opt.ids = (p->features & TLTCP__FEATURE_IDS) != 0;
    tltcp__conn_on_local(c, p->local);
    if (idle > 0 && (c->opt.idle == 0 || idle < c->opt.idle)) {
        c->opt.idle = idle;
    }
    set_keep_alive(c);
    tltcp__mtu_cap(&c->mtu, p->datagram);
    set_mss(c);
    c->handshake.has_params = true;
    return true;
}

void tltcp__conn_open(tltcp_conn *c, tltcp_time now) {
    tltcp__conn_enter(c, TLTCP__CONN_OPEN);
    c->sender.hold = false;
    c->handshake.until = TLTCP_TIME_NEVER;
    free_handshake(c);
    tltcp__conn_start_ids(c);
    if (c->sender.reliable) {
        tltcp__mtu_fix(&c->mtu);
    }
    set_mss(c); /* the trailer may have grown */
    c->may_probe_mtu = true;
    c->skip_number_in =
        1 + (uint32_t)(sec__secret_next(&c->secret) % SKIP_NUMBER_FIRST);
    c->ping_at =
        tltcp__conn_is_client(c) && c->opt.keep_alive != TLTCP_TIME_NEVER
            ? now + c->opt.keep_alive
            : TLTCP_TIME_NEVER;
    if (c->finished) {
        c->want |= TLTCP__WANT_FIN;
    }
    tltcp__trace_state(c, "open", now);
}

/* The arrows of conn.h. */
static bool may_follow(enum tltcp__conn_state from, enum tltcp__conn_state to) {
    switch (to) {
    case TLTCP__CONN_ANSWERED:
        return from == TLTCP__CONN_CALLED;
    case TLTCP__CONN_OPEN:
        return from == TLTCP__CONN_CALLING || from == TLTCP__CONN_ANSWERED;
    case TLTCP__CONN_CLOSING:
        return from == TLTCP__CONN_OPEN;
    case TLTCP__CONN_DYING:
        return from != TLTCP__CONN_CLOSED;
    case TLTCP__CONN_CLOSED:
        return true;
    default:
        return false; /* where a connection begins */
    }
}

void tltcp__conn_enter(tltcp_conn *c, enum tltcp__conn_state state) {
    bool legal = may_follow(c->state, state);
    assert(legal);
    (void)legal;
    c->state = state;
}

static void over(tltcp_conn *c, int error) {
    if (!c->close.known) {
        c->close.known = true;
        c->close.error = error;
        tltcp__trace_state(c, "closed", c->now);
    }
    tltcp__sections_abandon(&c->sender.sec);
}

void tltcp__conn_terminate(tltcp_conn *c, int error) {
    over(c, error);
    tltcp__conn_enter(c, TLTCP__CONN_CLOSED);
    c->want = 0;
}

void tltcp__conn_echo_close(tltcp_conn *c, int error) {
    over(c, error);
    tltcp__conn_enter(c, TLTCP__CONN_DYING);
    c->close.at = c->now + BLOCKED_MAX;
    c->close.flags = TLTCP__CLOSE_ECHO;
    c->want = TLTCP__WANT_CLOSE;
}

const char *tltcp__conn_reason(const tltcp_conn *c) {
    return c->close.reason != NULL ? c->close.reason : "";
}

char *tltcp__conn_new_reason(tltcp_conn *c, size_t len) {
    cmn__free(&c->mem, c->close.reason);
    c->close.reason = cmn__alloc(&c->mem, len + 1); /* zeroed */
    return c->close.reason;
}

static void set_reason(tltcp_conn *c, const char *reason) {
    size_t n = reason != NULL ? strlen(reason) : 0;
    n = n < TLTCP_REASON_MAX ? n : TLTCP_REASON_MAX;
    char *copy = n > 0 ? tltcp__conn_new_reason(c, n) : NULL;
    if (copy != NULL) {
        memcpy(copy, reason, n);
        copy[n] = '\0';
    }
}

void tltcp__conn_fail(tltcp_conn *c, int error, const char *reason) {
    bool notify = c->peer.id != 0 && tltcp__conn_allowance(c) >= c->mtu.base;
    if (c->state == TLTCP__CONN_CLOSED || c->state == TLTCP__CONN_DYING) {
        return;
    }
    set_reason(c, reason);
    c->close.code = (uint32_t)-error;
    over(c, error);
    tltcp__conn_enter(c, notify ? TLTCP__CONN_DYING : TLTCP__CONN_CLOSED);
    c->close.at = c->now + BLOCKED_MAX;
    c->want = notify ? TLTCP__WANT_CLOSE : 0;
}

void tltcp__conn_move(tltcp_conn *c, uint64_t path, tltcp_time now) {
    c->paths.current = path;
    c->paths.candidate = (tltcp__candidate){0};
    c->events.path_due = true;
    bool ecn = c->opt.ecn && c->sender.dup == NULL;
    tltcp__mtu_restart(&c->mtu, now);
    set_mss(c);
    tltcp__sender_on_new_path(&c->sender, ecn, now);
}

void tltcp__conn_trim(tltcp_conn *c) {
    tltcp__sections_trim(&c->sender.sec);
    tltcp__sender_trim(&c->sender);
    tltcp__reasm_trim(&c->reasm);
    tltcp__fec_receiver_trim(c->fec_receiver);
    cmn__ring_trim(&c->events.fates);
    tltcp__conn_charge(c);
}

bool tltcp__conn_may_hold(const tltcp_conn *c, size_t more) {
    return c->ep == NULL || tltcp__endpoint_allows(c->ep, c, more);
}

void tltcp__conn_charge(tltcp_conn *c) {
    size_t held;

    if (c->ep == NULL) {
        return;
    }
    held = tltcp__reasm_held(&c->reasm) +
           tltcp__fec_receiver_held(c->fec_receiver) +
           tltcp__sentmap_silent_bytes(&c->sender.map);
    if (held != c->caller.charged) {
        tltcp__endpoint_charge(c->ep, c, held);
    }
}

static bool rate_changed(uint64_t was, uint64_t is) {
    double step = is > was ? (double)(is - was) : (double)(was - is);
    return is > 0 && step > RATE_STEP * (double)was;
}

void tltcp__conn_check_rate(tltcp_conn *c, tltcp_time now) {
    uint64_t rate = tltcp__cc_estimated_bps(&c->sender.cc);
    uint64_t target;
    if (c->state != TLTCP__CONN_OPEN || rate == 0) {
        return;
    }
    if (now - c->events.rate_at >= RATE_EVERY &&
        rate_changed(c->events.rate, rate)) {
        c->events.rate_at = now;
        c->events.rate = rate;
        c->events.rate_due = true;
    }
    if (now - c->events.target_checked_at < TARGET_EVERY) {
        return;
    }
    c->events.target_checked_at = now;
    target = tltcp__sender_target_bps(&c->sender, now);
    if (rate_changed(c->events.target, target)) {
        c->events.target = target;
        c->events.rate_due = true;
    }
}

void tltcp__conn_on_result(tltcp_conn *c, const tltcp__feedback_result *result,
                           tltcp_time now) {
    uint16_t lost = c->sender.resend;
    c->sender.resend = 0;
    tltcp__acks_on_acked(&c->acks, result->acked_upto);
    if ((result->acked & TLTCP__SENT_FIN) != 0) {
        c->fin_acked = true;
    }
    if ((lost & TLTCP__SENT_FIN) != 0 && !c->fin_acked) {
        c->want |= TLTCP__WANT_FIN;
    }
    if ((lost & TLTCP__SENT_IDS) != 0) {
        c->want |= TLTCP__WANT_IDS;
    }
    if ((lost & TLTCP__SENT_WINDOW) != 0) {
        c->want |= TLTCP__WANT_WINDOW;
    }
    if ((lost & TLTCP__SENT_FREQUENCY) != 0) {
        c->sender.frequency.due = true;
    }
    if (result->pto_fired &&
        (c->state == TLTCP__CONN_CALLING || c->state == TLTCP__CONN_ANSWERED)) {
        c->want |= TLTCP__WANT_HELLO;
        c->sender.pto_probes = 0;
    } else if (result->asks) {
        c->want |= TLTCP__WANT_PING;
    }
    if (result->mtu_probe_acked > 0) {
        tltcp__mtu_on_probe_acked(&c->mtu, result->mtu_probe_acked, now);
        set_mss(c);
    }
    if (result->mtu_probe_lost > 0) {
        tltcp__mtu_on_probe_lost(&c->mtu, result->mtu_probe_lost, now);
    }
    if (result->largest_size > 0) {
        c->unanswered = TLTCP_TIME_NEVER;
    }
    tltcp__mtu_on_acked(&c->mtu, result->largest_size);
    if (tltcp__mtu_on_lost(&c->mtu, result->largest_lost, now) ||
        (result->pto_fired &&
         tltcp__mtu_on_silence(&c->mtu, c->sender.pto_count, now))) {
        set_mss(c);
    }
    tltcp__conn_check_rate(c, now);
    tltcp__conn_check_closing(c, now);
}

/* Whether all written data reached the peer or was skipped, and the peer knows
 * it. */
static bool settled(const tltcp_conn *c) {
    return tltcp__sections_settled(&c->sender.sec) && c->fin_acked &&
           c->sender.peer_cum >= c->sender.sec.end;
}

void tltcp__conn_check_closing(tltcp_conn *c, tltcp_time now) {
    if (c->state == TLTCP__CONN_OPEN && c->close.requested && settled(c)) {
        tltcp__conn_enter(c, TLTCP__CONN_CLOSING);
        c->close.at = now;
        /* Even if the peer keeps sending without acknowledging. */
        if (c->opt.idle > 0) {
            c->close.linger_until =
                tltcp__earlier(c->close.linger_until, now + 2 * c->opt.idle);
        }
        c->want |= TLTCP__WANT_CLOSE;
    }
}

tltcp_time tltcp__conn_report_at(const tltcp_conn *c) {
    cong_time at = c->measure != NULL
                       ? cong_tfrc_receiver_due(c->measure, (cong_time)c->now)
                       : -1;
    return at < 0 ? TLTCP_TIME_NEVER : (tltcp_time)at;
}

size_t tltcp__conn_allowance(const tltcp_conn *c) {
    uint64_t most = 3 * c->paths.received;
    if (c->paths.proven) {
        return SIZE_MAX;
    }
    return most > c->paths.sent ? (size_t)(most - c->paths.sent) : 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Input: datagrams that come together. Packets of a run, which continue the
 * data of one section in order, are noted together. */
#include <tltcp/burst.h>

#include "libtltcp/engine/conn.h"

/* What precedes the data in a packet of a run. */
#define BODY_HEAD (TLTCP__UPDATE_LEN + TLTCP__DATA_LEN)

/* The run in progress. */
typedef struct arrivals {
    const tltcp_pktinfo *info;
    const uint8_t *data;
    uint8_t *own; /* the same, if we may write there; or NULL */
    tltcp_time now;
    uint64_t start; /* stream offset of its data */
    uint64_t bytes; /* of its packets */
    uint32_t packets;
} arrivals;

/* Whether a packet of a run changes nothing but what run_end() notes. This
 * needs a packet before it at the same time. */
static bool may_run(const tltcp_conn *c, const arrivals *a) {
    return c->state == TLTCP__CONN_OPEN && c->heard_at == a->now && !c->rests &&
           c->acks.hurry == 0 && c->measure == NULL && c->trace.fn == NULL &&
           (c->fec_receiver == NULL || c->fec_receiver->blocks == 0) &&
           a->info->path == c->paths.current && a->info->ecn != TLTCP__ECN_CE;
}

/* Ends the run, which may be empty. */
static void run_end(tltcp_conn *c, arrivals *a) {
    int rv = 0;
    if (a->packets > 0) {
        rv = tltcp__reasm_appended(&c->reasm, a->start);
        if (rv == 0) {
            rv = tltcp__acks_on_run(&c->acks, a->packets, a->info->ecn, a->now);
        }
        c->stats.packets_received += a->packets;
        c->stats.wire_bytes_received += a->bytes;
        tltcp__conn_charge(c);
    }
    a->start = c->reasm.cum;
    a->bytes = 0;
    a->packets = 0;
    if (rv != 0) {
        tltcp__conn_fail(c, rv, tltcp_strerror(rv));
    }
}

/* Whether the number is the next one. */
static bool is_next(const tltcp_conn *c, const arrivals *a, uint32_t pn) {
    return pn == (uint32_t)(c->acks.largest + a->packets);
}

/* The data of a body that consists of an UPDATE without news and of DATA that
 * continues the stream; NULL: it does not. */
static const uint8_t *continuation(const tltcp_conn *c, const uint8_t *body,
                                   size_t len, uint32_t *section) {
    const uint32_t update = (uint32_t)TLTCP__UPDATE << 24 | 8u;
    cmn__reader r = cmn__reader_of(body, BODY_HEAD);
    uint32_t seq;
    if (len <= BODY_HEAD || cmn__get32(&r) != update) {
        return NULL;
    }
    seq = cmn__get32(&r) - c->first_seq;
    (void)cmn__get32(&r);
    if (cmn__widen(seq, c->reasm.cum) > c->reasm.update ||
        cmn__get32(&r) !=
            ((uint32_t)TLTCP__DATA << 24 |
             (uint32_t)(len - TLTCP__UPDATE_LEN - TLTCP__CHUNK_LEN)) ||
        cmn__get32(&r) != (uint32_t)c->reasm.cum + c->first_seq) {
        return NULL;
    }
    *section = cmn__get32(&r);
    return r.p;
}

/* Takes the packet with that body into the run. */
static bool run_take(tltcp_conn *c, arrivals *a, const uint8_t *data,
                     size_t len, uint32_t section, size_t size) {
    if (!tltcp__reasm_append(&c->reasm, data, len,
                             cmn__widen(section, c->reasm.recs.head))) {
        return false;
    }
    a->packets++;
    a->bytes += size;
    return true;
}

/* Likewise, if it is unsealed and belongs to the run. */
static bool take_plain(tltcp_conn *c, arrivals *a, const uint8_t *dgram,
                       size_t len) {
    size_t body_len = len - SEC__SHORT_LEN - SEC__CHECK_LEN;
    uint32_t section = 0;
    const uint8_t *data =
        continuation(c, dgram + SEC__SHORT_LEN, body_len, &section);
    return data != NULL && tltcp__conn_is_intact(c, dgram, len) &&
           run_take(c, a, data, body_len - BODY_HEAD, section, len);
}

/* Takes a sealed packet with the next number. */
static void take_next_sealed(tltcp_conn *c, arrivals *a, const uint8_t *dgram,
                             size_t len) {
    const uint8_t *data = NULL;
    uint32_t section = 0;
    uint32_t number;
    uint8_t *own = a->own != NULL ? a->own + (dgram - a->data) : NULL;
    sec__packet p;
    if (!tltcp__conn_unseal(c, dgram, own, len, &p, &number)) {
        return;
    }
    data = continuation(c, p.body, p.body_len, &section);
    if (data == NULL ||
        !run_take(c, a, data, p.body_len - BODY_HEAD, section, len)) {
        run_end(c, a);
        tltcp__conn_take_unsealed(c, a->info, &p, number, len, a->now);
        run_end(c, a);
    }
}

/* Takes a SHORT packet to one of our ids. */
static void take_short(tltcp_conn *c, arrivals *a, const tltcp__id *id,
                       const uint8_t *dgram, size_t len) {
    cmn__reader r = cmn__reader_of(dgram + SEC__SHORT_LEN - 4, 4);
    bool next = len > SEC__SHORT_LEN + SEC__TAG_LEN && may_run(c, a) &&
                is_next(c, a, cmn__get32(&r) - id->offset);
    if (next && c->seal != NULL) {
        take_next_sealed(c, a, dgram, len);
    } else if (!next || !take_plain(c, a, dgram, len)) {
        run_end(c, a);
        (void)tltcp_conn_recv(c, a->info, dgram, len, a->now);
        run_end(c, a);
    }
}

/* Our id to which the packet was sent; NULL: it is another connection's, or not
 * SHORT. */
static const tltcp__id *own_id_of(tltcp_conn *c, const uint8_t *dgram,
                                  size_t len) {
    uint8_t type;
    uint64_t id;
    return sec__packet_peek(dgram, len, &type, &id) && type == SEC__SHORT &&
                   len >= SEC__SHORT_LEN
               ? tltcp__conn_own_id(c, id)
               : NULL;
}

static size_t recv_burst(tltcp_conn *c, arrivals *a, size_t len,
                         size_t segment) {
    size_t at = 0;
    while (at < len && c->state != TLTCP__CONN_CLOSED) {
        const uint8_t *dgram = a->data + at;
        size_t size = len - at < segment ? len - at : segment;
        const tltcp__id *id = own_id_of(c, dgram, size);
        if (id == NULL) {
            break;
        }
        take_short(c, a, id, dgram, size);
        at += size;
    }
    run_end(c, a);
    return at;
}

size_t tltcp_conn_recv_burst(tltcp_conn *c, const tltcp_pktinfo *info,
                             const void *data, size_t len, size_t segment,
                             tltcp_time now) {
    arrivals a = {
        .info = info, .data = data, .now = now, .start = c->reasm.cum};
    return recv_burst(c, &a, len, segment);
}

size_t tltcp_conn_recv_lent(tltcp_conn *c, const tltcp_pktinfo *info,
                            void **room, size_t at, size_t len, size_t segment,
                            tltcp_time now) {
    uint8_t *own = (uint8_t *)*room + at;
    arrivals a = {.info = info,
                  .data = own,
                  .own = own,
                  .now = now,
                  .start = c->reasm.cum};
    size_t n;
    int rv;
    if (len < TLTCP__LENT_MIN || !tltcp__conn_may_hold(c, TLTCP_ROOM_BYTES)) {
        return tltcp_conn_recv_burst(c, info, own, len, segment, now);
    }
    tltcp__reasm_borrow(&c->reasm, segment);
    n = recv_burst(c, &a, len, segment);
    /* the driver still needs what was not taken */
    rv = tltcp__reasm_take_room(&c->reasm, room,
                                n == len ? TLTCP__LENT_MIN : SIZE_MAX);
    tltcp__conn_charge(c);
    if (rv != 0) {
        tltcp__conn_fail(c, rv, tltcp_strerror(rv));
    }
    return n;
}

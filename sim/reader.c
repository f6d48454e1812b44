/* SPDX-License-Identifier: MPL-2.0 */
/* Applications that read: at once, slowly, in small pieces, or with pauses. */
#include "sim/reader.h"

#define PIECES_MAX 16

static struct sim_loop *reader_loop_of(const struct sim_reader *r) {
    return sim_net_loop(sim_host_net(r->peer->host));
}

static void reader_on_timer(struct sim_timer *t, uint64_t now) {
    struct sim_reader *r = t->user;
    (void)now;
    sim_peer_pump(r->peer);
}

void sim_reader_init(struct sim_reader *r, const struct sim_reader_config *c) {
    *r = (struct sim_reader){.cfg = *c};
    r->cfg.pieces = c->pieces == 0 ? 8 : c->pieces;
    r->cfg.pieces = r->cfg.pieces < PIECES_MAX ? r->cfg.pieces : PIECES_MAX;
    r->cfg.buffer = c->buffer == 0 ? 4096 : c->buffer;
    if (r->cfg.buffer > SIM_READER_BUF / r->cfg.pieces) {
        r->cfg.buffer = SIM_READER_BUF / r->cfg.pieces;
    }
    r->timer.fire = reader_on_timer;
    r->timer.user = r;
}

void sim_reader_start(struct sim_reader *r, struct sim_peer *p) {
    r->peer = p;
}

/* Earliest time of the next read. */
static uint64_t not_before(const struct sim_reader *r) {
    uint64_t at = r->next;
    if (at < reader_loop_of(r)->now) {
        at = reader_loop_of(r)->now;
    }
    if (at >= r->cfg.pause_from && at < r->cfg.pause_until) {
        at = r->cfg.pause_until;
    }
    return at;
}

static void reader_take(struct sim_reader *r, const struct tltcp_segment *seg,
                        const struct tltcp_meta *meta, const tltcp_buf *buf) {
    const uint8_t *data = seg->kind == TL_DATA ? buf->base : NULL;
    if (data != NULL) {
        r->bytes += buf->len;
    } else {
        r->gap_bytes += buf->len;
        r->gaps++;
    }
    if (r->cfg.on_piece != NULL) {
        r->cfg.on_piece(r->cfg.user, seg, meta, data, buf->len);
    }
}

static bool read_once(struct sim_reader *r) {
    struct tltcp_segment segs[PIECES_MAX];
    struct tltcp_meta metas[PIECES_MAX];
    tltcp_buf bufs[PIECES_MAX];
    size_t count = r->cfg.pieces;
    uint64_t before = r->bytes;
    int64_t rv;
    for (size_t i = 0; i < count; i++) {
        bufs[i].base = r->buf + i * r->cfg.buffer;
        bufs[i].len = r->cfg.buffer;
    }
    rv = tltcp_conn_read_meta(r->peer->conn, bufs, segs, metas, &count,
                              sim_host_now(r->peer->host));
    if (rv <= 0) {
        r->ended = rv == 0;
        r->error = rv < 0 && rv != TLTCP_ERR_AGAIN ? (int)rv : r->error;
        return false;
    }
    r->calls++;
    r->last = reader_loop_of(r)->now;
    for (size_t i = 0; i < count; i++) {
        reader_take(r, &segs[i], &metas[i], &bufs[i]);
    }
    if (r->cfg.rate != 0) {
        r->next = r->last + (r->bytes - before) * TLTCP_S / r->cfg.rate;
    }
    return true;
}

void sim_reader_ready(struct sim_reader *r) {
    uint64_t at;
    if (r->peer == NULL) {
        return;
    }
    while (!r->ended && r->error == 0) {
        at = not_before(r);
        if (at > reader_loop_of(r)->now) {
            (void)sim_loop_arm(reader_loop_of(r), &r->timer, at);
            return;
        }
        if (!read_once(r)) {
            return;
        }
    }
}

static void on_ready(void *user, struct sim_peer *p) {
    struct sim_reader *r = user;
    if (r->peer == NULL) {
        sim_reader_start(r, p);
    }
    sim_reader_ready(r);
}

enum sim_answer sim_reader_accept(void *user, struct sim_peer *p) {
    p->app = (struct sim_app){.on_ready = on_ready, .user = user};
    return SIM_ACCEPT;
}

void sim_reader_stop(struct sim_reader *r) {
    if (r->peer != NULL) {
        sim_loop_stop(reader_loop_of(r), &r->timer);
        r->peer = NULL;
    }
}

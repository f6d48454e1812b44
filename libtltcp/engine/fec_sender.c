/* SPDX-License-Identifier: MPL-2.0 */
/* Decides how much repair sections need, and makes the symbols. */
#include "libtltcp/engine/fec_sender.h"

#include <math.h>
#include <tltcp/config.h>

#include "libtltcp/engine/chunk.h"

#define LOSS_PACKETS 256.0 /* packets over which loss is smoothed */
#define SHARE_SECTIONS 16.0
#define ROUNDS_MAX 8
#define LOSS_ON 0.01 /* assumed with TLTCP_FEC_ON; more is not congestion */
#define NONE UINT64_MAX

void tltcp__fec_sender_init(tltcp__fec_sender *f, const cmn__mem *mem,
                            uint8_t mode) {
    *f = (tltcp__fec_sender){.mem = mem, .mode = mode};
}

static tltcp__fec_maker *maker_of(tltcp__fec_sender *f) {
    tltcp__fec_maker *m = f->maker;
    if (m != NULL) {
        return m;
    }
    m = cmn__alloc(f->mem, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    m->data.mem = f->mem;
    m->tables.mem = f->mem;
    for (unsigned i = 0; i < TLTCP__FEC_SETS; i++) {
        m->set[i].symbols.mem = f->mem;
        m->set[i].section = NONE;
    }
    f->maker = m;
    return m;
}

void tltcp__fec_sender_trim(tltcp__fec_sender *f) {
    tltcp__fec_maker *m = f->maker;
    if (m == NULL) {
        return;
    }
    for (unsigned i = 0; i < TLTCP__FEC_SETS; i++) {
        tltcp__fec_room_free(&m->set[i].symbols);
    }
    tltcp__fec_room_free(&m->data);
    tltcp__fec_room_free(&m->tables);
    cmn__free(f->mem, m);
    f->maker = NULL;
}

void tltcp__fec_sender_free(tltcp__fec_sender *f) {
    tltcp__fec_sender_trim(f);
}

void tltcp__fec_sender_on_packet(tltcp__fec_sender *f, bool lost) {
    f->loss += ((lost ? 1 : 0) - f->loss) / LOSS_PACKETS;
}

/* Allowed probability that a block fails. */
static double allowed(uint8_t cls) {
    switch (cls) {
    case TL_CLASS_KEY:
    case TL_CLASS_HEADER:
        return 1e-4;
    case TL_CLASS_DISPOSABLE:
        return 1e-2;
    default:
        return 1e-3;
    }
}

/* Probability that more than n of k + n symbols are lost. */
static double failure(unsigned k, unsigned n, double loss) {
    double total = k + n;
    double term = pow(1 - loss, total); /* none is lost */
    double good = term;
    for (unsigned i = 1; i <= n; i++) {
        term *= (total - i + 1) / i * loss / (1 - loss);
        good += term;
    }
    return 1 - good;
}

static bool is_dear(const tltcp__section *s) {
    return s->cls == TL_CLASS_KEY || s->cls == TL_CLASS_HEADER;
}

/* Residual loss after all retransmissions that fit in time. */
static double loss_left(const tltcp__fec_sender *f, const tltcp__section *s,
                        tltcp_time through) {
    double loss = f->loss;
    tltcp_time rounds = 0;
    if (f->mode == TLTCP_FEC_ON) {
        return loss > LOSS_ON ? loss : LOSS_ON;
    }
    if (s->due == TLTCP_TIME_NEVER || f->round == 0) {
        return 0;
    }
    if (s->due > through) {
        rounds = (s->due - through) / f->round;
    } else if (!is_dear(s) && s->deadline > through) {
        /* it is late with or without a loss */
        rounds = (s->deadline - through) / f->round;
    }
    return pow(loss, (double)(1 + (rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX)));
}

/* While sections yield, losses are mostly overflow of our own queue, and repair
 * symbols would displace data. */
static bool may_spare(const tltcp__fec_sender *f, const tltcp__section *s,
                      tltcp_time through) {
    return through >= f->scarce || (is_dear(s) && f->loss > LOSS_ON);
}

static unsigned repairs_for(unsigned k, double loss, double limit) {
    unsigned n = 0;
    if (loss > 0.5) { /* beyond help */
        return 0;
    }
    while (n < TLTCP__FEC_REPAIR && failure(k, n, loss) > limit) {
        n++;
    }
    return n;
}

static void shape(tltcp__fec_set *t, const tltcp__section *s, size_t room) {
    size_t len = (size_t)(s->end - s->start);
    size_t symbols = (len + room - 1) / room;
    t->blocks = (unsigned)((symbols + TLTCP__FEC_DATA - 1) / TLTCP__FEC_DATA);
    t->width = (unsigned)((symbols + t->blocks - 1) / t->blocks);
    t->size = (len + symbols - 1) / symbols;
    t->start = s->start;
    t->end = s->end;
    t->made = 0;
    t->next = 0;
}

static uint64_t block_start(const tltcp__fec_set *t, unsigned block) {
    uint64_t at = t->start + (uint64_t)block * t->width * t->size;
    return at < t->end ? at : t->end;
}

static unsigned symbols_in(const tltcp__fec_set *t, unsigned block) {
    uint64_t len = block_start(t, block + 1) - block_start(t, block);
    return (unsigned)((len + t->size - 1) / t->size);
}

/* Room for the symbols and for the data of a block. */
static bool reserve(tltcp__fec_maker *m, tltcp__fec_set *t) {
    size_t symbols = (size_t)t->blocks * t->repairs;
    return tltcp__fec_reserve(&t->symbols, symbols * t->size) != NULL &&
           tltcp__fec_reserve(&m->data, t->width * t->size) != NULL;
}

/* Rounding may leave the last block empty. */
static bool make_symbols(tltcp__fec_maker *m, const tltcp__fec_set *t,
                         unsigned block, const cmn__bytes *buf) {
    uint64_t at = block_start(t, block);
    size_t len = (size_t)(block_start(t, block + 1) - at);
    unsigned k = symbols_in(t, block);
    uint8_t *data = tltcp__fec_reserve(&m->data, t->width * t->size);
    if (data == NULL) { /* the room was lost when the other set wanted more */
        return false;
    }
    cmn__bytes_get(buf, at, data, len);
    memset(data + len, 0, k * t->size - len);
    return k == 0 || tltcp__fec_encode(&m->tables, data, k, t->size,
                                       t->symbols.bytes +
                                           (size_t)block * t->repairs * t->size,
                                       t->repairs);
}

static const tltcp__fec_set *set_of(const tltcp__fec_sender *f,
                                    uint64_t number) {
    for (unsigned i = 0; f->maker != NULL && i < TLTCP__FEC_SETS; i++) {
        if (f->maker->set[i].section == number) {
            return &f->maker->set[i];
        }
    }
    return NULL;
}

/* Counts bytes: a small section may need as many symbols as a large one. */
static void note_share(tltcp__fec_sender *f, const tltcp__fec_set *t) {
    double data = (double)(t->end - t->start);
    double repair = (double)t->repairs * t->blocks * (double)t->size;
    f->data_bytes += data - f->data_bytes / SHARE_SECTIONS;
    f->repair_bytes += repair - f->repair_bytes / SHARE_SECTIONS;
}

double tltcp__fec_sender_share(const tltcp__fec_sender *f, tltcp_time now) {
    return now >= f->scarce && f->data_bytes > 0
               ? f->repair_bytes / f->data_bytes
               : 0;
}

bool tltcp__fec_sender_wants(const tltcp__fec_sender *f,
                             const tltcp__section *s, tltcp_time through) {
    return f->on && f->room > 0 && loss_left(f, s, through) > 0 &&
           may_spare(f, s, through);
}

bool tltcp__fec_sender_protects(const tltcp__fec_sender *f, uint64_t number) {
    return set_of(f, number) != NULL;
}

void tltcp__fec_sender_protect(tltcp__fec_sender *f, uint64_t number,
                               const tltcp__section *s, tltcp_time through,
                               bool ahead) {
    tltcp__fec_set t = {.section = NONE};
    tltcp__fec_maker *m = f->maker;
    if (f->on && f->room > 0) {
        shape(&t, s, f->room);
        if (tltcp__fec_sender_wants(f, s, through)) {
            t.repairs =
                repairs_for(t.width, loss_left(f, s, through), allowed(s->cls));
        }
        note_share(f, &t);
    }
    if (t.repairs > 0) {
        m = maker_of(f);
    }
    if (m == NULL) {
        return;
    }
    t.symbols = m->set[ahead].symbols;
    m->set[ahead] = t;
    if (t.repairs > 0 && reserve(m, &m->set[ahead])) {
        m->set[ahead].section = number;
    }
}

void tltcp__fec_sender_reach(tltcp__fec_sender *f, uint64_t number, uint64_t at,
                             const cmn__bytes *buf) {
    for (unsigned i = 0; f->maker != NULL && i < TLTCP__FEC_SETS; i++) {
        tltcp__fec_set *t = &f->maker->set[i];
        while (t->section == number && t->made < t->blocks &&
               block_start(t, t->made) <= at) {
            if (make_symbols(f->maker, t, t->made, buf)) {
                t->made++;
            } else {
                t->section = NONE;
            }
        }
    }
}

uint64_t tltcp__fec_sender_cut(const tltcp__fec_sender *f, uint64_t section,
                               uint64_t at, uint64_t end) {
    const tltcp__fec_set *t = set_of(f, section);
    uint64_t cut;
    if (t == NULL) {
        return end;
    }
    cut = at + t->size - (at - t->start) % t->size;
    return cut < end ? cut : end;
}

bool tltcp__fec_sender_next(const tltcp__fec_set *t, uint64_t nxt,
                            tltcp__fec_symbol *out) {
    unsigned block;
    if (t->section == NONE || t->next >= t->blocks * t->repairs) {
        return false;
    }
    block = t->next / t->repairs;
    *out = (tltcp__fec_symbol){
        .section = t->section,
        .start = block_start(t, block),
        .end = block_start(t, block + 1),
        .symbol = t->symbols.bytes + t->next * t->size,
        .size = t->size,
        .index = (uint8_t)(t->next % t->repairs),
    };
    out->flags = (uint8_t)((block == 0 ? TLTCP__DATA_START : 0) |
                           (out->end == t->end ? TLTCP__DATA_END : 0));
    return out->start < out->end && nxt >= out->end;
}

void tltcp__fec_sender_sent(tltcp__fec_sender *f, uint64_t number) {
    for (unsigned i = 0; f->maker != NULL && i < TLTCP__FEC_SETS; i++) {
        tltcp__fec_set *t = &f->maker->set[i];
        t->next += t->section == number;
    }
}

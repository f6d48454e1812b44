/* SPDX-License-Identifier: MPL-2.0 */
/* Decides how much repair sections need, and makes the symbols. */
#include "libtltcp/engine/fec_sender.h"

#include <math.h>
#include <tltcp/config.h>

#include "libtltcp/engine/chunk.h"

#define LOSS_PACKETS 256.0 /* over which loss is smoothed */
#define SHARE_SECTIONS 16.0
#define ROUNDS_MAX 8
#define LOSS_ON 0.01 /* with TLTCP_FEC_ON at least; more is not congestion */
#define NONE UINT64_MAX

void tltcp__fec_sender_init(tltcp__fec_sender *r, const cmn__mem *mem,
                            uint8_t mode) {
    *r = (tltcp__fec_sender){
        .data = {.mem = mem}, .tables = {.mem = mem}, .mode = mode};
    for (unsigned i = 0; i < TLTCP__FEC_SETS; i++) {
        r->set[i].symbols.mem = mem;
        r->set[i].section = NONE;
    }
}

void tltcp__fec_sender_free(tltcp__fec_sender *r) {
    for (unsigned i = 0; i < TLTCP__FEC_SETS; i++) {
        tltcp__fec_room_free(&r->set[i].symbols);
    }
    tltcp__fec_room_free(&r->data);
    tltcp__fec_room_free(&r->tables);
}

void tltcp__fec_sender_on_packet(tltcp__fec_sender *r, bool lost) {
    r->loss += ((lost ? 1 : 0) - r->loss) / LOSS_PACKETS;
}

/* How likely a block may fail. */
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

/* The chance that more than n of k + n symbols are lost. */
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

/* The loss that is left when packets are repeated as long as there is time. */
static double loss_left(const tltcp__fec_sender *r, const tltcp__section *s,
                        tltcp_time through) {
    double loss = r->loss;
    tltcp_time rounds = 0;
    if (r->mode == TLTCP_FEC_ON) {
        return loss > LOSS_ON ? loss : LOSS_ON;
    }
    if (s->due == TLTCP_TIME_NEVER || r->round == 0) {
        return 0;
    }
    if (s->due > through) {
        rounds = (s->due - through) / r->round;
    } else if (!is_dear(s) && s->deadline > through) {
        /* it is late whether a packet is lost or not */
        rounds = (s->deadline - through) / r->round;
    }
    return pow(loss, (double)(1 + (rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX)));
}

/* Where others yield, what is lost is mostly our own queue's overflow, and
 * repair would take the room of data. */
static bool may_spare(const tltcp__fec_sender *r, const tltcp__section *s,
                      tltcp_time through) {
    return through >= r->scarce || (is_dear(s) && r->loss > LOSS_ON);
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

/* Rounding may leave the last block empty. */
static bool make_symbols(tltcp__fec_sender *r, tltcp__fec_set *t,
                         const cmn__bytes *buf) {
    size_t of_block = t->repairs * t->size;
    uint8_t *symbols = tltcp__fec_reserve(&t->symbols, t->blocks * of_block);
    uint8_t *data = tltcp__fec_reserve(&r->data, t->width * t->size);
    bool made = symbols != NULL && data != NULL;
    for (unsigned b = 0; made && b < t->blocks; b++) {
        uint64_t at = block_start(t, b);
        size_t len = (size_t)(block_start(t, b + 1) - at);
        unsigned k = symbols_in(t, b);
        cmn__bytes_get(buf, at, data, len);
        memset(data + len, 0, k * t->size - len);
        made = k == 0 || tltcp__fec_encode(&r->tables, data, k, t->size,
                                           symbols + b * of_block, t->repairs);
    }
    return made;
}

static const tltcp__fec_set *set_of(const tltcp__fec_sender *r,
                                    uint64_t number) {
    for (unsigned i = 0; i < TLTCP__FEC_SETS; i++) {
        if (r->set[i].section == number) {
            return &r->set[i];
        }
    }
    return NULL;
}

/* By bytes: a small section may need as many symbols as a large one. */
static void note_share(tltcp__fec_sender *r, const tltcp__fec_set *t) {
    double data = (double)(t->end - t->start);
    double repair = (double)t->repairs * t->blocks * (double)t->size;
    r->data_bytes += data - r->data_bytes / SHARE_SECTIONS;
    r->repair_bytes += repair - r->repair_bytes / SHARE_SECTIONS;
}

double tltcp__fec_sender_share(const tltcp__fec_sender *r, tltcp_time now) {
    return now >= r->scarce && r->data_bytes > 0
               ? r->repair_bytes / r->data_bytes
               : 0;
}

bool tltcp__fec_sender_wants(const tltcp__fec_sender *r,
                             const tltcp__section *s, tltcp_time through) {
    return r->on && r->room > 0 && loss_left(r, s, through) > 0 &&
           may_spare(r, s, through);
}

bool tltcp__fec_sender_protects(const tltcp__fec_sender *r, uint64_t number) {
    return set_of(r, number) != NULL;
}

void tltcp__fec_sender_protect(tltcp__fec_sender *r, uint64_t number,
                               const tltcp__section *s, const cmn__bytes *buf,
                               tltcp_time through, bool ahead) {
    tltcp__fec_set *t = &r->set[ahead];
    t->section = NONE;
    t->repairs = 0;
    if (!r->on || r->room == 0) {
        return;
    }
    shape(t, s, r->room);
    if (tltcp__fec_sender_wants(r, s, through)) {
        t->repairs =
            repairs_for(t->width, loss_left(r, s, through), allowed(s->cls));
    }
    note_share(r, t);
    if (t->repairs > 0 && make_symbols(r, t, buf)) {
        t->section = number;
    }
}

uint64_t tltcp__fec_sender_cut(const tltcp__fec_sender *r, uint64_t section,
                               uint64_t at, uint64_t end) {
    const tltcp__fec_set *t = set_of(r, section);
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

void tltcp__fec_sender_sent(tltcp__fec_sender *r, uint64_t number) {
    for (unsigned i = 0; i < TLTCP__FEC_SETS; i++) {
        r->set[i].next += r->set[i].section == number;
    }
}

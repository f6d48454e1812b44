/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/repair.h"

#include <math.h>
#include <tltcp/config.h>

#include "libtltcp/chunk.h"

#define LOSS_PACKETS 256.0 /* over which loss is smoothed */
#define SHARE_SECTIONS 16.0
#define ROUNDS_MAX 8
#define LOSS_ON 0.01 /* with TLTCP_FEC_ON at least; more is not congestion */
#define NONE UINT64_MAX

void tltcp__repair_init(tltcp__repair *r, const cmn__mem *mem, uint8_t mode) {
    *r = (tltcp__repair){.symbols = {.mem = mem},
                         .data = {.mem = mem},
                         .tables = {.mem = mem},
                         .section = NONE,
                         .mode = mode};
}

void tltcp__repair_free(tltcp__repair *r) {
    tltcp__fec_room_free(&r->symbols);
    tltcp__fec_room_free(&r->data);
    tltcp__fec_room_free(&r->tables);
}

void tltcp__repair_on_packet(tltcp__repair *r, bool lost) {
    r->loss += ((lost ? 1 : 0) - r->loss) / LOSS_PACKETS;
}

void tltcp__repair_drop(tltcp__repair *r) {
    r->section = NONE;
    r->repairs = 0;
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

/* The loss that is left when packets are repeated as long as there is time. */
static double loss_left(const tltcp__repair *r, const tltcp__section *s,
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
    }
    return pow(loss, (double)(1 + (rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX)));
}

static bool is_dear(const tltcp__section *s) {
    return s->cls == TL_CLASS_KEY || s->cls == TL_CLASS_HEADER;
}

/* Where others yield, what is lost is mostly our own queue's overflow, and
 * repair would take the room of data. */
static bool may_spare(const tltcp__repair *r, const tltcp__section *s,
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

static void shape(tltcp__repair *r, const tltcp__section *s) {
    size_t len = (size_t)(s->end - s->start);
    size_t symbols = (len + r->room - 1) / r->room;
    r->blocks = (unsigned)((symbols + TLTCP__FEC_DATA - 1) / TLTCP__FEC_DATA);
    r->width = (unsigned)((symbols + r->blocks - 1) / r->blocks);
    r->size = (len + symbols - 1) / symbols;
    r->start = s->start;
    r->end = s->end;
    r->next = 0;
}

static uint64_t block_start(const tltcp__repair *r, unsigned block) {
    uint64_t at = r->start + (uint64_t)block * r->width * r->size;
    return at < r->end ? at : r->end;
}

static unsigned symbols_in(const tltcp__repair *r, unsigned block) {
    uint64_t len = block_start(r, block + 1) - block_start(r, block);
    return (unsigned)((len + r->size - 1) / r->size);
}

/* Rounding may leave the last block empty. */
static bool make_symbols(tltcp__repair *r, const cmn__bytes *buf) {
    size_t of_block = r->repairs * r->size;
    uint8_t *symbols = tltcp__fec_reserve(&r->symbols, r->blocks * of_block);
    uint8_t *data = tltcp__fec_reserve(&r->data, r->width * r->size);
    bool made = symbols != NULL && data != NULL;
    for (unsigned b = 0; made && b < r->blocks; b++) {
        uint64_t at = block_start(r, b);
        size_t len = (size_t)(block_start(r, b + 1) - at);
        unsigned k = symbols_in(r, b);
        cmn__bytes_get(buf, at, data, len);
        memset(data + len, 0, k * r->size - len);
        made = k == 0 || tltcp__fec_encode(&r->tables, data, k, r->size,
                                           symbols + b * of_block, r->repairs);
    }
    return made;
}

bool tltcp__repair_wants(const tltcp__repair *r, const tltcp__section *s,
                         tltcp_time through) {
    return r->on && r->room > 0 && loss_left(r, s, through) > 0 &&
           may_spare(r, s, through);
}

bool tltcp__repair_protects(const tltcp__repair *r, uint64_t number) {
    return r->section == number;
}

void tltcp__repair_protect(tltcp__repair *r, uint64_t number,
                           const tltcp__section *s, const cmn__bytes *buf,
                           tltcp_time through) {
    tltcp__repair_drop(r);
    if (!r->on || r->room == 0) {
        return;
    }
    shape(r, s);
    if (tltcp__repair_wants(r, s, through)) {
        r->repairs =
            repairs_for(r->width, loss_left(r, s, through), allowed(s->cls));
    }
    r->share += ((double)r->repairs / r->width - r->share) / SHARE_SECTIONS;
    if (r->repairs > 0 && make_symbols(r, buf)) {
        r->section = number;
    } else {
        r->repairs = 0;
    }
}

uint64_t tltcp__repair_cut(const tltcp__repair *r, uint64_t section,
                           uint64_t at, uint64_t end) {
    uint64_t cut;
    if (section != r->section) {
        return end;
    }
    cut = at + r->size - (at - r->start) % r->size;
    return cut < end ? cut : end;
}

bool tltcp__repair_next(const tltcp__repair *r, uint64_t nxt,
                        tltcp__repair_piece *out) {
    unsigned block;
    if (r->section == NONE || r->next >= r->blocks * r->repairs) {
        return false;
    }
    block = r->next / r->repairs;
    *out = (tltcp__repair_piece){
        .section = r->section,
        .start = block_start(r, block),
        .end = block_start(r, block + 1),
        .symbol = r->symbols.bytes + r->next * r->size,
        .size = r->size,
        .index = (uint8_t)(r->next % r->repairs),
    };
    out->flags = (uint8_t)((block == 0 ? TLTCP__DATA_START : 0) |
                           (out->end == r->end ? TLTCP__DATA_END : 0));
    return out->start < out->end && nxt >= out->end;
}

void tltcp__repair_sent(tltcp__repair *r) {
    r->next++;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Rebuilds lost data from repair symbols. */
#include "libtltcp/engine/fec_receiver.h"

#include "libtltcp/engine/chunk.h"

tltcp__fec_receiver *tltcp__fec_receiver_new(const cmn__mem *mem,
                                             size_t limit) {
    tltcp__fec_receiver *f = cmn__alloc(mem, sizeof(*f));
    if (f != NULL) {
        f->mem = mem;
        f->data.mem = mem;
        f->tables.mem = mem;
        f->limit = limit;
    }
    return f;
}

static void release(tltcp__fec_receiver *f, tltcp__block *k) {
    f->blocks--;
    *k = (tltcp__block){.repair = k->repair, .cap = k->cap};
}

static void fec_receiver_give_back(tltcp__fec_receiver *f, tltcp__block *k) {
    cmn__free(f->mem, k->repair);
    f->bytes -= k->cap;
    k->repair = NULL;
    k->cap = 0;
}

static void free_all(tltcp__fec_receiver *f) {
    for (int i = 0; i < TLTCP__FEC_RECEIVER_BLOCKS; i++) {
        fec_receiver_give_back(f, &f->block[i]);
    }
    tltcp__fec_room_free(&f->data);
    tltcp__fec_room_free(&f->tables);
}

void tltcp__fec_receiver_free(tltcp__fec_receiver *f) {
    if (f == NULL) {
        return;
    }
    free_all(f);
    cmn__free(f->mem, f);
}

void tltcp__fec_receiver_trim(tltcp__fec_receiver *f) {
    if (f != NULL && f->blocks == 0) {
        free_all(f);
    }
}

size_t tltcp__fec_receiver_held(const tltcp__fec_receiver *f) {
    return f != NULL ? f->bytes + f->data.cap + f->tables.cap : 0;
}

static unsigned symbols_of(uint64_t start, uint64_t end, size_t size) {
    uint64_t n = (end - start + size - 1) / size;
    return n <= TLTCP__FEC_DATA ? (unsigned)n : UINT32_MAX;
}

/* Finds the incomplete data symbols, up to one more than `most`. */
static unsigned find_missing(const tltcp__reasm *r, const tltcp__block *k,
                             uint8_t *missing, unsigned most) {
    unsigned n = symbols_of(k->start, k->end, k->size);
    unsigned count = 0;
    uint64_t at = k->start;
    while (at < k->end && count <= most) {
        cmn__range x;
        uint64_t symbol;
        if (cmn__ranges_next(&r->got, at, &x) && x.start <= at) {
            at = x.end;
            continue;
        }
        symbol = (at - k->start) / k->size;
        if (symbol >= n) {
            break;
        }
        if (count < most) {
            missing[count] = (uint8_t)symbol;
        }
        count++;
        at = k->start + (symbol + 1) * k->size;
    }
    return count;
}

static void note(tltcp__fec_receiver *f, uint64_t start, uint64_t end) {
    /* Beyond it, the peer retransmits in vain. */
    if (f->reported < TLTCP__FEC_RECEIVER_REPORTS) {
        f->report[f->reported++] = (tltcp__rebuilt_range){start, end};
    }
}

/* Delivers the new symbols as if they had arrived. */
static int deliver(tltcp__fec_receiver *f, tltcp__reasm *r,
                   const tltcp__block *k, const uint8_t *data,
                   const uint8_t *missing, unsigned n) {
    int rv = 0;
    for (unsigned i = 0; rv == 0 && i < n; i++) {
        uint64_t start = k->start + (uint64_t)missing[i] * k->size;
        uint64_t end = start + k->size < k->end ? start + k->size : k->end;
        unsigned flags =
            (start == k->start ? k->flags & TLTCP__DATA_START : 0) |
            (end == k->end ? k->flags & TLTCP__DATA_END : 0);
        if (end <= r->cursor) {
            continue; /* its gap was already delivered */
        }
        rv = tltcp__reasm_on_data(r, start, data + missing[i] * k->size,
                                  (size_t)(end - start), k->section, flags);
        if (rv == 0) {
            r->stats->bytes_rebuilt += end - start;
            note(f, start, end);
        }
    }
    return rv;
}

static int decode(tltcp__fec_receiver *f, tltcp__reasm *r, tltcp__block *k,
                  const uint8_t *missing, unsigned n) {
    unsigned symbols = symbols_of(k->start, k->end, k->size);
    uint8_t *data = tltcp__fec_reserve(&f->data, symbols * k->size);
    uint64_t at = k->start;
    cmn__range x;
    int rv = TLTCP_ERR_NOMEM;
    if (data == NULL) {
        return rv;
    }
    while (at < k->end && cmn__ranges_next(&r->got, at, &x) &&
           x.start < k->end) {
        uint64_t from = x.start > at ? x.start : at;
        at = x.end < k->end ? x.end : k->end;
        tltcp__reasm_get(r, from, data + (from - k->start),
                         (size_t)(at - from));
    }
    memset(data + (k->end - k->start), 0,
           symbols * k->size - (size_t)(k->end - k->start));
    if (tltcp__fec_decode(&f->tables,
                          &(tltcp__fec_block){data, symbols, k->size, missing,
                                              k->repair, k->index, n})) {
        rv = deliver(f, r, k, data, missing, n);
    }
    return rv;
}

/* Rebuilds the block if that is possible now. */
static int attempt(tltcp__fec_receiver *f, tltcp__reasm *r, tltcp__block *k) {
    uint8_t missing[TLTCP__FEC_REPAIR];
    unsigned n = find_missing(r, k, missing, k->count);
    int rv = 0;
    if (n > k->count) {
        return 0;
    }
    if (n > 0 && k->end > r->cursor) {
        rv = decode(f, r, k, missing, n);
    }
    release(f, k);
    return rv;
}

static const tltcp__block *look_up(const tltcp__fec_receiver *f,
                                   const tltcp__repair_in *in) {
    for (int i = 0; i < TLTCP__FEC_RECEIVER_BLOCKS; i++) {
        const tltcp__block *k = &f->block[i];
        if (k->size != 0 && k->start == in->start && k->end == in->end &&
            k->section == in->section && k->size == in->size) {
            return k;
        }
    }
    return NULL;
}

/* Bytes for so many symbols of a block that has room for cap. */
static size_t room_for(size_t count, size_t size, size_t cap) {
    if (count * size <= cap) {
        return cap;
    }
    return cap < 2 * size ? 4 * size : 2 * cap;
}

/* What must be allocated to have n bytes instead of cap. */
static size_t more_than(size_t cap, size_t n) {
    return n > cap ? n : 0;
}

size_t tltcp__fec_receiver_wants(const tltcp__fec_receiver *f,
                                 const tltcp__repair_in *in) {
    const tltcp__block *k = f != NULL ? look_up(f, in) : NULL;
    unsigned symbols = symbols_of(in->start, in->end, in->size);
    unsigned count = k != NULL ? k->count + 1u : 1;
    size_t cap = k != NULL ? k->cap : 0;
    if (symbols > TLTCP__FEC_DATA || count > TLTCP__FEC_REPAIR) {
        return 0;
    }
    return more_than(cap, room_for(count, in->size, cap)) +
           more_than(f != NULL ? f->data.cap : 0, symbols * in->size) +
           more_than(f != NULL ? f->tables.cap : 0,
                     tltcp__fec_decoding_room(symbols, count, in->size));
}

/* The room to rebuild the block with the symbols kept; false: no memory. */
static bool take_room(tltcp__fec_receiver *f, const tltcp__block *k) {
    unsigned symbols = symbols_of(k->start, k->end, k->size);
    return tltcp__fec_reserve(&f->data, symbols * k->size) != NULL &&
           tltcp__fec_reserve(
               &f->tables,
               tltcp__fec_decoding_room(symbols, k->count, k->size)) != NULL;
}

/* A free slot, or that of the oldest block. */
static tltcp__block *slot_for(tltcp__fec_receiver *f) {
    tltcp__block *oldest = &f->block[0];
    for (int i = 0; i < TLTCP__FEC_RECEIVER_BLOCKS; i++) {
        tltcp__block *k = &f->block[i];
        if (k->size == 0) {
            return k;
        }
        oldest = k->age < oldest->age ? k : oldest;
    }
    release(f, oldest);
    return oldest;
}

/* Frees the memory of free slots first, then that of the oldest block. */
static void make_room(tltcp__fec_receiver *f, size_t bytes,
                      const tltcp__block *keep) {
    while (f->bytes + bytes > f->limit) {
        tltcp__block *first = NULL;
        for (int i = 0; i < TLTCP__FEC_RECEIVER_BLOCKS; i++) {
            tltcp__block *k = &f->block[i];
            if (k->repair != NULL && k != keep &&
                (first == NULL || k->size == 0 ||
                 (first->size != 0 && k->age < first->age))) {
                first = k;
            }
        }
        if (first == NULL) {
            return;
        }
        if (first->size != 0) {
            release(f, first);
        }
        fec_receiver_give_back(f, first);
    }
}

/* Room for one more symbol; NULL: limit reached, or no memory. */
static uint8_t *fec_receiver_grow(tltcp__fec_receiver *f, tltcp__block *k) {
    size_t have = k->count * k->size;
    if (have + k->size > k->cap) {
        size_t cap = room_for(k->count + 1u, k->size, k->cap);
        uint8_t *wide;
        make_room(f, cap, k);
        if (f->bytes + cap > f->limit ||
            (wide = cmn__alloc(f->mem, cap)) == NULL) {
            return NULL;
        }
        if (have > 0) {
            memcpy(wide, k->repair, have);
        }
        fec_receiver_give_back(f, k);
        f->bytes += cap;
        k->repair = wide;
        k->cap = cap;
    }
    return k->repair + have;
}

static tltcp__block *open_block(tltcp__fec_receiver *f,
                                const tltcp__repair_in *in) {
    tltcp__block *k = slot_for(f);
    *k = (tltcp__block){.start = in->start,
                        .end = in->end,
                        .section = in->section,
                        .repair = k->repair,
                        .cap = k->cap,
                        .size = in->size,
                        .flags = in->flags,
                        .age = f->age++};
    f->blocks++;
    return k;
}

static bool has_index(const tltcp__block *k, uint8_t index) {
    for (unsigned i = 0; i < k->count; i++) {
        if (k->index[i] == index) {
            return true;
        }
    }
    return false;
}

int tltcp__fec_receiver_on_repair(tltcp__fec_receiver *f, tltcp__reasm *r,
                                  const tltcp__repair_in *in) {
    tltcp__block *k;
    uint8_t *to;
    if (in->index >= TLTCP__FEC_REPAIR ||
        symbols_of(in->start, in->end, in->size) > TLTCP__FEC_DATA) {
        return TLTCP_ERR_PROTOCOL;
    }
    if (in->end <= r->cum) { /* nothing of it is missing */
        return 0;
    }
    if (in->end > r->cursor + r->limit) {
        return TLTCP_ERR_FLOW;
    }
    if (in->size < f->least && in->end - in->start > in->size) {
        return 0;
    }
    tltcp__reasm_keep(r);
    k = (tltcp__block *)look_up(f, in);
    if (k == NULL) {
        k = open_block(f, in);
    }
    if (has_index(k, in->index) || k->count == TLTCP__FEC_REPAIR) {
        return 0;
    }
    to = fec_receiver_grow(f, k);
    if (to == NULL) {
        release(f, k);
        return 0;
    }
    memcpy(to, in->symbol, in->size);
    k->index[k->count++] = in->index;
    return take_room(f, k) ? attempt(f, r, k) : TLTCP_ERR_NOMEM;
}

int tltcp__fec_receiver_on_data(tltcp__fec_receiver *f, tltcp__reasm *r,
                                uint64_t start, uint64_t end) {
    int rv = 0;
    for (int i = 0; f->blocks > 0 && rv == 0 && i < TLTCP__FEC_RECEIVER_BLOCKS;
         i++) {
        tltcp__block *k = &f->block[i];
        if (k->size != 0 && k->end <= r->cursor) {
            release(f, k);
        } else if (k->size != 0 && k->start < end && k->end > start) {
            rv = attempt(f, r, k);
        }
    }
    return rv;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Reed-Solomon encoding and decoding, by ISA-L. */
#include "libtltcp/engine/fec.h"

uint8_t *tltcp__fec_reserve(tltcp__fec_room *room, size_t n) {
    if (n > room->cap) {
        tltcp__fec_room_free(room);
        room->bytes = cmn__alloc(room->mem, n);
        room->cap = room->bytes != NULL ? n : 0;
    }
    return room->bytes;
}

void tltcp__fec_room_free(tltcp__fec_room *room) {
    cmn__free(room->mem, room->bytes);
    room->bytes = NULL;
    room->cap = 0;
    room->rows = room->columns = 0;
}

#define TABLE 32u /* bytes that ISA-L needs per coefficient */

static size_t decoding_tables(unsigned k, unsigned n) {
    return (size_t)TABLE * n * (k > n ? k : n);
}

size_t tltcp__fec_decoding_room(unsigned k, unsigned n, size_t size) {
    return decoding_tables(k, n) + n * size;
}

#ifdef PERIGEE_HAVE_ISAL

#include <isa-l/erasure_code.h>

bool tltcp__fec_available(void) {
    return true;
}

/* Element of the Cauchy matrix: 1 / (x + y), with distinct x and y. */
static uint8_t coefficient(unsigned repair, unsigned data) {
    return gf_inv((unsigned char)((TLTCP__FEC_DATA + repair) ^ data));
}

/* Tables for n repair symbols of k data symbols. */
static uint8_t *encoding_tables(tltcp__fec_room *room, unsigned n, unsigned k) {
    uint8_t matrix[TLTCP__FEC_REPAIR * TLTCP__FEC_DATA];
    uint8_t *tables = tltcp__fec_reserve(room, (size_t)TABLE * n * k);
    if (tables == NULL || (room->rows == n && room->columns == k)) {
        return tables;
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < k; j++) {
            matrix[i * k + j] = coefficient(i, j);
        }
    }
    ec_init_tables((int)k, (int)n, matrix, tables);
    room->rows = n;
    room->columns = k;
    return tables;
}

/* to[i] = sum over j of matrix[i][j] * from[j] */
static void multiply(uint8_t *tables, uint8_t *matrix, unsigned rows,
                     unsigned columns, size_t size, uint8_t **from,
                     uint8_t **to) {
    ec_init_tables((int)columns, (int)rows, matrix, tables);
    ec_encode_data((int)size, (int)columns, (int)rows, tables, from, to);
}

bool tltcp__fec_encode(tltcp__fec_room *room, uint8_t *data, unsigned k,
                       size_t size, uint8_t *repair, unsigned n) {
    uint8_t *from[TLTCP__FEC_DATA];
    uint8_t *to[TLTCP__FEC_REPAIR];
    uint8_t *tables = encoding_tables(room, n, k);
    if (tables == NULL) {
        return false;
    }
    for (unsigned j = 0; j < k; j++) {
        from[j] = data + j * size;
    }
    for (unsigned i = 0; i < n; i++) {
        to[i] = repair + i * size;
    }
    ec_encode_data((int)size, (int)k, (int)n, tables, from, to);
    return true;
}

static bool is_in(const uint8_t *set, unsigned n, unsigned x) {
    for (unsigned i = 0; i < n; i++) {
        if (set[i] == x) {
            return true;
        }
    }
    return false;
}

/* Subtracts the known data from the repair symbols; the missing data's part
 * remains. */
static void subtract_known(const tltcp__fec_block *b, uint8_t *tables,
                           uint8_t *sum) {
    uint8_t matrix[TLTCP__FEC_REPAIR * TLTCP__FEC_DATA];
    uint8_t *from[TLTCP__FEC_DATA];
    uint8_t *to[TLTCP__FEC_REPAIR];
    for (unsigned j = 0; j < b->k; j++) {
        bool gone = is_in(b->missing, b->n, j);
        from[j] = b->data + j * b->size;
        for (unsigned i = 0; i < b->n; i++) {
            matrix[i * b->k + j] = gone ? 0 : coefficient(b->index[i], j);
        }
    }
    for (unsigned i = 0; i < b->n; i++) {
        to[i] = sum + i * b->size;
    }
    multiply(tables, matrix, b->n, b->k, b->size, from, to);
    for (size_t i = 0; i < b->n * b->size; i++) {
        b->repair[i] ^= sum[i];
    }
}

/* Solves for the missing symbols. */
static bool solve(const tltcp__fec_block *b, uint8_t *tables) {
    uint8_t matrix[TLTCP__FEC_REPAIR * TLTCP__FEC_REPAIR];
    uint8_t inverse[TLTCP__FEC_REPAIR * TLTCP__FEC_REPAIR];
    uint8_t *from[TLTCP__FEC_REPAIR];
    uint8_t *to[TLTCP__FEC_REPAIR];
    for (unsigned i = 0; i < b->n; i++) {
        from[i] = b->repair + i * b->size;
        to[i] = b->data + b->missing[i] * b->size;
        for (unsigned j = 0; j < b->n; j++) {
            matrix[i * b->n + j] = coefficient(b->index[i], b->missing[j]);
        }
    }
    if (gf_invert_matrix(matrix, inverse, (int)b->n) != 0) {
        return false;
    }
    multiply(tables, inverse, b->n, b->n, b->size, from, to);
    return true;
}

bool tltcp__fec_decode(tltcp__fec_room *room, const tltcp__fec_block *b) {
    size_t len = decoding_tables(b->k, b->n);
    uint8_t *tables =
        tltcp__fec_reserve(room, tltcp__fec_decoding_room(b->k, b->n, b->size));
    if (tables == NULL) {
        return false;
    }
    room->rows = room->columns = 0;
    subtract_known(b, tables, tables + len);
    return solve(b, tables);
}

#else

bool tltcp__fec_available(void) {
    return false;
}

bool tltcp__fec_encode(tltcp__fec_room *room, uint8_t *data, unsigned k,
                       size_t size, uint8_t *repair, unsigned n) {
    (void)room;
    (void)data;
    (void)k;
    (void)size;
    (void)repair;
    (void)n;
    return false;
}

bool tltcp__fec_decode(tltcp__fec_room *room, const tltcp__fec_block *b) {
    (void)room;
    (void)b;
    return false;
}

#endif

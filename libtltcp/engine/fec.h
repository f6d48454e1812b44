/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_FEC_H
#define LIBTLTCP_FEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/common/mem.h"

/* The erasure code of REPAIR chunks: Reed-Solomon over GF(2^8) with a Cauchy
 * matrix (docs/protocols/tltcp.md, section 15), by ISA-L.  Any `n` repair
 * symbols make good the loss of any `n` data symbols. */

#define TLTCP__FEC_DATA 128u  /* maximum data symbols in a block */
#define TLTCP__FEC_REPAIR 32u /* maximum repair symbols */

/* Memory that grows as needed and is kept. */
typedef struct tltcp__fec_room {
    const cmn__mem *mem;
    uint8_t *bytes;
    size_t cap;
    unsigned rows; /* of the tables that tltcp__fec_encode() left here */
    unsigned columns;
} tltcp__fec_room;

/* Returns at least n uninitialised bytes; NULL without memory. */
uint8_t *tltcp__fec_reserve(tltcp__fec_room *room, size_t n);
void tltcp__fec_room_free(tltcp__fec_room *room);

/* Whether the library was built with FEC. Otherwise the calls below fail. */
bool tltcp__fec_available(void);

/* Makes the first n repair symbols of k data symbols of `size` bytes each, back
 * to back.  The room keeps tables for the next block of as many symbols.  False
 * without memory. */
bool tltcp__fec_encode(tltcp__fec_room *room, uint8_t *data, unsigned k,
                       size_t size, uint8_t *repair, unsigned n);

/* A block with missing data. */
typedef struct tltcp__fec_block {
    uint8_t *data; /* k symbols of `size` bytes */
    unsigned k;
    size_t size;
    const uint8_t *missing; /* numbers of the n missing symbols */
    uint8_t *repair;        /* n symbols */
    const uint8_t *index;   /* and their numbers, all distinct */
    unsigned n;
} tltcp__fec_block;

/* Bytes of room that this takes with n of k data symbols missing. */
size_t tltcp__fec_decoding_room(unsigned k, unsigned n, size_t size);
/* Fills in the missing data; overwrites the repair symbols. False without
 * memory.
 */
bool tltcp__fec_decode(tltcp__fec_room *room, const tltcp__fec_block *b);

#endif /* LIBTLTCP_FEC_H */

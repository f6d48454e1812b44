/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_FEC_RECEIVER_H
#define LIBTLTCP_FEC_RECEIVER_H

#include "libtltcp/engine/fec.h"
#include "libtltcp/engine/reasm.h"

/* Forward error correction, receiver: keeps repair symbols until there are as
 * many as the block lacks, then rebuilds the missing data.
 *
 * Memory is limited by the number of blocks, the number of symbols in each, and
 * half the receive buffer. The oldest block is dropped first. The room to
 * rebuild a block is taken when a symbol of it arrives, so that the owner knows
 * what that takes. */

#define TLTCP__FEC_RECEIVER_BLOCKS 16
#define TLTCP__FEC_RECEIVER_REPORTS 8

typedef struct tltcp__block {
    uint64_t start, end; /* of the stream */
    uint64_t section;
    uint64_t age;    /* the oldest is dropped first */
    uint8_t *repair; /* symbols, back to back; a free slot keeps its memory */
    size_t size;     /* of a symbol; 0: the slot is free */
    size_t cap;      /* bytes at repair */
    uint8_t index[TLTCP__FEC_REPAIR];
    uint8_t count; /* symbols kept */
    uint8_t flags; /* TLTCP__DATA_* */
} tltcp__block;

/* Bytes of a symbol. To rebuild a block of smaller ones takes much longer than
 * to receive them, and senders have no reason to make them. */
#define TLTCP__FEC_RECEIVER_LEAST 256u

/* A rebuilt range not yet reported to the peer. */
typedef struct tltcp__rebuilt_range {
    uint64_t start, end;
} tltcp__rebuilt_range;

typedef struct tltcp__fec_receiver {
    const cmn__mem *mem;
    size_t bytes; /* in all blocks */
    size_t limit;
    size_t least; /* smaller symbols, of several to a block, are dropped */
    uint64_t age;
    unsigned blocks;      /* in use */
    tltcp__fec_room data; /* of the block being rebuilt */
    tltcp__fec_room tables;
    unsigned reported;
    tltcp__block block[TLTCP__FEC_RECEIVER_BLOCKS];
    tltcp__rebuilt_range report[TLTCP__FEC_RECEIVER_REPORTS];
} tltcp__fec_receiver;

/* A REPAIR chunk with unwrapped numbers. */
typedef struct tltcp__repair_in {
    uint64_t start, end, section;
    const uint8_t *symbol;
    size_t size;
    uint8_t index;
    uint8_t flags;
} tltcp__repair_in;

tltcp__fec_receiver *tltcp__fec_receiver_new(const cmn__mem *mem, size_t limit);
void tltcp__fec_receiver_free(tltcp__fec_receiver *f);

/* Memory held because of the peer's packets, and what a REPAIR may add, also
 * without a receiver (NULL). */
size_t tltcp__fec_receiver_held(const tltcp__fec_receiver *f);
size_t tltcp__fec_receiver_wants(const tltcp__fec_receiver *f,
                                 const tltcp__repair_in *in);
/* Frees memory when no block is kept. */
void tltcp__fec_receiver_trim(tltcp__fec_receiver *f);

/* Both return 0, or an error as tltcp__reasm_on_data() does. */
int tltcp__fec_receiver_on_repair(tltcp__fec_receiver *f, tltcp__reasm *r,
                                  const tltcp__repair_in *in);
/* Data arrived for [start, end). */
int tltcp__fec_receiver_on_data(tltcp__fec_receiver *f, tltcp__reasm *r,
                                uint64_t start, uint64_t end);

#endif /* LIBTLTCP_FEC_RECEIVER_H */

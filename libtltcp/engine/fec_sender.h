/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_FEC_SENDER_H
#define LIBTLTCP_FEC_SENDER_H

#include "internal/common/ring.h"
#include "libtltcp/engine/fec.h"
#include "libtltcp/engine/section.h"

/* Forward error correction, sender: how much repair a section needs, and the
 * repair symbols of the sections being sent: the one in turn and the one that
 * leaves ahead of it.
 *
 * A section is cut into symbols of equal size, one per packet, grouped into
 * blocks. A block gets enough repair symbols that it fails at most with the
 * probability allowed for its class, given the measured loss and the number of
 * retransmissions possible before the section is due. Without loss, or with
 * time to retransmit, that is none.
 *
 * The symbols of a block are made before its first byte leaves, since
 * acknowledged bytes are not kept, and are sent after its last data. A section
 * that expires costs no symbols of the blocks that never leave. */
#define TLTCP__FEC_SETS 2u

/* The symbols of one section. */
typedef struct tltcp__fec_set {
    tltcp__fec_room symbols; /* block after block */
    uint64_t section;        /* UINT64_MAX: none protected */
    uint64_t start, end;
    size_t size;      /* of a symbol */
    unsigned width;   /* data symbols per block; the last has fewer */
    unsigned repairs; /* repair symbols per block */
    unsigned blocks;
    unsigned made; /* blocks that have their symbols */
    unsigned next; /* next repair symbol to send, counted over all blocks */
} tltcp__fec_set;

/* Buffers and tables for making symbols. */
typedef struct tltcp__fec_maker {
    tltcp__fec_set set[TLTCP__FEC_SETS]; /* in turn, ahead */
    tltcp__fec_room data;                /* of one block */
    tltcp__fec_room tables;
} tltcp__fec_maker;

typedef struct tltcp__fec_sender {
    const cmn__mem *mem;
    tltcp__fec_maker *maker; /* NULL: no section needs repair of late */
    size_t room;             /* symbol that fits a packet with nothing else */
    double loss;             /* share of packets lost, smoothed */
    double data_bytes; /* of the newest sections, and the repair with them */
    double repair_bytes;
    tltcp_time scarce; /* until when a yielded section suppresses repair */
    tltcp_time round;  /* time of a retransmission; 0: not known */
    uint8_t mode;      /* tltcp_fec */
    bool on;           /* the peer understands it */
} tltcp__fec_sender;

/* One repair symbol to send. */
typedef struct tltcp__fec_symbol {
    uint64_t section;
    uint64_t start, end; /* the block */
    const uint8_t *symbol;
    size_t size;
    uint8_t index;
    uint8_t flags; /* TLTCP__DATA_* of the block */
} tltcp__fec_symbol;

void tltcp__fec_sender_init(tltcp__fec_sender *f, const cmn__mem *mem,
                            uint8_t mode);
void tltcp__fec_sender_free(tltcp__fec_sender *f);
/* Forgets all symbols: nothing waits for repair. */
void tltcp__fec_sender_trim(tltcp__fec_sender *f);

/* Recent ratio of repair to data; 0 while sections yield. */
double tltcp__fec_sender_share(const tltcp__fec_sender *f, tltcp_time now);
/* Records the fate of a packet. */
void tltcp__fec_sender_on_packet(tltcp__fec_sender *f, bool lost);

/* A section is about to be sent, in turn or ahead, and will be complete at
 * `through`: decides how much repair it needs, and keeps room for it. Without
 * memory, it gets none. */
void tltcp__fec_sender_protect(tltcp__fec_sender *f, uint64_t number,
                               const tltcp__section *s, tltcp_time through,
                               bool ahead);
/* Data of a section from `at` on is about to be sent for the first time: makes
 * the symbols of its block from the bytes in `buf`, if it is protected. */
void tltcp__fec_sender_reach(tltcp__fec_sender *f, uint64_t number, uint64_t at,
                             const cmn__bytes *buf);
/* Whether a section may need repair, and whether the section with this number
 * has symbols. */
bool tltcp__fec_sender_wants(const tltcp__fec_sender *f,
                             const tltcp__section *s, tltcp_time through);
bool tltcp__fec_sender_protects(const tltcp__fec_sender *f, uint64_t number);
/* The end of the symbol that contains `at`; `end` if the section is not
 * protected. */
uint64_t tltcp__fec_sender_cut(const tltcp__fec_sender *f, uint64_t section,
                               uint64_t at, uint64_t end);
/* A set of symbols by its number below TLTCP__FEC_SETS; NULL: there is none. */
static inline const tltcp__fec_set *
tltcp__fec_sender_set(const tltcp__fec_sender *f, unsigned i) {
    return f->maker != NULL ? &f->maker->set[i] : NULL;
}
/* The next symbol of repair of a set, when all data of its block, that is up to
 * `nxt`, has left. */
bool tltcp__fec_sender_next(const tltcp__fec_set *t, uint64_t nxt,
                            tltcp__fec_symbol *out);
/* A repair symbol of this section was sent. */
void tltcp__fec_sender_sent(tltcp__fec_sender *f, uint64_t number);

#endif /* LIBTLTCP_FEC_SENDER_H */

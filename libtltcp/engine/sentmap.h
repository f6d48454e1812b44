/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SENTMAP_H
#define LIBTLTCP_SENTMAP_H

#include <congestion/rate.h>
#include <tltcp/types.h>

#include "internal/common/ranges.h"
#include "internal/common/ring.h"

/* Sent packets until their fate is known.
 *
 *   FLYING --acked--> ACKED
 *      |               ^
 *      +---lost---> LOST (kept a while: a late ACK shows a spurious loss)
 *
 * Packets are records in a ring by number; their chunks are in a second ring,
 * in the same order. No packet that an earlier ACK has settled is visited
 * again. */

enum tltcp__sent_state {
    TLTCP__PACKET_SILENT, /* not ack-eliciting: no answer is awaited */
    TLTCP__PACKET_FLYING, /* in flight */
    TLTCP__PACKET_ACKED,
    TLTCP__PACKET_LOST
};

/* Other contents of a packet. */
#define TLTCP__SENT_UPDATE 0x01u
#define TLTCP__SENT_WINDOW 0x02u
#define TLTCP__SENT_FIN 0x04u
#define TLTCP__SENT_MTU_PROBE 0x08u    /* its loss is not congestion */
#define TLTCP__SENT_PTO_REPEATED 0x10u /* repeated by a probe timeout */
#define TLTCP__SENT_ECT 0x20u          /* sent ECN-capable */
#define TLTCP__SENT_HELLO 0x40u        /* INITIAL or ANSWER */
#define TLTCP__SENT_IDS 0x80u          /* NEW_ID and RETIRE_ID */
#define TLTCP__SENT_DATA 0x100u
#define TLTCP__SENT_DUMMY 0x200u     /* of Peach: not in the window */
#define TLTCP__SENT_FREQUENCY 0x400u /* has an ACK_FREQUENCY */

enum tltcp__sent_chunk_kind {
    TLTCP__SENT_CHUNK_DATA,
    TLTCP__SENT_CHUNK_SEGMENT, /* data of the dupack recovery with SACK */
    TLTCP__SENT_CHUNK_SKIP,
    TLTCP__SENT_CHUNK_REPAIR
};

typedef struct tltcp__sent_chunk {
    uint64_t start; /* stream offset */
    uint64_t section;
    uint32_t len;
    uint8_t kind;   /* tltcp__sent_chunk_kind */
    uint8_t losses; /* earlier losses of these bytes */
} tltcp__sent_chunk;

typedef struct tltcp__sent {
    struct cong_rate_snapshot snap;
    tltcp_time at;
    uint64_t chunk;      /* number of its first one */
    uint64_t acked_upto; /* upper end of the ACK it carried; 0: none */
    uint32_t size;
    uint16_t chunks; /* how many */
    uint16_t flags;  /* TLTCP__SENT_* */
    uint8_t state;   /* tltcp__sent_state */
} tltcp__sent;

typedef struct tltcp__sentmap {
    cmn__ring packets; /* by packet number; tail is the next number */
    cmn__ring chunks;
    cmn__ranges acked; /* numbers at or above packets.head */
    uint64_t oldest;   /* lowest number that may be FLYING */
    uint64_t bytes;    /* in flight */
    uint64_t flying;   /* packets in flight */
    uint64_t silent;   /* records of packets that await no answer */
    size_t max;        /* maximum records; the owner may raise it */
} tltcp__sentmap;

void tltcp__sentmap_init(tltcp__sentmap *m, const cmn__mem *mem,
                         uint64_t first);
void tltcp__sentmap_free(tltcp__sentmap *m);

/* The number of the next packet. */
static inline uint64_t tltcp__sentmap_next(const tltcp__sentmap *m) {
    return m->packets.tail;
}

/* Whether the map is full because the peer withholds acknowledgements: even
 * lone ACKs stay recorded after a packet in flight. */
static inline bool tltcp__sentmap_is_full(const tltcp__sentmap *m) {
    return cmn__ring_len(&m->packets) >= m->max;
}

/* The record of a packet, or NULL if it is gone. */
tltcp__sent *tltcp__sentmap_get(const tltcp__sentmap *m, uint64_t pn);
tltcp__sent_chunk *tltcp__sentmap_chunk(const tltcp__sentmap *m,
                                        const tltcp__sent *s, unsigned i);

/* Opens the record of the next packet, SILENT at first; NULL without memory. */
tltcp__sent *tltcp__sentmap_open(tltcp__sentmap *m);
/* Adds a chunk, which the caller fills in, to the record opened last; NULL
 * without memory. */
tltcp__sent_chunk *tltcp__sentmap_add(tltcp__sentmap *m, tltcp__sent *s);
/* The packet was sent; ack-eliciting ones are in flight from now on. */
void tltcp__sentmap_commit(tltcp__sentmap *m, tltcp__sent *s, bool eliciting);

/* The packet's fate.  The record stays valid until tltcp__sentmap_trim(). */
void tltcp__sentmap_on_acked(tltcp__sentmap *m, tltcp__sent *s);
void tltcp__sentmap_on_lost(tltcp__sentmap *m, tltcp__sent *s);

/* The oldest packet in flight, or NULL; *pn is its number. */
tltcp__sent *tltcp__sentmap_oldest(tltcp__sentmap *m, uint64_t *pn);
/* The same without updating the search position; NULL also if many packets that
 * are not ack-eliciting precede it. */
const tltcp__sent *tltcp__sentmap_first_in_flight(const tltcp__sentmap *m);
/* Forgets settled packets from the old end; lost ones when sent before `keep`,
 * or when half of the records are in use. */
void tltcp__sentmap_trim(tltcp__sentmap *m, tltcp_time keep);
/* Memory that a peer makes this end hold by not acknowledging: lone ACKs stay
 * recorded behind a packet in flight. In whole lots. */
#define TLTCP__SENTMAP_SILENT_LOT ((size_t)16 << 10)
size_t tltcp__sentmap_silent_bytes(const tltcp__sentmap *m);
/* Gives memory back when no packet is remembered. */
void tltcp__sentmap_give_back(tltcp__sentmap *m);

#endif /* LIBTLTCP_SENTMAP_H */

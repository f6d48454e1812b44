/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_DUPACK_H
#define LIBTLTCP_DUPACK_H

#include <congestion/recovery.h>

#include "internal/common/ring.h"
#include "libtltcp/engine/cc.h"
#include "libtltcp/engine/sections.h"

/* The paper's recovery: cumulative acknowledgements, three duplicates, fast
 * retransmit and fast recovery, Jacobson and Karn's timeout (section 5).
 *
 * Sent data is recorded as extents in stream order. After a timeout, nothing
 * counts as in flight, and the extents from `resend` on are sent again. With
 * SACK (RFC 6675), the same marks walk over lost data: the extents are the
 * scoreboard, and acknowledged packet numbers, mapped to extents, take the
 * place of SACK blocks. A seq_update moves the cumulative point over losses,
 * which then stay undetected: the blindness of the paper's section 5.5, kept on
 * purpose. With hold_skipped, they keep their places until the timer expires,
 * as where only acknowledgements of a section free what it has in the vector of
 * section 5.4. Duplicates and the window are <congestion/recovery.h>'s. */

typedef struct tltcp__extent {
    uint64_t start, end;
    uint64_t section;
    tltcp_time at;
    uint32_t flying; /* bytes in flight, if epoch is the current one */
    uint32_t epoch;
    bool arrived; /* selectively acknowledged */
    bool reached; /* likewise, known to hold_skipped */
} tltcp__extent;

typedef struct tltcp__dupack {
    cmn__ring out;      /* extents by order of first sending */
    uint64_t resend;    /* next extent to send again; tail: none */
    uint64_t resend_to; /* first extent not to be sent again */
    uint64_t resend_at; /* offset at which it continues */
    uint64_t untimed;   /* data below gives no RTT */
    uint64_t una;       /* cumulative point acknowledged */
    uint64_t round_end; /* its acknowledgement ends the round trip */
    uint64_t again;     /* offset to retransmit at once; UINT64_MAX: none */
    uint64_t flight;    /* bytes; with SACK the pipe of RFC 6675 */
    uint64_t arrived;   /* bytes behind a hole */
    uint64_t level;     /* bytes outstanding when the first duplicate arrived */
    tltcp_time rto_at;  /* NEVER: nothing in flight */
    uint64_t skipped;   /* bytes in flight that a seq_update skipped */
    uint64_t gap;       /* obsolete section of which something is missing */
    bool hold_skipped;  /* of tltcp_paper_options */
    uint32_t epoch;     /* grows with each timeout */
    unsigned expiries;  /* in a row */
    struct cong_recovery recovery;
} tltcp__dupack;

/* how: a new engine of <congestion/recovery.h>. */
void tltcp__dupack_init(tltcp__dupack *d, const cmn__mem *mem,
                        const struct cong_recovery *how);
void tltcp__dupack_free(tltcp__dupack *d);

static inline bool tltcp__dupack_is_sack(const tltcp__dupack *d) {
    return d->recovery.kind == CONG_RECOVERY_SACK;
}

/* Whether on_arrived must be called. */
static inline bool tltcp__dupack_notes(const tltcp__dupack *d) {
    return tltcp__dupack_is_sack(d) || d->hold_skipped;
}

/* The bytes of one packet arrived.  Before on_ack. */
void tltcp__dupack_on_arrived(tltcp__dupack *d, uint64_t start, uint64_t end);
/* The peer's cumulative point, with `data` data packets newly acknowledged. */
int tltcp__dupack_on_ack(tltcp__dupack *d, tltcp__sections *sec, tltcp__cc *cc,
                         uint64_t cum, unsigned data, tltcp_time now);
/* Skips data that has become obsolete. */
void tltcp__dupack_refresh(tltcp__dupack *d, const tltcp__sections *sec);
/* Whether there is something to send, and whether the window allows it. */
bool tltcp__dupack_has(const tltcp__dupack *d, const tltcp__sections *sec,
                       const tltcp__cc *cc);
bool tltcp__dupack_open(const tltcp__dupack *d, const tltcp__cc *cc);
/* The next piece to send; false when there is none. */
bool tltcp__dupack_next(tltcp__dupack *d, tltcp__sections *sec, uint64_t max,
                        tltcp_time now, tltcp__piece *out);
/* The piece was sent. 0 or TLTCP_ERR_NOMEM. */
int tltcp__dupack_on_sent(tltcp__dupack *d, tltcp__cc *cc,
                          const tltcp__piece *p, tltcp_time now);
/* The retransmission timer expired. */
void tltcp__dupack_on_timeout(tltcp__dupack *d, tltcp__cc *cc,
                              tltcp__sections *sec, tltcp_time now);

#endif /* LIBTLTCP_DUPACK_H */

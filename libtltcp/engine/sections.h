/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SECTIONS_H
#define LIBTLTCP_SECTIONS_H

#include <tltcp/conn.h>

#include "internal/common/heap.h"
#include "internal/common/ranges.h"
#include "internal/common/ring.h"
#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/counters.h"
#include "libtltcp/engine/fec_sender.h"
#include "libtltcp/engine/lookahead.h"
#include "libtltcp/engine/section.h"

/* The sending side of the stream: the paper's time-line list.
 *
 * A section is LIVE until every byte is acknowledged (DONE), or its deadline
 * passes or it is given up earlier (EXPIRED). Byte ranges are queued for
 * retransmission, never packets. The deadline is checked in two places only:
 * tltcp__sections_next(), when bytes enter a packet, and
 * tltcp__sections_expire(), the lifetime timer.
 *
 * Invariants.  The first is asserted; tests/fuzz/fuzz_sections.c checks all:
 *  (1) update <= una <= nxt <= end; update is where the first LIVE section
 *      begins, or end.  Beyond nxt only bytes of sections ahead have left.
 *  (2) no byte of an EXPIRED section is in lost[].
 *  (3) acked and lost[] are disjoint. */

/* Levels of repeated loss; the last one holds all higher counts. */
#define TLTCP__LOST_LEVELS 3
#define TLTCP__NO_SECTION UINT64_MAX
/* At most half of the sent data leaves before its turn, plus these bytes.
 */
#define TLTCP__AHEAD_CREDIT 32768u

/* A piece of the stream to put into a packet. */
typedef struct tltcp__piece {
    uint64_t start, end;
    uint64_t section;
    uint8_t losses; /* 0: new data */
    uint8_t flags;  /* TLTCP__DATA_* */
} tltcp__piece;

/* Small sections that are sent before their turn. */
typedef struct tltcp__ahead {
    cmn__ring waiting; /* numbers of eligible sections, in order of writing */
    uint64_t section;  /* the one being sent; or TLTCP__NO_SECTION */
    uint64_t nxt;      /* its lowest byte never sent */
    uint64_t credit;   /* bytes that may now be sent ahead */
} tltcp__ahead;

typedef void (*tltcp__fate_fn)(void *owner, uint64_t number,
                               const tltcp__section *s, int fate);

typedef struct tltcp__sections {
    /* Sections as written. */
    cmn__ring recs;      /* by section number; head is the first not DONE */
    cmn__bytes buf;      /* holds [una, end) */
    cmn__heap deadlines; /* of LIVE sections that have one */
    uint64_t end;        /* bytes written */

    /* How far it has got. */
    uint64_t una; /* everything below is acknowledged or expired */
    uint64_t nxt; /* lowest byte never sent in turn */
    uint64_t nxt_section;
    uint64_t update; /* seq_update */
    uint64_t update_section;
    tltcp__ahead ahead;
    cmn__ranges acked; /* at or above the first remembered section */
    cmn__ranges
        lost[TLTCP__LOST_LEVELS]; /* to be retransmitted, by losses - 1 */
    cmn__ranges skips; /* expired above update, not yet sent to the peer */

    /* Limits and features of the peer. */
    uint64_t peer_seq;     /* flow control: first byte not allowed */
    uint64_t peer_section; /* and first section */
    bool no_skips;         /* the peer or the recovery does not support skips */
    bool sends_meta;       /* it understands what sections are */

    /* Limits and options. */
    bool in_order;         /* no section is sent before its turn */
    bool look_ahead;       /* give up sections before the deadline; see
                              lookahead.h */
    uint32_t policy;       /* tltcp_drop_policy */
    uint32_t max_sections; /* maximum number of records */
    bool live;             /* the newest section has a deadline */
    size_t limit;          /* maximum bytes in [una, end) */

    /* What to give up, and what to protect. */
    tltcp__path_estimate path;         /* kept up to date by the owner */
    tltcp__dependencies *dependencies; /* NULL: no section had a class yet */
    uint64_t dependents_from; /* dependencies of sections from here on may be
                                 lost; or MAX */
    cmn__ring orphans;        /* newest dependents of lost sections */
    tltcp__fec_sender fec;

    /* Whom it reports to. */
    tltcp__fate_fn on_fate;
    void *owner;
    tltcp__counters *stats;
} tltcp__sections;

void tltcp__sections_init(tltcp__sections *s, const cmn__mem *mem, size_t limit,
                          uint32_t max_sections, tltcp__counters *stats);
void tltcp__sections_free(tltcp__sections *s);

/* Maximum size of a section written now. */
size_t tltcp__sections_room(const tltcp__sections *s);
/* Accepts a whole section. TLTCP_ERR_TOO_BIG, _AGAIN or _NOMEM. */
int tltcp__sections_write(tltcp__sections *s, const tltcp_section *in,
                          tltcp_time now);

/* The lifetime timer: the earliest deadline of a live section. */
tltcp_time tltcp__sections_deadline(const tltcp__sections *s);
/* Gives up sections whose deadline has passed. 0 or _NOMEM. */
int tltcp__sections_expire(tltcp__sections *s, tltcp_time now);

/* Whether there is a piece to send: retransmissions, new data within flow
 * control, or, without new_data, retransmissions only. */
bool tltcp__sections_has(const tltcp__sections *s, bool new_data);
/* Takes the next piece, of one section, to send: the lowest retransmission,
 * then sections ahead, then new data. It has at most max bytes including the
 * fields its flags announce; max is 0 or above TLTCP__META_MAX. False: none. */
bool tltcp__sections_next(tltcp__sections *s, uint64_t max, bool new_data,
                          tltcp_time now, tltcp__piece *out);
/* Describes [start, end) of a live section, at most max bytes as above, for a
 * retransmission; false if it is no longer live. */
bool tltcp__sections_again(tltcp__sections *s, uint64_t start, uint64_t end,
                           uint64_t max, tltcp_time now, tltcp__piece *out);
bool tltcp__sections_is_live(const tltcp__sections *s, uint64_t section);
/* A piece was put into a packet. Tracked: on_acked, on_lost or on_forgotten
 * will be called for this copy. */
void tltcp__sections_on_sent(tltcp__sections *s, const tltcp__piece *p,
                             bool tracked);

/* How many pieces of len bytes each come next, if none needs a description:
 * new data in turn, from the middle of one section. */
uint64_t tltcp__sections_run(const tltcp__sections *s, size_t len);
/* So many of them, up to end, were put into packets; tracked. */
void tltcp__sections_on_run_sent(tltcp__sections *s, uint32_t pieces,
                                 uint64_t end);

/* The fate of sent pieces, which together form [start, end). 0 or
 * TLTCP_ERR_NOMEM. */
int tltcp__sections_on_acked(tltcp__sections *s, uint64_t section,
                             uint64_t start, uint64_t end, uint32_t pieces);
/* Its record was dropped without a fate. */
void tltcp__sections_on_forgotten(tltcp__sections *s, uint64_t section);
/* It was acknowledged after it had been declared lost. */
int tltcp__sections_on_late(tltcp__sections *s, uint64_t section,
                            uint64_t start, uint64_t end);
/* Sets *current if something must be retransmitted. */
int tltcp__sections_on_lost(tltcp__sections *s, uint64_t section,
                            uint64_t start, uint64_t end, unsigned losses,
                            bool *current);
/* The peer has received or skipped everything below seq. */
int tltcp__sections_on_cumulative(tltcp__sections *s, uint64_t seq);

/* A repair symbol for it was sent, tracked as a piece; see on_forgotten. */
void tltcp__sections_on_fec_symbol_sent(tltcp__sections *s, uint64_t section);
/* The next repair symbol, if it is still useful. */
bool tltcp__sections_next_fec_symbol(const tltcp__sections *s,
                                     tltcp__fec_symbol *out);
/* Bytes of the next symbol of new data, including the fields its flags
 * announce; 0: the data is not cut into symbols. */
size_t tltcp__sections_next_symbol(const tltcp__sections *s, tltcp_time now);
/* The peer rebuilt [start, end) from repair symbols. What is beyond the section
 * of start is ignored: a claim of all sections would cost much work. 0 or an
 * error. */
int tltcp__sections_on_rebuilt(tltcp__sections *s, uint64_t start,
                               uint64_t end);

/* The next range to skip above update, with the section after it. */
bool tltcp__sections_next_skip(tltcp__sections *s, tltcp__piece *out);
int tltcp__sections_on_skip_lost(tltcp__sections *s, uint64_t start,
                                 uint64_t end);

/* Whether all of [start, end) has been sent. */
bool tltcp__sections_was_sent(const tltcp__sections *s, uint64_t start,
                              uint64_t end);
/* Metadata of a section without a fate. */
tltcp__meta tltcp__sections_meta(const tltcp__sections *s, uint64_t number);
/* The number of the section that holds offset seq, una <= seq < end. */
uint64_t tltcp__sections_find(const tltcp__sections *s, uint64_t seq);
/* Copies out bytes at or above una. */
void tltcp__sections_copy(const tltcp__sections *s, uint64_t start, void *to,
                          size_t len);
/* Where those bytes lie; NULL: not in one piece, or there is none. */
uint8_t *tltcp__sections_at(const tltcp__sections *s, uint64_t start,
                            size_t len);
/* Bytes written before a time and never sent. */
uint64_t tltcp__sections_backlog(const tltcp__sections *s, tltcp_time before);
/* Bytes waiting for retransmission. */
uint64_t tltcp__sections_missing(const tltcp__sections *s);
/* Whether everything written was acknowledged or has expired. */
bool tltcp__sections_settled(const tltcp__sections *s);
/* The connection is over: reports a fate for every remaining section. */
void tltcp__sections_abandon(tltcp__sections *s);
/* Frees memory when nothing is queued. */
void tltcp__sections_trim(tltcp__sections *s);

/* The rest is for sections*.c and tests. */

static inline tltcp__section *tltcp__sections_rec(const tltcp__sections *s,
                                                  uint64_t number) {
    return cmn__ring_at(&s->recs, number);
}

static inline bool tltcp__sections_knows(const tltcp__sections *s,
                                         uint64_t number) {
    return number >= s->recs.head && number < s->recs.tail;
}

/* Start of the first section without a fate. */
static inline uint64_t tltcp__sections_base(const tltcp__sections *s) {
    return cmn__ring_len(&s->recs) > 0
               ? tltcp__sections_rec(s, s->recs.head)->start
               : s->end;
}

/* Reports the fate of a section. */
void tltcp__sections_settle(tltcp__sections *s, uint64_t number, int fate);
/* Reports the fate of an expired section once nothing of it is in flight. */
int tltcp__sections_settle_expired(tltcp__sections *s, uint64_t number);
/* Expires a live section before or at its deadline. */
int tltcp__sections_give_up(tltcp__sections *s, uint64_t number, uint8_t cause);
void tltcp__sections_off_the_clock(tltcp__sections *s, tltcp__section *r);
int tltcp__sections_drop_retransmissions(tltcp__sections *s, uint64_t start,
                                         uint64_t end);
/* Moves nxt to the next live data, or to the end, and updates the sections
 * ahead. */
void tltcp__sections_find_new(tltcp__sections *s);

/* Queues a written section to be sent ahead if it may overtake: AUDIO, and
 * HEADER and KEY when nothing else of their stream waits, with a deadline, past
 * much larger ones. */
void tltcp__sections_offer_ahead(tltcp__sections *s, uint64_t number);
/* Removes those whose turn has come or that are no longer live. */
void tltcp__sections_update_ahead(tltcp__sections *s);
/* The section to send or continue before its turn; false: none. */
bool tltcp__sections_next_ahead(const tltcp__sections *s, uint64_t *number);
/* New data is about to be sent. */
void tltcp__sections_on_taken(tltcp__sections *s, const tltcp__piece *p);
/* The offset up to which a section has been sent. */
uint64_t tltcp__sections_left_upto(const tltcp__sections *s, uint64_t number);
/* Moves una and seq_update over settled data, and removes old records. */
void tltcp__sections_advance(tltcp__sections *s);

#endif /* LIBTLTCP_SECTIONS_H */

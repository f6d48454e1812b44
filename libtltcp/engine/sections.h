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
 * A section is LIVE until every byte was acknowledged (DONE) or its deadline
 * passed or it was given up before (EXPIRED).  Byte ranges are queued for
 * retransmission, never packets.  The deadline is looked at in two places only:
 * tltcp__sections_next(), when bytes would enter a packet, and
 * tltcp__sections_expire(), the lifetime timer.
 *
 * Invariants.  The first is asserted; tests/fuzz/fuzz_sections.c checks all:
 *  (1) update <= una <= nxt <= end; update is where the first LIVE section
 *      begins, or end.  Beyond nxt only bytes of sections ahead have left.
 *  (2) no byte of an EXPIRED section is in lost[].
 *  (3) acked and lost[] are disjoint. */

/* How often data can have been lost before; the last level keeps the rest. */
#define TLTCP__LOST_LEVELS 3
#define TLTCP__NO_SECTION UINT64_MAX
/* At most half of what leaves does so before its turn, apart from these bytes.
 */
#define TLTCP__AHEAD_CREDIT 32768u

/* A piece of stream to put into a packet. */
typedef struct tltcp__piece {
    uint64_t start, end;
    uint64_t section;
    uint8_t losses; /* 0: new data */
    uint8_t flags;  /* TLTCP__DATA_* */
} tltcp__piece;

/* Small sections that leave before their turn. */
typedef struct tltcp__ahead {
    cmn__ring waiting; /* numbers of those that may, in order of writing */
    uint64_t section;  /* the one that is leaving; or TLTCP__NO_SECTION */
    uint64_t nxt;      /* its lowest byte that never left */
    uint64_t credit;   /* bytes that may leave so now */
} tltcp__ahead;

typedef void (*tltcp__fate_fn)(void *owner, uint64_t number,
                               const tltcp__section *s, int fate);

typedef struct tltcp__sections {
    /* What was written. */
    cmn__ring recs;      /* by section number; head is the first not DONE */
    cmn__bytes buf;      /* holds [una, end) */
    cmn__heap deadlines; /* of LIVE sections that have one */
    uint64_t end;        /* bytes written */

    /* How far it has got. */
    uint64_t una; /* everything below is acknowledged or expired */
    uint64_t nxt; /* lowest byte that never left in its turn */
    uint64_t nxt_section;
    uint64_t update; /* seq_update */
    uint64_t update_section;
    tltcp__ahead ahead;
    cmn__ranges acked; /* at or above the first remembered section */
    cmn__ranges
        lost[TLTCP__LOST_LEVELS]; /* to be retransmitted, by losses - 1 */
    cmn__ranges skips; /* expired above update, not yet sent to the peer */

    /* What the peer allows and understands. */
    uint64_t peer_seq;     /* flow control: first byte not allowed */
    uint64_t peer_section; /* and first section */
    bool no_skips;         /* no skips: the peer, or the recovery, knows none */
    bool sends_meta;       /* it understands what sections are */

    /* Limits and options. */
    bool in_order;         /* none leaves before its turn */
    bool look_ahead;       /* give up before the deadline, see lookahead.h */
    uint32_t policy;       /* tltcp_drop_policy */
    uint32_t max_sections; /* remembered at most */
    bool live;             /* the newest section has a deadline */
    size_t limit;          /* bytes in [una, end) at most */
    tltcp_time lead;       /* sections expire this long before their deadline */

    /* What to give up, and what to protect. */
    tltcp__path_estimate
        path; /* what it carries; the owner keeps it up to date */
    tltcp__dependencies *dependencies; /* NULL: no section had a class yet */
    uint64_t dependents_from; /* what sections from here on depend on may be
                                 lost; or MAX */
    tltcp__fec_sender fec;

    /* Whom it reports to. */
    tltcp__fate_fn on_fate;
    void *owner;
    tltcp__counters *stats;
} tltcp__sections;

void tltcp__sections_init(tltcp__sections *s, const cmn__mem *mem, size_t limit,
                          uint32_t max_sections, tltcp__counters *stats);
void tltcp__sections_free(tltcp__sections *s);

/* Bytes that a section written now may have. */
size_t tltcp__sections_room(const tltcp__sections *s);
/* Takes a whole section.  TLTCP_ERR_TOO_BIG, _AGAIN or _NOMEM. */
int tltcp__sections_write(tltcp__sections *s, const tltcp_section *in,
                          tltcp_time now);

/* The lifetime timer: the earliest deadline of a live section. */
tltcp_time tltcp__sections_deadline(const tltcp__sections *s);
/* Gives up the sections whose deadline is not after now.  0 or _NOMEM. */
int tltcp__sections_expire(tltcp__sections *s, tltcp_time now);

/* Whether a piece could be had: retransmissions, new data within flow control,
 * or, without new_data, retransmissions only. */
bool tltcp__sections_has(const tltcp__sections *s, bool new_data);
/* Takes the next piece, of one section, out of what is to be sent: the lowest
 * repair, then what leaves before its turn, then new data.  It has at most max
 * bytes with what its flags announce; max is 0 or above TLTCP__META_MAX.  False
 * when there is none. */
bool tltcp__sections_next(tltcp__sections *s, uint64_t max, bool new_data,
                          tltcp_time now, tltcp__piece *out);
/* Describes [start, end) of a live section, at most max bytes as above, so that
 * it is sent again; false when it is not live any more. */
bool tltcp__sections_again(tltcp__sections *s, uint64_t start, uint64_t end,
                           uint64_t max, tltcp_time now, tltcp__piece *out);
bool tltcp__sections_is_live(const tltcp__sections *s, uint64_t section);
/* A piece went into a packet.  Tracked: on_acked, on_lost or on_forgotten will
 * be called for this copy. */
void tltcp__sections_on_sent(tltcp__sections *s, const tltcp__piece *p,
                             bool tracked);

/* The fate of pieces that left, which together are [start, end).  0 or
 * TLTCP_ERR_NOMEM. */
int tltcp__sections_on_acked(tltcp__sections *s, uint64_t section,
                             uint64_t start, uint64_t end, uint32_t pieces);
/* It left the books without a fate of its own. */
void tltcp__sections_on_forgotten(tltcp__sections *s, uint64_t section);
/* It was acknowledged although it had been called lost. */
int tltcp__sections_on_late(tltcp__sections *s, uint64_t section,
                            uint64_t start, uint64_t end);
/* Sets *current when something is to be retransmitted. */
int tltcp__sections_on_lost(tltcp__sections *s, uint64_t section,
                            uint64_t start, uint64_t end, unsigned losses,
                            bool *current);
/* The peer has received or skipped everything below seq. */
int tltcp__sections_on_cumulative(tltcp__sections *s, uint64_t seq);

/* A repair symbol for it left, tracked as a piece; see on_forgotten. */
void tltcp__sections_on_fec_symbol_sent(tltcp__sections *s, uint64_t section);
/* The next repair symbol, if it is still of use. */
bool tltcp__sections_next_fec_symbol(const tltcp__sections *s,
                                     tltcp__fec_symbol *out);
/* Bytes of the symbol that comes next of what never left, with what its flags
 * announce; 0: what comes is not cut into symbols. */
size_t tltcp__sections_next_symbol(const tltcp__sections *s, tltcp_time now);
/* The peer made [start, end) from repair symbols.  0 or an error. */
int tltcp__sections_on_rebuilt(tltcp__sections *s, uint64_t start,
                               uint64_t end);

/* The next stretch to skip above update, with the section behind it. */
bool tltcp__sections_next_skip(tltcp__sections *s, tltcp__piece *out);
int tltcp__sections_on_skip_lost(tltcp__sections *s, uint64_t start,
                                 uint64_t end);

/* All of [start, end) has left. */
bool tltcp__sections_was_sent(const tltcp__sections *s, uint64_t start,
                              uint64_t end);
/* Metadata of a section that is not settled yet. */
tltcp__meta tltcp__sections_meta(const tltcp__sections *s, uint64_t number);
/* The number of the section that holds offset seq, una <= seq < end. */
uint64_t tltcp__sections_find(const tltcp__sections *s, uint64_t seq);
/* Copies out bytes at or above una. */
void tltcp__sections_copy(const tltcp__sections *s, uint64_t start, void *to,
                          size_t len);
/* Bytes that were written before a time and never left. */
uint64_t tltcp__sections_backlog(const tltcp__sections *s, tltcp_time before);
/* Bytes waiting for retransmission. */
uint64_t tltcp__sections_missing(const tltcp__sections *s);
/* Everything written was acknowledged or has expired. */
bool tltcp__sections_settled(const tltcp__sections *s);
/* The connection is over: every section left gets its fate. */
void tltcp__sections_abandon(tltcp__sections *s);
/* Gives memory back when nothing is queued. */
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

/* Where the first section begins whose fate is not known yet. */
static inline uint64_t tltcp__sections_base(const tltcp__sections *s) {
    return cmn__ring_len(&s->recs) > 0
               ? tltcp__sections_rec(s, s->recs.head)->start
               : s->end;
}

/* It is done: reports its fate. */
void tltcp__sections_settle(tltcp__sections *s, uint64_t number, int fate);
/* An expired section gets its fate once nothing of it is in flight. */
int tltcp__sections_settle_expired(tltcp__sections *s, uint64_t number);
/* Expires a live section before or at its deadline. */
int tltcp__sections_give_up(tltcp__sections *s, uint64_t number, uint8_t cause);
void tltcp__sections_off_the_clock(tltcp__sections *s, tltcp__section *r);
int tltcp__sections_drop_retransmissions(tltcp__sections *s, uint64_t start,
                                         uint64_t end);
/* Moves nxt to where live data is, or to the end, and finds out what may leave
 * before its turn. */
void tltcp__sections_find_new(tltcp__sections *s);

/* A section was written that may leave before its turn: AUDIO, and HEADER and
 * KEY when nothing of their stream waits, that have a deadline and pass much
 * larger ones. */
void tltcp__sections_offer_ahead(tltcp__sections *s, uint64_t number);
/* Forgets those whose turn has come, or that are dead. */
void tltcp__sections_update_ahead(tltcp__sections *s);
/* The section that leaves next, or goes on leaving, before its turn; false:
 * none does. */
bool tltcp__sections_next_ahead(const tltcp__sections *s, uint64_t *number);
/* New data is about to leave. */
void tltcp__sections_on_taken(tltcp__sections *s, const tltcp__piece *p);
/* The offset below which all of a section has left. */
uint64_t tltcp__sections_left_upto(const tltcp__sections *s, uint64_t number);
/* Moves una and seq_update over what is settled, and forgets old records. */
void tltcp__sections_advance(tltcp__sections *s);

#endif /* LIBTLTCP_SECTIONS_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_REASM_H
#define LIBTLTCP_REASM_H

#include <tltcp/conn.h>

#include "internal/common/pages.h"
#include "internal/common/ranges.h"
#include "internal/common/ring.h"
#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/counters.h"
#include "libtltcp/engine/lent.h"

/* The receiving side of the stream: reassembles packets into data and gaps.
 *
 * The application reads at `cursor`. `cum` is the first missing byte that may
 * still arrive; between the two, every byte was received or skipped.
 *
 *   read | data or gap | holes and data | nothing yet
 *        cursor        cum              top
 *
 * Each section from the one at cursor on has a record, by section number. Bytes
 * and records are stored in pages, so a packet far ahead costs no more memory
 * than a near one. */

typedef struct tltcp__incoming {
    uint64_t start, end; /* if known */
    uint64_t low, high;  /* bounds of the bytes that arrived */
    uint64_t got;        /* bytes that arrived */
    tltcp__meta meta;
    bool start_known, end_known;
    bool cut;       /* a gap in it was delivered */
    bool delivered; /* delivered out of order */
    bool queued;    /* in ready */
} tltcp__incoming;

/* Records by section number: [head, tail), where some may be missing. */
typedef struct tltcp__incoming_set {
    cmn__pages pages;
    uint64_t head; /* the section at cursor */
    uint64_t tail;
} tltcp__incoming_set;

typedef struct tltcp__reasm {
    /* What arrived. */
    tltcp__incoming_set recs;
    cmn__pages buf;    /* bytes of [floor, top) that arrived */
    tltcp__lent *lent; /* some of them, elsewhere; or NULL */
    cmn__ranges got;   /* received, at or above floor */
    cmn__ranges have;  /* received or skipped, above cum */

    /* Offsets: floor <= cursor <= cum. */
    uint64_t floor; /* got and buf begin here */
    uint64_t cursor;
    uint64_t cum;
    uint64_t top;
    uint64_t update; /* newest seq_update and its section */
    uint64_t update_section;
    uint64_t final; /* end of the stream, if known */
    uint64_t final_section;

    /* Flow control. */
    uint64_t granted_seq; /* newest window sent to the peer */
    uint64_t granted_section;
    size_t limit; /* bytes above cursor */
    size_t keep;  /* bytes to keep below cursor for REPAIRs; initially 0 */
    uint32_t max_sections;

    bool unordered;
    bool has_final;
    bool boundary;   /* a section begins at cursor */
    cmn__ring ready; /* unordered: numbers of whole sections */
    uint64_t taken;  /* unordered: bytes read of the section in delivery */
    tltcp__counters *stats;
} tltcp__reasm;

void tltcp__reasm_init(tltcp__reasm *r, const cmn__mem *mem, size_t limit,
                       uint32_t max_sections, bool unordered,
                       tltcp__counters *stats);
void tltcp__reasm_free(tltcp__reasm *r);
/* The record of a section, or NULL. */
tltcp__incoming *tltcp__reasm_rec(const tltcp__reasm *r, uint64_t section);

/* Process the contents of packets. All return 0, TLTCP_ERR_NOMEM,
 * TLTCP_ERR_LIMIT (too many holes: treat the packet as not received), or
 * TLTCP_ERR_FLOW and TLTCP_ERR_PROTOCOL, which end the connection. */
int tltcp__reasm_on_data(tltcp__reasm *r, uint64_t seq, const void *data,
                         size_t len, uint64_t section, unsigned flags);
/* Takes the bytes after the newest ones, of the same section and neither its
 * first nor its last. False: nothing was done, on_data() must decide. Call
 * tltcp__reasm_appended() after the last one, with the value of cum before the
 * first; it returns 0 or TLTCP_ERR_NOMEM. */
bool tltcp__reasm_append(tltcp__reasm *r, const void *data, size_t len,
                         uint64_t section);
int tltcp__reasm_appended(tltcp__reasm *r, uint64_t from);
/* Until tltcp__reasm_take_room(), appended bytes lie in a room, at that
 * distance from one packet to the next, and are not copied if possible. */
void tltcp__reasm_borrow(tltcp__reasm *r, size_t stride);
/* Keeps the room, if at least so many bytes in it were appended, and replaces
 * it by another one; else copies them. Returns 0 or TLTCP_ERR_NOMEM. */
int tltcp__reasm_take_room(tltcp__reasm *r, void **room, size_t least);
/* The metadata of a section.  It is stored before the data, so that a reader
 * never gets data without it when memory runs out. */
int tltcp__reasm_on_meta(tltcp__reasm *r, uint64_t section,
                         const tltcp__meta *m);
int tltcp__reasm_on_update(tltcp__reasm *r, uint64_t seq, uint64_t section);
int tltcp__reasm_on_skip(tltcp__reasm *r, uint64_t start, uint64_t end,
                         uint64_t section);
int tltcp__reasm_on_fin(tltcp__reasm *r, uint64_t seq, uint64_t section);

/* Whether a piece, or the end, is ready to be read. */
bool tltcp__reasm_readable(const tltcp__reasm *r);
/* Whether it is worth waking a reader; see tltcp_conn_section_ready(). */
bool tltcp__reasm_section_ready(const tltcp__reasm *r);
/* Delivers one piece; see tltcp_conn_read_meta().  Returns its length, 0 at the
 * end of the stream, or TLTCP_ERR_AGAIN. */
int64_t tltcp__reasm_read(tltcp__reasm *r, tltcp_buf *buf,
                          struct tltcp_segment *seg, struct tltcp_meta *meta);
/* Copies bytes that arrived, at or above floor. */
void tltcp__reasm_get(const tltcp__reasm *r, uint64_t at, void *data,
                      size_t len);
/* Whether everything up to the end of the stream was read. */
bool tltcp__reasm_at_end(const tltcp__reasm *r);

/* The current window: first offset and section not allowed. */
void tltcp__reasm_window(const tltcp__reasm *r, uint64_t *seq,
                         uint64_t *section);
/* Records that the current window was advertised. */
void tltcp__reasm_on_granted(tltcp__reasm *r);
/* Whether the window has moved enough to be worth a separate packet. */
bool tltcp__reasm_window_due(const tltcp__reasm *r);
/* The peer sends REPAIRs: keeps read data for a while, because rebuilding a
 * block needs all its received data. */
void tltcp__reasm_keep(tltcp__reasm *r);
/* Whether storing a range of a section needs new memory. */
bool tltcp__reasm_needs_memory(const tltcp__reasm *r, uint64_t start,
                               uint64_t end, uint64_t section);
/* Memory held because of the peer's packets. */
size_t tltcp__reasm_held(const tltcp__reasm *r);
/* Frees memory when nothing is buffered. */
void tltcp__reasm_trim(tltcp__reasm *r);

#endif /* LIBTLTCP_REASM_H */

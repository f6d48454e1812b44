/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_ACKS_H
#define LIBTLTCP_ACKS_H

#include <tltcp/types.h>

#include "internal/common/ranges.h"
#include "libtltcp/engine/chunk.h"

#define TLTCP__ACK_DELAY_MAX (100 * TLTCP_MS) /* on request */

/* Decides what to acknowledge to the peer, and when.
 *
 * Packets below `floor` count as seen: the peer knows that they arrived, or
 * they fell out of the bounded memory. */
typedef struct tltcp__acks {
    cmn__ranges seen; /* packet numbers at or above floor */
    uint64_t floor;
    uint64_t largest;      /* highest number seen, plus one; 0: none */
    tltcp_time largest_at; /* when it arrived */
    tltcp_time due;        /* when an ACK must leave; NEVER: none owed */
    uint32_t owed;         /* packets that want an ACK */
    uint32_t every;        /* ACK at once when this many are owed */
    uint32_t hurry;        /* packets to acknowledge at once */
    uint32_t since_ping;   /* lone ACKs since the last ack-eliciting packet */
    tltcp_time max_delay;  /* as announced to the peer */
    tltcp_time delay;      /* as the peer requests, at most max_delay */
    uint64_t request_pn;   /* packet with the newest request */
    bool times;            /* the peer wants times of arrival */
    bool calm;             /* it does not want ACKs sooner after a gap */
    uint32_t packets;      /* that wanted an ACK */
    uint32_t runs;         /* in the newest ACK after the first */
    uint32_t ect0, ect1, ce;
} tltcp__acks;

void tltcp__acks_init(tltcp__acks *a, const cmn__mem *mem, uint32_t every,
                      tltcp_time max_delay);
void tltcp__acks_free(tltcp__acks *a);

/* Whether the packet has been seen. */
bool tltcp__acks_seen(const tltcp__acks *a, uint64_t pn);
/* Records a new packet. Returns 0 or TLTCP_ERR_NOMEM. */
int tltcp__acks_on_packet(tltcp__acks *a, uint64_t pn, bool eliciting,
                          uint32_t ecn, tltcp_time now);
/* The same for n ack-eliciting ones, each after the largest. They came at the
 * same time as the one before them, without CE, and no ACK is in a hurry. */
int tltcp__acks_on_run(tltcp__acks *a, uint32_t n, uint32_t ecn,
                       tltcp_time now);
/* Packet `pn` requests an ACK for every `every` packets, and after `delay` at
 * the latest; calm: not sooner after a gap. Older requests are ignored. */
void tltcp__acks_on_frequency(tltcp__acks *a, uint64_t pn, uint32_t every,
                              tltcp_time delay, bool calm);
/* The same for an ACK_FREQUENCY chunk. Returns 0 or TLTCP_ERR_PROTOCOL. */
int tltcp__acks_on_request(tltcp__acks *a, uint64_t pn, const tltcp__chunk *k);
/* Whether an ACK should leave now, even alone. */
bool tltcp__acks_due(const tltcp__acks *a, tltcp_time now);
/* Appends an ACK chunk if something was received and there is room; the caller
 * supplies cumulative and window. Returns the number up to which it
 * acknowledges, plus one, or 0 if none was written. */
uint64_t tltcp__acks_put(tltcp__acks *a, cmn__writer *w, uint32_t cumulative,
                         tltcp__position window, tltcp_time now);
/* The peer has received an ACK up to `upto`: ranges below the newest run need
 * not be repeated. */
void tltcp__acks_on_acked(tltcp__acks *a, uint64_t upto);

#endif /* LIBTLTCP_ACKS_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_SENTLOG_H
#define LIBSARATOGA_SENTLOG_H

#include <congestion/stfrc.h>
#include <saratoga/types.h>

#include "internal/common/ranges.h"
#include "internal/common/ring.h"

/* Log of transmissions and their fates (Shahriar et al. 2011, "STFRC").
 *
 * Every transmission, new or repeated, gets a unique number, 1, 2, 3 ..., that
 * never leaves the sender. A STATUS that answers transmission D ends a cycle:
 * the transmissions since the last cycle up to D. Those that touch a hole are
 * lost; the others arrived. A retransmission that left after D is not yet
 * reported, so the hole it fills is not a new loss.
 *
 * The paper keeps runs of transmissions instead, to save memory, which needs
 * packets of one size and a request that names its packet. Here an answer names
 * its transmission by timestamp, offset or time, and repairs under way are
 * looked up, so each transmission has a record until it is answered. What TFRC
 * needs of them afterwards is kept as runs (congestion/stfrc.h). */

typedef struct saratoga__sent {
    uint64_t offset;
    uint64_t timestamp; /* as in timestamp.h, growing */
    saratoga_time at;
    uint32_t len;
    bool asks;
    bool again; /* a retransmission */
} saratoga__sent;

typedef struct saratoga__sentlog {
    cmn__ring ring;          /* of saratoga__sent, by number */
    uint64_t done;           /* end of the last cycle */
    uint64_t flight;         /* bytes sent after it */
    uint64_t max;            /* entries kept */
    struct cong_stfrc stfrc; /* what the cycles say of the path */
    cong_time t_cycle; /* when the packet that ended the last cycle arrived */
    uint64_t again;    /* newest retransmission */
    cmn__ranges later; /* covered by retransmissions after later_d, */
    cmn__ranges_hint later_hint;
    uint64_t later_d;
    uint64_t later_to; /* up to this one */
} saratoga__sentlog;

typedef struct saratoga__cycle {
    uint64_t first; /* numbers of the transmissions */
    uint64_t last;
    uint64_t newest; /* newest sent by now */
    uint64_t packets;
    uint64_t lost_packets;
    uint64_t first_lost; /* if any */
    uint64_t last_lost;
    double acked; /* bytes */
    double lost;
    double p;      /* loss event rate */
    double x_recv; /* bytes/s */
} saratoga__cycle;

typedef struct saratoga__path {
    cong_time rtt;   /* smoothed */
    cong_time since; /* time since the previous answer; 0: not known */
    double symmetry; /* forward delay over RTT */
    double mss;
    uint32_t holdover; /* packets that may be reordered */
    bool no_history;   /* no equation needs the loss event rate or the receive
                          rate over exactly one RTT */
} saratoga__path;

void saratoga__sentlog_init(saratoga__sentlog *log, const cmn__mem *mem,
                            uint64_t max, uint32_t max_holes);
void saratoga__sentlog_free(saratoga__sentlog *log);
/* Returns the number, or 0 without memory. */
uint64_t saratoga__sentlog_add(saratoga__sentlog *log,
                               const saratoga__sent *sent);
const saratoga__sent *saratoga__sentlog_at(const saratoga__sentlog *log,
                                           uint64_t d);
/* The transmission that an echo names: the newest one with a timestamp from low
 * to high that ends at irt, or else the newest with such a timestamp.  0:
 * none. */
uint64_t saratoga__sentlog_by_timestamp(const saratoga__sentlog *log,
                                        uint64_t low, uint64_t high,
                                        uint64_t irt);
/* The newest that requested a STATUS and ended at irt; 0: none. */
uint64_t saratoga__sentlog_by_end(const saratoga__sentlog *log, uint64_t irt);
/* The newest that left at t or before; 0: none. */
uint64_t saratoga__sentlog_by_time(const saratoga__sentlog *log,
                                   saratoga_time t);
/* When the first transmission after d that requests a STATUS left; or NEVER.
 */
saratoga_time saratoga__sentlog_next_ask(const saratoga__sentlog *log,
                                         uint64_t d);
/* Sets d, the answered transmission, for saratoga__sentlog_due(). */
void saratoga__sentlog_answered(saratoga__sentlog *log, uint64_t d);
/* The first piece of [from, end) not retransmitted after d, which is to be
 * retransmitted. False: there is none. */
bool saratoga__sentlog_due(saratoga__sentlog *log, uint64_t from, uint64_t end,
                           cmn__range *piece);
/* Ends a cycle at transmission d.  `missing` lists the receiver's holes below
 * irt. False: nothing new. */
bool saratoga__sentlog_cycle(saratoga__sentlog *log, uint64_t d, uint64_t irt,
                             const cmn__ranges *missing,
                             const saratoga__path *path, saratoga__cycle *out);
/* Gives up everything in flight. */
void saratoga__sentlog_give_up(saratoga__sentlog *log);

#endif /* LIBSARATOGA_SENTLOG_H */

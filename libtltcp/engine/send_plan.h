/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SEND_PLAN_H
#define LIBTLTCP_SEND_PLAN_H

#include "libtltcp/engine/lookahead_times.h"

/* Chooses which sections of a plan to send so that the most pictures are in
 * time: dynamic programming over how far the path is behind.
 *
 * The slots are sent one after the other, each not before it is written. A slot
 * of a chain can be sent only if the one before it was, back to the last KEY.
 */

#define TLTCP__SLOTS_MAX 160u

#define TLTCP__REPAIRS 2u /* after the second one all has arrived */

enum tltcp__slot_kind {
    TLTCP__SLOT_MUST,    /* is always sent */
    TLTCP__SLOT_KEY,     /* likewise; a chain begins */
    TLTCP__SLOT_CHAIN,   /* needs the chain and continues it */
    TLTCP__SLOT_OPTIONAL /* needs the chain; others need it only explicitly */
};

/* Times in ns from now, or TLTCP__NEVER. */
typedef struct tltcp__slot {
    int64_t written;                /* cannot leave before */
    int64_t due;                    /* of no use if complete after it */
    int64_t cost;                   /* time of sending it */
    double worth;                   /* in pictures, if it is in time */
    double missing[TLTCP__REPAIRS]; /* probability that some of it still is,
                                       after 0, 1 ... repairs */
    uint8_t kind;
    bool is_branch; /* an optional one that later ones need */
    bool on_branch; /* needs the newest branch */
} tltcp__slot;

typedef struct tltcp__send_plan {
    tltcp__slot slot[TLTCP__SLOTS_MAX]; /* in the order of `written` */
    size_t count;
    int64_t start;    /* when the first slot could leave */
    int64_t repair;   /* time that a repair takes */
    double rest;      /* worth of what follows the last slot */
    int64_t rest_due; /* time from writing to due of what follows */
} tltcp__send_plan;

/* Whether sending the first slot leads to more in time. The plan has at
 * least one slot. */
bool tltcp__send_plan_takes_first(const tltcp__send_plan *s);

#endif /* LIBTLTCP_SEND_PLAN_H */

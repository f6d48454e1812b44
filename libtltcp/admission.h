/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_ADMISSION_H
#define LIBTLTCP_ADMISSION_H

#include <tltcp/config.h>
#include <tltcp/stats.h>

#include "common/tally.h"
#include "libtltcp/packet.h"
#include "libtltcp/secret.h"

/* Whom a listener lets in: the limits on its connections, in all and of each
 * network, the tokens of those who must prove their address first, and counts
 * of those who stay outside. */
typedef struct tltcp__admission {
    tltcp__tokens tokens;
    cmn__tally of_network;   /* connections */
    cmn__tally half_open_of; /* and those whose address is not proven */
    size_t count;
    size_t half_open;
    uint32_t max;
    uint32_t max_half_open;
    uint32_t max_of_network;
    uint64_t max_half_open_of;
    bool careful;       /* a token from everybody */
    tltcp_time told_at; /* when the log last heard of somebody */
    tltcp_time second;  /* began so; `refusals` are of it */
    unsigned refusals;
    uint64_t rejected; /* wrong key, or none */
    uint64_t turned_away;
    uint64_t retried;
    uint64_t dropped; /* datagrams of nobody */
    tltcp_trace_fn on_trace;
    void *user;
} tltcp__admission;

enum tltcp__verdict {
    TLTCP__ADMIT,
    TLTCP__ASK,      /* for a token */
    TLTCP__TURN_AWAY /* with a word, or without when there are too many */
};

void tltcp__admission_init(tltcp__admission *a, const cmn__mem *mem,
                           const tltcp_config *cfg, tltcp__secret *secret,
                           tltcp_time now);
void tltcp__admission_free(tltcp__admission *a);

/* What becomes of a new caller whose INITIAL is p; `network` 0: not known.
 * *error is why one is turned away, 0 when he is not to be told. */
enum tltcp__verdict tltcp__admission_judge(tltcp__admission *a,
                                           const tltcp__packet *p,
                                           uint64_t path, uint64_t network,
                                           tltcp_time now, int *error);
/* The caller has a wrong key, or none. */
void tltcp__admission_on_rejected(tltcp__admission *a, tltcp_time now);

/* A connection is made, its address proven, freed.  The first returns 0 or
 * TLTCP_ERR_NOMEM. */
int tltcp__admission_enter(tltcp__admission *a, uint64_t network);
void tltcp__admission_on_proven(tltcp__admission *a, uint64_t network);
void tltcp__admission_leave(tltcp__admission *a, uint64_t network, bool proven);

#endif /* LIBTLTCP_ADMISSION_H */

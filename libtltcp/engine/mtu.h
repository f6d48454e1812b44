/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_MTU_H
#define LIBTLTCP_MTU_H

#include <tltcp/types.h>

/* Datagram size by probing (DPLPMTUD, RFC 8899): the largest first, then
 * halving the interval.  A black hole resets it to the base. */
typedef struct tltcp__mtu {
    uint32_t current;  /* size in use */
    uint32_t base;     /* known to pass */
    uint32_t limit;    /* largest that both ends accept */
    uint32_t high;     /* no larger size is worth a probe now */
    uint32_t probe;    /* size of the probe in flight; 0: none */
    uint32_t tries;    /* lost probes of that size */
    uint32_t big_lost; /* packets above base lost since one arrived */
    bool enabled;
    tltcp_time next; /* earliest time of the next probe */
} tltcp__mtu;

void tltcp__mtu_init(tltcp__mtu *m, uint32_t base, uint32_t limit,
                     bool enabled);
/* Applies the peer's limit, before the search begins. */
void tltcp__mtu_cap(tltcp__mtu *m, uint32_t limit);
/* Any size passes: uses the largest, and searches no more. */
void tltcp__mtu_fix(tltcp__mtu *m);
/* The path changed. */
void tltcp__mtu_restart(tltcp__mtu *m, tltcp_time now);
/* When a probe may leave; NEVER: none wanted. */
tltcp_time tltcp__mtu_due(const tltcp__mtu *m);
/* Starts a due probe; returns its size. */
uint32_t tltcp__mtu_start(tltcp__mtu *m);
void tltcp__mtu_on_probe_acked(tltcp__mtu *m, uint32_t size, tltcp_time now);
void tltcp__mtu_on_probe_lost(tltcp__mtu *m, uint32_t size, tltcp_time now);
/* An ordinary packet of this size arrived or was lost. True when the size in
 * use was reduced. */
void tltcp__mtu_on_acked(tltcp__mtu *m, uint32_t size);
bool tltcp__mtu_on_lost(tltcp__mtu *m, uint32_t size, tltcp_time now);
/* Nothing arrives: the path may be down, or may drop all large packets. Returns
 * as above. */
bool tltcp__mtu_on_silence(tltcp__mtu *m, unsigned timeouts, tltcp_time now);

#endif /* LIBTLTCP_MTU_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_JITTER_H
#define LIBTLTCP_JITTER_H

#include "libtltcp/engine/cross_traffic.h"

/* Learns how much of the delay is jitter. Jitter is no queue: sending less does
 * not shorten it.
 *
 * A model of the own queue, at the path's rate, predicts a part of each delay
 * above the lowest RTT. The rest is jitter on two conditions. Its successive
 * changes are correlated negatively, as in Roll's estimate of the spread of
 * prices (1984); a queue of others changes smoothly. And it lies evenly around
 * its median; the delay of a link whose rate changes is mostly short and
 * sometimes very long. */

#define TLTCP__JITTER_SAMPLES 48u

typedef struct tltcp__jitter {
    cong_time sent;                    /* the newest packet; 0: none yet */
    double bytes;                      /* sent by then */
    double queue;                      /* our own then, bytes */
    cong_time taken;                   /* when the newest sample was sent */
    float rest[TLTCP__JITTER_SAMPLES]; /* delays that it does not explain, ns;
                                          a ring */
    unsigned count;                    /* of them so far */
    cong_time delay; /* by jitter, usually, ns; 0: there is none */
} tltcp__jitter;

/* Processes the newest packet that an ACK acknowledges; rate: of the path,
 * bytes/s, or 0. */
void tltcp__jitter_on_ack(tltcp__jitter *j, const tltcp__cross_sample *newest,
                          cong_time min_rtt, double rate);

#endif /* LIBTLTCP_JITTER_H */

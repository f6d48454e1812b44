/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_JITTER_H
#define LIBTLTCP_JITTER_H

#include "libtltcp/engine/cross_traffic.h"

/* Learns how much of the delay is jitter. Jitter is no queue: sending less does
 * not shorten it.
 *
 * A model of the own queue, at the path's rate, says when that is all but
 * empty. What a packet then takes above the lowest RTT is jitter on three
 * conditions. It says little about what the next ones take: the sequence is not
 * correlated with itself (Ljung, Box 1978); a queue of others changes smoothly,
 * or repeats the pattern of their pictures. Successive changes are correlated
 * negatively, which also shows the spread, as in Roll's estimate of that of
 * prices (1984). And it lies evenly around its median; the delay of a link
 * whose rate changes is mostly short and sometimes very long. */

#define TLTCP__JITTER_SAMPLES 96u

typedef struct tltcp__jitter {
    cong_time sent;                    /* the newest packet; 0: none yet */
    double bytes;                      /* sent by then */
    double queue;                      /* our own then, bytes */
    cong_time taken;                   /* when the newest sample was sent */
    double packets;                    /* time of three packets at the lowest
                                          recent rate, ns */
    float rest[TLTCP__JITTER_SAMPLES]; /* delays beyond our own queue, ns; a
                                          ring */
    unsigned count;                    /* of samples so far */
    cong_time delay; /* that nearly all samples stay below, ns; 0: no jitter */
    bool lossy;      /* losses or marks just now; set by the sender */
} tltcp__jitter;

/* Processes the newest packet that an ACK acknowledges; rate: of the path,
 * bytes/s, or 0. */
void tltcp__jitter_on_ack(tltcp__jitter *j, const tltcp__cross_sample *newest,
                          cong_time min_rtt, double rate);

#endif /* LIBTLTCP_JITTER_H */

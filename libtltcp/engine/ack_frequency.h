/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_ACK_FREQUENCY_H
#define LIBTLTCP_ACK_FREQUENCY_H

#include "libtltcp/engine/cc.h"
#include "libtltcp/engine/chunk.h"

/* How often the peer is asked to acknowledge (draft-ietf-quic-ack-frequency). A
 * path with slack needs few ACKs. Packets out of order or with a mark are
 * acknowledged at once. */
typedef struct tltcp__ack_frequency {
    tltcp_time requested_at;
    uint16_t base_delay_ms; /* longest delay, as the peer announced */
    uint16_t delay_ms;      /* as last requested */
    uint8_t base;           /* packets for an ACK, as in our PARAMS */
    uint8_t every;          /* as last requested */
    bool on;                /* the peer understands it */
    bool patient;           /* it delays ACKs for longer than it announced */
    bool calm;              /* gaps are not to hasten ACKs */
    bool due;               /* to be sent with the next data */
} tltcp__ack_frequency;

void tltcp__ack_frequency_init(tltcp__ack_frequency *f, bool on, uint8_t every,
                               uint32_t delay_ms);
/* After an ACK: decides whether to request another frequency. The return path
 * needs an interval between ACKs; 0: none. */
void tltcp__ack_frequency_update(tltcp__ack_frequency *f, const tltcp__cc *cc,
                                 cong_time interval, tltcp_time now);
/* The path changed: starts anew. */
void tltcp__ack_frequency_restart(tltcp__ack_frequency *f);
/* Writes the request; needs TLTCP__ACK_FREQUENCY_LEN bytes of room. */
void tltcp__ack_frequency_put(tltcp__ack_frequency *f, cmn__writer *w);

#endif /* LIBTLTCP_ACK_FREQUENCY_H */

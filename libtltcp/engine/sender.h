/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SENDER_H
#define LIBTLTCP_SENDER_H

#include <congestion/rack.h>

#include "libtltcp/engine/ack_frequency.h"
#include "libtltcp/engine/cc.h"
#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/dupack.h"
#include "libtltcp/engine/ecn.h"
#include "libtltcp/engine/loss_events.h"
#include "libtltcp/engine/return_path.h"
#include "libtltcp/engine/sections.h"
#include "libtltcp/engine/sentmap.h"
#include "libtltcp/engine/target.h"

#define TLTCP__PTO_PROBES 2u /* packets per probe timeout */
/* Number of skipped packet numbers remembered: an ACK of one is optimistic (RFC
 * 9000 section 21.4). */
#define TLTCP__SKIPPED_NUMBERS 8u

static inline tltcp_time tltcp__earlier(tltcp_time a, tltcp_time b) {
    return a < b ? a : b;
}

/* Sending with loss recovery: joins the stream (sections), the map of sent
 * packets and the congestion controller.
 *
 * Two recoveries share it.  `packet` (default) judges each packet by its
 * number: RACK, probe timeouts, persistent congestion, undo.  With `dup` set,
 * data is judged as the paper's TCP does, by cumulative acknowledgements alone;
 * the map then recovers only what is not data. */
typedef struct tltcp__sender {
    /* Its parts. */
    tltcp__sections sec;
    tltcp__sentmap map;
    tltcp__cc cc;
    tltcp__ecn ecn;
    tltcp__return_path *back;
    struct cong_rack rack;
    tltcp__dupack *dup;              /* NULL: packet recovery */
    tltcp__target *target;           /* NULL: no recent data */
    tltcp__loss_events *loss_events; /* NULL: the controller is not stfrc */

    /* Progress of the peer. */
    uint64_t largest_acked;    /* packet number plus one; 0: none */
    uint64_t peer_cum;         /* highest cumulative acknowledgement */
    tltcp_time acked_at;       /* when packets were last acknowledged */
    tltcp_time peer_ack_delay; /* longest delay of the peer's ACKs, unless
                                  asked for a longer one */

    /* Loss recovery. */
    tltcp_time t_eliciting; /* when an ack-eliciting packet last left */
    tltcp_time t_probe;     /* when a probe timeout last fired */
    tltcp_time loss_at;     /* RACK's timer */
    tltcp_time report_by;   /* without a report until then, reduce the rate
                               (TFRC) */
    unsigned pto_count;     /* probe timeouts in a row */
    unsigned pto_probes;   /* packets that may leave regardless of the window */
    uint64_t recovery_seq; /* end of the stream sent when the recovery period
                              began */
    uint64_t round_pn;     /* its ACK ends the round trip */
    uint64_t path_pn;      /* first packet sent on this path */

    /* Packets other than data. */
    uint64_t update_pn; /* newest packet with an UPDATE, plus one */
    uint64_t update_sent;
    tltcp_time dummy_at; /* no dummy before (Peach) */
    /* Low bits of numbers never sent; 0: none. */
    uint32_t skipped_numbers[TLTCP__SKIPPED_NUMBERS];
    unsigned skipped_at; /* index for the next one */

    uint32_t first_seq; /* wire number of stream offset 0 */
    tltcp__ack_frequency frequency;
    uint16_t resend; /* TLTCP__SENT_* that were lost */
    bool arrival;    /* deadlines mean arrival (paper, section 3) */
    bool hold;       /* no data yet: handshake in progress */
    bool reliable;   /* the transport repeats what is lost, in order */
} tltcp__sender;

/* What feedback revealed for the connection to act on. */
typedef struct tltcp__feedback_result {
    uint16_t acked;           /* TLTCP__SENT_* that arrived */
    uint64_t acked_upto;      /* our ACKs up to this number arrived */
    uint32_t mtu_probe_acked; /* size of an MTU probe that arrived; 0: none */
    uint32_t mtu_probe_lost;  /* size of a lost MTU probe; 0: none */
    uint32_t largest_lost;    /* size of the largest packet lost; 0: none */
    uint64_t bytes;           /* bytes newly acknowledged */
    uint32_t largest_size;    /* largest packet newly acknowledged */
    bool pto_fired;           /* a probe timeout fired */
    bool asks;                /* and wants a PING, not data again */
} tltcp__feedback_result;

/* cfg: checked.  Returns 0, TLTCP_ERR_NOMEM or TLTCP_ERR_INVAL. */
int tltcp__sender_init(tltcp__sender *s, const cmn__mem *mem,
                       const tltcp_config *cfg, tltcp__counters *stats,
                       tltcp_time now);
void tltcp__sender_free(tltcp__sender *s, const cmn__mem *mem);

/* Longest delay of the peer's ACKs. */
static inline tltcp_time tltcp__sender_ack_delay(const tltcp__sender *s) {
    tltcp_time asked = s->frequency.delay_ms * TLTCP_MS;
    return asked > s->peer_ack_delay ? asked : s->peer_ack_delay;
}

/* An ACK arrived.  0, TLTCP_ERR_ACK, _PROTOCOL or _NOMEM. */
int tltcp__sender_on_ack(tltcp__sender *s, const tltcp__ack *ack,
                         tltcp_time now, tltcp__feedback_result *result);
/* Whether a number in [lo, hi) was never used. */
bool tltcp__sender_is_optimistic(const tltcp__sender *s, uint64_t lo,
                                 uint64_t hi);
/* How late an ACK comes over a slow return path; 0: in time. */
cong_time tltcp__sender_return_lag(const tltcp__sender *s,
                                   const tltcp__ack *ack, tltcp_time now);
/* An RTT without the queue on the return path, of which an ACK tells; -1: it
 * does not, or there is no RTT. */
cong_time tltcp__sender_without_return(tltcp__sender *s, const tltcp__ack *ack,
                                       cong_time rtt, tltcp_time now);
/* Shortens the RTT that the controller and the target hear by the jitter that
 * the path is known to have; newest: the packet. */
void tltcp__sender_leave_out_jitter(tltcp__sender *s, struct cong_ack *ack,
                                    tltcp__cross_sample *newest);
/* The queue on the return path, ns; little counts as none. */
cong_time tltcp__sender_return_queue(const tltcp__sender *s);
/* The path is another one, or needs no memory while it rests. */
void tltcp__sender_forget_return(tltcp__sender *s);
/* After an ACK: decides how often the peer is to acknowledge. */
void tltcp__sender_ask_for_acks(tltcp__sender *s, tltcp_time now);
/* The peer rebuilt len bytes at the wire number start from repair symbols.
 * Returns as above. */
int tltcp__sender_on_rebuilt(tltcp__sender *s, uint32_t start, uint32_t len);
/* Whether the controller needs the receiver's reports (TFRC). */
static inline bool tltcp__sender_wants_reports(const tltcp__sender *s) {
    return s->loss_events == NULL && tltcp__cc_has_feedback_timer(&s->cc);
}
/* A receiver report arrived (RFC 5348). */
void tltcp__sender_on_report(tltcp__sender *s, const tltcp__report *r,
                             tltcp_time now);
/* The path changed: discards its measurements and ignores the fates of packets
 * sent on the old path. */
void tltcp__sender_on_new_path(tltcp__sender *s, bool ecn, tltcp_time now);
/* Sets the peer's window, as stream positions. */
void tltcp__sender_on_window(tltcp__sender *s, tltcp__position window);

/* Whether data or an update may be sent, ignoring the pacer. */
bool tltcp__sender_ready(tltcp__sender *s, tltcp_time now);
/* The same without checking deadlines, for timers. */
bool tltcp__sender_would_send(const tltcp__sender *s);
/* The same as ready, including the pacer. */
bool tltcp__sender_may_send(tltcp__sender *s, tltcp_time now);
/* The transport takes no more for now. */
void tltcp__sender_on_blocked(tltcp__sender *s);
/* Fills skips, seq_update and data into a packet.  0 or TLTCP_ERR_NOMEM; sets
 * *eliciting when something was written. */
int tltcp__sender_fill(tltcp__sender *s, tltcp__sent *rec, cmn__writer *w,
                       tltcp_time now, bool *eliciting);
/* Skips the next packet number, which detects optimistic ACKs. */
void tltcp__sender_skip_number(tltcp__sender *s);
/* The packet of rec was sent. */
void tltcp__sender_on_sent(tltcp__sender *s, tltcp__sent *rec, bool eliciting,
                           tltcp_time now);

/* sender_run.c: packets with nothing but an UPDATE and len bytes of the middle
 * of one section, for which is decided once what ready() and fill() decide for
 * each packet. A packet that was just filled must precede them at the same
 * time. */
typedef struct tltcp__run {
    uint64_t section;
    uint64_t next; /* stream offset of the next packet's data */
    tltcp_time now;
    uint32_t len;  /* bytes of data in each packet */
    uint32_t size; /* of each packet */
    unsigned packets;
} tltcp__run;

/* How many packets there may be, for all but the window. */
unsigned tltcp__sender_run_begin(const tltcp__sender *s, size_t len,
                                 uint32_t size, tltcp_time now,
                                 tltcp__run *run);
/* Whether the window lets the next packet leave. */
bool tltcp__sender_run_may_go_on(const tltcp__sender *s);
/* The record of the next packet; NULL without memory. */
tltcp__sent *tltcp__sender_run_open(tltcp__sender *s, const tltcp__run *run);
/* That packet was sent. */
void tltcp__sender_run_sent(tltcp__sender *s, tltcp__run *run,
                            tltcp__sent *rec);
/* Call it after the last one. */
void tltcp__sender_run_end(tltcp__sender *s, const tltcp__run *run);

/* When the controller's next dummy (Peach) may leave; NEVER: none. */
tltcp_time tltcp__sender_dummy_at(const tltcp__sender *s);
/* A dummy was sent. */
void tltcp__sender_on_dummy(tltcp__sender *s, tltcp_time now);

/* The next time to call tltcp__sender_on_timeout(): loss and probe timers and
 * the lifetime timer. */
tltcp_time tltcp__sender_timeout(const tltcp__sender *s);
/* 0, TLTCP_ERR_NOMEM. */
int tltcp__sender_on_timeout(tltcp__sender *s, tltcp_time now,
                             tltcp__feedback_result *result);
/* Whether live data goes over a path that keeps losing packets, and not because
 * its queue is full. */
bool tltcp__sender_loses(const tltcp__sender *s);
/* The probe timeout without backoff. */
tltcp_time tltcp__sender_pto(const tltcp__sender *s);
/* Bytes in flight as the current recovery counts them. */
double tltcp__sender_flight(const tltcp__sender *s);

/* Frees state that only an active stream needs. */
void tltcp__sender_trim(tltcp__sender *s);
/* Packets come seldom: keeps in little memory what nobody needs before the
 * next. */
void tltcp__sender_rest(tltcp__sender *s);

/* sender_target.c: updates the target after each feedback; acked in bytes; rtt
 * of the newest packet, -1: none. */
void tltcp__sender_update_target(tltcp__sender *s, double acked, cong_time rtt,
                                 const tltcp__cross_sample *newest,
                                 tltcp_time now);
/* Expected time for `len` bytes written now to reach the peer, ns; 0: the path
 * is not known. */
tltcp_time tltcp__sender_delay(const tltcp__sender *s, size_t len,
                               tltcp_time now);
/* What an encoder should produce now, bit/s of sections; 0: not known yet. */
uint64_t tltcp__sender_target_bps(const tltcp__sender *s, tltcp_time now);

/* Restarts the timer for the receiver's next report (RFC 5348 section 4.4). */
void tltcp__sender_expect_report(tltcp__sender *s, tltcp_time now);
/* feedback.c: runs loss detection outside an ACK. */
int tltcp__sender_detect(tltcp__sender *s, tltcp_time now,
                         tltcp__feedback_result *result);

#endif /* LIBTLTCP_SENDER_H */

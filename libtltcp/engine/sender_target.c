/* SPDX-License-Identifier: MPL-2.0 */
/* Inputs of the target bitrate. */
#include "libtltcp/engine/sender.h"

#include <math.h>

/* A frame takes this long to be sent: its bytes are not backlog before. */
#define FRAME_TIME (40 * TLTCP_MS)
/* Longest packet with a PING alone: an idle connection keeps no target. */
#define PING_MAX 64
/* Acknowledgements overdue by less than this may still arrive. */
#define SLACK (25 * TLTCP_MS)
/* Upper limit of a delay: larger doubles do not fit a time. */
#define DELAY_MOST 9e18
/* Packets without a fate of their own, such as lone ACKs, to look past. */
#define LOOK 8

/* How long the acknowledgement of the oldest packet in flight has been
 * overdue. */
static tltcp_time target_silence(const tltcp__sender *s, tltcp_time now) {
    const tltcp__sent *oldest = tltcp__sentmap_first_in_flight(&s->map);
    tltcp_time since;
    if (oldest == NULL || s->cc.rtt.srtt < 0) {
        return 0;
    }
    since = oldest->at + (tltcp_time)s->cc.rtt.latest;
    since = since > s->acked_at ? since : s->acked_at;
    since +=
        tltcp__sender_ack_delay(s) + SLACK + (tltcp_time)s->cc.rtt.srtt / 8;
    return now > since ? now - since : 0;
}

static tltcp__target_input target_input(const tltcp__sender *s,
                                        tltcp_time now) {
    tltcp_time before = now > FRAME_TIME ? now - FRAME_TIME : 0;
    double repaired = 1 + tltcp__fec_sender_share(&s->sec.fec, now);
    return (tltcp__target_input){
        .bandwidth = tltcp__cc_estimated(&s->cc) / repaired,
        .backlog = (double)tltcp__sections_backlog(&s->sec, before),
        .flight = tltcp__sender_flight(s),
        .signals = (double)s->cc.rate.lost + s->ecn.ce,
        .min_rtt = s->cc.rtt.min_rtt,
        .srtt = s->cc.rtt.srtt,
        .silence = (cong_time)target_silence(s, now),
        .bbr = s->cc.cong->queue == CONG_QUEUE_BBR,
        .offered = tltcp__cc_offered(&s->cc) / repaired};
}

void tltcp__sender_leave_out_jitter(tltcp__sender *s, struct cong_ack *ack,
                                    tltcp__cross_sample *newest) {
    cong_time min_rtt = s->cc.rtt.min_rtt;
    cong_time most = ack->rtt > min_rtt ? ack->rtt - min_rtt : 0;
    tltcp__bandwidth *bandwidth = s->cc.bandwidth;
    cong_time delay;
    if (s->target == NULL || bandwidth == NULL || ack->rtt <= 0 ||
        !s->cc.paced) {
        return;
    }
    s->target->jitter.lossy = tltcp__target_was_signalled(s->target, ack->now);
    tltcp__jitter_on_ack(&s->target->jitter, newest, min_rtt, bandwidth->rate);
    delay = s->target->jitter.delay;
    bandwidth->jitter = delay;
    delay = delay < most ? delay : most;
    ack->rtt -= delay;
    newest->rtt = ack->rtt;
    s->cc.held += delay;
}

void tltcp__sender_update_target(tltcp__sender *s, double acked, cong_time rtt,
                                 const tltcp__cross_sample *newest,
                                 tltcp_time now) {
    tltcp__target_input in;
    if (acked <= 0) {
        return;
    }
    s->acked_at = now;
    if (s->target == NULL && acked > PING_MAX) {
        s->target = cmn__alloc(s->cc.mem, sizeof(*s->target));
        if (s->target != NULL) {
            tltcp__target_init(s->target);
        }
    }
    if (s->target != NULL) { /* without memory, the target is unknown */
        in = target_input(s, now);
        tltcp__target_on_ack(s->target, &in, acked, rtt, newest,
                             (cong_time)now);
        cong_rtt_raise_min(&s->cc.rtt, tltcp__target_longer_path(
                                           s->target, &in, (cong_time)now));
    }
}

uint64_t tltcp__sender_target_bps(const tltcp__sender *s, tltcp_time now) {
    const tltcp__target_input in = target_input(s, now);
    double rate = s->target != NULL ? tltcp__target_rate(s->target, &in) : 0;
    if (s->cc.max_rate > 0 && rate > s->cc.max_rate) {
        rate = s->cc.max_rate;
    }
    return (uint64_t)(8 * rate);
}

/* Age of the first packet in flight after the newest acknowledged one; ns. */
static double target_age(const tltcp__sender *s, tltcp_time now) {
    const tltcp__sent *rec = NULL;
    for (unsigned i = 0; i < LOOK; i++) {
        rec = tltcp__sentmap_get(&s->map, s->largest_acked + i);
        if (rec == NULL || rec->state == TLTCP__PACKET_FLYING) {
            break;
        }
    }
    return rec != NULL && now > rec->at ? (double)(now - rec->at) : 0;
}

/* The flight beyond a round trip without a queue is the queue, at the estimated
 * bandwidth. The bandwidth may have fallen since: what is sent now waits no
 * less than what was sent before it and is still on its way. */
static double target_wait(const tltcp__sender *s, double rate, tltcp_time now) {
    double back = (double)tltcp__sender_return_queue(s);
    double min_rtt = (double)s->cc.rtt.min_rtt + back;
    double queue =
        tltcp__sender_flight(s) / rate * 1e9 - min_rtt - (double)s->cc.stretch;
    return fmax(fmax(queue, 0) + (double)target_silence(s, now),
                target_age(s, now) - min_rtt);
}

/* Data waits in the sender and then in the path. */
tltcp_time tltcp__sender_delay(const tltcp__sender *s, size_t len,
                               tltcp_time now) {
    double rate = tltcp__cc_estimated(&s->cc);
    double min_rtt = (double)s->cc.rtt.min_rtt;
    double waiting =
        (double)(tltcp__sections_backlog(&s->sec, TLTCP_TIME_NEVER) +
                 tltcp__sections_missing(&s->sec) + len);
    double delay;
    if (rate <= 0 || min_rtt <= 0) {
        return 0;
    }
    delay = waiting / rate * 1e9 + target_wait(s, rate, now) + min_rtt / 2;
    return (tltcp_time)fmin(delay, DELAY_MOST);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Slow return paths: what ACKs tell of them, and how many there are to be. */
#include "libtltcp/engine/sender.h"

/* Whether the ACK tells of the return path, and their number can be changed.
 * ACKs of lone ACKs come back beside the peer's data, and are few. */
static bool tells_of_return(const tltcp__sender *s, const tltcp__ack *ack) {
    return ack->has_time && s->frequency.on && !s->reliable && s->sec.nxt > 0;
}

cong_time tltcp__sender_return_lag(const tltcp__sender *s,
                                   const tltcp__ack *ack, tltcp_time now) {
    return s->back != NULL && tells_of_return(s, ack)
               ? tltcp__return_path_lag(s->back, ack, (cong_time)now)
               : 0;
}

/* Without memory, the return path is taken for a fast one. */
static tltcp__return_path *known_return(tltcp__sender *s) {
    if (s->back == NULL) {
        s->back = cmn__alloc(s->cc.mem, sizeof(*s->back));
        if (s->back != NULL) {
            tltcp__return_path_init(s->back);
        }
    }
    return s->back;
}

cong_time tltcp__sender_without_return(tltcp__sender *s, const tltcp__ack *ack,
                                       cong_time rtt, tltcp_time now) {
    cong_time min_rtt = s->cc.rtt.min_rtt;
    if (!tells_of_return(s, ack) || known_return(s) == NULL) {
        return -1;
    }
    tltcp__return_path_on_ack(s->back, ack, rtt, min_rtt, (cong_time)now);
    return rtt > 0 ? tltcp__return_path_without(s->back, rtt, min_rtt) : -1;
}

cong_time tltcp__sender_return_queue(const tltcp__sender *s) {
    return s->back != NULL ? tltcp__return_path_queue(s->back) : 0;
}

void tltcp__sender_forget_return(tltcp__sender *s) {
    cmn__free(s->cc.mem, s->back);
    s->back = NULL;
}

/* How long the peer delays ACKs because it was asked to. */
static cong_time requested_delay(const tltcp__sender *s, cong_time interval) {
    const tltcp__ack_frequency *f = &s->frequency;
    bool fewer = interval > 0 || (s->cc.slack && f->every > f->base);
    return f->on && fewer ? (cong_time)(f->delay_ms * TLTCP_MS) : 0;
}

void tltcp__sender_ask_for_acks(tltcp__sender *s, tltcp_time now) {
    cong_time interval = s->back != NULL ? s->back->interval : 0;
    tltcp__ack_frequency_update(&s->frequency, &s->cc, interval, now);
    s->cc.stretch = requested_delay(s, interval);
}

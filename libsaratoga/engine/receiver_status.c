/* SPDX-License-Identifier: MPL-2.0 */
/* A receiver's STATUS: when it is due, and its hole list. */
#include "libsaratoga/engine/session.h"

static uint64_t progress(const saratoga__session *s) {
    cmn__range r;
    if (s->kind == SARATOGA_STREAM && s->opt.unreliable) {
        return s->in.highest;
    }
    return cmn__ranges_next(&s->in.got, 0, &r) && r.start == 0 ? r.end : 0;
}

static bool is_verifying(const saratoga__session *s) {
    return s->in.whole && !s->in.complete &&
           (saratoga__receiver_has_checksum(s) || s->in.unverifiable);
}

static size_t status_head_len(const saratoga__session *s) {
    return 8 + SARATOGA__TIMESTAMP_LEN + 2 * saratoga__width(s->descriptor);
}

/* An unproven peer must have sent enough for a STATUS and two holes. */
static bool may_afford_status(const saratoga__session *s) {
    return saratoga__proof_room(s) >=
           status_head_len(s) + 4 * saratoga__width(s->descriptor);
}

bool saratoga__receiver_wants_status(const saratoga__session *s,
                                     saratoga_time now) {
    const saratoga__receiver *in = &s->in;
    if (s->opt.no_status || (!s->initiator && s->send_reply) ||
        now < in->hold_until || !may_afford_status(s)) {
        return false;
    }
    if (is_verifying(s) && now < in->patient_until) {
        return false; /* the completed STATUS will follow soon */
    }
    return in->group.due || in->asked.due || in->volunteer;
}

/* ---- a list of holes, in one packet or several ---- */

static size_t hole_room(const saratoga__session *s, size_t cap) {
    const saratoga_config *c = &s->ctx->cfg;
    size_t width = saratoga__width(s->descriptor);
    size_t most = c->mtu - s->overhead;
    size_t room = (cap < most ? cap : most) - 8 - 2 * width;
    room -= s->in.group.has_timestamp ? SARATOGA__TIMESTAMP_LEN : 0;
    return room / (2 * width);
}

/* The first hole at or after `from` below `end`. */
static bool next_hole(const saratoga__session *s, uint64_t from, uint64_t end,
                      cmn__range *hole) {
    cmn__range r;
    while (from < end && cmn__ranges_next(&s->in.got, from, &r) &&
           r.start <= from) {
        from = r.end;
    }
    if (from >= end) {
        return false;
    }
    *hole = (cmn__range){from, end};
    if (cmn__ranges_next(&s->in.got, from, &r) && r.start < end) {
        hole->end = r.start;
    }
    return true;
}

/* Holes on either side of a wrapped offset go in packets of their own. */
static uint64_t wrap_limit(const saratoga__session *s, uint64_t from,
                           uint64_t end) {
    uint64_t top = saratoga__highest(s->descriptor);
    uint64_t wrap;
    if (s->kind != SARATOGA_STREAM || top == UINT64_MAX) {
        return end;
    }
    wrap = (from | top) + 1;
    return wrap < end ? wrap : end;
}

static void write_hole(saratoga__session *s, cmn__writer *w, uint64_t start,
                       uint64_t end) {
    saratoga__put_offset(w, s->descriptor, start);
    saratoga__put_offset(w, s->descriptor,
                         s->opt.half_open_holes ? end : end - 1);
}

/* Writes holes until the packet is full; true: the list continues. One look-up
 * per hole: each hole ends where received data begins. */
static bool write_holes(saratoga__session *s, cmn__writer *w, size_t room) {
    saratoga__receiver *in = &s->in;
    uint64_t limit = wrap_limit(s, in->group_at, in->group.irt);
    uint64_t at = in->group_at;
    cmn__ranges_hint hint = {0, 0};
    cmn__range r;
    if (cmn__ranges_near(&in->got, &hint, at, &r) && r.start <= at) {
        at = r.end;
    }
    for (; room > 0 && at < limit; room--) {
        uint64_t end = limit;
        uint64_t after = limit;
        s->st.holes_reported++;
        if (cmn__ranges_near(&in->got, &hint, at, &r) && r.start < limit) {
            end = r.start;
            after = r.end;
        }
        write_hole(s, w, at, end);
        at = after;
    }
    in->group_at = at;
    return next_hole(s, at, in->group.irt, &r);
}

static uint32_t packets_allowed(const saratoga__session *s) {
    const saratoga_config *c = &s->ctx->cfg;
    double share = (double)c->uplink_bps * c->status_share / 8;
    double fit = share / c->mtu; /* packets per second */
    if (c->uplink_bps == 0 || fit > c->status_packets) {
        return c->status_packets;
    }
    return fit > 1 ? (uint32_t)fit : 1;
}

/* Chooses what to answer and freezes it for all packets of the answer. */
static void receiver_status_begin(saratoga__session *s) {
    saratoga__receiver *in = &s->in;
    /* An answer ends at the offset of its request, so the rest is sent first.
     */
    in->group_voluntary = !in->asked.due || in->resume_untold;
    in->group = in->group_voluntary ? in->highest_echo : in->asked;
    if (in->group_voluntary) {
        in->group.irt = in->highest;
    }
    in->group.due = true;
    in->group_at = progress(s);
    in->group_progress =
        in->group_at < in->group.irt ? in->group_at : in->group.irt;
    in->group_left = packets_allowed(s);
    if (in->group_voluntary && in->spacing > 0 && !s->opt.multicast) {
        in->group_left = 1; /* a requesting sender will ask for the rest */
    }
    in->asked.due = in->asked.due && in->group_voluntary;
    in->resume_untold = false;
    in->volunteer = false;
}

static void end(saratoga__session *s, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    saratoga_time t = 2 * in->spacing;
    in->group.due = false;
    t = t > s->opt.quiet_status ? t : s->opt.quiet_status;
    if (in->quiet_rounds == 0) {
        in->quiet_at = saratoga__later(now, t);
    }
}

/* The completed STATUS; on it, the sender of a take or give deletes its
 * copy. */
static size_t write_completed(saratoga__session *s, uint8_t *buf, size_t cap,
                              saratoga_time now) {
    cmn__writer w = cmn__writer_of(buf, cap);
    const saratoga__answer_due *last = &s->in.highest_echo;
    /* The echo tells the end of an empty file from its acceptance, and binds
     * the signature to this transfer. */
    bool echoes = s->in.size == 0 || saratoga__end_is_signed(s);
    const uint8_t *echo =
        echoes && last->has_timestamp ? last->timestamp : NULL;
    saratoga__status_pkt p = {.descriptor = s->descriptor,
                              .voluntary = true,
                              .id = s->id,
                              .timestamp = echo,
                              .progress = {0, s->in.size},
                              .irt = {0, s->in.size}};
    saratoga__status_write_head(&w, &p);
    if (saratoga__end_is_signed(s)) {
        saratoga__sign(s->ctx, &w, buf, (size_t)(w.p - buf), now);
    }
    s->in.volunteer = false;
    s->in.asked.due = false;
    s->in.group.due = false;
    return w.bad ? 0 : (size_t)(w.p - buf);
}

/* Reports only the last octet as missing. The sender repeats it and asks: if
 * each request were answered, both would go on at the pace of the round trip.
 */
static void write_patience(saratoga__session *s, cmn__writer *w,
                           saratoga__status_pkt *p, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    uint64_t last = in->size > 0 ? in->size - 1 : 0;
    in->patient_until = saratoga__later(now, in->patience);
    in->patience =
        saratoga__sooner(2 * in->patience, SARATOGA__VERIFY_PATIENCE_MAX);
    p->progress.lo = last;
    p->irt.lo = s->in.size;
    saratoga__status_write_head(w, p);
    saratoga__put_offset(w, s->descriptor, last);
    saratoga__put_offset(w, s->descriptor,
                         s->opt.half_open_holes ? last + 1 : last);
}

static size_t write_list(saratoga__session *s, uint8_t *buf, size_t cap,
                         saratoga_time now) {
    saratoga__receiver *in = &s->in;
    cmn__writer w = cmn__writer_of(buf, cap);
    bool first = !in->group.due;
    bool more;
    saratoga__status_pkt p;
    if (first) {
        receiver_status_begin(s);
    }
    p = (saratoga__status_pkt){
        .descriptor = s->descriptor,
        .no_metadata = !saratoga__receiver_has_checksum(s),
        .voluntary = in->group_voluntary,
        .id = s->id,
        .timestamp = in->group.has_timestamp ? in->group.timestamp : NULL,
        .progress = {0, in->group_progress},
        .irt = {0, in->group.irt},
    };
    if (is_verifying(s)) {
        write_patience(s, &w, &p, now);
        more = false;
    } else {
        cmn__writer head = w;
        saratoga__status_write_head(&w, &p);
        more = write_holes(s, &w, hole_room(s, cap));
        p.incomplete = more || !first;
        saratoga__status_write_head(&head, &p);
    }
    in->group_left--;
    if (!more || in->group_left == 0) {
        end(s, now);
    }
    return w.bad ? 0 : (size_t)(w.p - buf);
}

size_t saratoga__receiver_write_status(saratoga__session *s, uint8_t *buf,
                                       size_t cap, saratoga_time now) {
    size_t n = s->in.complete ? write_completed(s, buf, cap, now)
                              : write_list(s, buf, cap, now);
    s->st.status_packets++;
    s->st.status_bytes += n;
    saratoga__context_uplink_used(s->ctx, n + s->overhead, now);
    return n;
}

void saratoga__receiver_on_other(saratoga__session *s,
                                 const saratoga__status_pkt *p) {
    saratoga__receiver *in = &s->in;
    uint64_t at = progress(s);
    uint64_t end = p->irt.lo < in->highest ? p->irt.lo : in->highest;
    cmn__range mine;
    bool covered = end > at; /* later data waits for the next report */
    while (covered && next_hole(s, at, end, &mine)) {
        covered = false;
        for (size_t k = 0; k < p->hole_count && !covered; k++) {
            saratoga__wide from;
            saratoga__wide to;
            saratoga__status_hole(p, k, &from, &to);
            covered = from.lo <= mine.start && to.lo + 1 >= mine.end;
        }
        at = mine.end;
    }
    if (covered) { /* other members have reported all holes of this one */
        in->volunteer = false;
    }
}

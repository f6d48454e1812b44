/* SPDX-License-Identifier: MPL-2.0 */
/* The application's side of a connection. */
#include "internal/common/sized.h"
#include "libtltcp/engine/conn.h"

#define FATES_KEEP 256u /* a larger buffer is freed once all are taken */

static bool is_over(const tltcp_conn *c) {
    return c->state >= TLTCP__CONN_CLOSING;
}

/* Whether a section is not empty and its length fits a size_t. */
static bool parts_are_good(const tltcp_section *s) {
    size_t len = 0;
    for (size_t i = 0; s->data != NULL && i < s->count; i++) {
        const struct iovec *part = &s->data[i];
        if ((part->iov_base == NULL && part->iov_len > 0) ||
            part->iov_len > SIZE_MAX - len) {
            return false;
        }
        len += part->iov_len;
    }
    return len > 0;
}

static int check_write(const tltcp_conn *c, const tltcp_section *sections,
                       size_t count) {
    if (is_over(c)) {
        return TLTCP_ERR_CLOSED;
    }
    if (c->finished) {
        return TLTCP_ERR_STATE;
    }
    if (count == 0 || sections == NULL) {
        return TLTCP_ERR_INVAL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct tltcp_meta *m = &sections[i].meta;
        if (!parts_are_good(&sections[i]) || m->section_class > TL_CLASS_LAST ||
            m->stream >= TL_STREAMS_MAX || m->reserved != 0) {
            return TLTCP_ERR_INVAL;
        }
    }
    return 0;
}

int tltcp_conn_write(tltcp_conn *c, const tltcp_section *sections, size_t count,
                     tltcp_time now) {
    int rv = check_write(c, sections, count);
    int taken = 0;
    tltcp__conn_tick(c, now);
    while (rv == 0 && (size_t)taken < count) {
        rv = tltcp__sections_write(&c->sender.sec, &sections[taken], now);
        taken += rv == 0;
    }
    if (taken > 0 && tltcp__sections_expire(&c->sender.sec, now) != 0) {
        tltcp__conn_fail(c, TLTCP_ERR_NOMEM, "out of memory");
    }
    tltcp__conn_check_rate(c, now);
    return taken > 0 ? taken : rv;
}

bool tltcp_conn_would_arrive(const tltcp_conn *c, size_t len,
                             tltcp_time deadline, tltcp_time now) {
    tltcp_time delay = tltcp__sender_delay(&c->sender, len, now);
    return deadline == TLTCP_TIME_NEVER ||
           (deadline > now && delay <= deadline - now);
}

size_t tltcp_conn_writable(const tltcp_conn *c) {
    return is_over(c) || c->finished ? 0 : tltcp__sections_room(&c->sender.sec);
}

int64_t tltcp_conn_read(tltcp_conn *c, tltcp_buf *bufs,
                        struct tltcp_segment *segments, size_t *count,
                        tltcp_time now) {
    return tltcp_conn_read_meta(c, bufs, segments, NULL, count, now);
}

int64_t tltcp_conn_read_meta(tltcp_conn *c, tltcp_buf *bufs,
                             struct tltcp_segment *segments,
                             struct tltcp_meta *metas, size_t *count,
                             tltcp_time now) {
    struct tltcp_meta unwanted;
    size_t wanted = *count;
    int64_t total = 0;
    int64_t n = 1;
    size_t i = 0;
    tltcp__conn_tick(c, now);
    *count = 0;
    if (wanted == 0 || bufs[0].len == 0) {
        return TLTCP_ERR_INVAL;
    }
    while (i < wanted && bufs[i].len > 0 &&
           (n = tltcp__reasm_read(&c->reasm, &bufs[i], &segments[i],
                                  metas != NULL ? &metas[i] : &unwanted)) > 0) {
        total += n;
        i++;
    }
    *count = i;
    tltcp__conn_charge(c);
    if (c->state == TLTCP__CONN_OPEN && tltcp__reasm_window_due(&c->reasm)) {
        c->want |= TLTCP__WANT_WINDOW;
    }
    if (i > 0) {
        return total;
    }
    if (n == TLTCP_ERR_AGAIN && c->close.known) {
        return c->close.error != 0 ? c->close.error : TLTCP_ERR_ABORTED;
    }
    return n;
}

bool tltcp_conn_readable(const tltcp_conn *c) {
    return c->close.known || tltcp__reasm_readable(&c->reasm);
}

bool tltcp_conn_section_ready(const tltcp_conn *c) {
    return c->close.known || tltcp__reasm_section_ready(&c->reasm);
}

void tltcp_conn_finish(tltcp_conn *c, tltcp_time now) {
    tltcp__conn_tick(c, now);
    if (!c->finished) {
        c->finished = true;
        if (c->state == TLTCP__CONN_OPEN) {
            c->want |= TLTCP__WANT_FIN;
        }
    }
}

void tltcp_conn_close(tltcp_conn *c, tltcp_time linger, tltcp_time now) {
    tltcp_conn_finish(c, now);
    c->close.requested = true;
    c->close.linger_until = linger;
    if (c->state == TLTCP__CONN_CALLED) {
        (void)tltcp_conn_refuse(c, NULL, now);
    }
    tltcp__conn_check_closing(c, now);
}

void tltcp_conn_abort(tltcp_conn *c, int error, const char *reason,
                      tltcp_time now) {
    tltcp__conn_tick(c, now);
    if (c->state != TLTCP__CONN_CLOSING || !c->close.known) {
        tltcp__conn_fail(c, error < 0 ? error : TLTCP_ERR_ABORTED, reason);
    }
}

bool tltcp_conn_is_closed(const tltcp_conn *c) {
    return c->state == TLTCP__CONN_CLOSED;
}

int tltcp_conn_accept(tltcp_conn *c, tltcp_time now) {
    if (c->state != TLTCP__CONN_CALLED) {
        return TLTCP_ERR_STATE;
    }
    tltcp__conn_tick(c, now);
    tltcp__conn_enter(c, TLTCP__CONN_ANSWERED);
    c->want |= TLTCP__WANT_HELLO;
    return 0;
}

int tltcp_conn_refuse(tltcp_conn *c, const char *reason, tltcp_time now) {
    if (c->state != TLTCP__CONN_CALLED) {
        return TLTCP_ERR_STATE;
    }
    tltcp__conn_tick(c, now);
    tltcp__conn_fail(c, TLTCP_ERR_REFUSED,
                     reason != NULL ? reason : "the listener refused");
    return 0;
}

int tltcp_conn_rekey(tltcp_conn *c) {
    if (c->seal == NULL || c->state != TLTCP__CONN_OPEN) {
        return TLTCP_ERR_STATE;
    }
    sec__seal_renew(c->seal);
    c->want |= TLTCP__WANT_PING; /* announces the new key phase at once */
    return 0;
}

static void take_fate(tltcp_conn *c, tltcp_event *ev) {
    const tltcp__fate_record *t =
        cmn__ring_at(&c->events.fates, c->events.fates.head);
    ev->fate = (uint32_t)t->fate;
    ev->section = t->section;
    ev->tag = t->tag;
    ev->bytes = t->bytes;
    ev->acked = t->acked;
    ev->written = t->written;
    ev->deadline = t->deadline;
    ev->now = t->now;
    ev->cause = t->cause;
    ev->section_class = t->cls;
    ev->stream = t->stream;
    cmn__ring_pop(&c->events.fates);
    if (c->events.fates.cap > FATES_KEEP) {
        cmn__ring_trim(&c->events.fates);
    }
}

static uint32_t next_type(const tltcp_conn *c, bool fates) {
    if (!c->events.connected_given && c->state >= TLTCP__CONN_OPEN &&
        !c->sender.hold) {
        return TLTCP_EVENT_CONNECTED;
    }
    if (fates && cmn__ring_len(&c->events.fates) > 0) {
        return TLTCP_EVENT_FATE;
    }
    if (c->events.path_due) {
        return TLTCP_EVENT_PATH;
    }
    if (c->events.rate_due) {
        return TLTCP_EVENT_RATE;
    }
    return c->close.known && !c->events.closed_given ? TLTCP_EVENT_CLOSED
                                                     : TLTCP_EVENT_NONE;
}

static int take_event(tltcp_conn *c, bool fates, tltcp_event *ev) {
    uint32_t type = next_type(c, fates);
    /* A frequent call, and the struct is large to clear. */
    if (type == TLTCP_EVENT_NONE) {
        ev->type = type;
        return 0;
    }
    *ev = (tltcp_event){.type = type, .now = c->now};
    if (type == TLTCP_EVENT_CONNECTED) {
        c->events.connected_given = true;
    } else if (type == TLTCP_EVENT_FATE) {
        take_fate(c, ev);
    } else if (type == TLTCP_EVENT_PATH) {
        c->events.path_due = false;
    } else if (type == TLTCP_EVENT_RATE) {
        c->events.rate_due = false;
        ev->estimated_bps = c->events.rate;
        ev->target_bps = c->events.target;
    } else {
        c->events.closed_given = true;
        ev->error = c->close.error;
        ev->code = c->close.code;
        memcpy(ev->reason, tltcp__conn_reason(c),
               strlen(tltcp__conn_reason(c)) + 1);
    }
    return 1;
}

int tltcp_conn_next_event(tltcp_conn *c, tltcp_event *ev) {
    return take_event(c, true, ev);
}

int tltcp_conn_next_signal(tltcp_conn *c, tltcp_event *ev) {
    return take_event(c, false, ev);
}

size_t tltcp_conn_fates(const tltcp_conn *c) {
    return cmn__ring_len(&c->events.fates);
}

int tltcp_conn_get_stats(const tltcp_conn *c, tltcp_stats *st, tltcp_time now) {
    static const char *const recovery[] = {"dupack-tahoe", "dupack-reno",
                                           "dupack-newreno", "dupack-sack"};
    tltcp_stats s;
    const char *name = c->sender.dup == NULL
                           ? "packet"
                           : recovery[c->sender.dup->recovery.kind];
    if (!cmn__sized_is_set(st)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_stats_init(&s);
    tltcp__counters_get(&c->stats, &s);
    s.since = c->since;
    tltcp__cc_get_stats(&c->sender.cc, &s);
    s.bytes_queued = s.bytes_offered - s.bytes_delivered - s.bytes_expired;
    s.bytes_in_flight = (uint64_t)tltcp__sender_flight(&c->sender);
    s.target_bps = tltcp__sender_target_bps(&c->sender, now);
    s.delivery_delay_ns = tltcp__sender_delay(&c->sender, 0, now);
    s.bytes_unread = s.bytes_received - s.bytes_read;
    s.rto_ns = c->sender.dup == NULL
                   ? tltcp__sender_pto(&c->sender)
                   : (uint64_t)cong_rtt_rto(&c->sender.cc.rtt);
    s.datagram_bytes = c->mtu.current;
    s.loss_rate = s.packets_sent > 0
                      ? (double)s.packets_lost / (double)s.packets_sent
                      : 0;
    s.now = now;
    memcpy(s.transport, c->sender.reliable ? "tcp" : "udp", 4);
    memcpy(s.recovery, name, strlen(name) + 1);
    cmn__sized_give(st, &s, sizeof(s));
    return 0;
}

uint64_t tltcp_conn_path(const tltcp_conn *c) {
    return c->paths.current;
}

const char *tltcp_conn_stream_id(const tltcp_conn *c) {
    return c->stream_id != NULL ? c->stream_id : "";
}

unsigned tltcp_conn_secret(const tltcp_conn *c) {
    const sec__hello *hello = c->handshake.hello;
    return c->ep != NULL && hello != NULL ? hello->key : 0;
}

const uint8_t *tltcp_conn_identity(const tltcp_conn *c) {
    return c->identity;
}

uint64_t tltcp_conn_id(const tltcp_conn *c) {
    return c->own.id;
}

void tltcp_conn_set_user(tltcp_conn *c, void *user) {
    c->user = user;
}

void *tltcp_conn_user(const tltcp_conn *c) {
    return c->user;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Sends sections on one connection and reports their fates. */
#include <stdlib.h>
#include <string.h>

#include "internal/media/stream/chain.h"
#include "internal/media/stream/drop.h"
#include "internal/media/stream/gate.h"
#include "libtltcp/live/fates.h"

#define QUEUE_BYTES ((size_t)64 << 20)
/* Delay before a retry when the connection has no room. */
#define RETRY_NS (5 * TLTCP_MS)
/* Weight of a new sample in the smoothed delivery time: 1 / 16. */
#define DELIVERY_WEIGHT 16
/* Limit that prevents overflow. */
#define LATENESS_MAX (86400 * TLTCP_S)

struct live_queued {
    struct live_queued *next;
    tltcp_live_section *section;
};

struct tltcp_live_sender {
    tltcp_socket *socket; /* NULL: closed by this end */
    size_t queue_bytes;
    size_t queue_sections;
    bool report_frames;
    tltcp_live_on_event on_event;
    void *user;
    struct live_queued *first; /* sections that wait for room */
    struct live_queued *last;
    size_t waiting;
    size_t waiting_bytes;
    bool blocked; /* the connection has no room */
    bool closed;
    bool key_wanted; /* not reported yet */
    media_chain chain[TL_STREAMS_MAX];
    /* The engine decides what is dropped with a lost frame, since it alone
     * knows what arrived; the chain only gives it the references. A gate covers
     * frames that the engine never gets: those before a new connection's first
     * key frame, and those that found the queue full. Their dependents must not
     * fill the queue, or there would be no room for the next key frame. */
    media_gate gate[TL_STREAMS_MAX];
    struct live_fates fates;
    int64_t delivery;
    uint64_t estimated_bps;
    uint64_t target_bps;
};

tltcp_live_sender *tltcp_live_sender_new(tltcp_socket *socket,
                                         const tltcp_live_settings *settings,
                                         tltcp_live_on_event on_event,
                                         void *user) {
    tltcp_live_sender *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        (void)tltcp_close(socket, 0);
        return NULL;
    }
    s->socket = socket;
    s->queue_bytes = settings ? settings->queue_bytes : QUEUE_BYTES;
    s->queue_sections = settings ? settings->queue_sections : 0;
    s->report_frames = settings && settings->report_frames;
    s->on_event = on_event;
    s->user = user;
    tltcp_live_stats_init(&s->fates.stats);
    return s;
}

static media_chain *live_chain_of(tltcp_live_sender *s, unsigned stream) {
    return &s->chain[stream % TL_STREAMS_MAX];
}

/* ---- Events ---- */

static void live_report(tltcp_live_sender *s, tltcp_live_event *ev,
                        tltcp_time now) {
    ev->struct_size = sizeof(*ev);
    ev->now = now;
    if (s->on_event) {
        s->on_event(s->user, ev);
    }
}

static void live_report_frame(tltcp_live_sender *s,
                              const struct live_sent *sent, uint32_t fate,
                              unsigned cause, tltcp_time now) {
    bool lost = fate != TLTCP_FATE_DELIVERED && fate != TLTCP_FATE_ABANDONED;
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_FRAME,
                           .stream = sent->stream,
                           .frame_class = sent->frame_class,
                           .cause = cause,
                           .fate = fate,
                           .tag = sent->tag,
                           .number = sent->number,
                           .picture = sent->picture,
                           .bytes = sent->length,
                           .pts = sent->pts,
                           .dts = sent->dts,
                           .written = sent->written,
                           .deadline = sent->deadline == MEDIA_NEVER
                                           ? TLTCP_TIME_NEVER
                                           : (tltcp_time)sent->deadline};
    if (s->report_frames && sent->is_frame) {
        ev.frame_class = sent->wire_class;
        live_report(s, &ev, now);
        ev.frame_class = sent->frame_class;
    }
    if (lost) {
        ev.type = TLTCP_LIVE_EVENT_DROP;
        live_report(s, &ev, now);
    }
}

/* Several losses cause one request. */
static void live_report_key_wanted(tltcp_live_sender *s) {
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_KEY_WANTED};
    if (s->key_wanted) {
        s->key_wanted = false;
        s->fates.stats.keys_wanted++;
        live_report(s, &ev, tltcp_now());
    }
}

static void live_give_up(tltcp_live_sender *s,
                         const tltcp_live_section *section, unsigned cause) {
    struct live_sent sent = tltcp__live_sent_of(section);
    tltcp__live_fates_drop(&s->fates, &sent, cause);
    live_report_frame(s, &sent, 0, cause, tltcp_now());
}

/* ---- The queue ---- */

static bool live_enqueue(tltcp_live_sender *s, tltcp_live_section *section,
                         bool ahead) {
    struct live_queued *q = malloc(sizeof(*q));
    if (q == NULL) {
        return false;
    }
    q->section = tltcp_live_section_ref(section);
    q->next = ahead ? s->first : NULL;
    if (s->first == NULL) {
        s->first = s->last = q;
    } else if (ahead) {
        s->first = q;
    } else {
        s->last->next = q;
        s->last = q;
    }
    s->waiting++;
    s->waiting_bytes += section->len;
    return true;
}

static void live_dequeue(tltcp_live_sender *s) {
    struct live_queued *q = s->first;
    s->first = q->next;
    s->last = s->first ? s->last : NULL;
    s->waiting--;
    s->waiting_bytes -= q->section->len;
    tltcp_live_section_unref(q->section);
    free(q);
}

bool tltcp_live_sender_has_room(const tltcp_live_sender *s, size_t bytes) {
    bool few = s->queue_sections == 0 || s->waiting < s->queue_sections;
    return s->first == NULL ||
           (bytes > 0 && few && s->waiting_bytes + bytes <= s->queue_bytes);
}

void tltcp_live_sender_join(tltcp_live_sender *s) {
    int64_t now = (int64_t)tltcp_now();
    for (size_t i = 0; i < TL_STREAMS_MAX; i++) {
        media__gate_join(&s->gate[i], now);
    }
}

int tltcp_live_sender_push(tltcp_live_sender *s, tltcp_live_section *section) {
    media_gate *gate = &s->gate[section->timed.stream % TL_STREAMS_MAX];
    bool waits = gate->wait_until != 0;
    bool taken = media__gate_takes(gate, &section->timed);
    if (waits && section->begin) {
        section = section->begin;
    }
    if (!taken) {
        live_give_up(s, section, MEDIA_DROP_DEPENDS);
        return 0;
    }
    if (section->is_frame && !tltcp_live_sender_has_room(s, section->len)) {
        media__gate_leave_out(gate, &section->timed);
        live_give_up(s, section, MEDIA_DROP_OVERFLOW);
        s->key_wanted = s->key_wanted || gate->wait_until != 0;
        return 0;
    }
    return live_enqueue(s, section, false) ? 1 : TLTCP_ERR_NOMEM;
}

/* ---- Fates ---- */

/* It precedes the queued sections: it is already late. */
static void live_send_clock(tltcp_live_sender *s, const struct live_sent *sent,
                            uint32_t fate) {
    bool lost = fate != TLTCP_FATE_DELIVERED && fate != TLTCP_FATE_ABANDONED;
    if (sent->clock && lost) {
        (void)live_enqueue(s, sent->clock, true);
    }
    tltcp_live_section_unref(sent->clock);
}

static void live_on_fate(tltcp_live_sender *s, const tltcp_event *ev) {
    bool unsent = ev->fate == TLTCP_FATE_UNSENT;
    unsigned cause = unsent || ev->cause ? (unsigned)media__drop_reason(ev)
                                         : MEDIA_DROP_NONE;
    int64_t took = (int64_t)(ev->now - ev->written);
    struct live_sent sent;
    if (tltcp__live_fates_is_stub(&s->fates, ev->section)) {
        cause = MEDIA_DROP_OVERFLOW;
    }
    if (!tltcp__live_fates_settle(&s->fates, ev->section, ev->fate, cause,
                                  &sent)) {
        return;
    }
    live_report_frame(s, &sent, ev->fate, cause, ev->now);
    if (ev->fate == TLTCP_FATE_DELIVERED) {
        s->delivery +=
            s->delivery ? (took - s->delivery) / DELIVERY_WEIGHT : took;
    } else if (ev->fate != TLTCP_FATE_ABANDONED &&
               media__chain_misses(live_chain_of(s, sent.stream),
                                   sent.sent_class, ev->section)) {
        s->key_wanted = true;
    }
    live_send_clock(s, &sent, ev->fate);
}

static void live_abandon(tltcp_live_sender *s, tltcp_time now) {
    struct live_sent sent;
    for (uint64_t n = s->fates.first; n < s->fates.next; n++) {
        if (tltcp__live_fates_settle(&s->fates, n, TLTCP_FATE_ABANDONED,
                                     MEDIA_DROP_NONE, &sent)) {
            live_report_frame(s, &sent, TLTCP_FATE_ABANDONED, MEDIA_DROP_NONE,
                              now);
            tltcp_live_section_unref(sent.clock);
        }
    }
}

static void live_on_closed(tltcp_live_sender *s, const tltcp_event *ev) {
    tltcp_live_event reported = {.type = TLTCP_LIVE_EVENT_DISCONNECTED,
                                 .error = ev->error,
                                 .was_open = true};
    memcpy(reported.reason, ev->reason, sizeof(reported.reason));
    s->closed = true;
    live_abandon(s, ev->now);
    live_report(s, &reported, ev->now);
}

static void live_on_rate(tltcp_live_sender *s, const tltcp_event *ev) {
    tltcp_live_event reported = {.type = TLTCP_LIVE_EVENT_RATE,
                                 .estimated_bps = ev->estimated_bps,
                                 .target_bps = ev->target_bps};
    if (ev->estimated_bps != s->estimated_bps ||
        ev->target_bps != s->target_bps) {
        s->estimated_bps = ev->estimated_bps;
        s->target_bps = ev->target_bps;
        live_report(s, &reported, ev->now);
    }
}

static void live_take_events(tltcp_live_sender *s) {
    tltcp_event ev;
    while (!s->closed && tltcp_next_event(s->socket, &ev, 0) == 1) {
        switch (ev.type) {
        case TLTCP_EVENT_FATE:
            live_on_fate(s, &ev);
            break;
        case TLTCP_EVENT_RATE:
            live_on_rate(s, &ev);
            break;
        case TLTCP_EVENT_CLOSED:
            live_on_closed(s, &ev);
            break;
        default:
            break;
        }
    }
}

/* ---- Into the connection ---- */

/* A time before the clock's start becomes the earliest time; 0 would mean a
 * default. */
static tltcp_time live_engine_time(int64_t t) {
    if (t == MEDIA_NEVER) {
        return TLTCP_TIME_NEVER;
    }
    return t > 1 ? (tltcp_time)t : 1;
}

static ssize_t live_send(tltcp_live_sender *s, tltcp_live_section *from,
                         const struct tltcp_meta *meta) {
    struct iovec part = {from->data, from->len};
    tltcp_section section = {.data = &part,
                             .count = 1,
                             .deadline = live_engine_time(from->timed.deadline),
                             .meta = *meta};
    return tltcp_send(s->socket, &section, 1, MSG_DONTWAIT);
}

/* One obsolete byte represents a frame that is too big, so that the engine
 * drops its dependents. */
static ssize_t live_send_stub(tltcp_live_sender *s, tltcp_live_section *from,
                              const struct tltcp_meta *meta) {
    struct iovec part = {from->data, 1};
    tltcp_section section = {
        .data = &part, .count = 1, .deadline = 1, .meta = *meta};
    return tltcp_send(s->socket, &section, 1, MSG_DONTWAIT);
}

static void live_note_sent(tltcp_live_sender *s, tltcp_live_section *section,
                           bool is_stub) {
    struct live_sent sent = tltcp__live_sent_of(section);
    sent.written = tltcp_now();
    sent.is_stub = is_stub;
    if (sent.clock) {
        (void)tltcp_live_section_ref(sent.clock);
    }
    (void)tltcp__live_fates_add(&s->fates, &sent); /* there is room */
}

/* Returns 0: sent or given up; TLTCP_ERR_AGAIN: no room or memory; other
 * errors: the connection ended. */
static int live_give(tltcp_live_sender *s, tltcp_live_section *section) {
    const media_timed_frame *timed = &section->timed;
    unsigned stream = timed->stream % TL_STREAMS_MAX;
    media_chain before = s->chain[stream];
    struct tltcp_meta meta = {.section_class =
                                  media__chain_class(&timed->frame),
                              .stream = stream,
                              .tag = timed->tag};
    ssize_t n;
    bool is_stub;
    if (!tltcp__live_fates_reserve(&s->fates)) {
        return TLTCP_ERR_AGAIN;
    }
    meta.depends = media__chain_add(&s->chain[stream], timed, s->fates.next);
    meta.due = timed->due == MEDIA_NEVER ? 0 : live_engine_time(timed->due);
    n = live_send(s, section, &meta);
    is_stub = n == TLTCP_ERR_TOO_BIG;
    if (is_stub) {
        n = live_send_stub(s, section, &meta);
    }
    if (n >= 0) {
        live_note_sent(s, section, is_stub);
        return 0;
    }
    s->chain[stream] = before; /* it was not written */
    if (n == TLTCP_ERR_CLOSED || n == TLTCP_ERR_STATE) {
        return (int)n;
    }
    if (n != TLTCP_ERR_INVAL) {
        return TLTCP_ERR_AGAIN; /* also out of memory */
    }
    live_give_up(s, section, MEDIA_DROP_OVERFLOW); /* the section is empty */
    return 0;
}

tltcp_time tltcp_live_sender_run(tltcp_live_sender *s) {
    int rc = 0;
    if (s->socket == NULL) {
        return TLTCP_TIME_NEVER;
    }
    live_take_events(s);
    live_report_key_wanted(s);
    while (s->first && !s->closed && rc == 0) {
        rc = live_give(s, s->first->section);
        if (rc == 0) {
            live_dequeue(s);
        }
    }
    s->blocked = rc == TLTCP_ERR_AGAIN;
    return s->blocked ? tltcp_now() + RETRY_NS : TLTCP_TIME_NEVER;
}

/* ---- Queries ---- */

int tltcp_live_sender_fds(const tltcp_live_sender *s, int *fds) {
    int n = 0;
    if (s->socket && !s->closed) {
        fds[n++] = tltcp_event_fd(s->socket);
        if (s->blocked) {
            fds[n++] = tltcp_writable_fd(s->socket);
        }
    }
    return n;
}

tltcp_socket *tltcp_live_sender_socket(const tltcp_live_sender *s) {
    return s->socket;
}

bool tltcp_live_sender_is_closed(const tltcp_live_sender *s) {
    return s->closed;
}

bool tltcp_live_sender_is_idle(const tltcp_live_sender *s) {
    return s->closed || (s->first == NULL && s->fates.open == 0);
}

uint64_t tltcp_live_sender_lateness(const tltcp_live_sender *s, size_t bytes,
                                    tltcp_time deadline) {
    size_t ahead = s->waiting_bytes + bytes;
    tltcp_time now = tltcp_now();
    tltcp_time arrival;
    double transfer;
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (s->closed || tltcp_would_arrive(s->socket, ahead, deadline) != 0 ||
        tltcp_get_stats(s->socket, &st) < 0 || st.estimated_bps == 0) {
        return 0;
    }
    transfer = (double)ahead * 8e9 / (double)st.estimated_bps;
    arrival = now + st.delivery_delay_ns +
              (transfer < LATENESS_MAX ? (tltcp_time)transfer : LATENESS_MAX);
    return arrival > deadline ? arrival - deadline : 1;
}

uint64_t tltcp_live_sender_bytes(const tltcp_live_sender *s) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (s->socket) {
        (void)tltcp_get_stats(s->socket, &st);
    }
    return s->waiting_bytes + st.bytes_queued;
}

uint64_t tltcp_live_sender_delivery(const tltcp_live_sender *s) {
    return s->delivery > 0 ? (uint64_t)s->delivery : 0;
}

void tltcp_live_sender_add_stats(const tltcp_live_sender *s,
                                 tltcp_live_stats *st) {
    tltcp_live_stats own = s->fates.stats;
    own.queued_sections = s->waiting + s->fates.open;
    own.queued_bytes = s->waiting_bytes;
    tltcp__live_stats_add(st, &own);
}

static void live_give_up_queue(tltcp_live_sender *s) {
    while (s->first) {
        live_give_up(s, s->first->section, MEDIA_DROP_LATE);
        live_dequeue(s);
    }
}

static void live_set_closed(tltcp_live_sender *s) {
    s->socket = NULL;
    s->closed = true;
    live_abandon(s, tltcp_now());
}

int tltcp_live_sender_close(tltcp_live_sender *s, int linger_ms) {
    int rc;
    if (s->socket == NULL) {
        return 0;
    }
    live_give_up_queue(s);
    rc = tltcp_close(s->socket, linger_ms);
    live_set_closed(s);
    return rc;
}

void tltcp_live_sender_reject(tltcp_live_sender *s, const char *reason) {
    if (s->socket != NULL) {
        live_give_up_queue(s);
        (void)tltcp_reject(s->socket, reason);
        live_set_closed(s);
    }
}

void tltcp_live_sender_free(tltcp_live_sender *s) {
    if (s) {
        (void)tltcp_live_sender_close(s, 0);
        tltcp__live_fates_clear(&s->fates);
        free(s);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcppeer.h"

#include <string.h>

#include "internal/media/codec/framing.h"
#include "internal/media/stream/deadline.h"
#include "internal/media/stream/ts.h"

/* What waits for room in the connection, which has a buffer of its own. */
#define WAITING_ITEMS 1024
#define WAITING_BYTES (16u << 20)
/* Losses that wait to be told; further ones are only counted. */
#define LOST_MAX 256
/* How soon to try again when the connection has no room. */
#define RETRY_NS (5 * TLTCP_MS)

/* A section that the connection has; what it is when its fate is known. */
typedef struct {
    gint64 number;
    guint8 stream;
    guint8 frame_class;
    guint8 told_class; /* the connection */
    guint64 tag;
    GBytes *clock; /* to be sent when it is given up; NULL: none */
} Sent;

static void free_sent(gpointer user) {
    Sent *sent = user;

    g_clear_pointer(&sent->clock, g_bytes_unref);
    g_free(sent);
}

static GSocketAddress *address_of(tltcp_socket *socket) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    if (tltcp_peer_address(socket, (struct sockaddr *)&storage, &len) < 0) {
        return NULL;
    }
    return g_socket_address_new_from_native(&storage, len);
}

GstTltcpPeer *gst_tltcp_peer_new(tltcp_socket *socket) {
    GstTltcpPeer *peer = g_new0(GstTltcpPeer, 1);

    peer->socket = socket;
    peer->address = address_of(socket);
    peer->sent =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_sent);
    gst_poll_fd_init(&peer->events);
    peer->events.fd = tltcp_event_fd(socket);
    return peer;
}

void gst_tltcp_peer_free(GstTltcpPeer *peer) {
    media_item *item;

    while ((item = g_queue_pop_head(&peer->waiting))) {
        g_bytes_unref(item->user);
        g_free(item);
    }
    g_queue_clear_full(&peer->lost, g_free);
    g_hash_table_unref(peer->sent);
    g_clear_object(&peer->address);
    g_free(peer);
}

void gst_tltcp_peer_join(GstTltcpPeer *peer) {
    for (guint i = 0; i < G_N_ELEMENTS(peer->pushed); i++) {
        media__gate_join(&peer->pushed[i], (gint64)tltcp_now());
    }
}

static media_chain *chain_of(GstTltcpPeer *peer, guint stream) {
    return &peer->chains[stream % TL_STREAMS_MAX];
}

static void tell_lost(GstTltcpPeer *peer, guint stream, guint frame_class,
                      guint reason, guint64 tag) {
    GstTltcpLoss loss = {stream, frame_class, reason, tag};

    if (peer->lost.length < LOST_MAX) {
        g_queue_push_tail(&peer->lost, g_memdup2(&loss, sizeof(loss)));
    }
}

static void drop(GstTltcpPeer *peer, guint stream, guint frame_class,
                 guint reason, guint64 tag) {
    peer->counts.dropped[frame_class]++;
    peer->counts.dropped_reason[reason]++;
    tell_lost(peer, stream, frame_class, reason, tag);
}

gboolean gst_tltcp_peer_has_room(const GstTltcpPeer *peer, gsize bytes) {
    return !peer->waiting.length ||
           (peer->waiting.length < WAITING_ITEMS &&
            peer->waiting_bytes + bytes <= WAITING_BYTES);
}

gboolean gst_tltcp_peer_push(GstTltcpPeer *peer, GBytes *section,
                             const media_item *item) {
    media_item mine = *item;
    guint frame_class = item->frame.frame_class;
    gint reason = MEDIA_DROP_NONE;
    media_gate *gate = &peer->pushed[item->stream % TL_STREAMS_MAX];
    gboolean waits = gate->wait_until != 0;
    gboolean taken = media__gate_takes(gate, item);

    if (waits && item->begin) {
        section = item->begin;
    }
    mine.user = section;
    mine.bytes = g_bytes_get_size(section);
    peer->counts.offered[frame_class]++;
    if (!taken) {
        reason = MEDIA_DROP_DEPENDS;
    } else if (!gst_tltcp_peer_has_room(peer, mine.bytes)) {
        reason = MEDIA_DROP_OVERFLOW;
        /* What refers to it is of no use either. */
        media__gate_leave_out(gate, item);
        peer->key_wanted |= gate->wait_until != 0;
    }
    if (reason) {
        drop(peer, item->stream, frame_class, (guint)reason, item->tag);
        return FALSE;
    }
    g_bytes_ref(section);
    g_queue_push_tail(&peer->waiting, g_memdup2(&mine, sizeof(mine)));
    peer->waiting_bytes += mine.bytes;
    return TRUE;
}

/* ---- what became of it ---- */

static void push_clock(GstTltcpPeer *peer, const Sent *sent);

static void peer_on_lost(GstTltcpPeer *peer, const Sent *sent,
                         const tltcp_event *ev) {
    guint frame_class = sent->frame_class;

    if (ev->fate == TLTCP_FATE_UNSENT) {
        drop(peer, sent->stream, frame_class, (guint)media__drop_reason(ev),
             sent->tag);
    } else {
        guint64 *counts = ev->fate == TLTCP_FATE_PARTIAL ? peer->counts.partial
                                                         : peer->counts.expired;
        counts[frame_class]++;
        tell_lost(peer, sent->stream, frame_class, MEDIA_DROP_NONE, sent->tag);
    }
    if (media__chain_misses(chain_of(peer, sent->stream), sent->told_class,
                            ev->section)) {
        peer->key_wanted = TRUE;
    }
    push_clock(peer, sent);
}

static void note_delivery(GstTltcpPeer *peer, const tltcp_event *ev) {
    gint64 took = (gint64)(ev->now - ev->written);

    peer->delivery += peer->delivery ? (took - peer->delivery) / 16 : took;
}

static void on_fate(GstTltcpPeer *peer, const tltcp_event *ev) {
    gint64 number = (gint64)ev->section;
    Sent *sent = g_hash_table_lookup(peer->sent, &number);

    if (!sent) {
        return;
    }
    if (ev->fate == TLTCP_FATE_DELIVERED) {
        peer->counts.delivered[sent->frame_class]++;
        note_delivery(peer, ev);
    } else {
        peer_on_lost(peer, sent, ev);
    }
    g_hash_table_remove(peer->sent, &number);
}

static void on_closed(GstTltcpPeer *peer, gint error, const gchar *reason) {
    peer->closed = TRUE;
    peer->orderly = !error;
    peer->cause.error = error ? error : TLTCP_ERR_CLOSED;
    peer->cause.writing = TRUE;
    peer->cause.was_open = peer->connected;
    peer->cause.answered = gst_tltcp_cause_was_answered(peer->socket);
    g_strlcpy(peer->cause.reason, reason, sizeof(peer->cause.reason));
}

static void take_events(GstTltcpPeer *peer) {
    tltcp_event ev;

    while (!peer->closed && tltcp_next_event(peer->socket, &ev, 0) == 1) {
        switch (ev.type) {
        case TLTCP_EVENT_CONNECTED:
            peer->connected = TRUE;
            break;
        case TLTCP_EVENT_FATE:
            on_fate(peer, &ev);
            break;
        case TLTCP_EVENT_RATE:
            peer->rate_changed =
                peer->rate_changed || ev.estimated_bps != peer->rate;
            peer->rate = ev.estimated_bps;
            break;
        case TLTCP_EVENT_CLOSED:
            on_closed(peer, ev.error, ev.reason);
            break;
        default:
            break;
        }
    }
}

/* ---- on its way ---- */

/* The clock reference in a part of a transport stream that is given up, for the
 * receiver's clock must not stop; NULL: there is none. */
static GBytes *clock_of(GBytes *section) {
    gsize len;
    const guint8 *data = g_bytes_get_data(section, &len);
    guint8 packet[MEDIA_TS_PACKET];
    media_header h;
    gsize payload;

    if (media__section_parse(&h, data, len, &payload) != MEDIA_OK ||
        !media__ts_is(data + payload, h.length) ||
        !media__ts_clock(data + payload, h.length, packet)) {
        return NULL;
    }
    h.frame_class = MEDIA_CLASS_HEADER;
    h.picture = 0;
    h.flags = MEDIA_FLAG_DELTA;
    h.length = sizeof(packet);
    guint8 *copy = g_malloc(MEDIA_HEADER_LEN + sizeof(packet));
    media__header_write(&h, copy);
    memcpy(copy + MEDIA_HEADER_LEN, packet, sizeof(packet));
    return g_bytes_new_take(copy, MEDIA_HEADER_LEN + sizeof(packet));
}

static tltcp_time engine_time(gint64 t) {
    if (t == MEDIA_NEVER) {
        return TLTCP_TIME_NEVER;
    }
    return t > 0 ? (tltcp_time)t : 0;
}

static gpointer add_control(struct msghdr *msg, guint8 *at, gint type,
                            gconstpointer data, gsize len) {
    struct cmsghdr *head = (struct cmsghdr *)(gpointer)at;

    head->cmsg_level = SOL_TLTCP;
    head->cmsg_type = type;
    head->cmsg_len = CMSG_LEN(len);
    memcpy(CMSG_DATA(head), data, len);
    msg->msg_controllen += CMSG_SPACE(len);
    return at + CMSG_SPACE(len);
}

static gssize send_section(GstTltcpPeer *peer, const media_item *item,
                           const struct tltcp_meta *meta) {
    tltcp_time deadline = engine_time(item->deadline);
    union {
        struct cmsghdr align;
        guint8 room[CMSG_SPACE(sizeof(deadline)) + CMSG_SPACE(sizeof(*meta))];
    } control;
    gsize len;
    gconstpointer data = g_bytes_get_data(item->user, &len);
    struct iovec iov = {(gpointer)(gsize)data, len};
    struct msghdr msg;

    memset(&msg, 0, sizeof(msg));
    memset(&control, 0, sizeof(control));
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = &control;
    guint8 *next = add_control(&msg, control.room, TL_DEADLINE, &deadline,
                               sizeof(deadline));
    add_control(&msg, next, TL_META, meta, sizeof(*meta));
    return tltcp_sendmsg(peer->socket, &msg, MSG_TL | MSG_DONTWAIT);
}

static void note_written(GstTltcpPeer *peer, const media_item *item) {
    Sent *sent = g_new0(Sent, 1);

    sent->number = (gint64)peer->written++;
    sent->stream = item->stream;
    sent->frame_class = item->frame.frame_class;
    sent->told_class = (guint8)media__chain_class(&item->frame);
    sent->tag = item->tag;
    sent->clock = clock_of(item->user);
    g_hash_table_insert(peer->sent, &sent->number, sent);
}

/* FALSE: no room now. */
static gboolean send_item(GstTltcpPeer *peer, const media_item *item) {
    media_gate *gate = &peer->given[item->stream % TL_STREAMS_MAX];
    if (!media__gate_takes(gate, item)) {
        drop(peer, item->stream, item->frame.frame_class, MEDIA_DROP_DEPENDS,
             item->tag);
        return TRUE;
    }
    media_chain *chain = chain_of(peer, item->stream);
    media_chain before = *chain;
    struct tltcp_meta meta = {
        .section_class = media__chain_class(&item->frame),
        .stream = item->stream % TL_STREAMS_MAX,
        .depends = media__chain_add(chain, item, peer->written),
        .due = item->due == MEDIA_NEVER ? 0 : engine_time(item->due),
        .tag = item->tag,
    };
    gssize n = send_section(peer, item, &meta);

    if (n >= 0) {
        note_written(peer, item);
        return TRUE;
    }
    *chain = before; /* it was not written */
    if (n == TLTCP_ERR_AGAIN) {
        return FALSE;
    }
    media__gate_leave_out(gate, item);
    drop(peer, item->stream, item->frame.frame_class, MEDIA_DROP_OVERFLOW,
         item->tag);
    return TRUE;
}

static tltcp_time feed(GstTltcpPeer *peer) {
    media_item *item;

    while ((item = g_queue_peek_head(&peer->waiting))) {
        if (!send_item(peer, item)) {
            return tltcp_now() + RETRY_NS;
        }
        peer->waiting_bytes -= item->bytes;
        g_bytes_unref(item->user);
        g_free(g_queue_pop_head(&peer->waiting));
    }
    return TLTCP_TIME_NEVER;
}

/* It goes before what waits: it is late already. */
static void push_clock(GstTltcpPeer *peer, const Sent *sent) {
    media_item item;

    if (!sent->clock) {
        return;
    }
    memset(&item, 0, sizeof(item));
    item.frame.frame_class = MEDIA_CLASS_HEADER;
    item.stream = sent->stream;
    item.due = item.deadline = MEDIA_NEVER;
    item.user = g_bytes_ref(sent->clock);
    item.bytes = g_bytes_get_size(sent->clock);
    peer->counts.offered[MEDIA_CLASS_HEADER]++;
    peer->waiting_bytes += item.bytes;
    g_queue_push_head(&peer->waiting, g_memdup2(&item, sizeof(item)));
}

tltcp_time gst_tltcp_peer_service(GstTltcpPeer *peer) {
    take_events(peer);
    return peer->closed || !peer->connected ? TLTCP_TIME_NEVER : feed(peer);
}

static gboolean has_events(const GstTltcpPeer *peer) {
    GPollFD fd = {tltcp_event_fd(peer->socket), G_IO_IN, 0};

    return g_poll(&fd, 1, 0) > 0;
}

/* A section is off the connection's books when its fate is an event, which may
 * bring something to send itself. */
gboolean gst_tltcp_peer_is_drained(GstTltcpPeer *peer) {
    tltcp_stats st;

    if (peer->closed) {
        return TRUE;
    }
    tltcp_stats_init(&st);
    if (!peer->connected || peer->waiting.length ||
        (tltcp_get_stats(peer->socket, &st) == 0 && st.bytes_queued)) {
        return FALSE;
    }
    return !has_events(peer);
}

GstStructure *gst_tltcp_peer_stats(GstTltcpPeer *peer) {
    GstStructure *s = gst_structure_new_empty(GST_TLTCP_STATS_NAME);
    tltcp_stats st;

    tltcp_stats_init(&st);
    if (tltcp_get_stats(peer->socket, &st) == 0) {
        gst_tltcp_stats_add(s, &st);
        gst_structure_set(
            s, "delivery-time-us", G_TYPE_UINT64,
            (guint64)MAX(peer->delivery - (gint64)st.srtt_ns / 2, 0) / 1000,
            NULL);
    }
    gst_tltcp_stats_add_sent(s, &peer->counts);
    gst_structure_set(
        s, "frames-queued", G_TYPE_UINT64,
        (guint64)(peer->waiting.length + g_hash_table_size(peer->sent)), NULL);
    if (peer->address) {
        gst_structure_set(s, "caller-address", G_TYPE_SOCKET_ADDRESS,
                          peer->address, NULL);
    }
    return s;
}

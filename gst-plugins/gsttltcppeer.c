/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcppeer.h"

#include <string.h>

#include "media/framing.h"
#include "media/linkstate.h"
#include "media/ts.h"

#define QUEUE_ITEMS 4096
#define QUEUE_BYTES (16u << 20)
#define AHEAD_ITEMS 1024
/* How soon to try again when the connection has no room. */
#define RETRY_NS (5 * TLTCP_MS)

/* A section that the connection has; what it is when its fate is known. */
typedef struct {
    gint64 number;
    media_item item;
} Sent;

static GSocketAddress *address_of(tltcp_socket *socket) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    if (tltcp_peer_address(socket, (struct sockaddr *)&storage, &len) < 0) {
        return NULL;
    }
    return g_socket_address_new_from_native(&storage, len);
}

GstTltcpPeer *gst_tltcp_peer_new(tltcp_socket *socket, gint policy) {
    GstTltcpPeer *peer = g_new0(GstTltcpPeer, 1);

    peer->socket = socket;
    peer->address = address_of(socket);
    peer->queue = media__outq_new(policy, QUEUE_ITEMS, QUEUE_BYTES);
    peer->sent =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    gst_poll_fd_init(&peer->events);
    peer->events.fd = tltcp_event_fd(socket);
    if (!peer->queue) {
        g_error("out of memory");
    }
    return peer;
}

static void drop_bytes(void *user, media_item *item) {
    (void)user;
    g_bytes_unref(item->user);
}

void gst_tltcp_peer_free(GstTltcpPeer *peer) {
    media_item *item;

    media__outq_free(peer->queue, drop_bytes, NULL);
    while ((item = g_queue_pop_head(&peer->ahead))) {
        drop_bytes(NULL, item);
        g_free(item);
    }
    if (peer->has_pending) {
        g_bytes_unref(peer->pending.user);
    }
    g_hash_table_unref(peer->sent);
    g_clear_object(&peer->address);
    g_free(peer);
}

static void count_drop(GstTltcpPeer *peer, const media_item *item,
                       gint reason) {
    peer->counts.dropped[item->frame.frame_class]++;
    peer->counts.dropped_reason[reason]++;
}

static gboolean is_needed(const media_item *item) {
    return item->frame.frame_class == MEDIA_CLASS_KEY ||
           item->frame.frame_class == MEDIA_CLASS_REFERENCE;
}

static gboolean append(GstTltcpPeer *peer, const media_item *item) {
    if (!item->ahead) {
        return media__outq_push(peer->queue, item);
    }
    if (peer->ahead.length >= AHEAD_ITEMS) {
        return FALSE;
    }
    g_queue_push_tail(&peer->ahead, g_memdup2(item, sizeof(*item)));
    return TRUE;
}

gboolean gst_tltcp_peer_push(GstTltcpPeer *peer, GBytes *section,
                             const media_item *item) {
    media_item mine = *item;

    mine.user = section;
    mine.bytes = g_bytes_get_size(section);
    peer->counts.offered[item->frame.frame_class]++;
    if (append(peer, &mine)) {
        g_bytes_ref(section);
        return TRUE;
    }
    count_drop(peer, &mine, MEDIA_DROP_OVERFLOW);
    peer->key_wanted = peer->key_wanted || is_needed(&mine);
    return FALSE;
}

gboolean gst_tltcp_peer_has_room(const GstTltcpPeer *peer, gsize bytes) {
    gsize queued = media__outq_bytes(peer->queue);

    if (peer->ahead.length >= AHEAD_ITEMS) {
        return FALSE;
    }
    return !queued || (media__outq_items(peer->queue) < QUEUE_ITEMS &&
                       queued + bytes <= QUEUE_BYTES);
}

static void on_fate(GstTltcpPeer *peer, const tltcp_event *ev) {
    gint64 number = (gint64)ev->section;
    Sent *sent = g_hash_table_lookup(peer->sent, &number);

    if (!sent) {
        return;
    }
    guint frame_class = sent->item.frame.frame_class;
    if (ev->fate == TLTCP_FATE_DELIVERED) {
        peer->counts.delivered[frame_class]++;
    } else {
        if (ev->fate == TLTCP_FATE_PARTIAL) {
            peer->counts.partial[frame_class]++;
        } else {
            peer->counts.expired[frame_class]++;
        }
        if (media__outq_on_lost(peer->queue, &sent->item)) {
            peer->key_wanted = TRUE;
        }
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
            peer->rate_changed = peer->rate_changed || ev.bytes != peer->rate;
            peer->rate = ev.bytes;
            break;
        case TLTCP_EVENT_CLOSED:
            on_closed(peer, ev.error, ev.reason);
            break;
        default:
            break;
        }
    }
}

static gssize send_section(tltcp_socket *socket, GBytes *section,
                           tltcp_time deadline) {
    union {
        struct cmsghdr head;
        guint8 room[CMSG_SPACE(sizeof(tltcp_time))];
    } control;
    gsize len;
    gconstpointer data = g_bytes_get_data(section, &len);
    struct iovec iov = {(gpointer)(gsize)data, len};
    struct msghdr msg;

    memset(&msg, 0, sizeof(msg));
    memset(&control, 0, sizeof(control));
    control.head.cmsg_level = SOL_TLTCP;
    control.head.cmsg_type = TL_DEADLINE;
    control.head.cmsg_len = CMSG_LEN(sizeof(deadline));
    memcpy(CMSG_DATA(&control.head), &deadline, sizeof(deadline));
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = &control;
    msg.msg_controllen = sizeof(control.room);
    return tltcp_sendmsg(socket, &msg, MSG_TL | MSG_DONTWAIT);
}

static tltcp_time engine_time(gint64 t) {
    if (t == MEDIA_NEVER) {
        return TLTCP_TIME_NEVER;
    }
    return t > 0 ? (tltcp_time)t : 0;
}

static void note_written(GstTltcpPeer *peer, const media_item *item) {
    Sent *sent = g_new0(Sent, 1);

    sent->number = (gint64)peer->written++;
    sent->item = *item;
    sent->item.user = NULL;
    g_hash_table_insert(peer->sent, &sent->number, sent);
}

/* FALSE: no room now, the section stays pending. */
static gboolean send_pending(GstTltcpPeer *peer, media_link *link) {
    media_item *item = &peer->pending;
    gint64 deadline = media__item_deadline(item, link);
    gssize n = send_section(peer->socket, item->user, engine_time(deadline));

    if (n == TLTCP_ERR_AGAIN) {
        return FALSE;
    }
    if (n >= 0) {
        note_written(peer, item);
        link->unsent += item->bytes;
    } else {
        count_drop(peer, item, MEDIA_DROP_OVERFLOW);
        media__outq_on_lost(peer->queue, item);
    }
    g_bytes_unref(item->user);
    peer->has_pending = FALSE;
    return TRUE;
}

/* FALSE: no room now. */
static gboolean send_ahead(GstTltcpPeer *peer) {
    media_item *item;

    while ((item = g_queue_peek_head(&peer->ahead))) {
        gssize n =
            send_section(peer->socket, item->user, engine_time(item->deadline));
        if (n == TLTCP_ERR_AGAIN) {
            return FALSE;
        }
        if (n >= 0) {
            note_written(peer, item);
        } else {
            count_drop(peer, item, MEDIA_DROP_OVERFLOW);
        }
        g_bytes_unref(item->user);
        g_free(g_queue_pop_head(&peer->ahead));
    }
    return TRUE;
}

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

static void on_dropped(GstTltcpPeer *peer, const media_next *next) {
    GBytes *clock = clock_of(next->item.user);

    count_drop(peer, &next->item, next->reason);
    if (is_needed(&next->item)) {
        peer->key_wanted = TRUE;
    }
    g_bytes_unref(next->item.user);
    if (clock) {
        peer->pending = next->item;
        peer->pending.frame = (media_frame){.frame_class = MEDIA_CLASS_HEADER};
        peer->pending.due = peer->pending.deadline = MEDIA_NEVER;
        peer->pending.user = clock;
        peer->pending.bytes = g_bytes_get_size(clock);
        peer->has_pending = TRUE;
    }
}

static gboolean is_empty(const GstTltcpPeer *peer) {
    return !peer->has_pending && !peer->ahead.length &&
           !media__outq_items(peer->queue);
}

static tltcp_time feed(GstTltcpPeer *peer) {
    tltcp_stats st;
    media_next next;

    tltcp_stats_init(&st);
    if (tltcp_get_stats(peer->socket, &st) < 0) {
        return TLTCP_TIME_NEVER;
    }
    media_link link = media__link_state(&st);
    tltcp_time now = tltcp_now();
    for (;;) {
        if (!send_ahead(peer) ||
            (peer->has_pending && !send_pending(peer, &link))) {
            return now + RETRY_NS;
        }
        media__outq_next(peer->queue, &link, (gint64)now, &next);
        if (next.verdict == MEDIA_WAIT) {
            return engine_time(next.when);
        }
        if (next.verdict == MEDIA_DROP) {
            on_dropped(peer, &next);
        } else {
            peer->pending = next.item;
            peer->has_pending = TRUE;
        }
    }
}

tltcp_time gst_tltcp_peer_service(GstTltcpPeer *peer) {
    take_events(peer);
    if (peer->closed || !peer->connected || is_empty(peer)) {
        return TLTCP_TIME_NEVER;
    }
    return feed(peer);
}

gboolean gst_tltcp_peer_is_drained(GstTltcpPeer *peer) {
    tltcp_stats st;

    if (peer->closed) {
        return TRUE;
    }
    if (!peer->connected || !is_empty(peer)) {
        return FALSE;
    }
    tltcp_stats_init(&st);
    return tltcp_get_stats(peer->socket, &st) < 0 || !st.bytes_queued;
}

GstStructure *gst_tltcp_peer_stats(GstTltcpPeer *peer) {
    GstStructure *s = gst_structure_new_empty(GST_TLTCP_STATS_NAME);
    tltcp_stats st;

    tltcp_stats_init(&st);
    if (tltcp_get_stats(peer->socket, &st) == 0) {
        gst_tltcp_stats_add(s, &st);
    }
    gst_tltcp_stats_add_sent(s, &peer->counts);
    gst_structure_set(s, "frames-queued", G_TYPE_UINT64,
                      (guint64)media__outq_items(peer->queue), NULL);
    if (peer->address) {
        gst_structure_set(s, "caller-address", G_TYPE_SOCKET_ADDRESS,
                          peer->address, NULL);
    }
    return s;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* One connection of a sink. */
#include "gst-plugins/gsttltcppeer.h"

#include "gst-plugins/gsttltcppending.h"
#include "gst-plugins/gsttltcpstats.h"

/* Limits of the queue in front of the connection's own buffer. */
#define QUEUE_SECTIONS 1024
#define QUEUE_BYTES (16u << 20)

static GSocketAddress *address_of(tltcp_socket *socket) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    if (tltcp_peer_address(socket, (struct sockaddr *)&storage, &len) < 0) {
        return NULL;
    }
    return g_socket_address_new_from_native(&storage, len);
}

static void on_dropped(GstTltcpPeer *peer, const tltcp_live_event *ev) {
    GstTltcpLoss *loss =
        &gst_tltcp_pending_peer(peer->sender, GST_TLTCP_PENDING_LOST, peer)
             ->loss;
    gboolean sent =
        ev->fate == TLTCP_FATE_PARTIAL || ev->fate == TLTCP_FATE_EXPIRED;

    loss->stream = ev->stream;
    loss->frame_class = ev->frame_class;
    loss->reason = sent ? TLTCP_LIVE_CAUSE_NONE : ev->cause;
    loss->tag = ev->tag;
}

static void on_closed(GstTltcpPeer *peer, const tltcp_live_event *ev) {
    peer->error.code = ev->error ? ev->error : TLTCP_ERR_CLOSED;
    peer->error.writing = TRUE;
    peer->error.was_open = TRUE;
    peer->error.answered = TRUE;
    g_strlcpy(peer->error.reason, ev->reason, sizeof(peer->error.reason));
}

static void peer_on_event(void *user, const tltcp_live_event *ev) {
    GstTltcpPeer *peer = user;

    switch (ev->type) {
    case TLTCP_LIVE_EVENT_DROP:
        on_dropped(peer, ev);
        break;
    case TLTCP_LIVE_EVENT_KEY_WANTED:
        gst_tltcp_pending_add(peer->sender, GST_TLTCP_PENDING_KEY_WANTED);
        break;
    case TLTCP_LIVE_EVENT_RATE:
        peer->rate = ev->estimated_bps;
        peer->target = ev->target_bps;
        gst_tltcp_pending_rate(peer->sender);
        break;
    case TLTCP_LIVE_EVENT_DISCONNECTED:
        on_closed(peer, ev);
        break;
    default:
        break;
    }
}

GstTltcpPeer *gst_tltcp_peer_new(GstTltcpSender *sender, tltcp_socket *socket) {
    static const tltcp_live_settings settings = {
        .queue_bytes = QUEUE_BYTES, .queue_sections = QUEUE_SECTIONS};
    GstTltcpPeer *peer = g_new0(GstTltcpPeer, 1);

    peer->sender = sender;
    peer->address = address_of(socket);
    gst_poll_fd_init(&peer->events);
    peer->events.fd = tltcp_event_fd(socket);
    peer->live = tltcp_live_sender_new(socket, &settings, peer_on_event, peer);
    if (!peer->live) {
        g_error("out of memory");
    }
    return peer;
}

void gst_tltcp_peer_free(GstTltcpPeer *peer, gint linger_ms) {
    tltcp_live_sender_close(peer->live, linger_ms);
    tltcp_live_sender_free(peer->live);
    g_clear_object(&peer->address);
    g_free(peer);
}

gboolean gst_tltcp_peer_is_orderly(const GstTltcpPeer *peer) {
    return peer->error.code == TLTCP_ERR_CLOSED;
}

GstStructure *gst_tltcp_peer_stats(GstTltcpPeer *peer) {
    GstStructure *s = gst_structure_new_empty(GST_TLTCP_STATS_NAME);
    gint64 delivery = (gint64)tltcp_live_sender_delivery(peer->live);
    tltcp_live_stats sent;
    tltcp_stats st;

    tltcp_stats_init(&st);
    if (tltcp_get_stats(tltcp_live_sender_socket(peer->live), &st) == 0) {
        gst_tltcp_stats_add(s, &st);
        gst_structure_set(
            s, "delivery-time-us", G_TYPE_UINT64,
            (guint64)MAX(delivery - (gint64)st.srtt_ns / 2, 0) / 1000, NULL);
    }
    tltcp_live_stats_init(&sent);
    tltcp_live_sender_add_stats(peer->live, &sent);
    gst_tltcp_stats_add_sent(s, &sent);
    gst_structure_set(s, "frames-queued", G_TYPE_UINT64,
                      (guint64)sent.queued_sections, NULL);
    if (peer->address) {
        gst_structure_set(s, "caller-address", G_TYPE_SOCKET_ADDRESS,
                          peer->address, NULL);
    }
    return s;
}

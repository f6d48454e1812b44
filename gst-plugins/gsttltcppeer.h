/* SPDX-License-Identifier: MPL-2.0 */
/* One connection of a sink. All calls require the sender's lock. */
#ifndef GST_TLTCP_PEER_H
#define GST_TLTCP_PEER_H

#include <gst/gst.h>

#include <gio/gio.h>
#include <tltcp/live_parts.h>

#include "gst-plugins/gsttltcperror.h"
#include "gst-plugins/gsttltcpsender.h"

typedef struct {
    GstTltcpSender *sender;
    tltcp_live_sender *live;
    GSocketAddress *address; /* NULL: not known */
    GstTltcpError error;     /* why it ended */
    GstPollFD events;        /* readable when there are events */
    guint64 rate;            /* newest estimate, bit/s */
    guint64 target;          /* for an encoder, bit/s */
} GstTltcpPeer;

/* Takes ownership of the socket. Its events become pending signals of the
 * sender. */
GstTltcpPeer *gst_tltcp_peer_new(GstTltcpSender *sender, tltcp_socket *socket);

/* Closes the connection and frees the peer. */
void gst_tltcp_peer_free(GstTltcpPeer *peer, gint linger_ms);

/* Whether the other end closed the connection in order. */
gboolean gst_tltcp_peer_is_orderly(const GstTltcpPeer *peer);

/* Counters and gauges. */
GstStructure *gst_tltcp_peer_stats(GstTltcpPeer *peer);

#endif /* GST_TLTCP_PEER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* One connection of a sink, with the queue of what it has yet to send.  All
 * calls under the sender's lock. */
#ifndef GST_TLTCP_PEER_H
#define GST_TLTCP_PEER_H

#include <gst/gst.h>

#include <gio/gio.h>
#include <tltcp/socket.h>

#include "gst-plugins/gsttltcpcause.h"
#include "gst-plugins/gsttltcpsender.h"
#include "gst-plugins/gsttltcpstats.h"
#include "internal/media/stream/chain.h"
#include "internal/media/stream/gate.h"
#include "internal/media/stream/item.h"

typedef struct {
    tltcp_socket *socket;
    GSocketAddress *address; /* NULL: not known */
    gboolean connected;
    gboolean closed;  /* over; cause says why */
    gboolean orderly; /* the other end closed and all was well */
    GstTltcpCause cause;
    GstPollFD events; /* readable when there are events */
    GQueue waiting;   /* media_item: for room in the connection */
    gsize waiting_bytes;
    media_chain chains[TL_STREAMS_MAX];
    media_gate pushed[TL_STREAMS_MAX]; /* what may wait */
    media_gate given[TL_STREAMS_MAX];  /* what may go then */
    guint64 written;                   /* sections given to the connection */
    GHashTable *sent;                  /* their numbers -> what they were */
    gint64 delivery; /* ns from writing to arrival, smoothed; 0: none yet */
    guint64 rate;    /* newest estimate, bit/s */
    gboolean rate_changed;
    gboolean key_wanted;
    GQueue lost; /* GstTltcpLoss: to be told to the application */
    GstTltcpSent counts;
} GstTltcpPeer;

/* Takes the socket over. */
GstTltcpPeer *gst_tltcp_peer_new(tltcp_socket *socket);

/* The streams are in their middle: they begin with frames where decoding can
 * begin. */
void gst_tltcp_peer_join(GstTltcpPeer *peer);

/* Forgets all; the socket must have been closed or taken. */
void gst_tltcp_peer_free(GstTltcpPeer *peer);

/* Appends a section; FALSE: there was no room, it is lost for this peer. */
gboolean gst_tltcp_peer_push(GstTltcpPeer *peer, GBytes *section,
                             const media_item *item);

/* Whether so many bytes would be taken. */
gboolean gst_tltcp_peer_has_room(const GstTltcpPeer *peer, gsize bytes);

/* Takes events, sends what may be sent; tells when to come back, on
 * tltcp_now()'s clock. */
tltcp_time gst_tltcp_peer_service(GstTltcpPeer *peer);

/* All that was pushed has been delivered or given up, and counted. */
gboolean gst_tltcp_peer_is_drained(GstTltcpPeer *peer);

/* Counters and gauges. */
GstStructure *gst_tltcp_peer_stats(GstTltcpPeer *peer);

#endif /* GST_TLTCP_PEER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* The connection of a source: listens or calls, calls again, reassembles
 * sections. Driven by the streaming thread; other threads may request
 * statistics and make it return. */
#ifndef GST_TLTCP_RECEIVER_H
#define GST_TLTCP_RECEIVER_H

#include <gst/gst.h>

#include <gio/gio.h>

#include "gst-plugins/gsttltcperror.h"
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpstats.h"
#include "internal/media/stream/assemble.h"

typedef struct GstTltcpReceiver GstTltcpReceiver;

typedef enum {
    GST_TLTCP_RECEIVER_CONNECTED, /* a connection is open */
    GST_TLTCP_RECEIVER_SECTION,   /* section */
    GST_TLTCP_RECEIVER_GAP,       /* position, size */
    GST_TLTCP_RECEIVER_END,       /* the other end has finished */
    GST_TLTCP_RECEIVER_LOST,      /* error; the connection is gone */
    GST_TLTCP_RECEIVER_FAILED,    /* error; there will be no connection */
    GST_TLTCP_RECEIVER_FLUSHING   /* made to return */
} GstTltcpReceiverEventKind;

typedef struct {
    GstTltcpReceiverEventKind kind;
    media_section section; /* the caller frees its data */
    guint64 position;
    guint64 size;
    GSocketAddress *address; /* CONNECTED: borrowed, NULL when not known */
    GstTltcpError error;
} GstTltcpReceiverEvent;

/* With `pieces`, incomplete sections are delivered too, and every section waits
 * for those before it. NULL: failed, an error was posted. */
GstTltcpReceiver *gst_tltcp_receiver_start(GstElement *element,
                                           GstTltcpSettings *settings,
                                           gboolean pieces);

void gst_tltcp_receiver_stop(GstTltcpReceiver *r);

/* The port that a listener is bound to, else 0. */
guint gst_tltcp_receiver_port(const GstTltcpReceiver *r);

/* Waits for the next event. */
void gst_tltcp_receiver_next(GstTltcpReceiver *r, GstTltcpReceiverEvent *event);

/* Ends the connection; the next one is awaited or made. */
void gst_tltcp_receiver_hang_up(GstTltcpReceiver *r);

/* After END, when the stream is not over, makes a caller call again. FALSE: it
 * must not. */
gboolean gst_tltcp_receiver_call_again(GstTltcpReceiver *r);

void gst_tltcp_receiver_set_flushing(GstTltcpReceiver *r, gboolean flushing);

/* "host:port" for messages. */
const gchar *gst_tltcp_receiver_where(const GstTltcpReceiver *r);

/* Adds the statistics of the connection, if there is one. */
void gst_tltcp_receiver_add_stats(GstTltcpReceiver *r, GstStructure *stats);

#endif /* GST_TLTCP_RECEIVER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* The connection of a source: listens or calls, calls again, puts sections
 * together.  Driven by the streaming thread; other threads may ask for
 * statistics and make it return. */
#ifndef GST_TLTCP_RECEIVER_H
#define GST_TLTCP_RECEIVER_H

#include <gst/gst.h>

#include <gio/gio.h>

#include "gst-plugins/gsttltcpcause.h"
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpstats.h"
#include "internal/media/stream/assemble.h"

typedef struct GstTltcpReceiver GstTltcpReceiver;

typedef enum {
    GST_TLTCP_ARRIVAL_CONNECTED, /* a connection stands */
    GST_TLTCP_ARRIVAL_SECTION,   /* section */
    GST_TLTCP_ARRIVAL_GAP,       /* position, size */
    GST_TLTCP_ARRIVAL_END,       /* the other end has finished */
    GST_TLTCP_ARRIVAL_LOST,      /* cause; the connection is gone */
    GST_TLTCP_ARRIVAL_FAILED,    /* cause; there will be no connection */
    GST_TLTCP_ARRIVAL_FLUSHING   /* made to return */
} GstTltcpArrivalKind;

typedef struct {
    GstTltcpArrivalKind kind;
    media_section section; /* its data is the caller's to free() */
    guint64 position;
    guint64 size;
    GSocketAddress *address; /* CONNECTED: borrowed, NULL when not known */
    GstTltcpCause cause;
} GstTltcpArrival;

/* With `pieces` all that arrived of a section that is cut is handed over, and
 * every section waits for those before it.  NULL: failed, an error was
 * posted. */
GstTltcpReceiver *gst_tltcp_receiver_start(GstElement *element,
                                           GstTltcpSettings *settings,
                                           gboolean pieces);

void gst_tltcp_receiver_stop(GstTltcpReceiver *r);

/* The port that a listener was given, else 0. */
guint gst_tltcp_receiver_port(const GstTltcpReceiver *r);

/* Waits for what comes next. */
void gst_tltcp_receiver_next(GstTltcpReceiver *r, GstTltcpArrival *arrival);

/* Gives the connection up, to wait for or make another one. */
void gst_tltcp_receiver_hang_up(GstTltcpReceiver *r);

/* After END: the stream is not over, so who called calls again, unless that is
 * not wanted.  FALSE: it is not. */
gboolean gst_tltcp_receiver_call_again(GstTltcpReceiver *r);

void gst_tltcp_receiver_set_flushing(GstTltcpReceiver *r, gboolean flushing);

/* "host:port" for messages. */
const gchar *gst_tltcp_receiver_where(const GstTltcpReceiver *r);

/* Adds what the connection counts; nothing when there is none. */
void gst_tltcp_receiver_add_stats(GstTltcpReceiver *r, GstStructure *stats);

#endif /* GST_TLTCP_RECEIVER_H */

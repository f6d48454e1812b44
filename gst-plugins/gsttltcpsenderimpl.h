/* SPDX-License-Identifier: MPL-2.0 */
/* Shared by the two halves of the sender: the thread that serves the
 * connections (gsttltcpsender.c) and, below it, the calls of the sink
 * (gsttltcpsendercalls.c). */
#ifndef GST_TLTCP_SENDER_IMPL_H
#define GST_TLTCP_SENDER_IMPL_H

#include <tltcp/live_parts.h>

#include "gst-plugins/gsttltcppeer.h"
#include "gst-plugins/gsttltcppreamble.h"
#include "gst-plugins/gsttltcpsender.h"
#include "gst-plugins/gsttltcpstats.h"

struct GstTltcpSender {
    GstElement *element; /* outlives this */
    GstTltcpSettings *settings;
    GstTltcpSenderOptions options;
    GstTltcpSenderFuncs funcs;
    gchar *where;

    GMutex lock; /* protects everything below */
    GCond changed;
    GThread *thread;
    GstPoll *poll;
    gboolean running;
    gboolean flushing;
    gboolean failed;
    gboolean woken;
    gboolean ever_connected;
    gboolean finished; /* the end was sent: peers may close */

    tltcp_live_link *link; /* used by the thread without the lock */
    GstPollFD link_fd;
    gboolean link_lost; /* the link must still be told that it may call again */
    GPtrArray *peers;
    tltcp_live_stats departed; /* counts of ended connections */
    guint attempt;
    guint64 rate;
    guint64 target;

    GPtrArray *preambles; /* GstTltcpPreamble by stream; NULL: none yet */
    GQueue pending;       /* GstTltcpPending */
};

/* The listening socket, or NULL. */
tltcp_socket *gst_tltcp_sender_listener(const GstTltcpSender *s);

/* Wakes the thread. Requires the lock. */
void gst_tltcp_sender_wake(GstTltcpSender *s);

#endif /* GST_TLTCP_SENDER_IMPL_H */

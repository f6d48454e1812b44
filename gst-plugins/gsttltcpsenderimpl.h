/* SPDX-License-Identifier: MPL-2.0 */
/* What the two halves of the sender share: the thread that looks after the
 * connections (gsttltcpsender.c) and the calls of the sink (gsttltcpfeed.c). */
#ifndef GST_TLTCP_SENDER_IMPL_H
#define GST_TLTCP_SENDER_IMPL_H

#include <tltcp/socket.h>

#include "gst-plugins/gsttltcppeer.h"
#include "gst-plugins/gsttltcpsender.h"
#include "gst-plugins/gsttltcpstats.h"

/* What a connection gets of a stream before its first frame. */
typedef struct {
    GBytes *config;
    GPtrArray *headers; /* GBytes, or NULL */
    GBytes *tags;       /* or NULL */
    gboolean begun;     /* the headers may go */
} GstTltcpHead;

struct GstTltcpSender {
    GstElement *element; /* outlives this */
    GstTltcpSettings *settings;
    GstTltcpSenderOptions options;
    GstTltcpSenderFuncs funcs;
    gchar *where;

    GMutex lock; /* for all below */
    GCond changed;
    GThread *thread;
    GstPoll *poll;
    gboolean running;
    gboolean flushing;
    gboolean failed;
    gboolean woken;
    gboolean ever_connected;
    gboolean finished; /* the end was sent: the others may go */

    tltcp_socket *listener;
    GstPollFD accept_fd;
    GPtrArray *peers;
    GstTltcpSent departed; /* counts of connections that are gone */
    tltcp_time retry_at;
    tltcp_time retry_delay;
    guint attempt;
    gboolean warned;
    guint64 rate;

    GPtrArray *heads; /* GstTltcpHead by stream; NULL: none yet */
    GQueue notes;     /* of GstTltcpNote, to be told when the lock is free */
};

void gst_tltcp_head_free(gpointer user);

/* Gives a new connection the heads of all streams, descriptions first; under
 * the lock. */
void gst_tltcp_heads_push(GPtrArray *heads, GstTltcpPeer *peer);

/* Makes the thread look around; under the lock. */
void gst_tltcp_sender_wake(GstTltcpSender *s);

#endif /* GST_TLTCP_SENDER_IMPL_H */

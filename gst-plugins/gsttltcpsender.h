/* SPDX-License-Identifier: MPL-2.0 */
/* The connections of a sink and the thread that serves them: it calls or
 * accepts, sends, reconnects, and reports to the sink. */
#ifndef GST_TLTCP_SENDER_H
#define GST_TLTCP_SENDER_H

#include <gst/gst.h>

#include <gio/gio.h>
#include <tltcp/live_parts.h>

#include "gst-plugins/gsttltcpsettings.h"

typedef struct GstTltcpSender GstTltcpSender;

/* A section that did not arrive completely. */
typedef struct {
    guint stream;
    guint frame_class;
    guint reason; /* tltcp_live_cause; NONE: partial or too late */
    guint64 tag;
} GstTltcpLoss;

/* Called from the sender's thread without locks. */
typedef struct {
    void (*caller_added)(GstElement *element, GSocketAddress *address);
    void (*caller_removed)(GstElement *element, GSocketAddress *address);
    /* Called from the listener's thread; FALSE refuses. */
    gboolean (*caller_connecting)(GstElement *element, GSocketAddress *address,
                                  const gchar *streamid);
    void (*caller_rejected)(GstElement *element, GSocketAddress *address,
                            const gchar *streamid);
    void (*key_unit_wanted)(GstElement *element);
    /* Called after each turn of the sender's thread; TRUE: call again soon. */
    gboolean (*polled)(GstElement *element);
    void (*rate_changed)(GstElement *element, guint64 rate_bps,
                         guint64 target_bps);
    void (*section_dropped)(GstElement *element, GSocketAddress *caller,
                            const GstTltcpLoss *loss);
    void (*listening)(GstElement *element, guint port);
} GstTltcpSenderFuncs;

typedef struct {
    gint policy;          /* GstTltcpDropPolicy */
    guint64 max_rate;     /* bit/s, 0: no cap */
    guint initial_window; /* packets, 0: the controller's */
} GstTltcpSenderOptions;

/* Starts listening or calling. NULL: failed, an error was posted. */
GstTltcpSender *gst_tltcp_sender_start(GstElement *element,
                                       GstTltcpSettings *settings,
                                       const GstTltcpSenderOptions *options,
                                       const GstTltcpSenderFuncs *funcs);

/* Closes all connections and frees the sender. */
void gst_tltcp_sender_stop(GstTltcpSender *sender);

/* Makes waiting calls return at once, or lets them wait again. */
void gst_tltcp_sender_set_flushing(GstTltcpSender *sender, gboolean flushing);

/* Sets what every connection gets first: the description of a stream, and its
 * stream headers as sections. Open connections get the description at once and
 * the headers when the stream begins, because a receiver chooses among the
 * streams when the first frame arrives. NULL: the stream is gone. */
void gst_tltcp_sender_set_config(GstTltcpSender *sender, guint stream,
                                 tltcp_live_section *config, GPtrArray *headers,
                                 gboolean begun);

/* The first frame of a stream is about to be pushed. */
void gst_tltcp_sender_begin(GstTltcpSender *sender, guint stream);

/* Sets the tags of a stream.  New connections get them after its description,
 * open ones at once. */
void gst_tltcp_sender_set_tags(GstTltcpSender *sender, guint stream,
                               tltcp_live_section *tags);

/* Waits until a peer is connected; a caller waits only for its first
 * connection. Stores the time waited, ns. FALSE: flushing, failed or
 * cancelled. */
gboolean gst_tltcp_sender_wait_connected(GstTltcpSender *sender,
                                         const gint *cancelled,
                                         guint64 *waited);

/* Makes the sender's thread call `polled` soon. */
void gst_tltcp_sender_poll(GstTltcpSender *sender);

/* Makes waiting calls check `cancelled` again. */
void gst_tltcp_sender_recheck(GstTltcpSender *sender);

/* Passes a section to every connection. With one connection that has no room,
 * waits for room until the section's deadline. With several, waits for
 * `patience` ns at most. FALSE: flushing, failed or cancelled. */
gboolean gst_tltcp_sender_push(GstTltcpSender *sender,
                               tltcp_live_section *section,
                               const gint *cancelled, guint64 patience);

/* The lateness of a frame of `bytes` at the best connection if it were pushed
 * now, ns; 0: in time, or not known. */
guint64 gst_tltcp_sender_lateness(GstTltcpSender *sender, gsize bytes,
                                  tltcp_time due);

/* Call this before pushing the end: from then on a close by the peer is no
 * failure.
 */
void gst_tltcp_sender_finish(GstTltcpSender *sender);

/* Waits until every section was delivered or given up. FALSE: flushing or
 * failed before. */
gboolean gst_tltcp_sender_drain(GstTltcpSender *sender);

gboolean gst_tltcp_sender_has_failed(GstTltcpSender *sender);

/* For the property `stats`. */
GstStructure *gst_tltcp_sender_stats(GstTltcpSender *sender);

#endif /* GST_TLTCP_SENDER_H */

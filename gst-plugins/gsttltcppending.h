/* SPDX-License-Identifier: MPL-2.0 */
/* Signals and messages of the sender's thread, queued until its lock is free.
 */
#ifndef GST_TLTCP_PENDING_H
#define GST_TLTCP_PENDING_H

#include "gst-plugins/gsttltcpsenderimpl.h"

typedef enum {
    GST_TLTCP_PENDING_ADDED,
    GST_TLTCP_PENDING_REMOVED,
    GST_TLTCP_PENDING_KEY_WANTED,
    GST_TLTCP_PENDING_RATE,
    GST_TLTCP_PENDING_LOST,
    GST_TLTCP_PENDING_STATE,
    GST_TLTCP_PENDING_FAILED,
    GST_TLTCP_PENDING_WARN,
    GST_TLTCP_PENDING_REJECTED
} GstTltcpPendingKind;

/* A signal or a message. */
typedef struct {
    GstTltcpPendingKind kind;
    GSocketAddress *address;
    GstTltcpError error;
    gboolean has_cause;
    const gchar *state;
    guint attempt;
    guint64 rate;
    guint64 target;
    GstTltcpLoss loss;
} GstTltcpPending;

/* Queues a signal. Requires the lock. */
GstTltcpPending *gst_tltcp_pending_add(GstTltcpSender *s,
                                       GstTltcpPendingKind kind);

/* The same for the state of the connection; `error` may be NULL. */
void gst_tltcp_pending_state(GstTltcpSender *s, const gchar *state,
                             const GstTltcpError *error);

/* The same for a caller. */
GstTltcpPending *gst_tltcp_pending_peer(GstTltcpSender *s,
                                        GstTltcpPendingKind kind,
                                        GstTltcpPeer *peer);

/* The same for the estimate of the fastest connection, when it has changed. */
void gst_tltcp_pending_rate(GstTltcpSender *s);

/* Emits everything. Call it without the lock. */
void gst_tltcp_pending_report(GstTltcpSender *s);

#endif /* GST_TLTCP_PENDING_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* What the sender's thread has to tell the sink and the bus, kept until its
 * lock is free. */
#ifndef GST_TLTCP_NOTES_H
#define GST_TLTCP_NOTES_H

#include "gst-plugins/gsttltcpsenderimpl.h"

typedef enum {
    GST_TLTCP_NOTE_ADDED,
    GST_TLTCP_NOTE_REMOVED,
    GST_TLTCP_NOTE_KEY_WANTED,
    GST_TLTCP_NOTE_RATE,
    GST_TLTCP_NOTE_LOST,
    GST_TLTCP_NOTE_STATE,
    GST_TLTCP_NOTE_FAILED,
    GST_TLTCP_NOTE_WARN
} GstTltcpNoteKind;

/* Something to tell the sink or the bus. */
typedef struct {
    GstTltcpNoteKind kind;
    GSocketAddress *address;
    GstTltcpCause cause;
    gboolean has_cause;
    const gchar *state;
    guint attempt;
    guint64 rate;
    guint64 target;
    GstTltcpLoss loss;
} GstTltcpNote;

/* Under the lock: something to tell. */
GstTltcpNote *gst_tltcp_note_add(GstTltcpSender *s, GstTltcpNoteKind kind);

/* The same about the state of the connection; `cause` may be NULL. */
void gst_tltcp_note_state(GstTltcpSender *s, const gchar *state,
                          const GstTltcpCause *cause);

/* The same about a caller. */
GstTltcpNote *gst_tltcp_note_peer(GstTltcpSender *s, GstTltcpNoteKind kind,
                                  GstTltcpPeer *peer);

/* The same about the estimate of the fastest connection, when it has
 * changed. */
void gst_tltcp_note_rate(GstTltcpSender *s);

/* Without the lock: tells all. */
void gst_tltcp_notes_tell(GstTltcpSender *s);

#endif /* GST_TLTCP_NOTES_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* What the application is told about connections: errors, warnings and element
 * messages, each with its cause. */
#ifndef GST_TLTCP_CAUSE_H
#define GST_TLTCP_CAUSE_H

#include <gst/gst.h>

#include <tltcp/live.h>

/* Why a connection does not stand. */
typedef struct {
    gint error;                         /* negative tltcp_error, or 0 */
    gboolean writing;                   /* of a sink */
    gboolean listening;                 /* of a listener's port */
    gboolean was_open;                  /* it stood before */
    gboolean answered;                  /* somebody was there */
    gchar reason[TLTCP_REASON_MAX + 1]; /* a sentence, or "" */
} GstTltcpCause;

/* Why there is no connection, as the library tells it. */
void gst_tltcp_cause_from_event(GstTltcpCause *cause,
                                const tltcp_live_event *ev);

/* Posts an error, or a warning, of the RESOURCE domain. */
void gst_tltcp_cause_post(GstElement *element, const GstTltcpCause *cause,
                          const gchar *where, gboolean is_error);

/* Posts the element message "tltcp-connection" with fields state (connecting,
 * connected, lost, retrying, closed), address, cause, error, attempt. */
void gst_tltcp_connection_message(GstElement *element, const gchar *state,
                                  const gchar *where,
                                  const GstTltcpCause *cause, guint attempt);

#endif /* GST_TLTCP_CAUSE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Reports to the application about connections: errors, warnings and element
 * messages, each with its cause. */
#ifndef GST_TLTCP_ERROR_H
#define GST_TLTCP_ERROR_H

#include <gio/gio.h>
#include <gst/gst.h>

#include <tltcp/live.h>

/* Why there is no connection. */
typedef struct {
    gint code;                          /* negative tltcp_error, or 0 */
    gboolean writing;                   /* in a sink */
    gboolean listening;                 /* about a listener's port */
    gboolean was_open;                  /* it was open before */
    gboolean answered;                  /* the peer answered */
    guint attempt;                      /* number of the failed call, or 0 */
    gchar reason[TLTCP_REASON_MAX + 1]; /* a sentence, or "" */
} GstTltcpError;

/* Fills in why there is no connection. */
void gst_tltcp_error_from_event(GstTltcpError *error,
                                const tltcp_live_event *ev);

/* Whether to warn: of each lost connection, and of failed attempts at ever
 * longer intervals, so that an outage does not fill the log. */
gboolean gst_tltcp_error_is_news(const GstTltcpError *error);

/* Posts an error or a warning in the RESOURCE domain. */
void gst_tltcp_error_post(GstElement *element, const GstTltcpError *error,
                          const gchar *where, gboolean is_error);

/* Posts a warning about a caller that was rejected at `from`, which may be
 * NULL; `advice` is a sentence. */
void gst_tltcp_error_post_rejected(GstElement *element, GSocketAddress *from,
                                   const gchar *advice);

/* Posts the element message "tltcp-connection" with the fields state
 * (connecting, connected, failed, lost, retrying), address, attempt, error and,
 * on failure, cause. */
void gst_tltcp_connection_message(GstElement *element, const gchar *state,
                                  const gchar *where,
                                  const GstTltcpError *error, guint attempt);

#endif /* GST_TLTCP_ERROR_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Signals about callers, as in srtsink and srtsrc. */
#ifndef GST_TLTCP_SIGNALS_H
#define GST_TLTCP_SIGNALS_H

#include <gst/gst.h>

#include <gio/gio.h>

/* Call this in class_init. */
void gst_tltcp_signals_install(GType type);

void gst_tltcp_signals_caller_added(GstElement *element,
                                    GSocketAddress *address);
void gst_tltcp_signals_caller_removed(GstElement *element,
                                      GSocketAddress *address);
gboolean gst_tltcp_signals_caller_connecting(GstElement *element,
                                             GSocketAddress *address,
                                             const gchar *streamid);
void gst_tltcp_signals_caller_rejected(GstElement *element,
                                       GSocketAddress *address,
                                       const gchar *streamid);

#endif /* GST_TLTCP_SIGNALS_H */

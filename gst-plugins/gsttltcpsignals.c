/* SPDX-License-Identifier: MPL-2.0 */
/* Signals about callers. */
#include "gst-plugins/gsttltcpsignals.h"

/* One refusal is enough. */
static gboolean accept_until_refused(GSignalInvocationHint *hint,
                                     GValue *result, const GValue *answer,
                                     gpointer data) {
    gboolean accepted = g_value_get_boolean(answer);

    (void)hint;
    (void)data;
    g_value_set_boolean(result, accepted);
    return accepted;
}

static gboolean accept_all(GstElement *element, GSocketAddress *address,
                           const gchar *streamid) {
    (void)element;
    (void)address;
    (void)streamid;
    return TRUE;
}

void gst_tltcp_signals_install(GType type) {
    g_signal_new("caller-added", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_SOCKET_ADDRESS);
    g_signal_new("caller-removed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_SOCKET_ADDRESS);
    g_signal_new("caller-rejected", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                 NULL, G_TYPE_NONE, 2, G_TYPE_SOCKET_ADDRESS, G_TYPE_STRING);
    g_signal_new_class_handler("caller-connecting", type, G_SIGNAL_RUN_LAST,
                               G_CALLBACK(accept_all), accept_until_refused,
                               NULL, NULL, G_TYPE_BOOLEAN, 2,
                               G_TYPE_SOCKET_ADDRESS, G_TYPE_STRING);
}

/* The peer chose the text, and handlers may be written in languages that accept
 * only UTF-8. */
static gchar *signals_readable(const gchar *streamid) {
    return streamid ? g_utf8_make_valid(streamid, -1) : NULL;
}

void gst_tltcp_signals_caller_added(GstElement *element,
                                    GSocketAddress *address) {
    g_signal_emit_by_name(element, "caller-added", 0, address);
}

void gst_tltcp_signals_caller_removed(GstElement *element,
                                      GSocketAddress *address) {
    g_signal_emit_by_name(element, "caller-removed", 0, address);
}

gboolean gst_tltcp_signals_caller_connecting(GstElement *element,
                                             GSocketAddress *address,
                                             const gchar *streamid) {
    g_autofree gchar *name = signals_readable(streamid);
    gboolean accepted = FALSE;

    g_signal_emit_by_name(element, "caller-connecting", address, name,
                          &accepted);
    return accepted;
}

void gst_tltcp_signals_caller_rejected(GstElement *element,
                                       GSocketAddress *address,
                                       const gchar *streamid) {
    g_autofree gchar *name = signals_readable(streamid);

    g_signal_emit_by_name(element, "caller-rejected", address, name);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* GstURIHandler for both elements. */
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpuri.h"

static GstURIType uri_type(GType type) {
    GstURIType kind = GST_URI_UNKNOWN;
    gpointer klass = g_type_class_ref(type);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);

    if (gst_element_class_get_pad_template(element, "sink")) {
        kind = GST_URI_SINK;
    } else if (gst_element_class_get_pad_template(element, "src")) {
        kind = GST_URI_SRC;
    }
    g_type_class_unref(klass);
    return kind;
}

static const gchar *const *uri_protocols(GType type) {
    static const gchar *const protocols[] = {GST_TLTCP_SCHEME,
                                             GST_TLTCP_SCHEME_TCP, NULL};

    (void)type;
    return protocols;
}

static gchar *uri_get(GstURIHandler *handler) {
    gchar *uri = NULL;

    g_object_get(handler, "uri", &uri, NULL);
    return uri;
}

static gboolean uri_set(GstURIHandler *handler, const gchar *uri,
                        GError **error) {
    return gst_tltcp_settings_set_uri(gst_tltcp_settings_of(G_OBJECT(handler)),
                                      uri, error);
}

void gst_tltcp_settings_uri_handler_init(gpointer iface, gpointer data) {
    GstURIHandlerInterface *handler = iface;

    (void)data;
    handler->get_type = uri_type;
    handler->get_protocols = uri_protocols;
    handler->get_uri = uri_get;
    handler->set_uri = uri_set;
}

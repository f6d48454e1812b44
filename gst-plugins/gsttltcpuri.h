/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_URI_H
#define GST_TLTCP_URI_H

#include <gst/gst.h>

#include <tltcp/live.h>

#define GST_TLTCP_SCHEME "tltcp"
/* The same with transport=tcp. */
#define GST_TLTCP_SCHEME_TCP "tltcp+tcp"

/* Of the latency in milliseconds. The property takes 0, since GObject would
 * only warn of it and keep another value; the element then does not start. */
#define GST_TLTCP_LATENCY_RANGE "a number from 1 to 2147483647"

/* The checked contents of a URI. */
typedef struct {
    GObject *element;
    gchar *text; /* the URI without its passphrase */
    tltcp_live_url url;
    GPtrArray *names; /* names of properties, without mode */
    GArray *values;   /* their GValues */
} GstTltcpUri;

/* Parses `text`: every key must name a writable property of `element`'s own
 * type, and every value must be valid for it. On failure returns NULL and an
 * error in GST_URI_ERROR that names the cause. */
GstTltcpUri *gst_tltcp_uri_parse(GObject *element, const gchar *text,
                                 GError **error);

void gst_tltcp_uri_free(GstTltcpUri *uri);

/* Sets the properties that the keys name. */
void gst_tltcp_uri_apply(const GstTltcpUri *uri, GObject *element);

#endif /* GST_TLTCP_URI_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Registers the elements. */
#include <gst/gst.h>

#include "gst-plugins/gsttltcpsink.h"
#include "gst-plugins/gsttltcpsrc.h"

static gboolean plugin_init(GstPlugin *plugin) {
    gboolean sink = GST_ELEMENT_REGISTER(tltcpsink, plugin);
    gboolean src = GST_ELEMENT_REGISTER(tltcpsrc, plugin);

    return sink && src;
}

#define PACKAGE "perigee"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, tltcp,
                  "Media with deadlines over UDP: TLTCP", plugin_init,
                  PERIGEE_VERSION, "MPL-2.0", "Perigee",
                  "Perigee, time-lined transports")

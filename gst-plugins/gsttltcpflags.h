/* SPDX-License-Identifier: MPL-2.0 */
#ifndef GST_TLTCP_FLAGS_H
#define GST_TLTCP_FLAGS_H

#include <gst/gst.h>

/* Flags of a buffer as flags of a section, and back. */
guint32 gst_tltcp_flags_to_wire(guint buffer_flags);
guint gst_tltcp_flags_from_wire(guint32 flags);

#endif /* GST_TLTCP_FLAGS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Properties that are plain fields of a structure. */
#ifndef GST_TLTCP_FIELDS_H
#define GST_TLTCP_FIELDS_H

#include <glib-object.h>

/* The field has the type of the property: gboolean, gint for enumerations,
 * guint, guint64, gchar *. */
typedef struct {
    guint prop; /* 0 ends a table */
    gsize offset;
} GstTltcpField;

/* FALSE: the property is not in the table.  An empty string becomes NULL. */
gboolean gst_tltcp_fields_set(const GstTltcpField *table, gpointer structure,
                              guint prop, const GValue *value);
gboolean gst_tltcp_fields_get(const GstTltcpField *table,
                              gconstpointer structure, guint prop,
                              GValue *value);

#endif /* GST_TLTCP_FIELDS_H */

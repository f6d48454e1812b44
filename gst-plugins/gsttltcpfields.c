/* SPDX-License-Identifier: MPL-2.0 */
/* Properties that are plain fields of a structure. */
#include "gst-plugins/gsttltcpfields.h"

static const GstTltcpField *fields_find(const GstTltcpField *table,
                                        guint prop) {
    while (table->prop && table->prop != prop) {
        table++;
    }
    return table->prop ? table : NULL;
}

static void set_string(gchar **field, const GValue *value) {
    const gchar *text = g_value_get_string(value);

    g_free(*field);
    *field = text && text[0] ? g_strdup(text) : NULL;
}

gboolean gst_tltcp_fields_set(const GstTltcpField *table, gpointer structure,
                              guint prop, const GValue *value) {
    const GstTltcpField *field = fields_find(table, prop);

    if (!field) {
        return FALSE;
    }
    gpointer at = G_STRUCT_MEMBER_P(structure, field->offset);
    switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
    case G_TYPE_BOOLEAN:
        *(gboolean *)at = g_value_get_boolean(value);
        break;
    case G_TYPE_ENUM:
        *(gint *)at = g_value_get_enum(value);
        break;
    case G_TYPE_UINT:
        *(guint *)at = g_value_get_uint(value);
        break;
    case G_TYPE_UINT64:
        *(guint64 *)at = g_value_get_uint64(value);
        break;
    case G_TYPE_STRING:
        set_string(at, value);
        break;
    default:
        g_assert_not_reached();
    }
    return TRUE;
}

gboolean gst_tltcp_fields_get(const GstTltcpField *table,
                              gconstpointer structure, guint prop,
                              GValue *value) {
    const GstTltcpField *field = fields_find(table, prop);

    if (!field) {
        return FALSE;
    }
    gconstpointer at = (const guint8 *)structure + field->offset;
    switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
    case G_TYPE_BOOLEAN:
        g_value_set_boolean(value, *(const gboolean *)at);
        break;
    case G_TYPE_ENUM:
        g_value_set_enum(value, *(const gint *)at);
        break;
    case G_TYPE_UINT:
        g_value_set_uint(value, *(const guint *)at);
        break;
    case G_TYPE_UINT64:
        g_value_set_uint64(value, *(const guint64 *)at);
        break;
    case G_TYPE_STRING:
        g_value_set_string(value, *(gchar *const *)at);
        break;
    default:
        g_assert_not_reached();
    }
    return TRUE;
}

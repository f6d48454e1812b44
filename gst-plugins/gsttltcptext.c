/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcptext.h"

#include <string.h>

/* Brackets that open: at most so many values are inside one another. Each takes
 * some hundred bytes of the stack. */
#define BRACKETS_MAX 256
#define TYPE_MAX 64 /* characters of a type's name */

static gboolean is_plain_type(GType type) {
    GType base = G_TYPE_FUNDAMENTAL(type);

    return (base >= G_TYPE_CHAR && base <= G_TYPE_STRING) ||
           base == GST_TYPE_FRACTION || base == GST_TYPE_BITMASK ||
           base == GST_TYPE_FLAG_SET || base == GST_TYPE_ARRAY ||
           type == GST_TYPE_BUFFER || type == G_TYPE_DATE ||
           type == GST_TYPE_DATE_TIME;
}

/* By its full name or one that GStreamer writes for it. */
static gboolean is_plain_name(const gchar *name) {
    static const gchar *const names[] = {
        "int",      "uint",
        "float",    "double",
        "buffer",   "fraction",
        "string",   "bool",
        "date",     "array",
        "datetime", "boolean",
        "i",        "u",
        "f",        "d",
        "bitmask",  "flagset",
        "s",        "str",
        "b",        "GstVideoMultiviewFlagsSet"};

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return TRUE;
        }
    }
    return is_plain_type(g_type_from_name(name));
}

/* The name in parentheses there. */
static gboolean is_plain_at(const gchar *text) {
    gchar name[TYPE_MAX];
    gsize len;

    text += strspn(text, " \t\n\v\f\r");
    len = strcspn(text, " \t\n\v\f\r)");
    if (len >= sizeof(name)) {
        return FALSE;
    }
    memcpy(name, text, len);
    name[len] = '\0';
    return is_plain_name(name);
}

/* Before the first value, parentheses are about memory. */
gboolean gst_tltcp_text_is_flat(const gchar *text) {
    gboolean values = FALSE;
    guint brackets = 0;

    for (const gchar *c = text; *c != '\0'; c++) {
        gboolean escaped = c > text && c[-1] == '\\';

        values = values || *c == '=';
        brackets += *c == '{' || *c == '[' || *c == '<' ? 1 : 0;
        if (brackets > BRACKETS_MAX ||
            (*c == '(' && values && !escaped && !is_plain_at(c + 1))) {
            return FALSE;
        }
    }
    return TRUE;
}

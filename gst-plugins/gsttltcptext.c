/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcptext.h"

#include <string.h>

#define NESTED_MAX 8
#define VALUES_MAX 256
#define NAME_MAX_LEN 64 /* characters */

#define SPACES " \t\n\v\f\r"
#define LETTERS \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+/:."

typedef struct {
    const gchar *at;
    guint values;
    guint names; /* not known yet */
} Scan;

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

static void skip_spaces(Scan *s) {
    s->at += strspn(s->at, SPACES);
}

static gboolean take_char(Scan *s, gchar c) {
    if (*s->at != c) {
        return FALSE;
    }
    s->at++;
    skip_spaces(s);
    return TRUE;
}

/* A word of letters, of fewer than NAME_MAX_LEN. */
static gboolean take_word(Scan *s, gchar *word) {
    gsize len = strspn(s->at, LETTERS);

    if (len == 0 || len >= NAME_MAX_LEN) {
        return FALSE;
    }
    memcpy(word, s->at, len);
    word[len] = '\0';
    s->at += len;
    skip_spaces(s);
    return TRUE;
}

static gboolean take_name(Scan *s) {
    gchar name[NAME_MAX_LEN];

    if (!take_word(s, name)) {
        return FALSE;
    }
    s->names += g_quark_try_string(name) == 0 ? 1 : 0;
    return TRUE;
}

static gboolean take_type(Scan *s) {
    gchar type[NAME_MAX_LEN];

    return !take_char(s, '(') ||
           (take_word(s, type) && is_plain_name(type) && take_char(s, ')'));
}

static gboolean take_string(Scan *s) {
    const gchar *c = s->at + 1;

    for (; *c != '\0' && *c != '"'; c++) {
        c += *c == '\\' && c[1] != '\0' ? 1 : 0;
    }
    s->at = c;
    return take_char(s, '"');
}

static gboolean take_single(Scan *s) {
    gsize len = strspn(s->at, LETTERS);

    if (*s->at == '"') {
        return take_string(s);
    }
    s->at += len;
    skip_spaces(s);
    return len > 0;
}

/* A single value, a list or an array. */
static gboolean take_value(Scan *s, guint depth) {
    gchar end = '\0';

    if (++s->values > VALUES_MAX || depth > NESTED_MAX || !take_type(s)) {
        return FALSE;
    }
    if (*s->at == '{') {
        end = '}';
    } else if (*s->at == '<') {
        end = '>';
    } else {
        return take_single(s);
    }
    (void)take_char(s, *s->at);
    if (take_char(s, end)) {
        return TRUE;
    }
    do {
        if (!take_value(s, depth + 1)) {
            return FALSE;
        }
    } while (take_char(s, ','));
    return take_char(s, end);
}

/* Of memory, after the media type. */
static gboolean take_features(Scan *s) {
    if (!take_char(s, '(')) {
        return TRUE;
    }
    do {
        if (!take_name(s)) {
            return FALSE;
        }
    } while (take_char(s, ','));
    return take_char(s, ')');
}

static gboolean take_structure(Scan *s) {
    skip_spaces(s);
    if (!take_name(s) || !take_features(s)) {
        return FALSE;
    }
    while (take_char(s, ',')) {
        if (!take_name(s) || !take_char(s, '=') || !take_value(s, 0)) {
            return FALSE;
        }
    }
    (void)take_char(s, ';');
    return *s->at == '\0';
}

gboolean gst_tltcp_text_is_fit(const gchar *text, guint *names) {
    Scan s = {.at = text};

    if (!take_structure(&s) || s.names > *names) {
        return FALSE;
    }
    *names -= s.names;
    return TRUE;
}

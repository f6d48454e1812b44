/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpuri.h"

#include <errno.h>
#include <string.h>

#include <tltcp/config.h>

#include "gst-plugins/gsttltcpenums.h"
#include "gst-plugins/gsttltcpsecrets.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstTltcpUri, gst_tltcp_uri_free)

#define FAIL(error, ...) \
    g_set_error(error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI, __VA_ARGS__)

static void clear_value(gpointer value) {
    g_value_unset(value);
}

void gst_tltcp_uri_free(GstTltcpUri *uri) {
    g_free(uri->text);
    g_free(uri->host);
    g_clear_pointer(&uri->names, g_ptr_array_unref);
    g_clear_pointer(&uri->values, g_array_unref);
    g_free(uri);
}

/* Numbers are taken whole, in the range that the property has. */
static gboolean read_unsigned(const gchar *text, guint64 min, guint64 max,
                              guint64 *value, gchar **expected) {
    if (g_ascii_string_to_unsigned(text, 10, min, max, value, NULL)) {
        return TRUE;
    }
    *expected = g_strdup_printf("expected a number from %" G_GUINT64_FORMAT
                                " to %" G_GUINT64_FORMAT,
                                min, max);
    return FALSE;
}

static gboolean read_signed(const gchar *text, gint64 min, gint64 max,
                            gint64 *value, gchar **expected) {
    if (g_ascii_string_to_signed(text, 10, min, max, value, NULL)) {
        return TRUE;
    }
    *expected = g_strdup_printf("expected a number from %" G_GINT64_FORMAT
                                " to %" G_GINT64_FORMAT,
                                min, max);
    return FALSE;
}

static gboolean read_boolean(const gchar *text, GValue *value,
                             gchar **expected) {
    static const gchar *const words[] = {"false", "true", "0",
                                         "1",     "no",   "yes"};

    for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(text, words[i]) == 0) {
            g_value_set_boolean(value, i % 2 != 0);
            return TRUE;
        }
    }
    *expected = g_strdup("expected true or false");
    return FALSE;
}

static gboolean read_enum(const gchar *text, GParamSpecEnum *spec,
                          GValue *value, gchar **expected) {
    GEnumValue *found = g_enum_get_value_by_nick(spec->enum_class, text);
    guint64 number;

    if (!found &&
        g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT, &number, NULL)) {
        found = g_enum_get_value(spec->enum_class, (gint)number);
    }
    if (found) {
        g_value_set_enum(value, found->value);
        return TRUE;
    }
    GString *nicks = g_string_new("expected one of");
    for (guint i = 0; i < spec->enum_class->n_values; i++) {
        g_string_append_printf(nicks, "%s %s", i ? "," : "",
                               spec->enum_class->values[i].value_nick);
    }
    *expected = g_string_free(nicks, FALSE);
    return FALSE;
}

static gboolean read_number(const gchar *text, GParamSpec *spec, GValue *value,
                            gchar **expected) {
    guint64 u = 0;
    gint64 i = 0;
    gboolean ok = FALSE;

    if (G_IS_PARAM_SPEC_UINT(spec)) {
        GParamSpecUInt *p = G_PARAM_SPEC_UINT(spec);
        ok = read_unsigned(text, p->minimum, p->maximum, &u, expected);
        g_value_set_uint(value, (guint)u);
    } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
        GParamSpecUInt64 *p = G_PARAM_SPEC_UINT64(spec);
        ok = read_unsigned(text, p->minimum, p->maximum, &u, expected);
        g_value_set_uint64(value, u);
    } else if (G_IS_PARAM_SPEC_INT(spec)) {
        GParamSpecInt *p = G_PARAM_SPEC_INT(spec);
        ok = read_signed(text, p->minimum, p->maximum, &i, expected);
        g_value_set_int(value, (gint)i);
    } else {
        *expected = g_strdup("it cannot be set by URI");
    }
    return ok;
}

/* The library knows best which controllers and secrets will do, and what it was
 * built with. */
static gboolean check_with_library(const gchar *name, const GValue *value,
                                   gchar **expected) {
    tltcp_config config;
    struct secrets secrets = {0};
    gchar why[TLTCP_REASON_MAX + 1] = "";

    tltcp_config_init(&config);
    if (strcmp(name, "congestion-control") == 0) {
        config.congestion = g_value_get_string(value);
    } else if (gst_tltcp_secrets_is_property(name)) {
        *expected =
            gst_tltcp_secrets_add(&secrets, name, g_value_get_string(value));
        secrets_to_config(&secrets, &config);
    } else if (strcmp(name, "streamid") == 0) {
        config.stream_id = g_value_get_string(value);
    } else if (strcmp(name, "fec") == 0) {
        config.fec = (uint32_t)g_value_get_enum(value);
    }
    gint error = tltcp_config_check(&config, why);
    if (error && !*expected) {
        *expected = g_strdup(why[0] ? why : tltcp_strerror(error));
    }
    secrets_wipe(&secrets, sizeof(secrets));
    return !*expected;
}

static gboolean read_value(const gchar *text, GParamSpec *spec, GValue *value,
                           gchar **expected) {
    g_value_init(value, spec->value_type);
    if (G_IS_PARAM_SPEC_STRING(spec)) {
        g_value_set_string(value, text);
        return TRUE;
    }
    if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
        return read_boolean(text, value, expected);
    }
    if (G_IS_PARAM_SPEC_ENUM(spec)) {
        return read_enum(text, G_PARAM_SPEC_ENUM(spec), value, expected);
    }
    return read_number(text, spec, value, expected);
}

static GParamSpec *find_key(GObject *element, const gchar *key) {
    GParamSpec *spec =
        g_object_class_find_property(G_OBJECT_GET_CLASS(element), key);

    if (!spec || spec->owner_type != G_OBJECT_TYPE(element) ||
        !(spec->flags & G_PARAM_WRITABLE) || strcmp(key, "uri") == 0) {
        return NULL;
    }
    return spec;
}

static const gchar *shown(const gchar *key, const gchar *text) {
    return !text ? "" : strcmp(key, "passphrase") == 0 ? "..." : text;
}

static gboolean add_key(GstTltcpUri *uri, GObject *element, const gchar *key,
                        const gchar *text, GError **error) {
    GParamSpec *spec = find_key(element, key);
    g_autofree gchar *expected = NULL;
    GValue value = G_VALUE_INIT;

    if (!spec) {
        FAIL(error, "Unknown key \"%s\" in \"%s\": a key is a property of %s",
             key, uri->text, G_OBJECT_TYPE_NAME(element));
        return FALSE;
    }
    gboolean ok = text && read_value(text, spec, &value, &expected) &&
                  check_with_library(key, &value, &expected);
    if (!ok) {
        FAIL(error, "Bad value \"%s\" of \"%s\" in \"%s\": %s",
             shown(key, text), key, uri->text,
             expected ? expected : "there is none");
    }
    if (ok && strcmp(key, "mode") == 0) {
        uri->listener = g_value_get_enum(&value) == GST_TLTCP_MODE_LISTENER;
    } else if (ok) {
        g_ptr_array_add(uri->names, g_strdup(key));
        g_array_append_val(uri->values, value);
        return TRUE;
    }
    if (G_IS_VALUE(&value)) {
        g_value_unset(&value);
    }
    return ok;
}

/* The text of the URI can be read, so the secret must not stay in it. */
static void hide_passphrase(GstTltcpUri *uri, const GstUri *parsed) {
    g_autoptr(GstUri) copy = gst_uri_copy(parsed);

    if (gst_uri_remove_query_key(copy, "passphrase")) {
        g_free(uri->text);
        uri->text = gst_uri_to_string(copy);
    }
}

static gboolean read_keys(GstTltcpUri *uri, GObject *element, GstUri *parsed,
                          GError **error) {
    g_autoptr(GHashTable) table = gst_uri_get_query_table(parsed);
    GHashTableIter iter;
    gpointer key, value;

    if (!table) {
        return TRUE;
    }
    hide_passphrase(uri, parsed);
    g_hash_table_iter_init(&iter, table);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        if (!add_key(uri, element, key, value, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* gst_uri_from_string() lets ports wrap around and go missing. */
static gboolean read_port(GstTltcpUri *uri, GError **error) {
    const gchar *start = strstr(uri->text, "://") + 3;
    g_autofree gchar *authority = g_strndup(start, strcspn(start, "/?#"));
    const gchar *at = strrchr(authority, '@');
    const gchar *bracket = strrchr(authority, ']');
    const gchar *colon = strrchr(bracket ? bracket : at ? at : authority, ':');
    guint64 port;

    if (!colon ||
        !g_ascii_string_to_unsigned(colon + 1, 10, 0, 65535, &port, NULL)) {
        FAIL(error,
             "Bad port in \"%s\": expected tltcp://HOST:PORT with a "
             "port from 1 to 65535",
             uri->text);
        return FALSE;
    }
    uri->port = (guint)port;
    return TRUE;
}

static void read_host(GstTltcpUri *uri, GstUri *parsed) {
    const gchar *host = gst_uri_get_host(parsed);
    gsize len = host ? strlen(host) : 0;

    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        uri->host = g_strndup(host + 1, len - 2);
    } else if (len) {
        uri->host = g_strdup(host);
    }
    uri->listener = !uri->host;
}

static gboolean check_ends(const GstTltcpUri *uri, GError **error) {
    if (!uri->listener && !uri->host) {
        FAIL(error, "No host in \"%s\": a caller needs one", uri->text);
    } else if (!uri->listener && !uri->port) {
        FAIL(error, "Bad port in \"%s\": a caller needs one from 1 to 65535",
             uri->text);
    } else {
        return TRUE;
    }
    return FALSE;
}

GstTltcpUri *gst_tltcp_uri_parse(GObject *element, const gchar *text,
                                 GError **error) {
    g_autoptr(GstTltcpUri) uri = g_new0(GstTltcpUri, 1);
    g_autoptr(GstUri) parsed = text ? gst_uri_from_string(text) : NULL;

    uri->text = g_strdup(text ? text : "");
    uri->names = g_ptr_array_new_with_free_func(g_free);
    uri->values = g_array_new(FALSE, TRUE, sizeof(GValue));
    g_array_set_clear_func(uri->values, clear_value);
    if (!parsed || !strstr(uri->text, "://")) {
        FAIL(error, "\"%s\" is no URI: expected tltcp://HOST:PORT", uri->text);
        return NULL;
    }
    if (g_strcmp0(gst_uri_get_scheme(parsed), GST_TLTCP_SCHEME) != 0) {
        g_set_error(error, GST_URI_ERROR, GST_URI_ERROR_UNSUPPORTED_PROTOCOL,
                    "\"%s\" is no tltcp:// URI", uri->text);
        return NULL;
    }
    read_host(uri, parsed);
    if (!read_port(uri, error) || !read_keys(uri, element, parsed, error) ||
        !check_ends(uri, error)) {
        return NULL;
    }
    return g_steal_pointer(&uri);
}

void gst_tltcp_uri_apply(const GstTltcpUri *uri, GObject *element) {
    for (guint i = 0; i < uri->names->len; i++) {
        g_object_set_property(element, g_ptr_array_index(uri->names, i),
                              &g_array_index(uri->values, GValue, i));
    }
}

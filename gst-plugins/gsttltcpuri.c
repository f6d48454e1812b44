/* SPDX-License-Identifier: MPL-2.0 */
/* Parses URIs. */
#include "gst-plugins/gsttltcpuri.h"

#include <string.h>

#include "gst-plugins/gsttltcpenums.h"
#include "gst-plugins/gsttltcpsecrets.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstTltcpUri, gst_tltcp_uri_free)

static void clear_value(gpointer value) {
    g_value_unset(value);
}

void gst_tltcp_uri_free(GstTltcpUri *uri) {
    g_free(uri->text);
    g_clear_pointer(&uri->names, g_ptr_array_unref);
    g_clear_pointer(&uri->values, g_array_unref);
    g_free(uri);
}

/* A number must be complete and within the range of the property. */
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

/* The library checks controllers and secrets, since they depend on its build
 * options.
 */
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
    } else if (strcmp(name, "latency") == 0 && !g_value_get_uint(value)) {
        *expected = g_strdup("expected " GST_TLTCP_LATENCY_RANGE);
    }
    gint error = tltcp_config_check(&config, why);
    if (error && !*expected) {
        *expected = g_strdup(why[0] ? why : tltcp_strerror(error));
    }
    secrets_clear(&secrets);
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

static gint uri_on_key(gpointer user, const gchar *key, const gchar *text,
                       gchar *why) {
    GstTltcpUri *uri = user;
    GParamSpec *spec = find_key(uri->element, key);
    g_autofree gchar *expected = NULL;
    GValue value = G_VALUE_INIT;

    if (!spec) {
        (void)g_snprintf(why, TLTCP_LIVE_WHY_MAX,
                         "no such key; a key is a property of %s",
                         G_OBJECT_TYPE_NAME(uri->element));
        return TLTCP_ERR_INVAL;
    }
    gboolean ok = read_value(text, spec, &value, &expected) &&
                  check_with_library(key, &value, &expected);
    if (!ok) {
        g_strlcpy(why, expected, TLTCP_LIVE_WHY_MAX);
    } else if (strcmp(key, "mode") == 0) {
        uri->url.listens = g_value_get_enum(&value) == GST_TLTCP_MODE_LISTENER;
    } else {
        g_ptr_array_add(uri->names, g_strdup(key));
        g_array_append_val(uri->values, value);
        return 0;
    }
    g_value_unset(&value);
    return ok ? 0 : TLTCP_ERR_INVAL;
}

/* The URI can be read as a property, so it must not contain the secret. */
static gchar *uri_without_passphrase(const gchar *text) {
    g_autoptr(GstUri) uri = gst_uri_from_string(text);

    if (uri && gst_uri_remove_query_key(uri, "passphrase")) {
        return gst_uri_to_string(uri);
    }
    gchar *hidden = g_strdup(text);
    tltcp_live_url_hide(hidden);
    return hidden;
}

static gboolean uri_has_scheme(const gchar *text, GError **error) {
    g_autofree gchar *scheme = gst_uri_get_protocol(text);

    if (scheme && g_ascii_strcasecmp(scheme, GST_TLTCP_SCHEME) != 0 &&
        g_ascii_strcasecmp(scheme, GST_TLTCP_SCHEME_TCP) != 0) {
        g_set_error(error, GST_URI_ERROR, GST_URI_ERROR_UNSUPPORTED_PROTOCOL,
                    "\"%s\" is not a tltcp:// URI", text);
        return FALSE;
    }
    return TRUE;
}

GstTltcpUri *gst_tltcp_uri_parse(GObject *element, const gchar *text,
                                 GError **error) {
    g_autoptr(GstTltcpUri) uri = g_new0(GstTltcpUri, 1);
    gchar why[TLTCP_LIVE_WHY_MAX];

    text = text ? text : "";
    uri->element = element;
    uri->text = uri_without_passphrase(text);
    uri->names = g_ptr_array_new_with_free_func(g_free);
    uri->values = g_array_new(FALSE, TRUE, sizeof(GValue));
    g_array_set_clear_func(uri->values, clear_value);
    if (!uri_has_scheme(uri->text, error)) {
        return NULL;
    }
    if (tltcp_live_url_parse(&uri->url, text, GST_TLTCP_SCHEME "://",
                             uri_on_key, uri, why) < 0 ||
        tltcp_live_url_check(&uri->url, why) < 0) {
        g_set_error(error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
                    "Bad URI: %s (in \"%s\")", why, uri->text);
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

/* SPDX-License-Identifier: MPL-2.0 */
/* The properties that both elements have. */
#include "gst-plugins/gsttltcpsettings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <congestion/congestion.h>
#include <glib/gstdio.h>

#include "gst-plugins/gsttltcpfields.h"
#include "gst-plugins/gsttltcpsecrets.h"
#include "gst-plugins/gsttltcpuri.h"

#define DEFAULT_HOST "127.0.0.1"
#define DEFAULT_PORT 7001
/* Largest frame that can be sent: an intra picture of 8K video. */
#define BUFFER_BYTES (16u << 20)
/* A peer that is silent for this long counts as gone. */
#define IDLE_MS 5000

/* Key of an element's settings. */
#define SETTINGS_KEY "tltcp-settings"

#define RW_READY \
    (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

static void install_addresses(GObjectClass *klass) {
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_URI,
        g_param_spec_string("uri", "URI",
                            "tltcp://HOST:PORT?key=value..., where each key is "
                            "the name of a property",
                            GST_TLTCP_DEFAULT_URI, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_MODE,
        g_param_spec_enum(
            "mode", "Mode", "Whether to call or to wait for callers",
            GST_TYPE_TLTCP_MODE, GST_TLTCP_MODE_CALLER, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_LOCALADDRESS,
        g_param_spec_string("localaddress", "Local address",
                            "Address that a listener binds to, or that a "
                            "caller calls from (NULL: all, or any)",
                            NULL, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_LOCALPORT,
        g_param_spec_uint("localport", "Local port",
                          "Port that a listener binds to, or that a caller "
                          "calls from (0: any; reads as the bound port once "
                          "it listens)",
                          0, 65535, DEFAULT_PORT, RW_READY));
}

static const gchar *list_controllers(void) {
    g_autofree gchar *names = g_strjoinv(", ", (gchar **)cong_list());
    g_autofree gchar *text = g_strdup_printf(
        "Name of the controller (NULL: the library's default): %s", names);

    return g_intern_string(text);
}

static void install_secrets(GObjectClass *klass) {
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_PASSPHRASE,
        g_param_spec_string("passphrase", "Passphrase",
                            "Secret shared by both ends, 8 to 512 bytes (NULL: "
                            "no security)",
                            NULL,
                            G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS |
                                GST_PARAM_MUTABLE_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_PASSPHRASE_FILE,
        g_param_spec_string("passphrase-file", "Passphrase file",
                            "File whose first line is the passphrase; further "
                            "files, separated by colons, are for other callers "
                            "(NULL: none)",
                            NULL, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_KEY_FILE,
        g_param_spec_string("key-file", "Key file",
                            "File with a key in place of a passphrase: 32 "
                            "bytes or 64 hexadecimal digits; further files "
                            "as for passphrase-file (NULL: none)",
                            NULL, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_IDENTITY_FILE,
        g_param_spec_string("identity-file", "Identity file",
                            "File with the own static secret key: 32 bytes or "
                            "64 hexadecimal digits (NULL: no static keys)",
                            NULL, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_LISTENER_KEY,
        g_param_spec_string("listener-key", "Listener key",
                            "Static public key of the listener that a caller "
                            "with an identity-file calls: 64 hexadecimal "
                            "digits",
                            NULL, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_CALLER_KEYS,
        g_param_spec_string("caller-keys", "Caller keys",
                            "File of the callers that a listener with an "
                            "identity-file lets in: a static public key and a "
                            "name per line",
                            NULL, RW_READY));
}

static void install_connection(GObjectClass *klass) {
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_LATENCY,
        g_param_spec_uint("latency", "Latency",
                          "How long a frame stays useful, from capture to "
                          "playout, at least 1 (milliseconds)",
                          0, G_MAXINT32, GST_TLTCP_DEFAULT_LATENCY, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_STREAMID,
        g_param_spec_string("streamid", "Stream ID",
                            "Name of the stream that a caller requests", NULL,
                            RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_AUTO_RECONNECT,
        g_param_spec_boolean("auto-reconnect", "Reconnect automatically",
                             "Call again when the connection fails; FALSE: "
                             "a failure is an error",
                             TRUE, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_CONGESTION_CONTROL,
        g_param_spec_string("congestion-control", "Congestion control",
                            list_controllers(), NULL, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_FEC,
        g_param_spec_enum("fec", "Forward error correction",
                          "Send repair packets that replace lost ones; used "
                          "unless either end says off",
                          GST_TYPE_TLTCP_FEC, GST_TLTCP_FEC_AUTO, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_TRANSPORT,
        g_param_spec_enum("transport", "Transport",
                          "What carries the packets; TCP where UDP is blocked",
                          GST_TYPE_TLTCP_TRANSPORT, GST_TLTCP_TRANSPORT_UDP,
                          RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_QOS_DSCP,
        g_param_spec_uint("qos-dscp", "DSCP", "DSCP of outgoing packets", 0, 63,
                          0, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_THREADS,
        g_param_spec_uint("threads", "I/O threads",
                          "Listener: on how many threads it serves its callers",
                          1, TLTCP_THREADS_MAX, 1, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_QLOG_DIR,
        g_param_spec_string("qlog-dir", "Trace folder",
                            "Folder for a qlog file of each connection (NULL: "
                            "none)",
                            NULL, RW_READY));
    g_object_class_install_property(
        klass, GST_TLTCP_PROP_STATS,
        g_param_spec_boxed("stats", "Statistics",
                           "Statistics of the connection or connections",
                           GST_TYPE_STRUCTURE,
                           G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

void gst_tltcp_settings_install(GObjectClass *klass) {
    install_addresses(klass);
    install_connection(klass);
    install_secrets(klass);
}

void gst_tltcp_settings_init(GstTltcpSettings *s, GObject *element,
                             const GstTltcpField *own) {
    memset(s, 0, sizeof(*s));
    s->element = element;
    s->own = own;
    g_object_set_data(element, SETTINGS_KEY, s);
    g_mutex_init(&s->lock);
    s->uri = g_strdup(GST_TLTCP_DEFAULT_URI);
    s->host = g_strdup(DEFAULT_HOST);
    s->port = DEFAULT_PORT;
    s->mode = GST_TLTCP_MODE_CALLER;
    s->localport = -1;
    s->latency = GST_TLTCP_DEFAULT_LATENCY;
    s->threads = 1;
    s->auto_reconnect = TRUE;
}

GstTltcpSettings *gst_tltcp_settings_of(GObject *element) {
    return g_object_get_data(element, SETTINGS_KEY);
}

void gst_tltcp_settings_clear(GstTltcpSettings *s) {
    g_free(s->uri);
    g_free(s->uri_wrong);
    g_free(s->host);
    g_free(s->localaddress);
    g_free(s->localservice);
    if (s->passphrase) {
        secrets_wipe(s->passphrase, strlen(s->passphrase));
    }
    g_free(s->passphrase);
    g_free(s->passphrase_file);
    g_free(s->key_file);
    g_free(s->identity_file);
    g_free(s->listener_key);
    g_free(s->caller_keys);
    secrets_clear(&s->secrets);
    g_free(s->secrets_wrong);
    g_free(s->streamid);
    g_free(s->congestion);
    g_free(s->qlog_dir);
    g_mutex_clear(&s->lock);
}

/* An element must not start without its secret. */
static void load_secrets(GstTltcpSettings *s) {
    const struct {
        const gchar *property;
        const gchar *value;
    } all[] = {{"passphrase", s->passphrase},
               {"passphrase-file", s->passphrase_file},
               {"key-file", s->key_file},
               {"identity-file", s->identity_file},
               {"listener-key", s->listener_key},
               {"caller-keys", s->caller_keys}};

    for (guint i = 0; i < G_N_ELEMENTS(all) && !s->secrets_wrong; i++) {
        if (all[i].value) {
            s->secrets_wrong = gst_tltcp_secrets_add(
                &s->secrets, all[i].property, all[i].value);
        }
    }
}

GstTltcpSettings *gst_tltcp_settings_copy(GstTltcpSettings *s) {
    GstTltcpSettings *copy = g_new0(GstTltcpSettings, 1);

    g_mutex_init(&copy->lock);
    g_mutex_lock(&s->lock);
    copy->uri = g_strdup(s->uri);
    copy->host = g_strdup(s->host);
    copy->port = s->port;
    copy->uri_set = s->uri_set;
    copy->uri_wrong = g_strdup(s->uri_wrong);
    copy->mode = s->mode;
    copy->localaddress = g_strdup(s->localaddress);
    copy->localport = s->localport;
    copy->localservice =
        s->localport > 0 ? g_strdup_printf("%d", s->localport) : NULL;
    copy->latency = s->latency;
    copy->passphrase = g_strdup(s->passphrase);
    copy->passphrase_file = g_strdup(s->passphrase_file);
    copy->key_file = g_strdup(s->key_file);
    copy->identity_file = g_strdup(s->identity_file);
    copy->listener_key = g_strdup(s->listener_key);
    copy->caller_keys = g_strdup(s->caller_keys);
    copy->streamid = g_strdup(s->streamid);
    copy->auto_reconnect = s->auto_reconnect;
    copy->congestion = g_strdup(s->congestion);
    copy->fec = s->fec;
    copy->transport = s->transport;
    copy->qos_dscp = s->qos_dscp;
    copy->threads = s->threads;
    copy->qlog_dir = g_strdup(s->qlog_dir);
    g_mutex_unlock(&s->lock);
    load_secrets(copy);
    return copy;
}

void gst_tltcp_settings_free(GstTltcpSettings *s) {
    gst_tltcp_settings_clear(s);
    g_free(s);
}

/* Setting a property cannot fail, so the element refuses to start with a bad
 * URI. */
static void set_uri(GstTltcpSettings *s, const GValue *value) {
    g_autoptr(GError) error = NULL;

    if (!gst_tltcp_settings_set_uri(s, g_value_get_string(value), &error)) {
        g_warning("%s", error->message);
    }
    if (error &&
        !g_error_matches(error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE)) {
        g_mutex_lock(&s->lock);
        g_free(s->uri_wrong);
        s->uri_wrong = g_strdup(error->message);
        g_mutex_unlock(&s->lock);
    }
}

/* Plain fields. The passphrase is write-only. */
static const GstTltcpField fields[] = {
    {GST_TLTCP_PROP_MODE, G_STRUCT_OFFSET(GstTltcpSettings, mode)},
    {GST_TLTCP_PROP_LATENCY, G_STRUCT_OFFSET(GstTltcpSettings, latency)},
    {GST_TLTCP_PROP_PASSPHRASE, G_STRUCT_OFFSET(GstTltcpSettings, passphrase)},
    {GST_TLTCP_PROP_PASSPHRASE_FILE,
     G_STRUCT_OFFSET(GstTltcpSettings, passphrase_file)},
    {GST_TLTCP_PROP_KEY_FILE, G_STRUCT_OFFSET(GstTltcpSettings, key_file)},
    {GST_TLTCP_PROP_IDENTITY_FILE,
     G_STRUCT_OFFSET(GstTltcpSettings, identity_file)},
    {GST_TLTCP_PROP_LISTENER_KEY,
     G_STRUCT_OFFSET(GstTltcpSettings, listener_key)},
    {GST_TLTCP_PROP_CALLER_KEYS,
     G_STRUCT_OFFSET(GstTltcpSettings, caller_keys)},
    {GST_TLTCP_PROP_STREAMID, G_STRUCT_OFFSET(GstTltcpSettings, streamid)},
    {GST_TLTCP_PROP_AUTO_RECONNECT,
     G_STRUCT_OFFSET(GstTltcpSettings, auto_reconnect)},
    {GST_TLTCP_PROP_CONGESTION_CONTROL,
     G_STRUCT_OFFSET(GstTltcpSettings, congestion)},
    {GST_TLTCP_PROP_FEC, G_STRUCT_OFFSET(GstTltcpSettings, fec)},
    {GST_TLTCP_PROP_TRANSPORT, G_STRUCT_OFFSET(GstTltcpSettings, transport)},
    {GST_TLTCP_PROP_QOS_DSCP, G_STRUCT_OFFSET(GstTltcpSettings, qos_dscp)},
    {GST_TLTCP_PROP_THREADS, G_STRUCT_OFFSET(GstTltcpSettings, threads)},
    {GST_TLTCP_PROP_QLOG_DIR, G_STRUCT_OFFSET(GstTltcpSettings, qlog_dir)},
    {GST_TLTCP_PROP_LOCALADDRESS,
     G_STRUCT_OFFSET(GstTltcpSettings, localaddress)},
    {0, 0},
};

gboolean gst_tltcp_settings_set(GstTltcpSettings *s, guint prop,
                                const GValue *value) {
    gboolean known = TRUE;

    if (prop == GST_TLTCP_PROP_URI) {
        set_uri(s, value);
        return TRUE;
    }
    g_mutex_lock(&s->lock);
    if (prop == GST_TLTCP_PROP_LOCALPORT) {
        s->localport = (gint)g_value_get_uint(value);
    } else {
        known = gst_tltcp_fields_set(fields, s, prop, value) ||
                gst_tltcp_fields_set(s->own, s->element, prop, value);
    }
    g_mutex_unlock(&s->lock);
    return known;
}

gboolean gst_tltcp_settings_get(GstTltcpSettings *s, guint prop,
                                GValue *value) {
    gboolean known = TRUE;

    g_mutex_lock(&s->lock);
    switch (prop) {
    case GST_TLTCP_PROP_URI:
        g_value_set_string(value, s->uri);
        break;
    case GST_TLTCP_PROP_LOCALADDRESS:
        g_value_set_string(value, gst_tltcp_settings_bind_host(s));
        break;
    case GST_TLTCP_PROP_LOCALPORT:
        g_value_set_uint(value, s->bound_port
                                    ? s->bound_port
                                    : gst_tltcp_settings_bind_port(s));
        break;
    default:
        known = gst_tltcp_fields_get(fields, s, prop, value) ||
                gst_tltcp_fields_get(s->own, s->element, prop, value);
    }
    g_mutex_unlock(&s->lock);
    return known;
}

static void take_ends(GstTltcpSettings *s, const GstTltcpUri *uri) {
    g_mutex_lock(&s->lock);
    g_free(s->uri);
    g_free(s->host);
    s->uri = g_strdup(uri->text);
    s->host = uri->url.host[0] ? g_strdup(uri->url.host) : NULL;
    s->port = (guint)strtoul(uri->url.port, NULL, 10);
    s->uri_set = TRUE;
    g_clear_pointer(&s->uri_wrong, g_free);
    s->mode =
        uri->url.listens ? GST_TLTCP_MODE_LISTENER : GST_TLTCP_MODE_CALLER;
    g_mutex_unlock(&s->lock);
}

gboolean gst_tltcp_settings_set_uri(GstTltcpSettings *s, const gchar *uri,
                                    GError **error) {
    GObject *element = s->element;
    GstTltcpUri *parsed;

    GST_OBJECT_LOCK(element);
    gboolean running = GST_STATE(element) > GST_STATE_READY;
    GST_OBJECT_UNLOCK(element);
    if (running) {
        g_set_error(error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE,
                    "The URI of %s cannot change while it runs",
                    GST_OBJECT_NAME(element));
        return FALSE;
    }
    parsed = gst_tltcp_uri_parse(element, uri, error);
    if (!parsed) {
        return FALSE;
    }
    take_ends(s, parsed);
    gst_tltcp_uri_apply(parsed, element);
    gst_tltcp_uri_free(parsed);
    return TRUE;
}

void gst_tltcp_settings_config(const GstTltcpSettings *s,
                               tltcp_config *config) {
    tltcp_config_init(config);
    config->latency_ms = s->latency;
    config->congestion = s->congestion;
    secrets_to_config(&s->secrets, config);
    config->stream_id = s->streamid;
    config->fec = (uint32_t)s->fec;
    config->io.dscp = s->qos_dscp;
    config->io.transport = (uint8_t)s->transport;
    config->qlog_dir = s->qlog_dir;
    config->idle_timeout_ms = IDLE_MS;
    config->send_buffer = BUFFER_BYTES;
    config->recv_buffer = BUFFER_BYTES;
    if (s->mode == GST_TLTCP_MODE_CALLER) {
        config->io.local_host = s->localaddress;
        config->io.local_service = s->localservice;
    } else {
        config->io.threads = (uint8_t)s->threads;
    }
}

void gst_tltcp_settings_link(const GstTltcpSettings *s,
                             tltcp_live_settings *link,
                             gchar service[GST_TLTCP_PORT_TEXT]) {
    gboolean listens = s->mode == GST_TLTCP_MODE_LISTENER;

    (void)g_snprintf(service, GST_TLTCP_PORT_TEXT, "%u",
                     listens ? gst_tltcp_settings_bind_port(s) : s->port);
    memset(link, 0, sizeof(*link));
    link->host = listens ? gst_tltcp_settings_bind_host(s) : s->host;
    link->service = service;
    link->listens = listens;
    link->reconnect = listens || s->auto_reconnect;
}

gint gst_tltcp_settings_check(const GstTltcpSettings *s,
                              const tltcp_config *config, gchar *reason) {
    const gchar *wrong = s->uri_wrong ? s->uri_wrong : s->secrets_wrong;

    if (!wrong) {
        wrong = secrets_identities_wrong(&s->secrets.identities,
                                         s->mode == GST_TLTCP_MODE_LISTENER);
    }
    if (wrong) {
        g_strlcpy(reason, wrong, TLTCP_REASON_MAX + 1);
        return TLTCP_ERR_INVAL;
    }
    if (!s->latency) {
        g_strlcpy(reason,
                  "latency is 0, and no frame could arrive in time; it should "
                  "be " GST_TLTCP_LATENCY_RANGE,
                  TLTCP_REASON_MAX + 1);
        return TLTCP_ERR_INVAL;
    }
    if (s->qlog_dir && g_access(s->qlog_dir, W_OK | X_OK) != 0) {
        (void)g_snprintf(reason, TLTCP_REASON_MAX + 1,
                         "qlog-dir \"%s\" should be a folder that may be "
                         "written to",
                         s->qlog_dir);
        return TLTCP_ERR_INVAL;
    }
    return tltcp_config_check(config, reason);
}

const gchar *gst_tltcp_settings_bind_host(const GstTltcpSettings *s) {
    if (s->localaddress) {
        return s->localaddress;
    }
    return s->uri_set && s->mode == GST_TLTCP_MODE_LISTENER ? s->host : NULL;
}

guint gst_tltcp_settings_bind_port(const GstTltcpSettings *s) {
    return s->localport >= 0 ? (guint)s->localport : s->port;
}

void gst_tltcp_settings_set_bound(GstTltcpSettings *s, guint port) {
    g_mutex_lock(&s->lock);
    s->bound_port = port;
    g_mutex_unlock(&s->lock);
}

gchar *gst_tltcp_settings_where(const GstTltcpSettings *s) {
    gboolean listener = s->mode == GST_TLTCP_MODE_LISTENER;
    const gchar *host = listener ? gst_tltcp_settings_bind_host(s) : s->host;

    return g_strdup_printf(
        host && strchr(host, ':') ? "[%s]:%u" : "%s:%u", host ? host : "*",
        listener ? gst_tltcp_settings_bind_port(s) : s->port);
}

GstClockTime gst_tltcp_running_now(GstElement *element) {
    g_autoptr(GstClock) clock = gst_element_get_clock(element);
    GstClockTime base = gst_element_get_base_time(element);
    GstClockTime t = clock ? gst_clock_get_time(clock) : 0;

    return t > base ? t - base : 0;
}

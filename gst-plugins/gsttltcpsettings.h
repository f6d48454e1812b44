/* SPDX-License-Identifier: MPL-2.0 */
/* The properties common to both elements, and the URI that sets them. */
#ifndef GST_TLTCP_SETTINGS_H
#define GST_TLTCP_SETTINGS_H

#include <gst/gst.h>

#include <tltcp/live.h>

#include "gst-plugins/gsttltcpenums.h"
#include "gst-plugins/gsttltcpfields.h"
#include "internal/credentials/credentials.h"

enum {
    GST_TLTCP_PROP_URI = 1,
    GST_TLTCP_PROP_MODE,
    GST_TLTCP_PROP_LOCALADDRESS,
    GST_TLTCP_PROP_LOCALPORT,
    GST_TLTCP_PROP_LATENCY,
    GST_TLTCP_PROP_PASSPHRASE,
    GST_TLTCP_PROP_PASSPHRASE_FILE,
    GST_TLTCP_PROP_KEY_FILE,
    GST_TLTCP_PROP_IDENTITY_FILE,
    GST_TLTCP_PROP_LISTENER_KEY,
    GST_TLTCP_PROP_CALLER_KEYS,
    GST_TLTCP_PROP_STREAMID,
    GST_TLTCP_PROP_AUTO_RECONNECT,
    GST_TLTCP_PROP_CONGESTION_CONTROL,
    GST_TLTCP_PROP_FEC,
    GST_TLTCP_PROP_TRANSPORT,
    GST_TLTCP_PROP_QOS_DSCP,
    GST_TLTCP_PROP_THREADS,
    GST_TLTCP_PROP_QLOG_DIR,
    GST_TLTCP_PROP_STATS,
    GST_TLTCP_PROP_LAST
};

#define GST_TLTCP_DEFAULT_URI "tltcp://127.0.0.1:7001"
#define GST_TLTCP_DEFAULT_LATENCY 125

typedef struct {
    GObject *element;         /* not in a copy */
    const GstTltcpField *own; /* further properties, fields of the element */
    GMutex lock;              /* protects these and everything below */
    gchar *uri;
    gchar *host; /* of the URI; NULL: none */
    guint port;  /* of the URI */
    gboolean uri_set;
    gchar *uri_wrong;    /* why the last one was refused, or NULL */
    gint mode;           /* GstTltcpMode */
    gchar *localaddress; /* NULL: the URI's */
    gint localport;      /* -1: the URI's */
    guint bound_port;    /* once a listener listens, else 0 */
    gchar *localservice; /* localport as a caller passes it; NULL: any */
    guint latency;       /* ms */
    gchar *passphrase;
    gchar *passphrase_file; /* paths, as in PATH; NULL: none */
    gchar *key_file;        /* likewise */
    gchar *identity_file;   /* path */
    gchar *listener_key;    /* hexadecimal digits */
    gchar *caller_keys;     /* path */
    struct secrets secrets; /* in a copy: the contents of all of these */
    gchar *secrets_wrong;   /* in a copy: why they cannot be used, or NULL */
    gchar *streamid;
    gboolean auto_reconnect;
    gchar *congestion;
    gint fec;       /* GstTltcpFec */
    gint transport; /* GstTltcpTransport */
    guint qos_dscp;
    guint threads;
    gchar *qlog_dir;
} GstTltcpSettings;

void gst_tltcp_settings_install(GObjectClass *klass);
void gst_tltcp_settings_init(GstTltcpSettings *s, GObject *element,
                             const GstTltcpField *own);

/* The settings of an element. */
GstTltcpSettings *gst_tltcp_settings_of(GObject *element);

void gst_tltcp_settings_clear(GstTltcpSettings *s);

/* A copy for the connection's own thread, with passphrases and keys read from
 * their files. */
GstTltcpSettings *gst_tltcp_settings_copy(GstTltcpSettings *s);
void gst_tltcp_settings_free(GstTltcpSettings *s);

/* FALSE: no such property (statistics are the element's). */
gboolean gst_tltcp_settings_set(GstTltcpSettings *s, guint prop,
                                const GValue *value);
gboolean gst_tltcp_settings_get(GstTltcpSettings *s, guint prop, GValue *value);

/* Applies all of a URI, or nothing. */
gboolean gst_tltcp_settings_set_uri(GstTltcpSettings *s, const gchar *uri,
                                    GError **error);

/* The interface GstURIHandler of an element that was passed to
 * gst_tltcp_settings_init(). */
void gst_tltcp_settings_uri_handler_init(gpointer iface, gpointer data);

/* Fills in a config. Its strings belong to the settings. */
void gst_tltcp_settings_config(const GstTltcpSettings *s, tltcp_config *config);

/* Room for a port as text. */
#define GST_TLTCP_PORT_TEXT 12

/* Fills in the options of a link. Their strings belong to the settings, the
 * service to the caller. */
void gst_tltcp_settings_link(const GstTltcpSettings *s,
                             tltcp_live_settings *link,
                             gchar service[GST_TLTCP_PORT_TEXT]);

/* Checks the settings and the config. Returns 0, or a TLTCP_ERR_* and the
 * reason. */
gint gst_tltcp_settings_check(const GstTltcpSettings *s,
                              const tltcp_config *config, gchar *reason);

/* The address that a listener binds to; NULL: all. */
const gchar *gst_tltcp_settings_bind_host(const GstTltcpSettings *s);
guint gst_tltcp_settings_bind_port(const GstTltcpSettings *s);

/* Records the bound port; 0: no longer listening. */
void gst_tltcp_settings_set_bound(GstTltcpSettings *s, guint port);

/* The element's running time; 0: it has no clock yet. */
GstClockTime gst_tltcp_running_now(GstElement *element);

/* "host:port" of the other end, or of this one for a listener. */
gchar *gst_tltcp_settings_where(const GstTltcpSettings *s);

#endif /* GST_TLTCP_SETTINGS_H */

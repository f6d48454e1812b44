/* SPDX-License-Identifier: MPL-2.0 */
/* Errors, warnings and messages about connections. */
#include "gst-plugins/gsttltcperror.h"

#include <string.h>

void gst_tltcp_error_from_event(GstTltcpError *error,
                                const tltcp_live_event *ev) {
    error->code = ev->error ? ev->error : TLTCP_ERR_CLOSED;
    error->was_open = ev->was_open;
    error->answered = ev->answered;
    error->attempt = ev->attempt;
    g_strlcpy(error->reason, ev->reason, sizeof(error->reason));
}

/* The peer's reason without terminal control characters. Free the result. */
static gchar *cause_readable(const gchar *words) {
    const gchar *end = words + strlen(words);
    GString *text = g_string_new(NULL);

    while (words < end) {
        gunichar c = g_utf8_get_char_validated(words, end - words);
        gboolean valid = c < (gunichar)-2;
        g_string_append_unichar(text, valid && !g_unichar_iscntrl(c) ? c : '?');
        words = valid ? g_utf8_next_char(words) : words + 1;
    }
    return g_string_free(text, FALSE);
}

/* A sentence without its full stop. Free the result. */
static gchar *text_of(const GstTltcpError *error) {
    const gchar *what = tltcp_strerror(error->code);
    g_autofree gchar *reason = cause_readable(error->reason);

    if (error->code == TLTCP_ERR_UNSUPPORTED && !error->reason[0]) {
        what = "the library was built without security; unset the properties "
               "passphrase, passphrase-file, key-file and identity-file";
    }
    if (error->code == TLTCP_ERR_REFUSED && reason[0]) {
        /* The general text names both cases. */
        return g_strdup_printf("%s%s", error->answered ? "refused: " : "",
                               reason);
    }
    return reason[0] ? g_strdup_printf("%s (%s)", what, reason)
                     : g_strdup(what);
}

static gint resource_code(const GstTltcpError *error) {
    switch (error->code) {
    case TLTCP_ERR_AUTH:
        return GST_RESOURCE_ERROR_NOT_AUTHORIZED;
    case TLTCP_ERR_REFUSED:
        if (error->answered) {
            return GST_RESOURCE_ERROR_NOT_AUTHORIZED;
        }
        break;
    case TLTCP_ERR_ADDRESS:
        return GST_RESOURCE_ERROR_NOT_FOUND;
    case TLTCP_ERR_IN_USE:
        return GST_RESOURCE_ERROR_BUSY;
    case TLTCP_ERR_ALGORITHM:
    case TLTCP_ERR_UNSUPPORTED:
    case TLTCP_ERR_INVAL:
        return GST_RESOURCE_ERROR_SETTINGS;
    default:
        break;
    }
    if (error->was_open) {
        return error->writing ? GST_RESOURCE_ERROR_WRITE
                              : GST_RESOURCE_ERROR_READ;
    }
    return error->writing ? GST_RESOURCE_ERROR_OPEN_WRITE
                          : GST_RESOURCE_ERROR_OPEN_READ;
}

static gchar *sentence(const GstTltcpError *error, const gchar *where) {
    g_autofree gchar *why = text_of(error);

    if (error->code == TLTCP_ERR_INVAL && error->reason[0] &&
        !error->was_open && !error->answered) {
        g_autofree gchar *reason = cause_readable(error->reason);
        return g_strdup_printf("Cannot start: %s", reason);
    }
    if (error->listening) {
        return g_strdup_printf("Cannot listen on %s: %s", where, why);
    }
    if (error->was_open) {
        return g_strdup_printf("The connection with %s failed: %s", where, why);
    }
    return error->attempt > 1
               ? g_strdup_printf("No connection with %s after %u attempts: %s",
                                 where, error->attempt, why)
               : g_strdup_printf("No connection with %s: %s", where, why);
}

gboolean gst_tltcp_error_is_news(const GstTltcpError *error) {
    return (error->attempt & (error->attempt - 1)) == 0;
}

void gst_tltcp_error_post(GstElement *element, const GstTltcpError *error,
                          const gchar *where, gboolean is_error) {
    gst_element_message_full(
        element, is_error ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING,
        GST_RESOURCE_ERROR, resource_code(error), sentence(error, where),
        g_strdup_printf("TLTCP error %d", error->code), __FILE__, G_STRFUNC,
        __LINE__);
}

void gst_tltcp_error_post_rejected(GstElement *element, GSocketAddress *from,
                                   const gchar *advice) {
    g_autofree gchar *where =
        from ? g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(from))
             : g_strdup("an unknown address");

    gst_element_message_full(
        element, GST_MESSAGE_WARNING, GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        g_strdup_printf("Refused a caller at %s: %s", where, advice), NULL,
        __FILE__, G_STRFUNC, __LINE__);
}

void gst_tltcp_connection_message(GstElement *element, const gchar *state,
                                  const gchar *where,
                                  const GstTltcpError *error, guint attempt) {
    g_autofree gchar *why = error ? text_of(error) : NULL;
    GstStructure *s = gst_structure_new(
        "tltcp-connection", "state", G_TYPE_STRING, state, "address",
        G_TYPE_STRING, where, "attempt", G_TYPE_UINT, attempt, "error",
        G_TYPE_INT, error ? error->code : 0, NULL);

    if (why) {
        gst_structure_set(s, "cause", G_TYPE_STRING, why, NULL);
    }
    gst_element_post_message(element,
                             gst_message_new_element(GST_OBJECT(element), s));
}

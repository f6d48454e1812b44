/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpcause.h"

#include <string.h>

void gst_tltcp_cause_from_event(GstTltcpCause *cause,
                                const tltcp_live_event *ev) {
    cause->error = ev->error ? ev->error : TLTCP_ERR_CLOSED;
    cause->was_open = ev->was_open;
    cause->answered = ev->answered;
    g_strlcpy(cause->reason, ev->reason, sizeof(cause->reason));
}

/* The peer's words as text without commands to a terminal; free it. */
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

/* A sentence without its stop; free it. */
static gchar *text_of(const GstTltcpCause *cause) {
    const gchar *what = tltcp_strerror(cause->error);
    g_autofree gchar *reason = cause_readable(cause->reason);

    if (cause->error == TLTCP_ERR_UNSUPPORTED && !cause->reason[0]) {
        what = "the library was built without security; unset the properties "
               "passphrase, passphrase-file and key-file";
    }
    return reason[0] ? g_strdup_printf("%s (%s)", what, reason)
                     : g_strdup(what);
}

static gint resource_code(const GstTltcpCause *cause) {
    switch (cause->error) {
    case TLTCP_ERR_AUTH:
        return GST_RESOURCE_ERROR_NOT_AUTHORIZED;
    case TLTCP_ERR_REFUSED:
        if (cause->answered) {
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
    if (cause->was_open) {
        return cause->writing ? GST_RESOURCE_ERROR_WRITE
                              : GST_RESOURCE_ERROR_READ;
    }
    return cause->writing ? GST_RESOURCE_ERROR_OPEN_WRITE
                          : GST_RESOURCE_ERROR_OPEN_READ;
}

static gchar *sentence(const GstTltcpCause *cause, const gchar *where) {
    g_autofree gchar *why = text_of(cause);

    if (cause->listening) {
        return g_strdup_printf("Cannot listen on %s: %s", where, why);
    }
    return cause->was_open
               ? g_strdup_printf("The connection with %s failed: %s", where,
                                 why)
               : g_strdup_printf("No connection with %s: %s", where, why);
}

void gst_tltcp_cause_post(GstElement *element, const GstTltcpCause *cause,
                          const gchar *where, gboolean is_error) {
    gst_element_message_full(
        element, is_error ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING,
        GST_RESOURCE_ERROR, resource_code(cause), sentence(cause, where),
        g_strdup_printf("TLTCP error %d", cause->error), __FILE__, G_STRFUNC,
        __LINE__);
}

void gst_tltcp_connection_message(GstElement *element, const gchar *state,
                                  const gchar *where,
                                  const GstTltcpCause *cause, guint attempt) {
    g_autofree gchar *why = cause ? text_of(cause) : NULL;
    GstStructure *s = gst_structure_new(
        "tltcp-connection", "state", G_TYPE_STRING, state, "address",
        G_TYPE_STRING, where, "attempt", G_TYPE_UINT, attempt, "error",
        G_TYPE_INT, cause ? cause->error : 0, NULL);

    if (why) {
        gst_structure_set(s, "cause", G_TYPE_STRING, why, NULL);
    }
    gst_element_post_message(element,
                             gst_message_new_element(GST_OBJECT(element), s));
}

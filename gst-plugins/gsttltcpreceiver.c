/* SPDX-License-Identifier: MPL-2.0 */
/* The connection of a source. */
#include "gst-plugins/gsttltcpreceiver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tltcp/live_parts.h>

#include "gst-plugins/gsttltcpsignals.h"

#define GOODBYE_MS 200

struct GstTltcpReceiver {
    GstElement *element; /* outlives this */
    GstTltcpSettings *settings;
    gchar *where;
    gboolean pieces; /* of incomplete sections are wanted */
    GstPoll *poll;
    gint busy; /* atomic: there is a caller */

    GMutex lock; /* for the pointer; changed by the streaming thread only */
    tltcp_socket *socket;

    tltcp_live_link *link;
    tltcp_live_receiver *live; /* NULL: not connected */
    GstPollFD link_fd;
    GstPollFD data_fd;
    GSocketAddress *address;
    GstTltcpReceiverEvent *refused; /* receives the link's refusal */
    guint attempt;
};

/* ---- opening ---- */

static GSocketAddress *native_address(const void *address, gsize len) {
    return address
               ? g_socket_address_new_from_native((gpointer)(gsize)address, len)
               : NULL;
}

static bool receiver_on_caller(void *user, const tltcp_caller *caller,
                               char *reason) {
    GstTltcpReceiver *r = user;
    g_autoptr(GSocketAddress) address =
        native_address(caller->address, caller->address_len);
    gboolean busy = g_atomic_int_get(&r->busy);

    if (!busy && gst_tltcp_signals_caller_connecting(r->element, address,
                                                     caller->stream_id)) {
        return true;
    }
    gst_tltcp_signals_caller_rejected(r->element, address, caller->stream_id);
    g_strlcpy(reason, busy ? TLTCP_LIVE_BUSY : "refused by the application",
              TLTCP_REASON_MAX + 1);
    return false;
}

static void receiver_make_config(const GstTltcpReceiver *r,
                                 tltcp_config *config) {
    gst_tltcp_settings_config(r->settings, config);
    config->unordered = !r->pieces;
}

/* Reports the failure. */
static void note_failure(GstTltcpReceiver *r, const GstTltcpError *error,
                         gboolean again) {
    gst_tltcp_connection_message(r->element,
                                 error->was_open ? "lost" : "failed", r->where,
                                 error, r->attempt);
    if (again && gst_tltcp_error_is_news(error)) {
        gst_tltcp_error_post(r->element, error, r->where, FALSE);
    }
}

static void receiver_on_event(void *user, const tltcp_live_event *ev) {
    GstTltcpReceiver *r = user;

    if (ev->type == TLTCP_LIVE_EVENT_CONNECTING) {
        r->attempt = ev->attempt;
        gst_tltcp_connection_message(r->element,
                                     r->attempt > 1 ? "retrying" : "connecting",
                                     r->where, NULL, r->attempt);
    } else if (ev->type == TLTCP_LIVE_EVENT_REFUSED) {
        gst_tltcp_error_from_event(&r->refused->error, ev);
        note_failure(r, &r->refused->error, !ev->final);
        r->refused->kind =
            ev->final ? GST_TLTCP_RECEIVER_FAILED : GST_TLTCP_RECEIVER_LOST;
    } else if (ev->type == TLTCP_LIVE_EVENT_REJECTED) {
        g_autoptr(GSocketAddress) from =
            native_address(&ev->address, ev->address_len);
        gst_tltcp_error_post_rejected(r->element, from, ev->reason);
    }
}

static gint receiver_start_link(GstTltcpReceiver *r, tltcp_config *config) {
    tltcp_live_settings live;
    gchar service[GST_TLTCP_PORT_TEXT];

    gst_tltcp_settings_link(r->settings, &live, service);
    config->listener.on_caller = receiver_on_caller;
    config->user = r;
    return tltcp_live_link_new(&r->link, &live, config, receiver_on_event, r);
}

static void free_receiver(GstTltcpReceiver *r) {
    tltcp_live_link_free(r->link);
    gst_poll_free(r->poll);
    gst_tltcp_settings_free(r->settings);
    g_mutex_clear(&r->lock);
    g_free(r->where);
    g_free(r);
}

GstTltcpReceiver *gst_tltcp_receiver_start(GstElement *element,
                                           GstTltcpSettings *settings,
                                           gboolean pieces) {
    GstTltcpReceiver *r = g_new0(GstTltcpReceiver, 1);
    GstTltcpError error = {0};
    tltcp_config config;

    r->element = element;
    r->pieces = pieces;
    r->settings = gst_tltcp_settings_copy(settings);
    r->where = gst_tltcp_settings_where(r->settings);
    r->poll = gst_poll_new(TRUE);
    g_mutex_init(&r->lock);
    gst_poll_fd_init(&r->link_fd);
    gst_poll_fd_init(&r->data_fd);
    receiver_make_config(r, &config);
    error.code = gst_tltcp_settings_check(r->settings, &config, error.reason);
    if (!error.code) {
        error.listening = r->settings->mode == GST_TLTCP_MODE_LISTENER;
        error.code = receiver_start_link(r, &config);
    }
    if (error.code) {
        gst_tltcp_error_post(element, &error, r->where, TRUE);
        free_receiver(r);
        return NULL;
    }
    return r;
}

guint gst_tltcp_receiver_port(const GstTltcpReceiver *r) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    tltcp_socket *listener = tltcp_live_link_listener(r->link);

    if (!listener ||
        tltcp_local_address(listener, (struct sockaddr *)&storage, &len) < 0) {
        return 0;
    }
    g_autoptr(GSocketAddress) address = native_address(&storage, len);
    return G_IS_INET_SOCKET_ADDRESS(address)
               ? g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(address))
               : 0;
}

const gchar *gst_tltcp_receiver_where(const GstTltcpReceiver *r) {
    return r->where;
}

/* ---- one connection ---- */

static void watch(GstTltcpReceiver *r, GstPollFD *pfd, gint fd) {
    gst_poll_fd_init(pfd);
    pfd->fd = fd;
    gst_poll_add_fd(r->poll, pfd);
    gst_poll_fd_ctl_read(r->poll, pfd, TRUE);
}

static void unwatch(GstTltcpReceiver *r, GstPollFD *pfd) {
    if (pfd->fd >= 0) {
        gst_poll_remove_fd(r->poll, pfd);
    }
    gst_poll_fd_init(pfd);
}

static void receiver_on_connected(GstTltcpReceiver *r, tltcp_socket *socket,
                                  GstTltcpReceiverEvent *event) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    g_mutex_lock(&r->lock);
    r->socket = socket;
    g_mutex_unlock(&r->lock);
    r->live = tltcp_live_receiver_new(socket);
    if (!r->live) {
        g_error("out of memory");
    }
    g_atomic_int_set(&r->busy, TRUE);
    r->attempt = 0;
    watch(r, &r->data_fd, tltcp_fd(socket));
    g_clear_object(&r->address);
    if (tltcp_peer_address(socket, (struct sockaddr *)&storage, &len) == 0) {
        r->address = native_address(&storage, len);
    }
    gst_tltcp_connection_message(r->element, "connected", r->where, NULL, 0);
    event->kind = GST_TLTCP_RECEIVER_CONNECTED;
    event->address = r->address;
}

static void close_socket(GstTltcpReceiver *r, gint linger_ms) {
    g_mutex_lock(&r->lock);
    tltcp_socket *socket = r->socket;
    r->socket = NULL;
    g_mutex_unlock(&r->lock);
    if (!socket) {
        return;
    }
    unwatch(r, &r->data_fd);
    g_clear_pointer(&r->live, tltcp_live_receiver_free);
    tltcp_close(socket, linger_ms);
    g_atomic_int_set(&r->busy, FALSE);
}

void gst_tltcp_receiver_hang_up(GstTltcpReceiver *r) {
    close_socket(r, GOODBYE_MS);
}

void gst_tltcp_receiver_stop(GstTltcpReceiver *r) {
    close_socket(r, GOODBYE_MS);
    g_clear_object(&r->address);
    free_receiver(r);
}

/* ---- making a connection ---- */

gboolean gst_tltcp_receiver_call_again(GstTltcpReceiver *r) {
    GstTltcpError error = {
        .code = TLTCP_ERR_CLOSED, .was_open = TRUE, .answered = TRUE};

    if (tltcp_live_link_listener(r->link) ||
        !tltcp_live_link_lost(r->link, 0, "")) {
        return FALSE;
    }
    note_failure(r, &error, TRUE);
    return TRUE;
}

/* A calling link has a new descriptor for each attempt. */
static void receiver_watch_link(GstTltcpReceiver *r) {
    gint fds[TLTCP_LIVE_FDS];
    gint fd = tltcp_live_link_fds(r->link, fds) > 0 ? fds[0] : -1;

    if (r->live) {
        fd = -1;
    }
    if (fd != r->link_fd.fd) {
        unwatch(r, &r->link_fd);
    }
    if (fd >= 0 && r->link_fd.fd < 0) {
        watch(r, &r->link_fd, fd);
    }
}

/* TRUE: `event` is filled in; FALSE: there is nothing to do before `when`. */
static gboolean connect_one(GstTltcpReceiver *r, GstTltcpReceiverEvent *event,
                            tltcp_time *when) {
    tltcp_socket *socket;

    r->refused = event;
    gint rc = tltcp_live_link_run(r->link, &socket, when);
    if (rc == 1) {
        receiver_on_connected(r, socket, event);
        return TRUE;
    }
    if (rc < 0 && !event->error.code) {
        event->kind = GST_TLTCP_RECEIVER_FAILED;
        event->error.code = rc;
    }
    return event->error.code != 0;
}

/* ---- data ---- */

static void on_received(const tltcp_live_received *in,
                        GstTltcpReceiverEvent *event) {
    if (!in->data) {
        event->kind = GST_TLTCP_RECEIVER_GAP;
        event->position = in->seq;
        event->size = in->len;
        return;
    }
    event->kind = GST_TLTCP_RECEIVER_SECTION;
    event->section = (media_section){.number = in->number,
                                     .seq = in->seq,
                                     .data = in->data,
                                     .len = in->len,
                                     .missing = in->missing,
                                     .complete = in->complete,
                                     .begins = in->begins,
                                     .meta = in->meta};
}

static void on_lost(GstTltcpReceiver *r, gint result,
                    GstTltcpReceiverEvent *event) {
    GstTltcpError *error = &event->error;
    gchar reason[TLTCP_REASON_MAX + 1] = "";
    gint code = tltcp_socket_error(r->socket, reason);

    error->code = code ? code : result;
    error->was_open = error->answered = TRUE;
    g_strlcpy(error->reason, reason, sizeof(error->reason));
    gboolean again = tltcp_live_link_lost(r->link, error->code, reason);
    note_failure(r, error, again);
    event->kind = again ? GST_TLTCP_RECEIVER_LOST : GST_TLTCP_RECEIVER_FAILED;
    close_socket(r, 0);
}

static gboolean receive(GstTltcpReceiver *r, GstTltcpReceiverEvent *event) {
    tltcp_live_received in;
    gint rc = tltcp_live_receiver_next(r->live, &in, MSG_DONTWAIT);

    if (rc == TLTCP_ERR_AGAIN) {
        return FALSE;
    }
    if (rc == TLTCP_ERR_NOMEM) {
        g_error("out of memory");
    }
    if (rc > 0) {
        on_received(&in, event);
    } else if (rc < 0) {
        on_lost(r, rc, event);
    } else {
        event->kind = GST_TLTCP_RECEIVER_END;
        close_socket(r, GOODBYE_MS);
    }
    return TRUE;
}

static gboolean try_next(GstTltcpReceiver *r, GstTltcpReceiverEvent *event,
                         tltcp_time *when) {
    *when = TLTCP_TIME_NEVER;
    gboolean done = r->live ? receive(r, event) : connect_one(r, event, when);
    receiver_watch_link(r);
    return done;
}

void gst_tltcp_receiver_next(GstTltcpReceiver *r,
                             GstTltcpReceiverEvent *event) {
    tltcp_time when;

    memset(event, 0, sizeof(*event));
    while (!try_next(r, event, &when)) {
        tltcp_time now = tltcp_now();
        gint n = gst_poll_wait(r->poll, when == TLTCP_TIME_NEVER
                                            ? GST_CLOCK_TIME_NONE
                                        : when > now ? when - now
                                                     : 0);
        if (n < 0 && errno == EBUSY) {
            event->kind = GST_TLTCP_RECEIVER_FLUSHING;
            return;
        }
    }
}

void gst_tltcp_receiver_set_flushing(GstTltcpReceiver *r, gboolean flushing) {
    gst_poll_set_flushing(r->poll, flushing);
}

void gst_tltcp_receiver_add_stats(GstTltcpReceiver *r, GstStructure *stats) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    g_mutex_lock(&r->lock);
    if (r->socket && tltcp_get_stats(r->socket, &st) == 0) {
        gst_tltcp_stats_add(stats, &st);
    }
    tltcp_socket *listener = tltcp_live_link_listener(r->link);
    if (listener && tltcp_get_stats(listener, &st) == 0) {
        gst_tltcp_stats_add_outside(stats, &st);
    }
    g_mutex_unlock(&r->lock);
}

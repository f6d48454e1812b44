/* SPDX-License-Identifier: MPL-2.0 */
/* The connections of a sink and the thread that serves them. */
#include "gst-plugins/gsttltcpsenderimpl.h"

#include <string.h>

#include "gst-plugins/gsttltcperror.h"
#include "gst-plugins/gsttltcppending.h"

/* Time limit for closing all connections: close_notify and delivery of
 * remaining data. */
#define LINGER_US (500 * G_TIME_SPAN_MILLISECOND)
/* Until the next turn, where one is wanted. */
#define SOON (10 * TLTCP_MS)

/* Sends a new connection its preambles. */
static void greet(GstTltcpSender *s, GstTltcpPeer *peer) {
    if (!s->preambles->len) {
        return;
    }
    gst_tltcp_preambles_push(s->preambles, peer->live);
    tltcp_live_sender_join(peer->live);
    gst_tltcp_pending_add(s, GST_TLTCP_PENDING_KEY_WANTED);
}

static void add_peer(GstTltcpSender *s, tltcp_socket *socket) {
    GstTltcpPeer *peer = gst_tltcp_peer_new(s, socket);

    gst_poll_add_fd(s->poll, &peer->events);
    gst_poll_fd_ctl_read(s->poll, &peer->events, TRUE);
    g_ptr_array_add(s->peers, peer);
    s->attempt = 0;
    s->ever_connected = TRUE;
    greet(s, peer);
    if (gst_tltcp_sender_listener(s)) {
        gst_tltcp_pending_peer(s, GST_TLTCP_PENDING_ADDED, peer);
    }
    gst_tltcp_pending_state(s, "connected", NULL);
    g_cond_broadcast(&s->changed);
}

static void on_failure(GstTltcpSender *s, const GstTltcpError *error,
                       gboolean fatal) {
    gst_tltcp_pending_state(s, error->was_open ? "lost" : "failed", error);
    s->failed = s->failed || fatal;
    if (fatal || gst_tltcp_error_is_news(error)) {
        gst_tltcp_pending_add(s, fatal ? GST_TLTCP_PENDING_FAILED
                                       : GST_TLTCP_PENDING_WARN)
            ->error = *error;
    }
    g_cond_broadcast(&s->changed);
}

/* Called by the link, without the lock. */
static void sender_on_event(void *user, const tltcp_live_event *ev) {
    GstTltcpSender *s = user;
    GstTltcpError error = {.writing = TRUE};

    g_mutex_lock(&s->lock);
    if (ev->type == TLTCP_LIVE_EVENT_CONNECTING) {
        s->attempt = ev->attempt;
        gst_tltcp_pending_state(s, s->attempt > 1 ? "retrying" : "connecting",
                                NULL);
    } else if (ev->type == TLTCP_LIVE_EVENT_REFUSED) {
        gst_tltcp_error_from_event(&error, ev);
        on_failure(s, &error, ev->final);
    } else if (ev->type == TLTCP_LIVE_EVENT_REJECTED) {
        GstTltcpPending *pending =
            gst_tltcp_pending_add(s, GST_TLTCP_PENDING_REJECTED);
        pending->address = g_socket_address_new_from_native(
            (gpointer)(gsize)&ev->address, ev->address_len);
        g_strlcpy(pending->error.reason, ev->reason,
                  sizeof(pending->error.reason));
    }
    g_mutex_unlock(&s->lock);
}

static void sender_make_config(GstTltcpSender *s, tltcp_config *config) {
    gst_tltcp_settings_config(s->settings, config);
    config->max_rate = s->options.max_rate;
    config->controller.initial_window = s->options.initial_window;
    config->report_fates = true;
    switch (s->options.policy) {
    case GST_TLTCP_DROP_SECTION:
        config->drop_policy = TLTCP_DROP_SECTION;
        config->look_ahead = false;
        break;
    case GST_TLTCP_DROP_UNTIL_KEYFRAME:
        config->drop_policy = TLTCP_DROP_UNTIL_KEY;
        break;
    default:
        config->drop_policy = TLTCP_DROP_DEPENDENTS;
    }
}

static void remove_peer(GstTltcpSender *s, guint index) {
    GstTltcpPeer *peer = g_ptr_array_steal_index_fast(s->peers, index);

    gst_poll_remove_fd(s->poll, &peer->events);
    tltcp_live_sender_add_stats(peer->live, &s->departed);
    if (gst_tltcp_sender_listener(s)) {
        gst_tltcp_pending_peer(s, GST_TLTCP_PENDING_REMOVED, peer);
    } else if (!s->finished || !gst_tltcp_peer_is_orderly(peer)) {
        gboolean again =
            tltcp_live_link_lost(s->link, peer->error.code, peer->error.reason);
        on_failure(s, &peer->error, !again);
    }
    g_mutex_unlock(&s->lock);
    gst_tltcp_peer_free(peer, 0);
    g_mutex_lock(&s->lock);
}

/* A calling link has a new descriptor for each attempt. */
static void sender_watch_link(GstTltcpSender *s) {
    gint fds[TLTCP_LIVE_FDS];
    gint fd = tltcp_live_link_fds(s->link, fds) > 0 ? fds[0] : -1;

    if (fd == s->link_fd.fd) {
        return;
    }
    if (s->link_fd.fd >= 0) {
        gst_poll_remove_fd(s->poll, &s->link_fd);
    }
    gst_poll_fd_init(&s->link_fd);
    s->link_fd.fd = fd;
    if (fd >= 0) {
        gst_poll_add_fd(s->poll, &s->link_fd);
        gst_poll_fd_ctl_read(s->poll, &s->link_fd, TRUE);
    }
}

static tltcp_time take_connections(GstTltcpSender *s) {
    tltcp_time when = TLTCP_TIME_NEVER;
    tltcp_socket *socket;
    gint rc = 1;

    if (s->link_lost) {
        s->link_lost = FALSE;
        tltcp_live_link_lost(s->link, 0, "");
    }
    while (rc == 1 && !s->failed) {
        /* A name lookup may block. */
        g_mutex_unlock(&s->lock);
        rc = tltcp_live_link_run(s->link, &socket, &when);
        g_mutex_lock(&s->lock);
        if (rc == 1) {
            add_peer(s, socket);
        }
    }
    sender_watch_link(s);
    return when;
}

/* Returns the time of the next call. */
static tltcp_time service(GstTltcpSender *s) {
    tltcp_time when = take_connections(s);

    for (guint i = s->peers->len; i-- > 0;) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        tltcp_time at = tltcp_live_sender_run(peer->live);
        if (tltcp_live_sender_is_closed(peer->live)) {
            remove_peer(s, i);
            at = 0;
        }
        when = MIN(when, at);
    }
    g_cond_broadcast(&s->changed); /* there may be room again */
    return when;
}

static gpointer run(gpointer user) {
    GstTltcpSender *s = user;

    g_mutex_lock(&s->lock);
    while (s->running) {
        tltcp_time when = service(s);
        g_mutex_unlock(&s->lock);
        gst_tltcp_pending_report(s);
        gboolean soon = s->funcs.polled(s->element);
        tltcp_time now = tltcp_now();
        when = soon ? MIN(when, now + SOON) : when;
        gst_poll_wait(s->poll, when == TLTCP_TIME_NEVER ? GST_CLOCK_TIME_NONE
                               : when > now             ? when - now
                                                        : 0);
        g_mutex_lock(&s->lock);
        if (s->woken) {
            s->woken = !gst_poll_read_control(s->poll);
        }
    }
    g_mutex_unlock(&s->lock);
    gst_tltcp_pending_report(s);
    return NULL;
}

static bool sender_on_caller(void *user, const tltcp_caller *caller,
                             char *reason) {
    GstTltcpSender *s = user;
    g_autoptr(GSocketAddress) address = NULL;

    if (caller->address) {
        address = g_socket_address_new_from_native(
            (gpointer)(gsize)caller->address, caller->address_len);
    }
    if (s->funcs.caller_connecting(s->element, address, caller->stream_id)) {
        return true;
    }
    s->funcs.caller_rejected(s->element, address, caller->stream_id);
    g_strlcpy(reason, "refused by the application", TLTCP_REASON_MAX + 1);
    return false;
}

static guint bound_port(tltcp_socket *listener) {
    struct sockaddr_storage storage;
    socklen_t len = sizeof(storage);

    if (tltcp_local_address(listener, (struct sockaddr *)&storage, &len) < 0) {
        return 0;
    }
    g_autoptr(GSocketAddress) address =
        g_socket_address_new_from_native(&storage, len);
    return G_IS_INET_SOCKET_ADDRESS(address)
               ? g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(address))
               : 0;
}

static gboolean sender_start_link(GstTltcpSender *s) {
    tltcp_config config;
    tltcp_live_settings live;
    gboolean listens = s->settings->mode == GST_TLTCP_MODE_LISTENER;
    GstTltcpError error = {.writing = TRUE, .listening = listens};
    gchar service[GST_TLTCP_PORT_TEXT];

    gst_tltcp_settings_link(s->settings, &live, service);
    sender_make_config(s, &config);
    config.listener.on_caller = sender_on_caller;
    config.user = s;
    error.code =
        tltcp_live_link_new(&s->link, &live, &config, sender_on_event, s);
    if (error.code) {
        tltcp_config_check(&config, error.reason);
        gst_tltcp_error_post(s->element, &error, s->where, TRUE);
        return FALSE;
    }
    if (listens) {
        s->funcs.listening(s->element,
                           bound_port(gst_tltcp_sender_listener(s)));
    }
    return TRUE;
}

static void free_sender(GstTltcpSender *s) {
    tltcp_live_link_free(s->link);
    g_ptr_array_unref(s->preambles);
    g_ptr_array_unref(s->peers);
    gst_poll_free(s->poll);
    gst_tltcp_settings_free(s->settings);
    g_free(s->where);
    g_cond_clear(&s->changed);
    g_mutex_clear(&s->lock);
    g_free(s);
}

/* Invalid settings fail the state change. */
static gboolean check_config(GstTltcpSender *s) {
    tltcp_config config;
    GstTltcpError error = {.writing = TRUE};

    sender_make_config(s, &config);
    error.code = gst_tltcp_settings_check(s->settings, &config, error.reason);
    if (error.code) {
        gst_tltcp_error_post(s->element, &error, s->where, TRUE);
    }
    return !error.code;
}

GstTltcpSender *gst_tltcp_sender_start(GstElement *element,
                                       GstTltcpSettings *settings,
                                       const GstTltcpSenderOptions *options,
                                       const GstTltcpSenderFuncs *funcs) {
    GstTltcpSender *s = g_new0(GstTltcpSender, 1);

    s->element = element;
    s->settings = gst_tltcp_settings_copy(settings);
    s->options = *options;
    s->funcs = *funcs;
    s->where = gst_tltcp_settings_where(s->settings);
    g_mutex_init(&s->lock);
    g_cond_init(&s->changed);
    g_queue_init(&s->pending);
    s->poll = gst_poll_new_timer(); /* other threads can wake it */
    s->peers = g_ptr_array_new();
    s->preambles = gst_tltcp_preambles_new();
    tltcp_live_stats_init(&s->departed);
    s->running = TRUE;
    gst_poll_fd_init(&s->link_fd);
    if (!check_config(s) || !sender_start_link(s)) {
        free_sender(s);
        return NULL;
    }
    s->thread = g_thread_new("tltcpsink", run, s);
    return s;
}

/* Starts closing all connections before waiting for any. */
static void close_peers(GstTltcpSender *s) {
    gint64 end = g_get_monotonic_time() + LINGER_US;

    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        tltcp_shutdown(tltcp_live_sender_socket(peer->live));
    }
    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        gint64 left = end - g_get_monotonic_time();
        gst_tltcp_peer_free(peer, left > 0 ? (gint)(left / 1000) : 0);
    }
}

void gst_tltcp_sender_stop(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    s->running = FALSE;
    gst_tltcp_sender_wake(s);
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
    g_thread_join(s->thread);
    close_peers(s);
    free_sender(s);
}

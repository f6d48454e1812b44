/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpsenderimpl.h"
#include "internal/media/stream/deadline.h"

#include <string.h>

#include "gst-plugins/gsttltcpcause.h"
#include "gst-plugins/gsttltcpnotes.h"

#define RETRY_MIN_NS (200 * TLTCP_MS)
#define RETRY_MAX_NS (2 * TLTCP_S)
/* What closing may take in all, to say goodbye and to deliver the rest. */
#define LINGER_US (500 * G_TIME_SPAN_MILLISECOND)

void gst_tltcp_sender_wake(GstTltcpSender *s) {
    if (!s->woken) {
        s->woken = TRUE;
        gst_poll_write_control(s->poll);
    }
}

/* What a new connection gets before anything else. */
static void greet(GstTltcpSender *s, GstTltcpPeer *peer) {
    if (!s->heads->len) {
        return;
    }
    gst_tltcp_heads_push(s->heads, peer);
    gst_tltcp_peer_join(peer);
    gst_tltcp_note_add(s, GST_TLTCP_NOTE_KEY_WANTED);
}

static GstTltcpPeer *add_peer(GstTltcpSender *s, tltcp_socket *socket) {
    GstTltcpPeer *peer = gst_tltcp_peer_new(socket);

    gst_poll_add_fd(s->poll, &peer->events);
    gst_poll_fd_ctl_read(s->poll, &peer->events, TRUE);
    g_ptr_array_add(s->peers, peer);
    return peer;
}

static void sender_on_connected(GstTltcpSender *s, GstTltcpPeer *peer) {
    peer->connected = TRUE;
    s->attempt = 0;
    s->retry_delay = RETRY_MIN_NS;
    s->warned = FALSE;
    s->ever_connected = TRUE;
    greet(s, peer);
    if (s->listener) {
        gst_tltcp_note_peer(s, GST_TLTCP_NOTE_ADDED, peer);
    }
    gst_tltcp_note_state(s, "connected", NULL);
    g_cond_broadcast(&s->changed);
}

static void accept_callers(GstTltcpSender *s) {
    tltcp_socket *socket;

    while (s->listener && tltcp_accept(s->listener, &socket, 0) == 0) {
        sender_on_connected(s, add_peer(s, socket));
    }
}

static void on_failure(GstTltcpSender *s, const GstTltcpCause *cause) {
    gboolean fatal =
        gst_tltcp_cause_is_permanent(cause) || !s->settings->auto_reconnect;

    gst_tltcp_note_state(s, cause->was_open ? "lost" : "failed", cause);
    if (fatal) {
        s->failed = TRUE;
        s->retry_at = TLTCP_TIME_NEVER;
    } else {
        s->retry_at = tltcp_now() + s->retry_delay;
        s->retry_delay = MIN(2 * s->retry_delay, RETRY_MAX_NS);
    }
    if (fatal || !s->warned) {
        gst_tltcp_note_add(s,
                           fatal ? GST_TLTCP_NOTE_FAILED : GST_TLTCP_NOTE_WARN)
            ->cause = *cause;
    }
    s->warned = TRUE;
    g_cond_broadcast(&s->changed);
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

/* Looking up a name may block, so the lock is not held. */
static void sender_call(GstTltcpSender *s) {
    tltcp_config config;
    tltcp_socket *socket = NULL;
    GstTltcpCause cause = {.writing = TRUE};
    g_autofree gchar *service = g_strdup_printf("%u", s->settings->port);

    sender_make_config(s, &config);
    s->attempt++;
    gst_tltcp_note_state(s, s->attempt > 1 ? "retrying" : "connecting", NULL);
    g_mutex_unlock(&s->lock);
    cause.error =
        tltcp_connect(&socket, s->settings->host, service, &config, 0);
    if (cause.error) {
        tltcp_config_check(&config, cause.reason);
    }
    g_mutex_lock(&s->lock);
    s->retry_at = TLTCP_TIME_NEVER;
    if (cause.error) {
        on_failure(s, &cause);
    } else {
        add_peer(s, socket);
    }
}

static void remove_peer(GstTltcpSender *s, guint index) {
    GstTltcpPeer *peer = g_ptr_array_steal_index_fast(s->peers, index);

    gst_poll_remove_fd(s->poll, &peer->events);
    gst_tltcp_stats_sum_sent(&s->departed, &peer->counts);
    if (s->listener) {
        gst_tltcp_note_peer(s, GST_TLTCP_NOTE_REMOVED, peer);
    } else if (!s->finished || !peer->orderly) {
        on_failure(s, &peer->cause);
    }
    g_mutex_unlock(&s->lock);
    tltcp_close(peer->socket, 0);
    g_mutex_lock(&s->lock);
    gst_tltcp_peer_free(peer);
}

static void note_rate(GstTltcpSender *s) {
    guint64 best = 0;

    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        best = MAX(best, peer->rate);
        peer->rate_changed = FALSE;
    }
    if (best == s->rate) {
        return;
    }
    s->rate = best;
    gst_tltcp_note_add(s, GST_TLTCP_NOTE_RATE)->rate = best;
}

static tltcp_time service_peer(GstTltcpSender *s, GstTltcpPeer *peer) {
    gboolean was_connected = peer->connected;
    tltcp_time when = gst_tltcp_peer_service(peer);

    if (peer->connected && !was_connected) {
        sender_on_connected(s, peer);
        when = 0;
    }
    GstTltcpLoss *loss;
    while ((loss = g_queue_pop_head(&peer->lost))) {
        gst_tltcp_note_peer(s, GST_TLTCP_NOTE_LOST, peer)->loss = *loss;
        g_free(loss);
    }
    if (peer->key_wanted) {
        peer->key_wanted = FALSE;
        peer->counts.key_units_requested++;
        gst_tltcp_note_add(s, GST_TLTCP_NOTE_KEY_WANTED);
    }
    if (peer->rate_changed) {
        note_rate(s);
    }
    return when;
}

/* Returns when to come back. */
static tltcp_time service(GstTltcpSender *s) {
    tltcp_time when = TLTCP_TIME_NEVER;

    accept_callers(s);
    for (guint i = s->peers->len; i-- > 0;) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        tltcp_time at = service_peer(s, peer);
        if (peer->closed) {
            remove_peer(s, i);
        } else {
            when = MIN(when, at);
        }
    }
    if (!s->listener && !s->failed && !s->peers->len &&
        tltcp_now() >= s->retry_at) {
        sender_call(s);
        when = 0;
    }
    g_cond_broadcast(&s->changed); /* there may be room again */
    return MIN(when, s->retry_at);
}

static gpointer run(gpointer user) {
    GstTltcpSender *s = user;

    g_mutex_lock(&s->lock);
    while (s->running) {
        tltcp_time when = service(s);
        g_mutex_unlock(&s->lock);
        gst_tltcp_notes_tell(s);
        tltcp_time now = tltcp_now();
        gst_poll_wait(s->poll, when == TLTCP_TIME_NEVER ? GST_CLOCK_TIME_NONE
                               : when > now             ? when - now
                                                        : 0);
        g_mutex_lock(&s->lock);
        if (s->woken) {
            s->woken = !gst_poll_read_control(s->poll);
        }
    }
    g_mutex_unlock(&s->lock);
    gst_tltcp_notes_tell(s);
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

static gboolean sender_start_listening(GstTltcpSender *s) {
    tltcp_config config;
    GstTltcpCause cause = {.writing = TRUE, .listening = TRUE};
    g_autofree gchar *service =
        g_strdup_printf("%u", gst_tltcp_settings_bind_port(s->settings));

    sender_make_config(s, &config);
    config.listener.on_caller = sender_on_caller;
    config.user = s;
    cause.error =
        tltcp_listen(&s->listener, gst_tltcp_settings_bind_host(s->settings),
                     service, &config);
    if (cause.error) {
        tltcp_config_check(&config, cause.reason);
        gst_tltcp_cause_post(s->element, &cause, s->where, TRUE);
        return FALSE;
    }
    s->accept_fd.fd = tltcp_fd(s->listener);
    gst_poll_add_fd(s->poll, &s->accept_fd);
    gst_poll_fd_ctl_read(s->poll, &s->accept_fd, TRUE);
    s->funcs.listening(s->element, bound_port(s->listener));
    return TRUE;
}

static void free_sender(GstTltcpSender *s) {
    g_ptr_array_unref(s->heads);
    g_ptr_array_unref(s->peers);
    gst_poll_free(s->poll);
    gst_tltcp_settings_free(s->settings);
    g_free(s->where);
    g_cond_clear(&s->changed);
    g_mutex_clear(&s->lock);
    g_free(s);
}

/* What can be said at once to be wrong is an error of the state change. */
static gboolean check_config(GstTltcpSender *s) {
    tltcp_config config;
    GstTltcpCause cause = {.writing = TRUE};

    sender_make_config(s, &config);
    cause.error = gst_tltcp_settings_check(s->settings, &config, cause.reason);
    if (cause.error) {
        gst_tltcp_cause_post(s->element, &cause, s->where, TRUE);
    }
    return !cause.error;
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
    g_queue_init(&s->notes);
    s->poll = gst_poll_new_timer(); /* can be woken from other threads */
    s->peers = g_ptr_array_new();
    s->heads = g_ptr_array_new_with_free_func(gst_tltcp_head_free);
    s->running = TRUE;
    s->retry_delay = RETRY_MIN_NS;
    gst_poll_fd_init(&s->accept_fd);
    gboolean listener = s->settings->mode == GST_TLTCP_MODE_LISTENER;
    if (listener) {
        s->retry_at = TLTCP_TIME_NEVER;
    }
    if (!check_config(s) || (listener && !sender_start_listening(s))) {
        free_sender(s);
        return NULL;
    }
    s->thread = g_thread_new("tltcpsink", run, s);
    return s;
}

/* Says goodbye to all before waiting for any. */
static void close_peers(GstTltcpSender *s) {
    gint64 end = g_get_monotonic_time() + LINGER_US;

    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        tltcp_shutdown(peer->socket);
    }
    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        gint64 left = end - g_get_monotonic_time();
        tltcp_close(peer->socket, left > 0 ? (gint)(left / 1000) : 0);
        gst_tltcp_peer_free(peer);
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
    tltcp_close(s->listener, 0);
    free_sender(s);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpsender.h"

#include <string.h>

#include <tltcp/socket.h>

#include "gst-plugins/gsttltcpcause.h"
#include "gst-plugins/gsttltcppeer.h"
#include "gst-plugins/gsttltcpstats.h"

#define RETRY_MIN_NS (200 * TLTCP_MS)
#define RETRY_MAX_NS (2 * TLTCP_S)
#define DRAIN_LOOK_US (10 * G_TIME_SPAN_MILLISECOND)
/* What closing may take in all, to say goodbye and to deliver the rest. */
#define LINGER_US (500 * G_TIME_SPAN_MILLISECOND)

struct GstTltcpSender {
    GstElement *element; /* outlives this */
    GstTltcpSettings *settings;
    GstTltcpSenderOptions options;
    GstTltcpSenderFuncs funcs;
    gchar *where;

    GMutex lock; /* for all below */
    GCond changed;
    GThread *thread;
    GstPoll *poll;
    gboolean running;
    gboolean flushing;
    gboolean failed;
    gboolean woken;
    gboolean ever_connected;
    gboolean finished; /* the end was sent: the others may go */

    tltcp_socket *listener;
    GstPollFD accept_fd;
    GPtrArray *peers;
    GstTltcpSent departed; /* counts of connections that are gone */
    tltcp_time retry_at;
    tltcp_time retry_delay;
    guint attempt;
    gboolean warned;
    guint64 rate;

    GBytes *config;
    GPtrArray *headers;
    GQueue notes; /* of Note, to be told when the lock is free */
};

typedef enum {
    NOTE_ADDED,
    NOTE_REMOVED,
    NOTE_KEY_WANTED,
    NOTE_RATE,
    NOTE_STATE,
    NOTE_FAILED,
    NOTE_WARN
} NoteKind;

/* Something to tell the sink or the bus. */
typedef struct {
    NoteKind kind;
    GSocketAddress *address;
    GstTltcpCause cause;
    gboolean has_cause;
    const gchar *state;
    guint attempt;
    guint64 rate;
} Note;

static Note *add_note(GstTltcpSender *s, NoteKind kind) {
    Note *note = g_new0(Note, 1);

    note->kind = kind;
    note->attempt = s->attempt;
    g_queue_push_tail(&s->notes, note);
    return note;
}

static void note_state(GstTltcpSender *s, const gchar *state,
                       const GstTltcpCause *cause) {
    Note *note = add_note(s, NOTE_STATE);

    note->state = state;
    note->has_cause = cause != NULL;
    if (cause) {
        note->cause = *cause;
    }
}

static void note_peer(GstTltcpSender *s, NoteKind kind, GstTltcpPeer *peer) {
    Note *note = add_note(s, kind);

    if (peer->address) {
        note->address = g_object_ref(peer->address);
    }
}

static void tell(GstTltcpSender *s, const Note *note) {
    switch (note->kind) {
    case NOTE_ADDED:
        s->funcs.caller_added(s->element, note->address);
        break;
    case NOTE_REMOVED:
        s->funcs.caller_removed(s->element, note->address);
        break;
    case NOTE_KEY_WANTED:
        s->funcs.key_unit_wanted(s->element);
        break;
    case NOTE_RATE:
        s->funcs.rate_changed(s->element, note->rate);
        break;
    case NOTE_STATE:
        gst_tltcp_connection_message(s->element, note->state, s->where,
                                     note->has_cause ? &note->cause : NULL,
                                     note->attempt);
        break;
    case NOTE_FAILED:
    case NOTE_WARN:
        gst_tltcp_cause_post(s->element, &note->cause, s->where,
                             note->kind == NOTE_FAILED);
        break;
    }
}

static void tell_notes(GstTltcpSender *s) {
    Note *note;

    for (;;) {
        g_mutex_lock(&s->lock);
        note = g_queue_pop_head(&s->notes);
        g_mutex_unlock(&s->lock);
        if (!note) {
            return;
        }
        tell(s, note);
        g_clear_object(&note->address);
        g_free(note);
    }
}

static void wake(GstTltcpSender *s) {
    if (!s->woken) {
        s->woken = TRUE;
        gst_poll_write_control(s->poll);
    }
}

/* What a new connection gets before anything else. */
static void greet(GstTltcpSender *s, GstTltcpPeer *peer) {
    media_item item;

    memset(&item, 0, sizeof(item));
    item.frame.frame_class = MEDIA_CLASS_HEADER;
    item.due = item.deadline = MEDIA_NEVER;
    item.arrival = (gint64)tltcp_now();
    if (!s->config) {
        return;
    }
    gst_tltcp_peer_push(peer, s->config, &item);
    for (guint i = 0; s->headers && i < s->headers->len; i++) {
        gst_tltcp_peer_push(peer, g_ptr_array_index(s->headers, i), &item);
    }
    media__outq_wait_key(peer->queue, 0, item.arrival);
    add_note(s, NOTE_KEY_WANTED);
}

static GstTltcpPeer *add_peer(GstTltcpSender *s, tltcp_socket *socket) {
    GstTltcpPeer *peer = gst_tltcp_peer_new(socket, s->options.policy);

    gst_poll_add_fd(s->poll, &peer->events);
    gst_poll_fd_ctl_read(s->poll, &peer->events, TRUE);
    g_ptr_array_add(s->peers, peer);
    return peer;
}

static void on_connected(GstTltcpSender *s, GstTltcpPeer *peer) {
    peer->connected = TRUE;
    s->attempt = 0;
    s->retry_delay = RETRY_MIN_NS;
    s->warned = FALSE;
    s->ever_connected = TRUE;
    greet(s, peer);
    if (s->listener) {
        note_peer(s, NOTE_ADDED, peer);
    }
    note_state(s, "connected", NULL);
    g_cond_broadcast(&s->changed);
}

static void accept_callers(GstTltcpSender *s) {
    tltcp_socket *socket;

    while (s->listener && tltcp_accept(s->listener, &socket, 0) == 0) {
        on_connected(s, add_peer(s, socket));
    }
}

static void on_failure(GstTltcpSender *s, const GstTltcpCause *cause) {
    gboolean fatal =
        gst_tltcp_cause_is_permanent(cause) || !s->settings->auto_reconnect;

    note_state(s, cause->was_open ? "lost" : "failed", cause);
    if (fatal) {
        s->failed = TRUE;
        s->retry_at = TLTCP_TIME_NEVER;
    } else {
        s->retry_at = tltcp_now() + s->retry_delay;
        s->retry_delay = MIN(2 * s->retry_delay, RETRY_MAX_NS);
    }
    if (fatal || !s->warned) {
        add_note(s, fatal ? NOTE_FAILED : NOTE_WARN)->cause = *cause;
    }
    s->warned = TRUE;
    g_cond_broadcast(&s->changed);
}

static void make_config(GstTltcpSender *s, tltcp_config *config) {
    gst_tltcp_settings_config(s->settings, config);
    config->max_rate = s->options.max_rate;
    config->report_fates = true;
}

/* Looking up a name may block, so the lock is not held. */
static void call(GstTltcpSender *s) {
    tltcp_config config;
    tltcp_socket *socket = NULL;
    GstTltcpCause cause = {.writing = TRUE};
    g_autofree gchar *service = g_strdup_printf("%u", s->settings->port);

    make_config(s, &config);
    s->attempt++;
    note_state(s, s->attempt > 1 ? "retrying" : "connecting", NULL);
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
        note_peer(s, NOTE_REMOVED, peer);
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
    add_note(s, NOTE_RATE)->rate = best;
}

static tltcp_time service_peer(GstTltcpSender *s, GstTltcpPeer *peer) {
    gboolean was_connected = peer->connected;
    tltcp_time when = gst_tltcp_peer_service(peer);

    if (peer->connected && !was_connected) {
        on_connected(s, peer);
        when = 0;
    }
    if (peer->key_wanted) {
        peer->key_wanted = FALSE;
        peer->counts.key_units_requested++;
        add_note(s, NOTE_KEY_WANTED);
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
        call(s);
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
        tell_notes(s);
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
    tell_notes(s);
    return NULL;
}

static bool on_caller(void *user, const tltcp_caller *caller, char *reason) {
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

static gboolean start_listening(GstTltcpSender *s) {
    tltcp_config config;
    GstTltcpCause cause = {.writing = TRUE, .listening = TRUE};
    g_autofree gchar *service =
        g_strdup_printf("%u", gst_tltcp_settings_bind_port(s->settings));

    make_config(s, &config);
    config.on_caller = on_caller;
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
    g_clear_pointer(&s->config, g_bytes_unref);
    g_clear_pointer(&s->headers, g_ptr_array_unref);
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

    make_config(s, &config);
    cause.error = tltcp_config_check(&config, cause.reason);
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
    s->running = TRUE;
    s->retry_delay = RETRY_MIN_NS;
    gst_poll_fd_init(&s->accept_fd);
    gboolean listener = s->settings->mode == GST_TLTCP_MODE_LISTENER;
    if (listener) {
        s->retry_at = TLTCP_TIME_NEVER;
    }
    if (!check_config(s) || (listener && !start_listening(s))) {
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
    wake(s);
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
    g_thread_join(s->thread);
    close_peers(s);
    tltcp_close(s->listener, 0);
    free_sender(s);
}

void gst_tltcp_sender_set_flushing(GstTltcpSender *s, gboolean flushing) {
    g_mutex_lock(&s->lock);
    s->flushing = flushing;
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
}

void gst_tltcp_sender_set_config(GstTltcpSender *s, GBytes *config,
                                 GPtrArray *headers) {
    media_item item;

    memset(&item, 0, sizeof(item));
    item.frame.frame_class = MEDIA_CLASS_HEADER;
    item.due = item.deadline = MEDIA_NEVER;
    item.arrival = (gint64)tltcp_now();
    g_mutex_lock(&s->lock);
    gboolean first = s->config == NULL;
    g_clear_pointer(&s->config, g_bytes_unref);
    g_clear_pointer(&s->headers, g_ptr_array_unref);
    s->config = g_bytes_ref(config);
    s->headers = headers ? g_ptr_array_ref(headers) : NULL;
    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (!peer->connected) {
            continue; /* will be greeted */
        }
        gst_tltcp_peer_push(peer, config, &item);
        for (guint h = 0; first && headers && h < headers->len; h++) {
            gst_tltcp_peer_push(peer, g_ptr_array_index(headers, h), &item);
        }
    }
    wake(s);
    g_mutex_unlock(&s->lock);
}

static gboolean anybody_connected(const GstTltcpSender *s) {
    for (guint i = 0; i < s->peers->len; i++) {
        const GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (peer->connected) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean must_wait(const GstTltcpSender *s) {
    if (!s->listener) {
        return !s->ever_connected;
    }
    return !anybody_connected(s);
}

gboolean gst_tltcp_sender_wait_connected(GstTltcpSender *s, guint64 *waited) {
    tltcp_time start = tltcp_now();

    *waited = 0;
    g_mutex_lock(&s->lock);
    while (!s->flushing && !s->failed && s->running && must_wait(s)) {
        g_cond_wait(&s->changed, &s->lock);
        *waited = tltcp_now() - start;
    }
    gboolean ok = !s->flushing && !s->failed;
    g_mutex_unlock(&s->lock);
    return ok;
}

static gboolean all_have_room(const GstTltcpSender *s, gsize bytes) {
    for (guint i = 0; i < s->peers->len; i++) {
        const GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (peer->connected && !gst_tltcp_peer_has_room(peer, bytes)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gint64 room_wait_end(const GstTltcpSender *s, const media_item *item,
                            guint64 patience) {
    tltcp_time now = tltcp_now();
    gint64 end = G_MAXINT64;

    if (s->peers->len > 1) {
        return g_get_monotonic_time() + (gint64)(patience / 1000);
    }
    if (item->deadline != MEDIA_NEVER) {
        end = g_get_monotonic_time() + (item->deadline - (gint64)now) / 1000;
    }
    return end;
}

static void wait_room(GstTltcpSender *s, const media_item *item, gsize bytes,
                      guint64 patience) {
    gint64 end = room_wait_end(s, item, patience);

    while (!s->flushing && !s->failed && s->running &&
           !all_have_room(s, bytes)) {
        if (end == G_MAXINT64) {
            g_cond_wait(&s->changed, &s->lock);
        } else if (!g_cond_wait_until(&s->changed, &s->lock, end)) {
            return;
        }
    }
}

/* Frames behind the end: the stream goes on. */
static void begin_again(GstTltcpSender *s) {
    if (s->finished && !s->listener && !s->peers->len) {
        s->retry_at = tltcp_now();
    }
    s->finished = FALSE;
}

gboolean gst_tltcp_sender_push(GstTltcpSender *s, GBytes *section,
                               const media_item *item, guint64 patience) {
    g_mutex_lock(&s->lock);
    if (item->frame.frame_class != MEDIA_CLASS_HEADER) {
        begin_again(s);
    }
    wait_room(s, item, g_bytes_get_size(section), patience);
    gboolean ok = !s->flushing && !s->failed;
    for (guint i = 0; ok && i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (peer->connected) {
            gst_tltcp_peer_push(peer, section, item);
        }
    }
    wake(s);
    g_mutex_unlock(&s->lock);
    return ok;
}

static gboolean is_drained(const GstTltcpSender *s) {
    for (guint i = 0; i < s->peers->len; i++) {
        if (!gst_tltcp_peer_is_drained(g_ptr_array_index(s->peers, i))) {
            return FALSE;
        }
    }
    return TRUE;
}

void gst_tltcp_sender_finish(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    s->finished = TRUE;
    g_mutex_unlock(&s->lock);
}

/* Deadlines end it, and where there are none, the idle timeout of a connection
 * whose peer is gone. */
void gst_tltcp_sender_drain(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    while (!s->flushing && !s->failed && s->running && !is_drained(s)) {
        g_cond_wait_until(&s->changed, &s->lock,
                          g_get_monotonic_time() + DRAIN_LOOK_US);
    }
    g_mutex_unlock(&s->lock);
}

gboolean gst_tltcp_sender_has_failed(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    gboolean failed = s->failed;
    g_mutex_unlock(&s->lock);
    return failed;
}

static void add_callers(GstTltcpSender *s, GstStructure *stats) {
    GstTltcpSent sum = s->departed;

    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    GValueArray *callers = g_value_array_new(s->peers->len);
    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        GstStructure *one = gst_tltcp_peer_stats(peer);
        GValue value = G_VALUE_INIT;
        gst_tltcp_stats_sum_sent(&sum, &peer->counts);
        g_value_init(&value, GST_TYPE_STRUCTURE);
        g_value_take_boxed(&value, one);
        g_value_array_append(callers, &value);
        g_value_unset(&value);
    }
    gst_structure_set(stats, "callers", g_value_array_get_type(), callers,
                      NULL);
    g_value_array_free(callers);
    G_GNUC_END_IGNORE_DEPRECATIONS
    gst_tltcp_stats_add_sent(stats, &sum);
}

GstStructure *gst_tltcp_sender_stats(GstTltcpSender *s) {
    GstStructure *stats = NULL;
    tltcp_stats st;

    g_mutex_lock(&s->lock);
    if (!s->listener && s->peers->len) {
        stats = gst_tltcp_peer_stats(g_ptr_array_index(s->peers, 0));
        gst_structure_remove_field(stats, "caller-address");
    } else {
        stats = gst_structure_new_empty(GST_TLTCP_STATS_NAME);
        tltcp_stats_init(&st);
        if (s->listener && tltcp_get_stats(s->listener, &st) == 0) {
            gst_tltcp_stats_add(stats, &st);
        }
        if (s->listener) {
            add_callers(s, stats);
        } else {
            gst_tltcp_stats_add_sent(stats, &s->departed);
        }
    }
    g_mutex_unlock(&s->lock);
    return stats;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The sink's side of the sender. */
#include <string.h>

#include "gst-plugins/gsttltcpsenderimpl.h"
#include "internal/media/stream/deadline.h"

#define DRAIN_LOOK_US (10 * G_TIME_SPAN_MILLISECOND)

void gst_tltcp_sender_set_flushing(GstTltcpSender *s, gboolean flushing) {
    g_mutex_lock(&s->lock);
    s->flushing = flushing;
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
}

void gst_tltcp_sender_look(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
}

void gst_tltcp_head_free(gpointer user) {
    GstTltcpHead *head = user;

    if (head) {
        g_bytes_unref(head->config);
        g_clear_pointer(&head->headers, g_ptr_array_unref);
        g_clear_pointer(&head->tags, g_bytes_unref);
        g_free(head);
    }
}

static void push_reliably(GstTltcpPeer *peer, GBytes *section) {
    media_item item;

    memset(&item, 0, sizeof(item));
    item.frame.frame_class = MEDIA_CLASS_HEADER;
    item.due = item.deadline = MEDIA_NEVER;
    item.arrival = (gint64)tltcp_now();
    gst_tltcp_peer_push(peer, section, &item);
}

static void push_headers(const GstTltcpHead *head, GstTltcpPeer *peer) {
    for (guint i = 0; head->headers && i < head->headers->len; i++) {
        push_reliably(peer, g_ptr_array_index(head->headers, i));
    }
}

void gst_tltcp_heads_push(GPtrArray *heads, GstTltcpPeer *peer) {
    for (guint i = 0; i < heads->len; i++) {
        const GstTltcpHead *head = g_ptr_array_index(heads, i);
        if (head) {
            push_reliably(peer, head->config);
        }
    }
    for (guint i = 0; i < heads->len; i++) {
        const GstTltcpHead *head = g_ptr_array_index(heads, i);
        if (head && head->begun) {
            push_headers(head, peer);
        }
        if (head && head->tags) {
            push_reliably(peer, head->tags);
        }
    }
}

static GstTltcpHead *new_head(GBytes *config, GPtrArray *headers) {
    GstTltcpHead *head = g_new0(GstTltcpHead, 1);

    head->config = g_bytes_ref(config);
    head->headers = headers ? g_ptr_array_ref(headers) : NULL;
    return head;
}

static GstTltcpHead *head_of(const GstTltcpSender *s, guint stream) {
    return stream < s->heads->len ? g_ptr_array_index(s->heads, stream) : NULL;
}

void gst_tltcp_sender_set_config(GstTltcpSender *s, guint stream,
                                 GBytes *config, GPtrArray *headers,
                                 gboolean begun) {
    g_mutex_lock(&s->lock);
    if (stream >= s->heads->len) {
        g_ptr_array_set_size(s->heads, (gint)stream + 1);
    }
    gpointer *slot = &g_ptr_array_index(s->heads, stream);
    g_clear_pointer(slot, gst_tltcp_head_free);
    GstTltcpHead *head = config ? new_head(config, headers) : NULL;
    *slot = head;
    for (guint i = 0; head && i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (peer->connected) { /* others will be greeted */
            push_reliably(peer, config);
        }
    }
    g_mutex_unlock(&s->lock);
    if (begun) {
        gst_tltcp_sender_begin(s, stream);
    }
}

void gst_tltcp_sender_begin(GstTltcpSender *s, guint stream) {
    g_mutex_lock(&s->lock);
    GstTltcpHead *head = head_of(s, stream);
    for (guint i = 0; head && !head->begun && i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (peer->connected) {
            push_headers(head, peer);
        }
    }
    if (head) {
        head->begun = TRUE;
    }
    gst_tltcp_sender_wake(s);
    g_mutex_unlock(&s->lock);
}

void gst_tltcp_sender_set_tags(GstTltcpSender *s, guint stream, GBytes *tags) {
    g_mutex_lock(&s->lock);
    GstTltcpHead *head = head_of(s, stream);
    if (head) {
        g_clear_pointer(&head->tags, g_bytes_unref);
        head->tags = g_bytes_ref(tags);
    }
    for (guint i = 0; head && i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (peer->connected) {
            push_reliably(peer, tags);
        }
    }
    gst_tltcp_sender_wake(s);
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

/* Whether somebody who waits should go on waiting. */
static gboolean may_wait(const GstTltcpSender *s, const gint *cancelled) {
    return !s->flushing && !s->failed && s->running &&
           !g_atomic_int_get(cancelled);
}

gboolean gst_tltcp_sender_wait_connected(GstTltcpSender *s,
                                         const gint *cancelled,
                                         guint64 *waited) {
    tltcp_time start = tltcp_now();

    *waited = 0;
    g_mutex_lock(&s->lock);
    while (may_wait(s, cancelled) && must_wait(s)) {
        g_cond_wait(&s->changed, &s->lock);
        *waited = tltcp_now() - start;
    }
    gboolean ok = may_wait(s, cancelled);
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

static void wait_room(GstTltcpSender *s, const media_item *item,
                      const gint *cancelled, guint64 patience) {
    gint64 end = room_wait_end(s, item, patience);

    while (may_wait(s, cancelled) && !all_have_room(s, item->bytes)) {
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
                               const media_item *item, const gint *cancelled,
                               guint64 patience) {
    g_mutex_lock(&s->lock);
    if (item->frame.frame_class != MEDIA_CLASS_HEADER) {
        begin_again(s);
    }
    wait_room(s, item, cancelled, patience);
    gboolean ok = may_wait(s, cancelled);
    for (guint i = 0; ok && i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (peer->connected) {
            gst_tltcp_peer_push(peer, section, item);
        }
    }
    gst_tltcp_sender_wake(s);
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
gboolean gst_tltcp_sender_drain(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    gboolean drained = is_drained(s);
    while (!s->flushing && !s->failed && s->running && !drained) {
        g_cond_wait_until(&s->changed, &s->lock,
                          g_get_monotonic_time() + DRAIN_LOOK_US);
        drained = is_drained(s); /* once: what it looks at goes on */
    }
    g_mutex_unlock(&s->lock);
    return drained;
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
            gst_tltcp_stats_add_outside(stats, &st);
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

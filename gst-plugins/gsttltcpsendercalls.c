/* SPDX-License-Identifier: MPL-2.0 */
/* The calls of the sink. */
#include "gst-plugins/gsttltcpsenderimpl.h"

#define DRAIN_LOOK_US (10 * G_TIME_SPAN_MILLISECOND)

void gst_tltcp_sender_wake(GstTltcpSender *s) {
    if (!s->woken) {
        s->woken = TRUE;
        gst_poll_write_control(s->poll);
    }
}

void gst_tltcp_sender_poll(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    gst_tltcp_sender_wake(s);
    g_mutex_unlock(&s->lock);
}

tltcp_socket *gst_tltcp_sender_listener(const GstTltcpSender *s) {
    return tltcp_live_link_listener(s->link);
}

void gst_tltcp_sender_set_flushing(GstTltcpSender *s, gboolean flushing) {
    g_mutex_lock(&s->lock);
    s->flushing = flushing;
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
}

void gst_tltcp_sender_recheck(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
}

static void push_all(GstTltcpSender *s, tltcp_live_section *section) {
    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        tltcp_live_sender_push(peer->live, section);
    }
}

void gst_tltcp_sender_set_config(GstTltcpSender *s, guint stream,
                                 tltcp_live_section *config, GPtrArray *headers,
                                 gboolean begun) {
    g_mutex_lock(&s->lock);
    gst_tltcp_preambles_set(s->preambles, stream, config, headers);
    if (config) { /* later connections get it from the preamble */
        push_all(s, config);
    }
    g_mutex_unlock(&s->lock);
    if (begun) {
        gst_tltcp_sender_begin(s, stream);
    }
}

void gst_tltcp_sender_begin(GstTltcpSender *s, guint stream) {
    g_mutex_lock(&s->lock);
    GstTltcpPreamble *preamble = gst_tltcp_preambles_get(s->preambles, stream);
    for (guint i = 0; preamble && !preamble->begun && i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        gst_tltcp_preamble_push_headers(preamble, peer->live);
    }
    if (preamble) {
        preamble->begun = TRUE;
    }
    gst_tltcp_sender_wake(s);
    g_mutex_unlock(&s->lock);
}

void gst_tltcp_sender_set_tags(GstTltcpSender *s, guint stream,
                               tltcp_live_section *tags) {
    g_mutex_lock(&s->lock);
    GstTltcpPreamble *preamble = gst_tltcp_preambles_get(s->preambles, stream);
    if (preamble) {
        gst_tltcp_preamble_set_tags(preamble, tags);
        push_all(s, tags);
    }
    gst_tltcp_sender_wake(s);
    g_mutex_unlock(&s->lock);
}

static gboolean must_wait(const GstTltcpSender *s) {
    return gst_tltcp_sender_listener(s) ? !s->peers->len : !s->ever_connected;
}

/* Whether a waiting thread should go on waiting. */
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
        if (!tltcp_live_sender_has_room(peer->live, bytes)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gint64 room_wait_end(const GstTltcpSender *s,
                            const tltcp_live_section *section,
                            guint64 patience) {
    tltcp_time deadline = tltcp_live_section_deadline(section);
    tltcp_time now = tltcp_now();
    gint64 end = G_MAXINT64;

    if (s->peers->len > 1) {
        return g_get_monotonic_time() + (gint64)(patience / 1000);
    }
    if (deadline != TLTCP_TIME_NEVER) {
        end = g_get_monotonic_time() + ((gint64)deadline - (gint64)now) / 1000;
    }
    return end;
}

static void wait_room(GstTltcpSender *s, const tltcp_live_section *section,
                      const gint *cancelled, guint64 patience) {
    gint64 end = room_wait_end(s, section, patience);
    gsize bytes = tltcp_live_section_bytes(section);

    while (may_wait(s, cancelled) && !all_have_room(s, bytes)) {
        if (end == G_MAXINT64) {
            g_cond_wait(&s->changed, &s->lock);
        } else if (!g_cond_wait_until(&s->changed, &s->lock, end)) {
            return;
        }
    }
}

/* Frames after the end: the stream continues. */
static void begin_again(GstTltcpSender *s) {
    if (s->finished && !s->peers->len) {
        s->link_lost = TRUE;
    }
    s->finished = FALSE;
}

gboolean gst_tltcp_sender_push(GstTltcpSender *s, tltcp_live_section *section,
                               const gint *cancelled, guint64 patience) {
    g_mutex_lock(&s->lock);
    if (tltcp_live_section_class(section) != TL_CLASS_HEADER) {
        begin_again(s);
    }
    wait_room(s, section, cancelled, patience);
    gboolean ok = may_wait(s, cancelled);
    if (ok) {
        push_all(s, section);
    }
    gst_tltcp_sender_wake(s);
    g_mutex_unlock(&s->lock);
    return ok;
}

guint64 gst_tltcp_sender_lateness(GstTltcpSender *s, gsize bytes,
                                  tltcp_time due) {
    guint64 least = G_MAXUINT64;

    g_mutex_lock(&s->lock);
    for (guint i = 0; least && i < s->peers->len; i++) {
        const GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        guint64 late = tltcp_live_sender_lateness(peer->live, bytes, due);
        least = MIN(least, late);
    }
    g_mutex_unlock(&s->lock);
    return least == G_MAXUINT64 ? 0 : least;
}

static gboolean is_drained(const GstTltcpSender *s) {
    for (guint i = 0; i < s->peers->len; i++) {
        const GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        if (!tltcp_live_sender_is_idle(peer->live)) {
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

/* The wait ends at the last deadline; without deadlines, the idle timeout ends
 * a connection whose peer is gone. */
gboolean gst_tltcp_sender_drain(GstTltcpSender *s) {
    g_mutex_lock(&s->lock);
    gboolean drained = is_drained(s);
    while (!s->flushing && !s->failed && s->running && !drained) {
        g_cond_wait_until(&s->changed, &s->lock,
                          g_get_monotonic_time() + DRAIN_LOOK_US);
        drained = is_drained(s); /* evaluated once: its inputs keep changing */
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
    tltcp_live_stats sum = s->departed;

    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    GValueArray *callers = g_value_array_new(s->peers->len);
    for (guint i = 0; i < s->peers->len; i++) {
        GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        GstStructure *one = gst_tltcp_peer_stats(peer);
        GValue value = G_VALUE_INIT;
        tltcp_live_sender_add_stats(peer->live, &sum);
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
    tltcp_socket *listener = gst_tltcp_sender_listener(s);
    GstStructure *stats = NULL;
    tltcp_stats st;

    g_mutex_lock(&s->lock);
    if (!listener && s->peers->len) {
        stats = gst_tltcp_peer_stats(g_ptr_array_index(s->peers, 0));
        gst_structure_remove_field(stats, "caller-address");
    } else {
        stats = gst_structure_new_empty(GST_TLTCP_STATS_NAME);
        tltcp_stats_init(&st);
        if (listener && tltcp_get_stats(listener, &st) == 0) {
            gst_tltcp_stats_add(stats, &st);
            gst_tltcp_stats_add_outside(stats, &st);
        }
        if (listener) {
            add_callers(s, stats);
        } else {
            gst_tltcp_stats_add_sent(stats, &s->departed);
        }
    }
    g_mutex_unlock(&s->lock);
    return stats;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Signals and messages of the sender's thread, queued. */
#include "gst-plugins/gsttltcppending.h"

GstTltcpPending *gst_tltcp_pending_add(GstTltcpSender *s,
                                       GstTltcpPendingKind kind) {
    GstTltcpPending *pending = g_new0(GstTltcpPending, 1);

    pending->kind = kind;
    pending->attempt = s->attempt;
    g_queue_push_tail(&s->pending, pending);
    return pending;
}

void gst_tltcp_pending_state(GstTltcpSender *s, const gchar *state,
                             const GstTltcpError *error) {
    GstTltcpPending *pending =
        gst_tltcp_pending_add(s, GST_TLTCP_PENDING_STATE);

    pending->state = state;
    pending->has_cause = error != NULL;
    if (error) {
        pending->error = *error;
    }
}

GstTltcpPending *gst_tltcp_pending_peer(GstTltcpSender *s,
                                        GstTltcpPendingKind kind,
                                        GstTltcpPeer *peer) {
    GstTltcpPending *pending = gst_tltcp_pending_add(s, kind);

    if (peer->address) {
        pending->address = g_object_ref(peer->address);
    }
    return pending;
}

void gst_tltcp_pending_rate(GstTltcpSender *s) {
    guint64 best = 0;
    guint64 target = 0;

    for (guint i = 0; i < s->peers->len; i++) {
        const GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        best = MAX(best, peer->rate);
        target = MAX(target, peer->target);
    }
    if (best != s->rate || target != s->target) {
        GstTltcpPending *pending =
            gst_tltcp_pending_add(s, GST_TLTCP_PENDING_RATE);
        pending->rate = s->rate = best;
        pending->target = s->target = target;
    }
}

static void pending_emit(GstTltcpSender *s, const GstTltcpPending *pending) {
    switch (pending->kind) {
    case GST_TLTCP_PENDING_ADDED:
        s->funcs.caller_added(s->element, pending->address);
        break;
    case GST_TLTCP_PENDING_REMOVED:
        s->funcs.caller_removed(s->element, pending->address);
        break;
    case GST_TLTCP_PENDING_KEY_WANTED:
        s->funcs.key_unit_wanted(s->element);
        break;
    case GST_TLTCP_PENDING_RATE:
        s->funcs.rate_changed(s->element, pending->rate, pending->target);
        break;
    case GST_TLTCP_PENDING_LOST:
        s->funcs.section_dropped(s->element, pending->address, &pending->loss);
        break;
    case GST_TLTCP_PENDING_STATE:
        gst_tltcp_connection_message(
            s->element, pending->state, s->where,
            pending->has_cause ? &pending->error : NULL, pending->attempt);
        break;
    case GST_TLTCP_PENDING_FAILED:
    case GST_TLTCP_PENDING_WARN:
        gst_tltcp_error_post(s->element, &pending->error, s->where,
                             pending->kind == GST_TLTCP_PENDING_FAILED);
        break;
    case GST_TLTCP_PENDING_REJECTED:
        gst_tltcp_error_post_rejected(s->element, pending->address,
                                      pending->error.reason);
        break;
    }
}

void gst_tltcp_pending_report(GstTltcpSender *s) {
    GstTltcpPending *pending;

    for (;;) {
        g_mutex_lock(&s->lock);
        pending = g_queue_pop_head(&s->pending);
        g_mutex_unlock(&s->lock);
        if (!pending) {
            return;
        }
        pending_emit(s, pending);
        g_clear_object(&pending->address);
        g_free(pending);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpnotes.h"

GstTltcpNote *gst_tltcp_note_add(GstTltcpSender *s, GstTltcpNoteKind kind) {
    GstTltcpNote *note = g_new0(GstTltcpNote, 1);

    note->kind = kind;
    note->attempt = s->attempt;
    g_queue_push_tail(&s->notes, note);
    return note;
}

void gst_tltcp_note_state(GstTltcpSender *s, const gchar *state,
                          const GstTltcpCause *cause) {
    GstTltcpNote *note = gst_tltcp_note_add(s, GST_TLTCP_NOTE_STATE);

    note->state = state;
    note->has_cause = cause != NULL;
    if (cause) {
        note->cause = *cause;
    }
}

GstTltcpNote *gst_tltcp_note_peer(GstTltcpSender *s, GstTltcpNoteKind kind,
                                  GstTltcpPeer *peer) {
    GstTltcpNote *note = gst_tltcp_note_add(s, kind);

    if (peer->address) {
        note->address = g_object_ref(peer->address);
    }
    return note;
}

void gst_tltcp_note_rate(GstTltcpSender *s) {
    guint64 best = 0;
    guint64 target = 0;

    for (guint i = 0; i < s->peers->len; i++) {
        const GstTltcpPeer *peer = g_ptr_array_index(s->peers, i);
        best = MAX(best, peer->rate);
        target = MAX(target, peer->target);
    }
    if (best != s->rate || target != s->target) {
        GstTltcpNote *note = gst_tltcp_note_add(s, GST_TLTCP_NOTE_RATE);
        note->rate = s->rate = best;
        note->target = s->target = target;
    }
}

static void tell(GstTltcpSender *s, const GstTltcpNote *note) {
    switch (note->kind) {
    case GST_TLTCP_NOTE_ADDED:
        s->funcs.caller_added(s->element, note->address);
        break;
    case GST_TLTCP_NOTE_REMOVED:
        s->funcs.caller_removed(s->element, note->address);
        break;
    case GST_TLTCP_NOTE_KEY_WANTED:
        s->funcs.key_unit_wanted(s->element);
        break;
    case GST_TLTCP_NOTE_RATE:
        s->funcs.rate_changed(s->element, note->rate, note->target);
        break;
    case GST_TLTCP_NOTE_LOST:
        s->funcs.section_dropped(s->element, note->address, &note->loss);
        break;
    case GST_TLTCP_NOTE_STATE:
        gst_tltcp_connection_message(s->element, note->state, s->where,
                                     note->has_cause ? &note->cause : NULL,
                                     note->attempt);
        break;
    case GST_TLTCP_NOTE_FAILED:
    case GST_TLTCP_NOTE_WARN:
        gst_tltcp_cause_post(s->element, &note->cause, s->where,
                             note->kind == GST_TLTCP_NOTE_FAILED);
        break;
    }
}

void gst_tltcp_notes_tell(GstTltcpSender *s) {
    GstTltcpNote *note;

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

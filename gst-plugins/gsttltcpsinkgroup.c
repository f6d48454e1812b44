/* SPDX-License-Identifier: MPL-2.0 */
/* What the streams of a sink share: its sender, and waiting for each other, at
 * the beginning for their descriptions, at the end for the last one. */
#include "gst-plugins/gsttltcpsinkimpl.h"

/* How long the first frames wait for the descriptions of other streams: an
 * encoder sets its caps only with its first frame. */
#define DESCRIBE_US (5 * G_TIME_SPAN_SECOND)

gboolean gst_tltcp_sink_has_sender(GstTltcpSink *self) {
    g_mutex_lock(&self->sender_lock);
    gboolean has = self->sender != NULL;
    g_mutex_unlock(&self->sender_lock);
    return has;
}

/* Iterates over the linked streams; NULL after the last. Requires the lock. */
static GstTltcpStream *group_next(GstTltcpSink *self, guint *index) {
    while (*index <= self->pads->len) {
        guint i = (*index)++;
        GstTltcpSinkPad *pad = i ? g_ptr_array_index(self->pads, i - 1) : NULL;
        GstTltcpStream *stream = pad ? &pad->stream : &self->stream;
        if (gst_pad_is_linked(stream->pad)) {
            return stream;
        }
    }
    return NULL;
}

guint8 gst_tltcp_sink_group_count(GstTltcpSink *self) {
    GstTltcpStream *stream;
    guint8 count = 0;
    guint index = 0;

    g_mutex_lock(&self->pads_lock);
    while ((stream = group_next(self, &index))) {
        if (stream->described || !stream->ending) {
            count++;
        }
    }
    g_mutex_unlock(&self->pads_lock);
    return count;
}

static gboolean group_is_described(GstTltcpSink *self) {
    GstTltcpStream *stream;
    guint index = 0;

    while ((stream = group_next(self, &index))) {
        if (!stream->described && !stream->ended) {
            return FALSE;
        }
    }
    return TRUE;
}

void gst_tltcp_sink_group_wait_described(GstTltcpSink *self) {
    gint64 end = g_get_monotonic_time() + DESCRIBE_US;

    g_mutex_lock(&self->pads_lock);
    g_cond_broadcast(&self->pads_changed);
    while (self->pads->len && self->starting && !self->flushing &&
           !group_is_described(self) &&
           g_cond_wait_until(&self->pads_changed, &self->pads_lock, end)) {
    }
    g_mutex_unlock(&self->pads_lock);
}

gboolean gst_tltcp_sink_group_begin_eos(GstTltcpStream *ending) {
    GstTltcpSink *self = ending->sink;
    GstTltcpStream *stream;
    gboolean last = TRUE;
    guint index = 0;

    g_mutex_lock(&self->pads_lock);
    ending->ending = TRUE;
    while ((stream = group_next(self, &index))) {
        last = last && stream->ending;
    }
    g_mutex_unlock(&self->pads_lock);
    return last;
}

/* The first stream is the one that waits. */
static gboolean group_has_ended(GstTltcpSink *self) {
    GstTltcpStream *stream;
    guint index = 1;

    while ((stream = group_next(self, &index))) {
        if (!stream->ended) {
            return FALSE;
        }
    }
    return TRUE;
}

gboolean gst_tltcp_sink_group_wait_eos(GstTltcpSink *self) {
    g_mutex_lock(&self->pads_lock);
    gboolean ended = group_has_ended(self);
    while (!ended && !self->unlocked) {
        g_cond_wait(&self->pads_changed, &self->pads_lock);
        ended = group_has_ended(self);
    }
    g_mutex_unlock(&self->pads_lock);
    return ended;
}

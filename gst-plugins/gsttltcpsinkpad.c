/* SPDX-License-Identifier: MPL-2.0 */
/* The request pads of the sink. They do what GstBaseSink does for its pad: wait
 * for PLAYING, wait for the clock, flush, handle EOS. */
#include "gst-plugins/gsttltcpsinkimpl.h"

/* The wire format allows more, but each stream needs a thread. */
#define STREAMS_MAX 64

G_DEFINE_TYPE(GstTltcpSinkPad, gst_tltcp_sink_pad, GST_TYPE_PAD)

static GstStaticPadTemplate request_template = GST_STATIC_PAD_TEMPLATE(
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);

static void gst_tltcp_sink_pad_init(GstTltcpSinkPad *pad) {
    gst_segment_init(&pad->segment, GST_FORMAT_UNDEFINED);
}

static void gst_tltcp_sink_pad_finalize(GObject *object) {
    gst_tltcp_stream_clear(&GST_TLTCP_SINK_PAD(object)->stream);
    G_OBJECT_CLASS(gst_tltcp_sink_pad_parent_class)->finalize(object);
}

static void gst_tltcp_sink_pad_class_init(GstTltcpSinkPadClass *klass) {
    G_OBJECT_CLASS(klass)->finalize = gst_tltcp_sink_pad_finalize;
}

/* ---- streaming ---- */

static gboolean must_stop(const GstTltcpSinkPad *pad) {
    return pad->flushing || pad->stream.sink->stopping;
}

/* Requires the lock. */
static GstFlowReturn wait_playing(GstTltcpSinkPad *pad) {
    GstTltcpSink *self = pad->stream.sink;

    while (!self->playing && !must_stop(pad)) {
        g_cond_wait(&self->pads_changed, &self->pads_lock);
    }
    return must_stop(pad) ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

/* The sender releases all waiting threads when the first pad flushes or the
 * element pauses; they try again afterwards. */
static GstFlowReturn sinkpad_resume(GstTltcpStream *stream) {
    GstTltcpSinkPad *pad =
        (GstTltcpSinkPad *)((guint8 *)stream -
                            G_STRUCT_OFFSET(GstTltcpSinkPad, stream));
    GstTltcpSink *self = stream->sink;

    g_mutex_lock(&self->pads_lock);
    while (self->flushing && !must_stop(pad)) {
        g_cond_wait(&self->pads_changed, &self->pads_lock);
    }
    GstFlowReturn flow = wait_playing(pad);
    g_mutex_unlock(&self->pads_lock);
    g_thread_yield();
    return flow;
}

/* As GstBaseSink does for buffers of the first pad. */
static GstClockTime time_of(GstTltcpSinkPad *pad, GstBuffer *buffer) {
    GstBaseSink *base = GST_BASE_SINK(pad->stream.sink);
    GstClockTime t = GST_BUFFER_DTS_OR_PTS(buffer);

    if (!gst_base_sink_get_sync(base) || !GST_CLOCK_TIME_IS_VALID(t) ||
        pad->segment.format != GST_FORMAT_TIME) {
        return GST_CLOCK_TIME_NONE;
    }
    t = gst_segment_to_running_time(&pad->segment, GST_FORMAT_TIME, t);
    if (!GST_CLOCK_TIME_IS_VALID(t)) {
        return t;
    }
    GstClockTimeDiff at =
        (GstClockTimeDiff)(t + gst_base_sink_get_latency(base)) +
        gst_base_sink_get_ts_offset(base);
    return at > 0 ? (GstClockTime)at : 0;
}

/* Requires the lock, which is released while waiting. FALSE: interrupted. */
static gboolean wait_clock(GstTltcpSinkPad *pad, GstClockTime running) {
    GstTltcpSink *self = pad->stream.sink;
    g_autoptr(GstClock) clock = gst_element_get_clock(GST_ELEMENT(self));

    if (!clock || !GST_CLOCK_TIME_IS_VALID(running)) {
        return TRUE;
    }
    GstClockID id = gst_clock_new_single_shot_id(
        clock, gst_element_get_base_time(GST_ELEMENT(self)) + running);
    pad->wait = id;
    g_mutex_unlock(&self->pads_lock);
    GstClockReturn result = gst_clock_id_wait(id, NULL);
    g_mutex_lock(&self->pads_lock);
    pad->wait = NULL;
    gst_clock_id_unref(id);
    return result != GST_CLOCK_UNSCHEDULED;
}

static GstFlowReturn synchronise(GstTltcpSinkPad *pad, GstBuffer *buffer) {
    GstTltcpSink *self = pad->stream.sink;
    GstFlowReturn flow;

    g_mutex_lock(&self->pads_lock);
    do {
        flow = wait_playing(pad);
    } while (flow == GST_FLOW_OK && !wait_clock(pad, time_of(pad, buffer)));
    g_mutex_unlock(&self->pads_lock);
    return flow;
}

static GstFlowReturn on_buffer(GstPad *gst_pad, GstObject *parent,
                               GstBuffer *buffer) {
    GstTltcpSinkPad *pad = GST_TLTCP_SINK_PAD(gst_pad);
    GstFlowReturn flow =
        pad->stream.ended ? GST_FLOW_EOS : synchronise(pad, buffer);

    (void)parent;
    if (flow == GST_FLOW_OK) {
        flow = gst_tltcp_stream_render(&pad->stream, &pad->segment, buffer);
    }
    gst_buffer_unref(buffer);
    return flow;
}

/* ---- the end ---- */

static void sinkpad_on_eos(GstTltcpSinkPad *pad) {
    GstTltcpSink *self = pad->stream.sink;
    gboolean last = gst_tltcp_sink_group_begin_eos(&pad->stream);

    /* Upstream may end before the sink starts, and does not end again. */
    if (gst_tltcp_sink_has_sender(self)) {
        if (last) {
            gst_tltcp_sender_finish(self->sender);
        }
        if (gst_tltcp_stream_eos(&pad->stream) != GST_FLOW_OK) {
            return;
        }
    }
    g_mutex_lock(&self->pads_lock);
    pad->stream.ended = TRUE;
    g_cond_broadcast(&self->pads_changed);
    g_mutex_unlock(&self->pads_lock);
}

/* ---- events ---- */

/* Requires the lock. */
static void interrupt(GstTltcpSinkPad *pad) {
    g_atomic_int_set(&pad->stream.cancelled, must_stop(pad));
    if (pad->wait) {
        gst_clock_id_unschedule(pad->wait);
    }
    g_cond_broadcast(&pad->stream.sink->pads_changed);
}

/* Makes threads that wait for the sender check their flags. */
static void look(GstTltcpSink *self) {
    g_mutex_lock(&self->sender_lock);
    if (self->sender) {
        gst_tltcp_sender_recheck(self->sender);
    }
    g_mutex_unlock(&self->sender_lock);
}

static void sinkpad_set_flushing(GstTltcpSinkPad *pad, gboolean flushing) {
    GstTltcpSink *self = pad->stream.sink;

    g_mutex_lock(&self->pads_lock);
    pad->flushing = flushing;
    pad->stream.ending = pad->stream.ended = FALSE;
    interrupt(pad);
    g_mutex_unlock(&self->pads_lock);
    look(self);
}

static gboolean sinkpad_on_event(GstPad *gst_pad, GstObject *parent,
                                 GstEvent *event) {
    GstTltcpSinkPad *pad = GST_TLTCP_SINK_PAD(gst_pad);
    GstCaps *caps;

    (void)parent;
    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
        gst_event_parse_caps(event, &caps);
        gst_tltcp_stream_set_caps(&pad->stream, caps);
        break;
    case GST_EVENT_SEGMENT:
        gst_event_copy_segment(event, &pad->segment);
        break;
    case GST_EVENT_GAP:
        if (gst_tltcp_sink_has_sender(pad->stream.sink)) {
            gst_tltcp_stream_gap(&pad->stream, &pad->segment, event);
        }
        break;
    case GST_EVENT_TAG:
        gst_tltcp_stream_tags(&pad->stream, event);
        break;
    case GST_EVENT_EOS:
        sinkpad_on_eos(pad);
        break;
    case GST_EVENT_FLUSH_START:
        sinkpad_set_flushing(pad, TRUE);
        break;
    case GST_EVENT_FLUSH_STOP:
        gst_segment_init(&pad->segment, GST_FORMAT_UNDEFINED);
        pad->stream.lateness = -1;
        sinkpad_set_flushing(pad, FALSE);
        break;
    default:
        break;
    }
    gst_event_unref(event);
    return TRUE;
}

/* ---- of the element ---- */

static gboolean has_number(const GstTltcpSink *self, guint8 number) {
    for (guint i = 0; i < self->pads->len; i++) {
        const GstTltcpSinkPad *pad = g_ptr_array_index(self->pads, i);
        if (pad->stream.framer.number == number) {
            return TRUE;
        }
    }
    return FALSE;
}

/* A number that no pad has, and that none has had for long: receivers may still
 * have a pad of another kind for it. 0, the first pad's: there is none.
 * Requires the lock. */
static guint8 take_number(GstTltcpSink *self) {
    for (guint i = 1; i < STREAMS_MAX; i++) {
        self->newest = (guint8)(self->newest % (STREAMS_MAX - 1) + 1);
        if (!has_number(self, self->newest)) {
            return self->newest;
        }
    }
    return 0;
}

/* NULL: there are too many.  Requires the lock. */
static GstTltcpSinkPad *make_pad(GstTltcpSink *self, GstPadTemplate *template) {
    guint8 number = take_number(self);

    if (number == 0) {
        return NULL;
    }
    g_autofree gchar *name = g_strdup_printf("sink_%u", number - 1);
    GstTltcpSinkPad *pad =
        g_object_new(GST_TYPE_TLTCP_SINK_PAD, "name", name, "direction",
                     GST_PAD_SINK, "template", template, NULL);
    gst_tltcp_stream_init(&pad->stream, self, GST_PAD(pad), number);
    pad->stream.resume = sinkpad_resume;
    gst_pad_set_chain_function(GST_PAD(pad), on_buffer);
    gst_pad_set_event_function(GST_PAD(pad), sinkpad_on_event);
    g_ptr_array_add(self->pads, gst_object_ref(pad));
    return pad;
}

GstPad *gst_tltcp_sink_pads_request(GstTltcpSink *self,
                                    GstPadTemplate *template) {
    g_mutex_lock(&self->pads_lock);
    GstTltcpSinkPad *pad = make_pad(self, template);
    g_mutex_unlock(&self->pads_lock);

    if (!pad) {
        return NULL;
    }
    gst_pad_set_active(GST_PAD(pad), TRUE);
    gst_element_add_pad(GST_ELEMENT(self), GST_PAD(pad));
    return GST_PAD(pad);
}

void gst_tltcp_sink_pads_release(GstTltcpSink *self, GstPad *gst_pad) {
    GstTltcpSinkPad *pad = GST_TLTCP_SINK_PAD(gst_pad);

    sinkpad_set_flushing(pad, TRUE);
    gst_pad_set_active(gst_pad, FALSE);
    g_mutex_lock(&self->sender_lock);
    if (self->sender) {
        gst_tltcp_sender_set_config(self->sender, pad->stream.framer.number,
                                    NULL, NULL, FALSE);
    }
    g_mutex_unlock(&self->sender_lock);
    gst_element_remove_pad(GST_ELEMENT(self), gst_pad);
    g_mutex_lock(&self->pads_lock);
    g_ptr_array_remove(self->pads, pad);
    g_cond_broadcast(&self->pads_changed);
    g_mutex_unlock(&self->pads_lock);
}

void gst_tltcp_sink_pads_install(GstElementClass *klass) {
    gst_element_class_add_static_pad_template_with_gtype(
        klass, &request_template, GST_TYPE_TLTCP_SINK_PAD);
}

void gst_tltcp_sink_pads_init(GstTltcpSink *self) {
    g_mutex_init(&self->pads_lock);
    g_cond_init(&self->pads_changed);
    self->pads = g_ptr_array_new_with_free_func(gst_object_unref);
}

void gst_tltcp_sink_pads_clear(GstTltcpSink *self) {
    g_ptr_array_unref(self->pads);
    g_cond_clear(&self->pads_changed);
    g_mutex_clear(&self->pads_lock);
}

/* Requires the lock. */
static void interrupt_all(GstTltcpSink *self) {
    for (guint i = 0; i < self->pads->len; i++) {
        interrupt(g_ptr_array_index(self->pads, i));
    }
    g_cond_broadcast(&self->pads_changed);
}

/* The sender is new.  Requires the lock. */
static void restart_all(GstTltcpSink *self) {
    for (guint i = 0; i < self->pads->len; i++) {
        GstTltcpSinkPad *pad = g_ptr_array_index(self->pads, i);
        gst_tltcp_stream_restart(&pad->stream);
    }
}

/* Streaming begins. Upstream may have begun before, and even ended: what came
 * then is kept.  Requires the lock. */
static void begin_all(GstTltcpSink *self) {
    self->stopping = self->stream.ending = FALSE;
    for (guint i = 0; i < self->pads->len; i++) {
        GstTltcpSinkPad *pad = g_ptr_array_index(self->pads, i);
        pad->flushing = FALSE;
        interrupt(pad);
    }
}

/* Streaming has ended, and the pads have lost their events: upstream may begin
 * again.  Requires the lock. */
static void forget_all(GstTltcpSink *self) {
    self->stopping = FALSE;
    for (guint i = 0; i < self->pads->len; i++) {
        GstTltcpSinkPad *pad = g_ptr_array_index(self->pads, i);
        gst_segment_init(&pad->segment, GST_FORMAT_UNDEFINED);
        pad->stream.ending = pad->stream.ended = FALSE;
        interrupt(pad); /* it is no longer cancelled */
    }
}

void gst_tltcp_sink_pads_before(GstTltcpSink *self, GstStateChange change) {
    g_mutex_lock(&self->pads_lock);
    if (change == GST_STATE_CHANGE_NULL_TO_READY) {
        restart_all(self);
    }
    if (change == GST_STATE_CHANGE_READY_TO_PAUSED) {
        begin_all(self);
    }
    if (change == GST_STATE_CHANGE_PAUSED_TO_PLAYING) {
        self->starting = TRUE;
    }
    if (change == GST_STATE_CHANGE_PLAYING_TO_PAUSED) {
        self->playing = self->starting = FALSE;
        interrupt_all(self);
    }
    if (change == GST_STATE_CHANGE_PAUSED_TO_READY ||
        change == GST_STATE_CHANGE_READY_TO_NULL) {
        self->stopping = TRUE;
        interrupt_all(self);
    }
    g_mutex_unlock(&self->pads_lock);
    /* The base class also unlocks the sender, but only for its own pad, and
     * briefly: another pad's thread may miss it. */
    look(self);
}

void gst_tltcp_sink_pads_after(GstTltcpSink *self, GstStateChange change) {
    if (change == GST_STATE_CHANGE_PAUSED_TO_PLAYING) {
        g_mutex_lock(&self->pads_lock);
        self->playing = TRUE;
        interrupt_all(self);
        g_mutex_unlock(&self->pads_lock);
    }
    if (change == GST_STATE_CHANGE_PAUSED_TO_READY ||
        change == GST_STATE_CHANGE_READY_TO_NULL) {
        g_mutex_lock(&self->pads_lock);
        forget_all(self);
        g_mutex_unlock(&self->pads_lock);
    }
}

void gst_tltcp_sink_pads_set_flushing(GstTltcpSink *self, gboolean flushing) {
    g_mutex_lock(&self->pads_lock);
    self->flushing = flushing;
    self->stream.ending = self->stream.ending && !flushing;
    g_cond_broadcast(&self->pads_changed);
    g_mutex_unlock(&self->pads_lock);
}

void gst_tltcp_sink_pads_set_unlocked(GstTltcpSink *self, gboolean unlocked) {
    g_mutex_lock(&self->pads_lock);
    self->unlocked = unlocked;
    g_cond_broadcast(&self->pads_changed);
    g_mutex_unlock(&self->pads_lock);
}

GPtrArray *gst_tltcp_sink_pads_copy(GstTltcpSink *self) {
    g_mutex_lock(&self->pads_lock);
    GPtrArray *pads = g_ptr_array_copy(
        self->pads, (GCopyFunc)(void (*)(void))gst_object_ref, NULL);
    g_mutex_unlock(&self->pads_lock);
    return pads;
}

void gst_tltcp_sink_pads_push_event(GstTltcpSink *self, GstEvent *event) {
    g_autoptr(GPtrArray) pads = gst_tltcp_sink_pads_copy(self);

    for (guint i = 0; i < pads->len; i++) {
        gst_pad_push_event(g_ptr_array_index(pads, i), gst_event_ref(event));
    }
}

void gst_tltcp_sink_pads_add_latency(GstTltcpSink *self, GstQuery *query) {
    g_autoptr(GPtrArray) pads = gst_tltcp_sink_pads_copy(self);
    gboolean live, own_live;
    GstClockTime min, max, own_min, own_max;

    gst_query_parse_latency(query, &live, &min, &max);
    for (guint i = 0; i < pads->len; i++) {
        g_autoptr(GstQuery) own = gst_query_new_latency();
        if (!gst_pad_peer_query(g_ptr_array_index(pads, i), own)) {
            continue;
        }
        gst_query_parse_latency(own, &own_live, &own_min, &own_max);
        if (own_live) {
            live = TRUE;
            min = MAX(min, own_min);
            max = MIN(max, own_max);
        }
    }
    gst_query_set_latency(query, live, min, max);
}

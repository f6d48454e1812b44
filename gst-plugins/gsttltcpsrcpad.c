/* SPDX-License-Identifier: MPL-2.0 */
/* A pad of the source for a stream beside the first. */
#include "gst-plugins/gsttltcpsrcpad.h"

#include "internal/media/codec/framing.h"

/* Limit of the queue when downstream blocks, which the peer can cause by the
 * times of its frames. */
#define BYTES_MAX ((gsize)16 << 20)
/* Memory that an object takes beside its data. */
#define OBJECT_BYTES 1024u
/* The most that a peer's tags take as text. */
#define TAGS_BYTES ((gsize)64 << 10)

struct _GstTltcpSrcPad {
    GstPad parent;

    guint stream;
    GMutex lock; /* protects everything below */
    GCond changed;
    GQueue waiting; /* GstMiniObject */
    gsize bytes;    /* that they take */
    guint buffers;  /* of them */
    GstEvent *caps; /* the newest that found no room, or NULL */
    GstEvent *tags; /* likewise */
    gboolean ended; /* nothing may follow */
    gboolean active;
    gboolean dropped; /* since the last queued buffer */
};

G_DEFINE_TYPE(GstTltcpSrcPad, gst_tltcp_src_pad, GST_TYPE_PAD)

static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE(
    "src_%u", GST_PAD_SRC, GST_PAD_SOMETIMES, GST_STATIC_CAPS_ANY);

static void gst_tltcp_src_pad_init(GstTltcpSrcPad *pad) {
    g_mutex_init(&pad->lock);
    g_cond_init(&pad->changed);
    g_queue_init(&pad->waiting);
}

static void drop_all(GstTltcpSrcPad *pad) {
    g_queue_clear_full(&pad->waiting, (GDestroyNotify)gst_mini_object_unref);
    gst_clear_event(&pad->caps);
    gst_clear_event(&pad->tags);
    pad->bytes = 0;
    pad->buffers = 0;
}

/* Memory that an object takes; of descriptions, the most. */
static gsize cost_of(GstMiniObject *object) {
    if (GST_IS_BUFFER(object)) {
        return OBJECT_BYTES + gst_buffer_get_size(GST_BUFFER(object));
    }
    switch (GST_EVENT_TYPE(object)) {
    case GST_EVENT_CAPS:
        return MEDIA_CONFIG_MAX;
    case GST_EVENT_TAG:
        return TAGS_BYTES;
    default:
        return OBJECT_BYTES;
    }
}

static void gst_tltcp_src_pad_finalize(GObject *object) {
    GstTltcpSrcPad *pad = GST_TLTCP_SRC_PAD(object);

    drop_all(pad);
    g_cond_clear(&pad->changed);
    g_mutex_clear(&pad->lock);
    G_OBJECT_CLASS(gst_tltcp_src_pad_parent_class)->finalize(object);
}

static void gst_tltcp_src_pad_class_init(GstTltcpSrcPadClass *klass) {
    G_OBJECT_CLASS(klass)->finalize = gst_tltcp_src_pad_finalize;
}

/* ---- its thread ---- */

/* NULL: there will be none. */
static GstMiniObject *take(GstTltcpSrcPad *pad) {
    GstMiniObject *object = NULL;

    g_mutex_lock(&pad->lock);
    while (pad->active && !(object = g_queue_pop_head(&pad->waiting))) {
        g_cond_wait(&pad->changed, &pad->lock);
    }
    if (object) {
        pad->bytes -= cost_of(object);
        pad->buffers -= GST_IS_BUFFER(object);
    }
    g_mutex_unlock(&pad->lock);
    return object;
}

static void on_flow(GstTltcpSrcPad *pad, GstFlowReturn flow) {
    GstElement *element = gst_pad_get_parent_element(GST_PAD(pad));

    /* An unlinked pad does not stop the element: it may be linked later. */
    if (flow < GST_FLOW_EOS && element) {
        GST_ELEMENT_FLOW_ERROR(element, flow);
    }
    if (flow == GST_FLOW_FLUSHING || flow < GST_FLOW_EOS) {
        gst_pad_pause_task(GST_PAD(pad));
    }
    g_clear_object(&element);
}

static void loop(gpointer user) {
    GstTltcpSrcPad *pad = user;
    GstMiniObject *object = take(pad);

    if (!object) {
        gst_pad_pause_task(GST_PAD(pad));
    } else if (GST_IS_EVENT(object)) {
        gst_pad_push_event(GST_PAD(pad), GST_EVENT(object));
    } else {
        on_flow(pad, gst_pad_push(GST_PAD(pad), GST_BUFFER(object)));
    }
}

static gboolean activate(GstPad *gst_pad, GstObject *parent, GstPadMode mode,
                         gboolean active) {
    GstTltcpSrcPad *pad = GST_TLTCP_SRC_PAD(gst_pad);

    (void)parent;
    if (mode != GST_PAD_MODE_PUSH) {
        return FALSE;
    }
    g_mutex_lock(&pad->lock);
    pad->active = active;
    g_cond_broadcast(&pad->changed);
    g_mutex_unlock(&pad->lock);
    return active ? gst_pad_start_task(gst_pad, loop, pad, NULL)
                  : gst_pad_stop_task(gst_pad);
}

/* ---- for the element ---- */

/* Latency is the same for all pads. */
static gboolean query(GstPad *pad, GstObject *parent, GstQuery *q) {
    return (GST_QUERY_TYPE(q) == GST_QUERY_LATENCY &&
            gst_element_query(GST_ELEMENT(parent), q)) ||
           gst_pad_query_default(pad, parent, q);
}

static GstEvent *stream_start(GstTltcpSrcPad *pad, GstElement *element) {
    g_autoptr(GstPad) first = gst_element_get_static_pad(element, "src");
    g_autoptr(GstEvent) other =
        gst_pad_get_sticky_event(first, GST_EVENT_STREAM_START, 0);
    g_autofree gchar *id = gst_pad_create_stream_id_printf(
        GST_PAD(pad), element, "%03u", pad->stream);
    GstEvent *event = gst_event_new_stream_start(id);
    guint group;

    if (other && gst_event_parse_group_id(other, &group)) {
        gst_event_set_group_id(event, group);
    }
    return event;
}

void gst_tltcp_src_pad_install(GstElementClass *klass) {
    gst_element_class_add_static_pad_template_with_gtype(
        klass, &template, GST_TYPE_TLTCP_SRC_PAD);
}

static void store(GstTltcpSrcPad *pad, GstEvent *event) {
    gst_pad_store_sticky_event(GST_PAD(pad), event);
    gst_event_unref(event);
}

GstTltcpSrcPad *gst_tltcp_src_pad_add(GstElement *element, guint stream,
                                      GstCaps *caps) {
    g_autofree gchar *name = g_strdup_printf("src_%u", stream);
    GstTltcpSrcPad *pad = g_object_new(
        GST_TYPE_TLTCP_SRC_PAD, "name", name, "direction", GST_PAD_SRC,
        "template", gst_element_get_pad_template(element, "src_%u"), NULL);
    GstSegment segment;

    pad->stream = stream;
    gst_pad_set_activatemode_function(GST_PAD(pad), activate);
    gst_pad_set_query_function(GST_PAD(pad), query);
    gst_pad_use_fixed_caps(GST_PAD(pad));
    gst_object_ref(pad);
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_set_active(GST_PAD(pad), TRUE);
    /* Elements linked in pad-added need the sticky events at once. */
    store(pad, stream_start(pad, element));
    if (caps) {
        store(pad, gst_event_new_caps(caps));
    }
    store(pad, gst_event_new_segment(&segment));
    gst_element_add_pad(element, GST_PAD(pad));
    return pad;
}

void gst_tltcp_src_pad_remove(GstTltcpSrcPad *pad) {
    GstElement *element = gst_pad_get_parent_element(GST_PAD(pad));

    gst_pad_set_active(GST_PAD(pad), FALSE);
    gst_element_remove_pad(element, GST_PAD(pad));
    gst_object_unref(element);
    gst_object_unref(pad);
}

guint gst_tltcp_src_pad_stream(const GstTltcpSrcPad *pad) {
    return pad->stream;
}

/* A buffer may be larger than the queue; one always passes. */
static gboolean has_room(const GstTltcpSrcPad *pad, GstMiniObject *object) {
    return (GST_IS_BUFFER(object) && pad->buffers == 0) ||
           pad->bytes + cost_of(object) <= BYTES_MAX;
}

static void enqueue(GstTltcpSrcPad *pad, GstMiniObject *object) {
    pad->bytes += cost_of(object);
    pad->buffers += GST_IS_BUFFER(object);
    g_queue_push_tail(&pad->waiting, object);
    g_cond_broadcast(&pad->changed);
}

/* Of several descriptions that find no room, the newest counts. */
static void leave_out(GstTltcpSrcPad *pad, GstMiniObject *object) {
    if (GST_IS_EVENT(object) && GST_EVENT_TYPE(object) == GST_EVENT_CAPS) {
        gst_event_replace(&pad->caps, GST_EVENT(object));
    } else if (GST_IS_EVENT(object) &&
               GST_EVENT_TYPE(object) == GST_EVENT_TAG) {
        gst_event_replace(&pad->tags, GST_EVENT(object));
    } else {
        pad->dropped = TRUE;
    }
    gst_mini_object_unref(object);
}

/* What was left out comes first, or buffers would have wrong caps. */
static void enqueue_left_out(GstTltcpSrcPad *pad) {
    if (pad->caps) {
        enqueue(pad, GST_MINI_OBJECT(g_steal_pointer(&pad->caps)));
    }
    if (pad->tags) {
        enqueue(pad, GST_MINI_OBJECT(g_steal_pointer(&pad->tags)));
    }
}

static gboolean is_end(GstMiniObject *object) {
    return GST_IS_EVENT(object) && GST_EVENT_TYPE(object) == GST_EVENT_EOS;
}

void gst_tltcp_src_pad_push(GstTltcpSrcPad *pad, GstMiniObject *object) {
    g_mutex_lock(&pad->lock);
    if (pad->ended) {
        gst_mini_object_unref(object);
    } else if (!is_end(object) && !has_room(pad, object)) {
        leave_out(pad, object);
    } else {
        pad->ended = is_end(object);
        enqueue_left_out(pad);
        if (pad->dropped && GST_IS_BUFFER(object)) {
            GST_BUFFER_FLAG_SET(GST_BUFFER(object), GST_BUFFER_FLAG_DISCONT);
            pad->dropped = FALSE;
        }
        enqueue(pad, object);
    }
    g_mutex_unlock(&pad->lock);
}

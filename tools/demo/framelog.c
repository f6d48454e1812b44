/* SPDX-License-Identifier: MPL-2.0 */
/*
 * framelog: passes buffers through and logs them.
 *
 * The demo puts it before every sink and after every source, so that all
 * transports are measured in the same way. One line per buffer: arrival on
 * CLOCK_MONOTONIC, times, size, flags; for H.264, H.265, MPEG-1 and MPEG-2 also
 * class and type of the frame, the distance in pictures to its reference (0:
 * not known), and a digest of its slices. The digest leaves out data that
 * muxers and parsers may add or remove, such as delimiters and parameter sets.
 *
 * With `record`, all bytes go to another file. With `watch`, the `stats` of
 * another element of the pipeline are written to a second file at intervals.
 * With `linger`, the end of the stream is delayed, because some sinks then
 * discard unsent data.
 */
#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <stdio.h>
#include <string.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/nal.h"

#define FRAMELOG_TYPE (framelog_get_type())
G_DECLARE_FINAL_TYPE(Framelog, framelog, FRAME, LOG, GstBaseTransform)

struct _Framelog {
    GstBaseTransform parent;
    gchar *location;
    gchar *record;
    gchar *watch;
    guint interval_ms;
    guint linger_ms;
    FILE *file;
    FILE *copy; /* of all bytes */
    FILE *stats;
    gint64 stats_next; /* us */
    guint64 count;
    const gchar *codec; /* by libavcodec's name, or NULL */
    media_scanner scanner;
};

G_DEFINE_TYPE(Framelog, framelog, GST_TYPE_BASE_TRANSFORM)

enum {
    PROP_0,
    PROP_LOCATION,
    PROP_RECORD,
    PROP_WATCH,
    PROP_INTERVAL,
    PROP_LINGER
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static gboolean on_start(GstBaseTransform *base) {
    Framelog *self = FRAME_LOG(base);
    gchar *name;
    if (!self->location) {
        GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("no location is set"),
                          (NULL));
        return FALSE;
    }
    self->file = fopen(self->location, "w");
    if (self->file && self->watch) {
        name = g_strconcat(self->location, ".stats", NULL);
        self->stats = fopen(name, "w");
        g_free(name);
    }
    if (self->file && self->record) {
        self->copy = fopen(self->record, "wb");
    }
    if (!self->file || (self->watch && !self->stats) ||
        (self->record && !self->copy)) {
        GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE,
                          ("cannot write %s", self->location),
                          GST_ERROR_SYSTEM);
        return FALSE;
    }
    self->count = 0;
    self->stats_next = 0;
    fputs("arrival_ns,pts_ns,dts_ns,bytes,flags,class,picture,key,depends,"
          "digest\n",
          self->file);
    return TRUE;
}

static gboolean on_stop(GstBaseTransform *base) {
    Framelog *self = FRAME_LOG(base);
    g_clear_pointer(&self->file, fclose);
    g_clear_pointer(&self->copy, fclose);
    g_clear_pointer(&self->stats, fclose);
    return TRUE;
}

static const gchar *codec_of(const GstStructure *s) {
    gint version = 0;
    if (gst_structure_has_name(s, "video/x-h264")) {
        return "h264";
    }
    if (gst_structure_has_name(s, "video/x-h265")) {
        return "hevc";
    }
    (void)gst_structure_get_int(s, "mpegversion", &version);
    return gst_structure_has_name(s, "video/mpeg") &&
                   (version == 1 || version == 2)
               ? "mpeg2video"
               : NULL;
}

static gboolean on_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out) {
    Framelog *self = FRAME_LOG(base);
    const GstStructure *s = gst_caps_get_structure(in, 0);
    const GValue *value = gst_structure_get_value(s, "codec_data");
    GstMapInfo map = GST_MAP_INFO_INIT;
    GstBuffer *extra = value ? gst_value_get_buffer(value) : NULL;
    (void)out;
    self->codec = codec_of(s);
    if (extra && !gst_buffer_map(extra, &map, GST_MAP_READ)) {
        return FALSE;
    }
    media__scanner_init(&self->scanner, self->codec, MEDIA_TYPE_VIDEO, map.data,
                        map.size);
    if (extra) {
        gst_buffer_unmap(extra, &map);
    }
    return TRUE;
}

/* Trailing zeros belong to the byte stream, not to the NAL unit. */
static gsize trimmed(const media_nal *nal) {
    gsize len = nal->len;
    while (len > 0 && nal->data[len - 1] == 0) {
        len--;
    }
    return len;
}

/* Whether a NAL unit, or the unit after an MPEG start code, belongs to a
 * picture. */
static gboolean is_picture(const gchar *codec, guint first) {
    if (strcmp(codec, "h264") == 0) {
        return (first & 0x1f) >= 1 && (first & 0x1f) <= 5;
    }
    if (strcmp(codec, "hevc") == 0) {
        return (first >> 1 & 0x3f) < 32;
    }
    return first <= 0xaf;
}

static void log_picture(Framelog *self, const GstMapInfo *map) {
    GChecksum *sum = g_checksum_new(G_CHECKSUM_MD5);
    media_nal_iter it;
    media_nal nal;
    media_frame frame;
    media__scanner_classify(&self->scanner, map->data, map->size, 0, &frame);
    media__nal_begin(&it, map->data, map->size, self->scanner.nal_length);
    while (media__nal_next(&it, &nal)) {
        if (is_picture(self->codec, nal.data[0])) {
            g_checksum_update(sum, nal.data, (gssize)trimmed(&nal));
        }
    }
    fprintf(self->file, "%s,%s,%d,%u,%s\n",
            media__class_name(frame.frame_class),
            media__picture_name(frame.picture), frame.key, frame.parent,
            g_checksum_get_string(sum));
    g_checksum_free(sum);
}

static void log_time(FILE *f, GstClockTime t) {
    if (GST_CLOCK_TIME_IS_VALID(t)) {
        fprintf(f, "%" G_GUINT64_FORMAT, t);
    }
    fputc(',', f);
}

static void log_buffer(Framelog *self, GstBuffer *buffer) {
    GstMapInfo map;
    fprintf(self->file, "%" G_GINT64_FORMAT "000,", g_get_monotonic_time());
    log_time(self->file, GST_BUFFER_PTS(buffer));
    log_time(self->file, GST_BUFFER_DTS(buffer));
    fprintf(self->file, "%" G_GSIZE_FORMAT ",%x,", gst_buffer_get_size(buffer),
            GST_BUFFER_FLAGS(buffer));
    if (self->codec && gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        log_picture(self, &map);
        gst_buffer_unmap(buffer, &map);
    } else {
        fputs(",,,,\n", self->file);
    }
}

static void log_stats(Framelog *self) {
    gint64 now = g_get_monotonic_time();
    GstObject *bin;
    GstElement *other;
    GstStructure *stats = NULL;
    gchar *text;
    if (!self->stats || now < self->stats_next) {
        return;
    }
    self->stats_next = now + (gint64)self->interval_ms * 1000;
    bin = gst_object_get_parent(GST_OBJECT(self));
    other = bin ? gst_bin_get_by_name(GST_BIN(bin), self->watch) : NULL;
    if (other) {
        g_object_get(other, "stats", &stats, NULL);
        gst_object_unref(other);
    }
    if (stats) {
        text = gst_structure_to_string(stats);
        fprintf(self->stats, "%" G_GINT64_FORMAT "000 %s\n", now, text);
        fflush(self->stats);
        g_free(text);
        gst_structure_free(stats);
    }
    g_clear_pointer(&bin, gst_object_unref);
}

static void record_buffer(Framelog *self, GstBuffer *buffer) {
    GstMapInfo map;
    if (self->copy && gst_buffer_map(buffer, &map, GST_MAP_READ)) {
        (void)fwrite(map.data, 1, map.size, self->copy);
        gst_buffer_unmap(buffer, &map);
        (void)fflush(self->copy);
    }
}

static GstFlowReturn on_buffer(GstBaseTransform *base, GstBuffer *buffer) {
    Framelog *self = FRAME_LOG(base);
    log_buffer(self, buffer);
    record_buffer(self, buffer);
    log_stats(self);
    /* the process may be ended at any time */
    fflush(self->file);
    self->count++;
    return GST_FLOW_OK;
}

static gboolean on_event(GstBaseTransform *base, GstEvent *event) {
    Framelog *self = FRAME_LOG(base);
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
        self->stats_next = 0;
        log_stats(self);
        g_usleep((gulong)self->linger_ms * 1000);
    }
    return GST_BASE_TRANSFORM_CLASS(framelog_parent_class)
        ->sink_event(base, event);
}

static void set_property(GObject *object, guint id, const GValue *value,
                         GParamSpec *spec) {
    Framelog *self = FRAME_LOG(object);
    switch (id) {
    case PROP_LOCATION:
        g_free(self->location);
        self->location = g_value_dup_string(value);
        break;
    case PROP_RECORD:
        g_free(self->record);
        self->record = g_value_dup_string(value);
        break;
    case PROP_WATCH:
        g_free(self->watch);
        self->watch = g_value_dup_string(value);
        break;
    case PROP_INTERVAL:
        self->interval_ms = g_value_get_uint(value);
        break;
    case PROP_LINGER:
        self->linger_ms = g_value_get_uint(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
}

static void get_property(GObject *object, guint id, GValue *value,
                         GParamSpec *spec) {
    Framelog *self = FRAME_LOG(object);
    switch (id) {
    case PROP_LOCATION:
        g_value_set_string(value, self->location);
        break;
    case PROP_RECORD:
        g_value_set_string(value, self->record);
        break;
    case PROP_WATCH:
        g_value_set_string(value, self->watch);
        break;
    case PROP_INTERVAL:
        g_value_set_uint(value, self->interval_ms);
        break;
    case PROP_LINGER:
        g_value_set_uint(value, self->linger_ms);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        break;
    }
}

static void finalize(GObject *object) {
    Framelog *self = FRAME_LOG(object);
    g_free(self->location);
    g_free(self->record);
    g_free(self->watch);
    G_OBJECT_CLASS(framelog_parent_class)->finalize(object);
}

static void framelog_class_init(FramelogClass *klass) {
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    g_object_class_install_property(object, PROP_LOCATION,
                                    g_param_spec_string("location", "Location",
                                                        "CSV file to write",
                                                        NULL, flags));
    g_object_class_install_property(
        object, PROP_RECORD,
        g_param_spec_string("record", "Record",
                            "file that gets the bytes of all buffers", NULL,
                            flags));
    g_object_class_install_property(
        object, PROP_WATCH,
        g_param_spec_string("watch", "Watch",
                            "element whose stats go to LOCATION.stats", NULL,
                            flags));
    g_object_class_install_property(
        object, PROP_INTERVAL,
        g_param_spec_uint("watch-interval", "Watch interval",
                          "milliseconds between two of its stats", 1, 3600000,
                          200, flags));
    g_object_class_install_property(
        object, PROP_LINGER,
        g_param_spec_uint("linger", "Linger",
                          "milliseconds for which the end is held back", 0,
                          60000, 0, flags));
    gst_element_class_set_static_metadata(
        element, "Frame log", "Generic/Debug",
        "Logs the buffers that pass, and when", "Perigee");
    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_add_static_pad_template(element, &src_template);
    base->start = on_start;
    base->stop = on_stop;
    base->set_caps = on_caps;
    base->sink_event = on_event;
    base->transform_ip = on_buffer;
    base->passthrough_on_same_caps = TRUE;
}

static void framelog_init(Framelog *self) {
    self->interval_ms = 200;
    gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
    gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}

static gboolean plugin_init(GstPlugin *plugin) {
    return gst_element_register(plugin, "framelog", GST_RANK_NONE,
                                FRAMELOG_TYPE);
}

#define PACKAGE "perigee"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, framelog,
                  "Measuring for Perigee's demo", plugin_init, PERIGEE_VERSION,
                  "MPL-2.0", "Perigee", "Perigee")

/* SPDX-License-Identifier: MPL-2.0 */
/* Stream formats from caps. */
#include "gst-plugins/gsttltcpcaps.h"

#include <string.h>

#include "gst-plugins/gsttltcptext.h"
#include "internal/media/stream/caps.h"
#include "internal/media/stream/ts.h"

static guint media_type(const GstStructure *s) {
    const gchar *name = gst_structure_get_name(s);
    gboolean muxed = FALSE;

    gst_structure_get_boolean(s, "systemstream", &muxed);
    if (muxed || gst_structure_has_name(s, "video/mpegts")) {
        return MEDIA_TYPE_DATA;
    }
    if (g_str_has_prefix(name, "video/") || g_str_has_prefix(name, "image/")) {
        return MEDIA_TYPE_VIDEO;
    }
    return g_str_has_prefix(name, "audio/") ? MEDIA_TYPE_AUDIO
                                            : MEDIA_TYPE_DATA;
}

static const gchar *codec_name(const GstStructure *s) {
    gint version = 0;
    gint layer = 0;

    if (media_type(s) == MEDIA_TYPE_DATA &&
        !gst_structure_has_name(s, "video/mpegts")) {
        return NULL;
    }
    gst_structure_get_int(s, "mpegversion", &version);
    if (gst_structure_has_name(s, "audio/mpeg")) {
        gst_structure_get_int(s, "layer", &layer);
        if (version == 2) {
            version = 4; /* MPEG-2 AAC */
        } else if (version == 1 && layer == 2) {
            return "mp2";
        }
    }
    if (gst_structure_has_name(s, "audio/x-raw")) {
        return g_strcmp0(gst_structure_get_string(s, "format"), "S16LE") == 0
                   ? "pcm_s16le"
                   : NULL;
    }
    return media__caps_codec(gst_structure_get_name(s), version);
}

/* RTP payloads whose frames are understood. */
static const gchar *rtp_codec(const GstStructure *s) {
    const gchar *name = gst_structure_get_string(s, "encoding-name");

    return g_strcmp0(name, "H264") == 0   ? "h264"
           : g_strcmp0(name, "H265") == 0 ? "hevc"
                                          : NULL;
}

static gboolean is_in_units(const GstStructure *s) {
    return (gst_structure_has_name(s, "video/x-h264") ||
            gst_structure_has_name(s, "video/x-h265")) &&
           g_strcmp0(gst_structure_get_string(s, "alignment"), "nal") == 0;
}

/* The caps keep the bytes. */
static gboolean codec_data(const GstStructure *s, GstMapInfo *map,
                           GstBuffer **buffer) {
    const GValue *value = gst_structure_get_value(s, "codec_data");

    *buffer = value && GST_VALUE_HOLDS_BUFFER(value)
                  ? gst_value_get_buffer(value)
                  : NULL;
    return *buffer && gst_buffer_map(*buffer, map, GST_MAP_READ);
}

static guint32 positive(gint value) {
    return value > 0 ? (guint32)value : 0;
}

static guint32 get_int(const GstStructure *s, const gchar *field) {
    gint value = 0;

    return gst_structure_get_int(s, field, &value) ? positive(value) : 0;
}

/* Coded video whose buffers depend on each other; not still pictures. */
static gboolean is_predicted(const GstStructure *s) {
    return media_type(s) == MEDIA_TYPE_VIDEO &&
           !gst_structure_has_name(s, "video/x-raw") &&
           !g_str_has_prefix(gst_structure_get_name(s), "image/");
}

static void describe_rtp(const GstStructure *s, tltcp_live_format *f) {
    gboolean audio =
        g_strcmp0(gst_structure_get_string(s, "media"), "audio") == 0;

    f->codec = rtp_codec(s);
    f->type = audio ? TLTCP_LIVE_AUDIO : TLTCP_LIVE_DATA;
    f->packing = f->codec ? TLTCP_LIVE_RTP : TLTCP_LIVE_WHOLE;
}

static void describe_media(const GstStructure *s, tltcp_live_format *f) {
    gint size = 0;

    f->codec = codec_name(s);
    f->type = media_type(s);
    f->packing = is_in_units(s) ? TLTCP_LIVE_UNITS : TLTCP_LIVE_WHOLE;
    if (gst_structure_has_name(s, "video/mpegts") &&
        gst_structure_get_int(s, "packetsize", &size)) {
        f->block_bytes = positive(size);
    }
}

static void describe_sizes(const GstStructure *s, tltcp_live_format *f) {
    gint num = 0;
    gint den = 1;

    gst_structure_get_fraction(s, "framerate", &num, &den);
    f->width = get_int(s, "width");
    f->height = get_int(s, "height");
    f->rate_num = positive(num);
    f->rate_den = f->rate_num ? positive(den) : 0;
    f->sample_rate = get_int(s, "rate");
    f->channels = get_int(s, "channels");
    f->intra_only = !is_predicted(s);
}

void gst_tltcp_caps_describe(GstCaps *caps, tltcp_live_stream *stream) {
    const GstStructure *s = caps ? gst_caps_get_structure(caps, 0) : NULL;
    g_autofree gchar *text = caps ? gst_caps_to_string(caps) : NULL;
    GstBuffer *buffer = NULL;
    GstMapInfo map = GST_MAP_INFO_INIT;
    tltcp_live_format f;

    tltcp_live_format_init(&f);
    if (s && gst_structure_has_name(s, "application/x-rtp")) {
        describe_rtp(s, &f);
    } else if (s) {
        describe_media(s, &f);
    }
    if (s) {
        describe_sizes(s, &f);
        f.caps = text;
    }
    if (s && codec_data(s, &map, &buffer)) {
        f.extradata = map.data;
        f.extradata_len = map.size;
    }
    if (tltcp_live_stream_set_format(stream, &f) < 0) {
        g_error("out of memory");
    }
    if (buffer) {
        gst_buffer_unmap(buffer, &map);
    }
}

gboolean gst_tltcp_caps_is_ts(GstCaps *caps) {
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    gint size = MEDIA_TS_PACKET;

    gst_structure_get_int(s, "packetsize", &size);
    return gst_structure_has_name(s, "video/mpegts") && size == MEDIA_TS_PACKET;
}

GPtrArray *gst_tltcp_caps_headers(GstCaps *caps) {
    const GValue *list = gst_structure_get_value(
        gst_caps_get_structure(caps, 0), "streamheader");
    GPtrArray *headers;

    if (!list || !GST_VALUE_HOLDS_ARRAY(list)) {
        return NULL;
    }
    headers = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
    for (guint i = 0; i < gst_value_array_get_size(list); i++) {
        const GValue *item = gst_value_array_get_value(list, i);
        if (GST_VALUE_HOLDS_BUFFER(item) && gst_value_get_buffer(item)) {
            g_ptr_array_add(headers,
                            gst_buffer_ref(gst_value_get_buffer(item)));
        }
    }
    return headers;
}

/* Caps from a peer are accepted only when they are one fixed media type. */
static GstCaps *parse_caps(const gchar *text, guint *names) {
    g_autoptr(GstCaps) caps =
        gst_tltcp_text_is_fit(text, names) ? gst_caps_from_string(text) : NULL;

    if (!caps || gst_caps_is_any(caps) || gst_caps_get_size(caps) != 1 ||
        !gst_caps_is_fixed(caps)) {
        return NULL;
    }
    return g_steal_pointer(&caps);
}

GstCaps *gst_tltcp_caps_from_config(const media_config *config, guint *names) {
    g_autofree gchar *text = NULL;

    if (config->caps.len) {
        text = g_strndup(config->caps.data, config->caps.len);
        return g_utf8_validate(text, -1, NULL) ? parse_caps(text, names) : NULL;
    }
    gsize len = media__caps_write(config, NULL, 0);
    if (!len) {
        return NULL;
    }
    text = g_malloc(len + 1);
    media__caps_write(config, text, len + 1);
    return parse_caps(text, names);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "gst-plugins/gsttltcpcaps.h"

#include <string.h>

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

/* Of RTP what the packets carry; only of these codecs frames are known. */
static const gchar *rtp_codec(const GstStructure *s) {
    const gchar *name = gst_structure_get_string(s, "encoding-name");

    return g_strcmp0(name, "H264") == 0   ? "h264"
           : g_strcmp0(name, "H265") == 0 ? "hevc"
                                          : NULL;
}

static void rtp_scanner(const GstStructure *s, media_scanner *scanner) {
    const gchar *codec = rtp_codec(s);
    gboolean audio =
        g_strcmp0(gst_structure_get_string(s, "media"), "audio") == 0;

    media__scanner_init(scanner, codec,
                        audio ? MEDIA_TYPE_AUDIO : MEDIA_TYPE_DATA, NULL, 0);
    scanner->form = codec ? MEDIA_FORM_RTP : MEDIA_FORM_WHOLE;
}

static gboolean is_in_units(const GstStructure *s) {
    return (gst_structure_has_name(s, "video/x-h264") ||
            gst_structure_has_name(s, "video/x-h265")) &&
           g_strcmp0(gst_structure_get_string(s, "alignment"), "nal") == 0;
}

/* The bytes stay the caps'. */
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

static guint8 nal_length(const GstStructure *s, const GstMapInfo *data) {
    media_scanner scanner;

    media__scanner_init(&scanner, codec_name(s), MEDIA_TYPE_VIDEO, data->data,
                        data->size);
    return scanner.nal_length;
}

static GBytes *write_section(const media_config *config,
                             const GstTltcpConfigPlace *place) {
    media_header h;
    gsize len = media__config_write(config, NULL, 0);
    guint8 *section = g_malloc(MEDIA_HEADER_LEN + len);

    memset(&h, 0, sizeof(h));
    h.kind = MEDIA_KIND_CONFIG;
    h.stream = place->stream;
    h.generation = place->generation;
    h.length = (guint32)len;
    h.pts = h.dts = h.duration = MEDIA_TIME_NONE;
    media__header_write(&h, section);
    media__config_write(config, section + MEDIA_HEADER_LEN, len);
    return g_bytes_new_take(section, MEDIA_HEADER_LEN + len);
}

static void caps_describe(media_config *c, const GstStructure *s) {
    const gchar *codec = codec_name(s);
    gint num = 0;
    gint den = 1;

    gst_structure_get_fraction(s, "framerate", &num, &den);
    c->type = (guint8)media_type(s);
    c->width = get_int(s, "width");
    c->height = get_int(s, "height");
    c->rate_num = positive(num);
    c->rate_den = c->rate_num ? positive(den) : 0;
    c->sample_rate = get_int(s, "rate");
    c->channels = get_int(s, "channels");
    if (codec) {
        c->codec = (media_span){codec, strlen(codec)};
    }
}

GBytes *gst_tltcp_caps_to_section(GstCaps *caps,
                                  const GstTltcpConfigPlace *place) {
    const GstStructure *s = caps ? gst_caps_get_structure(caps, 0) : NULL;
    g_autofree gchar *text = caps ? gst_caps_to_string(caps) : NULL;
    GstBuffer *buffer = NULL;
    GstMapInfo map = GST_MAP_INFO_INIT;
    media_config c;

    memset(&c, 0, sizeof(c));
    c.streams = place->streams;
    c.latency_ms = place->latency_ms;
    if (s) {
        caps_describe(&c, s);
        c.caps = (media_span){text, strlen(text)};
    }
    if (s && codec_data(s, &map, &buffer)) {
        c.extradata = (media_span){map.data, map.size};
        c.nal_length = nal_length(s, &map);
    }
    GBytes *section = write_section(&c, place);
    if (buffer) {
        gst_buffer_unmap(buffer, &map);
    }
    return section;
}

void gst_tltcp_caps_scanner(GstCaps *caps, media_scanner *scanner) {
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    GstBuffer *buffer = NULL;
    GstMapInfo map = GST_MAP_INFO_INIT;

    if (gst_structure_has_name(s, "application/x-rtp")) {
        rtp_scanner(s, scanner);
        return;
    }
    codec_data(s, &map, &buffer);
    media__scanner_init(scanner, codec_name(s), (gint)media_type(s), map.data,
                        map.size);
    scanner->form = is_in_units(s) ? MEDIA_FORM_UNITS : MEDIA_FORM_WHOLE;
    if (buffer) {
        gst_buffer_unmap(buffer, &map);
    }
}

gboolean gst_tltcp_caps_is_predicted(GstCaps *caps) {
    const GstStructure *s = gst_caps_get_structure(caps, 0);

    return media_type(s) == MEDIA_TYPE_VIDEO &&
           !gst_structure_has_name(s, "video/x-raw") &&
           !g_str_has_prefix(gst_structure_get_name(s), "image/");
}

gboolean gst_tltcp_caps_is_ts(GstCaps *caps) {
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    gint size = MEDIA_TS_PACKET;

    gst_structure_get_int(s, "packetsize", &size);
    return gst_structure_has_name(s, "video/mpegts") && size == MEDIA_TS_PACKET;
}

gint64 gst_tltcp_caps_frame_ns(GstCaps *caps) {
    gint num = 0;
    gint den = 1;

    if (!gst_structure_get_fraction(gst_caps_get_structure(caps, 0),
                                    "framerate", &num, &den) ||
        num <= 0 || den <= 0) {
        return 0;
    }
    return (gint64)gst_util_uint64_scale_int(GST_SECOND, den, num);
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

/* What a peer sends is taken only when it is one fixed media type. */
static GstCaps *parse_caps(const gchar *text) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);

    if (!caps || gst_caps_is_any(caps) || gst_caps_get_size(caps) != 1 ||
        !gst_caps_is_fixed(caps)) {
        return NULL;
    }
    return g_steal_pointer(&caps);
}

GstCaps *gst_tltcp_caps_from_config(const media_config *config) {
    g_autofree gchar *text = NULL;

    if (config->caps.len) {
        text = g_strndup(config->caps.data, config->caps.len);
        return g_utf8_validate(text, -1, NULL) ? parse_caps(text) : NULL;
    }
    gsize len = media__caps_write(config, NULL, 0);
    if (!len) {
        return NULL;
    }
    text = g_malloc(len + 1);
    media__caps_write(config, text, len + 1);
    return parse_caps(text);
}

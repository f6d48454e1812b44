/* SPDX-License-Identifier: MPL-2.0 */
/* Writes GStreamer caps as text. */
#include "internal/media/stream/caps.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Use of a codec's extradata in its caps. */
enum extra {
    EXTRA_NONE,   /* not used */
    EXTRA_ALWAYS, /* as codec_data, if present */
    EXTRA_NAL,    /* as codec_data, if NAL units have lengths */
    EXTRA_AAC     /* as codec_data; without it, the stream is ADTS */
};

struct codec_caps {
    const char *codec;  /* libavcodec's name */
    const char *media;  /* GStreamer's media type */
    const char *fields; /* further fields, or "" */
    int version;        /* mpegversion, 0: none */
    enum extra extra;
};

static const struct codec_caps table[] = {
    {"h264", "video/x-h264", "alignment=(string)au", 0, EXTRA_NAL},
    {"hevc", "video/x-h265", "alignment=(string)au", 0, EXTRA_NAL},
    {"mpeg1video", "video/mpeg",
     "systemstream=(boolean)false, parsed=(boolean)true", 1, EXTRA_NONE},
    {"mpeg2video", "video/mpeg",
     "systemstream=(boolean)false, parsed=(boolean)true", 2, EXTRA_NONE},
    {"mpeg4", "video/mpeg", "systemstream=(boolean)false", 4, EXTRA_ALWAYS},
    {"mpegts", "video/mpegts",
     "systemstream=(boolean)true, packetsize=(int)188", 0, EXTRA_NONE},
    {"vp8", "video/x-vp8", "", 0, EXTRA_NONE},
    {"vp9", "video/x-vp9", "", 0, EXTRA_NONE},
    {"av1", "video/x-av1",
     "stream-format=(string)obu-stream, alignment=(string)tu", 0, EXTRA_ALWAYS},
    {"mjpeg", "image/jpeg", "", 0, EXTRA_NONE},
    {"aac", "audio/mpeg", "framed=(boolean)true", 4, EXTRA_AAC},
    {"mp3", "audio/mpeg", "layer=(int)3, parsed=(boolean)true", 1, EXTRA_NONE},
    {"mp2", "audio/mpeg", "layer=(int)2, parsed=(boolean)true", 1, EXTRA_NONE},
    {"ac3", "audio/x-ac3", "framed=(boolean)true", 0, EXTRA_NONE},
    {"eac3", "audio/x-eac3", "framed=(boolean)true", 0, EXTRA_NONE},
    {"opus", "audio/x-opus", "channel-mapping-family=(int)0", 0, EXTRA_NONE},
    {"pcm_s16le", "audio/x-raw",
     "format=(string)S16LE, layout=(string)interleaved", 0, EXTRA_NONE},
    {"pcm_s16be", "audio/x-raw",
     "format=(string)S16BE, layout=(string)interleaved", 0, EXTRA_NONE},
};

struct text {
    char *buf;
    size_t cap;
    size_t len;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
caps_add(struct text *t, const char *format, ...) {
    bool room = t->len < t->cap;
    va_list args;

    va_start(args, format);
    int n = vsnprintf(room ? t->buf + t->len : NULL, room ? t->cap - t->len : 0,
                      format, args);
    va_end(args);
    t->len += n > 0 ? (size_t)n : 0;
}

static void add_codec_data(struct text *t, const media_config *c) {
    const uint8_t *p = c->extradata.data;

    caps_add(t, ", codec_data=(buffer)");
    for (size_t i = 0; i < c->extradata.len; i++) {
        caps_add(t, "%02x", (unsigned)p[i]);
    }
}

/* avcC and hvcC begin with a version of 1 (some writers of hvcC: 0), start
 * codes never begin so. */
static const char *nal_format(const media_config *c, bool h265) {
    if (!c->nal_length || !c->extradata.len) {
        return "byte-stream";
    }
    return h265 ? "hvc1" : "avc";
}

static void add_extra(struct text *t, const struct codec_caps *row,
                      const media_config *c) {
    bool data = c->extradata.len > 0;

    if (row->extra == EXTRA_NAL) {
        bool h265 = strcmp(row->codec, "hevc") == 0;
        caps_add(t, ", stream-format=(string)%s", nal_format(c, h265));
        data = data && c->nal_length;
    }
    if (row->extra == EXTRA_AAC) {
        caps_add(t, ", stream-format=(string)%s", data ? "raw" : "adts");
    }
    if (row->extra != EXTRA_NONE && data) {
        add_codec_data(t, c);
    }
}

static void add_sizes(struct text *t, const struct codec_caps *row,
                      const media_config *c) {
    bool audio = strncmp(row->media, "audio/", 6) == 0;
    uint32_t most = INT32_MAX;

    if (!audio && c->width && c->height && c->width <= most &&
        c->height <= most) {
        caps_add(t, ", width=(int)%u, height=(int)%u", (unsigned)c->width,
                 (unsigned)c->height);
    }
    if (!audio && c->rate_num && c->rate_den && c->rate_num <= most &&
        c->rate_den <= most) {
        caps_add(t, ", framerate=(fraction)%u/%u", (unsigned)c->rate_num,
                 (unsigned)c->rate_den);
    }
    if (audio && c->sample_rate && c->sample_rate <= most) {
        caps_add(t, ", rate=(int)%u", (unsigned)c->sample_rate);
    }
    if (audio && c->channels && c->channels <= most) {
        caps_add(t, ", channels=(int)%u", (unsigned)c->channels);
    }
}

static bool is_codec(const struct codec_caps *row, const media_span *name) {
    return strlen(row->codec) == name->len &&
           memcmp(row->codec, name->data, name->len) == 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through `t` */
size_t media__caps_write(const media_config *c, char *buf, size_t cap) {
    struct text t = {buf, cap, 0};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct codec_caps *row = &table[i];
        if (!c->codec.len || !is_codec(row, &c->codec)) {
            continue;
        }
        caps_add(&t, "%s", row->media);
        if (row->version) {
            caps_add(&t, ", mpegversion=(int)%d", row->version);
        }
        if (row->fields[0]) {
            caps_add(&t, ", %s", row->fields);
        }
        add_extra(&t, row, c);
        add_sizes(&t, row, c);
        break;
    }
    return t.len;
}

const char *media__caps_codec(const char *media_type, int version) {
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].media, media_type) == 0 &&
            (!table[i].version || table[i].version == version)) {
            return table[i].codec;
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* One stream of a file that is being written. */
#include "tools/tltcp/mux_stream.h"

#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <string.h>

#include "internal/media/stream/caps.h"
#include "tools/tltcp/mux.h"

#define NAME_MAX_LEN 64
/* Between frames without times, ns. Containers count in 1/90000 s or coarser,
 * and some refuse two frames of the same time. */
#define STEP INT64_C(1000000)

static void span_text(const media_span *span, char *text, size_t size) {
    size_t len = span->len < size - 1 ? span->len : size - 1;
    if (len) {
        memcpy(text, span->data, len);
    }
    text[len] = '\0';
}

/* Codec of caps such as "video/mpeg, mpegversion=(int)2, ...": uses the type
 * and that one field. */
static const char *codec_of_caps(const media_span *caps) {
    char text[512];
    char type[NAME_MAX_LEN];
    const char *version;
    int number = 0;
    span_text(caps, text, sizeof(text));
    (void)snprintf(type, sizeof(type), "%.*s", (int)strcspn(text, ", ;"), text);
    version = strstr(text, "mpegversion=(int)");
    if (version) {
        number = (int)strtol(strchr(version, ')') + 1, NULL, 10);
    }
    return media__caps_codec(type, number);
}

static const AVCodecDescriptor *find_codec(const media_config *c) {
    char name[NAME_MAX_LEN];
    const char *known = NULL;
    span_text(&c->codec, name, sizeof(name));
    if (name[0] == '\0' && c->caps.len) {
        known = codec_of_caps(&c->caps);
    }
    return avcodec_descriptor_get_by_name(known ? known : name);
}

static bool set_extradata(AVCodecParameters *par, const void *data,
                          size_t len) {
    if (len == 0 || len > MEDIA_CONFIG_MAX) {
        return true;
    }
    av_freep(&par->extradata);
    par->extradata = av_mallocz(len + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!par->extradata) {
        return false;
    }
    memcpy(par->extradata, data, len);
    par->extradata_size = (int)len;
    return true;
}

static void set_channels(AVCodecParameters *par, uint32_t channels) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(59, 24, 100)
    av_channel_layout_default(&par->ch_layout, (int)channels);
#else
    par->channels = (int)channels;
#endif
}

/* Other programs may omit all of these, or send wrong values. */
static void fill_layout(AVCodecParameters *par, const media_config *c) {
    char format[NAME_MAX_LEN];
    span_text(&c->format, format, sizeof(format));
    par->bits_per_coded_sample = (int)(c->sample_bits & 0xffU);
    if (par->codec_type == AVMEDIA_TYPE_VIDEO) {
        par->format = av_get_pix_fmt(format);
        if (par->codec_id == AV_CODEC_ID_RAWVIDEO) {
            par->codec_tag = avcodec_pix_fmt_to_codec_tag(par->format);
        }
    } else {
        par->format = av_get_sample_fmt(format);
        par->block_align = (int)(c->block_bytes & 0xffffffU);
    }
}

static void fill_parameters(AVCodecParameters *par, const media_config *c,
                            const AVCodecDescriptor *codec) {
    par->codec_type = codec->type;
    par->codec_id = codec->id;
    par->codec_tag = 0;
    par->bit_rate = c->bit_rate;
    if (codec->type == AVMEDIA_TYPE_VIDEO) {
        par->width = (int)(c->width & 0xffffU);
        par->height = (int)(c->height & 0xffffU);
    } else {
        par->sample_rate = (int)(c->sample_rate & 0xffffffU);
        set_channels(par, c->channels & 0xffU);
    }
    fill_layout(par, c);
}

/* Filters for codecs whose headers are in the stream if there is no
 * extradata. */
static const char *filter_for(enum AVCodecID id) {
    switch (id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_AV1:
        return "extract_extradata";
    default:
        return NULL;
    }
}

/* Without the filter, the container does what it can. */
static void add_filter(struct mux_stream *s, const char *name) {
    const AVBitStreamFilter *filter = name ? av_bsf_get_by_name(name) : NULL;
    if (!filter || av_bsf_alloc(filter, &s->bsf) < 0) {
        return;
    }
    s->bsf->time_base_in = (AVRational){1, 1000000000};
    if (avcodec_parameters_copy(s->bsf->par_in, s->par) < 0 ||
        av_bsf_init(s->bsf) < 0) {
        av_bsf_free(&s->bsf);
    }
}

static void complain_of_codec(const media_config *c, char *why) {
    char name[NAME_MAX_LEN];
    span_text(c->codec.len ? &c->codec : &c->caps, name, sizeof(name));
    if (strstr(name, "mpegts")) {
        (void)snprintf(why, MUX_WHY_MAX,
                       "the caller sends a transport stream, not single "
                       "streams; receive it with tltcp-live-transmit");
    } else {
        (void)snprintf(why, MUX_WHY_MAX, "unknown codec '%s'", name);
    }
}

bool mux_stream_describe(struct mux_stream *s, const AVFormatContext *format,
                         const media_config *c, char *why) {
    const AVCodecDescriptor *codec = find_codec(c);
    if (!codec || (codec->type != AVMEDIA_TYPE_VIDEO &&
                   codec->type != AVMEDIA_TYPE_AUDIO)) {
        complain_of_codec(c, why);
        return false;
    }
    if (avformat_query_codec(format->oformat, codec->id, -1) == 0) {
        (void)snprintf(why, MUX_WHY_MAX, "the container %s cannot hold %s",
                       format->oformat->name, codec->name);
        return false;
    }
    s->par = avcodec_parameters_alloc();
    if (!s->par ||
        !set_extradata(s->par, c->extradata.data, c->extradata.len)) {
        (void)snprintf(why, MUX_WHY_MAX, "out of memory");
        avcodec_parameters_free(&s->par);
        return false;
    }
    fill_parameters(s->par, c, codec);
    s->rate = (AVRational){0, 1};
    if (c->rate_num && c->rate_den && c->rate_num < INT32_MAX &&
        c->rate_den < INT32_MAX) {
        s->rate = (AVRational){(int)c->rate_num, (int)c->rate_den};
    }
    if (s->par->extradata_size == 0 &&
        (format->oformat->flags & AVFMT_GLOBALHEADER)) {
        add_filter(s, filter_for(codec->id));
    }
    s->ready = s->bsf == NULL;
    return true;
}

bool mux_stream_begin(struct mux_stream *s, AVFormatContext *format) {
    s->out = avformat_new_stream(format, NULL);
    if (!s->out || avcodec_parameters_copy(s->out->codecpar, s->par) < 0) {
        return false;
    }
    s->out->time_base = (AVRational){1, 90000};
    s->out->avg_frame_rate = s->rate;
    return true;
}

bool mux_stream_filter(struct mux_stream *s, AVPacket *p) {
    AVCodecParameters *par = s->out ? s->out->codecpar : s->par;
    const uint8_t *found;
    size_t len = 0;
    bool ok = true;
    if (!s->bsf || s->ready) {
        return true;
    }
    if (av_bsf_send_packet(s->bsf, p) < 0 ||
        av_bsf_receive_packet(s->bsf, p) < 0) {
        av_packet_unref(p); /* the container would not understand it either */
        return true;
    }
    found = av_packet_get_side_data(p, AV_PKT_DATA_NEW_EXTRADATA, &len);
    if (found && len) {
        ok = set_extradata(par, found, len);
        s->ready = true;
        av_packet_free_side_data(p);
    }
    return ok;
}

bool mux_stream_fix_times(struct mux_stream *s, AVPacket *p) {
    if (p->dts == AV_NOPTS_VALUE) {
        p->dts = p->pts;
    }
    if (p->dts == AV_NOPTS_VALUE) {
        if (!s->has_dts) {
            return false;
        }
        p->dts = s->last_dts + STEP;
    }
    if (s->has_dts && p->dts <= s->last_dts) {
        p->dts = s->last_dts + STEP;
    }
    if (p->pts == AV_NOPTS_VALUE || p->pts < p->dts) {
        p->pts = p->dts;
    }
    s->last_dts = p->dts;
    s->has_dts = true;
    return true;
}

void mux_stream_free(struct mux_stream *s) {
    avcodec_parameters_free(&s->par);
    av_bsf_free(&s->bsf);
}

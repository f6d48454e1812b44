/* SPDX-License-Identifier: MPL-2.0 */
#include "integrations/obs/decoder.h"

#include <libavutil/pixdesc.h>

#define BUFFER 32768
/* Enough for tables and a key frame; a stream that is longer silent about its
 * codecs is shown without them. */
#define PROBE_BYTES "1000000"
#define PROBE_US "1500000"

/* ---- Opening ---- */

static bool decoder_open_input(struct decoder *d) {
    uint8_t *buffer = av_malloc(BUFFER);
    AVIOContext *io = buffer ? avio_alloc_context(buffer, BUFFER, 0, d->user,
                                                  d->read, NULL, NULL)
                             : NULL;
    AVDictionary *options = NULL;
    int rc;
    if (io == NULL) {
        av_free(buffer);
        return false;
    }
    d->format = avformat_alloc_context();
    if (d->format == NULL) {
        av_freep(&io->buffer);
        avio_context_free(&io);
        return false;
    }
    d->format->pb = io;
    d->format->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_NOBUFFER;
    (void)av_dict_set(&options, "probesize", PROBE_BYTES, 0);
    (void)av_dict_set(&options, "analyzeduration", PROBE_US, 0);
    rc = avformat_open_input(&d->format, NULL, av_find_input_format("mpegts"),
                             &options);
    av_dict_free(&options);
    if (rc < 0) { /* the context is gone, its input is not */
        av_freep(&io->buffer);
        avio_context_free(&io);
        return false;
    }
    return avformat_find_stream_info(d->format, NULL) >= 0;
}

static AVCodecContext *decoder_open_codec(struct decoder *d,
                                          enum AVMediaType type, int *stream) {
    const AVCodec *codec = NULL;
    AVCodecContext *c;
    *stream = av_find_best_stream(d->format, type, -1, -1, &codec, 0);
    c = *stream >= 0 && codec ? avcodec_alloc_context3(codec) : NULL;
    if (c == NULL) {
        return NULL;
    }
    c->pkt_timebase = d->format->streams[*stream]->time_base;
    if (avcodec_parameters_to_context(
            c, d->format->streams[*stream]->codecpar) < 0 ||
        avcodec_open2(c, codec, NULL) < 0) {
        avcodec_free_context(&c);
    }
    return c;
}

static bool decoder_open(struct decoder *d) {
    if (!decoder_open_input(d)) {
        return false;
    }
    d->codec[0] = decoder_open_codec(d, AVMEDIA_TYPE_VIDEO, &d->stream[0]);
    d->codec[1] = decoder_open_codec(d, AVMEDIA_TYPE_AUDIO, &d->stream[1]);
    d->packet = av_packet_alloc();
    d->frame = av_frame_alloc();
    return d->packet && d->frame && (d->codec[0] || d->codec[1]);
}

static void decoder_close(struct decoder *d) {
    AVIOContext *io = d->format ? d->format->pb : NULL;
    avcodec_free_context(&d->codec[0]);
    avcodec_free_context(&d->codec[1]);
    av_packet_free(&d->packet);
    av_frame_free(&d->frame);
    avformat_close_input(&d->format);
    if (io) {
        av_freep(&io->buffer);
        avio_context_free(&io);
    }
}

/* ---- Pictures and sound ---- */

static enum video_format picture_format(int format) {
    static const struct {
        enum AVPixelFormat av;
        enum video_format obs;
    } formats[] = {{AV_PIX_FMT_YUV420P, VIDEO_FORMAT_I420},
                   {AV_PIX_FMT_YUVJ420P, VIDEO_FORMAT_I420},
                   {AV_PIX_FMT_NV12, VIDEO_FORMAT_NV12},
                   {AV_PIX_FMT_YUV422P, VIDEO_FORMAT_I422},
                   {AV_PIX_FMT_YUVJ422P, VIDEO_FORMAT_I422},
                   {AV_PIX_FMT_YUV444P, VIDEO_FORMAT_I444},
                   {AV_PIX_FMT_YUVJ444P, VIDEO_FORMAT_I444},
                   {AV_PIX_FMT_GRAY8, VIDEO_FORMAT_Y800}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if ((int)formats[i].av == format) {
            return formats[i].obs;
        }
    }
    return VIDEO_FORMAT_NONE;
}

static enum audio_format sound_format(int format) {
    static const enum audio_format formats[] = {
        [AV_SAMPLE_FMT_U8] = AUDIO_FORMAT_U8BIT,
        [AV_SAMPLE_FMT_S16] = AUDIO_FORMAT_16BIT,
        [AV_SAMPLE_FMT_S32] = AUDIO_FORMAT_32BIT,
        [AV_SAMPLE_FMT_FLT] = AUDIO_FORMAT_FLOAT,
        [AV_SAMPLE_FMT_U8P] = AUDIO_FORMAT_U8BIT_PLANAR,
        [AV_SAMPLE_FMT_S16P] = AUDIO_FORMAT_16BIT_PLANAR,
        [AV_SAMPLE_FMT_S32P] = AUDIO_FORMAT_32BIT_PLANAR,
        [AV_SAMPLE_FMT_FLTP] = AUDIO_FORMAT_FLOAT_PLANAR};
    return format >= 0 && format < (int)(sizeof(formats) / sizeof(formats[0]))
               ? formats[format]
               : AUDIO_FORMAT_UNKNOWN;
}

static enum speaker_layout speakers(int channels) {
    static const enum speaker_layout layouts[] = {
        SPEAKERS_UNKNOWN, SPEAKERS_MONO,    SPEAKERS_STEREO,
        SPEAKERS_2POINT1, SPEAKERS_4POINT0, SPEAKERS_4POINT1,
        SPEAKERS_5POINT1, SPEAKERS_UNKNOWN, SPEAKERS_7POINT1};
    return channels >= 0 && channels <= 8 ? layouts[channels]
                                          : SPEAKERS_UNKNOWN;
}

static uint64_t decoder_time(const struct decoder *d, int stream) {
    const AVRational ns = {1, 1000000000};
    int64_t pts = d->frame->best_effort_timestamp;
    int64_t at = av_rescale_q(pts == AV_NOPTS_VALUE ? 0 : pts,
                              d->format->streams[stream]->time_base, ns);
    return at > 0 ? (uint64_t)at : 0;
}

static void decoder_show(struct decoder *d) {
    const AVFrame *f = d->frame;
    struct obs_source_frame out = {.width = (uint32_t)f->width,
                                   .height = (uint32_t)f->height,
                                   .format = picture_format(f->format),
                                   .timestamp = decoder_time(d, d->stream[0]),
                                   .full_range =
                                       f->color_range == AVCOL_RANGE_JPEG};
    if (out.format == VIDEO_FORMAT_NONE) {
        if (d->refused != (enum AVPixelFormat)f->format || !d->shown) {
            blog(LOG_WARNING, "[tltcp] pictures of the format %s are not shown",
                 av_get_pix_fmt_name(f->format));
        }
        d->refused = f->format;
        d->shown = true;
        return;
    }
    for (int i = 0; i < 3; i++) {
        out.data[i] = f->data[i];
        out.linesize[i] = (uint32_t)f->linesize[i];
    }
    (void)video_format_get_parameters(
        f->colorspace == AVCOL_SPC_BT709 ? VIDEO_CS_709
        : f->colorspace == AVCOL_SPC_UNSPECIFIED && f->height >= 720
            ? VIDEO_CS_709
            : VIDEO_CS_601,
        out.full_range ? VIDEO_RANGE_FULL : VIDEO_RANGE_PARTIAL,
        out.color_matrix, out.color_range_min, out.color_range_max);
    d->shown = true;
    obs_source_output_video(d->source, &out);
}

static void decoder_play(struct decoder *d) {
    const AVFrame *f = d->frame;
    struct obs_source_audio out = {.frames = (uint32_t)f->nb_samples,
                                   .samples_per_sec = (uint32_t)f->sample_rate,
                                   .format = sound_format(f->format),
                                   .timestamp = decoder_time(d, d->stream[1])};
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 28, 100)
    out.speakers = speakers(f->ch_layout.nb_channels);
#else
    out.speakers = speakers(f->channels);
#endif
    if (out.format == AUDIO_FORMAT_UNKNOWN ||
        out.speakers == SPEAKERS_UNKNOWN) {
        return;
    }
    for (int i = 0; i < 8 && f->data[i]; i++) {
        out.data[i] = f->data[i];
    }
    obs_source_output_audio(d->source, &out);
}

/* A packet that cannot be decoded is left out, as a lost one is. */
static void decoder_take(struct decoder *d, int kind) {
    AVCodecContext *c = d->codec[kind];
    if (c == NULL || avcodec_send_packet(c, d->packet) < 0) {
        return;
    }
    while (avcodec_receive_frame(c, d->frame) == 0) {
        if (kind == 0) {
            decoder_show(d);
        } else {
            decoder_play(d);
        }
        av_frame_unref(d->frame);
    }
}

void decoder_run(struct decoder *d) {
    bool open = decoder_open(d);
    while (open && av_read_frame(d->format, d->packet) >= 0) {
        for (int kind = 0; kind < 2; kind++) {
            if (d->packet->stream_index == d->stream[kind]) {
                decoder_take(d, kind);
            }
        }
        av_packet_unref(d->packet);
    }
    decoder_close(d);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Frames out of any file that libavformat opens, classified. */
#include "tools/tltcp/source.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tltcp/picture_order.h"

#define SHORT_NS 300000000        /* maximum that may be missing at the end */
#define FRAME_NS_DEFAULT 40000000 /* 25 pictures a second */

struct track {
    const AVStream *stream;
    media_scanner scanner;
    media_retimer retimer;
    struct picture_order order; /* used if the container has no times */
    bool ordered;               /* the order is in use */
    int64_t frame_ns;
    int64_t next_dts; /* time of the next frame without one */
    int64_t end;      /* end of the newest frame in this round, file time */
    uint32_t number;
};

struct source {
    AVFormatContext *format;
    AVPacket *packet;
    struct track track[SOURCE_STREAMS_MAX];
    int track_of[SOURCE_STREAMS_MAX *
                 4]; /* by index in the file; -1: not sent */
    unsigned tracks;
    int64_t zero;   /* time of the first frame in the file */
    int64_t offset; /* added by rewinding */
    int64_t end;    /* of the frames so far */
    bool started;   /* zero is set */
    bool corrupt;   /* the newest frame is damaged */
    char *path;
};

static void source_complain(char *why, const char *what, int error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    (void)av_strerror(error, text, sizeof(text));
    (void)snprintf(why, SOURCE_WHY_MAX, "%s: %s", what, text);
}

static uint8_t type_of(const AVStream *stream) {
    switch (stream->codecpar->codec_type) {
    case AVMEDIA_TYPE_VIDEO:
        return MEDIA_TYPE_VIDEO;
    case AVMEDIA_TYPE_AUDIO:
        return MEDIA_TYPE_AUDIO;
    default:
        return MEDIA_TYPE_UNKNOWN;
    }
}

/* libavformat renders any text as video of a terminal. */
static bool is_text(const AVCodecParameters *par) {
    return par->codec_id == AV_CODEC_ID_ANSI ||
           par->codec_id == AV_CODEC_ID_BINTEXT ||
           par->codec_id == AV_CODEC_ID_XBIN ||
           par->codec_id == AV_CODEC_ID_IDF;
}

static bool is_wanted(const AVStream *stream) {
    return type_of(stream) != MEDIA_TYPE_UNKNOWN &&
           stream->codecpar->codec_id != AV_CODEC_ID_NONE &&
           !is_text(stream->codecpar) &&
           !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC);
}

static int64_t to_ns(int64_t t, AVRational base) {
    if (t == AV_NOPTS_VALUE) {
        return MEDIA_TIME_NONE;
    }
    return av_rescale_q(t, base, (AVRational){1, 1000000000});
}

static int64_t nominal_frame_ns(const AVStream *stream) {
    const AVCodecParameters *par = stream->codecpar;
    AVRational rate = stream->avg_frame_rate;
    if (type_of(stream) == MEDIA_TYPE_VIDEO) {
        if (rate.num <= 0 || rate.den <= 0) {
            rate = stream->r_frame_rate;
        }
        if (rate.num <= 0 || rate.den <= 0) {
            return 0;
        }
        return av_rescale(1000000000, rate.den, rate.num);
    }
    if (par->frame_size > 0 && par->sample_rate > 0) {
        return av_rescale(1000000000, par->frame_size, par->sample_rate);
    }
    return 0;
}

static void add_track(struct source *s, const AVStream *stream) {
    struct track *t = &s->track[s->tracks];
    const AVCodecParameters *par = stream->codecpar;
    *t = (struct track){.stream = stream,
                        .frame_ns = nominal_frame_ns(stream),
                        .next_dts = MEDIA_TIME_NONE};
    media__scanner_init(&t->scanner, avcodec_get_name(par->codec_id),
                        type_of(stream), par->extradata,
                        (size_t)par->extradata_size);
    media__retimer_init(&t->retimer, t->frame_ns);
    s->track_of[stream->index] = (int)s->tracks++;
}

/* Streams that are not sent are not read. */
static bool choose_tracks(struct source *s, char *why) {
    const size_t most = sizeof(s->track_of) / sizeof(s->track_of[0]);
    bool video = false;
    s->tracks = 0;
    for (size_t i = 0; i < most; i++) {
        s->track_of[i] = -1; /* also for streams that appear later */
    }
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        AVStream *stream = s->format->streams[i];
        stream->discard = AVDISCARD_ALL;
        if (i < most && is_wanted(stream) && s->tracks < SOURCE_STREAMS_MAX) {
            stream->discard = AVDISCARD_DEFAULT;
            video = video || type_of(stream) == MEDIA_TYPE_VIDEO;
            add_track(s, stream);
        }
    }
    if (s->tracks == 0) {
        (void)snprintf(why, SOURCE_WHY_MAX, "it has no video or audio");
    }
    return s->tracks != 0;
}

static bool open_file(struct source *s, char *why) {
    int rc = avformat_open_input(&s->format, s->path, NULL, NULL);
    if (rc < 0) {
        source_complain(why, "cannot be opened", rc);
        return false;
    }
    rc = avformat_find_stream_info(s->format, NULL);
    if (rc < 0) {
        source_complain(why, "cannot be read", rc);
        return false;
    }
    return true;
}

/* Data that resembles a format by chance yields streams without properties. */
static bool is_plausible(const struct source *s, char *why) {
    for (unsigned i = 0; i < s->tracks; i++) {
        const AVCodecParameters *par = s->track[i].stream->codecpar;
        bool known = type_of(s->track[i].stream) == MEDIA_TYPE_VIDEO
                         ? par->width > 0 && par->height > 0
                         : par->sample_rate > 0;
        if (known) {
            return true;
        }
    }
    (void)snprintf(why, SOURCE_WHY_MAX,
                   "its video or audio is in a format that is not known");
    return false;
}

struct source *source_open(const char *path, char *why) {
    struct source *s = calloc(1, sizeof(*s));
    if (s) {
        s->path = strdup(strcmp(path, "-") == 0 ? "pipe:0" : path);
        s->packet = av_packet_alloc();
    }
    if (!s || !s->path || !s->packet) {
        source_close(s);
        (void)snprintf(why, SOURCE_WHY_MAX, "out of memory");
        return NULL;
    }
    if (!open_file(s, why) || !choose_tracks(s, why) || !is_plausible(s, why)) {
        source_close(s);
        return NULL;
    }
    return s;
}

void source_close(struct source *s) {
    if (!s) {
        return;
    }
    for (unsigned i = 0; i < s->tracks; i++) {
        picture_order_free(&s->track[i].order);
    }
    avformat_close_input(&s->format);
    av_packet_free(&s->packet);
    free(s->path);
    free(s);
}

static const char *kind_of_stream(const AVStream *stream) {
    const char *kind = av_get_media_type_string(stream->codecpar->codec_type);
    if (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) {
        return "cover";
    }
    return kind ? kind : "unknown";
}

void source_left_out(const struct source *s, char *what) {
    const size_t most = sizeof(s->track_of) / sizeof(s->track_of[0]);
    size_t len = 0;
    what[0] = '\0';
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        const AVStream *stream = s->format->streams[i];
        if (i < most && s->track_of[i] >= 0) {
            continue;
        }
        (void)snprintf(what + len, SOURCE_WHY_MAX - len, "%s%s (%s)",
                       len ? ", " : "",
                       avcodec_get_name(stream->codecpar->codec_id),
                       kind_of_stream(stream));
        len += strlen(what + len);
    }
}

unsigned source_streams(const struct source *s) {
    return s->tracks;
}

int64_t source_duration(const struct source *s) {
    if (s->format->duration == AV_NOPTS_VALUE || s->format->duration < 0) {
        return 0;
    }
    return to_ns(s->format->duration, AV_TIME_BASE_Q);
}

static uint32_t channels(const AVCodecParameters *par) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(59, 24, 100)
    return (uint32_t)par->ch_layout.nb_channels;
#else
    return (uint32_t)par->channels;
#endif
}

/* NULL: it has none. */
static const char *format_name(const AVCodecParameters *par) {
    return par->codec_type == AVMEDIA_TYPE_VIDEO
               ? av_get_pix_fmt_name(par->format)
               : av_get_sample_fmt_name(par->format);
}

void source_format(const struct source *s, unsigned stream,
                   tltcp_live_format *f) {
    const struct track *t = &s->track[stream];
    const AVCodecParameters *par = t->stream->codecpar;
    tltcp_live_format_init(f);
    f->type = type_of(t->stream);
    f->nal_length = t->scanner.nal_length;
    f->width = (uint32_t)par->width;
    f->height = (uint32_t)par->height;
    f->sample_rate = (uint32_t)par->sample_rate;
    f->channels = channels(par);
    f->block_bytes = (uint32_t)par->block_align;
    f->sample_bits = (uint32_t)par->bits_per_coded_sample;
    f->codec = avcodec_get_name(par->codec_id);
    f->samples = format_name(par);
    f->extradata = par->extradata;
    f->extradata_len = (size_t)par->extradata_size;
    if (par->bit_rate > 0 && par->bit_rate < UINT32_MAX) {
        f->bit_rate = (uint32_t)par->bit_rate;
    }
    if (t->stream->avg_frame_rate.num > 0) {
        f->rate_num = (uint32_t)t->stream->avg_frame_rate.num;
        f->rate_den = (uint32_t)t->stream->avg_frame_rate.den;
    }
}

static uint32_t packet_flags(const struct track *t, const AVPacket *p) {
    bool video = type_of(t->stream) == MEDIA_TYPE_VIDEO;
    uint32_t flags = 0;
    if (p->flags & AV_PKT_FLAG_KEY) {
        flags |= MEDIA_FLAG_KEY;
    } else if (video) {
        flags |= MEDIA_FLAG_DELTA;
    }
    if (p->flags & AV_PKT_FLAG_DISPOSABLE) {
        flags |= MEDIA_FLAG_DROPPABLE;
    }
    if (p->flags & AV_PKT_FLAG_CORRUPT) {
        flags |= MEDIA_FLAG_CORRUPTED;
    }
    return flags;
}

/* Derives a missing PTS; MEDIA_TIME_NONE: not possible. */
static int64_t made_up_pts(struct track *t, const struct source_frame *f,
                           int64_t dts, int64_t step) {
    if (t->number == 0) {
        t->ordered = picture_order_init(&t->order, t->stream->codecpar, step);
    }
    if (!t->ordered) {
        return MEDIA_TIME_NONE;
    }
    return picture_order_pts(&t->order, f->packet, dts,
                             f->what.key && f->what.closed_gop);
}

/* Raw streams have no timestamps: their frames follow at the nominal interval.
 */
static void set_times(struct source *s, struct track *t,
                      struct source_frame *f) {
    const AVPacket *p = s->packet;
    int64_t dts = to_ns(p->dts, t->stream->time_base);
    int64_t pts = to_ns(p->pts, t->stream->time_base);
    int64_t step = to_ns(p->duration, t->stream->time_base);
    if (step <= 0) {
        step = t->frame_ns > 0 ? t->frame_ns : FRAME_NS_DEFAULT;
    }
    if (!s->started) {
        s->zero = dts != MEDIA_TIME_NONE ? dts : pts;
        s->zero = s->zero != MEDIA_TIME_NONE ? s->zero : 0;
        s->started = true;
    }
    if (dts != MEDIA_TIME_NONE) {
        dts += s->offset - s->zero;
    } else if (t->next_dts != MEDIA_TIME_NONE) {
        dts = t->next_dts;
    } else {
        dts = s->offset;
    }
    if (pts != MEDIA_TIME_NONE) {
        pts += s->offset - s->zero;
    }
    if (p->pts == AV_NOPTS_VALUE && p->dts == AV_NOPTS_VALUE) {
        pts = made_up_pts(t, f, dts, step);
    }
    t->next_dts = dts + step;
    t->end = t->next_dts - s->offset + s->zero;
    if (t->next_dts > s->end) {
        s->end = t->next_dts;
    }
    f->times =
        (media_times){.pts = pts, .dts = dts, .duration = step, .arrival = dts};
    f->times.pts = media__retimer_pts(&t->retimer, &f->what, &f->times);
}

static void describe(struct source *s, struct source_frame *f) {
    unsigned stream = (unsigned)s->track_of[s->packet->stream_index];
    struct track *t = &s->track[stream];
    f->packet = s->packet;
    f->stream = stream;
    f->flags = packet_flags(t, s->packet);
    s->corrupt = s->packet->flags & AV_PKT_FLAG_CORRUPT;
    media__scanner_classify(&t->scanner, s->packet->data,
                            (size_t)s->packet->size, f->flags, &f->what);
    set_times(s, t, f);
    t->number++;
}

static bool is_sent(const struct source *s, const AVPacket *p) {
    const int most = (int)(sizeof(s->track_of) / sizeof(s->track_of[0]));
    return p->stream_index < most &&
           (unsigned)p->stream_index < s->format->nb_streams &&
           s->track_of[p->stream_index] >= 0 && p->size > 0;
}

/* When a stream should end according to the container; 0: not known. */
static int64_t promised_end(const struct source *s, const struct track *t) {
    int64_t start = to_ns(t->stream->start_time, t->stream->time_base);
    int64_t length = to_ns(t->stream->duration, t->stream->time_base);
    if (start != MEDIA_TIME_NONE && length != MEDIA_TIME_NONE) {
        return start + length;
    }
    if (s->format->duration_estimation_method == AVFMT_DURATION_FROM_STREAM) {
        return source_duration(s);
    }
    return 0;
}

/* Some formats end with the file. Streams may differ in length, so data is
 * missing only if all end early. */
static bool is_short(const struct source *s) {
    for (unsigned i = 0; i < s->tracks; i++) {
        const struct track *t = &s->track[i];
        if (t->end > promised_end(s, t) - SHORT_NS) {
            return false;
        }
    }
    return true;
}

int source_next(struct source *s, struct source_frame *f, char *why) {
    int rc;
    for (;;) {
        av_packet_unref(s->packet);
        rc = av_read_frame(s->format, s->packet);
        if (rc == AVERROR_EOF) {
            break;
        }
        if (rc < 0) {
            source_complain(why, "ends in the middle", rc);
            return SOURCE_BROKEN;
        }
        if (is_sent(s, s->packet)) {
            describe(s, f);
            return SOURCE_FRAME;
        }
    }
    rc = s->format->pb ? s->format->pb->error : 0;
    if (rc < 0 && rc != AVERROR_EOF) {
        source_complain(why, "cannot be read to its end", rc);
        return SOURCE_BROKEN;
    }
    if (s->corrupt || is_short(s)) {
        (void)snprintf(why, SOURCE_WHY_MAX, "ends in the middle");
        return SOURCE_BROKEN;
    }
    return SOURCE_OVER;
}

bool source_rewind(struct source *s, char *why) {
    s->offset = s->end;
    /* reopening works for every format, seeking does not */
    avformat_close_input(&s->format);
    if (!open_file(s, why)) {
        return false;
    }
    for (unsigned i = 0; i < s->tracks; i++) {
        struct track *t = &s->track[i];
        unsigned index = 0;
        while (index < s->format->nb_streams && s->track_of[index] != (int)i) {
            index++;
        }
        if (index == s->format->nb_streams) {
            (void)snprintf(why, SOURCE_WHY_MAX,
                           "its streams differ from those before");
            return false;
        }
        t->stream = s->format->streams[index];
        t->next_dts = MEDIA_TIME_NONE;
        t->end = 0;
    }
    return true;
}

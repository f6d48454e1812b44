/* SPDX-License-Identifier: MPL-2.0 */
/* Frames into any container that libavformat writes. */
#include "tools/tltcp/mux.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tltcp/libav_log.h"
#include "tools/tltcp/mux_stream.h"

#define BACKLOG_MAX 512 /* frames kept until every stream can be described */
/* Bytes that wait for another stream: before the header, and then in
 * libavformat, which waits for ten seconds of the streams' time. */
#define BYTES_MAX ((uint64_t)64 << 20)
#define FRAME_BYTES_MIN 512 /* memory that the smallest frame takes */
#define NS ((AVRational){1, 1000000000})

struct mux {
    AVFormatContext *format;
    struct mux_stream stream[MUX_STREAMS_MAX];
    unsigned expected; /* streams that the sender announced */
    AVPacket *backlog[BACKLOG_MAX];
    size_t waiting;
    uint64_t bytes; /* about where the file would end if none waited */
    bool begun;     /* no stream can be added */
    bool started;   /* the header is written */
    bool kept;      /* a frame is in the file */
    bool left_out;  /* a frame was not understood */
};

static bool mux_complain(char *why, const char *what, int error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    const char *said = libav_log_error();
    (void)av_strerror(error, text, sizeof(text));
    (void)snprintf(why, MUX_WHY_MAX, "%s: %s", what, said[0] ? said : text);
    return false;
}

/* Containers such as MPEG-TS take any codec, but of some keep only bytes. */
static bool is_readable(const struct mux *m, char *why) {
    char codec[64];
    if (!libav_log_unreadable(codec, sizeof(codec))) {
        return true;
    }
    (void)snprintf(why, MUX_WHY_MAX, "the container %s cannot hold %s",
                   m->format->oformat->name, codec);
    return false;
}

struct mux *mux_open(const char *path, const char *format, char *why) {
    struct mux *m = calloc(1, sizeof(*m));
    const char *name = strcmp(path, "-") == 0 ? "pipe:1" : path;
    int rc;
    if (!m) {
        (void)snprintf(why, MUX_WHY_MAX, "out of memory");
        return NULL;
    }
    rc = avformat_alloc_output_context2(&m->format, NULL, format, name);
    if (rc < 0) {
        (void)snprintf(why, MUX_WHY_MAX,
                       format ? "unknown container '%.40s'"
                              : "its extension names no container; use .mp4, "
                                ".mkv or .ts, or give --format",
                       format);
        free(m);
        return NULL;
    }
    return m;
}

static struct mux_stream *find(struct mux *m, unsigned stream) {
    return stream < MUX_STREAMS_MAX ? &m->stream[stream] : NULL;
}

bool mux_describe(struct mux *m, unsigned stream, const media_config *c,
                  char *why) {
    struct mux_stream *s = find(m, stream);
    if (!s) {
        (void)snprintf(why, MUX_WHY_MAX, "more than %d streams",
                       MUX_STREAMS_MAX);
        return false;
    }
    s->ended = false;
    if (s->par || m->begun) {
        /* the container is already described; a stream itself usually carries
         * its changes, and a new one is left out */
        s->late = !s->par;
        return true;
    }
    if (c->streams > m->expected) {
        m->expected = c->streams;
    }
    return mux_stream_describe(s, m->format, c, why);
}

void mux_end(struct mux *m, unsigned stream) {
    struct mux_stream *s = find(m, stream);
    if (s) {
        s->ended = true;
    }
}

static bool is_complete(const struct mux *m) {
    unsigned known = 0;
    for (unsigned i = 0; i < MUX_STREAMS_MAX; i++) {
        const struct mux_stream *s = &m->stream[i];
        known += s->par || s->ended;
        if (s->par && !s->ready && !s->ended) {
            return false;
        }
    }
    return known >= m->expected;
}

static uint64_t written(const struct mux *m) {
    int64_t at = m->format->pb ? avio_tell(m->format->pb) : -1;
    return at >= 0 ? (uint64_t)at : m->bytes;
}

/* Writes what waits in libavformat if it is too much. What a container adds is
 * no credit. What it removes, and what small frames count beyond their bytes,
 * adds up, so this also happens now and then when little waits. */
static int write_waiting(struct mux *m) {
    uint64_t end = written(m);
    int rc;
    if (m->bytes < end) {
        m->bytes = end;
    }
    if (m->bytes - end <= BYTES_MAX) {
        return 0;
    }
    rc = av_interleaved_write_frame(m->format, NULL);
    m->bytes = written(m);
    return rc;
}

static bool write_packet(struct mux *m, AVPacket *p, char *why) {
    struct mux_stream *s = &m->stream[p->stream_index];
    int rc;
    if (!s->out || !mux_stream_fix_times(s, p)) {
        av_packet_unref(p);
        return true;
    }
    m->kept = true;
    av_packet_rescale_ts(p, NS, s->out->time_base);
    p->stream_index = s->out->index;
    libav_log_forget();
    rc = av_interleaved_write_frame(m->format, p);
    rc = rc >= 0 ? write_waiting(m) : rc;
    return (rc >= 0 || mux_complain(why, "cannot be written", rc)) &&
           is_readable(m, why);
}

static bool flush_backlog(struct mux *m, char *why) {
    bool ok = true;
    for (size_t i = 0; i < m->waiting; i++) {
        ok = ok && write_packet(m, m->backlog[i], why);
        av_packet_free(&m->backlog[i]);
    }
    m->waiting = 0;
    return ok;
}

/* Whether a file that begins now gets the stream. One that still waits for its
 * headers could end the file; if all do, the container decides. */
static bool would_have(const struct mux *m, const struct mux_stream *s) {
    bool any = false;
    for (unsigned i = 0; i < MUX_STREAMS_MAX; i++) {
        any = any || m->stream[i].ready;
    }
    return s->par && (s->ready || !any);
}

static bool add_streams(struct mux *m) {
    for (unsigned i = 0; i < MUX_STREAMS_MAX; i++) {
        struct mux_stream *s = &m->stream[i];
        if (would_have(m, s) && !mux_stream_begin(s, m->format)) {
            return false;
        }
    }
    return true;
}

unsigned mux_missing(const struct mux *m) {
    unsigned missing = 0;
    if (!m->begun && m->waiting == 0) {
        return 0; /* there is no file */
    }
    for (unsigned i = 0; i < MUX_STREAMS_MAX; i++) {
        const struct mux_stream *s = &m->stream[i];
        bool has = m->begun ? s->out != NULL : would_have(m, s);
        missing += !has && (s->par || s->late);
    }
    return missing;
}

static bool start(struct mux *m, char *why) {
    int rc = 0;
    m->begun = true;
    libav_log_forget();
    if (!add_streams(m)) {
        (void)snprintf(why, MUX_WHY_MAX, "out of memory");
        return false;
    }
    if (!(m->format->oformat->flags & AVFMT_NOFILE)) {
        rc = avio_open(&m->format->pb, m->format->url, AVIO_FLAG_WRITE);
    }
    if (rc < 0) {
        return mux_complain(why, "cannot be opened", rc);
    }
    /* what is experimental is better than no recording */
    m->format->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    rc = avformat_write_header(m->format, NULL);
    if (rc < 0) {
        return mux_complain(why, "the container cannot hold these streams", rc);
    }
    m->started = true;
    return is_readable(m, why) && flush_backlog(m, why);
}

static AVPacket *make_packet(const media_header *h, const uint8_t *data) {
    AVPacket *p = av_packet_alloc();
    if (!p || av_new_packet(p, (int)h->length) < 0) {
        av_packet_free(&p);
        return NULL;
    }
    memcpy(p->data, data, h->length);
    p->stream_index = h->stream;
    p->pts = h->pts == MEDIA_TIME_NONE ? AV_NOPTS_VALUE : h->pts;
    p->dts = h->dts == MEDIA_TIME_NONE ? AV_NOPTS_VALUE : h->dts;
    p->duration = h->duration == MEDIA_TIME_NONE ? 0 : h->duration;
    if (h->frame_class == MEDIA_CLASS_KEY ||
        h->frame_class == MEDIA_CLASS_AUDIO) {
        p->flags |= AV_PKT_FLAG_KEY;
    }
    if (h->flags & MEDIA_FLAG_CORRUPTED) {
        p->flags |= AV_PKT_FLAG_CORRUPT;
    }
    return p;
}

/* Holds frames back until every stream is described and the header can be
 * written. When too many wait, the file begins without the streams that are not
 * ready. */
static bool hold(struct mux *m, AVPacket *p, char *why) {
    m->backlog[m->waiting++] = p;
    if (m->waiting == BACKLOG_MAX || m->bytes > BYTES_MAX || is_complete(m)) {
        return start(m, why);
    }
    return true;
}

bool mux_write(struct mux *m, const media_header *h, const uint8_t *data,
               char *why) {
    struct mux_stream *s = find(m, h->stream);
    AVPacket *p;
    bool ok;
    if (!s || !s->par || (m->begun && !s->out) || h->length == 0) {
        return true; /* it was never described, or the file has none such */
    }
    p = make_packet(h, data);
    if (!p || !mux_stream_filter(s, p)) {
        av_packet_free(&p);
        (void)snprintf(why, MUX_WHY_MAX, "out of memory");
        return false;
    }
    if (p->size == 0) {
        m->left_out = true;
        av_packet_free(&p);
        return true;
    }
    m->bytes += h->length > FRAME_BYTES_MIN ? h->length : FRAME_BYTES_MIN;
    if (!m->begun) {
        return hold(m, p, why);
    }
    ok = write_packet(m, p, why);
    av_packet_free(&p);
    return ok;
}

/* A file may be removed while it is written; nobody else would notice. */
static bool is_there(const char *path, char *why) {
    bool there = strchr(path, ':') != NULL /* a protocol of FFmpeg */ ||
                 access(path, F_OK) == 0 || errno != ENOENT;
    if (!there) {
        (void)snprintf(why, MUX_WHY_MAX, "was removed while it was written");
    }
    return there;
}

static bool complete(struct mux *m, char *why) {
    bool ok = true;
    int rc;
    libav_log_forget();
    if (m->started) {
        rc = av_write_trailer(m->format);
        ok = rc >= 0 || mux_complain(why, "cannot be completed", rc);
    }
    if (m->format->pb && !(m->format->oformat->flags & AVFMT_NOFILE)) {
        rc = avio_closep(&m->format->pb);
        ok = (rc >= 0 || mux_complain(why, "cannot be completed", rc)) && ok;
        ok = ok && is_there(m->format->url, why);
    }
    return ok;
}

bool mux_close(struct mux *m, char *why) {
    bool ok = true;
    if (!m) {
        return true;
    }
    if (!m->begun && m->waiting > 0) {
        ok = start(m, why);
    } else if (m->begun && !m->started) {
        (void)snprintf(why, MUX_WHY_MAX, "its header could not be written");
        ok = false;
    } else if (!m->started && m->left_out) {
        (void)snprintf(why, MUX_WHY_MAX, "no frame has what a container needs");
        ok = false;
    }
    if (ok && m->started && !m->kept) {
        (void)snprintf(why, MUX_WHY_MAX, "no frame has what a container needs");
        ok = false;
    }
    ok = complete(m, why) && ok;
    for (size_t i = 0; i < m->waiting; i++) {
        av_packet_free(&m->backlog[i]);
    }
    for (unsigned i = 0; i < MUX_STREAMS_MAX; i++) {
        mux_stream_free(&m->stream[i]);
    }
    avformat_free_context(m->format);
    free(m);
    return ok;
}

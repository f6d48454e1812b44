/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The protocol tltcp of FFmpeg: a file of libavformat, put there by `apply`.
 */
#include <tltcp/live.h>

#include "avformat.h"
#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/opt.h"
#include "libavutil/time.h"
#include "url.h"

/* Seven packets of a transport stream, as other protocols send. */
#define BLOCK 1316
/* How long a call waits before FFmpeg looks whether to go on, in ms. */
#define SLICE 100
/* How long the end waits for what was written, in ms. */
#define LINGER 5000
#define LINE 512

typedef struct TltcpContext {
    const AVClass *class;
    tltcp_live *live;
    int lossless; /* without deadlines a write waits for room */
    int ended;    /* FFmpeg reads on, and would wait for another caller */
    char *latency;
    char *passphrase;
    char *streamid;
    char *mode;
    char *congestion;
    char *max_rate;
    char *deadline_mode;
    char *idle_timeout;
    char *connect_timeout;
} TltcpContext;

#define OFFSET(field) offsetof(TltcpContext, field)
#define RD AV_OPT_FLAG_DECODING_PARAM
#define WR AV_OPT_FLAG_ENCODING_PARAM
#define TEXT(name, help, field, flags)                                      \
    {                                                                       \
        name, help, OFFSET(field), AV_OPT_TYPE_STRING, {.str = NULL}, 0, 0, \
            flags                                                           \
    }

static const AVOption tltcp_options[] = {
    TEXT("latency", "how long after its time a frame is of use, in ms", latency,
         RD | WR),
    TEXT("passphrase", "shared secret", passphrase, RD | WR),
    TEXT("tltcp-streamid", "what is asked for", streamid, RD | WR),
    TEXT("mode", "caller or listener", mode, RD | WR),
    TEXT("congestion-control", "name of a controller", congestion, RD | WR),
    TEXT("max-send-bitrate", "bit/s at most, such as 4mbit", max_rate, WR),
    TEXT("deadline-mode", "pts, gop, constant or none", deadline_mode, WR),
    TEXT("idle-timeout", "silence after which the peer is gone, in ms",
         idle_timeout, RD | WR),
    TEXT("connect-timeout", "how long to call, in ms", connect_timeout,
         RD | WR),
    {NULL}};

static const AVClass tltcp_class = {
    .class_name = "tltcp",
    .item_name = av_default_item_name,
    .option = tltcp_options,
    .version = LIBAVUTIL_VERSION_INT,
};

static int tltcp_averror(int error) {
    switch (error) {
    case TLTCP_ERR_NOMEM:
        return AVERROR(ENOMEM);
    case TLTCP_ERR_REFUSED:
    case TLTCP_ERR_LIMIT:
    case TLTCP_ERR_VERSION:
        return AVERROR(ECONNREFUSED);
    case TLTCP_ERR_AUTH:
        return AVERROR(EACCES);
    case TLTCP_ERR_TIMEOUT:
        return AVERROR(ETIMEDOUT);
    case TLTCP_ERR_ADDRESS:
        return AVERROR(EADDRNOTAVAIL);
    case TLTCP_ERR_IN_USE:
        return AVERROR(EADDRINUSE);
    case TLTCP_ERR_INVAL:
    case TLTCP_ERR_ALGORITHM:
    case TLTCP_ERR_UNSUPPORTED:
        return AVERROR(EINVAL);
    case TLTCP_ERR_PROTOCOL:
        return AVERROR_INVALIDDATA;
    case TLTCP_ERR_ABORTED:
        return AVERROR(ECONNRESET);
    default:
        return AVERROR(EIO);
    }
}

/* ---- Opening ---- */

/* ffmpeg has an option streamid of its own. */
static const char *tltcp_key(const AVOption *a) {
    const char *key = a->name;
    av_strstart(key, "tltcp-", &key);
    return key;
}

static int tltcp_set_options(TltcpContext *t, tltcp_live_options *o,
                             char *why) {
    char wrong[TLTCP_LIVE_WHY_MAX];
    for (const AVOption *a = tltcp_options; a->name; a++) {
        const char *value = *(char **)((char *)t + a->offset);
        if (value &&
            tltcp_live_options_set(o, tltcp_key(a), value, wrong) < 0) {
            snprintf(why, TLTCP_LIVE_WHY_MAX, "%s: must be %.300s", a->name,
                     wrong);
            return TLTCP_ERR_INVAL;
        }
    }
    return 0;
}

/* The end of the sender is the end of the file unless the URL wants more. */
static int tltcp_make(URLContext *h, const char *url, int flags, char *why) {
    TltcpContext *t = h->priv_data;
    int direction =
        flags & AVIO_FLAG_WRITE ? TLTCP_LIVE_SEND : TLTCP_LIVE_RECEIVE;
    tltcp_live_options *o = tltcp_live_options_new();
    tltcp_live_settings *s;
    int rc;
    if (!o) {
        return TLTCP_ERR_NOMEM;
    }
    s = tltcp_live_options_settings(o);
    s->reconnect = false;
    rc = tltcp_live_options_set_url(o, url, why);
    if (rc == 0) {
        rc = tltcp_set_options(t, o, why);
    }
    if (rc == 0) {
        t->lossless = s->deadline_mode == TLTCP_LIVE_DEADLINE_NONE;
        rc = tltcp_live_open(&t->live, direction, o, why);
    }
    if (rc < 0) {
        tltcp_live_options_free(o);
    }
    return rc;
}

/* Puts events into the log; the error of the last that was final. */
static int tltcp_report(URLContext *h, int timeout, int *connected) {
    TltcpContext *t = h->priv_data;
    tltcp_live_event ev;
    int error = 0;
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(t->live, &ev, timeout) == 1) {
        timeout = 0;
        if (ev.type == TLTCP_LIVE_EVENT_CONNECTED) {
            *connected = 1;
        } else if ((ev.type == TLTCP_LIVE_EVENT_REFUSED ||
                    ev.type == TLTCP_LIVE_EVENT_DISCONNECTED) &&
                   ev.error) {
            av_log(h, ev.final ? AV_LOG_ERROR : AV_LOG_WARNING, "%s%s%s%s\n",
                   tltcp_strerror(ev.error), ev.reason[0] ? ": " : "",
                   ev.reason, ev.final ? "" : "; trying again");
            error = ev.final ? ev.error : error;
        }
    }
    return error;
}

/* What is written before there is a connection would be lost. */
static int tltcp_await(URLContext *h) {
    int64_t begin = av_gettime_relative();
    int connected = 0;
    int error = 0;
    while (!connected && error == 0) {
        error = tltcp_report(h, SLICE, &connected);
        if (ff_check_interrupt(&h->interrupt_callback)) {
            return AVERROR_EXIT;
        }
        if (h->rw_timeout > 0 &&
            av_gettime_relative() - begin > h->rw_timeout) {
            return AVERROR(ETIMEDOUT);
        }
    }
    return connected ? 0 : tltcp_averror(error);
}

/* Waits for what was written: for ever where nothing may be lost. */
static void tltcp_finish(URLContext *h) {
    TltcpContext *t = h->priv_data;
    int connected = 0;
    int rc = TLTCP_ERR_TIMEOUT;
    for (int ms = 0; rc == TLTCP_ERR_TIMEOUT && (t->lossless || ms < LINGER);
         ms += SLICE) {
        rc = tltcp_live_finish(t->live, SLICE);
        if (ff_check_interrupt(&h->interrupt_callback)) {
            break;
        }
    }
    tltcp_report(h, 0, &connected);
}

static int tltcp_close_url(URLContext *h) {
    TltcpContext *t = h->priv_data;
    if (t->live && h->flags & AVIO_FLAG_WRITE) {
        tltcp_finish(h);
        tltcp_live_close(t->live, LINGER);
    } else {
        tltcp_live_close(t->live, 0);
    }
    t->live = NULL;
    return 0;
}

static int tltcp_open_url(URLContext *h, const char *url, int flags) {
    char why[TLTCP_LIVE_WHY_MAX] = "";
    int rc = tltcp_make(h, url, flags, why);
    if (rc < 0) {
        av_log(h, AV_LOG_ERROR, "%s\n", why[0] ? why : tltcp_strerror(rc));
        return tltcp_averror(rc);
    }
    h->is_streamed = 1;
    h->max_packet_size = BLOCK;
    if (flags & AVIO_FLAG_WRITE) {
        rc = tltcp_await(h);
    }
    if (rc < 0) {
        tltcp_close_url(h);
    }
    return rc;
}

/* ---- Reading and writing ---- */

static int tltcp_read(URLContext *h, unsigned char *data, int len) {
    TltcpContext *t = h->priv_data;
    int connected = 0;
    int wait = h->flags & AVIO_FLAG_NONBLOCK ? 0 : SLICE;
    ssize_t n =
        t->ended ? 0 : tltcp_live_read_ts(t->live, data, (size_t)len, wait);
    tltcp_report(h, 0, &connected);
    if (n > 0) {
        return (int)n;
    }
    if (n == TLTCP_ERR_AGAIN) {
        return AVERROR(EAGAIN);
    }
    t->ended = 1;
    if (n == TLTCP_ERR_PROTOCOL) {
        av_log(h, AV_LOG_ERROR,
               "the sender sends single streams, not a transport stream; put "
               "mpegtsmux before its tltcpsink\n");
    }
    return n == 0 || n == TLTCP_ERR_CLOSED ? AVERROR_EOF
                                           : tltcp_averror((int)n);
}

static int tltcp_write(URLContext *h, const unsigned char *data, int len) {
    TltcpContext *t = h->priv_data;
    int nonblock = h->flags & AVIO_FLAG_NONBLOCK;
    int connected = 0;
    int rc = 0;
    if (t->lossless || nonblock) {
        rc = tltcp_live_wait_room(t->live, len, nonblock ? 0 : SLICE);
        if (rc == TLTCP_ERR_AGAIN) {
            return AVERROR(EAGAIN);
        }
    }
    if (rc == 0) {
        rc = tltcp_live_write_ts(t->live, data, len, -1);
    }
    tltcp_report(h, 0, &connected);
    if (rc == 0 || rc == TLTCP_ERR_AGAIN) {
        return len; /* what found no room before its deadline is given up */
    }
    return rc == TLTCP_ERR_CLOSED ? AVERROR(EPIPE) : tltcp_averror(rc);
}

const URLProtocol ff_tltcp_protocol = {
    .name = "tltcp",
    .url_open = tltcp_open_url,
    .url_read = tltcp_read,
    .url_write = tltcp_write,
    .url_close = tltcp_close_url,
    .priv_data_size = sizeof(TltcpContext),
    .priv_data_class = &tltcp_class,
    .flags = URL_PROTOCOL_FLAG_NETWORK,
};

/* SPDX-License-Identifier: MPL-2.0 */
/* An AVIOContext over a TLTCP connection. */
#include "tltcp/avio.h"

#include <errno.h>
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "tltcp/live.h"

#define BLOCK 1316 /* seven packets of a transport stream */
#define LATENCY_MAX 3600000
#define GRACE_MS 1000
#define QUEUE_MAX 8000000 /* bytes; above this limit a write waits */

static int write_packet(void *opaque,
#if LIBAVFORMAT_VERSION_MAJOR >= 61
                        const uint8_t *data,
#else
                        uint8_t *data,
#endif
                        int len) {
    int rc = tltcp_live_write_ts(opaque, data, (size_t)len, INT_MAX);
    if (rc == 0 || rc == TLTCP_ERR_AGAIN) {
        return len; /* data without room is given up and counted */
    }
    return rc == TLTCP_ERR_NOMEM ? AVERROR(ENOMEM) : AVERROR(EPIPE);
}

static int read_packet(void *opaque, uint8_t *data, int len) {
    ssize_t n = tltcp_live_read_ts(opaque, data, (size_t)len, -1);
    switch (n) {
    case 0:
    case TLTCP_ERR_CLOSED:
        return AVERROR_EOF;
    case TLTCP_ERR_NOMEM:
        return AVERROR(ENOMEM);
    case TLTCP_ERR_PROTOCOL:
        return AVERROR_INVALIDDATA;
    default:
        return n > 0 ? (int)n : AVERROR(EIO);
    }
}

static AVIOContext *context_of(tltcp_live *l, bool writes) {
    unsigned char *buffer = av_malloc(BLOCK);
    AVIOContext *context =
        buffer ? avio_alloc_context(buffer, BLOCK, writes, l,
                                    writes ? NULL : read_packet,
                                    writes ? write_packet : NULL, NULL)
               : NULL;
    if (!context) {
        av_free(buffer);
        tltcp_live_close(l, 0);
        return NULL;
    }
    context->seekable = 0;
    context->max_packet_size = writes ? BLOCK : 0;
    return context;
}

AVIOContext *tltcp_avio_writer(tltcp_socket *s, uint32_t latency_ms) {
    bool ok = s && latency_ms > 0 && latency_ms <= LATENCY_MAX;
    tltcp_live_options *o = ok ? tltcp_live_options_new() : NULL;
    tltcp_live_settings *settings;
    tltcp_live *l;
    if (!o) {
        (void)tltcp_close(s, 0);
        return NULL;
    }
    settings = tltcp_live_options_settings(o);
    settings->latency_ms = latency_ms;
    settings->grace_ms = GRACE_MS;
    settings->queue_bytes = QUEUE_MAX;
    return tltcp_live_open_socket(&l, TLTCP_LIVE_SEND, s, o) == 0
               ? context_of(l, true)
               : NULL;
}

AVIOContext *tltcp_avio_reader(tltcp_socket *s) {
    tltcp_live *l;
    return s && tltcp_live_open_socket(&l, TLTCP_LIVE_RECEIVE, s, NULL) == 0
               ? context_of(l, false)
               : NULL;
}

int tltcp_avio_close(AVIOContext **context, int linger_ms) {
    AVIOContext *c = context ? *context : NULL;
    int rc = 0;
    if (!c) {
        return 0;
    }
    avio_flush(c);
    if (c->write_packet) {
        rc = tltcp_live_finish(c->opaque, linger_ms);
    }
    tltcp_live_close(c->opaque, linger_ms);
    av_freep(&c->buffer);
    avio_context_free(context);
    return rc == TLTCP_ERR_TIMEOUT || rc == 0 ? rc : TLTCP_ERR_CLOSED;
}

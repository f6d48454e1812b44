/* SPDX-License-Identifier: MPL-2.0 */
#include "tltcp/avio.h"

#include <errno.h>
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "libtltcp/live/tsdrain.h"
#include "libtltcp/live/tsfeed.h"

#define BLOCK ((size_t)7 * MEDIA_TS_PACKET)
#define LATENCY_MAX 3600000
#define GRACE_MS 1000
#define QUEUE_MAX 8000000 /* bytes; a write waits beyond it */
#define LOOK_MS 200
#define NS_PER_MS UINT64_C(1000000)

/* What a context is over; exactly one of both sides is in use. */
struct side {
    bool writes;
    tltcp_socket *socket; /* reader; a writer's is its feed's */

    struct tsdrain drain;
    uint8_t *bytes; /* read, not yet taken */
    size_t len;
    size_t taken;
    size_t cap;
    bool failed; /* out of memory */

    /* The writer's fields are under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the queue is shorter, or all is over */
    pthread_t thread;
    bool running;
    bool stop;
    int wake; /* eventfd: there is something to send */
    struct feed feed;
    struct tsfeed stream;
};

/* --- Writing -------------------------------------------------------------- */

static void wake(const struct side *w) {
    const uint64_t one = 1;
    (void)!write(w->wake, &one, sizeof(one));
}

/* Sends what is queued whenever the connection can take it. */
static void *send_queue(void *user) {
    struct side *w = user;
    struct pollfd fds[1 + FEED_FDS] = {{.fd = w->wake, .events = POLLIN}};
    uint64_t count;
    (void)pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        nfds_t n = 1;
        feed_run(&w->feed);
        (void)pthread_cond_broadcast(&w->changed);
        if (!w->feed.closed) {
            n += feed_poll(&w->feed, fds + 1);
        }
        (void)pthread_mutex_unlock(&w->lock);
        (void)poll(fds, n, LOOK_MS);
        if (fds[0].revents) {
            (void)!read(w->wake, &count, sizeof(count));
        }
        (void)pthread_mutex_lock(&w->lock);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int write_packet(void *opaque,
#if LIBAVFORMAT_VERSION_MAJOR >= 61
                        const uint8_t *data,
#else
                        uint8_t *data,
#endif
                        int len) {
    struct side *w = opaque;
    int rc = len;
    (void)pthread_mutex_lock(&w->lock);
    while (!w->feed.closed && feed_bytes(&w->feed) > QUEUE_MAX) {
        (void)pthread_cond_wait(&w->changed, &w->lock);
    }
    if (w->feed.closed) {
        rc = AVERROR(EPIPE);
    } else if (!tsfeed_push(&w->stream, data, (size_t)len, tltcp_now())) {
        rc = AVERROR(ENOMEM);
    }
    (void)pthread_mutex_unlock(&w->lock);
    wake(w);
    return rc;
}

static bool start_writer(struct side *w, tltcp_socket *s, uint32_t latency_ms) {
    const struct feed_settings settings = {.deadline_mode = MEDIA_DEADLINE_PTS,
                                           .latency_ms = latency_ms,
                                           .grace_ms = GRACE_MS};
    w->writes = true;
    w->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (feed_init(&w->feed, &settings) != 0) {
        (void)tltcp_close(s, 0);
        return false;
    }
    feed_start(&w->feed, s);
    if (w->wake < 0 || !tsfeed_init(&w->stream)) {
        return false;
    }
    tsfeed_attach(&w->stream, &w->feed);
    w->running = pthread_create(&w->thread, NULL, send_queue, w) == 0;
    return w->running;
}

/* Waits until the queue is empty, the connection is over or the time is. */
static void drain_queue(struct side *w, uint64_t until) {
    struct timespec t;
    while (!w->feed.closed && tltcp_now() < until && feed_bytes(&w->feed) > 0) {
        (void)clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += (long)(LOOK_MS * NS_PER_MS);
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&w->changed, &w->lock, &t);
    }
}

static int stop_writer(struct side *w, int linger_ms) {
    uint64_t patience = linger_ms < 0 ? w->feed.settings.latency_ms + GRACE_MS
                                      : (uint64_t)linger_ms;
    int rc = 0;
    if (w->running) {
        (void)pthread_mutex_lock(&w->lock);
        tsfeed_flush(&w->stream);
        wake(w);
        drain_queue(w, tltcp_now() + patience * NS_PER_MS);
        w->stop = true;
        (void)pthread_mutex_unlock(&w->lock);
        wake(w);
        (void)pthread_join(w->thread, NULL);
    }
    if (w->feed.socket) {
        bool left = !w->feed.closed && feed_bytes(&w->feed) > 0;
        rc = w->feed.closed ? TLTCP_ERR_CLOSED : left ? TLTCP_ERR_TIMEOUT : 0;
        feed_finish(&w->feed);
        left = feed_close(&w->feed, linger_ms) == TLTCP_ERR_TIMEOUT;
        rc = rc == 0 && left ? TLTCP_ERR_TIMEOUT : rc;
    }
    (void)feed_free(&w->feed);
    tsfeed_free(&w->stream);
    if (w->wake >= 0) {
        (void)close(w->wake);
    }
    return rc;
}

/* --- Reading -------------------------------------------------------------- */

static void on_bytes(void *user, const struct tsdrain_bytes *b) {
    struct side *r = user;
    if (r->len + b->len > r->cap) {
        size_t cap = (r->len + b->len) * 2;
        uint8_t *grown = realloc(r->bytes, cap);
        if (!grown) {
            r->failed = true;
            return;
        }
        r->bytes = grown;
        r->cap = cap;
    }
    memcpy(r->bytes + r->len, b->data, b->len);
    r->len += b->len;
}

static int read_packet(void *opaque, uint8_t *data, int len) {
    struct side *r = opaque;
    size_t n;
    while (r->taken == r->len) {
        ssize_t rc;
        r->taken = r->len = 0;
        rc = tsdrain_read(&r->drain, r->socket, 0);
        if (r->failed || rc == TLTCP_ERR_NOMEM) {
            return AVERROR(ENOMEM);
        }
        if (r->drain.why[0]) {
            return AVERROR_INVALIDDATA;
        }
        if (rc <= 0 && r->len == 0) {
            return rc == 0 || rc == TLTCP_ERR_CLOSED ? AVERROR_EOF
                                                     : AVERROR(EIO);
        }
    }
    n = r->len - r->taken;
    n = n < (size_t)len ? n : (size_t)len;
    memcpy(data, r->bytes + r->taken, n);
    r->taken += n;
    return (int)n;
}

/* --- Both ----------------------------------------------------------------- */

static int end_side(struct side *a, int linger_ms) {
    int rc = 0;
    if (a->writes) {
        rc = stop_writer(a, linger_ms);
    } else {
        if (a->drain.drain.buffer) {
            tsdrain_end(&a->drain);
        }
        (void)tltcp_close(a->socket, linger_ms);
    }
    (void)pthread_cond_destroy(&a->changed);
    (void)pthread_mutex_destroy(&a->lock);
    free(a->bytes);
    free(a);
    return rc;
}

static struct side *new_side(void) {
    struct side *a = calloc(1, sizeof(*a));
    if (a) {
        a->wake = -1;
        (void)pthread_mutex_init(&a->lock, NULL);
        (void)pthread_cond_init(&a->changed, NULL);
    }
    return a;
}

static AVIOContext *context_of(struct side *a) {
    unsigned char *buffer = av_malloc(BLOCK);
    AVIOContext *context =
        buffer ? avio_alloc_context(buffer, BLOCK, a->writes, a,
                                    a->writes ? NULL : read_packet,
                                    a->writes ? write_packet : NULL, NULL)
               : NULL;
    if (!context) {
        av_free(buffer);
        (void)end_side(a, 0);
        return NULL;
    }
    context->seekable = 0;
    context->max_packet_size = a->writes ? BLOCK : 0;
    return context;
}

AVIOContext *tltcp_avio_writer(tltcp_socket *s, uint32_t latency_ms) {
    bool ok = s && latency_ms > 0 && latency_ms <= LATENCY_MAX;
    struct side *a = ok ? new_side() : NULL;
    if (!a) {
        (void)tltcp_close(s, 0);
        return NULL;
    }
    if (!start_writer(a, s, latency_ms)) {
        (void)end_side(a, 0);
        return NULL;
    }
    return context_of(a);
}

AVIOContext *tltcp_avio_reader(tltcp_socket *s) {
    struct side *a = s ? new_side() : NULL;
    if (!a) {
        (void)tltcp_close(s, 0);
        return NULL;
    }
    a->socket = s;
    if (!tsdrain_init(&a->drain, on_bytes, a)) {
        (void)end_side(a, 0);
        return NULL;
    }
    return context_of(a);
}

int tltcp_avio_close(AVIOContext **context, int linger_ms) {
    AVIOContext *c = context ? *context : NULL;
    int rc;
    if (!c) {
        return 0;
    }
    avio_flush(c);
    rc = end_side(c->opaque, linger_ms);
    av_freep(&c->buffer);
    avio_context_free(context);
    return rc;
}

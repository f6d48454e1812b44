/* SPDX-License-Identifier: MPL-2.0 */
/* A TCP connection that carries datagrams. */
#include "libtltcp/tcp/pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libtltcp/tcp/frames.h"
#include "libtltcp/tcp/stream_socket.h"

#if defined(__linux__)
#include <linux/sockios.h>
#endif

/* One burst: some packets, so that a slow path has little of it to send. */
#define BURST ((size_t)6 * 1024)
/* Bytes that the kernel has not sent: from this number on it takes no more. It
 * takes more again below half of it. */
#define UNSENT 8192
/* Limit on all bytes in the kernel, where unsent ones cannot be limited. */
#define SEND_BUFFER (128 * 1024)
#define INPUT ((size_t)64 * 1024)
#define READS 4 /* per wake-up, so that others have their turn */
/* For the rest of the data, and for the peer to close. */
#define GRACE_MS 500

enum pipe_state { PIPE_CONNECTING, PIPE_OPEN, PIPE_CLOSING, PIPE_CLOSED };

struct tltcp__pipe {
    uv_poll_t poll;
    uv_timer_t limit;
    int fd;
    int events; /* polled for */
    enum pipe_state state;
    unsigned handles; /* of libuv, not yet closed */
    bool blocked;
    bool ended; /* nothing more to be read or written */
    tltcp__pipe_ops ops;
    void *owner;
    tltcp__deframer in;
    size_t burst;   /* bytes of a burst */
    uint8_t *out;   /* room for a burst, then its frames; NULL: nothing waits */
    size_t out_at;  /* of the first byte not sent */
    size_t out_end; /* of the last one */
};

/* --- Socket options ------------------------------------------------------ */

static void pipe_set(int fd, int level, int name, int value) {
    (void)setsockopt(fd, level, name, &value, sizeof(value));
}

static void pipe_tune(int fd, unsigned dscp) {
    pipe_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
#if defined(TCP_NOTSENT_LOWAT)
    pipe_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT);
#else
    pipe_set(fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER);
#endif
#if defined(SO_NOSIGPIPE)
    pipe_set(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
    if (dscp > 0) {
        pipe_set(fd, IPPROTO_IP, IP_TOS, (int)dscp << 2);
        pipe_set(fd, IPPROTO_IPV6, IPV6_TCLASS, (int)dscp << 2);
    }
}

/* Whether the kernel has enough to send. It fills up its last buffer beyond
 * TCP_NOTSENT_LOWAT, so ask. */
static bool pipe_is_full(int fd) {
#if defined(__linux__) && defined(SIOCOUTQNSD)
    int unsent = 0;

    return ioctl(fd, SIOCOUTQNSD, &unsent) == 0 && unsent >= UNSENT / 2;
#else
    (void)fd;
    return false;
#endif
}

/* --- Polling ------------------------------------------------------------- */

static void pipe_on_poll(uv_poll_t *poll, int status, int events);

static void pipe_poll(tltcp__pipe *p) {
    bool writes = p->state == PIPE_CONNECTING || p->blocked;
    int events = UV_READABLE | (writes ? UV_WRITABLE : 0);

    if (p->ended || p->state == PIPE_CLOSED) {
        events = 0;
    }
    if (events == p->events) {
        return;
    }
    p->events = events;
    if (events == 0) {
        (void)uv_poll_stop(&p->poll);
    } else {
        (void)uv_poll_start(&p->poll, events, pipe_on_poll);
    }
}

static void pipe_on_handle_closed(uv_handle_t *handle) {
    tltcp__pipe *p = handle->data;

    if (--p->handles > 0) {
        return;
    }
    (void)close(p->fd);
    tltcp__deframer_free(&p->in);
    free(p->out);
    free(p);
}

/* Frees it when libuv has closed the handles. */
static void pipe_free(tltcp__pipe *p) {
    if (p->state != PIPE_CLOSED) {
        p->state = PIPE_CLOSED;
        uv_close((uv_handle_t *)&p->poll, pipe_on_handle_closed);
        uv_close((uv_handle_t *)&p->limit, pipe_on_handle_closed);
    }
}

static void pipe_end(tltcp__pipe *p, int status) {
    if (p->state == PIPE_CLOSING) {
        pipe_free(p);
        return;
    }
    p->ended = true;
    pipe_poll(p);
    p->ops.on_end(p->owner, status);
}

static void pipe_on_limit(uv_timer_t *timer) {
    pipe_end(timer->data, UV_ETIMEDOUT);
}

void tltcp__pipe_limit(tltcp__pipe *p, uint64_t ms) {
    if (ms > 0) {
        (void)uv_timer_start(&p->limit, pipe_on_limit, ms, 0);
    } else {
        (void)uv_timer_stop(&p->limit);
    }
}

/* --- Out ----------------------------------------------------------------- */

/* Returns 0, UV_EAGAIN or another UV_E... */
static int pipe_write(tltcp__pipe *p) {
    while (p->out_at < p->out_end) {
        ssize_t n = send(p->fd, p->out + p->out_at, p->out_end - p->out_at,
                         TLTCP__NO_SIGPIPE);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK
                       ? UV_EAGAIN
                       : uv_translate_sys_error(errno);
        }
        p->out_at += (size_t)n;
    }
    free(p->out);
    p->out = NULL;
    p->out_at = 0;
    p->out_end = 0;
    return 0;
}

/* A connection that fails is noticed when it is read. */
static void pipe_flush(tltcp__pipe *p) {
    int rv = pipe_write(p);

    p->blocked = rv != 0 || pipe_is_full(p->fd);
    pipe_poll(p);
}

static bool pipe_reserve(tltcp__pipe *p) {
    if (p->out == NULL) {
        p->out =
            malloc(p->burst + tltcp__frames_size(p->burst, TLTCP__FRAME_MIN));
        p->out_at = 0;
        p->out_end = 0;
    }
    return p->out != NULL;
}

uint8_t *tltcp__pipe_room(tltcp__pipe *p, size_t *cap) {
    if (p->state != PIPE_OPEN || p->ended || p->blocked || !pipe_reserve(p)) {
        return NULL;
    }
    *cap = p->burst;
    return p->out;
}

void tltcp__pipe_send(tltcp__pipe *p, size_t len, size_t segment) {
    p->out_at = p->burst; /* the frames lie behind the burst */
    p->out_end =
        p->burst + tltcp__frames_put(p->out + p->burst, p->out, len, segment);
    pipe_flush(p);
}

static void pipe_send_preface(tltcp__pipe *p) {
    if (pipe_reserve(p)) {
        memcpy(p->out, tltcp__preface, TLTCP__PREFACE_LEN);
        p->out_at = 0;
        p->out_end = TLTCP__PREFACE_LEN;
        pipe_flush(p);
    }
}

static void pipe_on_writable(tltcp__pipe *p) {
    int rv = pipe_write(p);

    if (rv != 0) {
        return;
    }
    p->blocked = false;
    pipe_poll(p);
    if (p->state == PIPE_CLOSING) {
        (void)shutdown(p->fd, SHUT_WR);
    } else {
        p->ops.on_writable(p->owner);
    }
}

/* --- In ------------------------------------------------------------------ */

int tltcp__pipe_next(tltcp__pipe *p, const uint8_t **dgram, size_t *len) {
    return tltcp__deframer_next(&p->in, dgram, len);
}

static void pipe_on_readable(tltcp__pipe *p) {
    uint8_t in[INPUT];

    for (int i = 0; i < READS && !p->ended && p->state != PIPE_CLOSED; i++) {
        ssize_t n = recv(p->fd, in, sizeof(in), 0);

        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            return;
        }
        if (n <= 0) {
            pipe_end(p, n == 0 ? UV_EOF : uv_translate_sys_error(errno));
            return;
        }
        if (p->state == PIPE_OPEN) { /* else it is discarded */
            tltcp__deframer_put(&p->in, in, (size_t)n);
            p->ops.on_input(p->owner);
        }
        if ((size_t)n < sizeof(in)) {
            return;
        }
    }
}

/* UV_E..., or 0. */
static int pipe_error(const tltcp__pipe *p) {
    int error = 0;
    socklen_t len = sizeof(error);

    (void)getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    return error != 0 ? uv_translate_sys_error(error) : 0;
}

static void pipe_on_connected(tltcp__pipe *p) {
    int error = pipe_error(p);

    if (error != 0) {
        pipe_end(p, error);
        return;
    }
    p->state = PIPE_OPEN;
    pipe_poll(p);
    pipe_send_preface(p);
    p->ops.on_open(p->owner);
}

/* What arrived before the failure is still to be read. */
static void pipe_on_failure(tltcp__pipe *p) {
    p->events = 0; /* libuv has stopped */
    if (p->state == PIPE_CONNECTING) {
        int error = pipe_error(p);

        pipe_end(p, error != 0 ? error : UV_ECONNREFUSED);
        return;
    }
    pipe_on_readable(p);
    if (!p->ended && p->state != PIPE_CLOSED) {
        pipe_end(p, UV_ECONNRESET);
    }
}

static void pipe_on_poll(uv_poll_t *poll, int status, int events) {
    tltcp__pipe *p = poll->data;

    if (status < 0) {
        pipe_on_failure(p);
    } else if (p->state == PIPE_CONNECTING) {
        pipe_on_connected(p);
    } else {
        if ((events & UV_WRITABLE) != 0) {
            pipe_on_writable(p);
        }
        if ((events & UV_READABLE) != 0 && p->state != PIPE_CLOSED) {
            pipe_on_readable(p);
        }
    }
}

/* --- Beginning and end --------------------------------------------------- */

static int pipe_new(tltcp__pipe **out, uv_loop_t *loop, int fd,
                    enum pipe_state state, const tltcp__pipe_options *o) {
    tltcp__pipe *p = calloc(1, sizeof(*p));
    int rv = p != NULL ? uv_poll_init(loop, &p->poll, fd) : UV_ENOMEM;

    if (rv != 0) {
        free(p);
        (void)close(fd);
        return rv;
    }
    (void)uv_timer_init(loop, &p->limit);
    p->handles = 2;
    p->poll.data = p;
    p->limit.data = p;
    p->fd = fd;
    p->state = state;
    p->ops = *o->ops;
    p->owner = o->owner;
    p->burst = o->max_datagram > BURST ? o->max_datagram : BURST;
    tltcp__deframer_init(&p->in, o->max_datagram, state == PIPE_OPEN);
    pipe_tune(fd, o->dscp);
    pipe_poll(p);
    *out = p;
    return 0;
}

int tltcp__pipe_adopt(tltcp__pipe **p, uv_loop_t *loop, int fd,
                      const tltcp__pipe_options *o) {
    return pipe_new(p, loop, fd, PIPE_OPEN, o);
}

int tltcp__pipe_connect(tltcp__pipe **p, uv_loop_t *loop, const net__addr *to,
                        const net__addr *bind, const tltcp__pipe_options *o) {
    int fd;
    int rv = tltcp__stream_open(&fd, to->sa.sa_family, bind);

    if (rv != 0) {
        return rv;
    }
    if (connect(fd, &to->sa, net__addr_len(to)) != 0 && errno != EINPROGRESS) {
        rv = uv_translate_sys_error(errno);
        (void)close(fd);
        return rv;
    }
    return pipe_new(p, loop, fd, PIPE_CONNECTING, o);
}

int tltcp__pipe_local(const tltcp__pipe *p, net__addr *a) {
    return tltcp__stream_local(p->fd, a);
}

void tltcp__pipe_close(tltcp__pipe *p) {
    if (p->state == PIPE_CONNECTING || p->ended) {
        pipe_free(p);
        return;
    }
    p->state = PIPE_CLOSING;
    tltcp__pipe_limit(p, GRACE_MS);
    if (p->out == NULL || p->out_at == p->out_end) {
        (void)shutdown(p->fd, SHUT_WR);
    }
}

void tltcp__pipe_abort(tltcp__pipe *p) {
    pipe_free(p);
}

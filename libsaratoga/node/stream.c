/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Streams: what comes out of a pipe is sent as it comes, and what is received
 * may go into one.  Pipes of ours are watched by the loop; others may be
 * anything, and are waited for in a thread. */

#define PIECE ((size_t)64 * 1024)
/* So much a pipe takes without making the writer wait, once it takes any. */
#define SIP ((size_t)PIPE_BUF)
/* How long a thread may wait for a pipe while the node wants to end. */
#define PATIENCE_MS 200

bool saratoga__is_stream(const saratoga__file *f) {
    return f->input >= 0;
}

int saratoga__stream_describe(saratoga__file *f) {
    saratoga_entry *e = &f->source.entry;
    const char *slash = strrchr(f->path, '/');

    f->piece = malloc(PIECE);
    if (f->piece == NULL) {
        return UV_ENOMEM;
    }
    f->source.kind = SARATOGA_STREAM;
    e->special = true;
    e->descriptor = SARATOGA_DESCRIPTOR_FIT;
    e->mtime =
        saratoga_time_from_posix(time(NULL), f->u->engine.time_y2k_plain);
    e->ctime = e->mtime;
    (void)snprintf(e->path, sizeof(e->path), "%s",
                   slash != NULL ? slash + 1 : f->path);
    return 0;
}

int saratoga__stream_open(saratoga__file *f) {
    int fd = saratoga__root_pipe(f->root, f->name);

    if (fd < 0) {
        return fd;
    }
    f->input = fd;
    f->owns_input = true;
    return saratoga__stream_describe(f);
}

/* Nothing for now: piece_len 0. */
static void take_input(saratoga__file *f) {
    ssize_t n = read(f->input, f->piece, PIECE);

    f->piece_at = 0;
    f->piece_len = 0;
    if (n > 0) {
        f->piece_len = (size_t)n;
    } else if (n == 0) {
        f->input_over = true;
    } else if (errno != EAGAIN && errno != EINTR) {
        f->input_error = uv_translate_sys_error(errno);
    }
}

/* In a thread. */
static void wait_for_input(saratoga__file *f) {
    struct pollfd p = {.fd = f->input, .events = POLLIN};

    f->piece_at = 0;
    f->piece_len = 0;
    if (poll(&p, 1, PATIENCE_MS) > 0) {
        take_input(f);
    }
}

static void stream_stop(saratoga__file *f, int error) {
    f->status = error;
    (void)saratoga_transfer_cancel(f->u->node, f->handle, SARATOGA_CANNOT_SEND,
                                   saratoga__now());
}

/* True: all of the piece is with the engine. */
static bool hand_over(saratoga__file *f) {
    while (f->piece_at < f->piece_len) {
        int64_t n =
            saratoga_stream_write(f->u->node, f->handle, f->piece + f->piece_at,
                                  f->piece_len - f->piece_at, saratoga__now());

        if (n < 0) {
            if (n != SARATOGA_ERR_AGAIN) {
                stream_stop(f, UV_ENOMEM);
            }
            return false; /* SARATOGA_EVENT_WRITABLE follows */
        }
        f->piece_at += (size_t)n;
    }
    return true;
}

static void have_read(saratoga__file *f) {
    if (f->ended) {
        saratoga__file_settle(f);
    } else if (f->input_error != 0) {
        stream_stop(f, f->input_error);
    } else {
        saratoga__stream_go_on(f);
    }
}

static void on_readable(uv_poll_t *watch, int status, int events) {
    saratoga__file *f = watch->data;

    (void)events;
    (void)uv_poll_stop(watch);
    if (status < 0) {
        f->input_error = status;
    } else {
        take_input(f);
    }
    have_read(f);
}

static void unwatched(uv_handle_t *handle) {
    saratoga__file *f = handle->data;

    f->watched = false;
    saratoga__file_settle(f);
}

int saratoga__stream_watch(saratoga__file *f) {
    int rv = uv_poll_init(f->u->loop, &f->watch, f->input);

    f->watch.data = f;
    f->watched = rv == 0;
    return rv;
}

bool saratoga__stream_unwatch(saratoga__file *f) {
    if (f->watched && !uv_is_closing((uv_handle_t *)&f->watch)) {
        uv_close((uv_handle_t *)&f->watch, unwatched);
    }
    return !f->watched;
}

void saratoga__stream_go_on(saratoga__file *f) {
    if (!saratoga__is_stream(f) || f->ended || f->job.busy || f->finished ||
        !hand_over(f)) {
        return;
    }
    saratoga__kick(f->u);
    if (f->input_over) {
        f->finished = true;
        (void)saratoga_stream_finish(f->u->node, f->handle, saratoga__now());
    } else if (f->watched) {
        (void)uv_poll_start(&f->watch, UV_READABLE, on_readable);
    } else {
        saratoga__file_job(f, wait_for_input, have_read);
    }
}

/* --- Received ------------------------------------------------------------ */

static int wait_for_room(saratoga__file *f) {
    struct pollfd p = {.fd = f->output, .events = POLLOUT};
    int n = 0;

    while (n == 0) {
        if (atomic_load(&f->cut)) {
            return UV_ECANCELED;
        }
        n = poll(&p, 1, PATIENCE_MS);
        n = n < 0 && errno == EINTR ? 0 : n;
    }
    return n < 0 ? uv_translate_sys_error(errno) : 0;
}

static int put_sip(saratoga__file *f, const uint8_t *at, size_t *len) {
    int rv = wait_for_room(f);
    ssize_t n;

    if (rv != 0) {
        return rv;
    }
    n = write(f->output, at, *len < SIP ? *len : SIP);
    *len = n > 0 ? (size_t)n : 0;
    return n >= 0 || errno == EAGAIN || errno == EINTR
               ? 0
               : uv_translate_sys_error(errno);
}

/* What an unreliable stream lost is left out, what comes late is too late. */
int64_t saratoga__stream_write(saratoga__file *f, const saratoga_work *w) {
    size_t at =
        f->output_at > w->offset ? (size_t)(f->output_at - w->offset) : 0;
    int rv = 0;

    while (rv == 0 && at < w->len) {
        size_t n = w->len - at;

        rv = put_sip(f, (const uint8_t *)w->buf + at, &n);
        at += rv == 0 ? n : 0;
    }
    f->output_at =
        w->offset + at > f->output_at ? w->offset + at : f->output_at;
    return rv;
}

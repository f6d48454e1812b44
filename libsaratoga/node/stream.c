/* SPDX-License-Identifier: MPL-2.0 */
/* Streams: data from a pipe is sent as it arrives, and received data may be
 * written to one. The loop polls pipes that the node opened; other descriptors
 * may be anything, so a thread waits for them. */
#include "libsaratoga/node/stream.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libsaratoga/node/transfer.h"

#define CHUNK ((size_t)64 * 1024)
/* A writable pipe accepts this many bytes without blocking. */
#define SIP ((size_t)PIPE_BUF)
/* How long a thread may wait for a pipe while the node wants to end. */
#define PATIENCE_MS 200

int saratoga__stream_describe(saratoga__file *f) {
    saratoga_entry *e = &f->send.source.entry;
    const char *slash = strrchr(f->path, '/');

    f->input.chunk = malloc(CHUNK);
    if (f->input.chunk == NULL) {
        return UV_ENOMEM;
    }
    f->send.source.kind = SARATOGA_STREAM;
    e->special = true;
    e->descriptor = SARATOGA_DESCRIPTOR_FIT;
    e->mtime = saratoga_time_from_posix(time(NULL),
                                        f->u->engine_config.time_y2k_plain);
    e->ctime = e->mtime;
    (void)snprintf(e->path, sizeof(e->path), "%s",
                   slash != NULL ? slash + 1 : f->path);
    return 0;
}

int saratoga__stream_open(saratoga__file *f) {
    int fd = saratoga__root_pipe(f->local.root, f->local.name);

    if (fd < 0) {
        return fd;
    }
    f->work.job.input = fd;
    f->input.owned = true;
    return saratoga__stream_describe(f);
}

/* chunk_len 0: nothing for now. */
static void take_input(saratoga__file *f) {
    ssize_t n = read(f->input.fd, f->input.chunk, CHUNK);

    f->input.chunk_at = 0;
    f->input.chunk_len = 0;
    if (n > 0) {
        f->input.chunk_len = (size_t)n;
    } else if (n == 0) {
        f->input.phase = SARATOGA__INPUT_OVER;
    } else if (errno != EAGAIN && errno != EINTR) {
        f->input.error = uv_translate_sys_error(errno);
    }
}

/* In a thread. */
static int wait_for_input(saratoga__file *f) {
    struct pollfd p = {.fd = f->input.fd, .events = POLLIN};

    f->input.chunk_at = 0;
    f->input.chunk_len = 0;
    if (poll(&p, 1, PATIENCE_MS) > 0) {
        take_input(f);
    }
    return 0;
}

/* True: the whole chunk was passed to the engine. */
static bool hand_over(saratoga__file *f) {
    while (f->input.chunk_at < f->input.chunk_len) {
        int64_t n = saratoga_stream_write(
            f->u->engine, f->handle, f->input.chunk + f->input.chunk_at,
            f->input.chunk_len - f->input.chunk_at, saratoga__now());

        if (n < 0) {
            if (n != SARATOGA_ERR_AGAIN) {
                saratoga__file_stop(f, UV_ENOMEM, SARATOGA_CANNOT_SEND);
            }
            return false; /* SARATOGA_EVENT_WRITABLE follows */
        }
        f->input.chunk_at += (size_t)n;
    }
    return true;
}

static void have_read(saratoga__file *f, int status) {
    f->input.error = f->input.error != 0 ? f->input.error : status;
    if (saratoga__has_ended(f)) {
        saratoga__file_check(f);
    } else if (f->input.error != 0) {
        saratoga__file_stop(f, f->input.error, SARATOGA_CANNOT_SEND);
    } else {
        saratoga__stream_go_on(f);
    }
}

static void on_readable(uv_poll_t *watch, int status, int events) {
    saratoga__file *f = watch->data;

    (void)events;
    (void)uv_poll_stop(watch);
    if (status < 0) {
        f->input.error = status;
    } else {
        take_input(f);
    }
    have_read(f, 0);
}

static void unwatched(uv_handle_t *handle) {
    saratoga__file *f = handle->data;

    f->input.polled = false;
    saratoga__file_check(f);
}

int saratoga__stream_watch(saratoga__file *f) {
    int rv = uv_poll_init(f->u->loop.uv, &f->input.poll, f->input.fd);

    f->input.poll.data = f;
    f->input.polled = rv == 0;
    return rv;
}

bool saratoga__stream_unwatch(saratoga__file *f) {
    if (f->input.polled && !uv_is_closing((uv_handle_t *)&f->input.poll)) {
        uv_close((uv_handle_t *)&f->input.poll, unwatched);
    }
    return !f->input.polled;
}

void saratoga__stream_go_on(saratoga__file *f) {
    if (!saratoga__is_stream(f) || saratoga__has_ended(f) || f->work.job.busy ||
        f->input.phase == SARATOGA__INPUT_FINISHED || !hand_over(f)) {
        return;
    }
    saratoga__wake(f->u);
    if (f->input.phase == SARATOGA__INPUT_OVER) {
        f->input.phase = SARATOGA__INPUT_FINISHED;
        (void)saratoga_stream_finish(f->u->engine, f->handle, saratoga__now());
    } else if (f->input.polled) {
        (void)uv_poll_start(&f->input.poll, UV_READABLE, on_readable);
    } else {
        saratoga__file_job(f, wait_for_input, have_read);
    }
}

/* --- Received ------------------------------------------------------------ */

static int wait_for_room(saratoga__file *f) {
    struct pollfd p = {.fd = f->output.fd, .events = POLLOUT};
    int n = 0;

    while (n == 0) {
        if (atomic_load(&f->output.cancelled)) {
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
    n = write(f->output.fd, at, *len < SIP ? *len : SIP);
    *len = n > 0 ? (size_t)n : 0;
    return n >= 0 || errno == EAGAIN || errno == EINTR
               ? 0
               : uv_translate_sys_error(errno);
}

/* Lost parts of an unreliable stream are skipped, and late ones dropped. */
int64_t saratoga__stream_write(saratoga__file *f, const saratoga_work *w) {
    size_t at =
        f->output.at > w->offset ? (size_t)(f->output.at - w->offset) : 0;
    int rv = 0;

    while (rv == 0 && at < w->len) {
        size_t n = w->len - at;

        rv = put_sip(f, (const uint8_t *)w->buf + at, &n);
        at += rv == 0 ? n : 0;
    }
    f->output.at =
        w->offset + at > f->output.at ? w->offset + at : f->output.at;
    return rv;
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "drivers/uv/saratoga_impl.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Streams that are sent: what comes out of a pipe, as it comes. */

#define PIECE ((size_t)64 * 1024)
/* How long a thread may wait for the pipe while the node wants to end. */
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

/* In a thread.  Nothing for now: piece_len 0. */
static void read_input(saratoga__file *f) {
    struct pollfd p = {.fd = f->input, .events = POLLIN};
    ssize_t n = -1;

    f->piece_at = 0;
    f->piece_len = 0;
    if (poll(&p, 1, PATIENCE_MS) <= 0) {
        return;
    }
    n = read(f->input, f->piece, PIECE);
    if (n > 0) {
        f->piece_len = (size_t)n;
    } else if (n == 0) {
        f->input_over = true;
    } else if (errno != EAGAIN && errno != EINTR) {
        f->input_error = uv_translate_sys_error(errno);
    }
}

static void stop(saratoga__file *f, int error) {
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
                stop(f, UV_ENOMEM);
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
        stop(f, f->input_error);
    } else {
        saratoga__stream_go_on(f);
    }
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
    } else {
        saratoga__file_job(f, read_input, have_read);
    }
}

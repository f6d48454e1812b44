/* SPDX-License-Identifier: MPL-2.0 */
/* Files, pipes and UDP as input. */
#include "tools/live-transmit/input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "internal/media/stream/ts.h"
#include "tools/common/tool.h"
#include "tools/live-transmit/fd.h"

#define DATAGRAMS 64      /* limit per turn */
#define STOP_TURNS 1000   /* a camera may be faster than this program */
#define QUEUE_MAX 4000000 /* bytes; above this limit files and pipes wait */
/* A pipe may be this far ahead of its own time line; a program that is as fast
 * as it can be is held up then. */
#define PIPE_AHEAD UINT64_C(1000000000)

/* When what was read last is to be sent by its own time line. */
static uint64_t input_due(struct job *j, uint64_t now) {
    int64_t time = tltcp_live_stream_ts_time(j->stream);
    return j->o->in.kind == ENDPOINT_UDP || time == TLTCP_LIVE_TIME_NONE
               ? now
               : pace_due(&j->pace, time, now);
}

/* Whether to read on, or at *when. */
bool input_may_read(struct job *j, uint64_t now, uint64_t *when) {
    uint64_t ahead = j->o->in.kind == ENDPOINT_PIPE ? PIPE_AHEAD : 0;
    uint64_t due;
    if (j->over || job_receives(j)) {
        return false;
    }
    if (j->o->in.kind == ENDPOINT_UDP) {
        return true; /* waits for nobody */
    }
    if (!viewers_want(&j->viewers, QUEUE_MAX)) {
        return false;
    }
    due = input_due(j, now);
    if (due > now + ahead) {
        *when = due - ahead < *when ? due - ahead : *when;
        return false;
    }
    return true;
}

/* Returns whether there may be more. */
static bool input_read_datagrams(struct job *j, uint64_t now) {
    for (int i = 0; i < DATAGRAMS; i++) {
        ssize_t n = read(j->in_fd, j->buffer, sizeof(j->buffer));
        if (n < 0) {
            return false; /* none, or an ICMP message about another one */
        }
        job_deliver(j, j->buffer, (size_t)n, now);
    }
    return true;
}

static void input_read_bytes(struct job *j, uint64_t now) {
    ssize_t n = read(j->in_fd, j->buffer, (size_t)7 * MEDIA_TS_PACKET);
    uint64_t due = input_due(j, now);
    if (n > 0) {
        job_deliver(j, j->buffer, (size_t)n, due > now ? due : now);
    } else if (n == 0) {
        job_end_input(j);
    } else if (errno != EINTR && errno != EAGAIN) {
        job_end(j, tool_fail(TOOL, "cannot read %s: %s", j->o->in.text,
                             strerror(errno)));
    }
}

void input_read(struct job *j, uint64_t now) {
    if (j->o->in.kind == ENDPOINT_UDP) {
        (void)input_read_datagrams(j, now);
    } else {
        input_read_bytes(j, now);
    }
}

void input_stop(struct job *j, uint64_t now) {
    int turns = STOP_TURNS;
    while (j->o->in.kind == ENDPOINT_UDP && turns-- > 0 && j->status < 0 &&
           input_read_datagrams(j, now)) {
    }
    job_end_input(j);
}

void input_watch(struct job *j) {
    uint64_t dropped = fd_dropped(&j->o->in, j->in_fd);
    if (dropped > 0 && j->totals.input_dropped == 0 && !j->o->quiet) {
        (void)fprintf(
            stderr,
            "%s: %s: datagrams arrive faster than they are read, some "
            "are lost; buffer=16MB may help, or a less busy machine\n",
            TOOL, j->o->in.text);
    }
    j->totals.input_dropped = dropped;
}

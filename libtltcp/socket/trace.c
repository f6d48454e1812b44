/* SPDX-License-Identifier: MPL-2.0 */
/* Queues trace events for on_trace and for qlog files. */
#include "libtltcp/socket/trace.h"

#include <stdlib.h>
#include <string.h>

#include "internal/common/ring.h"
#include "libtltcp/socket/qlog.h"
#include "libtltcp/socket/state.h"

/* Maximum number of values and characters of an event; the rest is left out. */
#define VALUES 16u
#define TEXT_MAX 64u
/* Maximum number of queued events, and the number that wakes the I/O thread. */
#define EVENTS_MAX 65536u
#define EVENTS_MANY 4096u

/* The qlog file of a connection. */
struct tltcp__trace {
    struct tltcp__qlog *file;
};

struct record {
    struct tltcp__trace *trace; /* NULL: no file */
    bool unowned;               /* its connection becomes known later */
    bool last;                  /* closes the file */
    tltcp_time now;
    const char *name;
    const char *const *keys;
    double values[VALUES];
    char text[TEXT_MAX];
};

struct tltcp__tracer {
    struct tltcp__port *port;
    tltcp_trace_fn on_trace;
    void *user;
    char *dir;
    cmn__ring queue; /* under the mutex */
    cmn__ring out;   /* used by the I/O thread: events to hand out now */
};

static char *trace_copy(const char *text) {
    size_t len = strlen(text) + 1;
    char *own = malloc(len);

    if (own != NULL) {
        memcpy(own, text, len);
    }
    return own;
}

static int trace_check_dir(const char *dir) {
    uv_fs_t request;
    int rv = uv_fs_access(NULL, &request, dir, 2 | 1, NULL); /* write, enter */

    uv_fs_req_cleanup(&request);
    return rv == 0 ? 0 : TLTCP_ERR_IO;
}

int tltcp__tracer_new(struct tltcp__tracer **out, struct tltcp__port *port,
                      const tltcp_config *c) {
    struct tltcp__tracer *t;

    if (c->on_trace == NULL && c->qlog_dir == NULL) {
        return 0;
    }
    if (c->qlog_dir != NULL && trace_check_dir(c->qlog_dir) != 0) {
        return TLTCP_ERR_IO;
    }
    t = calloc(1, sizeof(*t));
    if (t == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (c->qlog_dir != NULL && (t->dir = trace_copy(c->qlog_dir)) == NULL) {
        free(t);
        return TLTCP_ERR_NOMEM;
    }
    t->port = port;
    t->on_trace = c->on_trace;
    t->user = c->user;
    cmn__ring_init(&t->queue, &port->mem, sizeof(struct record), 0);
    cmn__ring_init(&t->out, &port->mem, sizeof(struct record), 0);
    *out = t;
    return 0;
}

void tltcp__tracer_free(struct tltcp__tracer *t) {
    if (t == NULL) {
        return;
    }
    tltcp__tracer_flush(t);
    cmn__ring_free(&t->queue);
    cmn__ring_free(&t->out);
    free(t->dir);
    free(t);
}

/* --- In: requires the mutex ---------------------------------------------- */

static struct record *trace_push(struct tltcp__tracer *t) {
    struct record *rec = NULL;

    if (cmn__ring_len(&t->queue) < EVENTS_MAX) {
        rec = cmn__ring_push(&t->queue);
    }
    if (cmn__ring_len(&t->queue) == EVENTS_MANY) {
        (void)uv_async_send(&t->port->io->wake);
    }
    return rec;
}

void tltcp__tracer_take(void *user, const tltcp_trace_event *ev) {
    struct tltcp__port *port = user;
    struct record *rec = trace_push(port->tracer);

    if (rec == NULL) {
        return;
    }
    rec->trace = port->current != NULL ? port->current->trace : NULL;
    rec->unowned = port->current == NULL;
    rec->now = ev->now;
    rec->name = ev->name;
    rec->keys = ev->keys;
    for (unsigned i = 0; i < VALUES && ev->keys[i] != NULL; i++) {
        rec->values[i] = ev->values[i];
    }
    if (ev->text != NULL) {
        strncpy(rec->text, ev->text, TEXT_MAX - 1);
    }
}

void tltcp__tracer_adopt(struct tltcp__tracer *t, tltcp_socket *s) {
    struct record *rec;

    if (t == NULL || s == NULL) {
        return;
    }
    for (uint64_t i = t->queue.tail; i > t->queue.head; i--) {
        rec = cmn__ring_at(&t->queue, i - 1);
        if (!rec->unowned) {
            break;
        }
        rec->unowned = false;
        rec->trace = s->trace;
    }
}

int tltcp__trace_open(tltcp_socket *s) {
    struct tltcp__tracer *t = s->port->tracer;
    struct tltcp__trace *trace;

    if (t == NULL || t->dir == NULL) {
        return 0;
    }
    trace = calloc(1, sizeof(*trace));
    if (trace == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    trace->file = tltcp__qlog_open(t->dir, tltcp_conn_id(s->conn),
                                   s->port->listening != NULL, tltcp_now());
    if (trace->file == NULL) {
        free(trace);
        return TLTCP_ERR_IO;
    }
    s->trace = trace;
    return 0;
}

void tltcp__trace_close(tltcp_socket *s) {
    struct tltcp__tracer *t = s->port->tracer;
    struct record *rec;

    if (s->trace == NULL) {
        return;
    }
    rec = cmn__ring_push(&t->queue); /* beyond the limit if necessary */
    if (rec == NULL) {
        return; /* the file stays open: a later write would be unsafe */
    }
    rec->trace = s->trace;
    rec->last = true;
    s->trace = NULL;
}

/* --- Out: on the I/O thread, without the mutex --------------------------- */

/* The threads of a listener call one at a time. */
static void trace_call(struct tltcp__tracer *t, const tltcp_trace_event *ev) {
    struct tltcp__listener *l =
        t->port->listening != NULL ? t->port->listening->listener : NULL;

    if (l != NULL) {
        uv_mutex_lock(&l->calls);
    }
    t->on_trace(t->user, ev);
    if (l != NULL) {
        uv_mutex_unlock(&l->calls);
    }
}

static void trace_hand_out(struct tltcp__tracer *t, const struct record *rec) {
    tltcp_trace_event ev = {.name = rec->name,
                            .now = rec->now,
                            .keys = rec->keys,
                            .values = rec->values,
                            .text = rec->text[0] != '\0' ? rec->text : NULL};

    if (rec->last) {
        tltcp__qlog_close(rec->trace->file);
        free(rec->trace);
        return;
    }
    if (rec->trace != NULL) {
        tltcp__qlog_write(rec->trace->file, &ev, VALUES);
    }
    if (t->on_trace != NULL) {
        trace_call(t, &ev);
    }
}

void tltcp__tracer_flush(struct tltcp__tracer *t) {
    cmn__ring full;

    if (t == NULL) {
        return;
    }
    uv_mutex_lock(&t->port->io->mx);
    full = t->queue;
    t->queue = t->out;
    t->out = full;
    uv_mutex_unlock(&t->port->io->mx);
    while (cmn__ring_len(&t->out) > 0) {
        trace_hand_out(t, cmn__ring_at(&t->out, t->out.head));
        cmn__ring_pop(&t->out);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Tasks that wait for their turn. */
#include "tools/saratoga/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "tools/saratoga/task.h"

#define BYTES_MAX ((size_t)256 << 20)
#define NAMES 5

struct saratoga_waiting_task {
    struct saratoga_waiting_task *next;
    size_t bytes; /* of all this */
    uint64_t size;
    int64_t mtime;
    uint32_t type;
    bool resume;
    bool overwrite;
    bool stream;
    char names[]; /* one after the other, each with its NUL */
};

static void waiting_unpack(const struct saratoga_waiting_task *x,
                           struct saratoga_waiting_names *n) {
    n->host = x->names;
    n->port = n->host + strlen(n->host) + 1;
    n->path = n->port + strlen(n->port) + 1;
    n->folder = n->path + strlen(n->path) + 1;
    n->file = n->folder + strlen(n->folder) + 1;
}

bool saratoga_waiting_add(struct saratoga_waiting *w,
                          const struct saratoga_task *t) {
    const char *const names[NAMES] = {t->host, t->port, t->path, t->folder,
                                      t->file};
    struct saratoga_waiting_task *x;
    size_t bytes = sizeof(*x);
    char *at;
    for (int i = 0; i < NAMES; i++) {
        bytes += strlen(names[i]) + 1;
    }
    x = bytes <= BYTES_MAX - w->bytes ? malloc(bytes) : NULL;
    if (!x) {
        return false;
    }
    *x = (struct saratoga_waiting_task){.bytes = bytes,
                                        .size = t->size,
                                        .mtime = t->mtime,
                                        .type = t->type,
                                        .resume = t->resume,
                                        .overwrite = t->overwrite,
                                        .stream = t->stream};
    at = x->names;
    for (int i = 0; i < NAMES; i++) {
        size_t len = strlen(names[i]) + 1;
        memcpy(at, names[i], len);
        at += len;
    }
    *(w->last ? &w->last->next : &w->first) = x;
    w->last = x;
    w->bytes += bytes;
    return true;
}

bool saratoga_waiting_look(const struct saratoga_waiting *w,
                           struct saratoga_waiting_names *n) {
    if (!w->first) {
        return false;
    }
    waiting_unpack(w->first, n);
    return true;
}

static void waiting_free(struct saratoga_waiting *w,
                         struct saratoga_waiting_task *x) {
    w->bytes -= x->bytes;
    free(x);
}

struct saratoga_task *saratoga_waiting_take(struct saratoga_waiting *w) {
    struct saratoga_waiting_task *x = w->first;
    struct saratoga_task *t = saratoga_task_new();
    struct saratoga_waiting_names n;
    if (!t) {
        return NULL;
    }
    waiting_unpack(x, &n);
    t->type = x->type;
    t->size = x->size;
    t->mtime = x->mtime;
    t->resume = x->resume;
    t->overwrite = x->overwrite;
    t->stream = x->stream;
    memcpy(t->host, n.host, strlen(n.host) + 1);
    memcpy(t->port, n.port, strlen(n.port) + 1);
    memcpy(t->path, n.path, strlen(n.path) + 1);
    memcpy(t->folder, n.folder, strlen(n.folder) + 1);
    memcpy(t->file, n.file, strlen(n.file) + 1);
    w->first = x->next;
    w->last = w->first ? w->last : NULL;
    waiting_free(w, x);
    return t;
}

unsigned saratoga_waiting_drop(struct saratoga_waiting *w, const char *host,
                               const char *port) {
    struct saratoga_waiting_task **at = &w->first;
    unsigned count = 0;
    w->last = NULL;
    while (*at) {
        struct saratoga_waiting_task *x = *at;
        struct saratoga_waiting_names n;
        waiting_unpack(x, &n);
        if (!host || (strcmp(n.host, host) == 0 && strcmp(n.port, port) == 0)) {
            *at = x->next;
            waiting_free(w, x);
            count++;
        } else {
            w->last = x;
            at = &x->next;
        }
    }
    return count;
}

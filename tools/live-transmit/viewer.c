/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/viewer.h"

#include <stdlib.h>
#include <string.h>

static void viewer_on_event(void *user, const tltcp_live_event *ev) {
    struct viewer *v = user;
    if (ev->type == TLTCP_LIVE_EVENT_DISCONNECTED) {
        v->error = ev->error;
        memcpy(v->reason, ev->reason, sizeof(v->reason));
    }
    if (v->all->logged == v) {
        frame_log_event(&v->all->log, ev);
    }
}

static void name(struct viewer *v, const tltcp_socket *s) {
    struct address a = {.len = sizeof(a.sa)};
    (void)snprintf(v->stream_id, sizeof(v->stream_id), "%s",
                   tltcp_stream_id(s));
    if (tltcp_peer_address(s, (struct sockaddr *)&a.sa, &a.len) == 0) {
        address_text(&a, v->address);
    }
}

static struct viewer *make(struct viewers *v, tltcp_socket *s,
                           const tltcp_live_settings *settings) {
    struct viewer *added = calloc(1, sizeof(*added));
    if (!added) {
        (void)tltcp_close(s, 0);
        return NULL;
    }
    added->all = v;
    added->since = tltcp_now();
    name(added, s);
    added->sender = tltcp_live_sender_new(s, settings, viewer_on_event, added);
    if (!added->sender) {
        free(added);
        return NULL;
    }
    return added;
}

struct viewer *viewers_add(struct viewers *v, tltcp_socket *s,
                           const tltcp_live_settings *settings) {
    struct viewer **grown =
        realloc(v->viewer, (v->count + 1) * sizeof(struct viewer *));
    struct viewer *added;
    if (!grown) {
        (void)tltcp_close(s, 0);
        return NULL;
    }
    v->viewer = grown;
    added = make(v, s, settings);
    if (added) {
        v->viewer[v->count++] = added;
    }
    return added;
}

void viewers_remove(struct viewers *v, size_t at) {
    struct viewer *gone = v->viewer[at];
    v->viewer[at] = v->viewer[--v->count];
    tltcp_live_sender_free(gone->sender);
    free(gone);
    if (v->count == 0) {
        free(v->viewer);
        v->viewer = NULL;
    }
}

void viewers_push(struct viewers *v, tltcp_live_section *section) {
    for (size_t i = 0; i < v->count; i++) {
        if (tltcp_live_sender_push(v->viewer[i]->sender, section) < 0) {
            v->no_memory = true;
        }
    }
}

bool viewers_want(const struct viewers *v, uint64_t bytes) {
    for (size_t i = 0; i < v->count; i++) {
        if (tltcp_live_sender_bytes(v->viewer[i]->sender) <= bytes) {
            return true;
        }
    }
    return false;
}

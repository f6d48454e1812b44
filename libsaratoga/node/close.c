/* SPDX-License-Identifier: MPL-2.0 */
/* The end of a node: transfers first, then handles, then memory. */
#include "libsaratoga/node/close.h"

#include <stdlib.h>

#include "internal/secure/secret.h"
#include "libsaratoga/node/event_queue.h"
#include "libsaratoga/node/multicast.h"
#include "libsaratoga/node/secure.h"
#include "libsaratoga/node/sockets.h"
#include "libsaratoga/node/transfer.h"

static void free_node(saratoga_node *u) {
    saratoga__root_close(&u->root);
    saratoga__places_free(&u->places);
    saratoga__secure_close(u);
    sec__wipe(u->auth_key, sizeof(u->auth_key));
    free(u->config_strings);
    free(u->strings);
    free(u);
}

/* Handles close in reverse order: this one is the last. */
static void on_closed(uv_handle_t *handle) {
    saratoga_node *u = handle->data;

    if (!saratoga__loop_is_own(&u->loop)) {
        free_node(u);
    }
}

static void close_handles(saratoga_node *u) {
    if (!u->loop.has_handles) {
        return;
    }
    u->loop.has_handles = false;
    uv_close((uv_handle_t *)&u->loop.timeout, on_closed);
    uv_close((uv_handle_t *)&u->loop.prepare, NULL);
    uv_close((uv_handle_t *)&u->loop.check, NULL);
    uv_close((uv_handle_t *)&u->loop.idle, NULL);
    uv_close((uv_handle_t *)&u->loop.tick, NULL);
    if (u->loop.has_completions) {
        saratoga__completions_close(&u->completions);
    }
    if (u->loop.has_timer) {
        net__timer_close(&u->loop.timer);
    }
    saratoga__secure_terminate(u);
    saratoga__multicast_close(u);
    saratoga__sockets_close(u);
}

void saratoga__close_step(saratoga_node *u) {
    if (!u->loop.closing || u->n_files > 0 || !u->loop.has_handles) {
        return;
    }
    saratoga_engine_free(u->engine);
    u->engine = NULL;
    saratoga__events_free(u);
    close_handles(u);
}

static void end_files(saratoga_node *u) {
    saratoga__file *next;

    for (saratoga__file *f = u->files; f != NULL; f = next) {
        next = f->next;
        saratoga__file_cancel(f);
    }
}

void saratoga_node_close(saratoga_node *u) {
    if (u == NULL) {
        return;
    }
    u->loop.closing = true;
    u->events.notify = NULL;
    if (u->loop.uv == NULL) {
        free_node(u);
        return;
    }
    end_files(u);
    if (!saratoga__loop_is_own(&u->loop)) {
        saratoga__close_step(u);
        return;
    }
    if (!u->loop.has_handles) { /* the loop could not be created */
        free_node(u);
        return;
    }
    saratoga__close_step(u);
    while (uv_run(u->loop.uv, UV_RUN_DEFAULT) != 0) {
    }
    (void)uv_loop_close(u->loop.uv);
    free_node(u);
}

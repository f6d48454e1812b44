/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <stdlib.h>

/* The end of a node: transfers first, then handles, then memory. */

static void free_node(saratoga_node *u) {
    saratoga__root_close(&u->root);
    saratoga__secure_close(u);
    free((char *)(uintptr_t)u->config.host);
    free((char *)(uintptr_t)u->config.service);
    free((char *)(uintptr_t)u->config.root);
    free((char *)(uintptr_t)u->config.beacon_host);
    free((char *)(uintptr_t)u->config.beacon_service);
    free((char *)(uintptr_t)u->config.group);
    free((char *)(uintptr_t)u->config.group_service);
    free(u);
}

/* Handles close in reverse order: this one is the last. */
static void on_closed(uv_handle_t *handle) {
    saratoga_node *u = handle->data;

    if (u->loop != &u->own_loop) {
        free_node(u);
    }
}

static void close_handles(saratoga_node *u) {
    if (!u->has_handles) {
        return;
    }
    u->has_handles = false;
    uv_close((uv_handle_t *)&u->patience, on_closed);
    uv_close((uv_handle_t *)&u->before, NULL);
    uv_close((uv_handle_t *)&u->turn, NULL);
    uv_close((uv_handle_t *)&u->again, NULL);
    uv_close((uv_handle_t *)&u->tick, NULL);
    if (u->has_done) {
        saratoga__done_close(&u->done);
    }
    if (u->has_alarm) {
        net__timer_close(&u->alarm);
    }
    saratoga__secure_farewell(u);
    saratoga__net_close(u);
}

void saratoga__close_step(saratoga_node *u) {
    if (!u->closing || u->n_files > 0 || !u->has_handles) {
        return;
    }
    saratoga_engine_free(u->node);
    u->node = NULL;
    saratoga__forget_events(u);
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
    u->closing = true;
    u->on_events = NULL;
    if (u->loop == NULL) {
        free_node(u);
        return;
    }
    end_files(u);
    if (u->loop != &u->own_loop) {
        saratoga__close_step(u);
        return;
    }
    if (!u->has_handles) { /* the loop could not be made */
        free_node(u);
        return;
    }
    saratoga__close_step(u);
    while (uv_run(u->loop, UV_RUN_DEFAULT) != 0) {
    }
    (void)uv_loop_close(u->loop);
    free_node(u);
}

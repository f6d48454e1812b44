/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_LOOP_H
#define LIBSARATOGA_NODE_LOOP_H

#include <stdbool.h>

#include <uv.h>

#include "internal/net/timer.h"

/* The libuv handles that drive a node. */
typedef struct saratoga__loop {
    uv_loop_t own;
    uv_loop_t *uv; /* the caller's, or `own`; NULL: not opened */
    net__timer timer;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle;
    uv_timer_t tick;
    uv_timer_t timeout; /* of saratoga_node_run() */
    bool has_handles;
    bool has_timer;
    bool has_completions;
    bool awake; /* there is work in this turn */
    bool closing;
} saratoga__loop;

static inline bool saratoga__loop_is_own(const saratoga__loop *l) {
    return l->uv == &l->own;
}

/* Schedules a turn: the engine, the socket or a transfer has something to
 * do. */
static inline void saratoga__loop_wake(saratoga__loop *l) {
    l->awake = true;
}

#endif /* LIBSARATOGA_NODE_LOOP_H */

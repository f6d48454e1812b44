/* SPDX-License-Identifier: MPL-2.0 */
/* State shared by all sessions of an engine: events, traces, uplink. */
#include "libsaratoga/engine/context.h"

#define UNSOLICITED_MAX 256

static bool is_unsolicited(const saratoga_event *ev) {
    return ev->type == SARATOGA_EVENT_BEACON || ev->type == SARATOGA_EVENT_NOOP;
}

bool saratoga__context_event(saratoga__context *e, const saratoga_event *ev) {
    saratoga_event *at;
    if (is_unsolicited(ev) && e->unsolicited_count >= UNSOLICITED_MAX) {
        return false;
    }
    at = cmn__ring_push(&e->events);
    if (at == NULL) {
        return false;
    }
    *at = *ev;
    e->unsolicited_count += is_unsolicited(ev) ? 1 : 0;
    return true;
}

bool saratoga__context_next_event(saratoga__context *e, saratoga_event *ev) {
    if (cmn__ring_len(&e->events) == 0) {
        return false;
    }
    *ev = *(const saratoga_event *)cmn__ring_at(&e->events, e->events.head);
    cmn__ring_pop(&e->events);
    cmn__ring_trim(&e->events);
    e->unsolicited_count -= is_unsolicited(ev) ? 1 : 0;
    return true;
}

uint32_t saratoga__context_abilities(const saratoga__context *e) {
    const saratoga_config *c = &e->cfg;
    uint32_t a = 0;
    a |= c->can_send ? (uint32_t)SARATOGA_CAN_SEND : 0;
    a |= c->willing_to_send ? (uint32_t)SARATOGA_WILLING_TO_SEND : 0;
    a |= c->can_receive ? (uint32_t)SARATOGA_CAN_RECEIVE : 0;
    a |= c->willing_to_receive ? (uint32_t)SARATOGA_WILLING_TO_RECEIVE : 0;
    a |= c->streams ? (uint32_t)SARATOGA_STREAMS : 0;
    a |= c->lite ? (uint32_t)SARATOGA_LITE : 0;
    return a;
}

void saratoga__context_trace(const saratoga__context *e, const char *name,
                             saratoga_handle handle, saratoga_time now,
                             const char *const *keys, const double *values,
                             const char *text) {
    static const char *const none[] = {NULL};
    if (e->cfg.on_trace != NULL) {
        const saratoga_trace_event ev = {.name = name,
                                         .now = now,
                                         .handle = handle,
                                         .keys = keys != NULL ? keys : none,
                                         .values = values,
                                         .text = text};
        e->cfg.on_trace(e->cfg.user, &ev);
    }
}

void saratoga__context_uplink_used(saratoga__context *e, size_t len,
                                   saratoga_time now) {
    double rate = (double)e->cfg.uplink_bps * e->cfg.status_share / 8;
    double bytes = (double)len;
    if (rate > 0) {
        saratoga_time from = e->uplink_free > now ? e->uplink_free : now;
        e->uplink_free = from + (saratoga_time)(bytes / rate * 1e9);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Ends a session and reports it. */
#include "libsaratoga/engine/session.h"

static void session_complete(const saratoga__session *s, uint32_t type,
                             saratoga_event *ev) {
    ev->type = type;
    ev->handle = s->handle;
    ev->from = s->to;
    ev->request = s->type;
    ev->initiator = s->initiator;
    ev->kind = s->kind;
    ev->path = s->path;
}

bool saratoga__session_event(saratoga__session *s, uint32_t type,
                             saratoga_event *ev) {
    session_complete(s, type, ev);
    return s->released || saratoga__context_event(s->ctx, ev);
}

static saratoga_event done_event(const saratoga__session *s) {
    return (saratoga_event){.error = s->error,
                            .status = s->status & 0xFF,
                            .denial = (uint8_t)(s->status >> 8),
                            .remote = s->remote,
                            .has_entry = s->has_entry,
                            .verified = !s->sends && s->in.verified,
                            .unchanged = s->unchanged,
                            .resumed = s->in.resumed,
                            .remove = s->error == 0 && s->sends &&
                                      !s->unchanged && saratoga__moves(s),
                            .entry = s->entry};
}

/* The DONE event must reach the application even without memory for events. */
static void report_done(saratoga__session *s) {
    saratoga_event ev = done_event(s);
    if (!s->done_reported) {
        s->done_reported = true;
        s->done_pending = !saratoga__session_event(s, SARATOGA_EVENT_DONE, &ev);
        s->ctx->done_pending += s->done_pending ? 1 : 0;
    }
}

bool saratoga__session_pending_done(saratoga__session *s, saratoga_event *ev) {
    bool notify_peer = s->done_pending && !s->released;
    s->ctx->done_pending -= s->done_pending ? 1 : 0;
    s->done_pending = false;
    if (notify_peer) {
        *ev = done_event(s);
        session_complete(s, SARATOGA_EVENT_DONE, ev);
    }
    return notify_peer;
}

static void trace_end(const saratoga__session *s, saratoga_time now) {
    static const char *const keys[] = {"error", "status", "bytes", NULL};
    double values[] = {s->error, s->status & 0xFF, (double)s->st.bytes};
    saratoga__context_trace(s->ctx, "saratoga:session_ended", s->handle, now,
                            keys, values,
                            s->error != 0 ? saratoga_strerror(s->error) : NULL);
}

/* Group members and those reached by a REQUEST to a group stay silent: many
 * would answer. */
static bool may_notify_peer(const saratoga__session *s) {
    bool refuses = s->state <= SARATOGA__ASKED && s->of_group;
    return !refuses && (s->sends || !s->opt.multicast);
}

void saratoga__session_end(saratoga__session *s, int error, uint32_t status,
                           bool remote, bool notify_peer, saratoga_time now) {
    bool lingers = error == 0 && !s->sends && s->in.complete;
    if (s->state == SARATOGA__OVER) {
        return;
    }
    if (s->state != SARATOGA__LINGER) {
        s->error = error;
        s->status = status;
        s->remote = remote;
        s->ended_at = now;
        report_done(s);
        trace_end(s, now);
    }
    notify_peer = notify_peer && may_notify_peer(s);
    s->state = lingers ? SARATOGA__LINGER : SARATOGA__OVER;
    s->send_error = notify_peer;
    s->send_request = false;
    s->send_metadata = false;
    s->send_reply &= s->type == SARATOGA_DELETE;
    s->retry_at = SARATOGA_TIME_NEVER;
}

static uint32_t code_for(const saratoga__session *s, int error) {
    switch (error) {
    case SARATOGA_ERR_IN_VAIN:
    case SARATOGA_ERR_TIMEOUT:
        return s->sends ? SARATOGA_TIMED_OUT : SARATOGA_NOT_HEARD;
    case SARATOGA_ERR_TOO_LONG:
        return SARATOGA_TOO_LONG;
    case SARATOGA_ERR_CHECKSUM:
    case SARATOGA_ERR_PROTOCOL:
        return SARATOGA_UNSPECIFIED;
    default:
        return s->sends ? SARATOGA_CANNOT_SEND : SARATOGA_CANNOT_RECEIVE;
    }
}

void saratoga__session_fail(saratoga__session *s, int error,
                            saratoga_time now) {
    bool notify_peer = s->state != SARATOGA__ASKING;
    saratoga__session_end(s, error, code_for(s, error), false, notify_peer,
                          now);
}

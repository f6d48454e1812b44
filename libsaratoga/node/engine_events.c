/* SPDX-License-Identifier: MPL-2.0 */
/* Handles the engine's events. */
#include "libsaratoga/node/engine_events.h"

#include <stdio.h>
#include <string.h>

#include "libsaratoga/node/address.h"
#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/event_queue.h"
#include "libsaratoga/node/receive_file.h"
#include "libsaratoga/node/routes.h"
#include "libsaratoga/node/server.h"
#include "libsaratoga/node/stream.h"
#include "libsaratoga/node/transfer.h"
#include "libsaratoga/node/worker.h"

/* While a job runs the source is the pool thread's. */
static bool is_sent(const saratoga__file *f) {
    return !f->work.job.busy && f->send.source.entry.path[0] != '\0';
}

static void explain(saratoga__file *f, const saratoga_event *ev) {
    saratoga_node_event *r = &f->result;

    if (f->peer.rejection != 0) {
        (void)snprintf(
            r->text, sizeof(r->text), "%s",
            f->peer.rejection == SARATOGA_ERR_LIMIT
                ? "the peer has reached its limit of secured sessions"
                : saratoga_strerror(f->peer.rejection));
    } else if (f->work.status != 0) { /* the underlying error */
        (void)snprintf(r->text, sizeof(r->text), "%s",
                       saratoga__error_text(f->work.status));
    } else if (ev->remote) {
        (void)snprintf(r->text, sizeof(r->text), "%s by the peer: %s",
                       r->stats.bytes > r->stats.resumed_bytes ? "ended"
                                                               : "refused",
                       saratoga_status_text(ev->status | r->denial));
    } else if (ev->error == SARATOGA_ERR_AUTH) {
        (void)snprintf(r->text, sizeof(r->text), "%s",
                       is_sent(f)
                           ? "the peer's confirmation was not signed with the "
                             "key; the local copy stays"
                           : "the file's checksum was not made with the key");
    } else if (f->recv.superseded) {
        (void)snprintf(r->text, sizeof(r->text),
                       "ended: its client has begun it again");
    } else if (f->id == 0 && ev->error == SARATOGA_ERR_CANCELLED &&
               ev->status != SARATOGA_SUCCESS &&
               f->phase != SARATOGA__CANCELLED) {
        (void)snprintf(r->text, sizeof(r->text), "refused: %s",
                       saratoga_status_text(ev->status | r->denial));
    } else {
        (void)snprintf(r->text, sizeof(r->text), "%s",
                       saratoga_strerror(ev->error));
    }
}

static void on_done(saratoga__file *f, const saratoga_event *ev) {
    saratoga_node_event *r = &f->result;

    saratoga_stats_init(&r->stats);
    (void)saratoga_transfer_get_stats(f->u->engine, f->handle, &r->stats,
                                      saratoga__now());
    r->error = ev->error != 0 && f->peer.rejection != 0 ? f->peer.rejection
                                                        : ev->error;
    r->status = ev->status;
    r->denial = (uint32_t)ev->denial << 8;
    r->verified = ev->verified;
    if (ev->has_entry) {
        r->entry = ev->entry;
    }
    if (is_sent(f)) {
        r->entry = f->send.source.entry;
        r->checksum = f->send.source.checksum;
        r->unheard = f->group.addressed || f->options.multicast;
    }
    if (ev->error != 0) {
        explain(f, ev);
    }
    if (ev->unchanged && f->recv.verdict == SARATOGA__PENDING) {
        f->recv.verdict = SARATOGA__UNCHANGED;
    }
    r->already = (f->local.medium == SARATOGA__EXISTING || ev->unchanged) &&
                 ev->error == 0;
    f->send.remove = ev->remove && ev->error == 0 && f->local.fd >= 0;
    f->phase = SARATOGA__ENDED;
    saratoga__work_release(f, UV_ECANCELED);
    saratoga__file_check(f);
}

static void events_on_beacon(saratoga_node *u, const saratoga_event *ev) {
    const net__route *r = saratoga__route_of(u, &ev->from);
    saratoga_node_event out;

    memset(&out, 0, sizeof(out));
    out.type = SARATOGA_NODE_PEER;
    out.abilities = ev->abilities;
    out.descriptor = ev->descriptor;
    out.free_kib = ev->free_kib;
    (void)snprintf(out.eid, sizeof(out.eid), "%s", ev->eid);
    if (r != NULL) {
        saratoga__address_text(&r->remote, out.address);
    }
    saratoga__event_add(u, NULL, &out, NULL);
}

void saratoga__on_event(saratoga_node *u, const saratoga_event *ev) {
    saratoga__file *f = saratoga_transfer_user(u->engine, ev->handle);

    switch (ev->type) {
    case SARATOGA_EVENT_REQUEST:
        saratoga__serve_request(u, ev);
        break;
    case SARATOGA_EVENT_PROVEN:
        if (f != NULL) {
            saratoga__server_proven(f);
        }
        break;
    case SARATOGA_EVENT_METADATA:
        if (f != NULL && !saratoga__has_ended(f)) {
            saratoga__sink_metadata(f, ev);
        }
        break;
    case SARATOGA_EVENT_ACCEPTED:
    case SARATOGA_EVENT_WRITABLE:
        if (f != NULL) {
            saratoga__stream_go_on(f);
        }
        break;
    case SARATOGA_EVENT_PURGED:
        if (f != NULL) {
            f->recv.resumable = false;
        }
        break;
    case SARATOGA_EVENT_DONE:
        if (f != NULL && !saratoga__has_ended(f)) {
            on_done(f, ev);
        }
        break;
    case SARATOGA_EVENT_BEACON:
        events_on_beacon(u, ev);
        break;
    default:
        break;
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/node_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the engine says, and what the application hears. */

/* Events that wait, beyond which news of peers is left out. */
#define MANY 1024u

/* --- To the application -------------------------------------------------- */

void saratoga__tell(saratoga_node *u, const saratoga_node_event *ev,
                    uint8_t *memory) {
    struct saratoga__event *e = NULL;

    if (u->waiting < MANY || ev->type == SARATOGA_NODE_DONE) {
        e = calloc(1, sizeof(*e));
    }
    if (e == NULL) {
        free(memory);
        return;
    }
    e->ev = *ev;
    e->memory = memory;
    *(u->last != NULL ? &u->last->next : &u->first) = e;
    u->last = e;
    u->waiting++;
    if (u->on_events != NULL) {
        u->on_events(u->on_events_user);
    }
    if (u->loop == &u->own_loop) {
        uv_stop(u->loop);
    }
}

int saratoga_node_next_event(saratoga_node *u, saratoga_node_event *ev) {
    struct saratoga__event *e = u->first;

    if (e == NULL) {
        return 0;
    }
    u->first = e->next;
    u->last = u->first != NULL ? u->last : NULL;
    u->waiting--;
    free(u->record);
    u->record = e->memory;
    *ev = e->ev;
    free(e);
    return 1;
}

void saratoga__forget_events(saratoga_node *u) {
    saratoga_node_event ev;

    while (saratoga_node_next_event(u, &ev) == 1) {
    }
    free(u->record);
    u->record = NULL;
}

/* --- From the engine ----------------------------------------------------- */

static bool is_sent(const saratoga__file *f) {
    return f->source.entry.path[0] != '\0';
}

static void explain(saratoga__file *f, const saratoga_event *ev) {
    saratoga_node_event *r = &f->result;

    if (f->kept_out != 0) {
        (void)snprintf(r->text, sizeof(r->text), "%s",
                       f->kept_out == SARATOGA_ERR_AUTH
                           ? saratoga_strerror(f->kept_out)
                           : "the peer has as many secured sessions as it may");
    } else if (f->status != 0) { /* what was behind it */
        (void)snprintf(r->text, sizeof(r->text), "%s",
                       saratoga__error_text(f->status));
    } else if (ev->remote) {
        (void)snprintf(r->text, sizeof(r->text), "%s by the peer: %s",
                       r->stats.bytes > r->stats.resumed_bytes ? "ended"
                                                               : "refused",
                       saratoga_status_text(ev->status));
    } else if (ev->error == SARATOGA_ERR_AUTH) {
        (void)snprintf(r->text, sizeof(r->text), "%s",
                       is_sent(f)
                           ? "the peer's word that it has the file was not "
                             "signed with the key; the copy here stays"
                           : "the file's checksum was not made with the key");
    } else if (f->id == 0 && ev->error == SARATOGA_ERR_CANCELLED &&
               ev->status != SARATOGA_SUCCESS) {
        (void)snprintf(r->text, sizeof(r->text), "refused: %s",
                       saratoga_status_text(ev->status));
    } else {
        (void)snprintf(r->text, sizeof(r->text), "%s",
                       saratoga_strerror(ev->error));
    }
}

static void on_done(saratoga__file *f, const saratoga_event *ev) {
    saratoga_node_event *r = &f->result;

    saratoga_stats_init(&r->stats);
    (void)saratoga_transfer_get_stats(f->u->node, f->handle, &r->stats,
                                      saratoga__now());
    r->error = ev->error != 0 && f->kept_out != 0 ? f->kept_out : ev->error;
    r->status = ev->status;
    r->verified = ev->verified;
    if (ev->has_entry) {
        r->entry = ev->entry;
    }
    if (is_sent(f)) {
        r->entry = f->source.entry;
        r->checksum = f->source.checksum;
        r->unheard = f->to_group || f->options.multicast;
    }
    if (ev->error != 0) {
        explain(f, ev);
    }
    f->unchanged = ev->unchanged;
    r->already = (f->exists || f->unchanged) && ev->error == 0;
    f->remove = ev->remove && ev->error == 0 && f->fd >= 0;
    f->ended = true;
    saratoga__work_release(f, UV_ECANCELED);
    saratoga__file_settle(f);
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
    saratoga__tell(u, &out, NULL);
}

void saratoga__on_event(saratoga_node *u, const saratoga_event *ev) {
    saratoga__file *f = saratoga_transfer_user(u->node, ev->handle);

    switch (ev->type) {
    case SARATOGA_EVENT_REQUEST:
        saratoga__serve_request(u, ev);
        break;
    case SARATOGA_EVENT_METADATA:
        if (f != NULL && !f->ended) {
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
            f->resumable = false;
        }
        break;
    case SARATOGA_EVENT_DONE:
        if (f != NULL && !f->ended) {
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

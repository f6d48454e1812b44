/* SPDX-License-Identifier: MPL-2.0 */
/* The sessions of a carrier: look-up by id and path, the send queue, and
 * datagrams queued until a session is open. */
#include <string.h>

#include "internal/secure/carrier_impl.h"

static size_t chain(const sec__carrier *c, uint64_t key) {
    uint64_t x = (key ^ c->salt) * UINT64_C(0xff51afd7ed558ccd);
    return (x ^ x >> 32) & (SEC__CHAINS - 1);
}

sec__session *sec__session_new(sec__carrier *c, const sec__place *peer,
                               uint64_t now) {
    sec__session *s = cmn__alloc(&c->mem, sizeof(*s));
    sec__session **at;
    if (s == NULL) {
        return NULL;
    }
    s->id = sec__secret_next(&c->secret);
    if (s->id == 0) {
        cmn__free(&c->mem, s);
        return NULL;
    }
    s->peer = *peer;
    s->at = peer->path;
    s->heard = now;
    s->kept_end = &s->kept;
    s->due = UINT64_MAX;
    s->next = c->all;
    if (s->next != NULL) {
        s->next->prev = s;
    }
    c->all = s;
    at = &c->by_id[chain(c, s->id)];
    s->next_id = *at;
    *at = s;
    at = &c->by_path[chain(c, peer->path)];
    s->next_path = *at;
    *at = s;
    c->stats.sessions++;
    return s;
}

static void leave_path(sec__carrier *c, sec__session *s) {
    sec__session **at = &c->by_path[chain(c, s->peer.path)];
    while (*at != s) {
        at = &(*at)->next_path;
    }
    *at = s->next_path;
}

void sec__session_unready(sec__carrier *c, sec__session *s) {
    sec__session *before = NULL;
    sec__session **at = &c->ready;
    if (!s->ready) {
        return;
    }
    s->ready = false;
    while (*at != s) {
        before = *at;
        at = &(*at)->next_ready;
    }
    *at = s->next_ready;
    if (c->ready_last == s) {
        c->ready_last = before;
    }
}

void sec__session_drop_kept(sec__carrier *c, sec__session *s) {
    while (s->kept != NULL) {
        sec__kept *k = s->kept;
        s->kept = k->next;
        cmn__free(&c->mem, k);
    }
    s->kept_end = &s->kept;
    s->n_kept = 0;
    s->kept_bytes = 0;
}

void sec__session_free(sec__carrier *c, sec__session *s) {
    sec__session **at = &c->by_id[chain(c, s->id)];
    while (*at != s) {
        at = &(*at)->next_id;
    }
    *at = s->next_id;
    leave_path(c, s);
    sec__session_unready(c, s);
    if (s->next != NULL) {
        s->next->prev = s->prev;
    }
    *(s->prev != NULL ? &s->prev->next : &c->all) = s->next;
    if (s->admitted) {
        sec__admission_leave(&c->admission, &s->peer.origin,
                             s->state == SEC__OPEN);
    }
    sec__session_drop_kept(c, s);
    sec__hello_free(s->hello, &c->mem);
    sec__seal_free(s->seal, &c->mem);
    cmn__free(&c->mem, s);
    c->stats.sessions--;
}

sec__session *sec__session_of_id(const sec__carrier *c, uint64_t id) {
    sec__session *s = c->by_id[chain(c, id)];
    while (s != NULL && s->id != id) {
        s = s->next_id;
    }
    return s;
}

sec__session *sec__session_of_path(const sec__carrier *c, uint64_t path,
                                   enum sec__session_state state) {
    sec__session *s = c->by_path[chain(c, path)];
    while (s != NULL &&
           (s->peer.path != path || s->state != state || s->replaced)) {
        s = s->next_path;
    }
    return s;
}

sec__session *sec__session_of_caller(const sec__carrier *c, uint64_t path,
                                     uint64_t peer_id) {
    sec__session *s = c->by_path[chain(c, path)];
    while (s != NULL &&
           (s->caller || s->peer.path != path || s->peer_id != peer_id)) {
        s = s->next_path;
    }
    return s;
}

sec__session *sec__session_half_open(const sec__carrier *c, uint64_t random) {
    for (size_t i = 0; i < SEC__CHAINS; i++) {
        sec__session *s = c->by_id[(random + i) & (SEC__CHAINS - 1)];
        while (s != NULL && s->state != SEC__HALF_OPEN) {
            s = s->next_id;
        }
        if (s != NULL) {
            return s;
        }
    }
    return NULL;
}

void sec__session_to_front(sec__carrier *c, sec__session *s) {
    sec__session **at = &c->by_path[chain(c, s->peer.path)];
    leave_path(c, s);
    s->next_path = *at;
    *at = s;
}

void sec__session_ready(sec__carrier *c, sec__session *s) {
    if (s->ready) {
        return;
    }
    s->ready = true;
    s->next_ready = NULL;
    *(c->ready_last != NULL ? &c->ready_last->next_ready : &c->ready) = s;
    c->ready_last = s;
}

void sec__session_arm(sec__carrier *c, sec__session *s, uint64_t due) {
    s->due = due;
    c->wake = due < c->wake ? due : c->wake;
}

void sec__session_keep(sec__carrier *c, sec__session *s, const uint8_t *dgram,
                       size_t len) {
    sec__kept *k = NULL;
    if (s->state == SEC__CALLING && s->n_kept < SEC__KEPT_MAX &&
        s->kept_bytes + len <= SEC__KEPT_BYTES) {
        k = cmn__alloc(&c->mem, sizeof(*k) + len);
    }
    if (k == NULL) {
        c->stats.lost++;
        return;
    }
    k->len = len;
    memcpy(k->data, dgram, len);
    *s->kept_end = k;
    s->kept_end = &k->next;
    s->n_kept++;
    s->kept_bytes += len;
}

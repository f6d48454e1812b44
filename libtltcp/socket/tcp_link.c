/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams from the engines to TCP connections. */
#include "libtltcp/socket/tcp_link.h"

#include <stdlib.h>
#include <string.h>

#include "libtltcp/socket/schedule.h"

/* Number of bursts of one connection before the next one has its turn. */
#define LINK_BURSTS 16

static void link_send(struct tltcp__link *l, size_t len, size_t segment) {
    uv_mutex_t *mx = &l->port->io->mx;

    uv_mutex_unlock(mx);
    tltcp__pipe_send(l->pipe, len, segment);
    uv_mutex_lock(mx);
}

void tltcp__link_output(tltcp_socket *s) {
    struct tltcp__link *l = s->link;

    for (int i = 0; l != NULL && i < LINK_BURSTS; i++) {
        tltcp_pktinfo info;
        size_t segment = 0;
        size_t cap = 0;
        uint8_t *room = tltcp__pipe_room(l->pipe, &cap);
        size_t len;

        if (room == NULL) {
            tltcp_conn_set_blocked(tltcp__engine(s), true);
            return;
        }
        len = tltcp_conn_send(tltcp__engine(s), &info, room, cap, &segment,
                              tltcp_now());
        if (len == 0) {
            return;
        }
        s->port->io->window_bytes += len;
        link_send(l, len, segment);
    }
    if (l != NULL) {
        tltcp__schedule(s); /* more to send, after the others */
    }
}

bool tltcp__link_reply(struct tltcp__link *l, const uint8_t *dgram,
                       size_t len) {
    size_t cap = 0;
    uint8_t *room = tltcp__pipe_room(l->pipe, &cap);

    if (room == NULL || len > cap) {
        return false;
    }
    memcpy(room, dgram, len);
    link_send(l, len, len);
    return true;
}

void tltcp__link_on_writable(void *link) {
    struct tltcp__link *l = link;
    uv_mutex_t *mx = &l->port->io->mx;

    uv_mutex_lock(mx);
    if (l->s != NULL && l->s->reliable) {
        tltcp_conn_set_blocked(tltcp__engine(l->s), false);
        tltcp__schedule(l->s);
    }
    uv_mutex_unlock(mx);
}

void tltcp__link_drop(tltcp_socket *s) {
    if (s->link != NULL) {
        tltcp__pipe_close(s->link->pipe);
        free(s->link);
        s->link = NULL;
    }
}

void tltcp__link_close(struct tltcp__link *l) {
    tltcp__pipe_close(l->pipe);
    free(l);
}

void tltcp__link_abort(struct tltcp__link *l) {
    tltcp__pipe_abort(l->pipe);
    free(l);
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Serves many callers from one thread with poll(): sends back all received
 * data.
 *
 *   poll_loop PORT
 */
#include <poll.h>
#include <stdio.h>

#include <tltcp/socket.h>

#define CALLERS 100
#define ROOM 65536

struct server {
    tltcp_socket *listener;
    tltcp_socket *caller[CALLERS];
    struct pollfd fds[CALLERS + 1]; /* [0]: the listener */
    nfds_t count;
};

static void take_callers(struct server *srv) {
    tltcp_socket *s;

    while (srv->count <= CALLERS && tltcp_accept(srv->listener, &s, 0) == 0) {
        int fd = tltcp_fd(s);

        if (fd < 0) { /* too many are open */
            (void)tltcp_close(s, 0);
            continue;
        }
        srv->caller[srv->count - 1] = s;
        srv->fds[srv->count].fd = fd;
        srv->fds[srv->count].events = POLLIN;
        srv->count++;
    }
}

/* Returns false if the caller is gone. */
static bool echo(tltcp_socket *s) {
    static char room[ROOM];
    ssize_t rv;

    do {
        tltcp_piece piece = {.data = room, .len = sizeof(room)};
        struct iovec part = {.iov_base = room};
        tltcp_section section = {.data = &part, .count = 1};
        size_t count = 1;

        rv = tltcp_recv(s, &piece, &count, MSG_DONTWAIT);
        if (rv > 0 && piece.kind == TL_DATA) {
            part.iov_len = piece.len;
            /* A caller that does not read the echo loses it. */
            (void)tltcp_send(s, &section, 1, MSG_DONTWAIT);
        }
    } while (rv > 0);
    return rv == TLTCP_ERR_AGAIN;
}

static void drop(struct server *srv, nfds_t i) {
    tltcp_close(srv->caller[i - 1], 100);
    srv->count--;
    srv->caller[i - 1] = srv->caller[srv->count - 1];
    srv->fds[i] = srv->fds[srv->count];
}

/* While all places are taken, further callers wait at the listener. */
static bool wait_for_something(struct server *srv) {
    srv->fds[0].events = srv->count <= CALLERS ? POLLIN : 0;
    return poll(srv->fds, srv->count, -1) >= 0;
}

int main(int argc, char **argv) {
    static struct server srv;
    int rv;

    if (argc < 2) {
        fprintf(stderr, "usage: %s PORT\n", argv[0]);
        return 2;
    }
    rv = tltcp_listen(&srv.listener, NULL, argv[1], NULL);
    if (rv != 0) {
        fprintf(stderr, "port %s: %s\n", argv[1], tltcp_strerror(rv));
        return 1;
    }
    srv.fds[0].fd = tltcp_fd(srv.listener);
    if (srv.fds[0].fd < 0) {
        fprintf(stderr, "no descriptor: %s\n", tltcp_strerror(srv.fds[0].fd));
        return 1;
    }
    srv.count = 1;
    while (wait_for_something(&srv)) {
        for (nfds_t i = srv.count - 1; i > 0; i--) {
            if ((srv.fds[i].revents & POLLIN) != 0 &&
                !echo(srv.caller[i - 1])) {
                drop(&srv, i);
            }
        }
        if ((srv.fds[0].revents & POLLIN) != 0) {
            take_callers(&srv);
        }
    }
    perror("poll");
    return 1;
}

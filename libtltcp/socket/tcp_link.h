/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_TCP_LINK_H
#define TLTCP_SOCKET_TCP_LINK_H

#include "libtltcp/socket/state.h"
#include "libtltcp/tcp/frames.h"
#include "libtltcp/tcp/pipe.h"

/*
 * A TCP connection of a port, and the socket whose datagrams it carries. All
 * calls are on the I/O thread and require the mutex.
 */
struct tltcp__link {
    struct tltcp__port *port;
    tltcp__pipe *pipe;
    tltcp_socket *s; /* NULL: a listener's, whose peer has not called yet */
    net__route route;
    tltcp_pktinfo info;        /* of its datagrams */
    unsigned calls;            /* datagrams while there was no socket */
    struct tltcp__link *older; /* of the crowd without a socket */
    struct tltcp__link *newer;
};

/* Sends what the connection of the socket has to send, until the TCP connection
 * takes no more. Releases the mutex meanwhile. */
void tltcp__link_output(tltcp_socket *s);
/* Sends one datagram; false: blocked. */
bool tltcp__link_reply(struct tltcp__link *l, const uint8_t *dgram, size_t len);
/* Callback of the pipe: no longer blocked. */
void tltcp__link_on_writable(void *link);
/* Closes and frees the link of a socket, if there is one. */
void tltcp__link_drop(tltcp_socket *s);
/* Closes and frees a link without a socket; after what it has answered, which
 * takes a while, or at once. */
void tltcp__link_close(struct tltcp__link *l);
void tltcp__link_abort(struct tltcp__link *l);

#endif /* TLTCP_SOCKET_TCP_LINK_H */

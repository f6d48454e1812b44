/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_TCP_ACCEPT_H
#define TLTCP_SOCKET_TCP_ACCEPT_H

#include "libtltcp/socket/state.h"

/* A listener's TCP connections. All calls are on the I/O thread. */

/* Listens for TCP connections. Returns 0 or UV_E... */
int tltcp__tcp_listen(struct tltcp__port *port, const net__addr *bind);
/* Closes the TCP socket and connections without a socket. */
void tltcp__tcp_listen_close(struct tltcp__port *port);

#endif /* TLTCP_SOCKET_TCP_ACCEPT_H */

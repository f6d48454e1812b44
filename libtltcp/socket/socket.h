/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_SOCKET_H
#define TLTCP_SOCKET_SOCKET_H

#include "libtltcp/socket/state.h"

/* Makes a socket; a connection takes ownership of `conn`. NULL: out of
 * memory. */
tltcp_socket *tltcp__socket_new(struct tltcp__port *port, tltcp_conn *conn);
void tltcp__socket_free(tltcp_socket *s);
/* Removes a connection from its port's list. */
void tltcp__socket_unlink(tltcp_socket *s);

#endif /* TLTCP_SOCKET_SOCKET_H */

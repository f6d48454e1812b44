/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_SOCKET_H
#define TLTCP_SOCKET_SOCKET_H

#include "libtltcp/socket/state.h"

/* Makes a socket; a connection takes ownership of `conn`. NULL: out of
 * memory. */
tltcp_socket *tltcp__socket_new(struct tltcp__port *port, tltcp_conn *conn);
void tltcp__socket_free(tltcp_socket *s);
/* Frees a connection's engine and all that the I/O thread holds for it; the
 * handle remains. Requires that it is not scheduled. */
void tltcp__socket_end(tltcp_socket *s);

#endif /* TLTCP_SOCKET_SOCKET_H */

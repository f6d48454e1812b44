/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_LOCAL_H
#define TLTCP_SOCKET_LOCAL_H

#include "libtltcp/socket/state.h"

/* Tells the engine of a connection over the loopback interface that no process
 * forwards its datagrams, if the peer sees the same address of the caller.
 * Requires the mutex. */
void tltcp__say_local(tltcp_socket *s, const net__addr *caller);

#endif /* TLTCP_SOCKET_LOCAL_H */

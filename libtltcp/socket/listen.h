/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_LISTEN_H
#define TLTCP_SOCKET_LISTEN_H

#include "libtltcp/socket/state.h"

/* Implements tltcp_close() for listeners. */
void tltcp__listener_close(tltcp_socket *s);

#endif /* TLTCP_SOCKET_LISTEN_H */

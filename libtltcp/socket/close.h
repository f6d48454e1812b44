/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_CLOSE_H
#define TLTCP_SOCKET_CLOSE_H

#include "libtltcp/socket/state.h"

/* Ends a connection at once and frees it. */
void tltcp__abandon(tltcp_socket *s);

#endif /* TLTCP_SOCKET_CLOSE_H */

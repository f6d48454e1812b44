/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_ADMIT_H
#define TLTCP_SOCKET_ADMIT_H

#include "libtltcp/socket/state.h"

/* Handles a new caller of a listener: asks the application, then accepts or
 * refuses. On the I/O thread. Requires the mutex, which is released while the
 * application decides. Takes ownership of `conn`. NULL: out of memory. */
tltcp_socket *tltcp__admit(struct tltcp__port *port, tltcp_conn *conn,
                           uint64_t token, const net__route *route);

#endif /* TLTCP_SOCKET_ADMIT_H */

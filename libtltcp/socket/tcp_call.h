/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_TCP_CALL_H
#define TLTCP_SOCKET_TCP_CALL_H

#include "libtltcp/socket/state.h"

/* Calls over TCP, one address after the other, while UDP is still tried if the
 * port has it. The connection goes over to the first that answers. Requires
 * the mutex, on the I/O thread. */
void tltcp__tcp_call(tltcp_socket *s);
/* Gives up an attempt over TCP: UDP was faster. */
void tltcp__tcp_call_stop(tltcp_socket *s);

#endif /* TLTCP_SOCKET_TCP_CALL_H */

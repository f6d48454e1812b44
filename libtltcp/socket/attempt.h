/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_ATTEMPT_H
#define TLTCP_SOCKET_ATTEMPT_H

#include "libtltcp/socket/state.h"

/* A caller's attempts to connect, one address after the other. All calls are on
 * the I/O thread and require the mutex. */

/* Starts with the first reachable address. Returns 0 or UV_E... */
int tltcp__attempt_first(struct tltcp__port *port);
/* Handles an error of the UDP socket. */
void tltcp__attempt_on_error(struct tltcp__port *port, int status);
/* Records a sent datagram. */
void tltcp__attempt_on_sent(struct tltcp__port *port, const uint8_t *data,
                            size_t len);
/* Tries the next address when due; later it keeps the route alive. */
void tltcp__attempt_turn(tltcp_socket *s);

#endif /* TLTCP_SOCKET_ATTEMPT_H */

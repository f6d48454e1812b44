/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_ATTEMPT_H
#define TLTCP_SOCKET_ATTEMPT_H

#include "libtltcp/socket/state.h"

/* A caller's attempts to connect, one address after the other.  All on the I/O
 * thread, under the mutex. */

/* Starts with the first address that can be reached.  Returns UV_E... */
int tltcp__attempt_first(struct tltcp__port *port);
/* Takes an error of the UDP socket. */
void tltcp__attempt_on_error(struct tltcp__port *port, int status);
/* Takes note of a datagram that leaves. */
void tltcp__attempt_on_sent(struct tltcp__port *port, const uint8_t *data,
                            size_t len);
/* Tries the next address if it is time, and keeps the route alive later. */
void tltcp__attempt_turn(tltcp_socket *s);

#endif /* TLTCP_SOCKET_ATTEMPT_H */

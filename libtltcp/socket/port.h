/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_PORT_H
#define TLTCP_SOCKET_PORT_H

#include "libtltcp/socket/state.h"

/* A UDP or TCP socket with its listener or connections. */

/* Makes a port with one user.  A listener's I/O thread serves it alone, a
 * caller's is shared.  Returns 0 or a negative tltcp_error. */
int tltcp__port_new(struct tltcp__port **out, const tltcp_config *c,
                    bool listener);
/* Opens the sockets of its transport; from now on the engines get its input.
 * `bind` NULL: any address of `family`. Returns 0 or a negative tltcp_error.
 */
int tltcp__port_open(struct tltcp__port *port, const net__addr *bind,
                     int family);
/* Fills in the internal configuration of an engine on the port, in addition to
 * the application's. */
int tltcp__port_engine(struct tltcp__port *port, tltcp_config *inner,
                       uint8_t seed[TLTCP_SEED_LEN]);
/* Releases one user; with the last one the port is closed and freed. */
void tltcp__port_release(struct tltcp__port *port);

#endif /* TLTCP_SOCKET_PORT_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_PORT_H
#define TLTCP_SOCKET_PORT_H

#include "libtltcp/socket/state.h"

/* A UDP or TCP socket with its listener or connections. */

/* Makes a caller's port. Returns 0 or a negative tltcp_error. */
int tltcp__port_new(struct tltcp__port **out, const tltcp_config *c);
/* Makes a listener, with a port for each of its I/O threads, and one user.
 * Returns 0 or a negative tltcp_error. */
int tltcp__port_new_listener(struct tltcp__listener **out,
                             const tltcp_config *c);
/* Opens the sockets of its transport, for a listener's first port those of all
 * its ports; from now on the engines get their input. `bind` NULL: any address
 * of `family`. Returns 0 or a negative tltcp_error. */
int tltcp__port_open(struct tltcp__port *port, const net__addr *bind,
                     int family);
/* Fills in the internal configuration of an engine on the port, in addition to
 * the application's. */
int tltcp__port_engine(struct tltcp__port *port, tltcp_config *inner,
                       uint8_t seed[TLTCP_SEED_LEN]);
/* Releases one user; with the last one the port, or the listener with all its
 * ports, is closed and freed. */
void tltcp__port_release(struct tltcp__port *port);

#endif /* TLTCP_SOCKET_PORT_H */

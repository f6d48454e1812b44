/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_EVENTS_H
#define TLTCP_SOCKET_EVENTS_H

#include "libtltcp/socket/state.h"

/* Takes the engine's events. Requires the mutex. */
void tltcp__take_events(tltcp_socket *s);

#endif /* TLTCP_SOCKET_EVENTS_H */

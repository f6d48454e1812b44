/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_ACCEPT_QUEUE_H
#define TLTCP_SOCKET_ACCEPT_QUEUE_H

#include "libtltcp/socket/state.h"

/* Callers of a listener that wait for tltcp_accept(). All calls require the
 * mutex. */

/* Counts a caller that enters the queue once it is connected. */
void tltcp__accept_expect(tltcp_socket *s);
/* Puts a connected caller into the queue. */
void tltcp__accept_push(tltcp_socket *s);
/* Removes a caller and no longer counts it. */
void tltcp__accept_drop(tltcp_socket *s);

#endif /* TLTCP_SOCKET_ACCEPT_QUEUE_H */

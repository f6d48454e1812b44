/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_ACCEPT_QUEUE_H
#define TLTCP_SOCKET_ACCEPT_QUEUE_H

#include "libtltcp/socket/state.h"

/* Callers of a listener that wait for tltcp_accept(). The calls take the
 * listener's mutex; those about a caller require the mutex of its thread. */

/* False: tltcp_close() was called. */
bool tltcp__accept_is_open(struct tltcp__listener *l);
/* Why no further caller can be accepted; NULL: one can. */
const char *tltcp__accept_refusal(struct tltcp__listener *l);
/* Before and after the application is asked about a caller; false: the listener
 * was closed. */
bool tltcp__accept_ask(struct tltcp__listener *l);
void tltcp__accept_asked(struct tltcp__listener *l);

/* Counts a caller that enters the queue once it is connected. */
void tltcp__accept_expect(tltcp_socket *s);
/* Puts a connected caller into the queue. */
void tltcp__accept_push(tltcp_socket *s);
/* The caller's connection has ended: it remains in the queue if there is
 * something to read, which is not so after an error. */
void tltcp__accept_on_closed(tltcp_socket *s, int error);
/* Removes a caller and no longer counts it. */
void tltcp__accept_drop(tltcp_socket *s);
/* Whether the caller is in the queue, or the application has taken it. */
bool tltcp__accept_holds(const tltcp_socket *s);
/* Takes the next caller out of the queue; NULL: there is none. Requires the
 * listener's mutex. */
tltcp_socket *tltcp__accept_take(struct tltcp__listener *l);

#endif /* TLTCP_SOCKET_ACCEPT_QUEUE_H */

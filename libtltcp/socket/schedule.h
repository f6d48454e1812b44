/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_SCHEDULE_H
#define TLTCP_SOCKET_SCHEDULE_H

#include "libtltcp/socket/state.h"

/* Connections that the I/O thread must serve. All calls require the mutex. */

/* Schedules a connection, from the I/O thread. */
void tltcp__schedule(tltcp_socket *s);
/* The same from an application's thread: wakes the I/O thread. */
void tltcp__wake(tltcp_socket *s);
/* Takes the next one, or NULL. */
tltcp_socket *tltcp__next_scheduled(struct tltcp__io_thread *io);
/* Removes a connection that is about to be freed. */
void tltcp__unschedule(tltcp_socket *s);
/* Releases a connection: it is freed once its last datagrams have been sent. */
void tltcp__release(tltcp_socket *s);
/* The kernel accepts datagrams again: schedules the waiting sockets. */
void tltcp__unblock(struct tltcp__port *port);
/* Flushes the port's UDP socket at the end of this turn. */
void tltcp__flush_later(struct tltcp__port *port);

#endif /* TLTCP_SOCKET_SCHEDULE_H */

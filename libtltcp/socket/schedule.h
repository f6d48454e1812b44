/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_SCHEDULE_H
#define TLTCP_SOCKET_SCHEDULE_H

#include "libtltcp/socket/state.h"

/* Which connections the I/O thread has to look at.  All under the mutex. */

/* Schedules a connection, from the I/O thread. */
void tltcp__schedule(tltcp_socket *s);
/* The same from an application's thread: wakes the I/O thread. */
void tltcp__wake(tltcp_socket *s);
/* Takes the next one, or NULL. */
tltcp_socket *tltcp__next_scheduled(struct tltcp__io_thread *io);
/* Takes a connection out that is about to be freed. */
void tltcp__unschedule(tltcp_socket *s);
/* Gives a connection back: it is freed once what ends it has been sent. */
void tltcp__release(tltcp_socket *s);
/* The kernel takes datagrams again: schedules the sockets that wait for it. */
void tltcp__unblock(struct tltcp__port *port);
/* At the end of this turn what was put on the port's UDP socket is sent. */
void tltcp__flush_later(struct tltcp__port *port);

#endif /* TLTCP_SOCKET_SCHEDULE_H */

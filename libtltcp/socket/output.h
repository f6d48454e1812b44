/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_OUTPUT_H
#define TLTCP_SOCKET_OUTPUT_H

#include "libtltcp/socket/state.h"

/* A connection's turn on the I/O thread. All calls require the mutex, which all
 * but tltcp__output_written() release while datagrams are sent. */

/* Takes its events, puts its datagrams on the UDP socket, sets its timer, and
 * frees it when it is no longer needed. */
void tltcp__output(tltcp_socket *s);
/* After an application has written, on its own thread: sends what may leave at
 * once, if the I/O thread sleeps and need not be woken for that. */
void tltcp__output_written(tltcp_socket *s);
/* Flushes one UDP socket. False: blocked. */
bool tltcp__output_flush_port(struct tltcp__port *port);
/* Flushes the UDP sockets. */
void tltcp__output_flush(struct tltcp__io_thread *io);

#endif /* TLTCP_SOCKET_OUTPUT_H */

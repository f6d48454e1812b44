/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_TRACE_H
#define TLTCP_SOCKET_TRACE_H

#include "libtltcp/socket/state.h"

/*
 * What the engines trace is queued under the mutex, and handed to on_trace and
 * to the qlog files by the I/O thread when it is free.  The queue
 * has a limit; beyond it events are left out, and the files say how many.
 */

/* Makes what `c` asks for: *t stays NULL when it asks for nothing.  Returns 0,
 * TLTCP_ERR_IO when qlog_dir cannot be written to, or TLTCP_ERR_NOMEM. */
int tltcp__tracer_new(struct tltcp__tracer **t, struct tltcp__port *port,
                      const tltcp_config *c);
void tltcp__tracer_free(struct tltcp__tracer *t);

/* tltcp_config::on_trace of the engines; `user` is the port. */
void tltcp__tracer_take(void *user, const tltcp_trace_event *ev);
/* Events whose connection was not known when they came are this one's. */
void tltcp__tracer_adopt(struct tltcp__tracer *t, tltcp_socket *s);
/* On the I/O thread, mutex free. */
void tltcp__tracer_flush(struct tltcp__tracer *t);

/* Opens the qlog file of a connection, if wanted.  Under the mutex.  Returns 0,
 * TLTCP_ERR_IO or TLTCP_ERR_NOMEM. */
int tltcp__trace_open(tltcp_socket *s);
/* Closes it once all is written.  Under the mutex. */
void tltcp__trace_close(tltcp_socket *s);

#endif /* TLTCP_SOCKET_TRACE_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_TRACE_H
#define TLTCP_SOCKET_TRACE_H

#include "libtltcp/socket/state.h"

/*
 * Trace events of the engines are queued under the mutex. The I/O thread passes
 * them to on_trace and to the qlog files with the mutex released. The queue has
 * a limit; beyond it events are left out.
 */

/* Makes the tracer that `c` requests: *t stays NULL if it requests none.
 * Returns 0, TLTCP_ERR_IO when qlog_dir cannot be written to, or
 * TLTCP_ERR_NOMEM. */
int tltcp__tracer_new(struct tltcp__tracer **t, struct tltcp__port *port,
                      const tltcp_config *c);
void tltcp__tracer_free(struct tltcp__tracer *t);

/* tltcp_config::on_trace of the engines; `user` is the port. */
void tltcp__tracer_take(void *user, const tltcp_trace_event *ev);
/* Assigns to this connection the events that arrived before it was known. Both
 * may be NULL. */
void tltcp__tracer_adopt(struct tltcp__tracer *t, tltcp_socket *s);
/* On the I/O thread, without the mutex. */
void tltcp__tracer_flush(struct tltcp__tracer *t);

/* Opens the qlog file of a connection, if wanted. Requires the mutex. Returns
 * 0, TLTCP_ERR_IO or TLTCP_ERR_NOMEM. */
int tltcp__trace_open(tltcp_socket *s);
/* Closes it once all is written. Requires the mutex. */
void tltcp__trace_close(tltcp_socket *s);

#endif /* TLTCP_SOCKET_TRACE_H */

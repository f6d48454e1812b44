/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_EVENT_LOOP_H
#define TLTCP_SOCKET_EVENT_LOOP_H

#include "libtltcp/socket/state.h"

/* The loop of an I/O thread. */

/* Makes the loop and its handles.  `on_wake` runs when another thread calls.
 * Returns 0 or UV_E... */
int tltcp__loop_open(struct tltcp__io_thread *io, uv_async_cb on_wake);
/* Closes the handles, which ends the loop. */
void tltcp__loop_close(struct tltcp__io_thread *io);
/* Gives every scheduled connection its turn. On the I/O thread, without the
 * mutex. True: some are left. */
bool tltcp__loop_turn(struct tltcp__io_thread *io);

#endif /* TLTCP_SOCKET_EVENT_LOOP_H */

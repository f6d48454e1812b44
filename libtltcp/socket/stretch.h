/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_STRETCH_H
#define TLTCP_SOCKET_STRETCH_H

#include "libtltcp/socket/state.h"

/* Keys of passphrases are made on libuv's pool, so that no stream on the same
 * I/O thread waits for them.  On the I/O thread, under the mutex. */

/* After something arrived: makes the key that the connection waits for. */
void tltcp__stretch(tltcp_socket *s);
/* The connection is about to be freed. */
void tltcp__stretch_forget(tltcp_socket *s);

#endif /* TLTCP_SOCKET_STRETCH_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_STRETCH_H
#define TLTCP_SOCKET_STRETCH_H

#include "libtltcp/socket/state.h"

/* Keys are derived from passphrases on libuv's pool, so that no stream on the
 * same I/O thread waits for them. On the I/O thread; requires the mutex. */

/* Call this after input: derives the key for which the connection waits. */
void tltcp__stretch(tltcp_socket *s);
/* The connection is about to be freed. */
void tltcp__stretch_forget(tltcp_socket *s);

#endif /* TLTCP_SOCKET_STRETCH_H */

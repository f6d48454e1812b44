/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_READINESS_H
#define TLTCP_SOCKET_READINESS_H

#include "libtltcp/socket/state.h"

/* Readiness of a socket, and waiting for it. All calls require the mutex. */

bool tltcp__has_signals(const tltcp_socket *s);
/* Wakes the threads and raises the descriptors whose condition changed. */
void tltcp__notify(tltcp_socket *s);
/* Call this after a call into the engine from an application's thread. */
void tltcp__after_call(tltcp_socket *s);
/* Waits for a condition until `until`. False: timed out. */
bool tltcp__wait(tltcp_socket *s, uv_cond_t *on, unsigned *count,
                 tltcp_time until);

#endif /* TLTCP_SOCKET_READINESS_H */

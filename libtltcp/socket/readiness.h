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
/* Waits, as one of those threads, until `until`. False: nobody woke it. */
bool tltcp__wait(tltcp_socket *s, struct tltcp__waiter **list,
                 tltcp_time until);
void tltcp__wake_all(struct tltcp__waiter **list);

#endif /* TLTCP_SOCKET_READINESS_H */

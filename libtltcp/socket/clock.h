/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_CLOCK_H
#define TLTCP_SOCKET_CLOCK_H

#include <tltcp/types.h>

/* The clock and the errors of libuv in the terms of the socket API. */

/* A timeout in milliseconds as a point in time; < 0: never. */
tltcp_time tltcp__until(int timeout_ms);
/* UV_E... as a tltcp_error. */
int tltcp__error_of(int status);

/* Sleeps for less than a millisecond, where the system can. */
#if defined(_WIN32)
#define TLTCP__CAN_SLEEP false
#else
#define TLTCP__CAN_SLEEP true
#endif
void tltcp__sleep(tltcp_time duration);

#endif /* TLTCP_SOCKET_CLOCK_H */

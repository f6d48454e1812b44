/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_TCP_STREAM_SOCKET_H
#define TLTCP_TCP_STREAM_SOCKET_H

#include <sys/socket.h>

#include "internal/net/address.h"

/* The system's TCP sockets. */

#if defined(MSG_NOSIGNAL)
#define TLTCP__NO_SIGPIPE MSG_NOSIGNAL
#else
#define TLTCP__NO_SIGPIPE 0 /* SO_NOSIGPIPE is set instead */
#endif

/* A non-blocking TCP socket that programs do not inherit, bound to `bind`
 * unless that is NULL. Returns 0 or UV_E... */
int tltcp__stream_open(int *out, int family, const net__addr *bind);
/* Accepts the next connection as such a socket. Returns -1 if there is none,
 * with errno set. */
int tltcp__stream_accept(int fd, net__addr *from);
int tltcp__stream_local(int fd, net__addr *a);

#endif /* TLTCP_TCP_STREAM_SOCKET_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_NET_H
#define TESTS_LOOPBACK_NET_H

/* Sockets of the system by their POSIX names; net_begin() before the first. */

#if defined(_WIN32)
#include <winsock2.h>
#include <ws2tcpip.h>
#define poll WSAPoll
#define close closesocket

static inline int net_begin(void) {
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data);
}
#else
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static inline int net_begin(void) {
    return 0;
}
#endif

#endif /* TESTS_LOOPBACK_NET_H */

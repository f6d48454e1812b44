/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#if defined(_WIN32)
#include <ws2tcpip.h>
#else
#include <netinet/in.h>
#endif

/* IPv4 and IPv6 socket addresses in one type. */
typedef union net__addr {
    struct sockaddr sa;
    struct sockaddr_in in4;
    struct sockaddr_in6 in6;
} net__addr;

socklen_t net__addr_len(const net__addr *a);
uint16_t net__addr_port(const net__addr *a);
/* The address as 16 bytes, IPv4 mapped. */
void net__addr_ip(const net__addr *a, struct in6_addr *ip);
/* Whether packets to it never leave the machine. */
bool net__addr_is_loopback(const net__addr *a);
/* Turns an IPv4 address into a mapped one, for IPv6 sockets. */
void net__addr_map(net__addr *a);
/* Turns a mapped address back into IPv4, for applications. */
void net__addr_unmap(net__addr *a);

#endif /* NET_ADDRESS_H */

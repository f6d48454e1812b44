/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/linkem/udp.h
 * @brief Datagrams with their ECN codepoint, in and out of sockets.
 */
#ifndef TOOLS_LINKEM_UDP_H
#define TOOLS_LINKEM_UDP_H

#include "sim/link.h"
#include "tools/common/address.h"

/** Room for any datagram. */
#define UDP_DATAGRAM_MAX 65536

/** @brief Datagrams of one sender, back to back, and their control data. */
struct udp_message {
    struct msghdr hdr;
    struct iovec iov;
    _Alignas(struct cmsghdr) char control[2 * CMSG_SPACE(sizeof(int))];
};

/** @brief A non-blocking socket with room for bursts, with ECN, and with
 * UDP_GRO: a train that was sent with UDP_SEGMENT arrives whole.
 * @param family  AF_INET or AF_INET6 @return descriptor or -1 */
int udp_socket(int family);

/**
 * @brief Receives a datagram, or a train of them.
 * @param fd         socket
 * @param[out] m     for udp_ecn() and udp_segment()
 * @param buffer     ::UDP_DATAGRAM_MAX bytes
 * @param[out] from  the sender
 * @return bytes, or -1 with errno
 */
ssize_t udp_receive(int fd, struct udp_message *m, void *buffer,
                    struct address *from);

/** @brief The codepoint of what was received. @param m  filled in */
uint32_t udp_ecn(struct udp_message *m);

/** @brief Bytes of each datagram of a received train; the last may be shorter.
 * @param m  filled in @param len  of the train */
size_t udp_segment(struct udp_message *m, size_t len);

/**
 * @brief Sends a packet.
 * @param fd     socket
 * @param to     destination
 * @param named  the socket is not connected
 * @param p      contents and codepoint
 * @return false if the system refused
 */
bool udp_send(int fd, const struct address *to, bool named,
              const struct sim_packet *p);

#endif /* TOOLS_LINKEM_UDP_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_UDP_LINUX_SEND_H
#define NET_UDP_LINUX_SEND_H

#include "internal/net/udp_linux_types.h"

/* Sends entries [first, count) of the queue.  False: the kernel takes no more.
 * `remote`: leaves errors in net__udp::error. */
bool net__udp_linux_send(struct net__udp_linux *f, bool remote);

#endif /* NET_UDP_LINUX_SEND_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_UDP_LINUX_H
#define NET_UDP_LINUX_H

#include "internal/net/udp.h"

/* UDP by sendmmsg() and recvmmsg() with UDP_SEGMENT and UDP_GRO.  Arguments and
 * result are those of net__udp_open(). */
int net__udp_linux_open(net__udp **u, uv_loop_t *loop,
                        const net__udp_options *o);

#endif /* NET_UDP_LINUX_H */

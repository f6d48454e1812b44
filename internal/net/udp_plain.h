/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NET_UDP_PLAIN_H
#define NET_UDP_PLAIN_H

#include "internal/net/udp.h"

/* UDP by uv_udp, for every system.  Arguments and result are those of
 * net__udp_open(). */
int net__udp_plain_open(net__udp **u, uv_loop_t *loop,
                        const net__udp_options *o);

#endif /* NET_UDP_PLAIN_H */

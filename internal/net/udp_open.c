/* SPDX-License-Identifier: MPL-2.0 */
/* Chooses the implementation of a socket. */
#include "internal/net/udp_plain.h"

#if defined(__linux__)
#include "internal/net/udp_linux.h"
#endif

int net__udp_open(net__udp **u, uv_loop_t *loop, const net__udp_options *o) {
#if defined(__linux__)
    if (!o->plain) {
        return net__udp_linux_open(u, loop, o);
    }
#endif
    return o->lite ? UV_EPROTONOSUPPORT : net__udp_plain_open(u, loop, o);
}

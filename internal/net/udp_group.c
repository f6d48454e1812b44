/* SPDX-License-Identifier: MPL-2.0 */
/* Several sockets on one address, and which of them gets a datagram. */
#include "internal/net/udp.h"

#if defined(__linux__)
#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>

#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF 51 /* Linux 4.5 */
#endif

/* As the result of the filter, no socket: the kernel chooses one by a hash of
 * both addresses. */
#define GROUP_BY_HASH UINT32_MAX

static int group_set(const net__udp *u, int option, const void *value,
                     socklen_t len) {
    if (setsockopt(net__udp_fileno(u), SOL_SOCKET, option, value, len) == 0) {
        return 0;
    }
    return errno == ENOPROTOOPT ? UV_ENOTSUP : uv_translate_sys_error(errno);
}

int net__udp_lead(net__udp *u) {
    int on = 1;

    return group_set(u, SO_REUSEPORT, &on, sizeof(on));
}

/* The filter sees the UDP payload. Where that is too short, loading ends it
 * with 0. */
int net__udp_steer(net__udp *u, const net__steering *by) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, by->mask),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, by->value, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, GROUP_BY_HASH),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, by->at),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, by->count),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]),
                                       .filter = code};

    return group_set(u, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program));
}

#else

int net__udp_lead(net__udp *u) {
    (void)u;
    return UV_ENOTSUP;
}

int net__udp_steer(net__udp *u, const net__steering *by) {
    (void)u;
    (void)by;
    return UV_ENOTSUP;
}

#endif

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_TCP_ACCEPTOR_H
#define TLTCP_TCP_ACCEPTOR_H

#include "internal/net/udp.h"

/* A listening TCP socket on a libuv loop. Make all calls from its thread. */

typedef struct tltcp__acceptor tltcp__acceptor;

typedef struct tltcp__acceptor_ops {
    /* A connection arrived; the callback owns fd, which does not block. */
    void (*on_connection)(void *owner, int fd, const net__route *route);
    /* Connections wait, for there are no descriptors or no memory. True: some
     * will be free soon. */
    bool (*on_scarce)(void *owner);
} tltcp__acceptor_ops;

/* Returns 0 or UV_E... */
int tltcp__acceptor_open(tltcp__acceptor **out, uv_loop_t *loop,
                         const net__addr *bind, const tltcp__acceptor_ops *ops,
                         void *owner);
int tltcp__acceptor_local(const tltcp__acceptor *a, net__addr *local);
void tltcp__acceptor_close(tltcp__acceptor *a);

#endif /* TLTCP_TCP_ACCEPTOR_H */

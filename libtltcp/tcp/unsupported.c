/* SPDX-License-Identifier: MPL-2.0 */
/* Stands in for the other files where TCP is not supported yet. */
#include "libtltcp/tcp/acceptor.h"
#include "libtltcp/tcp/pipe.h"

int tltcp__pipe_connect(tltcp__pipe **p, uv_loop_t *loop, const net__addr *to,
                        const net__addr *bind, const tltcp__pipe_options *o) {
    (void)p;
    (void)loop;
    (void)to;
    (void)bind;
    (void)o;
    return UV_ENOTSUP;
}

int tltcp__pipe_adopt(tltcp__pipe **p, uv_loop_t *loop, int fd,
                      const tltcp__pipe_options *o) {
    (void)p;
    (void)loop;
    (void)fd;
    (void)o;
    return UV_ENOTSUP;
}

int tltcp__pipe_local(const tltcp__pipe *p, net__addr *a) {
    (void)p;
    (void)a;
    return UV_ENOTSUP;
}

void tltcp__pipe_limit(tltcp__pipe *p, uint64_t ms) {
    (void)p;
    (void)ms;
}

int tltcp__pipe_next(tltcp__pipe *p, const uint8_t **dgram, size_t *len) {
    (void)p;
    (void)dgram;
    (void)len;
    return 0;
}

uint8_t *tltcp__pipe_room(tltcp__pipe *p, size_t *cap) {
    (void)p;
    (void)cap;
    return NULL;
}

void tltcp__pipe_send(tltcp__pipe *p, size_t len, size_t segment) {
    (void)p;
    (void)len;
    (void)segment;
}

void tltcp__pipe_close(tltcp__pipe *p) {
    (void)p;
}

void tltcp__pipe_abort(tltcp__pipe *p) {
    (void)p;
}

int tltcp__acceptor_open(tltcp__acceptor **out, uv_loop_t *loop,
                         const net__addr *bind, const tltcp__acceptor_ops *ops,
                         void *owner) {
    (void)out;
    (void)loop;
    (void)bind;
    (void)ops;
    (void)owner;
    return UV_ENOTSUP;
}

int tltcp__acceptor_local(const tltcp__acceptor *a, net__addr *local) {
    (void)a;
    (void)local;
    return UV_ENOTSUP;
}

void tltcp__acceptor_close(tltcp__acceptor *a) {
    (void)a;
}

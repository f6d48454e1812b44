/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_TCP_PIPE_H
#define TLTCP_TCP_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/net/address.h"

/*
 * A TCP connection on a libuv loop that carries datagrams.
 *
 * Little waits in the kernel: the pipe is blocked while the kernel has more
 * than a few packets that it has not sent, so that what waits can still be
 * dropped. Make all calls from the loop's thread.
 */

typedef struct tltcp__pipe tltcp__pipe;

/* Callbacks, on the loop's thread. */
typedef struct tltcp__pipe_ops {
    void (*on_open)(void *owner);     /* the connection is established */
    void (*on_input)(void *owner);    /* call tltcp__pipe_next() until 0 */
    void (*on_writable)(void *owner); /* no longer blocked */
    void (*on_end)(void *owner, int status); /* UV_EOF, UV_ETIMEDOUT or another
                                                UV_E...; then close it */
} tltcp__pipe_ops;

typedef struct tltcp__pipe_options {
    size_t max_datagram; /* longest one to receive */
    unsigned dscp;
    const tltcp__pipe_ops *ops;
    void *owner;
} tltcp__pipe_options;

/* Calls; on_open or on_end follows. `bind` NULL: from any address. Returns 0 or
 * UV_E... */
int tltcp__pipe_connect(tltcp__pipe **p, uv_loop_t *loop, const net__addr *to,
                        const net__addr *bind, const tltcp__pipe_options *o);
/* Takes over an accepted connection; closes fd on failure. */
int tltcp__pipe_adopt(tltcp__pipe **p, uv_loop_t *loop, int fd,
                      const tltcp__pipe_options *o);
int tltcp__pipe_local(const tltcp__pipe *p, net__addr *a);

/* Ends the pipe with UV_ETIMEDOUT after this time; 0: no more. */
void tltcp__pipe_limit(tltcp__pipe *p, uint64_t ms);

/* Takes a datagram that arrived, as tltcp__deframer_next(). */
int tltcp__pipe_next(tltcp__pipe *p, const uint8_t **dgram, size_t *len);

/* Room for a burst of *cap bytes; NULL: blocked, on_writable follows. */
uint8_t *tltcp__pipe_room(tltcp__pipe *p, size_t *cap);
/* Sends what was written to the room: datagrams of `segment` bytes, the last
 * may be shorter. */
void tltcp__pipe_send(tltcp__pipe *p, size_t len, size_t segment);

/* Closes: sends the rest in the background for at most half a second. No
 * callback follows. */
void tltcp__pipe_close(tltcp__pipe *p);
/* Closes at once, which frees its descriptor. */
void tltcp__pipe_abort(tltcp__pipe *p);

#endif /* TLTCP_TCP_PIPE_H */

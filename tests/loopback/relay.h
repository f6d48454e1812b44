/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_RELAY_H
#define TESTS_LOOPBACK_RELAY_H

#include <stdatomic.h>

#include <uv.h>

#include "tests/loopback/lo.h"

/* Stands between a caller and a listener, forwards their datagrams, and can
 * take another port towards the listener, as a home router does after a while.
 */
struct relay {
    /* The caller's, on the relay's thread: sees each datagram, and whether it
     * comes back from the listener.  NULL: nobody looks. */
    void (*look)(void *user, bool back, const uint8_t *dgram, size_t len);
    void *user;
    atomic_int side; /* which of the ports it takes */

    int front;   /* where the client calls */
    int back[2]; /* towards the listener */
    struct sockaddr_in client;
    struct sockaddr_in server;
    atomic_bool stop;
    uv_thread_t thread;
};

/* Listens, and has l->port name the relay; look and user are set, all else is
 * zero. */
void relay_start(struct relay *r, struct lo *l);
void relay_stop(struct relay *r);

#endif /* TESTS_LOOPBACK_RELAY_H */

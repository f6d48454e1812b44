/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_COSTS_TAPE_H
#define TESTS_LOOPBACK_COSTS_TAPE_H

#include "tests/loopback/costs/flood.h"

/* What a caller sends when it calls a server, recorded on its way. */

#define TAPE 4u

struct tape {
    struct datagram d[TAPE];
    size_t n;
    int front; /* where the caller sends to */
    int back;  /* from here it goes on to the server */
    struct sockaddr_in client;
    struct sockaddr_in server;
};

/* Calls once, with that key where the service has one.  folder: for files that
 * come. */
void tape_record(struct tape *t, const struct server *s, enum service service,
                 const uint8_t *key, const char *folder);
void tape_close(struct tape *t);

#endif /* TESTS_LOOPBACK_COSTS_TAPE_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_COSTS_SERVER_H
#define TESTS_LOOPBACK_COSTS_SERVER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/support/cmocka.h"

/* What strangers send to, in a process of its own, so that its CPU time and its
 * memory are its own. */

enum service {
    SINK, /* receives and does nothing: what the kernel takes by itself */
    TLTCP_PLAIN,
    TLTCP_SEALED,
    TLTCP_KEYS, /* sealed, with as many keys as a listener can have */
    SARATOGA_PLAIN,
    SARATOGA_SIGNED,
    SARATOGA_SEALED
};

#define KEY_LEN 32u
extern const uint8_t right_key[KEY_LEN];
extern const uint8_t wrong_key[KEY_LEN];

struct server {
    pid_t pid;
    int in;  /* its answers */
    int out; /* questions */
    struct sockaddr_in at;
    char port[8];
};

/* What it has seen. */
struct seen {
    unsigned long long sections;
    unsigned long long gaps;
    unsigned long long refused; /* callers without a place or a key */
};

/* The main function of the process; argv as start_server() made it. */
int serve(char **argv);

/* folder: of the files that Saratoga serves. */
void start_server(struct server *s, enum service service, const char *folder);
void stop_server(struct server *s);
/* CPU time so far, in ns. */
uint64_t server_cpu(const struct server *s);
/* Resident memory in bytes. */
uint64_t server_memory(const struct server *s);
/* Bytes in its socket's receive buffer. */
uint64_t server_backlog(const struct server *s);
struct seen server_seen(const struct server *s);

#endif /* TESTS_LOOPBACK_COSTS_SERVER_H */

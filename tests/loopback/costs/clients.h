/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_COSTS_CLIENTS_H
#define TESTS_LOOPBACK_COSTS_CLIENTS_H

#include <tltcp/socket.h>

#include "tests/loopback/costs/server.h"

/* Those who are meant to get in. */

#define CLIENT_PATIENCE_MS 30000

/* Folders with files: "small" and "large" are here. */
struct place {
    char base[64];
    char here[80];
    char there[80];
};

/* CMocka's: *state becomes a struct place. */
int place_set_up(void **state);
int place_tear_down(void **state);

/* Calls, and gets in. */
tltcp_socket *client_call(const struct server *s, uint32_t latency_ms,
                          bool sealed, uint8_t transport);
/* Sends one section. */
void client_send(tltcp_socket *s);
/* Gets a file as a client that was never seen before. */
void client_get(const struct place *p, const struct server *s,
                enum service service, const char *name);

#endif /* TESTS_LOOPBACK_COSTS_CLIENTS_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_SARATOGA_PAIR_H
#define TESTS_LOOPBACK_SARATOGA_PAIR_H

#include <uv.h>

#include <saratoga/node.h>

#include "tests/support/cmocka.h"

/* Two nodes with files: one serves, the other asks. */

#define FILE_LEN 200000

struct pair {
    char base[64];
    char here[80];
    char there[80];
    uv_loop_t loop; /* of both, in some tests */
    bool shared;
    bool keyed;
    bool six; /* over IPv6 */
    /* Changes a config before it is used; or NULL. */
    void (*tune)(saratoga_node_config *c, bool server);
    saratoga_node *server;
    saratoga_node *client;
    char port[16];
    unsigned done; /* events of the client */
    saratoga_node_event last;
};

/* Files whose contents follow from their seed. */
void make_file(const char *folder, const char *name, size_t len, unsigned seed);
void expect_file(const char *folder, const char *name, size_t len,
                 unsigned seed);
unsigned count_files(const char *folder, const char *prefix);

int pair_set_up(void **state);
int pair_tear_down(void **state);
void open_pair(struct pair *p, bool may_write, uint64_t rate_bps);
void close_pair(struct pair *p);
uint64_t ask(struct pair *p, uint32_t type, const char *path, const char *file);
/* Runs the loop of both until so many transfers of the client are done. */
void wait_for(struct pair *p, unsigned done);
void get_put_and_list(struct pair *p);

#endif /* TESTS_LOOPBACK_SARATOGA_PAIR_H */

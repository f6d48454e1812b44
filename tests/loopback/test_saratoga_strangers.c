/* SPDX-License-Identifier: MPL-2.0 */
/* The cost to a node of requests with forged addresses: their senders never
 * answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/loopback/saratoga_pair.h"

#define FORGED 40u
#define LARGE ((size_t)8 * 1000 * 1000)
#define S 1e9

/* Bytes that this process has read, but not from sockets. */
static unsigned long long bytes_read(void) {
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");

    if (f == NULL) {
        skip();
    }
    assert_int_equal(fscanf(f, "rchar: %llu", &n), 1);
    (void)fclose(f);
    return n;
}

/* A REQUEST from an address of its own. */
static void forge(const struct pair *p, unsigned type, const char *path,
                  unsigned who) {
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in to = {.sin_family = AF_INET};
    uint8_t request[64] = {0x21, 0x8f, 0, (uint8_t)type, 0, 0, 0, 1};
    size_t len = 8 + strlen(path) + 1;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    from.sin_addr.s_addr = htonl(0x7f010001u + who);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)strtoul(p->port, NULL, 10));
    memcpy(request + 8, path, strlen(path) + 1);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
    assert_int_equal(
        sendto(fd, request, len, 0, (struct sockaddr *)&to, sizeof(to)), len);
    (void)close(fd);
}

static void forge_many(const struct pair *p, unsigned type, const char *path) {
    for (unsigned i = 0; i < FORGED; i++) {
        forge(p, type, path, i);
    }
}

/* Each for a file of its own. */
static void forge_each(const struct pair *p, unsigned type) {
    for (unsigned i = 0; i < FORGED; i++) {
        char path[16];

        (void)snprintf(path, sizeof(path), "file%02u", i);
        forge(p, type, path, i);
    }
}

/* The number of requests that unknown peers may start in that time, four at
 * once and two a second. */
static unsigned begun_since(uint64_t start) {
    return 4 + (unsigned)(2 * (double)(uv_hrtime() - start) / S) + 1;
}

/* A new client is served; what was asked for before has been looked at. */
static void serve_one(struct pair *p, unsigned nth) {
    (void)ask(p, SARATOGA_GET, "small", "small");
    wait_for(p, nth);
    assert_int_equal(p->last.error, 0);
}

TEST(forged_gets_are_not_hashed) {
    struct pair *p = *state;
    unsigned long long before;

    make_file(p->here, "large", LARGE, 1);
    make_file(p->here, "small", 1000, 2);
    open_pair(p, false, 0);
    before = bytes_read();
    forge_many(p, SARATOGA_GET, "large");
    serve_one(p, 1);
    close_pair(p);
    /* what strangers get hashed in a second, and first blocks */
    assert_true(bytes_read() - before <=
                2 * LARGE + (unsigned long long)FORGED * 300000);
}

static void few_places(saratoga_node_config *c, bool server) {
    if (server) {
        c->max_peers = 4;
    }
}

static void deletable(saratoga_node_config *c, bool server) {
    c->may_delete = server;
}

TEST(few_forged_puts_open_a_file) {
    struct pair *p = *state;
    uint64_t start;

    make_file(p->here, "small", 1000, 2);
    open_pair(p, true, 0);
    start = uv_hrtime();
    forge_each(p, SARATOGA_PUT);
    serve_one(p, 1);
    assert_true(count_files(p->here, ".saratoga-") <= begun_since(start));
}

TEST(few_forged_deletions_delete) {
    struct pair *p = *state;
    uint64_t start;

    make_file(p->here, "small", 1000, 2);
    for (unsigned i = 0; i < FORGED; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "file%02u", i);
        make_file(p->here, name, 10, i);
    }
    p->tune = deletable;
    open_pair(p, true, 0);
    start = uv_hrtime();
    forge_each(p, SARATOGA_DELETE);
    serve_one(p, 1);
    assert_true(FORGED - count_files(p->here, "file") <= begun_since(start));
}

TEST(forged_requests_displace_no_peer) {
    struct pair *p = *state;

    p->tune = few_places;
    make_file(p->here, "small", 1000, 2);
    make_file(p->here, "large", FILE_LEN, 1);
    open_pair(p, true, 0);
    forge_many(p, SARATOGA_GET, "large");
    serve_one(p, 1);
}

/* Their senders do not know challenges. */
TEST(peers_without_challenges_are_served_after_a_while) {
    struct pair *p = *state;

    make_file(p->here, "small", 1000, 2);
    open_pair(p, true, 0);
    forge_each(p, SARATOGA_PUT);
    while (count_files(p->here, ".saratoga-") < 6) {
        (void)uv_run(&p->loop, UV_RUN_ONCE);
    }
    serve_one(p, 1);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, pair_set_up, pair_tear_down)
    const struct CMUnitTest tests[] = {
        T(forged_gets_are_not_hashed),
        T(few_forged_puts_open_a_file),
        T(few_forged_deletions_delete),
        T(forged_requests_displace_no_peer),
        T(peers_without_challenges_are_served_after_a_while),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

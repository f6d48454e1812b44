/* SPDX-License-Identifier: MPL-2.0 */
/* Calls over TCP in a network of the test's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tests/loopback/lo.h"
#include "tests/loopback/own_network.h"

#define EACH 4
/* As the kernel's <linux/ipv6.h>, which does not go with <netinet/in.h>. */
struct address_request {
    struct in6_addr address;
    uint32_t bits;
    int interface;
};

static struct in6_addr own_address(const char *text) {
    struct address_request r = {.bits = 128, .interface = 1};
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);

    assert_int_equal(inet_pton(AF_INET6, text, &r.address), 1);
    assert_int_equal(ioctl(fd, SIOCSIFADDR, &r), 0);
    close(fd);
    return r.address;
}

/* A socket at fd00:0:NET48:NET64::1. */
static int bound_to(unsigned net48, unsigned net64) {
    struct sockaddr_in6 from = {.sin6_family = AF_INET6};
    char text[INET6_ADDRSTRLEN];
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    (void)snprintf(text, sizeof(text), "fd00:0:%x:%x::1", net48, net64);
    from.sin6_addr = own_address(text);
    while (bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0) {
        assert_int_equal(errno, EADDRNOTAVAIL); /* the kernel still adds it */
    }
    return fd;
}

static void connect_to(const char *port, int fd) {
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    to.sin6_port = htons((uint16_t)strtoul(port, NULL, 10));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
}

static void expect_end(int fd) {
    char byte;

    lo_poll(fd);
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
}

TEST(networks_have_few_connections_without_a_call) {
    enum { OTHER = 2 * EACH + 1, ELSEWHERE = 2 * OTHER, ALL };
    struct lo *l = *state;
    int fd[ALL];

    if (!lo_has_ipv6() || !own_network()) {
        skip();
    }
    /* All before the first connects: a busy kernel takes seconds for it, and
     * the listener waits only so long for a call. */
    for (unsigned i = 0; i < OTHER; i++) { /* a /64 each, of one /56 */
        fd[i] = bound_to(1, 0x100 + i);
    }
    for (unsigned i = OTHER; i < ELSEWHERE; i++) { /* of two of one /48 */
        fd[i] = bound_to(1, i + 1 < ELSEWHERE ? 0x200 + i : 0x300);
    }
    fd[ELSEWHERE] = bound_to(2, 0x100);
    l->host = "::";
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    l->config.listener.max_half_open_per_address = EACH;
    lo_listen(l);
    for (unsigned i = 0; i < OTHER; i++) {
        connect_to(l->port, fd[i]);
    }
    expect_end(fd[0]); /* the oldest of them yields */
    for (unsigned i = OTHER; i < ELSEWHERE; i++) {
        connect_to(l->port, fd[i]);
    }
    expect_end(fd[1]);
    connect_to(l->port, fd[ELSEWHERE]); /* others are not concerned */
    l->host = "::1";
    while (tltcp_connect(&l->client, l->host, l->port, &l->config,
                         LO_PATIENCE) != 0) {
    }
    lo_accept(l);
    for (unsigned i = 2; i < ALL; i++) {
        assert_false(lo_ready(fd[i]));
        close(fd[i]);
    }
}

/* A route may appear: a caller that retries should not give up. */
TEST(an_address_without_a_route_is_like_one_that_does_not_answer) {
    struct lo *l = *state;

    if (!own_network()) {
        skip();
    }
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    assert_int_equal(
        tltcp_connect(&l->client, "192.0.2.1", "7", &l->config, LO_PATIENCE),
        TLTCP_ERR_TIMEOUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(networks_have_few_connections_without_a_call, ipv6),
        LO_TEST(an_address_without_a_route_is_like_one_that_does_not_answer,
                ipv4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

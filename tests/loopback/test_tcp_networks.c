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

/* Opens a connection from fd00:0:NET48:NET64::1. */
static int connect_from(const char *port, unsigned net48, unsigned net64) {
    struct sockaddr_in6 from = {.sin6_family = AF_INET6};
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    char text[INET6_ADDRSTRLEN];
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    (void)snprintf(text, sizeof(text), "fd00:0:%x:%x::1", net48, net64);
    from.sin6_addr = own_address(text);
    to.sin6_port = htons((uint16_t)strtoul(port, NULL, 10));
    while (bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0) {
        assert_int_equal(errno, EADDRNOTAVAIL); /* the kernel still adds it */
    }
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void expect_end(int fd) {
    char byte;

    lo_poll(fd);
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
}

TEST(networks_have_few_connections_without_a_call) {
    struct lo *l = *state;
    int fd[4 * EACH + 3];
    size_t n = 0;

    if (!lo_has_ipv6() || !own_network()) {
        skip();
    }
    l->host = "::";
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    l->config.listener.max_half_open_per_address = EACH;
    lo_listen(l);
    for (unsigned i = 0; i < 2 * EACH; i++) { /* a /64 each, of one /56 */
        fd[n++] = connect_from(l->port, 1, 0x100 + i);
    }
    fd[n++] = connect_from(l->port, 1, 0x1ff);
    expect_end(fd[0]);                        /* the oldest of them yields */
    for (unsigned i = 0; i < 2 * EACH; i++) { /* another /56 of the /48 */
        fd[n++] = connect_from(l->port, 1, 0x200 + i);
    }
    fd[n++] = connect_from(l->port, 1, 0x300);
    expect_end(fd[1]);
    fd[n++] = connect_from(l->port, 2, 0x100); /* others are not concerned */
    l->host = "::1";
    while (tltcp_connect(&l->client, l->host, l->port, &l->config,
                         LO_PATIENCE) != 0) {
    }
    lo_accept(l);
    while (n > 2) {
        assert_false(lo_ready(fd[--n]));
        close(fd[n]);
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

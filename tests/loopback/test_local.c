/* SPDX-License-Identifier: MPL-2.0 */
/* Callers that choose the address and the port to call from. */
#include <stdio.h>

#include "tests/loopback/lo.h"

/* A port that is free now; the kernel gives it to nobody else soon. */
static void free_port(char port[8]) {
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    close(fd);
    snprintf(port, 8, "%u", (unsigned)ntohs(a.sin_port));
}

/* The listener sees the caller at this address. */
static void expect_caller(const struct lo *l, const char *host,
                          const char *port) {
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    char text[INET_ADDRSTRLEN];
    char number[8];

    assert_int_equal(tltcp_peer_address(l->server, (struct sockaddr *)&a, &len),
                     0);
    assert_int_equal(a.sin_family, AF_INET);
    assert_non_null(inet_ntop(AF_INET, &a.sin_addr, text, sizeof(text)));
    assert_string_equal(text, host);
    if (port != NULL) {
        snprintf(number, sizeof(number), "%u", (unsigned)ntohs(a.sin_port));
        assert_string_equal(number, port);
    }
}

static void talk(struct lo *l) {
    lo_send_text(l->client, "there");
    lo_expect_text(l->server, "there");
    lo_send_text(l->server, "and back");
    lo_expect_text(l->client, "and back");
}

TEST(a_caller_calls_from_the_port_that_it_chose) {
    struct lo *l = *state;
    char port[8];

    free_port(port);
    l->config.io.local_service = port;
    lo_pair(l);
    expect_caller(l, "127.0.0.1", port);
    talk(l);
    l->config.io.local_service = NULL;
}

static void
a_caller_calls_from_the_address_and_port_that_it_chose(void **state) {
    struct lo *l = *state;
    char port[8];

    free_port(port);
    l->config.io.local_host = "127.0.0.1";
    l->config.io.local_service = port;
    lo_pair(l);
    expect_caller(l, "127.0.0.1", port);
    talk(l);
    l->config.io.local_service = NULL;
}

TEST(an_address_alone_leaves_the_port_open) {
    struct lo *l = *state;

    l->config.io.local_host = "127.0.0.1";
    lo_pair(l);
    expect_caller(l, "127.0.0.1", NULL);
    talk(l);
}

#if defined(__linux__) /* where all of 127/8 is this machine */
TEST(of_several_addresses_the_chosen_one_is_used) {
    struct lo *l = *state;

    l->config.io.local_host = "127.0.0.2";
    lo_pair(l);
    expect_caller(l, "127.0.0.2", NULL);
    talk(l);
}
#endif

TEST(a_port_serves_again_after_the_caller_closed) {
    struct lo *l = *state;
    char port[8];

    free_port(port);
    lo_listen(l);
    l->config.io.local_service = port;
    for (int i = 0; i < 3; i++) {
        lo_connect(l);
        lo_accept(l);
        expect_caller(l, "127.0.0.1", port);
        (void)tltcp_close(l->client, 0);
        (void)tltcp_close(l->server, 0);
        l->client = NULL;
        l->server = NULL;
    }
    l->config.io.local_service = NULL;
}

TEST(a_taken_port_is_said_to_be) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    lo_listen(l);
    l->config.io.local_host = "127.0.0.1";
    l->config.io.local_service = l->port; /* the listener has it */
    assert_int_equal(tltcp_connect(&s, l->host, l->port, &l->config, 10),
                     TLTCP_ERR_IN_USE);
    assert_null(s);
}

TEST(an_address_that_is_not_local_is_refused) {
    static const char *const hosts[] = {"256.1.1.1", "host.invalid", "",
                                        "192.0.2.1", "2001:db8::1"};
    static const char *const ports[] = {"65536", "-1", "80x", ""};
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    lo_listen(l);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        if (lo_can_bind(hosts[i])) {
            continue;
        }
        l->config.io.local_host = hosts[i];
        assert_int_equal(tltcp_connect(&s, l->host, l->port, &l->config, 10),
                         TLTCP_ERR_ADDRESS);
    }
    l->config.io.local_host = NULL;
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        l->config.io.local_service = ports[i];
        assert_int_equal(tltcp_connect(&s, l->host, l->port, &l->config, 10),
                         TLTCP_ERR_ADDRESS);
    }
    assert_null(s);
}

TEST(from_ipv6_no_ipv4_address_is_reachable) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    if (!lo_has_ipv6()) {
        skip();
    }
    lo_listen(l);
    l->config.io.local_host = "::1";
    assert_int_equal(tltcp_connect(&s, l->host, l->port, &l->config, 10),
                     TLTCP_ERR_ADDRESS);
    assert_null(s);
}

/* A minimal system knows no name at all. */
static bool has_localhost(void) {
    struct addrinfo *found = NULL;

    if (getaddrinfo("localhost", NULL, NULL, &found) != 0) {
        return false;
    }
    freeaddrinfo(found);
    return true;
}

TEST(a_local_address_picks_among_those_of_a_name) {
    struct lo *l = *state;

    if (!has_localhost()) {
        skip();
    }
    lo_listen(l);
    l->host = "localhost"; /* perhaps of both families */
    l->config.io.local_host = "127.0.0.1";
    lo_connect(l);
    lo_accept(l);
    expect_caller(l, "127.0.0.1", NULL);
}

#define ALL(how)                                                              \
    LO_TEST(a_caller_calls_from_the_port_that_it_chose, how),                 \
        LO_TEST(a_caller_calls_from_the_address_and_port_that_it_chose, how), \
        LO_TEST(an_address_alone_leaves_the_port_open, how),                  \
        LO_TEST(a_port_serves_again_after_the_caller_closed, how),            \
        LO_TEST(a_taken_port_is_said_to_be, how),                             \
        LO_TEST(an_address_that_is_not_local_is_refused, how),                \
        LO_TEST(from_ipv6_no_ipv4_address_is_reachable, how),                 \
        LO_TEST(a_local_address_picks_among_those_of_a_name, how)

int main(void) {
    const struct CMUnitTest tests[] = {
        ALL(ipv4),
        ALL(plain),
#if defined(__linux__)
        LO_TEST(of_several_addresses_the_chosen_one_is_used, ipv4),
        LO_TEST(of_several_addresses_the_chosen_one_is_used, plain),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

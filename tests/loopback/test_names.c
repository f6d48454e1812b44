/* SPDX-License-Identifier: MPL-2.0 */
/* Names of several addresses, not all of which can be reached. */
#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "tests/loopback/lo.h"

#define NAME "two.test"
/* No test waits for it: whoever is not reached is not waited for. */
#define LONG (100 * LO_PATIENCE)

/* Simulated errors of IPv6; linked with --wrap. */
static atomic_bool no_sockets;
static atomic_int sending; /* errno; 0: nothing */

int __wrap_getaddrinfo(const char *host, const char *service,
                       const struct addrinfo *hints, struct addrinfo **list);
int __real_getaddrinfo(const char *host, const char *service,
                       const struct addrinfo *hints, struct addrinfo **list);
int __wrap_socket(int family, int type, int protocol);
int __real_socket(int family, int type, int protocol);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags);
int __real_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags);

int __wrap_getaddrinfo(const char *host, const char *service,
                       const struct addrinfo *hints, struct addrinfo **list) {
    struct addrinfo *four = NULL;
    int rv;

    if (host == NULL || strcmp(host, NAME) != 0) {
        return __real_getaddrinfo(host, service, hints, list);
    }
    rv = __real_getaddrinfo("::1", service, hints, list);
    if (rv == 0) {
        rv = __real_getaddrinfo("127.0.0.1", service, hints, &four);
        (*list)->ai_next = four;
    }
    return rv;
}

int __wrap_socket(int family, int type, int protocol) {
    if (family == AF_INET6 && atomic_load(&no_sockets)) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return __real_socket(family, type, protocol);
}

static bool to_ipv6(int fd) {
    struct sockaddr_in6 to;
    socklen_t len = sizeof(to);

    return getpeername(fd, (struct sockaddr *)&to, &len) == 0 &&
           to.sin6_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&to.sin6_addr);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags) {
    if (atomic_load(&sending) != 0 && to_ipv6(fd)) {
        errno = atomic_load(&sending);
        return -1;
    }
    return __real_sendmmsg(fd, msg, count, flags);
}

/* Calls a listener on the second address by its name. */
static void call_by_name(struct lo *l) {
    l->host = "127.0.0.1";
    lo_listen(l);
    l->host = NAME;
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, &l->config, LONG), 0);
    lo_accept(l);
    lo_send_text(l->client, "found");
    lo_expect_text(l->server, "found");
}

TEST(after_a_refusal_the_next_address_is_tried) {
    if (!lo_has_ipv6()) {
        skip();
    }
    call_by_name(*state);
}

static void expect_peer_on_ipv4(const tltcp_socket *s) {
    struct sockaddr_storage a;
    socklen_t len = sizeof(a);

    assert_int_equal(tltcp_peer_address(s, (struct sockaddr *)&a, &len), 0);
    assert_int_equal(a.ss_family, AF_INET);
}

TEST(the_address_that_a_tcp_call_reached_outlives_its_connection) {
    struct lo *l = *state;
    tltcp_event ev;

    if (!lo_has_ipv6()) {
        skip();
    }
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    call_by_name(l);
    expect_peer_on_ipv4(l->client);
    assert_int_equal(tltcp_close(l->server, 0), 0);
    l->server = NULL;
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    expect_peer_on_ipv4(l->client);
}

TEST(without_ipv6_the_others_are_tried) {
    atomic_store(&no_sockets, true);
    call_by_name(*state);
    atomic_store(&no_sockets, false);
}

TEST(only_ipv6_without_it_is_an_error) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    atomic_store(&no_sockets, true);
    assert_int_equal(tltcp_connect(&s, "::1", "5000", &l->config, 10),
                     TLTCP_ERR_ADDRESS);
    assert_null(s);
    atomic_store(&no_sockets, false);
}

TEST(an_unreachable_address_is_skipped) {
    static const int errors[] = {ENETUNREACH, EHOSTUNREACH, EACCES, EPERM};

    if (!lo_has_ipv6()) {
        skip();
    }
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        atomic_store(&sending, errors[i]);
        call_by_name(*state);
        (void)lo_teardown(state);
        (void)lo_ipv4(state);
    }
    atomic_store(&sending, 0);
}

/* The default is any address, of both families. */
TEST(without_ipv6_a_listener_serves_the_other) {
    struct lo *l = *state;

    atomic_store(&no_sockets, true);
    l->host = NULL;
    lo_listen(l);
    l->host = "127.0.0.1";
    lo_connect(l);
    lo_accept(l);
    atomic_store(&no_sockets, false);
}

#define T(f) cmocka_unit_test_setup_teardown(f, lo_ipv4, lo_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(after_a_refusal_the_next_address_is_tried),
        T(the_address_that_a_tcp_call_reached_outlives_its_connection),
        T(without_ipv6_the_others_are_tried),
        T(only_ipv6_without_it_is_an_error),
        T(an_unreachable_address_is_skipped),
        T(without_ipv6_a_listener_serves_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

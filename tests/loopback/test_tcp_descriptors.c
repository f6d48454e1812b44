/* SPDX-License-Identifier: MPL-2.0 */
/* Programs that the application starts do not inherit TCP connections, which
 * would then stay open: not even between two calls of another thread. */
#include "tests/loopback/lo.h"

static unsigned made;
static unsigned inherited;

static void note(int fd, int flags) {
    made += fd >= 0;
    inherited += fd >= 0 && (flags & SOCK_CLOEXEC) == 0;
}

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol) {
    int fd = __real_socket(family, type, protocol);

    if ((type & 0xf) == SOCK_STREAM) {
        note(fd, type);
    }
    return fd;
}

int __real_accept(int fd, struct sockaddr *a, socklen_t *len);
int __wrap_accept(int fd, struct sockaddr *a, socklen_t *len);
int __wrap_accept(int fd, struct sockaddr *a, socklen_t *len) {
    int got = __real_accept(fd, a, len);

    note(got, 0);
    return got;
}

int __real_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *a, socklen_t *len, int flags) {
    int got = __real_accept4(fd, a, len, flags);

    note(got, flags);
    return got;
}

static void tcp_connections_are_made_close_on_exec(void **state) {
    struct lo *l = *state;

    made = inherited = 0;
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    lo_pair(l);
    lo_send_text(l->client, "there");
    lo_expect_text(l->server, "there");
    assert_int_equal(made, 3); /* the listener's and both ends' */
    assert_int_equal(inherited, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(tcp_connections_are_made_close_on_exec, ipv4),
        LO_TEST(tcp_connections_are_made_close_on_exec, ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Callers over TCP beside a crowd that holds the places. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/loopback/lo.h"

static void listen_over_tcp(struct lo *l) {
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    lo_listen(l);
}

static void expect_service(struct lo *l) {
    lo_connect(l);
    lo_accept(l);
    lo_send_text(l->client, "there");
    lo_expect_text(l->server, "there");
}

TEST(an_address_has_few_connections_without_a_call) {
    struct lo *l = *state;
    int fd[8];

    l->config.listener.max_half_open_per_address = 4;
    listen_over_tcp(l);
    for (int i = 0; i < 8; i++) {
        fd[i] = lo_connect_tcp(l->port, 0);
        if (i >= 4) { /* the oldest yields */
            lo_expect_eof(fd[i - 4]);
        }
    }
    for (int i = 4; i < 8; i++) {
        assert_false(lo_ready(fd[i]));
    }
    expect_service(l);
    for (int i = 4; i < 8; i++) {
        close(fd[i]);
    }
}

#define PLACES 1024
#define HOSTS 20

/* False: this user may not have as many descriptors. */
static bool may_have_descriptors(rlim_t n) {
    struct rlimit r;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
    if (r.rlim_cur < n && r.rlim_max >= n) {
        r.rlim_cur = n;
        (void)setrlimit(RLIMIT_NOFILE, &r);
    }
    return r.rlim_cur >= n;
}

TEST(callers_get_in_beside_hosts_that_hold_all_places) {
    struct lo *l = *state;
    int fd[PLACES + HOSTS];

    if (!may_have_descriptors(3 * PLACES)) {
        skip();
    }
    listen_over_tcp(l);
    for (uint32_t i = 0; i < PLACES + HOSTS; i++) {
        fd[i] = lo_connect_tcp(l->port, 256 + i % HOSTS);
    }
    expect_service(l);
    for (int i = 0; i < PLACES + HOSTS; i++) {
        close(fd[i]);
    }
}

/* Connects again and again, and holds what it can, until it is told to end. */
static pid_t crowd_begin(const char *port, int *end) {
    int told[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(told), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(told[1]);
        for (uint32_t i = 0; i < 200; i++) {
            (void)lo_connect_tcp(port, 256 + i % HOSTS);
        }
        _exit(read(told[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(told[0]);
    *end = told[1];
    return pid;
}

static void crowd_end(pid_t pid, int end) {
    int status;

    close(end);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Waits until the listener turns callers away. */
static void expect_turned_away(const struct lo *l) {
    tltcp_stats st;

    for (int ms = 0; ms < LO_PATIENCE; ms++) {
        tltcp_stats_init(&st);
        assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
        if (st.callers_turned_away > 0) {
            return;
        }
        (void)poll(NULL, 0, 1);
    }
    fail();
}

/* There are fewer descriptors than places. */
TEST(callers_get_in_where_a_crowd_has_all_descriptors) {
    struct lo *l = *state;
    struct rlimit before;
    struct rlimit tight;
    struct sockaddr_in to;
    int own;
    int end;
    pid_t pid;

    listen_over_tcp(l);
    own = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    pid = crowd_begin(l->port, &end);
    tight = before;
    tight.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    expect_turned_away(l);
    to = lo_address(l->port);
    assert_int_equal(connect(own, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(own, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    lo_expect_eof(own);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    crowd_end(pid, end);
    expect_service(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(an_address_has_few_connections_without_a_call, ipv4),
        LO_TEST(callers_get_in_beside_hosts_that_hold_all_places, ipv4),
        LO_TEST(callers_get_in_where_a_crowd_has_all_descriptors, ipv4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

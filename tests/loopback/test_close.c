/* SPDX-License-Identifier: MPL-2.0 */
/* Ends: orderly, impatient, abrupt. */
#include <stdlib.h>

#include "tests/loopback/lo.h"

TEST(close_without_linger_aborts) {
    struct lo *l = *state;
    char byte;

    lo_pair(l);
    assert_int_equal(tltcp_close(l->client, 0), 0); /* nothing was offered */
    l->client = NULL;
    assert_int_equal(lo_recv_plain(l->server, &byte, 1, 0), TLTCP_ERR_ABORTED);
    assert_int_equal(tltcp_socket_error(l->server, NULL), TLTCP_ERR_ABORTED);
    assert_int_equal(lo_recv_plain(l->server, &byte, 1, 0), TLTCP_ERR_CLOSED);
    assert_int_equal(lo_send(l->server, "x", 1, TLTCP_TIME_NEVER),
                     TLTCP_ERR_CLOSED);
}

/* Fills the sender's buffer while the peer does not read. */
static void fill(struct lo *l) {
    uint8_t data[1024] = {0};
    struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t rv;

    do {
        rv = tltcp_sendmsg(l->client, &m, MSG_DONTWAIT);
    } while (rv > 0);
    assert_int_equal(rv, TLTCP_ERR_AGAIN);
}

TEST(a_peer_that_does_not_read_outlasts_the_linger) {
    struct lo *l = *state;
    tltcp_event ev;

    l->config.recv_buffer = 8192;
    l->config.send_buffer = 65536;
    lo_pair(l);
    fill(l);
    assert_int_equal(tltcp_close(l->client, 30), TLTCP_ERR_TIMEOUT);
    l->client = NULL;
    lo_event(l->server, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_ABORTED);
}

TEST(deadlines_end_the_linger_early) {
    struct lo *l = *state;

    l->config.recv_buffer = 8192;
    l->config.latency_ms = 30;
    lo_pair(l);
    for (int i = 0; i < 64; i++) {
        uint8_t data[1024] = {0};
        struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
        struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

        assert_int_equal(tltcp_sendmsg(l->client, &m, 0), sizeof(data));
    }
    /* All expires, so nothing is left to wait for. */
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
}

TEST(closing_after_an_abort_reports_the_loss) {
    struct lo *l = *state;
    tltcp_event ev;

    l->config.recv_buffer = 8192;
    lo_pair(l);
    fill(l);
    assert_int_equal(tltcp_close(l->server, 0), 0);
    l->server = NULL;
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_ABORTED);
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), TLTCP_ERR_CLOSED);
    l->client = NULL;
}

TEST(data_that_arrived_before_the_end_can_be_read_after_it) {
    struct lo *l = *state;

    lo_pair(l);
    lo_send_text(l->client, "read me later");
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
    lo_poll(tltcp_event_fd(l->server));
    lo_expect_text(l->server, "read me later");
    lo_expect_end(l->server);
}

TEST(both_ends_close_at_once) {
    struct lo *l = *state;

    lo_pair(l);
    lo_send_text(l->client, "a");
    lo_send_text(l->server, "b");
    assert_int_equal(tltcp_shutdown(l->client), 0);
    assert_int_equal(tltcp_shutdown(l->server), 0);
    lo_expect_text(l->server, "a");
    lo_expect_text(l->client, "b");
    lo_expect_end(l->server);
    lo_expect_end(l->client);
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    l->client = NULL;
    l->server = NULL;
}

TEST(a_silent_peer_is_given_up_after_the_idle_timeout) {
    struct lo *l = *state;
    char byte;

    l->config.idle_timeout_ms = 150;
    l->config.keep_alive_ms = UINT32_MAX;
    lo_pair(l);
    assert_int_equal(lo_recv_plain(l->server, &byte, 1, 0), TLTCP_ERR_TIMEOUT);
    assert_int_equal(tltcp_socket_error(l->server, NULL), TLTCP_ERR_TIMEOUT);
}

TEST(events_come_in_order_and_end) {
    struct lo *l = *state;
    tltcp_event ev;

    lo_pair(l);
    assert_int_equal(tltcp_next_event(l->client, &ev, LO_PATIENCE), 1);
    assert_int_equal(ev.type, TLTCP_EVENT_CONNECTED);
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    l->server = NULL;
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, 0);
    assert_int_equal(tltcp_next_event(l->client, &ev, -1), TLTCP_ERR_CLOSED);
}

#define TESTS(how)                                                          \
    {                                                                       \
        LO_TEST(close_without_linger_aborts, how),                          \
            LO_TEST(a_peer_that_does_not_read_outlasts_the_linger, how),    \
            LO_TEST(deadlines_end_the_linger_early, how),                   \
            LO_TEST(closing_after_an_abort_reports_the_loss, how),          \
            LO_TEST(data_that_arrived_before_the_end_can_be_read_after_it,  \
                    how),                                                   \
            LO_TEST(both_ends_close_at_once, how),                          \
            LO_TEST(a_silent_peer_is_given_up_after_the_idle_timeout, how), \
            LO_TEST(events_come_in_order_and_end, how),                     \
    }

int main(void) {
    const struct CMUnitTest ipv4[] = TESTS(ipv4);
    const struct CMUnitTest plain[] = TESTS(plain);
    const struct CMUnitTest threads[] = TESTS(threads);
    int failed = cmocka_run_group_tests(ipv4, NULL, NULL);

    failed += cmocka_run_group_tests(plain, NULL, NULL);
    failed += cmocka_run_group_tests(threads, NULL, NULL);
    return failed;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Many connections on one listener; limits; the listener's end. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/loopback/lo.h"

#define CALLERS 100
#define CALL_MS 600000 /* a busy machine may take long for all handshakes */

static uint64_t heard(const struct lo *l) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
    return st.packets_received;
}

/* Waits as long as the listener hears anything. */
static void accept_in_the_end(struct lo *l, tltcp_socket **s) {
    uint64_t before;
    int rv;

    do {
        before = heard(l);
        rv = tltcp_accept(l->listener, s, LO_PATIENCE);
    } while (rv == TLTCP_ERR_AGAIN && heard(l) > before);
    assert_int_equal(rv, 0);
}

TEST(many_callers_talk_to_one_listener) {
    struct lo *l = *state;
    tltcp_socket *client[CALLERS];
    tltcp_socket *server[CALLERS];
    tltcp_stats st;
    char id[16];

    l->config.connect_timeout_ms = CALL_MS;
    lo_listen(l);
    for (int i = 0; i < CALLERS; i++) { /* all at once */
        snprintf(id, sizeof(id), "%d", i);
        l->config.stream_id = id;
        assert_int_equal(
            tltcp_connect(&client[i], l->host, l->port, &l->config, 0), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        snprintf(id, sizeof(id), "%d", i);
        lo_send_text(client[i], id);
    }
    for (int i = 0; i < CALLERS; i++) {
        accept_in_the_end(l, &server[i]);
        lo_expect_text(server[i], tltcp_stream_id(server[i]));
    }
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
    assert_int_equal(st.sections_complete, CALLERS);
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(tltcp_close(client[i], LO_PATIENCE), 0);
    }
    for (int i = 0; i < CALLERS; i++) { /* not in the order of the callers */
        lo_expect_end(server[i]);
        assert_int_equal(tltcp_close(server[i], LO_PATIENCE), 0);
    }
}

TEST(connections_of_one_address_are_limited) {
    struct lo *l = *state;
    tltcp_socket *extra = NULL;
    char reason[TLTCP_REASON_MAX + 1];

    l->config.listener.max_per_address = 1;
    lo_pair(l);
    assert_int_equal(tltcp_connect(&extra, l->host, l->port, &l->config, 0), 0);
    assert_int_equal(tltcp_wait_connected(extra, LO_PATIENCE),
                     TLTCP_ERR_REFUSED);
    assert_int_equal(tltcp_socket_error(extra, reason), TLTCP_ERR_REFUSED);
    assert_string_equal(reason, "too many connections from your address");
    assert_int_equal(tltcp_close(extra, 0), 0);
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    lo_expect_end(l->server);
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    lo_connect(l); /* there is room again */
    lo_accept(l);
}

TEST(a_listener_can_ask_everybody_for_a_token) {
    struct lo *l = *state;

    l->config.listener.always_retry = true;
    lo_pair(l);
    lo_send_text(l->client, "validated");
    lo_expect_text(l->server, "validated");
}

TEST(accepted_sockets_outlive_the_listener) {
    struct lo *l = *state;
    tltcp_socket *late = NULL;

    lo_pair(l);
    assert_int_equal(tltcp_close(l->listener, 0), 0);
    l->listener = NULL;
    lo_send_text(l->client, "still there?");
    lo_expect_text(l->server, "still there?");
    lo_send_text(l->server, "yes");
    lo_expect_text(l->client, "yes");
    assert_int_equal(
        tltcp_connect(&late, l->host, l->port, &l->config, LO_PATIENCE),
        TLTCP_ERR_REFUSED);
}

TEST(callers_not_accepted_learn_of_the_listeners_end) {
    struct lo *l = *state;
    tltcp_event ev;

    lo_listen(l);
    lo_connect(l);
    assert_int_equal(tltcp_close(l->listener, 0), 0);
    l->listener = NULL;
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_REFUSED);
    assert_string_equal(ev.reason, "the listener was closed");
}

TEST(a_caller_that_left_can_still_be_read) {
    struct lo *l = *state;

    lo_listen(l);
    lo_connect(l);
    lo_send_text(l->client, "hit and run");
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
    lo_accept(l);
    lo_expect_text(l->server, "hit and run");
    lo_expect_end(l->server);
}

TEST(the_absence_of_callers_is_no_error) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    lo_listen(l);
    assert_int_equal(tltcp_accept(l->listener, &s, 0), TLTCP_ERR_AGAIN);
    assert_int_equal(tltcp_accept(l->listener, &s, 20), TLTCP_ERR_AGAIN);
    assert_false(lo_ready(tltcp_fd(l->listener)));
    lo_connect(l);
    lo_poll(tltcp_fd(l->listener));
    assert_int_equal(tltcp_accept(l->listener, &l->server, 0), 0);
    assert_false(lo_ready(tltcp_fd(l->listener)));
}

TEST(one_listener_serves_ipv4_and_ipv6) {
    struct lo *l = *state;
    tltcp_socket *six = NULL;
    tltcp_socket *server = NULL;

    l->host = NULL;
    lo_listen(l);
    l->host = "127.0.0.1";
    lo_connect(l);
    lo_accept(l);
    lo_send_text(l->client, "four");
    lo_expect_text(l->server, "four");
    lo_send_text(l->server, "back");
    lo_expect_text(l->client, "back");
    if (lo_has_ipv6()) {
        assert_int_equal(
            tltcp_connect(&six, "::1", l->port, &l->config, LO_PATIENCE), 0);
        assert_int_equal(tltcp_accept(l->listener, &server, LO_PATIENCE), 0);
        lo_send_text(six, "six");
        lo_expect_text(server, "six");
        assert_int_equal(tltcp_close(six, LO_PATIENCE), 0);
        assert_int_equal(tltcp_close(server, LO_PATIENCE), 0);
    }
}

/* The kernel's own choice of a source address would be another one. */
TEST(answers_come_from_the_address_that_was_called) {
    struct lo *l = *state;

    l->host = NULL;
    lo_listen(l);
    l->host = "127.0.0.9";
    lo_connect(l);
    lo_accept(l);
    lo_send_text(l->client, "nine");
    lo_expect_text(l->server, "nine");
}

/* Who aborts leaves the queue of those to be accepted, at whatever place he
 * is by then. */
TEST(a_member_that_gave_up_hides_no_other) {
    struct lo *l = *state;
    tltcp_socket *stays[20];
    int found = 0;

    lo_listen(l);
    for (int i = 0; i < 20; i++) {
        l->config.stream_id = "gone";
        lo_connect(l);
        lo_send_text(l->client, "unread");
        (void)tltcp_close(l->client, 0);
        l->client = NULL;
        l->config.stream_id = "here";
        assert_int_equal(
            tltcp_connect(&stays[i], l->host, l->port, &l->config, LO_PATIENCE),
            0);
    }
    while (found < 20) {
        assert_int_equal(tltcp_accept(l->listener, &l->server, LO_PATIENCE), 0);
        found += strcmp(tltcp_stream_id(l->server), "here") == 0;
        (void)tltcp_close(l->server, 0);
        l->server = NULL;
    }
    for (int i = 0; i < 20; i++) {
        (void)tltcp_close(stays[i], 0);
    }
}

#define T(f) LO_TEST(f, ipv4)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(many_callers_talk_to_one_listener),
        T(connections_of_one_address_are_limited),
        T(a_listener_can_ask_everybody_for_a_token),
        T(accepted_sockets_outlive_the_listener),
        T(callers_not_accepted_learn_of_the_listeners_end),
        T(a_caller_that_left_can_still_be_read),
        T(the_absence_of_callers_is_no_error),
        T(a_member_that_gave_up_hides_no_other),
        T(one_listener_serves_ipv4_and_ipv6),
        LO_TEST(many_callers_talk_to_one_listener, threads),
        LO_TEST(connections_of_one_address_are_limited, threads),
        LO_TEST(a_listener_can_ask_everybody_for_a_token, threads),
        LO_TEST(accepted_sockets_outlive_the_listener, threads),
        LO_TEST(callers_not_accepted_learn_of_the_listeners_end, threads),
        LO_TEST(a_caller_that_left_can_still_be_read, threads),
        LO_TEST(the_absence_of_callers_is_no_error, threads),
        LO_TEST(a_member_that_gave_up_hides_no_other, threads),
        LO_TEST(one_listener_serves_ipv4_and_ipv6, threads),
#if defined(__linux__)
        T(answers_come_from_the_address_that_was_called),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

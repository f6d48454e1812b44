/* SPDX-License-Identifier: MPL-2.0 */
/* Addresses that do not exist, and peers that are not there, refuse or send
 * junk. */
#include <stdio.h>

#include "tests/loopback/lo.h"

/* --- Addresses ----------------------------------------------------------- */

static void expect_refused(const struct lo *l, const char *const *hosts,
                           size_t count) {
    tltcp_socket *s = NULL;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tltcp_listen(&s, hosts[i], "0", &l->config),
                         TLTCP_ERR_ADDRESS);
        assert_int_equal(tltcp_connect(&s, hosts[i], "7777", &l->config, 10),
                         TLTCP_ERR_ADDRESS);
    }
    assert_null(s);
}

TEST(addresses_that_do_not_exist_are_refused) {
    static const char *const hosts[] = {"256.1.1.1", "host.invalid", "::g", ""};
    expect_refused(*state, hosts, sizeof(hosts) / sizeof(hosts[0]));
}

TEST(groups_are_refused) {
    static const char *const hosts[] = {"224.0.0.1", "239.255.255.255",
                                        "255.255.255.255", "ff02::1"};
    expect_refused(*state, hosts, sizeof(hosts) / sizeof(hosts[0]));
}

TEST(ports_that_do_not_exist_are_refused) {
    static const char *const ports[] = {"65536", "70000",           "-1",
                                        "80x",   "no-such-service", ""};
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        assert_int_equal(tltcp_listen(&s, "127.0.0.1", ports[i], &l->config),
                         TLTCP_ERR_ADDRESS);
        assert_int_equal(
            tltcp_connect(&s, "127.0.0.1", ports[i], &l->config, 10),
            TLTCP_ERR_ADDRESS);
    }
    assert_int_equal(tltcp_connect(&s, "127.0.0.1", "0", &l->config, 10),
                     TLTCP_ERR_ADDRESS);
    assert_null(s);
}

TEST(an_address_of_another_machine_cannot_be_bound) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    if (lo_can_bind("192.0.2.1")) {
        skip();
    }
    assert_int_equal(tltcp_listen(&s, "192.0.2.1", "0", &l->config),
                     TLTCP_ERR_ADDRESS);
}

TEST(a_port_in_use_is_said_to_be) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    lo_listen(l);
    assert_int_equal(tltcp_listen(&s, l->host, l->port, &l->config),
                     TLTCP_ERR_IN_USE);
    assert_null(s);
}

TEST(closing_a_listener_frees_its_port) {
    struct lo *l = *state;

    lo_listen(l);
    assert_int_equal(tltcp_close(l->listener, 0), 0);
    l->listener = NULL;
    assert_int_equal(tltcp_listen(&l->listener, l->host, l->port, &l->config),
                     0);
}

/* --- Peers --------------------------------------------------------------- */

/* A port of 127.0.0.1 that nobody uses, or, with *fd, one that stays mute. */
static void quiet_port(char port[8], int *fd) {
    struct sockaddr_in a;
    int own = lo_bind(&a);

    snprintf(port, 8, "%u", (unsigned)ntohs(a.sin_port));
    if (fd != NULL) {
        *fd = own;
    } else {
        close(own);
    }
}

TEST(a_closed_port_is_a_refusal) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;
    char port[8];

    quiet_port(port, NULL);
    assert_int_equal(
        tltcp_connect(&s, "127.0.0.1", port, &l->config, LO_PATIENCE),
        TLTCP_ERR_REFUSED);
    assert_null(s);
}

/* Anybody who guesses the ports can forge the message that a port is closed. */
TEST(one_refusal_does_not_end_a_call) {
    struct lo *l = *state;
    tltcp_stats st;

#if defined(_WIN32) /* under Wine nothing arrives after the refusal */
    skip();
#endif
    quiet_port(l->port, NULL);
    assert_int_equal(tltcp_connect(&l->client, l->host, l->port, &l->config, 0),
                     0);
    do { /* the refusal follows at once */
        tltcp_stats_init(&st);
        assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    } while (st.packets_sent == 0);
    assert_int_equal(tltcp_wait_connected(l->client, 20), TLTCP_ERR_AGAIN);
    assert_int_equal(tltcp_listen(&l->listener, l->host, l->port, &l->config),
                     0);
    assert_int_equal(tltcp_wait_connected(l->client, LO_PATIENCE), 0);
}

TEST(a_mute_peer_is_a_timeout) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;
    char port[8];
    int fd;

    quiet_port(port, &fd);
    assert_int_equal(tltcp_connect(&s, "127.0.0.1", port, &l->config, 50),
                     TLTCP_ERR_TIMEOUT);
    l->config.connect_timeout_ms = 50;
    assert_int_equal(tltcp_connect(&s, "127.0.0.1", port, &l->config, -1),
                     TLTCP_ERR_TIMEOUT);
    assert_null(s);
    close(fd);
}

TEST(a_late_refusal_wakes_a_poller) {
    struct lo *l = *state;
    char port[8];
    char byte;

    quiet_port(port, NULL);
    assert_int_equal(
        tltcp_connect(&l->client, "127.0.0.1", port, &l->config, 0), 0);
    lo_poll(tltcp_fd(l->client));
    lo_poll(tltcp_writable_fd(l->client));
    assert_int_equal(tltcp_socket_error(l->client, NULL), TLTCP_ERR_REFUSED);
    assert_int_equal(lo_recv_plain(l->client, &byte, 1, MSG_DONTWAIT),
                     TLTCP_ERR_REFUSED);
    assert_int_equal(lo_recv_plain(l->client, &byte, 1, MSG_DONTWAIT),
                     TLTCP_ERR_CLOSED);
    assert_int_equal(lo_send(l->client, "x", 1, TLTCP_TIME_NEVER),
                     TLTCP_ERR_CLOSED);
}

static bool only_camera_1(void *user, const tltcp_caller *caller,
                          char *reason) {
    const struct sockaddr *sa = caller->address;

    assert_non_null(user);
    assert_int_equal(sa->sa_family, AF_INET);
    assert_int_equal(caller->address_len, sizeof(struct sockaddr_in));
    snprintf(reason, TLTCP_REASON_MAX + 1, "no such stream: %s",
             caller->stream_id);
    return strcmp(caller->stream_id, "camera/1") == 0;
}

TEST(a_listener_refuses_with_a_reason) {
    struct lo *l = *state;
    tltcp_event ev;

    l->config.listener.on_caller = only_camera_1;
    l->config.user = l;
    lo_listen(l);
    l->config.stream_id = "camera/2";
    lo_expect_refusal(l, "no such stream: camera/2");
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_REFUSED);
    assert_string_equal(ev.reason, "no such stream: camera/2");
    assert_int_equal(tltcp_next_event(l->client, &ev, 0), TLTCP_ERR_CLOSED);
    assert_int_equal(tltcp_close(l->client, 0), 0);
    l->config.stream_id = "camera/1";
    lo_connect(l);
    lo_accept(l);
    assert_string_equal(tltcp_stream_id(l->server), "camera/1");
    assert_int_equal(tltcp_accept(l->listener, &l->server, 0), TLTCP_ERR_AGAIN);
}

TEST(junk_does_not_disturb_a_listener) {
    struct lo *l = *state;
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    uint8_t junk[1500];
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    lo_pair(l);
    assert_int_equal(
        tltcp_local_address(l->listener, (struct sockaddr *)&sa, &len), 0);
    for (unsigned i = 0; i < 500; i++) {
        for (size_t k = 0; k < sizeof(junk); k++) {
            junk[k] = lo_byte((size_t)i * 977 + k * 31);
        }
        (void)sendto(fd, junk, (size_t)i * 3, 0, (struct sockaddr *)&sa, len);
    }
    close(fd);
    lo_send_text(l->client, "unimpressed");
    lo_expect_text(l->server, "unimpressed");
}

/* The server ends the connection, and its peer learns why. */
static void expect_end(struct lo *l, int (*end)(tltcp_socket *, const char *),
                       const char *reason, int error) {
    tltcp_event ev;

    lo_pair(l);
    assert_int_equal(end(l->listener, "no"), TLTCP_ERR_INVAL);
    assert_int_equal(end(NULL, NULL), 0);
    assert_int_equal(end(l->server, reason), 0);
    l->server = NULL;
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, error);
    assert_string_equal(ev.reason, reason);
}

TEST(an_accepted_caller_can_be_rejected_with_a_reason) {
    expect_end(*state, tltcp_reject, "busy with another", TLTCP_ERR_REFUSED);
}

TEST(a_side_that_cannot_go_on_gives_its_reason) {
    expect_end(*state, tltcp_abort, "the disk is full", TLTCP_ERR_ABORTED);
}

#define T(f) cmocka_unit_test_setup_teardown(f, lo_ipv4, lo_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(addresses_that_do_not_exist_are_refused),
        T(groups_are_refused),
        T(ports_that_do_not_exist_are_refused),
        T(an_address_of_another_machine_cannot_be_bound),
        T(a_port_in_use_is_said_to_be),
        T(closing_a_listener_frees_its_port),
        T(a_closed_port_is_a_refusal),
        T(one_refusal_does_not_end_a_call),
        T(a_mute_peer_is_a_timeout),
        T(a_late_refusal_wakes_a_poller),
        T(a_listener_refuses_with_a_reason),
        T(an_accepted_caller_can_be_rejected_with_a_reason),
        T(a_side_that_cannot_go_on_gives_its_reason),
        T(junk_does_not_disturb_a_listener),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* TLTCP over TCP: where UDP is blocked, beside UDP, and against strangers. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/loopback/lo.h"

#define MANY ((size_t)4 << 20)

static void expect_transport(const tltcp_socket *s, const char *name) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(s, &st), 0);
    assert_string_equal(st.transport, name);
}

static void listen_over(struct lo *l, uint8_t transport) {
    l->config.io.transport = transport;
    lo_listen(l);
}

static void call_over(struct lo *l, uint8_t transport) {
    l->config.io.transport = transport;
    lo_connect(l);
    lo_accept(l);
}

static void connect_over(struct lo *l, uint8_t listener, uint8_t caller) {
    listen_over(l, listener);
    call_over(l, caller);
}

static void talk(struct lo *l) {
    lo_send_text(l->client, "there");
    lo_expect_text(l->server, "there");
    lo_send_text(l->server, "and back");
    lo_expect_text(l->client, "and back");
}

static void hang_up(struct lo *l) {
    assert_int_equal(tltcp_shutdown(l->client), 0);
    lo_expect_end(l->server);
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    l->server = NULL;
}

/* --- Raw TCP ------------------------------------------------------------- */

static int raw_listen(char port[8], int buffer) {
    struct sockaddr_in a = lo_address("0");
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    if (buffer > 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
    }
    assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    snprintf(port, 8, "%u", (unsigned)ntohs(a.sin_port));
    return fd;
}

static void raw_send(int fd, const void *data, size_t len) {
    assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* A caller's connection, which nobody has answered yet. */
static int raw_accept_call(struct lo *l) {
    int listener = raw_listen(l->port, 0);
    int fd;

    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    assert_int_equal(tltcp_connect(&l->client, l->host, l->port, &l->config, 0),
                     0);
    lo_poll(listener);
    fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    close(listener);
    return fd;
}

static void expect_refusal(const struct lo *l, const char *why) {
    char reason[TLTCP_REASON_MAX + 1];

    assert_int_equal(tltcp_wait_connected(l->client, LO_PATIENCE),
                     TLTCP_ERR_REFUSED);
    assert_int_equal(tltcp_socket_error(l->client, reason), TLTCP_ERR_REFUSED);
    assert_string_equal(reason, why);
}

/* --- A relay that can pause ---------------------------------------------- */

struct relay {
    int listener;
    char port[8];
    int side[2]; /* the caller's, the listener's */
};

static void relay_open(struct relay *r, const char *to) {
    r->listener = raw_listen(r->port, 4096);
    r->side[1] = lo_connect_tcp(to, 0);
}

static void relay_accept(struct relay *r) {
    lo_poll(r->listener);
    r->side[0] = accept(r->listener, NULL, NULL);
    assert_true(r->side[0] >= 0);
}

/* Carries what there is in both directions, for up to `ms` without news. */
static void relay_run(struct relay *r, int ms) {
    struct pollfd p[2] = {{.fd = r->side[0], .events = POLLIN},
                          {.fd = r->side[1], .events = POLLIN}};
    char data[4096];

    while (poll(p, 2, ms) > 0) {
        for (int i = 0; i < 2; i++) {
            ssize_t n = (p[i].revents & POLLIN) != 0
                            ? recv(p[i].fd, data, sizeof(data), 0)
                            : 0;

            if (n > 0) {
                raw_send(p[1 - i].fd, data, (size_t)n);
            } else if (p[i].revents != 0) {
                return;
            }
        }
    }
}

static void relay_close(struct relay *r) {
    close(r->listener);
    close(r->side[0]);
    close(r->side[1]);
}

/* A connection through the relay. */
static void relay_connect(struct lo *l, struct relay *r) {
    listen_over(l, TLTCP_TRANSPORT_TCP);
    relay_open(r, l->port);
    assert_int_equal(
        tltcp_connect(&l->client, "127.0.0.1", r->port, &l->config, 0), 0);
    relay_accept(r);
    while (tltcp_wait_connected(l->client, 0) == TLTCP_ERR_AGAIN ||
           tltcp_accept(l->listener, &l->server, 0) == TLTCP_ERR_AGAIN) {
        relay_run(r, 10);
    }
}

/* --- Connections --------------------------------------------------------- */

TEST(sections_travel_both_ways) {
    struct lo *l = *state;

    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_TCP);
    talk(l);
    expect_transport(l->client, "tcp");
    expect_transport(l->server, "tcp");
    hang_up(l);
}

TEST(sealed_sections_travel_both_ways) {
    struct lo *l = *state;

    l->config.passphrase = "correct horse battery";
    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_TCP);
    talk(l);
    expect_transport(l->client, "tcp");
    hang_up(l);
}

TEST(a_wrong_passphrase_is_refused_over_tcp_too) {
    struct lo *l = *state;

    l->config.passphrase = "correct horse battery";
    listen_over(l, TLTCP_TRANSPORT_TCP);
    l->config.passphrase = "incorrect horse";
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, &l->config, LO_PATIENCE),
        TLTCP_ERR_AUTH);
    l->config.passphrase = NULL;
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, &l->config, LO_PATIENCE),
        TLTCP_ERR_AUTH);
}

TEST(tokens_are_asked_for_over_tcp_too) {
    struct lo *l = *state;

    l->config.listener.always_retry = true;
    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_TCP);
    talk(l);
}

TEST(a_listener_without_half_open_calls_takes_callers_over_tcp) {
    struct lo *l = *state;

    l->config.listener.max_half_open_per_address = 0;
    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_TCP);
    talk(l);
}

TEST(one_port_serves_udp_and_tcp) {
    struct lo *l = *state;

    connect_over(l, TLTCP_TRANSPORT_AUTO, TLTCP_TRANSPORT_UDP);
    talk(l);
    expect_transport(l->client, "udp");
    expect_transport(l->server, "udp");
    hang_up(l);
    call_over(l, TLTCP_TRANSPORT_TCP);
    talk(l);
    expect_transport(l->client, "tcp");
    hang_up(l);
    call_over(l, TLTCP_TRANSPORT_AUTO); /* UDP answers */
    talk(l);
    expect_transport(l->client, "udp");
    hang_up(l);
}

/* Nothing in the way: UDP is refused at once. */
TEST(a_caller_falls_back_where_udp_is_refused) {
    struct lo *l = *state;

    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_AUTO);
    talk(l);
    expect_transport(l->client, "tcp");
    hang_up(l);
}

/* A UDP socket at the port swallows what comes, as a firewall does. */
TEST(a_caller_falls_back_where_udp_is_swallowed) {
    struct lo *l = *state;
    struct sockaddr_in a;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    listen_over(l, TLTCP_TRANSPORT_TCP);
    a = lo_address(l->port);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    call_over(l, TLTCP_TRANSPORT_AUTO);
    talk(l);
    expect_transport(l->client, "tcp");
    hang_up(l);
    close(fd);
}

TEST(a_sealed_caller_falls_back) {
    struct lo *l = *state;

    l->config.passphrase = "correct horse battery";
    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_AUTO);
    talk(l);
    expect_transport(l->client, "tcp");
}

TEST(what_was_sent_before_the_fall_back_arrives) {
    struct lo *l = *state;

    listen_over(l, TLTCP_TRANSPORT_TCP);
    l->config.io.transport = TLTCP_TRANSPORT_AUTO;
    assert_int_equal(tltcp_connect(&l->client, l->host, l->port, &l->config, 0),
                     0);
    lo_send_text(l->client, "early");
    lo_accept(l);
    lo_expect_text(l->server, "early");
}

TEST(the_application_learns_the_addresses) {
    struct lo *l = *state;
    struct sockaddr_in local;
    struct sockaddr_in peer;
    socklen_t len = sizeof(local);

    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_TCP);
    assert_int_equal(
        tltcp_local_address(l->client, (struct sockaddr *)&local, &len), 0);
    len = sizeof(peer);
    assert_int_equal(
        tltcp_peer_address(l->server, (struct sockaddr *)&peer, &len), 0);
    assert_int_equal(local.sin_port, peer.sin_port);
    assert_int_equal(local.sin_addr.s_addr, peer.sin_addr.s_addr);
}

TEST(megabytes_arrive_whole) {
    struct lo *l = *state;
    uint8_t *data = malloc(MANY);
    uint8_t *in = malloc(MANY);
    size_t got = 0;

    lo_fill(data, MANY, 0);
    connect_over(l, TLTCP_TRANSPORT_TCP, TLTCP_TRANSPORT_TCP);
    assert_int_equal(lo_send(l->client, data, MANY, TLTCP_TIME_NEVER),
                     (ssize_t)MANY);
    while (got < MANY) {
        ssize_t n = lo_recv_plain(l->server, in + got, MANY - got, 0);

        assert_true(n > 0);
        got += (size_t)n;
    }
    assert_true(lo_matches(in, MANY, 0));
    hang_up(l);
    free(data);
    free(in);
}

/* --- Deadlines ----------------------------------------------------------- */

/* The network stands still: what is late is dropped in the sender, what is in
 * the kernel is little, and the stream goes on. */
TEST(deadlines_drop_in_the_sender_while_tcp_stands_still) {
    struct lo *l = *state;
    struct relay r;
    uint8_t section[16384];
    tltcp_stats st;

    lo_fill(section, sizeof(section), 0);
    l->config.idle_timeout_ms = 0;
    relay_connect(l, &r);
    for (int i = 0; i < 200; i++) {
        assert_true(lo_send(l->client, section, sizeof(section),
                            tltcp_now() + 200 * TLTCP_MS) > 0);
    }
    do { /* nobody carries anything */
        tltcp_stats_init(&st);
        assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    } while (st.sections_expired + st.sections_partial < 100);
    assert_true(st.bytes_sent < st.bytes_offered / 2);
    lo_send_text(l->client, "late");
    for (bool over = false; !over;) {
        struct lo_got got;

        relay_run(&r, 10);
        lo_recv(l->server, &got, 1, MSG_DONTWAIT);
        over = got.rv == 4 && got.segment[0].kind == TL_DATA &&
               memcmp(got.data[0], "late", 4) == 0;
        assert_true(got.rv != 0);
    }
    relay_close(&r);
}

/* --- Ends ---------------------------------------------------------------- */

TEST(a_lost_tcp_connection_ends_both_sides) {
    struct lo *l = *state;
    struct relay r;
    char reason[TLTCP_REASON_MAX + 1];
    tltcp_event ev;

    relay_connect(l, &r);
    relay_close(&r);
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_ABORTED);
    assert_int_equal(tltcp_socket_error(l->client, reason), TLTCP_ERR_ABORTED);
    assert_string_equal(reason, "the TCP connection was lost");
    lo_event(l->server, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_ABORTED);
}

TEST(without_a_listener_the_call_is_refused) {
    struct lo *l = *state;
    int fd = raw_listen(l->port, 0);

    close(fd);
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, &l->config, LO_PATIENCE),
        TLTCP_ERR_REFUSED);
    l->config.io.transport = TLTCP_TRANSPORT_AUTO;
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, &l->config, LO_PATIENCE),
        TLTCP_ERR_REFUSED);
}

TEST(a_server_of_another_protocol_is_told_apart) {
    struct lo *l = *state;
    int fd = raw_accept_call(l);

    raw_send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
    expect_refusal(l, "what listens at that TCP port does not speak TLTCP");
    close(fd);
}

/* As of a listener that has no room: by FIN, or by RST. */
static void expect_closed_without_an_answer(struct lo *l, bool reset) {
    const struct linger hard = {.l_onoff = 1};
    int fd = raw_accept_call(l);

    if (reset) {
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    }
    close(fd);
    expect_refusal(l, "the peer closed the TCP connection without an answer");
    assert_int_equal(tltcp_close(l->client, 0), 0);
    l->client = NULL;
}

TEST(a_listener_that_hangs_up_refuses) {
    expect_closed_without_an_answer(*state, false);
    expect_closed_without_an_answer(*state, true);
}

TEST(the_dupack_recovery_does_not_go_over_tcp) {
    struct lo *l = *state;

    l->config.recovery = "dupack";
    l->config.io.transport = TLTCP_TRANSPORT_TCP;
    assert_int_equal(tltcp_listen(&l->listener, l->host, "0", &l->config),
                     TLTCP_ERR_UNSUPPORTED);
    assert_int_equal(tltcp_connect(&l->client, l->host, "7", &l->config, 10),
                     TLTCP_ERR_UNSUPPORTED);
}

/* --- Strangers ----------------------------------------------------------- */

static const uint8_t preface[] = {'T', 'L', 'T', 'C', 'P', 0, 0, 1};

/* Sends the preface and more, and is hung up on. */
static void expect_hang_up(struct lo *l, const void *more, size_t len) {
    int fd = lo_connect_tcp(l->port, 0);

    raw_send(fd, preface, sizeof(preface));
    raw_send(fd, more, len);
    lo_expect_eof(fd);
}

TEST(strangers_are_hung_up_on) {
    static const uint8_t too_long[] = {0xff, 0xff, 0x58};
    static const uint8_t too_short[] = {0, 3, 0x58};
    uint8_t data[2 + 100] = {0, 100, 0x50};
    struct lo *l = *state;
    int fd;

    listen_over(l, TLTCP_TRANSPORT_AUTO);
    fd = lo_connect_tcp(l->port, 0);
    raw_send(fd, "GET / HTTP/1.1\r\n\r\n", 18);
    lo_expect_eof(fd);
    expect_hang_up(l, too_long, sizeof(too_long));
    expect_hang_up(l, too_short, sizeof(too_short));
    expect_hang_up(l, data, sizeof(data)); /* no INITIAL */
    call_over(l, TLTCP_TRANSPORT_TCP);
    talk(l);
}

TEST(a_connection_without_a_call_is_closed) {
    struct lo *l = *state;
    int fd;

    listen_over(l, TLTCP_TRANSPORT_TCP);
    fd = lo_connect_tcp(l->port, 0);
    raw_send(fd, preface, 3);
    lo_expect_eof(fd);
}

TEST(callers_get_in_beside_thousands_that_come_and_go) {
    struct lo *l = *state;

    listen_over(l, TLTCP_TRANSPORT_TCP);
    for (int i = 0; i < 2000; i++) {
        int fd = lo_connect_tcp(l->port, 0);

        raw_send(fd, preface, (size_t)(i % 8) + 1);
        close(fd);
    }
    while (tltcp_connect(&l->client, l->host, l->port, &l->config,
                         LO_PATIENCE) != 0) {
    }
    lo_accept(l);
    talk(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(sections_travel_both_ways, ipv4),
        LO_TEST(sections_travel_both_ways, ipv6),
        LO_TEST(sealed_sections_travel_both_ways, ipv4),
        LO_TEST(a_wrong_passphrase_is_refused_over_tcp_too, ipv4),
        LO_TEST(tokens_are_asked_for_over_tcp_too, ipv4),
        LO_TEST(a_listener_without_half_open_calls_takes_callers_over_tcp,
                ipv4),
        LO_TEST(one_port_serves_udp_and_tcp, ipv4),
        LO_TEST(one_port_serves_udp_and_tcp, plain),
        LO_TEST(a_caller_falls_back_where_udp_is_refused, ipv4),
        LO_TEST(a_caller_falls_back_where_udp_is_swallowed, ipv4),
        LO_TEST(a_sealed_caller_falls_back, ipv4),
        LO_TEST(what_was_sent_before_the_fall_back_arrives, ipv4),
        LO_TEST(the_application_learns_the_addresses, ipv4),
        LO_TEST(megabytes_arrive_whole, ipv4),
        LO_TEST(deadlines_drop_in_the_sender_while_tcp_stands_still, ipv4),
        LO_TEST(a_lost_tcp_connection_ends_both_sides, ipv4),
        LO_TEST(without_a_listener_the_call_is_refused, ipv4),
        LO_TEST(a_server_of_another_protocol_is_told_apart, ipv4),
        LO_TEST(a_listener_that_hangs_up_refuses, ipv4),
        LO_TEST(the_dupack_recovery_does_not_go_over_tcp, ipv4),
        LO_TEST(strangers_are_hung_up_on, ipv4),
        LO_TEST(a_connection_without_a_call_is_closed, ipv4),
        LO_TEST(callers_get_in_beside_thousands_that_come_and_go, ipv4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Addresses that change under a connection, and routes that go away. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tests/loopback/own_network.h"
#include "tests/loopback/relay.h"

/* --- A translator between the two ends ----------------------------------- */

static uint16_t peer_port(const tltcp_socket *s) {
    struct sockaddr_in a;
    socklen_t len = sizeof(a);

    assert_int_equal(tltcp_peer_address(s, (struct sockaddr *)&a, &len), 0);
    return a.sin_port;
}

TEST(a_connection_follows_its_peer_to_another_address) {
    struct lo *l = *state;
    struct relay r = {0};
    tltcp_event ev;
    uint16_t before;

    relay_start(&r, l);
    lo_connect(l);
    lo_accept(l);
    lo_send_text(l->client, "from the old place");
    lo_expect_text(l->server, "from the old place");
    before = peer_port(l->server);
    for (int move = 1; move < 6; move++) { /* to and fro */
        atomic_store(&r.side, move % 2);
        lo_send_text(l->client, "from the new place");
        lo_expect_text(l->server, "from the new place");
        lo_event(l->server, TLTCP_EVENT_PATH, &ev);
        assert_true((peer_port(l->server) == before) == (move % 2 == 0));
        lo_send_text(l->server, "to the new place");
        lo_expect_text(l->client, "to the new place");
    }
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
    lo_expect_end(l->server);
    relay_stop(&r);
}

TEST(a_bulk_transfer_survives_moves) {
    enum { SECTIONS = 400, LEN = 5000 };
    struct lo *l = *state;
    struct relay r = {0};
    uint8_t *data = malloc(LEN);
    uint64_t got = 0;

    assert_non_null(data);
    l->config.send_buffer = (size_t)SECTIONS * LEN;
    relay_start(&r, l);
    lo_connect(l);
    lo_accept(l);
    for (uint64_t i = 0; i < SECTIONS; i++) {
        lo_fill(data, LEN, i * LEN);
        assert_int_equal(lo_send(l->client, data, LEN, TLTCP_TIME_NEVER), LEN);
    }
    while (got < (uint64_t)SECTIONS * LEN) {
        ssize_t n = lo_recv_plain(l->server, data, LEN, 0);

        assert_true(n > 0);
        assert_true(lo_matches(data, (size_t)n, got));
        got += (uint64_t)n;
        atomic_store(&r.side, (int)(got / 500000) % 2);
    }
    relay_stop(&r);
    free(data);
}

/* --- A kernel without a route -------------------------------------------- */

/* Calls of sendmmsg() that fail, linked with --wrap; those of the thread that
 * serves the caller alone, since only it is connected. */
static atomic_int failures;
static atomic_int error;

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags);
int __real_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags);

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned count, int flags) {
    if (msg->msg_hdr.msg_name == NULL && atomic_load(&failures) > 0) {
        atomic_fetch_sub(&failures, 1);
        errno = atomic_load(&error);
        return -1;
    }
    return __real_sendmmsg(fd, msg, count, flags);
}

TEST(a_route_that_comes_back_is_used_again) {
    static const int errors[] = {ENETUNREACH, EINVAL, EADDRNOTAVAIL, EPERM};
    struct lo *l = *state;

    lo_pair(l);
    for (size_t i = 0; i < 4; i++) {
        atomic_store(&error, errors[i]);
        atomic_store(&failures, 3);
        lo_send_text(l->client, "after all");
        lo_expect_text(l->server, "after all");
    }
    lo_send_text(l->server, "and back");
    lo_expect_text(l->client, "and back");
    assert_int_equal(atomic_load(&failures), 0);
}

TEST(refusals_do_not_end_an_open_connection) {
    struct lo *l = *state;

    lo_pair(l);
    atomic_store(&error, ECONNREFUSED); /* anybody could forge it */
    atomic_store(&failures, 3);
    lo_send_text(l->client, "all the same");
    lo_expect_text(l->server, "all the same");
}

/* --- Forged ICMP messages ------------------------------------------------ */

static uint16_t icmp_sum(const uint8_t *data, size_t len) {
    uint32_t sum = 0;

    for (size_t i = 0; i < len; i += 2) {
        sum += (uint32_t)(data[i] << 8 | data[i + 1]);
    }
    return (uint16_t) ~(sum % 0xffff);
}

/* "Destination unreachable" with this code, as if about a datagram between the
 * two ports; `mtu` is for code 4, fragmentation needed. */
static void forge_icmp(int raw, const char *from, const char *to, uint8_t code,
                       uint16_t mtu) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    uint16_t source = (uint16_t)strtoul(from, NULL, 10);
    uint16_t target = (uint16_t)strtoul(to, NULL, 10);
    uint8_t m[8 + 20 + 8] = {
        3, code, 0, 0, 0, 0, (uint8_t)(mtu >> 8), (uint8_t)mtu,
        /* IPv4 127.0.0.1 to 127.0.0.1, UDP */
        0x45, 0, 5, 0, 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1,
        (uint8_t)(source >> 8), (uint8_t)source, (uint8_t)(target >> 8),
        (uint8_t)target};
    uint16_t sum = icmp_sum(m, sizeof(m));

    m[2] = (uint8_t)(sum >> 8);
    m[3] = (uint8_t)sum;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        sendto(raw, m, sizeof(m), 0, (struct sockaddr *)&at, sizeof(at)),
        sizeof(m));
}

TEST(forged_icmp_messages_neither_end_a_connection_nor_shrink_its_packets) {
    static uint8_t data[20000];
    struct lo *l = *state;
    char caller[8];
    tltcp_stats st;
    uint64_t before;
    int raw;

    if (!own_network()) { /* the kernel believes some of them */
        skip();
    }
    raw = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    assert_true(raw >= 0);
    lo_pair(l);
    lo_port(l->client, caller);
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    before = st.datagram_bytes;
    for (int i = 0; i < 300; i++) {
        for (uint8_t code = 0; code < 16; code++) { /* of every kind */
            forge_icmp(raw, caller, l->port, code, 68);
            forge_icmp(raw, l->port, caller, code, 68);
        }
        if (i % 50 == 0) {
            lo_send_text(l->client, "all the same");
            lo_expect_text(l->server, "all the same");
            lo_send_text(l->server, "both ways");
            lo_expect_text(l->client, "both ways");
        }
    }
    lo_send(l->client, data, sizeof(data), TLTCP_TIME_NEVER);
    for (size_t n = 0; n < sizeof(data);) {
        ssize_t rv = lo_recv_plain(l->server, data, sizeof(data) - n, 0);

        assert_true(rv > 0);
        n += (size_t)rv;
    }
    assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    assert_true(st.datagram_bytes >= before);
    close(raw);
}

TEST(a_full_kernel_does_not_hold_up_the_end) {
    struct lo *l = *state;

    lo_pair(l);
    atomic_store(&error, EAGAIN);
    atomic_store(&failures, INT_MAX); /* for good */
    lo_send_text(l->client, "never leaves");
    assert_int_equal(tltcp_close(l->client, 20), TLTCP_ERR_TIMEOUT);
    l->client = NULL;
    atomic_store(&failures, 0);
}

TEST(a_full_kernel_delays_but_loses_nothing) {
    struct lo *l = *state;
    tltcp_stats st;

    lo_pair(l);
    atomic_store(&error, EAGAIN);
    for (int i = 0; i < 20; i++) {
        atomic_store(&failures, 5);
        lo_send_text(l->client, "in its time");
        lo_expect_text(l->server, "in its time");
    }
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    assert_int_equal(st.packets_lost, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, lo_ipv4, lo_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_connection_follows_its_peer_to_another_address),
        T(a_bulk_transfer_survives_moves),
        LO_TEST(a_bulk_transfer_survives_moves, threads),
        T(a_route_that_comes_back_is_used_again),
        T(refusals_do_not_end_an_open_connection),
        T(a_full_kernel_does_not_hold_up_the_end),
        T(a_full_kernel_delays_but_loses_nothing),
        LO_TEST(a_full_kernel_delays_but_loses_nothing, threads),
        T(forged_icmp_messages_neither_end_a_connection_nor_shrink_its_packets), /* last */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

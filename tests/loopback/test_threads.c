/* SPDX-License-Identifier: MPL-2.0 */
/* Several threads on one socket, and many sockets at once. */
#include <stdlib.h>

#include <uv.h>

#include "tests/loopback/lo.h"

#define TOTAL ((uint64_t)8 << 20)
#define SECTION ((size_t)20000)

/* What a thread does to one direction of one socket. */
struct work {
    tltcp_socket *s;
    uint64_t total;
    uint64_t done;
    int error;
};

static void send_all(void *arg) {
    struct work *w = arg;
    uint8_t *data = malloc(SECTION);
    struct iovec iov = {.iov_base = data};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    while (data != NULL && w->done < w->total && w->error == 0) {
        uint64_t left = w->total - w->done;
        ssize_t rv;

        iov.iov_len = left < SECTION ? (size_t)left : SECTION;
        lo_fill(data, iov.iov_len, w->done);
        rv = tltcp_sendmsg(w->s, &m, 0);
        w->error = rv > 0 ? 0 : (int)rv;
        w->done += rv > 0 ? (uint64_t)rv : 0;
    }
    free(data);
    (void)tltcp_shutdown(w->s);
}

static void receive_all(void *arg) {
    struct work *w = arg;
    uint8_t *data = malloc(SECTION);
    ssize_t rv = 1;

    while (data != NULL && rv > 0) {
        rv = lo_recv_plain(w->s, data, SECTION, 0);
        if (rv > 0 && !lo_matches(data, (size_t)rv, w->done)) {
            w->error = TLTCP_ERR_PROTOCOL;
        }
        w->done += rv > 0 ? (uint64_t)rv : 0;
    }
    w->error = rv < 0 ? (int)rv : w->error;
    free(data);
}

/* Both directions of a pair at full speed: four threads, and two that ask. */
TEST(both_directions_run_at_once) {
    struct lo *l = *state;
    uv_thread_t thread[4];
    struct work work[4];
    tltcp_stats st;

    l->config.send_buffer = 512 * 1024;
    l->config.recv_buffer = 512 * 1024;
    lo_pair(l);
    for (int i = 0; i < 4; i++) {
        work[i] =
            (struct work){.s = i < 2 ? l->client : l->server, .total = TOTAL};
        assert_int_equal(uv_thread_create(&thread[i],
                                          i % 2 == 0 ? send_all : receive_all,
                                          &work[i]),
                         0);
    }
    do { /* a fifth thread that looks on */
        tltcp_stats_init(&st);
        assert_int_equal(tltcp_get_stats(l->server, &st), 0);
        assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
    } while (st.bytes_read < TOTAL && st.sections_cut == 0 &&
             tltcp_socket_error(l->server, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(uv_thread_join(&thread[i]), 0);
        assert_int_equal(work[i].error, 0);
        assert_int_equal(work[i].done, TOTAL);
    }
}

enum { PAIRS = 8 };

TEST(pairs_on_one_listener_do_not_mix) {
    struct lo *l = *state;
    tltcp_socket *client[PAIRS];
    tltcp_socket *server[PAIRS];
    uv_thread_t thread[2 * PAIRS];
    struct work work[2 * PAIRS];

    lo_listen(l);
    for (int i = 0; i < PAIRS; i++) {
        assert_int_equal(tltcp_connect(&client[i], l->host, l->port, &l->config,
                                       LO_PATIENCE),
                         0);
        assert_int_equal(tltcp_accept(l->listener, &server[i], LO_PATIENCE), 0);
        work[i] = (struct work){.s = client[i], .total = TOTAL / PAIRS};
        work[PAIRS + i] = (struct work){.s = server[i]};
        assert_int_equal(uv_thread_create(&thread[i], send_all, &work[i]), 0);
        assert_int_equal(
            uv_thread_create(&thread[PAIRS + i], receive_all, &work[PAIRS + i]),
            0);
    }
    for (int i = 0; i < 2 * PAIRS; i++) {
        assert_int_equal(uv_thread_join(&thread[i]), 0);
        assert_int_equal(work[i].error, 0);
        assert_int_equal(work[i].done, TOTAL / PAIRS);
    }
    for (int i = 0; i < PAIRS; i++) {
        assert_int_equal(tltcp_close(client[i], LO_PATIENCE), 0);
        assert_int_equal(tltcp_close(server[i], LO_PATIENCE), 0);
    }
}

/* One caller that nobody reads harms no other. */
TEST(a_slow_reader_does_not_hold_up_another) {
    struct lo *l = *state;
    tltcp_socket *slow = NULL;
    tltcp_socket *slow_peer = NULL;
    uint8_t data[1000] = {0};
    struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    l->config.recv_buffer = 8192;
    lo_pair(l);
    assert_int_equal(
        tltcp_connect(&slow, l->host, l->port, &l->config, LO_PATIENCE), 0);
    assert_int_equal(tltcp_accept(l->listener, &slow_peer, LO_PATIENCE), 0);
    while (tltcp_sendmsg(slow_peer, &m, MSG_DONTWAIT) > 0) {
    }
    for (int i = 0; i < 100; i++) {
        lo_send_text(l->server, "not held up");
        lo_expect_text(l->client, "not held up");
    }
    assert_int_equal(tltcp_close(slow, 0), 0);
    (void)tltcp_close(slow_peer, 0);
}

static void accept_late(void *arg) {
    struct lo *l = arg;

    (void)tltcp_accept(l->listener, &l->server, LO_PATIENCE);
}

TEST(a_waiting_accept_is_woken) {
    struct lo *l = *state;
    uv_thread_t thread;

    lo_listen(l);
    assert_int_equal(uv_thread_create(&thread, accept_late, l), 0);
    lo_connect(l);
    assert_int_equal(uv_thread_join(&thread), 0);
    assert_non_null(l->server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(both_directions_run_at_once, ipv4),
        LO_TEST(both_directions_run_at_once, no_gso),
        LO_TEST(both_directions_run_at_once, plain),
        LO_TEST(pairs_on_one_listener_do_not_mix, ipv4),
        LO_TEST(a_slow_reader_does_not_hold_up_another, ipv4),
        LO_TEST(a_waiting_accept_is_woken, ipv4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

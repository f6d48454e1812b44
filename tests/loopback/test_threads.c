/* SPDX-License-Identifier: MPL-2.0 */
/* Several threads on one socket, and many sockets at once. */
#include <stdlib.h>

#include <uv.h>

#include "tests/loopback/lo.h"

#define TOTAL ((uint64_t)8 << 20)
#define SECTION ((size_t)20000)

/* A thread's operations on one direction of one socket. */
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

/* --- Callbacks ----------------------------------------------------------- */

/* An on_caller that takes its time with the second caller. */
struct porter {
    unsigned callers;
    uv_sem_t entered;
    uv_sem_t go_on;
    bool left;
    tltcp_socket *listener;
    bool left_before_close_returned;
    uv_sem_t closed;
};

static bool porter_decides(void *user, const tltcp_caller *caller,
                           char *reason) {
    struct porter *p = user;

    (void)caller;
    (void)reason;
    if (++p->callers == 2) {
        uv_sem_post(&p->entered);
        uv_sem_wait(&p->go_on);
        p->left = true;
    }
    return true;
}

static void porter_close(void *arg) {
    struct porter *p = arg;

    (void)tltcp_close(p->listener, 0);
    p->left_before_close_returned = p->left;
    uv_sem_post(&p->closed);
}

/* Gives a close() that does not wait every chance to show it. */
static bool porter_closed_early(struct porter *p) {
    tltcp_time until = tltcp_now() + 100 * TLTCP_MS;

    while (tltcp_now() < until) {
        if (uv_sem_trywait(&p->closed) == 0) {
            return true;
        }
    }
    return false;
}

TEST(closing_a_listener_waits_for_a_running_on_caller) {
    struct lo *l = *state;
    struct porter p = {.callers = 0};
    tltcp_socket *second = NULL;
    uv_thread_t thread;
    bool early;

    assert_int_equal(uv_sem_init(&p.entered, 0), 0);
    assert_int_equal(uv_sem_init(&p.go_on, 0), 0);
    assert_int_equal(uv_sem_init(&p.closed, 0), 0);
    l->config.listener.on_caller = porter_decides;
    l->config.user = &p;
    lo_pair(l); /* the accepted connection keeps the I/O thread alive */
    assert_int_equal(tltcp_connect(&second, l->host, l->port, &l->config, 0),
                     0);
    uv_sem_wait(&p.entered);
    p.listener = l->listener;
    l->listener = NULL;
    assert_int_equal(uv_thread_create(&thread, porter_close, &p), 0);
    early = porter_closed_early(&p);
    uv_sem_post(&p.go_on);
    assert_int_equal(uv_thread_join(&thread), 0);
    assert_false(early);
    assert_true(p.left_before_close_returned);
    assert_int_equal(tltcp_wait_connected(second, LO_PATIENCE),
                     TLTCP_ERR_REFUSED);
    assert_int_equal(tltcp_close(second, 0), 0);
    lo_send_text(l->client, "alive");
    lo_expect_text(l->server, "alive");
    uv_sem_destroy(&p.entered);
    uv_sem_destroy(&p.go_on);
    uv_sem_destroy(&p.closed);
}

/* --- Shared I/O threads -------------------------------------------------- */

struct chain {
    struct lo *l;
    tltcp_socket *s;
    int rv;
};

static bool connects_from_a_callback(void *user, const tltcp_caller *caller,
                                     char *reason) {
    struct chain *c = user;

    (void)caller;
    (void)reason;
    c->rv = tltcp_connect(&c->s, c->l->host, "9", NULL, 0);
    return true;
}

TEST(a_callback_may_connect) {
    struct lo *l = *state;
    struct chain c = {.l = l, .rv = -1};

    l->config.listener.on_caller = connects_from_a_callback;
    l->config.user = &c;
    lo_pair(l);
    assert_int_equal(c.rv, 0);
    assert_int_equal(tltcp_close(c.s, 0), 0);
    lo_send_text(l->client, "alive");
    lo_expect_text(l->server, "alive");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(both_directions_run_at_once, ipv4),
        LO_TEST(both_directions_run_at_once, threads),
        LO_TEST(both_directions_run_at_once, no_gso),
        LO_TEST(both_directions_run_at_once, plain),
        LO_TEST(pairs_on_one_listener_do_not_mix, ipv4),
        LO_TEST(pairs_on_one_listener_do_not_mix, threads),
        LO_TEST(a_slow_reader_does_not_hold_up_another, ipv4),
        LO_TEST(a_slow_reader_does_not_hold_up_another, threads),
        LO_TEST(a_waiting_accept_is_woken, ipv4),
        LO_TEST(a_waiting_accept_is_woken, threads),
        LO_TEST(closing_a_listener_waits_for_a_running_on_caller, ipv4),
        LO_TEST(closing_a_listener_waits_for_a_running_on_caller, threads),
        LO_TEST(a_callback_may_connect, ipv4),
        LO_TEST(a_callback_may_connect, threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

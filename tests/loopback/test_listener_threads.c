/* SPDX-License-Identifier: MPL-2.0 */
/* One listener on several I/O threads: who serves whom, and what holds for all
 * threads together. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "libtltcp/socket/state.h"
#include "tests/loopback/relay.h"

#define CALLERS 48

/* --- A kernel that cannot steer datagrams, linked with --wrap ------------- */

static atomic_bool unable;

int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);
int __real_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);

int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len) {
    enum { ATTACH_REUSEPORT_CBPF = 51 };

    if (level == SOL_SOCKET && name == ATTACH_REUSEPORT_CBPF &&
        atomic_load(&unable)) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return __real_setsockopt(fd, level, name, value, len);
}

TEST(without_steering_several_threads_are_unsupported) {
    struct lo *l = *state;

    lo_listen(l); /* a port that is free then */
    assert_int_equal(tltcp_close(l->listener, 0), 0);
    l->listener = NULL;
    atomic_store(&unable, true);
    assert_int_equal(tltcp_listen(&l->listener, l->host, l->port, &l->config),
                     TLTCP_ERR_UNSUPPORTED);
    l->config.io.threads = 1;
    assert_int_equal(tltcp_listen(&l->listener, l->host, l->port, &l->config),
                     0);
    atomic_store(&unable, false);
    lo_connect(l);
    lo_accept(l);
    lo_send_text(l->client, "on one thread");
    lo_expect_text(l->server, "on one thread");
}

/* --- Options ------------------------------------------------------------- */

TEST(bad_numbers_of_threads_are_refused) {
    static const struct {
        uint8_t threads;
        uint8_t transport;
        bool batches;
        int rv;
        const char *why;
    } bad[] = {
        {0, TLTCP_TRANSPORT_UDP, true, TLTCP_ERR_INVAL,
         "threads must be 1 to 64"},
        {65, TLTCP_TRANSPORT_UDP, true, TLTCP_ERR_INVAL,
         "threads must be 1 to 64"},
        {2, TLTCP_TRANSPORT_TCP, true, TLTCP_ERR_UNSUPPORTED,
         "several I/O threads need UDP"},
        {2, TLTCP_TRANSPORT_UDP, false, TLTCP_ERR_UNSUPPORTED,
         "several I/O threads need batches"},
    };
    struct lo *l = *state;
    char why[TLTCP_REASON_MAX + 1];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        l->config.io.threads = bad[i].threads;
        l->config.io.transport = bad[i].transport;
        l->config.io.batches = bad[i].batches;
        assert_int_equal(tltcp_config_check(&l->config, why), bad[i].rv);
        assert_string_equal(why, bad[i].why);
        assert_int_equal(tltcp_listen(&l->listener, l->host, "0", &l->config),
                         bad[i].rv);
    }
}

TEST(sixty_four_threads_are_possible) {
    struct lo *l = *state;

    l->config.io.threads = TLTCP_THREADS_MAX;
    lo_pair(l);
    lo_send_text(l->client, "one of many");
    lo_expect_text(l->server, "one of many");
}

TEST(a_port_that_has_a_listener_is_not_shared) {
    struct lo *l = *state;
    tltcp_socket *other = NULL;

    lo_listen(l);
    assert_int_equal(tltcp_listen(&other, l->host, l->port, &l->config),
                     TLTCP_ERR_IN_USE);
    l->config.io.threads = 1;
    assert_int_equal(tltcp_listen(&other, l->host, l->port, &l->config),
                     TLTCP_ERR_IN_USE);
}

/* --- Callers ------------------------------------------------------------- */

static void call_all(struct lo *l, tltcp_socket **client, int count) {
    for (int i = 0; i < count; i++) { /* all at once */
        assert_int_equal(
            tltcp_connect(&client[i], l->host, l->port, &l->config, 0), 0);
    }
}

static void close_all(tltcp_socket **s, int count) {
    for (int i = 0; i < count; i++) {
        (void)tltcp_close(s[i], 0);
    }
}

TEST(callers_are_spread_over_the_threads) {
    struct lo *l = *state;
    tltcp_socket *client[CALLERS];
    tltcp_socket *server[CALLERS];
    const struct tltcp__listener *all;
    unsigned of[TLTCP_THREADS_MAX] = {0};
    tltcp_stats st;

    lo_listen(l);
    all = l->listener->port->listening->listener;
    call_all(l, client, CALLERS);
    for (int i = 0; i < CALLERS; i++) {
        lo_send_text(client[i], "hello");
    }
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(tltcp_accept(l->listener, &server[i], LO_PATIENCE), 0);
        lo_expect_text(server[i], "hello");
        for (unsigned k = 0; k < all->count; k++) {
            of[k] += server[i]->port == all->ports[k];
        }
    }
    for (unsigned k = 0; k < all->count; k++) { /* one in 10^8 is unlucky */
        assert_int_not_equal(of[k], 0);
    }
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
    assert_int_equal(st.sections_complete, CALLERS);
    close_all(client, CALLERS);
    close_all(server, CALLERS);
}

/* A move to another port would bring a caller to another thread in two of
 * three cases. */
static void move_about(struct lo *l) {
    struct relay r = {0};
    tltcp_event ev;

    relay_start(&r, l);
    lo_connect(l);
    lo_accept(l);
    for (int move = 1; move < 4; move++) {
        atomic_store(&r.side, move % 2);
        lo_send_text(l->client, "from the new place");
        lo_expect_text(l->server, "from the new place");
        lo_event(l->server, TLTCP_EVENT_PATH, &ev);
        lo_send_text(l->server, "to the new place");
        lo_expect_text(l->client, "to the new place");
    }
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    lo_expect_end(l->server);
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    relay_stop(&r);
    assert_int_equal(tltcp_close(l->listener, 0), 0);
    l->client = NULL;
    l->server = NULL;
    l->listener = NULL;
}

TEST(a_caller_that_moves_stays_with_its_thread) {
    for (int i = 0; i < 8; i++) {
        move_about(*state);
    }
}

TEST(a_secured_caller_that_moves_stays_with_its_thread) {
    static const uint8_t key[32] = {1};
    struct lo *l = *state;

    l->config.key = key; /* each place has an id of its own */
    l->config.key_len = sizeof(key);
    for (int i = 0; i < 8; i++) {
        move_about(l);
    }
}

TEST(callers_over_tcp_have_the_first_thread) {
    struct lo *l = *state;
    const struct tltcp__listener *all;
    tltcp_config over_tcp;

    l->config.io.transport = TLTCP_TRANSPORT_AUTO;
    over_tcp = l->config;
    over_tcp.io.threads = 1;
    over_tcp.io.transport = TLTCP_TRANSPORT_TCP;
    lo_listen(l);
    all = l->listener->port->listening->listener;
    for (int i = 0; i < 8; i++) {
        tltcp_socket *client = NULL;
        tltcp_socket *server = NULL;

        assert_int_equal(
            tltcp_connect(&client, l->host, l->port, &over_tcp, LO_PATIENCE),
            0);
        assert_int_equal(tltcp_accept(l->listener, &server, LO_PATIENCE), 0);
        assert_ptr_equal(server->port, all->ports[0]);
        lo_send_text(client, "over TCP");
        lo_expect_text(server, "over TCP");
        close_all(&client, 1);
        close_all(&server, 1);
    }
    lo_connect(l); /* UDP is served on the same port */
    lo_accept(l);
    lo_send_text(l->client, "over UDP");
    lo_expect_text(l->server, "over UDP");
}

/* --- Limits -------------------------------------------------------------- */

/* Calls many times at once; exactly `most` get in. */
static void crowd(struct lo *l, int most, int error) {
    tltcp_socket *client[CALLERS];
    int in = 0;

    lo_listen(l);
    call_all(l, client, CALLERS);
    for (int i = 0; i < CALLERS; i++) {
        int rv = tltcp_wait_connected(client[i], LO_PATIENCE);

        assert_true(rv == 0 || rv == error);
        in += rv == 0;
    }
    assert_int_equal(in, most);
    close_all(client, CALLERS);
}

TEST(max_connections_holds_for_all_threads_together) {
    struct lo *l = *state;

    l->config.listener.max_connections = 10;
    crowd(l, 10, TLTCP_ERR_LIMIT);
}

TEST(max_per_address_holds_for_all_threads_together) {
    struct lo *l = *state;

    l->config.listener.max_per_address = 10;
    l->config.listener.always_retry = true; /* tokens are for all threads */
    crowd(l, 10, TLTCP_ERR_REFUSED);
}

/* --- Calls to the application -------------------------------------------- */

struct asked {
    atomic_int now;
    atomic_int most;
    atomic_int all;
    atomic_int words;
};

static void enter(struct asked *a) {
    int now = atomic_fetch_add(&a->now, 1) + 1;

    if (now > atomic_load(&a->most)) {
        atomic_store(&a->most, now);
    }
    for (int i = 0; i < 20; i++) { /* gives others an opportunity */
        (void)sched_yield();
    }
}

static bool on_caller(void *user, const tltcp_caller *caller, char *reason) {
    struct asked *a = user;

    (void)caller;
    (void)reason;
    enter(a);
    atomic_fetch_add(&a->all, 1);
    atomic_fetch_sub(&a->now, 1);
    return true;
}

static void on_trace(void *user, const tltcp_trace_event *ev) {
    struct asked *a = user;

    (void)ev;
    enter(a);
    atomic_fetch_add(&a->words, 1);
    atomic_fetch_sub(&a->now, 1);
}

TEST(the_application_is_called_by_one_thread_at_a_time) {
    struct lo *l = *state;
    tltcp_socket *client[CALLERS];
    tltcp_config plain = l->config;
    struct asked a = {0};

    l->config.listener.on_caller = on_caller;
    l->config.on_trace = on_trace;
    l->config.user = &a;
    lo_listen(l);
    l->config = plain;
    call_all(l, client, CALLERS);
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(tltcp_wait_connected(client[i], LO_PATIENCE), 0);
    }
    close_all(client, CALLERS);
    assert_int_equal(tltcp_close(l->listener, 0), 0);
    l->listener = NULL;
    assert_true(atomic_load(&a.all) >= CALLERS);
    assert_true(atomic_load(&a.words) > 0);
    assert_int_equal(atomic_load(&a.most), 1);
}

/* --- The end ------------------------------------------------------------- */

struct caller {
    struct lo *l;
    atomic_bool stop;
    atomic_int tries;
};

static void keep_calling(void *arg) {
    struct caller *c = arg;

    while (!atomic_load(&c->stop)) {
        tltcp_socket *s = NULL;

        (void)tltcp_connect(&s, c->l->host, c->l->port, &c->l->config, 200);
        (void)tltcp_close(s, 0);
        atomic_fetch_add(&c->tries, 1);
    }
}

TEST(a_listener_is_closed_while_callers_come) {
    struct lo *l = *state;
    struct caller c = {.l = l};
    uv_thread_t thread[4];
    struct asked a = {0};
    tltcp_config served = l->config;

    served.listener.on_caller = on_caller;
    served.user = &a;
    lo_listen(l);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(uv_thread_create(&thread[i], keep_calling, &c), 0);
    }
    for (int round = 0; round < 10; round++) {
        int asked;
        int rv;

        lo_accept(l);
        (void)tltcp_close(l->listener, 0);
        asked = atomic_load(&a.all);
        (void)tltcp_close(l->server, 0); /* it keeps the port until then */
        assert_int_equal(atomic_load(&a.all), asked);
        l->server = NULL;
        l->listener = NULL;
        do { /* a caller may have got the free port for its own socket */
            rv = tltcp_listen(&l->listener, l->host, l->port, &served);
        } while (rv == TLTCP_ERR_IN_USE);
        assert_int_equal(rv, 0);
    }
    atomic_store(&c.stop, true);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(uv_thread_join(&thread[i]), 0);
    }
    assert_true(atomic_load(&c.tries) >= 10);
}

/* Descriptors of one are closed while another opens its own. */
static void listen_often(void *arg) {
    const struct lo *l = arg;

    for (int i = 0; i < 40; i++) {
        tltcp_socket *s = NULL;

        (void)tltcp_listen(&s, l->host, "0", &l->config);
        (void)tltcp_close(s, 0);
    }
}

TEST(listeners_come_and_go_at_once) {
    struct lo *l = *state;
    uv_thread_t thread[3];

    for (int i = 0; i < 3; i++) {
        assert_int_equal(uv_thread_create(&thread[i], listen_often, l), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(uv_thread_join(&thread[i]), 0);
    }
    lo_pair(l);
    lo_send_text(l->client, "all is well");
    lo_expect_text(l->server, "all is well");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(without_steering_several_threads_are_unsupported, threads),
        LO_TEST(bad_numbers_of_threads_are_refused, threads),
        LO_TEST(sixty_four_threads_are_possible, threads),
        LO_TEST(a_port_that_has_a_listener_is_not_shared, threads),
        LO_TEST(callers_are_spread_over_the_threads, threads),
        LO_TEST(a_caller_that_moves_stays_with_its_thread, threads),
        LO_TEST(a_secured_caller_that_moves_stays_with_its_thread, threads),
        LO_TEST(callers_over_tcp_have_the_first_thread, threads),
        LO_TEST(max_connections_holds_for_all_threads_together, threads),
        LO_TEST(max_per_address_holds_for_all_threads_together, threads),
        LO_TEST(the_application_is_called_by_one_thread_at_a_time, threads),
        LO_TEST(a_listener_is_closed_while_callers_come, threads),
        LO_TEST(listeners_come_and_go_at_once, threads),
    };
    return cmocka_run_group_tests_name("listener_threads", tests, NULL, NULL);
}

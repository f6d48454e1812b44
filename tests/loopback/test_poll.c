/* SPDX-License-Identifier: MPL-2.0 */
/* Non-blocking use, from poll(), from a libuv loop and from a GLib one. */
#include <stdlib.h>

#include <uv.h>

#if defined(PERIGEE_TEST_GLIB)
#include <glib-unix.h>
#include <glib.h>
#endif

#include "tests/loopback/lo.h"

#define TOTAL ((uint64_t)4 << 20)
#define SECTION 5000u

/* A transfer that a loop drives: writes when it may, reads when it may. */
struct transfer {
    tltcp_socket *from;
    tltcp_socket *to;
    uint64_t written;
    uint64_t read;
    unsigned idle_writes; /* writable, yet it was not */
    unsigned idle_reads;
    bool failed;
};

static void write_some(struct transfer *t) {
    uint8_t data[SECTION];
    struct iovec iov = {.iov_base = data, .iov_len = SECTION};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t rv = 0;
    bool first = true;

    while (t->written < TOTAL && rv >= 0) {
        lo_fill(data, SECTION, t->written);
        rv = tltcp_sendmsg(t->from, &m, MSG_DONTWAIT);
        t->written += rv > 0 ? (uint64_t)rv : 0;
        t->failed = t->failed || (rv < 0 && rv != TLTCP_ERR_AGAIN);
        t->idle_writes += first && rv == TLTCP_ERR_AGAIN;
        first = false;
    }
}

static void read_some(struct transfer *t) {
    uint8_t data[3000];
    ssize_t rv = lo_recv_plain(t->to, data, sizeof(data), MSG_DONTWAIT);

    t->idle_reads += rv == TLTCP_ERR_AGAIN;
    while (rv > 0) {
        t->failed = t->failed || !lo_matches(data, (size_t)rv, t->read);
        t->read += (uint64_t)rv;
        rv = lo_recv_plain(t->to, data, sizeof(data), MSG_DONTWAIT);
    }
    t->failed = t->failed || rv != TLTCP_ERR_AGAIN;
}

static bool is_done(const struct transfer *t) {
    return t->failed || t->read >= TOTAL;
}

static struct transfer begin(struct lo *l) {
    l->config.send_buffer = 256 * 1024;
    l->config.recv_buffer = 128 * 1024;
    lo_pair(l);
    return (struct transfer){.from = l->client, .to = l->server};
}

static void check(const struct transfer *t) {
    assert_false(t->failed);
    assert_true(t->read >= TOTAL);
    /* Level-triggered descriptors tell the truth: nothing spins. */
    assert_int_equal(t->idle_writes, 0);
    assert_int_equal(t->idle_reads, 0);
}

TEST(poll_drives_a_transfer) {
    struct transfer t = begin(*state);
    struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLIN}};

    p[0].fd = tltcp_writable_fd(t.from);
    p[1].fd = tltcp_fd(t.to);
    while (!is_done(&t)) {
        p[0].fd = t.written < TOTAL ? p[0].fd : -1;
        assert_true(poll(p, 2, LO_PATIENCE) > 0);
        if (p[0].fd >= 0 && (p[0].revents & POLLIN) != 0) {
            write_some(&t);
        }
        if ((p[1].revents & POLLIN) != 0) {
            read_some(&t);
        }
    }
    check(&t);
}

static void on_uv_writable(uv_poll_t *handle, int status, int events) {
    struct transfer *t = handle->data;

    (void)events;
    t->failed = t->failed || status != 0;
    write_some(t);
    if (t->written >= TOTAL || t->failed) {
        uv_poll_stop(handle);
    }
}

static void on_uv_readable(uv_poll_t *handle, int status, int events) {
    struct transfer *t = handle->data;

    (void)events;
    t->failed = t->failed || status != 0;
    read_some(t);
    if (is_done(t)) {
        uv_stop(handle->loop);
    }
}

TEST(a_libuv_loop_drives_a_transfer) {
    struct transfer t = begin(*state);
    uv_loop_t loop;
    uv_poll_t out;
    uv_poll_t in;

    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_poll_init_socket(
                         &loop, &out, (uv_os_sock_t)tltcp_writable_fd(t.from)),
                     0);
    assert_int_equal(
        uv_poll_init_socket(&loop, &in, (uv_os_sock_t)tltcp_fd(t.to)), 0);
    out.data = &t;
    in.data = &t;
    assert_int_equal(uv_poll_start(&out, UV_READABLE, on_uv_writable), 0);
    assert_int_equal(uv_poll_start(&in, UV_READABLE, on_uv_readable), 0);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&out, NULL);
    uv_close((uv_handle_t *)&in, NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    check(&t);
}

#if defined(PERIGEE_TEST_GLIB)
struct glib {
    struct transfer t;
    GMainLoop *loop;
};

static gboolean on_glib_writable(gint fd, GIOCondition condition, gpointer p) {
    struct glib *g = p;

    (void)fd;
    (void)condition;
    write_some(&g->t);
    return g->t.written < TOTAL && !g->t.failed;
}

static gboolean on_glib_readable(gint fd, GIOCondition condition, gpointer p) {
    struct glib *g = p;

    (void)fd;
    (void)condition;
    read_some(&g->t);
    if (is_done(&g->t)) {
        g_main_loop_quit(g->loop);
    }
    return !is_done(&g->t);
}

static void watch(GMainContext *context, int fd, GUnixFDSourceFunc call,
                  struct glib *g) {
    GSource *source = g_unix_fd_source_new(fd, G_IO_IN);

    g_source_set_callback(source, G_SOURCE_FUNC(call), g, NULL);
    g_source_attach(source, context);
    g_source_unref(source);
}

TEST(a_glib_loop_drives_a_transfer) {
    GMainContext *context = g_main_context_new();
    struct glib g = {.t = begin(*state),
                     .loop = g_main_loop_new(context, FALSE)};

    watch(context, tltcp_writable_fd(g.t.from), on_glib_writable, &g);
    watch(context, tltcp_fd(g.t.to), on_glib_readable, &g);
    g_main_loop_run(g.loop);
    g_main_loop_unref(g.loop);
    g_main_context_unref(context);
    check(&g.t);
}
#endif

TEST(a_refused_size_must_fit_before_it_is_writable_again) {
    struct lo *l = *state;
    static uint8_t data[8192];
    struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t rv;

    l->config.send_buffer = 20000;
    l->config.recv_buffer = 8192; /* and the peer does not read */
    lo_pair(l);
    lo_poll(tltcp_writable_fd(l->client));
    do {
        rv = tltcp_sendmsg(l->client, &m, MSG_DONTWAIT);
    } while (rv > 0);
    assert_int_equal(rv, TLTCP_ERR_AGAIN);
    assert_false(lo_ready(tltcp_writable_fd(l->client)));
    assert_true(lo_recv_plain(l->server, data, sizeof(data), 0) > 0);
    while (!lo_ready(tltcp_writable_fd(l->client))) {
        ssize_t n = lo_recv_plain(l->server, data, sizeof(data), MSG_DONTWAIT);
        assert_true(n > 0 || n == TLTCP_ERR_AGAIN);
    }
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_DONTWAIT), sizeof(data));
}

TEST(an_idle_socket_is_not_readable) {
    struct lo *l = *state;
    char byte;

    lo_pair(l);
    assert_false(lo_ready(tltcp_fd(l->client)));
    assert_int_equal(lo_recv_plain(l->client, &byte, 1, MSG_DONTWAIT),
                     TLTCP_ERR_AGAIN);
    lo_send_text(l->server, "x");
    lo_poll(tltcp_fd(l->client));
    assert_true(lo_ready(tltcp_fd(l->client))); /* it stays so */
    assert_int_equal(lo_recv_plain(l->client, &byte, 1, 0), 1);
    assert_false(lo_ready(tltcp_fd(l->client)));
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    l->server = NULL;
    lo_poll(tltcp_fd(l->client)); /* the end is something to read */
    lo_expect_end(l->client);
    assert_true(lo_ready(tltcp_fd(l->client)));
}

TEST(events_raise_their_descriptor) {
    struct lo *l = *state;
    tltcp_event ev;

    lo_pair(l);
    lo_poll(tltcp_event_fd(l->client));
    while (tltcp_next_event(l->client, &ev, 0) == 1) {
    }
    assert_false(lo_ready(tltcp_event_fd(l->client)));
    assert_int_equal(tltcp_close(l->server, 0), 0);
    l->server = NULL;
    lo_poll(tltcp_event_fd(l->client));
    lo_event(l->client, TLTCP_EVENT_CLOSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_ABORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(poll_drives_a_transfer, ipv4),
        LO_TEST(poll_drives_a_transfer, threads),
        LO_TEST(poll_drives_a_transfer, plain),
        LO_TEST(a_libuv_loop_drives_a_transfer, ipv4),
        LO_TEST(a_libuv_loop_drives_a_transfer, threads),
        LO_TEST(a_libuv_loop_drives_a_transfer, plain),
#if defined(PERIGEE_TEST_GLIB)
        LO_TEST(a_glib_loop_drives_a_transfer, ipv4),
        LO_TEST(a_glib_loop_drives_a_transfer, plain),
#endif
        LO_TEST(a_refused_size_must_fit_before_it_is_writable_again, ipv4),
        LO_TEST(an_idle_socket_is_not_readable, ipv4),
        LO_TEST(events_raise_their_descriptor, ipv4),
        LO_TEST(events_raise_their_descriptor, threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

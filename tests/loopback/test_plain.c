/* SPDX-License-Identifier: MPL-2.0 */
/* The portable UDP layer, on every system. */
#include <string.h>

#include "internal/net/udp.h"
#include "tests/support/cmocka.h"

#define ROUNDS 100
#define TICKS 3        /* of a ms, with a datagram each */
#define PATIENCE 10000 /* ms */

struct caller {
    uv_loop_t loop;
    uv_timer_t tick;
    net__udp *udp;
    unsigned ticks;
    unsigned errors;
    int left; /* handles, when the loop ended */
};

static void on_bursts(void *owner, const net__burst *in, size_t count) {
    (void)owner;
    (void)in;
    (void)count;
}

static void on_writable(void *owner) {
    (void)owner;
}

static void on_error(void *owner, int status) {
    struct caller *c = owner;

    assert_int_equal(status, UV_ECONNREFUSED);
    c->errors++;
}

static const net__udp_ops ops = {
    .on_bursts = on_bursts, .on_writable = on_writable, .on_error = on_error};

static void open_on_loopback(struct caller *c, net__udp **u, net__addr *own) {
    net__addr any = {.in4 = {.sin_family = AF_INET}};
    net__udp_options o = {.bind = &any,
                          .plain = true,
                          .max_datagram = 2000,
                          .ops = &ops,
                          .owner = c};

    any.in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(net__udp_open(u, &c->loop, &o), 0);
    assert_int_equal(net__udp_local(*u, own), 0);
}

static void on_tick(uv_timer_t *tick) {
    struct caller *c = tick->data;

    memcpy(net__udp_room(c->udp), "x", 1);
    net__udp_put(c->udp, NULL, 0, 1, 1);
    (void)net__udp_flush(c->udp);
    if (++c->ticks == TICKS) {
        net__udp_close(c->udp);
        uv_close((uv_handle_t *)tick, NULL);
    }
}

static void on_late(uv_timer_t *late) {
    uv_stop(late->loop);
}

/* As the libraries do, in a thread. */
static void run(void *arg) {
    struct caller *c = arg;

    c->left = uv_run(&c->loop, UV_RUN_DEFAULT);
}

/* On Windows libuv stops reading at each refusal. A socket that started it
 * again while another refusal waited never closed. */
TEST(a_socket_closes_among_refusals) {
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct caller c = {.ticks = 0};
        net__udp *gone;
        net__addr nobody;
        net__addr own;
        uv_timer_t late;
        uv_thread_t thread;

        assert_int_equal(uv_loop_init(&c.loop), 0);
        assert_int_equal(uv_timer_init(&c.loop, &c.tick), 0);
        assert_int_equal(uv_timer_init(&c.loop, &late), 0);
        c.tick.data = &c;
        open_on_loopback(&c, &gone, &nobody);
        net__udp_close(gone);
        open_on_loopback(&c, &c.udp, &own);
        assert_int_equal(net__udp_connect(c.udp, &nobody), 0);
        assert_int_equal(uv_timer_start(&c.tick, on_tick, 1, 1), 0);
        assert_int_equal(uv_timer_start(&late, on_late, PATIENCE, 0), 0);
        uv_unref((uv_handle_t *)&late);
        assert_int_equal(uv_thread_create(&thread, run, &c), 0);
        assert_int_equal(uv_thread_join(&thread), 0);
        assert_int_equal(c.left, 0); /* all its handles have closed */
        assert_true(c.errors > 0);
        uv_close((uv_handle_t *)&late, NULL);
        (void)uv_run(&c.loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&c.loop), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_closes_among_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* One live stream to one viewer, and to many. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include <uv.h>

#include "tests/loopback/lo.h"

#define VIEWERS 8
#define PICTURE ((size_t)4096)
#define INTERVAL_MS 20
#define WARM_UP 20  /* pictures, after which the thread knows them for many */
#define PICTURES 20 /* of an attempt */
#define ATTEMPTS 20 /* on a busy machine */

static uint8_t picture[PICTURE];
static atomic_uint wakes;

int __real_uv_async_send(uv_async_t *async);
int __wrap_uv_async_send(uv_async_t *async);

int __wrap_uv_async_send(uv_async_t *async) {
    atomic_fetch_add(&wakes, 1);
    return __real_uv_async_send(async);
}

/* Calls of sendmmsg() on the test's own thread, and the error that they get; 0:
 * none. */
static _Thread_local bool own_thread;
static unsigned own_sends;
static int own_error;

int __real_sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags);

int __wrap_sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags) {
    if (own_thread) {
        own_sends++;
    }
    if (own_thread && own_error != 0) {
        errno = own_error;
        return -1;
    }
    return __real_sendmmsg(fd, m, n, flags);
}

/* The number of times that threads were woken while the pictures were
 * sent. */
static unsigned write_pictures(tltcp_socket *const *to, unsigned viewers,
                               unsigned count) {
    unsigned before = atomic_load(&wakes);

    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < viewers; k++) {
            assert_int_equal(lo_send(to[k], picture, PICTURE, TLTCP_TIME_NEVER),
                             PICTURE);
        }
        (void)poll(NULL, 0, INTERVAL_MS);
    }
    return atomic_load(&wakes) - before;
}

static void expect_pictures(tltcp_socket *viewer, unsigned count) {
    struct lo_got got;
    size_t bytes = 0;

    while (bytes < count * PICTURE) {
        lo_recv(viewer, &got, LO_SEGMENTS, MSG_TL);
        assert_true(got.rv > 0);
        for (size_t i = 0; i < got.pieces; i++) {
            bytes += got.len[i];
        }
    }
}

/* A thread that wakes for the first one's picture would compete with its writer
 * for all the others. */
TEST(pictures_for_many_wait_for_each_other) {
    struct lo *l = *state;
    tltcp_socket *viewer[VIEWERS];
    tltcp_socket *server[VIEWERS];
    unsigned woken = PICTURES;
    unsigned attempts = 0;

    l->config.latency_ms = 2000;
    lo_listen(l);
    for (unsigned i = 0; i < VIEWERS; i++) {
        lo_connect(l);
        lo_accept(l);
        viewer[i] = l->client;
        server[i] = l->server;
        l->client = NULL;
        l->server = NULL;
    }
    own_thread = true;
    assert_true(atomic_load(&wakes) > 0); /* of those that called */
    (void)write_pictures(server, VIEWERS, WARM_UP);
    for (; attempts < ATTEMPTS && woken > PICTURES / 2; attempts++) {
        woken = write_pictures(server, VIEWERS, PICTURES);
    }
    assert_true(woken <= PICTURES / 2);
    for (unsigned i = 0; i < VIEWERS; i++) {
        expect_pictures(viewer[i], WARM_UP + attempts * PICTURES);
        assert_int_equal(tltcp_close(server[i], LO_PATIENCE), 0);
        (void)tltcp_close(viewer[i], 0);
    }
}

/* A live stream whose writer's thread gets that error when it sends. */
static void stream_alone(struct lo *l, int error) {
    unsigned attempts = 0;

    l->config.latency_ms = 2000;
    lo_pair(l);
    own_thread = true;
    own_sends = 0;
    own_error = 0;
    (void)write_pictures(&l->client, 1, WARM_UP);
    own_error = error;
    for (; attempts < ATTEMPTS && own_sends < PICTURES / 2; attempts++) {
        own_sends = 0;
        (void)write_pictures(&l->client, 1, PICTURES);
    }
    assert_true(own_sends >= PICTURES / 2);
    expect_pictures(l->server, WARM_UP + attempts * PICTURES);
}

TEST(pictures_for_one_leave_from_the_thread_that_writes_them) {
    stream_alone(*state, 0);
}

TEST(what_the_kernel_does_not_take_from_that_thread_leaves_later) {
    stream_alone(*state, EAGAIN);
}

TEST(that_thread_may_meet_errors) {
    stream_alone(*state, ENETUNREACH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(pictures_for_many_wait_for_each_other, ipv4),
        LO_TEST(pictures_for_one_leave_from_the_thread_that_writes_them, ipv4),
        LO_TEST(what_the_kernel_does_not_take_from_that_thread_leaves_later,
                ipv4),
        LO_TEST(that_thread_may_meet_errors, ipv4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* One live stream to many viewers. */
#include <poll.h>
#include <stdatomic.h>

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

/* How often threads were woken for so many pictures. */
static unsigned write_pictures(tltcp_socket *const *to, unsigned count) {
    unsigned before = atomic_load(&wakes);

    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < VIEWERS; k++) {
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
    assert_true(write_pictures(server, WARM_UP) > 0);
    for (; attempts < ATTEMPTS && woken > PICTURES / 2; attempts++) {
        woken = write_pictures(server, PICTURES);
    }
    assert_true(woken <= PICTURES / 2);
    for (unsigned i = 0; i < VIEWERS; i++) {
        expect_pictures(viewer[i], WARM_UP + attempts * PICTURES);
        assert_int_equal(tltcp_close(server[i], 0), 0);
        assert_int_equal(tltcp_close(viewer[i], 0), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(pictures_for_many_wait_for_each_other, ipv4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

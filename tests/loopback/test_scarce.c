/* SPDX-License-Identifier: MPL-2.0 */
/* Without memory, without descriptors: an error, and nothing left behind. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/loopback/lo.h"

/* --- Memory: linked with --wrap ------------------------------------------ */

/* Counts down the allocations of this thread that still succeed; the one after
 * them fails.  Negative: none fails. */
static _Thread_local int left = -1;

void *__wrap_malloc(size_t size);
void *__real_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void *__real_realloc(void *ptr, size_t size);

static bool refused(void) {
    if (left < 0) {
        return false;
    }
    return left-- == 0;
}

void *__wrap_malloc(size_t size) {
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *ptr, size_t size) {
    return size > 0 && refused() ? NULL : __real_realloc(ptr, size);
}

/* Lets the first, second, ... allocation of `call` fail until none is left
 * that could.  Returns how many there were. */
static int fail_each(struct lo *l, int (*call)(struct lo *, tltcp_socket **)) {
    for (int k = 0; k < 500; k++) {
        tltcp_socket *s = NULL;
        bool all_succeeded;
        int rv;

        left = k;
        rv = call(l, &s);
        all_succeeded = left >= 0;
        left = -1;
        if (rv != 0) {
            assert_int_equal(rv, TLTCP_ERR_NOMEM);
            assert_null(s);
        }
        (void)tltcp_close(s, 0);
        if (all_succeeded) {
            assert_int_equal(rv, 0);
            return k;
        }
    }
    fail();
    return 0;
}

static int listen_once(struct lo *l, tltcp_socket **s) {
    return tltcp_listen(s, l->host, "0", &l->config);
}

static int connect_once(struct lo *l, tltcp_socket **s) {
    return tltcp_connect(s, l->host, l->port, &l->config, 0);
}

TEST(listening_without_memory_fails_cleanly) {
    struct lo *l = *state;

    l->config.qlog_dir = "/tmp";
    l->config.on_trace = NULL;
    assert_true(fail_each(l, listen_once) > 3);
}

TEST(connecting_without_memory_fails_cleanly) {
    struct lo *l = *state;

    lo_listen(l);
    l->config.stream_id = "of some length";
    assert_true(fail_each(l, connect_once) > 3);
}

static atomic_int allocations_until_failure;
static atomic_uint asked;

/* On the listener's thread, which counts its own allocations. */
static bool fail_soon(void *user, const tltcp_caller *caller, char *reason) {
    (void)user;
    (void)caller;
    (void)reason;
    left = allocations_until_failure;
    asked++;
    return true;
}

static void ignore_trace(void *user, const tltcp_trace_event *ev) {
    (void)user;
    (void)ev;
}

/* A caller who finds no memory repeats its call. */
TEST(a_traced_listener_without_memory_survives) {
    struct lo *l = *state;

    l->config.on_trace = ignore_trace;
    l->config.listener.on_caller = fail_soon;
    lo_listen(l);
    l->config.on_trace = NULL;
    for (int k = 0; k < 80; k++) {
        tltcp_socket *first = NULL;
        tltcp_socket *second = NULL;

        allocations_until_failure = k;
        (void)tltcp_connect(&first, l->host, l->port, &l->config, LO_PATIENCE);
        (void)tltcp_connect(&second, l->host, l->port, &l->config, LO_PATIENCE);
        (void)tltcp_close(first, 0);
        (void)tltcp_close(second, 0);
    }
    allocations_until_failure = -1;
    assert_true(asked >= 80);
    lo_connect(l);
}

TEST(sending_without_memory_is_an_error_or_works) {
    struct lo *l = *state;
    uint8_t data[5000] = {0};
    int errors = 0;

    lo_pair(l);
    for (int k = 0; k < 20; k++) {
        ssize_t rv;

        left = k;
        rv = lo_send(l->client, data, sizeof(data), TLTCP_TIME_NEVER);
        left = -1;
        assert_true(rv == sizeof(data) || rv == TLTCP_ERR_NOMEM);
        errors += rv < 0;
    }
    assert_true(errors > 0);
    lo_send_text(l->client, "alive"); /* the connection did not suffer */
}

/* --- Descriptors --------------------------------------------------------- */

/* Tries with 0, 1, ... descriptors to be had until it works. */
static void ration(struct lo *l, int (*call)(struct lo *, tltcp_socket **),
                   int at_least) {
    struct rlimit before;
    bool worked = false;
    int lowest = dup(0);
    int failures = 0;

    assert_true(lowest >= 0);
    close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (unsigned k = 0; k < 40 && !worked; k++) {
        struct rlimit tight = {.rlim_cur = (rlim_t)lowest + k,
                               .rlim_max = before.rlim_max};
        tltcp_socket *s = NULL;
        int rv;

        assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
        rv = call(l, &s);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        worked = rv == 0;
        failures += rv != 0;
        assert_true(rv == 0 || rv == TLTCP_ERR_IO);
        assert_true((rv == 0) == (s != NULL));
        (void)tltcp_close(s, 0);
    }
    assert_true(worked);
    assert_true(failures >= at_least);
}

static int open_fds(struct lo *l, tltcp_socket **s) {
    int rv = 0;

    *s = NULL;
    if (tltcp_fd(l->client) < 0 || tltcp_writable_fd(l->client) < 0 ||
        tltcp_event_fd(l->client) < 0) {
        return TLTCP_ERR_IO;
    }
    rv = tltcp_connect(s, l->host, l->port, &l->config, 0);
    return rv;
}

TEST(too_few_descriptors_are_an_error) {
    struct lo *l = *state;

    lo_pair(l);
    ration(l, listen_once, 3);
    ration(l, connect_once, 1); /* on the I/O thread of the other caller */
    ration(l, open_fds, 1);
}

TEST(too_few_descriptors_for_an_io_thread_are_an_error) {
    struct lo *l = *state;

    lo_listen(l);
    ration(l, connect_once, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(listening_without_memory_fails_cleanly, ipv4),
        LO_TEST(listening_without_memory_fails_cleanly, threads),
        LO_TEST(listening_without_memory_fails_cleanly, plain),
        LO_TEST(connecting_without_memory_fails_cleanly, ipv4),
        LO_TEST(connecting_without_memory_fails_cleanly, plain),
        LO_TEST(a_traced_listener_without_memory_survives, ipv4),
        LO_TEST(sending_without_memory_is_an_error_or_works, ipv4),
        LO_TEST(too_few_descriptors_are_an_error, ipv4),
        LO_TEST(too_few_descriptors_are_an_error, threads),
        LO_TEST(too_few_descriptors_are_an_error, plain),
        LO_TEST(too_few_descriptors_for_an_io_thread_are_an_error, ipv4),
        LO_TEST(too_few_descriptors_for_an_io_thread_are_an_error, plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* How often the key of this machine is read. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "tests/loopback/lo.h"

#define CALLS 5

static atomic_int reads;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...) {
    unsigned mode = 0;

    if ((flags & O_CREAT) != 0) {
        va_list ap;

        va_start(ap, flags);
        mode = va_arg(ap, unsigned);
        va_end(ap);
    }
    if (strstr(path, "boot_id") != NULL) {
        atomic_fetch_add(&reads, 1);
    }
    return __real_open(path, flags, mode);
}

static void call(struct lo *l) {
    lo_connect(l);
    lo_accept(l);
    lo_send_text(l->client, "there");
    lo_expect_text(l->server, "there");
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    assert_int_equal(tltcp_close(l->server, 0), 0);
    l->client = NULL;
    l->server = NULL;
}

/* Another caller keeps their thread alive meanwhile. */
TEST(each_thread_reads_the_key_of_the_machine_once) {
    struct lo *l = *state;
    tltcp_socket *held[2];

    reads = 0;
    lo_pair(l);
    held[0] = l->client;
    held[1] = l->server;
    for (int i = 0; i < CALLS; i++) {
        call(l);
    }
    assert_in_range(reads, 1, 2); /* the callers' and the listener's */
    l->client = held[0];
    l->server = held[1];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(each_thread_reads_the_key_of_the_machine_once, ipv4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Callers that leave the queue for tltcp_accept(). */
#include "libtltcp/socket/accept_queue.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/cmocka.h"

#define CALLERS 4

struct queue {
    struct tltcp__listener listener;
    struct tltcp__listening listening;
    struct tltcp__port port;
    tltcp_socket handle;
    tltcp_socket *caller[CALLERS]; /* each in pages of its own */
    size_t size;
};

static int setup(void **state) {
    struct queue *q = calloc(1, sizeof(*q));
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    assert_non_null(q);
    assert_int_equal(uv_mutex_init(&q->listener.mx), 0);
    q->listening.listener = &q->listener;
    q->port.listening = &q->listening;
    q->handle = (tltcp_socket){.port = &q->port, .listener = true};
    q->handle.read_fd.fd = -1;
    q->listener.handle = &q->handle;
    q->size = (sizeof(tltcp_socket) + page - 1) / page * page;
    for (int i = 0; i < CALLERS; i++) {
        q->caller[i] = mmap(NULL, q->size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(q->caller[i] != MAP_FAILED);
        q->caller[i]->port = &q->port;
        tltcp__accept_expect(q->caller[i]);
        tltcp__accept_push(q->caller[i]);
    }
    *state = q;
    return 0;
}

static int teardown(void **state) {
    struct queue *q = *state;

    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(munmap(q->caller[i], q->size), 0);
    }
    uv_mutex_destroy(&q->listener.mx);
    free(q);
    return 0;
}

static void expect_next(struct queue *q, int i) {
    assert_ptr_equal(tltcp__accept_take(&q->listener),
                     i < CALLERS ? q->caller[i] : NULL);
}

TEST(callers_are_accepted_in_order) {
    struct queue *q = *state;

    for (int i = 0; i <= CALLERS; i++) {
        expect_next(q, i);
    }
    assert_int_equal(q->listener.unaccepted, 0);
}

TEST(any_of_them_may_leave) {
    struct queue *q = *state;

    tltcp__accept_drop(q->caller[2]);
    tltcp__accept_drop(q->caller[0]);
    tltcp__accept_drop(q->caller[3]);
    expect_next(q, 1);
    expect_next(q, CALLERS);
    tltcp__accept_expect(q->caller[2]);
    tltcp__accept_push(q->caller[2]);
    expect_next(q, 2);
    expect_next(q, CALLERS);
}

/* Thousands may wait, and leave at once: looking at all of them each time would
 * hold up all threads of the listener. */
TEST(one_that_leaves_costs_no_look_at_the_others) {
    struct queue *q = *state;

    assert_int_equal(mprotect(q->caller[0], q->size, PROT_NONE), 0);
    tltcp__accept_drop(q->caller[3]);
    tltcp__accept_drop(q->caller[2]);
    assert_int_equal(mprotect(q->caller[0], q->size, PROT_READ | PROT_WRITE),
                     0);
    expect_next(q, 0);
    expect_next(q, 1);
    expect_next(q, CALLERS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(callers_are_accepted_in_order),
        T(any_of_them_may_leave),
        T(one_that_leaves_costs_no_look_at_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

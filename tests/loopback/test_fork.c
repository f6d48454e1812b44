/* SPDX-License-Identifier: MPL-2.0 */
/* Sockets in a child after fork(). */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/loopback/lo.h"

/* As the destructors of a language do. */
static bool close_copies(const struct lo *l) {
    return tltcp_close(l->client, 0) == TLTCP_ERR_STATE &&
           tltcp_reject(l->client, "no") == TLTCP_ERR_STATE &&
           tltcp_abort(l->server, NULL) == TLTCP_ERR_STATE &&
           tltcp_close(l->server, -1) == TLTCP_ERR_STATE &&
           tltcp_close(l->listener, 0) == TLTCP_ERR_STATE;
}

TEST(a_child_closes_nothing_of_its_parent) {
    struct lo *l = *state;
    int status = -1;
    pid_t child;

    lo_pair(l);
    child = fork();
    if (child == 0) {
        (void)alarm(LO_PATIENCE / 1000);
        _exit(close_copies(l) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    lo_send_text(l->client, "alive");
    lo_expect_text(l->server, "alive");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(a_child_closes_nothing_of_its_parent, ipv4),
        LO_TEST(a_child_closes_nothing_of_its_parent, threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/common/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/folder.h"

#define NO_LANDLOCK 77

/* Runs in a process of its own: what is given up is gone. */
static void in_child(void (*check)(const char *folder)) {
    char folder[] = "/tmp/privileges-XXXXXX";
    int status;
    pid_t child;

    assert_non_null(mkdtemp(folder));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        check(folder);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(remove_folder(folder), 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_LANDLOCK) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void want(bool holds, int line) {
    if (!holds) {
        (void)fprintf(stderr, "line %d: %d\n", line, errno);
        _exit(1);
    }
}

#define WANT(holds) want((holds), __LINE__)

static int open_in(const char *folder, const char *name, int flags) {
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return open(path, flags | O_CLOEXEC, 0600);
}

static void drop(const char *folder, bool write) {
    const struct privileges_path p = {folder, write};

    if (privileges_drop(&p, 1) == 0) {
        _exit(NO_LANDLOCK);
    }
}

static void write_below_only(const char *folder) {
    char renamed[256];
    char path[256];

    drop(folder, true);
    WANT(open_in(folder, "f", O_RDWR | O_CREAT) >= 0);
    WANT(open_in(folder, "f", O_RDWR | O_TRUNC) >= 0);
    (void)snprintf(path, sizeof(path), "%s/f", folder);
    (void)snprintf(renamed, sizeof(renamed), "%s/g", folder);
    WANT(rename(path, renamed) == 0);
    WANT(unlink(renamed) == 0);
    WANT(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    WANT(open("/tmp/elsewhere", O_RDWR | O_CREAT | O_CLOEXEC, 0600) < 0 &&
         errno == EACCES);
}

static void read_below_only(const char *folder) {
    WANT(open_in(folder, "f", O_RDWR | O_CREAT) >= 0);
    drop(folder, false);
    WANT(open_in(folder, "f", O_RDONLY) >= 0);
    WANT(open_in(folder, "f", O_RDWR) < 0 && errno == EACCES);
    WANT(open_in(folder, "g", O_RDWR | O_CREAT) < 0 && errno == EACCES);
    WANT(socket(AF_INET, SOCK_DGRAM, 0) >= 0);
}

static void *wait_for_ever(void *unused) {
    (void)pause();
    return unused;
}

static void refuse_beside_threads(const char *folder) {
    const struct privileges_path p = {folder, false};
    pthread_t thread;

    WANT(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
    WANT(privileges_drop(&p, 1) == 0);
    WANT(open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0);
}

static void refuse_without_the_path(const char *folder) {
    const struct privileges_path p = {"/nonexistent/folder", false};

    WANT(privileges_drop(&p, 1) == 0);
    WANT(open_in(folder, "f", O_RDWR | O_CREAT) >= 0);
}

TEST(what_is_below_a_folder_can_still_be_written) {
    (void)state;
    in_child(write_below_only);
}

TEST(a_folder_may_be_left_for_reading_only) {
    (void)state;
    in_child(read_below_only);
}

TEST(nothing_is_dropped_beside_threads) {
    (void)state;
    in_child(refuse_beside_threads);
}

TEST(nothing_is_dropped_for_a_path_that_is_not_there) {
    (void)state;
    in_child(refuse_without_the_path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_below_a_folder_can_still_be_written),
        cmocka_unit_test(a_folder_may_be_left_for_reading_only),
        cmocka_unit_test(nothing_is_dropped_beside_threads),
        cmocka_unit_test(nothing_is_dropped_for_a_path_that_is_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

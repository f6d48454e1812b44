/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/common/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
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

static struct privileges_dropped keep(const char *path, bool write,
                                      bool names) {
    const struct privileges_path p = {path, write};
    const struct privileges all = {&p, 1, names, false};

    return privileges_drop(&all);
}

static void drop(const char *folder, bool write) {
    if (keep(folder, write, false).landlock == 0) {
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
    pthread_t thread;

    WANT(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
    WANT(keep(folder, false, false).landlock == 0);
    WANT(open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0);
}

static void refuse_without_the_path(const char *folder) {
    WANT(keep("/nonexistent/folder", false, false).landlock == 0);
    WANT(open_in(folder, "f", O_RDWR | O_CREAT) >= 0);
}

static void look_up_names(const char *folder) {
    if (keep(folder, true, true).landlock == 0) {
        _exit(NO_LANDLOCK);
    }
    WANT(open("/etc/hosts", O_RDONLY | O_CLOEXEC) >= 0 || errno == ENOENT);
    WANT(open("/etc/hosts", O_RDWR | O_CLOEXEC) < 0);
    WANT(open("/tmp/elsewhere", O_RDWR | O_CREAT | O_CLOEXEC, 0600) < 0 &&
         errno == EACCES);
}

static void *start_program(void *failed) {
    static char name[] = "true";
    char *const argv[] = {name, NULL};

    *(bool *)failed = execve("/bin/true", argv, NULL) < 0 && errno == EPERM;
    return NULL;
}

static void forbid_calls(const char *folder) {
    pthread_t thread;
    bool failed = false;

    if (!keep(folder, true, false).calls) {
        _exit(NO_LANDLOCK);
    }
    WANT(pthread_create(&thread, NULL, start_program, &failed) == 0);
    WANT(pthread_join(thread, NULL) == 0 && failed);
    WANT(unshare(CLONE_NEWNET) < 0 && errno == EPERM);
    WANT(socket(AF_PACKET, SOCK_DGRAM, 0) < 0 && errno == EAFNOSUPPORT);
    WANT(socket(AF_VSOCK, SOCK_STREAM, 0) < 0 && errno == EAFNOSUPPORT);
    WANT(socket(AF_UNIX, SOCK_DGRAM, 0) >= 0);
    WANT(socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || errno == EAFNOSUPPORT);
    WANT(socket(AF_INET, SOCK_DGRAM, 0) >= 0);
}

TEST(files_of_the_system_may_stay_for_looking_up_names) {
    in_child(look_up_names);
}

TEST(no_program_is_started_afterwards) {
    in_child(forbid_calls);
}

TEST(the_folder_of_a_file_is_found) {
    char folder[8];

    assert_string_equal(privileges_folder_of("/a/b", folder, 8), "/a");
    assert_string_equal(privileges_folder_of("/a", folder, 8), "/");
    assert_string_equal(privileges_folder_of("a/b/c", folder, 8), "a/b");
    assert_string_equal(privileges_folder_of("a", folder, 8), ".");
}

TEST(files_below_a_folder_can_still_be_written) {
    in_child(write_below_only);
}

TEST(a_folder_may_be_left_for_reading_only) {
    in_child(read_below_only);
}

TEST(nothing_is_dropped_beside_threads) {
    in_child(refuse_beside_threads);
}

TEST(nothing_is_dropped_for_a_path_that_is_not_there) {
    in_child(refuse_without_the_path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_below_a_folder_can_still_be_written),
        cmocka_unit_test(a_folder_may_be_left_for_reading_only),
        cmocka_unit_test(files_of_the_system_may_stay_for_looking_up_names),
        cmocka_unit_test(no_program_is_started_afterwards),
        cmocka_unit_test(the_folder_of_a_file_is_found),
        cmocka_unit_test(nothing_is_dropped_beside_threads),
        cmocka_unit_test(nothing_is_dropped_for_a_path_that_is_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

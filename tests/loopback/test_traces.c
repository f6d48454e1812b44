/* SPDX-License-Identifier: MPL-2.0 */
/* Trace events: in files of qlog_dir, and handed to on_trace. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/loopback/lo.h"

#define LINE_MAX_LEN 4096
#define RIGHT "correct horse battery staple"

static char folder[] = "/tmp/traces-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

/* What the files in the folder say; they are removed. */
struct seen {
    unsigned files;
    unsigned lines;
    unsigned with[3]; /* lines with each of the words */
};

static void read_file(const char *path, const char *const *words,
                      struct seen *s) {
    char line[LINE_MAX_LEN];
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL) {
        size_t len = strlen(line);

        assert_int_equal(line[0], '\x1e'); /* RFC 7464 */
        assert_int_equal(line[1], '{');
        assert_string_equal(line + len - 2, "}\n");
        s->lines++;
        for (int i = 0; i < 3; i++) {
            s->with[i] += strstr(line, words[i]) != NULL;
        }
    }
    (void)fclose(f);
    s->files++;
}

static struct seen read_files(const char *const *words) {
    struct seen s = {0, 0, {0, 0, 0}};
    DIR *d = opendir(folder);
    struct dirent *e;
    char path[sizeof(folder) + 256];

    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        if (strstr(e->d_name, ".sqlog") != NULL) {
            (void)snprintf(path, sizeof(path), "%s/%.200s", folder, e->d_name);
            read_file(path, words, &s);
            assert_int_equal(unlink(path), 0);
        }
    }
    (void)closedir(d);
    return s;
}

static int remove_folder(void **state) {
    static const char *const none[] = {"none", "none", "none"};

    (void)state;
    (void)read_files(none);
    return rmdir(folder);
}

static void close_all(struct lo *l) {
    tltcp_socket **all[] = {&l->client, &l->server, &l->listener};

    for (int i = 0; i < 3; i++) {
        if (*all[i] != NULL) {
            (void)tltcp_close(*all[i], LO_PATIENCE);
            *all[i] = NULL;
        }
    }
}

TEST(a_connection_writes_what_happens_to_it) {
    static const char *const words[] = {"recovery:metrics_updated",
                                        "connection_state_updated",
                                        "tltcp:section_fate"};
    struct lo *l = *state;
    struct seen s;

    l->config.qlog_dir = folder;
    lo_pair(l);
    lo_send_text(l->client, "a section");
    lo_expect_text(l->server, "a section");
    close_all(l);
    s = read_files(words);
    assert_true(s.files >= 2); /* one of each end */
    for (int i = 0; i < 3; i++) {
        assert_true(s.with[i] > 0);
    }
}

static atomic_uint events;

static void on_trace(void *user, const tltcp_trace_event *ev) {
    assert_non_null(ev->name);
    assert_non_null(ev->keys);
    assert_null(user);
    atomic_fetch_add(&events, 1);
}

TEST(a_program_is_told_as_well) {
    static const char *const none[] = {"none", "none", "none"};
    struct lo *l = *state;

    atomic_store(&events, 0);
    l->config.on_trace = on_trace;
    lo_pair(l);
    lo_send_text(l->client, "a section");
    lo_expect_text(l->server, "a section");
    close_all(l);
    assert_true(atomic_load(&events) > 5);
    assert_int_equal(read_files(none).files, 0);
}

static unsigned open_descriptors(bool inherited) {
    DIR *d = opendir("/dev/fd");
    unsigned count = 0;
    struct dirent *e;

    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        int flags = fcntl((int)strtol(e->d_name, NULL, 10), F_GETFD);

        count += !inherited || (flags >= 0 && (flags & FD_CLOEXEC) == 0);
    }
    (void)closedir(d);
    return count;
}

TEST(a_call_that_fails_at_once_closes_its_file) {
    static const char *const none[] = {"none", "none", "none"};
    struct lo *l = *state;
    struct sockaddr_in taken;
    int holder = lo_bind(&taken);
    char port[8];
    unsigned before;

    (void)snprintf(port, sizeof(port), "%u", ntohs(taken.sin_port));
    l->config.qlog_dir = folder;
    l->config.io.local_host = l->host;
    l->config.io.local_service = port;
    before = open_descriptors(false);
    assert_int_equal(
        tltcp_connect(&l->client, l->host, "7", &l->config, LO_PATIENCE),
        TLTCP_ERR_IN_USE);
    assert_int_equal(open_descriptors(false), before);
    assert_int_equal(close(holder), 0);
    assert_int_equal(read_files(none).files, 1);
}

TEST(a_program_started_meanwhile_inherits_no_descriptor) {
    static const char *const none[] = {"none", "none", "none"};
    struct lo *l = *state;
    unsigned before = open_descriptors(true);

    l->config.qlog_dir = folder;
    lo_pair(l);
    assert_int_equal(open_descriptors(true), before);
    close_all(l);
    (void)read_files(none);
}

static atomic_uint rejected;

static void count_rejected(void *user, const tltcp_trace_event *ev) {
    (void)user;
    if (strcmp(ev->name, "security:caller_rejected") == 0) {
        assert_string_equal(ev->text, "wrong key, or none");
        atomic_fetch_add(&rejected, 1);
    }
}

static struct sockaddr *any(struct sockaddr_storage *a) {
    return (struct sockaddr *)a;
}

TEST(a_listener_tells_of_callers_that_it_rejected) {
    struct lo *l = *state;
    static const uint8_t loopback[] = {127, 0, 0, 1};
    struct sockaddr_storage a;
    socklen_t len = sizeof(a);

    atomic_store(&rejected, 0);
    l->config.on_trace = count_rejected;
    l->config.passphrase = RIGHT;
    lo_listen(l);
    l->config.on_trace = NULL;
    l->config.passphrase = "another passphrase";
    assert_int_equal(tltcp_rejected_address(l->listener, any(&a), &len),
                     TLTCP_ERR_STATE);
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, &l->config, LO_PATIENCE),
        TLTCP_ERR_AUTH);
    l->client = NULL;
    assert_int_equal(tltcp_rejected_address(l->listener, any(&a), &len), 0);
    assert_memory_equal(&((struct sockaddr_in *)&a)->sin_addr, loopback, 4);
    assert_int_equal(tltcp_rejected_address(NULL, any(&a), &len),
                     TLTCP_ERR_INVAL);
    close_all(l);
    assert_int_equal(atomic_load(&rejected), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(a_connection_writes_what_happens_to_it, ipv4),
        LO_TEST(a_connection_writes_what_happens_to_it, threads),
        LO_TEST(a_connection_writes_what_happens_to_it, plain),
        LO_TEST(a_program_is_told_as_well, ipv4),
        LO_TEST(a_program_is_told_as_well, threads),
        LO_TEST(a_call_that_fails_at_once_closes_its_file, ipv4),
        LO_TEST(a_program_started_meanwhile_inherits_no_descriptor, ipv4),
        LO_TEST(a_program_started_meanwhile_inherits_no_descriptor, threads),
        LO_TEST(a_listener_tells_of_callers_that_it_rejected, ipv4),
        LO_TEST(a_listener_tells_of_callers_that_it_rejected, threads),
    };
    return cmocka_run_group_tests_name("traces", tests, make_folder,
                                       remove_folder);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Names from peers, partial files and their maps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <uv.h>

#include "libsaratoga/node/map.h"
#include "libsaratoga/node/part.h"
#include "libsaratoga/node/root.h"
#include "tests/support/cmocka.h"
#include "tests/support/folder.h"

struct world {
    char base[64];
    char root_path[80];
    saratoga__root root;
};

static void make_file(const char *folder, const char *name, const char *text) {
    char path[256];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void link_to(const struct world *w, const char *to, const char *name) {
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", w->root_path, name);
    assert_int_equal(symlink(to, path), 0);
}

/* base/secret, base/root/{a.txt, sub/b.txt, links, a pipe, a socket} */
static int set_up(void **state, bool portable) {
    struct world *w = calloc(1, sizeof(*w));
    char path[128];

    assert_non_null(w);
    (void)snprintf(w->base, sizeof(w->base), "/tmp/saratoga-XXXXXX");
    assert_non_null(mkdtemp(w->base));
    (void)snprintf(w->root_path, sizeof(w->root_path), "%s/root", w->base);
    assert_int_equal(mkdir(w->root_path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/sub", w->root_path);
    assert_int_equal(mkdir(path, 0700), 0);
    make_file(w->base, "secret", "secret");
    make_file(w->root_path, "a.txt", "aaaa");
    make_file(path, "b.txt", "bb");
    link_to(w, "../secret", "out");
    link_to(w, "/etc", "away");
    link_to(w, "..", "up");
    (void)snprintf(path, sizeof(path), "%s/pipe", w->root_path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(saratoga__root_open(&w->root, w->root_path), 0);
    w->root.no_openat2 = portable;
    *state = w;
    return 0;
}

static int with_kernel(void **state) {
    return set_up(state, false);
}

static int by_steps(void **state) {
    return set_up(state, true);
}

static int tear_down(void **state) {
    struct world *w = *state;
    saratoga__root_close(&w->root);
    assert_int_equal(remove_folder(w->base), 0);
    free(w);
    return 0;
}

static int try_read(const struct world *w, const char *path) {
    char clean[SARATOGA__PATH_MAX];
    struct stat st;
    int fd = saratoga__path_clean(path, clean);

    if (fd == 0) {
        fd = saratoga__root_read(&w->root, clean, &st);
    }
    if (fd >= 0) {
        (void)close(fd);
        return 0;
    }
    return fd;
}

TEST(files_in_the_root_can_be_read) {
    assert_int_equal(try_read(*state, "a.txt"), 0);
    assert_int_equal(try_read(*state, "/a.txt"), 0);
    assert_int_equal(try_read(*state, ".//sub/./b.txt"), 0);
    assert_int_equal(try_read(*state, "none"), UV_ENOENT);
}

TEST(nothing_outside_the_root_can_be_read) {
    assert_int_equal(try_read(*state, "../secret"), UV_EACCES);
    assert_int_equal(try_read(*state, "sub/../../secret"), UV_EACCES);
    assert_int_equal(try_read(*state, "sub/.."), UV_EACCES);
    assert_int_equal(try_read(*state, "out"), UV_EACCES);
    assert_true(try_read(*state, "away/passwd") < 0);
    assert_true(try_read(*state, "up/secret") < 0);
    assert_true(try_read(*state, "/etc/passwd") < 0);
}

TEST(special_files_and_folders_cannot_be_read) {
    assert_true(try_read(*state, "pipe") < 0);
    assert_int_equal(try_read(*state, "sub"), UV_EISDIR);
    assert_int_equal(try_read(*state, ""), UV_EISDIR);
}

/* Waits for a reader of the pipe, and writes. */
static void write_to_pipe(void *user) {
    const struct world *w = user;
    char path[128];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/pipe", w->root_path);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    (void)!write(fd, "x", 1); /* the reader sees whether that went */
    (void)close(fd);
}

TEST(a_writer_to_a_pipe_is_not_woken_needlessly) {
    struct world *w = *state;

    (void)signal(SIGPIPE, SIG_IGN);
    for (unsigned round = 0; round < 100; round++) {
        struct pollfd p = {.events = POLLIN};
        uv_thread_t writer;
        char c = 0;

        assert_int_equal(uv_thread_create(&writer, write_to_pipe, w), 0);
        for (unsigned i = 0; i < 20; i++) {
            assert_true(try_read(w, "pipe") < 0);
        }
        p.fd = saratoga__root_pipe(&w->root, "pipe");
        assert_true(p.fd >= 0);
        assert_int_equal(poll(&p, 1, 60000), 1);
        assert_int_equal(read(p.fd, &c, 1), 1);
        (void)close(p.fd);
        assert_int_equal(uv_thread_join(&writer), 0);
    }
}

TEST(our_own_files_cannot_be_named) {
    const struct world *w = *state;

    make_file(w->root_path, SARATOGA__OWN_PREFIX "1.part", "x");
    assert_int_equal(try_read(w, SARATOGA__OWN_PREFIX "1.part"), UV_EACCES);
    assert_int_equal(try_read(w, "sub/" SARATOGA__OWN_PREFIX "2"), UV_EACCES);
    /* some disks do not tell cases apart */
    assert_int_equal(try_read(w, ".Saratoga-1.part"), UV_EACCES);
    assert_int_equal(try_read(w, "sub/.SARATOGA-2"), UV_EACCES);
}

TEST(deleting_spares_anything_but_files) {
    const struct world *w = *state;

    assert_int_equal(saratoga__root_unlink(&w->root, "a.txt"), 0);
    assert_int_equal(saratoga__root_unlink(&w->root, "a.txt"), UV_ENOENT);
    assert_int_equal(saratoga__root_unlink(&w->root, "sub"), UV_EACCES);
    assert_int_equal(saratoga__root_unlink(&w->root, "out"), UV_EACCES);
    assert_int_equal(saratoga__root_unlink(&w->root, "pipe"), UV_EACCES);
    assert_true(saratoga__root_unlink(&w->root, "up/secret") < 0);
}

TEST(folders_are_made_below_the_root_only) {
    const struct world *w = *state;
    int fd = saratoga__root_folder(&w->root, "x/y/z", true);

    assert_true(fd >= 0);
    (void)close(fd);
    assert_true(saratoga__root_folder(&w->root, "up/x", true) < 0);
    assert_int_equal(saratoga__root_folder(&w->root, "a.txt/x", true),
                     UV_ENOTDIR);
}

TEST(paths_too_long_are_refused) {
    char path[SARATOGA__PATH_MAX + 10];
    char clean[SARATOGA__PATH_MAX];

    memset(path, 'a', sizeof(path));
    path[SARATOGA__PATH_MAX - 1] = '\0';
    assert_int_equal(saratoga__path_clean(path, clean), 0);
    path[SARATOGA__PATH_MAX - 1] = 'a';
    path[SARATOGA__PATH_MAX] = '\0';
    assert_int_equal(saratoga__path_clean(path, clean), UV_ENAMETOOLONG);
}

/* --- Partial files ------------------------------------------------------- */

static const struct timespec when = {.tv_sec = 1513468800};

static size_t read_back(const struct world *w, const char *name, char *text,
                        size_t room) {
    char path[256];
    FILE *f;
    size_t n;

    (void)snprintf(path, sizeof(path), "%s/%s", w->root_path, name);
    f = fopen(path, "r");
    if (f == NULL) {
        return 0;
    }
    n = fread(text, 1, room, f);
    (void)fclose(f);
    return n;
}

static int finish_part(saratoga__part *p, uint64_t size,
                       const struct timespec *mtime) {
    int rv = saratoga__part_sync(p, size, mtime);

    return rv != 0 ? rv : saratoga__part_publish(p);
}

TEST(a_partial_file_gets_its_name_at_the_end) {
    const struct world *w = *state;
    saratoga__part p;
    char text[16];

    assert_int_equal(
        saratoga__part_open(&p, &w->root, "new/c.txt", false, NULL, NULL), 0);
    assert_int_equal(write(p.fd, "hello", 5), 5);
    assert_int_equal(read_back(w, "new/c.txt", text, sizeof(text)), 0);
    assert_int_equal(finish_part(&p, 5, &when), 0);
    saratoga__part_close(&p);
    assert_int_equal(read_back(w, "new/c.txt", text, sizeof(text)), 5);
    assert_memory_equal(text, "hello", 5);
}

TEST(a_file_that_is_there_is_not_replaced_unasked) {
    const struct world *w = *state;
    saratoga__part p;
    char text[16];

    assert_int_equal(
        saratoga__part_open(&p, &w->root, "a.txt", false, NULL, NULL),
        SARATOGA__EXISTS);
    saratoga__part_close(&p);
    assert_int_equal(saratoga__part_open(&p, &w->root, "n", false, NULL, NULL),
                     0);
    make_file(w->root_path, "n", "mine"); /* while it comes */
    assert_int_equal(finish_part(&p, 0, &when), SARATOGA__EXISTS);
    saratoga__part_discard(&p);
    assert_int_equal(read_back(w, "n", text, sizeof(text)), 4);
    assert_int_equal(
        saratoga__part_open(&p, &w->root, "a.txt", true, NULL, NULL), 0);
    assert_int_equal(finish_part(&p, 0, &when), 0);
    saratoga__part_close(&p);
    assert_int_equal(read_back(w, "a.txt", text, sizeof(text)), 0);
}

TEST(two_transfers_do_not_write_one_file) {
    const struct world *w = *state;
    saratoga__part p;
    saratoga__part q;

    assert_int_equal(saratoga__part_open(&p, &w->root, "n", false, NULL, NULL),
                     0);
    assert_int_equal(saratoga__part_open(&q, &w->root, "n", false, NULL, NULL),
                     UV_EBUSY);
    saratoga__part_close(&q);
    saratoga__part_discard(&p);
}

static void add_name(const struct world *w, const char *file,
                     const char *name) {
    char from[256];
    char to[256];

    (void)snprintf(from, sizeof(from), "%s/%s", w->root_path, file);
    (void)snprintf(to, sizeof(to), "%s/%s", w->root_path, name);
    assert_int_equal(link(from, to), 0);
}

/* Where renameat2() is missing, a crash can leave a finished file its partial
 * name, too. */
TEST(a_second_name_of_a_finished_file_blocks_no_transfer) {
    const struct world *w = *state;
    saratoga__part p;
    char text[16];

    make_file(w->root_path, "c.txt", "old");
    assert_int_equal(
        saratoga__part_open(&p, &w->root, "c.txt", true, NULL, NULL), 0);
    saratoga__part_discard(&p);
    add_name(w, "c.txt", p.name);

    assert_int_equal(
        saratoga__part_open(&p, &w->root, "c.txt", true, NULL, NULL), 0);
    assert_int_equal(write(p.fd, "newer", 5), 5);
    assert_int_equal(read_back(w, "c.txt", text, sizeof(text)), 3);
    assert_memory_equal(text, "old", 3);
    assert_int_equal(finish_part(&p, 5, &when), 0);
    saratoga__part_close(&p);
    assert_int_equal(read_back(w, "c.txt", text, sizeof(text)), 5);
}

/* Backups copy folders by links. */
TEST(a_second_name_of_a_partial_file_keeps_it) {
    const struct world *w = *state;
    saratoga__part p;
    saratoga__part q;
    char text[16];

    assert_int_equal(
        saratoga__part_open(&p, &w->root, "d.txt", true, NULL, NULL), 0);
    assert_int_equal(write(p.fd, "half", 4), 4);
    saratoga__part_close(&p);
    add_name(w, p.name, "copy");
    assert_int_equal(
        saratoga__part_open(&q, &w->root, "d.txt", true, NULL, NULL), UV_EBUSY);
    saratoga__part_close(&q);
    assert_int_equal(read_back(w, p.name, text, sizeof(text)), 4);
}

TEST(partial_files_are_not_followed_through_links) {
    const struct world *w = *state;
    saratoga__part p;
    char name[SARATOGA__PART_NAME];

    assert_int_equal(saratoga__part_open(&p, &w->root, "n", false, NULL, NULL),
                     0);
    memcpy(name, p.name, sizeof(name));
    saratoga__part_discard(&p);
    link_to(w, "../secret", name);
    assert_true(saratoga__part_open(&p, &w->root, "n", false, NULL, NULL) < 0);
    saratoga__part_close(&p);
    assert_int_equal(read_back(w, "../secret", name, sizeof(name)), 6);
}

/* --- Maps ---------------------------------------------------------------- */

static void fill(saratoga_partial *p, const saratoga_range *ranges, size_t n) {
    memset(p, 0, sizeof(*p));
    p->entry.size = UINT64_C(0x123456789a);
    p->entry.mtime = 0x21c86fea;
    p->entry.ctime = 0x21c87026;
    p->entry.descriptor = SARATOGA_64_BIT;
    (void)snprintf(p->entry.path, sizeof(p->entry.path), "img/0001.raw");
    p->checksum = SARATOGA_MD5;
    memset(p->digest, 0x5a, 16);
    p->ranges = ranges;
    p->count = n;
}

/* The map of a partial file that has these ranges; free it. */
static uint8_t *map_of(saratoga_partial *p, const saratoga_range *ranges,
                       uint32_t n, size_t *len) {
    uint8_t *map;

    fill(p, ranges, n);
    map = saratoga__map_encode(p, len);
    assert_non_null(map);
    return map;
}

TEST(a_map_is_reversible) {
    const struct world *w = *state;
    static const saratoga_range ranges[] = {{0, 3}, {5, 9}, {20, 40}};
    saratoga_partial p;
    saratoga_partial q;
    saratoga_range *held = NULL;
    saratoga__part part;
    size_t len;
    uint8_t *map = map_of(&p, ranges, 3, &len);

    assert_int_equal(
        saratoga__part_open(&part, &w->root, "n", false, NULL, NULL), 0);
    assert_int_equal(ftruncate(part.fd, 30), 0);
    assert_int_equal(saratoga__part_save(&part, map, len), 0);
    saratoga__part_close(&part);
    assert_int_equal(
        saratoga__part_open(&part, &w->root, "n", false, &q, &held), 0);
    assert_int_equal(q.entry.size, p.entry.size);
    assert_int_equal(q.entry.mtime, p.entry.mtime);
    assert_int_equal(q.entry.ctime, p.entry.ctime);
    assert_string_equal(q.entry.path, p.entry.path);
    assert_int_equal(q.checksum, p.checksum);
    assert_memory_equal(q.digest, p.digest, sizeof(q.digest));
    assert_int_equal(q.count, 3);
    assert_int_equal(q.ranges[1].start, 5);
    assert_int_equal(q.ranges[2].end, 30); /* the file ends there */
    free(held);
    free(map);
    saratoga__part_discard(&part);
}

TEST(damaged_maps_are_no_maps) {
    static const saratoga_range ranges[] = {{0, 3}, {5, 9}};
    saratoga_partial p;
    saratoga_partial q;
    saratoga_range *held;
    size_t len;
    uint8_t *map = map_of(&p, ranges, 2, &len);

    for (size_t i = 0; i < len; i++) {
        map[i] ^= 0x10;
        assert_int_equal(saratoga__map_decode(map, len, 99, &q, &held),
                         UV_EINVAL);
        map[i] ^= 0x10;
        assert_int_equal(saratoga__map_decode(map, i, 99, &q, &held),
                         UV_EINVAL);
    }
    assert_int_equal(saratoga__map_decode(map, len, 99, &q, &held), 0);
    free(held);
    free(map);
}

TEST(maps_of_ranges_out_of_order_are_no_maps) {
    static const saratoga_range ranges[] = {{5, 9}, {0, 3}};
    saratoga_partial p;
    saratoga_partial q;
    saratoga_range *held;
    size_t len;
    uint8_t *map = map_of(&p, ranges, 2, &len);

    assert_int_equal(saratoga__map_decode(map, len, 99, &q, &held), UV_EINVAL);
    assert_null(held);
    free(map);
}

#define BOTH(test)                                                 \
    cmocka_unit_test_setup_teardown(test, with_kernel, tear_down), \
        cmocka_unit_test_setup_teardown(test, by_steps, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(files_in_the_root_can_be_read),
        BOTH(nothing_outside_the_root_can_be_read),
        BOTH(special_files_and_folders_cannot_be_read),
        BOTH(a_writer_to_a_pipe_is_not_woken_needlessly),
        BOTH(our_own_files_cannot_be_named),
        BOTH(deleting_spares_anything_but_files),
        BOTH(folders_are_made_below_the_root_only),
        BOTH(paths_too_long_are_refused),
        BOTH(a_partial_file_gets_its_name_at_the_end),
        BOTH(a_file_that_is_there_is_not_replaced_unasked),
        BOTH(two_transfers_do_not_write_one_file),
        BOTH(a_second_name_of_a_finished_file_blocks_no_transfer),
        BOTH(a_second_name_of_a_partial_file_keeps_it),
        BOTH(partial_files_are_not_followed_through_links),
        BOTH(a_map_is_reversible),
        cmocka_unit_test(damaged_maps_are_no_maps),
        cmocka_unit_test(maps_of_ranges_out_of_order_are_no_maps)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

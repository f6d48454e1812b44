/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <uv.h>

#include <saratoga/uv.h>

#include "tests/support/folder.h"

/* Two nodes with files: one serves, the other asks. */

#define PATIENCE 60000 /* ms */
#define FILE_LEN 200000

struct pair {
    char base[64];
    char here[80];
    char there[80];
    uv_loop_t loop; /* of both, in some tests */
    bool shared;
    bool keyed;
    bool six; /* over IPv6 */
    saratoga_uv *server;
    saratoga_uv *client;
    char port[16];
    unsigned done; /* events of the client */
    saratoga_uv_event last;
};

static uint8_t octet(size_t i, unsigned seed) {
    return (uint8_t)(i * 131 + (i >> 8) * 17 + seed);
}

static void make_file(const char *folder, const char *name, size_t len,
                      unsigned seed) {
    char path[256];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < len; i++) {
        assert_true(fputc(octet(i, seed), f) != EOF);
    }
    assert_int_equal(fclose(f), 0);
}

static void expect_file(const char *folder, const char *name, size_t len,
                        unsigned seed) {
    char path[256];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "rb");
    assert_non_null(f);
    for (size_t i = 0; i < len; i++) {
        assert_int_equal(fgetc(f), octet(i, seed));
    }
    assert_int_equal(fgetc(f), EOF);
    (void)fclose(f);
}

static unsigned count_files(const char *folder, const char *prefix) {
    DIR *d = opendir(folder);
    const struct dirent *e;
    unsigned n = 0;

    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        n += strncmp(e->d_name, prefix, strlen(prefix)) == 0 ? 1u : 0;
    }
    (void)closedir(d);
    return n;
}

static const uint8_t key[] = "a key that both have";

static const char *loopback(const struct pair *p) {
    return p->six ? "::1" : "127.0.0.1";
}

static void open_pair(struct pair *p, bool may_write, uint64_t rate_bps) {
    saratoga_uv_config c;
    saratoga_config engine;
    saratoga_options o;
    char why[SARATOGA_UV_TEXT];
    char text[SARATOGA_UV_ADDRESS];

    saratoga_options_init(&o);
    o.rate_bps = rate_bps;
    saratoga_config_init(&engine);
    engine.transfer = &o;
    if (p->keyed) {
        engine.auth_key = key;
        engine.auth_key_len = sizeof(key);
        engine.auth_files = true;
        o.checksum = SARATOGA_HMAC_SHA256;
    }
    saratoga_uv_config_init(&c);
    c.node = &engine;
    c.loop = p->shared ? &p->loop : NULL;
    c.host = loopback(p);
    c.root = p->here;
    c.may_write = may_write;
    assert_int_equal(saratoga_uv_open(&p->server, &c, why), 0);
    c.root = NULL;
    assert_int_equal(saratoga_uv_open(&p->client, &c, why), 0);
    assert_int_equal(saratoga_uv_local_address(p->server, text), 0);
    (void)snprintf(p->port, sizeof(p->port), "%s", strrchr(text, ':') + 1);
}

static int set_up(void **state) {
    struct pair *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    (void)snprintf(p->base, sizeof(p->base), "/tmp/saratoga-XXXXXX");
    assert_non_null(mkdtemp(p->base));
    (void)snprintf(p->here, sizeof(p->here), "%s/here", p->base);
    (void)snprintf(p->there, sizeof(p->there), "%s/there", p->base);
    assert_int_equal(mkdir(p->here, 0700), 0);
    assert_int_equal(mkdir(p->there, 0700), 0);
    assert_int_equal(uv_loop_init(&p->loop), 0);
    p->shared = true;
    *state = p;
    return 0;
}

static void close_pair(struct pair *p) {
    saratoga_uv_close(p->client);
    saratoga_uv_close(p->server);
    p->client = NULL;
    p->server = NULL;
    while (uv_run(&p->loop, UV_RUN_DEFAULT) != 0) {
    }
}

static int tear_down(void **state) {
    struct pair *p = *state;
    close_pair(p);
    assert_int_equal(uv_loop_close(&p->loop), 0);
    assert_int_equal(remove_folder(p->base), 0);
    free(p);
    return 0;
}

static uint64_t ask(struct pair *p, uint32_t type, const char *path,
                    const char *file) {
    saratoga_uv_transfer t;
    uint64_t id = 0;

    saratoga_uv_transfer_init(&t);
    t.type = type;
    t.host = loopback(p);
    t.service = p->port;
    t.path = path;
    t.folder = p->there;
    t.file = file;
    assert_int_equal(saratoga_uv_start(p->client, &t, &id), 0);
    return id;
}

static void take_events(struct pair *p) {
    saratoga_uv_event ev;

    while (saratoga_uv_next_event(p->client, &ev) == 1) {
        if (ev.type == SARATOGA_UV_DONE) {
            p->done++;
            p->last = ev;
        }
    }
}

static void impatient(uv_timer_t *timer) {
    (void)timer;
    fail_msg("nothing happens");
}

/* Runs the loop of both until so many transfers of the client are done. */
static void wait_for(struct pair *p, unsigned done) {
    uv_timer_t patience;

    (void)uv_timer_init(&p->loop, &patience);
    (void)uv_timer_start(&patience, impatient, PATIENCE, 0);
    while (p->done < done) {
        (void)uv_run(&p->loop, UV_RUN_ONCE);
        take_events(p);
    }
    uv_close((uv_handle_t *)&patience, NULL);
    (void)uv_run(&p->loop, UV_RUN_NOWAIT);
}

/* --- Tests --------------------------------------------------------------- */

static void many_transfers_run_at_once_in_both_directions(void **state) {
    struct pair *p = *state;
    char name[32];

    open_pair(p, true, 0);
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "get%u", i);
        make_file(p->here, name, FILE_LEN, i);
        (void)ask(p, SARATOGA_GET, name, name);
        (void)snprintf(name, sizeof(name), "put%u", i);
        make_file(p->there, name, FILE_LEN, i + 100);
        (void)ask(p, SARATOGA_PUT, name, name);
    }
    wait_for(p, 20);
    for (unsigned i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "get%u", i);
        expect_file(p->there, name, FILE_LEN, i);
        (void)snprintf(name, sizeof(name), "put%u", i);
        expect_file(p->here, name, FILE_LEN, i + 100);
    }
    assert_int_equal(count_files(p->here, ".saratoga-"), 0);
    assert_int_equal(count_files(p->there, ".saratoga-"), 0);
}

static void
a_transfer_that_is_cancelled_ends_and_keeps_what_came(void **state) {
    struct pair *p = *state;
    saratoga_stats st;
    uint64_t id;

    make_file(p->here, "f", 20 * FILE_LEN, 1);
    open_pair(p, false, 20000000);
    id = ask(p, SARATOGA_GET, "f", "f");
    saratoga_stats_init(&st);
    while (st.written_bytes < FILE_LEN) {
        (void)uv_run(&p->loop, UV_RUN_ONCE);
        if (saratoga_uv_get_stats(p->client, id, &st) != 0) {
            saratoga_stats_init(&st);
        }
    }
    assert_int_equal(saratoga_uv_cancel(p->client, id), 0);
    wait_for(p, 1);
    assert_int_equal(p->last.error, SARATOGA_ERR_CANCELLED);
    assert_int_equal(saratoga_uv_cancel(p->client, id), SARATOGA_ERR_GONE);
    assert_int_equal(count_files(p->there, "f"), 0);
    assert_int_equal(count_files(p->there, ".saratoga-"), 2);
}

static void get_put_and_list(struct pair *p) {
    make_file(p->here, "get", FILE_LEN, 1);
    make_file(p->there, "put", FILE_LEN, 2);
    open_pair(p, true, 0);
    (void)ask(p, SARATOGA_GET, "get", "get");
    (void)ask(p, SARATOGA_PUT, "put", "put");
    wait_for(p, 2);
    expect_file(p->there, "get", FILE_LEN, 1);
    expect_file(p->here, "put", FILE_LEN, 2);
    (void)ask(p, SARATOGA_GETDIR, "", NULL);
    wait_for(p, 3);
    assert_int_equal(p->last.error, 0);
}

static void peers_with_a_key_verify_files_with_it(void **state) {
    struct pair *p = *state;

    p->keyed = true;
    get_put_and_list(p);
    assert_int_equal(p->last.checksum, SARATOGA_HMAC_SHA256);
    assert_true(p->last.verified);
}

static void files_go_over_ipv6(void **state) {
    struct pair *p = *state;
    struct sockaddr_in6 here = {.sin6_family = AF_INET6,
                                .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    bool can = fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0;

    if (fd >= 0) {
        (void)close(fd);
    }
    if (!can) {
        skip();
    }
    p->six = true;
    get_put_and_list(p);
}

static void nodes_can_be_closed_in_the_middle_of_everything(void **state) {
    struct pair *p = *state;

    make_file(p->here, "f", 10 * FILE_LEN, 1);
    make_file(p->there, "g", 10 * FILE_LEN, 1);
    for (unsigned turns = 0; turns < 40; turns += 3) {
        open_pair(p, true, 100000000);
        (void)ask(p, SARATOGA_GET, "f", "f");
        (void)ask(p, SARATOGA_PUT, "g", "g");
        (void)ask(p, SARATOGA_GETDIR, "", NULL);
        for (unsigned i = 0; i < turns; i++) {
            (void)uv_run(&p->loop, UV_RUN_ONCE);
        }
        close_pair(p);
    }
    assert_int_equal(count_files(p->there, "f"), 0);
}

static void a_directory_record_comes_with_the_event(void **state) {
    struct pair *p = *state;
    saratoga_uv_event ev;
    saratoga_entry e;

    make_file(p->here, "f", 7, 1);
    p->shared = false; /* a loop of its own, and a thread for none */
    open_pair(p, false, 0);
    (void)ask(p, SARATOGA_GETDIR, "", NULL);
    do {
        saratoga_uv_run(p->client, 10);
        saratoga_uv_run(p->server, 10);
    } while (saratoga_uv_next_event(p->client, &ev) == 0);
    assert_int_equal(ev.type, SARATOGA_UV_DONE);
    assert_int_equal(ev.error, 0);
    assert_int_equal(saratoga_entry_read(ev.record, ev.record_len, &e),
                     ev.record_len);
    assert_string_equal(e.path, "f");
    assert_int_equal(e.size, 7);
}

static void a_root_that_is_not_there_is_told(void **state) {
    saratoga_uv_config c;
    saratoga_uv *u;
    char why[SARATOGA_UV_TEXT];

    (void)state;
    saratoga_uv_config_init(&c);
    c.root = "/nonexistent";
    assert_int_equal(saratoga_uv_open(&u, &c, why), SARATOGA_ERR_IO);
    assert_null(u);
    assert_non_null(strstr(why, "/nonexistent"));
}

static void a_transfer_without_a_host_is_refused(void **state) {
    struct pair *p = *state;
    saratoga_uv_transfer t;
    uint64_t id;

    open_pair(p, false, 0);
    saratoga_uv_transfer_init(&t);
    t.type = SARATOGA_GET;
    assert_int_equal(saratoga_uv_start(p->client, &t, &id), SARATOGA_ERR_INVAL);
    t.host = "127.0.0.1";
    t.path = "a";
    t.file = "../a";
    assert_int_equal(saratoga_uv_start(p->client, &t, &id), SARATOGA_ERR_INVAL);
    assert_int_equal(saratoga_uv_active(p->client), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            many_transfers_run_at_once_in_both_directions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_transfer_that_is_cancelled_ends_and_keeps_what_came, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(peers_with_a_key_verify_files_with_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_go_over_ipv6, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            nodes_can_be_closed_in_the_middle_of_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_directory_record_comes_with_the_event,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_root_that_is_not_there_is_told,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_transfer_without_a_host_is_refused,
                                        set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

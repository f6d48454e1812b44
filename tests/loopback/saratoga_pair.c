/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/saratoga_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/folder.h"

#define PATIENCE 60000 /* ms */

static uint8_t octet(size_t i, unsigned seed) {
    return (uint8_t)(i * 131 + (i >> 8) * 17 + seed);
}

static FILE *open_in(const char *folder, const char *name, const char *mode) {
    char path[256];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, mode);
    assert_non_null(f);
    return f;
}

void make_file(const char *folder, const char *name, size_t len,
               unsigned seed) {
    FILE *f = open_in(folder, name, "wb");

    for (size_t i = 0; i < len; i++) {
        assert_true(fputc(octet(i, seed), f) != EOF);
    }
    assert_int_equal(fclose(f), 0);
}

void expect_file(const char *folder, const char *name, size_t len,
                 unsigned seed) {
    FILE *f = open_in(folder, name, "rb");

    for (size_t i = 0; i < len; i++) {
        assert_int_equal(fgetc(f), octet(i, seed));
    }
    assert_int_equal(fgetc(f), EOF);
    (void)fclose(f);
}

unsigned count_files(const char *folder, const char *prefix) {
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

void open_pair(struct pair *p, bool may_write, uint64_t rate_bps) {
    saratoga_node_config c;
    saratoga_config engine;
    saratoga_options o;
    char why[SARATOGA_NODE_TEXT];
    char text[SARATOGA_NODE_ADDRESS];

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
    saratoga_node_config_init(&c);
    c.engine = &engine;
    c.loop = p->shared ? &p->loop : NULL;
    c.host = loopback(p);
    c.root = p->here;
    c.may_write = may_write;
    if (p->tune != NULL) {
        p->tune(&c, true);
    }
    assert_int_equal(saratoga_node_open(&p->server, &c, why), 0);
    c.root = NULL;
    if (p->tune != NULL) {
        p->tune(&c, false);
    }
    assert_int_equal(saratoga_node_open(&p->client, &c, why), 0);
    assert_int_equal(saratoga_node_local_address(p->server, text), 0);
    (void)snprintf(p->port, sizeof(p->port), "%s", strrchr(text, ':') + 1);
}

int pair_set_up(void **state) {
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

void close_pair(struct pair *p) {
    saratoga_node_close(p->client);
    saratoga_node_close(p->server);
    p->client = NULL;
    p->server = NULL;
    while (uv_run(&p->loop, UV_RUN_DEFAULT) != 0) {
    }
}

int pair_tear_down(void **state) {
    struct pair *p = *state;
    close_pair(p);
    assert_int_equal(uv_loop_close(&p->loop), 0);
    assert_int_equal(remove_folder(p->base), 0);
    free(p);
    return 0;
}

uint64_t ask(struct pair *p, uint32_t type, const char *path,
             const char *file) {
    saratoga_node_transfer t;
    uint64_t id = 0;

    saratoga_node_transfer_init(&t);
    t.type = type;
    t.host = loopback(p);
    t.service = p->port;
    t.path = path;
    t.folder = p->there;
    t.file = file;
    assert_int_equal(saratoga_node_start(p->client, &t, &id), 0);
    return id;
}

static void take_events(struct pair *p) {
    saratoga_node_event ev;

    while (saratoga_node_next_event(p->client, &ev) == 1) {
        if (ev.type == SARATOGA_NODE_DONE) {
            p->done++;
            p->last = ev;
        }
    }
}

static void impatient(uv_timer_t *timer) {
    (void)timer;
    fail_msg("nothing happens");
}

void wait_for(struct pair *p, unsigned done) {
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

void get_put_and_list(struct pair *p) {
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

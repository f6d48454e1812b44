/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/costs/clients.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saratoga/node.h>

#include "tests/support/folder.h"

#define SECTION 8000u

static void put_file(const struct place *p, const char *name, size_t len) {
    char path[128];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", p->here, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < len; i++) {
        assert_int_not_equal(fputc((int)(i * 131 >> 3 & 255), f), EOF);
    }
    assert_int_equal(fclose(f), 0);
}

int place_set_up(void **state) {
    struct place *p = test_calloc(1, sizeof(*p));

    (void)snprintf(p->base, sizeof(p->base), "/tmp/costs-XXXXXX");
    assert_non_null(mkdtemp(p->base));
    (void)snprintf(p->here, sizeof(p->here), "%s/here", p->base);
    (void)snprintf(p->there, sizeof(p->there), "%s/there", p->base);
    assert_int_equal(mkdir(p->here, 0700), 0);
    assert_int_equal(mkdir(p->there, 0700), 0);
    put_file(p, "small", 1000);
    put_file(p, "large", (size_t)3 << 20);
    *state = p;
    return 0;
}

int place_tear_down(void **state) {
    struct place *p = *state;

    assert_int_equal(remove_folder(p->base), 0);
    test_free(p);
    return 0;
}

tltcp_socket *client_call(const struct server *s, uint32_t latency_ms,
                          bool sealed, uint8_t transport) {
    tltcp_socket *c;
    tltcp_config config;

    tltcp_config_init(&config);
    config.key = sealed ? right_key : NULL;
    config.key_len = sealed ? KEY_LEN : 0;
    config.latency_ms = latency_ms;
    config.io.transport = transport;
    config.connect_timeout_ms = CLIENT_PATIENCE_MS;
    assert_int_equal(
        tltcp_connect(&c, "127.0.0.1", s->port, &config, CLIENT_PATIENCE_MS),
        0);
    return c;
}

void client_send(tltcp_socket *s) {
    static uint8_t data[SECTION];
    struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    assert_true(tltcp_sendmsg(s, &m, 0) >= 0);
}

void client_get(const struct place *p, const struct server *s,
                enum service service, const char *name) {
    saratoga_node_event ev = {.type = SARATOGA_NODE_NONE};
    saratoga_node_transfer x;
    saratoga_node_config c;
    saratoga_config engine;
    saratoga_node *node;
    char why[SARATOGA_NODE_TEXT];
    uint64_t id;

    saratoga_config_init(&engine);
    engine.auth_key = service == SARATOGA_SIGNED ? right_key : NULL;
    engine.auth_key_len = service == SARATOGA_SIGNED ? KEY_LEN : 0;
    saratoga_node_config_init(&c);
    c.engine = &engine;
    c.key = service == SARATOGA_SEALED ? right_key : NULL;
    c.key_len = service == SARATOGA_SEALED ? KEY_LEN : 0;
    assert_int_equal(saratoga_node_open(&node, &c, why), 0);
    saratoga_node_transfer_init(&x);
    x.type = SARATOGA_GET;
    x.host = "127.0.0.1";
    x.service = s->port;
    x.path = name;
    x.folder = p->there;
    x.overwrite = true;
    assert_int_equal(saratoga_node_start(node, &x, &id), 0);
    while (saratoga_node_next_event(node, &ev) == 0 ||
           ev.type != SARATOGA_NODE_DONE) {
        saratoga_node_run(node, 100);
    }
    assert_int_equal(ev.error, 0);
    assert_true(ev.verified);
    saratoga_node_close(node);
}

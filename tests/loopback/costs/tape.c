/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/costs/tape.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <saratoga/node.h>
#include <tltcp/socket.h>

#define PATIENCE 4000 /* turns of 5 ms */

static int tape_socket(struct sockaddr_in *a) {
    socklen_t len = sizeof(*a);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    *a = (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)a, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)a, &len), 0);
    return fd;
}

static void tape_forward(struct tape *t) {
    struct datagram d;
    socklen_t len = sizeof(t->client);
    ssize_t n;

    while ((n = recvfrom(t->front, d.data, sizeof(d.data), MSG_DONTWAIT,
                         (struct sockaddr *)&t->client, &len)) >= 0) {
        d.len = (size_t)n;
        (void)sendto(t->back, d.data, d.len, 0, (struct sockaddr *)&t->server,
                     sizeof(t->server));
        if (t->n < TAPE) {
            t->d[t->n++] = d;
        }
    }
    while ((n = recv(t->back, d.data, sizeof(d.data), MSG_DONTWAIT)) >= 0) {
        (void)sendto(t->front, d.data, (size_t)n, 0,
                     (struct sockaddr *)&t->client, sizeof(t->client));
    }
}

static void tape_wait(struct tape *t) {
    struct pollfd p[2] = {{.fd = t->front, .events = POLLIN},
                          {.fd = t->back, .events = POLLIN}};

    (void)poll(p, 2, 5);
    tape_forward(t);
}

static void tape_call_tltcp(struct tape *t, const char *port,
                            const uint8_t *key) {
    int rv = TLTCP_ERR_AGAIN;
    tltcp_socket *s;
    tltcp_config c;

    tltcp_config_init(&c);
    c.packets.max_datagram = 1200;
    c.key = key;
    c.key_len = key != NULL ? KEY_LEN : 0;
    assert_int_equal(tltcp_connect(&s, "127.0.0.1", port, &c, 0), 0);
    for (int i = 0; i < PATIENCE && rv == TLTCP_ERR_AGAIN; i++) {
        tape_wait(t);
        rv = tltcp_wait_connected(s, 0);
    }
    assert_int_not_equal(rv, TLTCP_ERR_AGAIN);
    for (int i = 0; i < 20; i++) {
        tape_wait(t);
    }
    (void)tltcp_close(s, 0);
    tape_wait(t);
}

static void tape_get(saratoga_node *node, const char *port,
                     const char *folder) {
    saratoga_node_transfer x;
    uint64_t id;

    saratoga_node_transfer_init(&x);
    x.type = SARATOGA_GET;
    x.host = "127.0.0.1";
    x.service = port;
    x.path = "small";
    x.folder = folder;
    x.overwrite = true;
    assert_int_equal(saratoga_node_start(node, &x, &id), 0);
}

static void tape_call_saratoga(struct tape *t, const char *port,
                               enum service service, const uint8_t *key,
                               const char *folder) {
    saratoga_node_event ev = {.type = SARATOGA_NODE_NONE};
    saratoga_node_config c;
    saratoga_config engine;
    saratoga_node *node;
    char why[SARATOGA_NODE_TEXT];

    saratoga_config_init(&engine);
    engine.auth_key = service == SARATOGA_SIGNED ? key : NULL;
    engine.auth_key_len =
        service == SARATOGA_SIGNED && key != NULL ? KEY_LEN : 0;
    saratoga_node_config_init(&c);
    c.engine = &engine;
    c.host = "127.0.0.1";
    c.key = service == SARATOGA_SEALED ? key : NULL;
    c.key_len = service == SARATOGA_SEALED && key != NULL ? KEY_LEN : 0;
    assert_int_equal(saratoga_node_open(&node, &c, why), 0);
    tape_get(node, port, folder);
    for (int i = 0; i < PATIENCE && ev.type != SARATOGA_NODE_DONE; i++) {
        tape_forward(t);
        saratoga_node_run(node, 5);
        (void)saratoga_node_next_event(node, &ev);
    }
    assert_int_equal(ev.type, SARATOGA_NODE_DONE);
    saratoga_node_close(node);
    tape_wait(t);
}

void tape_record(struct tape *t, const struct server *s, enum service service,
                 const uint8_t *key, const char *folder) {
    struct sockaddr_in a;
    char port[8];

    *t = (struct tape){.server = s->at};
    t->back = tape_socket(&a);
    t->front = tape_socket(&a);
    (void)snprintf(port, sizeof(port), "%u", (unsigned)ntohs(a.sin_port));
    if (service <= TLTCP_KEYS) {
        tape_call_tltcp(t, port, key);
    } else {
        tape_call_saratoga(t, port, service, key, folder);
    }
    assert_true(t->n > 0);
}

void tape_close(struct tape *t) {
    (void)close(t->front);
    (void)close(t->back);
}

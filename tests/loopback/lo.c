/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/lo.h"

#include <stdio.h>
#include <stdlib.h>

static int set_up(void **state, const char *host, bool plain, bool no_gso) {
    struct lo *l = calloc(1, sizeof(*l));

    if (l == NULL || net_begin() != 0) {
        free(l);
        return -1;
    }
    tltcp_config_init(&l->config);
    l->config.io.batches = !plain;
    l->config.io.offload = !no_gso;
    l->host = host;
    *state = l;
    return 0;
}

int lo_ipv4(void **state) {
    return set_up(state, "127.0.0.1", false, false);
}

int lo_ipv6(void **state) {
    return set_up(state, "::1", false, false);
}

int lo_plain(void **state) {
    return set_up(state, "127.0.0.1", true, false);
}

int lo_no_gso(void **state) {
    return set_up(state, "127.0.0.1", false, true);
}

int lo_threads(void **state) {
    int rv = set_up(state, "127.0.0.1", false, false);

#if defined(__linux__)
    if (rv == 0) {
        ((struct lo *)*state)->config.io.threads = 3;
    }
#endif
    return rv;
}

int lo_teardown(void **state) {
    struct lo *l = *state;

    (void)tltcp_close(l->client, 0);
    (void)tltcp_close(l->server, 0);
    (void)tltcp_close(l->listener, 0);
    free(l);
    return 0;
}

bool lo_has_ipv6(void) {
    struct sockaddr_in6 a = {.sin6_family = AF_INET6,
                             .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    bool yes = fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0;

    if (fd >= 0) {
        close(fd);
    }
    return yes;
}

void lo_port(const tltcp_socket *s, char port[8]) {
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    unsigned n;

    assert_int_equal(tltcp_local_address(s, (struct sockaddr *)&sa, &len), 0);
    n = sa.ss_family == AF_INET6
            ? ntohs(((struct sockaddr_in6 *)&sa)->sin6_port)
            : ntohs(((struct sockaddr_in *)&sa)->sin_port);
    assert_int_not_equal(n, 0);
    snprintf(port, 8, "%u", n & 0xffffu);
}

void lo_listen(struct lo *l) {
    assert_int_equal(tltcp_listen(&l->listener, l->host, "0", &l->config), 0);
    lo_port(l->listener, l->port);
}

void lo_connect(struct lo *l) {
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, &l->config, LO_PATIENCE),
        0);
}

void lo_accept(struct lo *l) {
    assert_int_equal(tltcp_accept(l->listener, &l->server, LO_PATIENCE), 0);
}

void lo_pair(struct lo *l) {
    lo_listen(l);
    lo_connect(l);
    lo_accept(l);
}

static int poll_fd(int fd, int timeout) {
    struct pollfd p = {.fd = fd, .events = POLLIN};

    assert_true(fd >= 0);
    return poll(&p, 1, timeout);
}

void lo_poll(int fd) {
    assert_int_equal(poll_fd(fd, LO_PATIENCE), 1);
}

bool lo_ready(int fd) {
    return poll_fd(fd, 0) == 1;
}

struct sockaddr_in lo_address(const char *port) {
    struct sockaddr_in a = {.sin_family = AF_INET};

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    return a;
}

int lo_connect_tcp(const char *port, uint32_t host) {
    struct sockaddr_in to = lo_address(port);
    struct sockaddr_in from = lo_address("0");
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + host);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

void lo_expect_eof(int fd) {
    char in[256];
    ssize_t n;

    do {
        lo_poll(fd);
        n = recv(fd, in, sizeof(in), 0);
    } while (n > 0);
    close(fd);
}

ssize_t lo_send(tltcp_socket *s, const void *data, size_t len,
                tltcp_time deadline) {
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(tltcp_time))];
    } control;
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_TLTCP;
    c->cmsg_type = TL_DEADLINE;
    c->cmsg_len = CMSG_LEN(sizeof(deadline));
    memcpy(CMSG_DATA(c), &deadline, sizeof(deadline));
    return tltcp_sendmsg(s, &m, MSG_TL);
}

void lo_send_text(tltcp_socket *s, const char *text) {
    assert_int_equal(lo_send(s, text, strlen(text), TLTCP_TIME_NEVER),
                     strlen(text));
}

void lo_recv(tltcp_socket *s, struct lo_got *g, size_t pieces, int flags) {
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(LO_SEGMENTS * sizeof(struct tltcp_segment))];
    } control;
    struct iovec iov[LO_SEGMENTS];
    struct msghdr m = {.msg_iov = iov,
                       .msg_iovlen = pieces,
                       .msg_control = &control,
                       .msg_controllen =
                           CMSG_SPACE(pieces * sizeof(struct tltcp_segment))};

    memset(&control, 0, sizeof(control));
    memset(g, 0, offsetof(struct lo_got, room));
    for (size_t i = 0; i < pieces; i++) {
        g->data[i] = g->room + i * 2048;
        iov[i] = (struct iovec){.iov_base = g->data[i], .iov_len = 2048};
    }
    g->rv = tltcp_recvmsg(s, &m, flags | MSG_TL);
    if (g->rv < 0) {
        return;
    }
    g->pieces = m.msg_iovlen;
    g->flags = m.msg_flags;
    assert_int_equal(control.align.cmsg_level, SOL_TLTCP);
    assert_int_equal(control.align.cmsg_type, TL_SEGMENT);
    assert_int_equal(control.align.cmsg_len,
                     CMSG_LEN(g->pieces * sizeof(struct tltcp_segment)));
    memcpy(g->segment, CMSG_DATA(&control.align),
           g->pieces * sizeof(struct tltcp_segment));
    for (size_t i = 0; i < g->pieces; i++) {
        assert_ptr_equal(iov[i].iov_base, g->data[i]);
        g->len[i] = iov[i].iov_len;
    }
}

ssize_t lo_recv_plain(tltcp_socket *s, void *buf, size_t len, int flags) {
    struct iovec iov = {.iov_base = buf, .iov_len = len};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    return tltcp_recvmsg(s, &m, flags);
}

void lo_expect_text(tltcp_socket *s, const char *text) {
    struct lo_got *g = malloc(sizeof(*g));

    assert_non_null(g);
    lo_recv(s, g, 1, 0);
    assert_int_equal(g->rv, strlen(text));
    assert_int_equal(g->segment[0].kind, TL_DATA);
    assert_int_equal(g->segment[0].flags, TL_SECTION_START | TL_SECTION_END);
    assert_memory_equal(g->data[0], text, strlen(text));
    free(g);
}

void lo_expect_end(tltcp_socket *s) {
    char byte;

    assert_int_equal(lo_recv_plain(s, &byte, 1, 0), 0);
}

void lo_event(tltcp_socket *s, uint32_t type, tltcp_event *ev) {
    do {
        assert_int_equal(tltcp_next_event(s, ev, LO_PATIENCE), 1);
        assert_true(ev->type == type || ev->type != TLTCP_EVENT_CLOSED);
    } while (ev->type != type);
}

int lo_bind(struct sockaddr_in *a) {
    socklen_t len = sizeof(*a);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    memset(a, 0, sizeof(*a));
    a->sin_family = AF_INET;
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)a, sizeof(*a)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)a, &len), 0);
    return fd;
}

bool lo_can_bind(const char *ip) {
    struct sockaddr_in a = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    bool can = inet_pton(AF_INET, ip, &a.sin_addr) == 1 &&
               bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;

    assert_true(fd >= 0);
    close(fd);
    return can;
}

void lo_expect_refusal(struct lo *l, const char *reason) {
    char said[TLTCP_REASON_MAX + 1];
    assert_int_equal(tltcp_connect(&l->client, l->host, l->port, &l->config, 0),
                     0);
    assert_int_equal(tltcp_wait_connected(l->client, LO_PATIENCE),
                     TLTCP_ERR_REFUSED);
    assert_int_equal(tltcp_socket_error(l->client, said), TLTCP_ERR_REFUSED);
    assert_string_equal(said, reason);
}

void lo_fill(uint8_t *data, size_t len, uint64_t at) {
    for (size_t i = 0; i < len; i++) {
        data[i] = lo_byte(at + i);
    }
}

bool lo_matches(const uint8_t *data, size_t len, uint64_t at) {
    for (size_t i = 0; i < len; i++) {
        if (data[i] != lo_byte(at + i)) {
            return false;
        }
    }
    return true;
}

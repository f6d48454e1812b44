/* SPDX-License-Identifier: MPL-2.0 */
/* One stream to many viewers by TLTCP. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tltcp/socket.h>

#include "bench/common.h"
#include "bench/fanout.h"

#define PIECES 32u
#define PIECE ((size_t)64 * 1024)

static tltcp_socket *listener;
static tltcp_socket *peers[FANOUT_VIEWERS_MAX];
static struct pollfd polls[FANOUT_VIEWERS_MAX];
static unsigned n_peers;

static void fanout_check(int rv, const char *what) {
    if (rv < 0) {
        bench_fail(what, tltcp_strerror(rv));
    }
}

static void fanout_configure(tltcp_config *c, const struct fanout_options *o) {
    tltcp_config_init(c);
    c->latency_ms = o->latency_ms;
}

static void serve(const struct fanout_options *o) {
    tltcp_config c;
    char service[16];

    fanout_configure(&c, o);
    c.io.threads = (uint8_t)o->threads;
    (void)snprintf(service, sizeof(service), "%u", o->port);
    fanout_check(tltcp_listen(&listener, o->host, service, &c), "listen");
}

static unsigned fanout_accept(void) {
    while (n_peers < FANOUT_VIEWERS_MAX &&
           tltcp_accept(listener, &peers[n_peers], 0) == 0) {
        n_peers++;
    }
    return n_peers;
}

static void fanout_send(const uint8_t *frame, size_t len) {
    struct iovec iov = {.iov_base = (void *)(uintptr_t)frame, .iov_len = len};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    for (unsigned i = 0; i < n_peers; i++) {
        (void)tltcp_sendmsg(peers[i], &m, MSG_DONTWAIT);
    }
}

static void view(const struct fanout_options *o) {
    tltcp_config c;
    char service[16];

    fanout_configure(&c, o);
    (void)snprintf(service, sizeof(service), "%u", o->port);
    for (n_peers = 0; n_peers < o->viewers; n_peers++) {
        fanout_check(
            tltcp_connect(&peers[n_peers], o->host, service, &c, 10000),
            "connect");
        polls[n_peers] =
            (struct pollfd){.fd = tltcp_fd(peers[n_peers]), .events = POLLIN};
    }
}

static uint64_t data_in(const struct msghdr *m) {
    const struct cmsghdr *control = CMSG_FIRSTHDR(m);
    const struct tltcp_segment *s;
    uint64_t bytes = 0;

    for (size_t i = 0; control != NULL && i < m->msg_iovlen; i++) {
        s = (const struct tltcp_segment *)(const void *)CMSG_DATA(control) + i;
        bytes += s->kind == TL_DATA ? m->msg_iov[i].iov_len : 0;
    }
    return bytes;
}

static uint64_t take_all(tltcp_socket *s) {
    static uint8_t room[PIECES][PIECE];
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(PIECES * sizeof(struct tltcp_segment))];
    } control;
    struct iovec iov[PIECES];
    struct msghdr m;
    uint64_t bytes = 0;
    ssize_t n;

    do {
        m = (struct msghdr){.msg_iov = iov,
                            .msg_iovlen = PIECES,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
        for (unsigned i = 0; i < PIECES; i++) {
            iov[i] = (struct iovec){room[i], PIECE};
        }
        n = tltcp_recvmsg(s, &m, MSG_TL | MSG_DONTWAIT);
        bytes += n > 0 ? data_in(&m) : 0;
    } while (n > 0);
    return bytes;
}

static void receive(uint64_t *bytes) {
    if (poll(polls, n_peers, 20) <= 0) {
        return;
    }
    for (unsigned i = 0; i < n_peers; i++) {
        if (polls[i].revents != 0) {
            bytes[i] += take_all(peers[i]);
        }
    }
}

const struct fanout_ops fanout_tltcp = {.name = "tltcp",
                                        .serve = serve,
                                        .accept = fanout_accept,
                                        .send = fanout_send,
                                        .view = view,
                                        .receive = receive};

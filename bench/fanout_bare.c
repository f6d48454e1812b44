/* SPDX-License-Identifier: MPL-2.0 */
/* One stream to many viewers by bare UDP: the floor of any transport over it.
 * The server only sends, in as few calls as it may, and nothing is
 * acknowledged. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "bench/common.h"
#include "bench/fanout.h"

#define DATAGRAM ((size_t)1472)
#define TRAIN_NS UINT64_C(5000000) /* from one to the next */
#define SLOT 65536u

static int bare_fds[FANOUT_VIEWERS_MAX]; /* the server has one */
static struct sockaddr_in bare_peers[FANOUT_VIEWERS_MAX];
static struct pollfd bare_polls[FANOUT_VIEWERS_MAX];
static unsigned bare_count;
static size_t bare_train; /* bytes */

static int bare_open(const struct fanout_options *o, struct sockaddr_in *a) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

    *a = (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)o->port)};
    if (fd < 0 || inet_pton(AF_INET, o->host, &a->sin_addr) != 1) {
        bench_fail(o->host, "no socket, or no IPv4 address");
    }
    bench_widen_buffers(fd);
    return fd;
}

static void bare_serve(const struct fanout_options *o) {
    int segment = (int)DATAGRAM;
    struct sockaddr_in a;

    bare_train = o->train * DATAGRAM;
    bare_fds[0] = bare_open(o, &a);
    if (bind(bare_fds[0], (struct sockaddr *)&a, sizeof(a)) != 0 ||
        setsockopt(bare_fds[0], IPPROTO_UDP, UDP_SEGMENT, &segment,
                   sizeof(segment)) != 0) {
        bench_fail("bind", strerror(errno));
    }
}

/* Each viewer announces itself once. */
static unsigned bare_accept(void) {
    struct sockaddr_in *a = &bare_peers[bare_count];
    socklen_t len = sizeof(*a);
    char byte;

    while (bare_count < FANOUT_VIEWERS_MAX &&
           recvfrom(bare_fds[0], &byte, 1, 0, (struct sockaddr *)a, &len) > 0) {
        a = &bare_peers[++bare_count];
        len = sizeof(*a);
    }
    return bare_count;
}

/* One train to every viewer. */
static void send_trains(const uint8_t *from, size_t len) {
    static struct mmsghdr messages[FANOUT_VIEWERS_MAX];
    struct iovec iov = {.iov_base = (void *)(uintptr_t)from, .iov_len = len};
    unsigned sent = 0;
    int n = 1;

    for (unsigned i = 0; i < bare_count; i++) {
        messages[i].msg_hdr =
            (struct msghdr){.msg_name = &bare_peers[i],
                            .msg_namelen = sizeof(bare_peers[i]),
                            .msg_iov = &iov,
                            .msg_iovlen = 1};
    }
    while (sent < bare_count && n > 0) {
        n = sendmmsg(bare_fds[0], messages + sent, bare_count - sent, 0);
        sent += n > 0 ? (unsigned)n : 0;
    }
}

static void bare_send(const uint8_t *frame, size_t len) {
    uint64_t start = bench_now();

    for (size_t at = 0; at < len; at += bare_train) {
        fanout_sleep_until(start + at / bare_train * TRAIN_NS);
        send_trains(frame + at, len - at < bare_train ? len - at : bare_train);
    }
}

static void bare_view(const struct fanout_options *o) {
    struct sockaddr_in a;
    int on = 1;

    for (; bare_count < o->viewers; bare_count++) {
        int fd = bare_open(o, &a);

        (void)setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
        if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
            send(fd, "", 1, 0) != 1) {
            bench_fail("connect", strerror(errno));
        }
        bare_fds[bare_count] = fd;
        bare_polls[bare_count] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}

static void bare_receive(uint64_t *bytes) {
    static uint8_t room[SLOT];

    if (poll(bare_polls, bare_count, 20) <= 0) {
        return;
    }
    for (unsigned i = 0; i < bare_count; i++) {
        ssize_t n;

        while (bare_polls[i].revents != 0 &&
               (n = recv(bare_fds[i], room, sizeof(room), 0)) > 0) {
            bytes[i] += (uint64_t)n;
        }
    }
}

const struct fanout_ops fanout_bare = {.name = "bare",
                                       .serve = bare_serve,
                                       .accept = bare_accept,
                                       .send = bare_send,
                                       .view = bare_view,
                                       .receive = bare_receive};

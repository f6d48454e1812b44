/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Bare UDP as fast as the kernel accepts it: the upper limit of any protocol
 * over UDP.  Modes: "gso" (UDP_SEGMENT and UDP_GRO) and "mmsg" (sendmmsg and
 * recvmmsg, one datagram per message).  Mode "tcp": the kernel's TCP, CUBIC.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/common.h"

#define MESSAGES 64u
#define SLOT 65536u
#define TCP_CALL ((size_t)256 * 1024) /* bytes of a read or write */

struct raw {
    int fd;
    bool gso;
    uint8_t *room;
    struct mmsghdr msg[MESSAGES];
    struct iovec iov[MESSAGES];
};

static void set_up(struct raw *r, const struct bench_options *o) {
    bool tcp = strcmp(o->mode, "tcp") == 0;

    r->gso = strcmp(o->mode, "gso") == 0;
    r->fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    r->room = calloc(MESSAGES, SLOT);
    if (r->fd < 0 || r->room == NULL) {
        bench_fail("socket", strerror(errno));
    }
    if (!tcp) { /* which sizes its own */
        bench_widen_buffers(r->fd);
    } else if (setsockopt(r->fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) !=
               0) {
        bench_fail("cubic", strerror(errno));
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        r->iov[i].iov_base = r->room + (size_t)i * SLOT;
        r->iov[i].iov_len = SLOT;
        r->msg[i].msg_hdr.msg_iov = &r->iov[i];
        r->msg[i].msg_hdr.msg_iovlen = 1;
    }
}

/* Binds, listens if it is a TCP socket, and says its port. */
static void raw_bind(const struct raw *r, bool listens) {
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof(a);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(r->fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        getsockname(r->fd, (struct sockaddr *)&a, &len) != 0) {
        bench_fail("bind", strerror(errno));
    }
    if (listens && listen(r->fd, 1) != 0) {
        bench_fail("listen", strerror(errno));
    }
    bench_say_port(ntohs(a.sin_port));
}

/* Receives from the first datagram until one of a single byte, or silence. */
static void raw_receive(struct raw *r, const struct bench_options *o) {
    struct timeval patience = {.tv_sec = 5};
    int on = r->gso;
    uint64_t bytes = 0;
    uint64_t start = 0;
    double cpu = 0;
    bool last = false;

    (void)setsockopt(r->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
    (void)setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
                     sizeof(patience));
    raw_bind(r, false);
    while (!last) {
        int n = recvmmsg(r->fd, r->msg, r->gso ? 16 : MESSAGES, MSG_WAITFORONE,
                         NULL);

        if (n <= 0) {
            break;
        }
        if (start == 0) {
            start = bench_now();
            cpu = bench_cpu();
        }
        for (int i = 0; i < n; i++) {
            bytes += r->msg[i].msg_len;
            last = last || r->msg[i].msg_len == 1;
        }
    }
    bench_report(o, bytes, start, cpu);
}

static void say_end(const struct raw *r) {
    const struct timespec pause = {.tv_nsec = 20000000};

    for (int i = 0; i < 10; i++) { /* some may be lost in a full buffer */
        (void)send(r->fd, "", 1, 0);
        (void)nanosleep(&pause, NULL);
    }
}

static void raw_connect(const struct raw *r, const struct bench_options *o) {
    struct sockaddr_in a = {.sin_family = AF_INET};

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons((uint16_t)strtoul(o->port, NULL, 10));
    if (connect(r->fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
        bench_fail("connect", strerror(errno));
    }
}

static void raw_transmit(struct raw *r, const struct bench_options *o) {
    int segment = (int)o->datagram;
    unsigned per_call = r->gso ? 1 : MESSAGES;
    size_t len = r->gso ? 65000u / o->datagram * o->datagram : o->datagram;
    uint64_t bytes = 0;
    uint64_t start = bench_now();
    double cpu = bench_cpu();

    raw_connect(r, o);
    if (r->gso && setsockopt(r->fd, IPPROTO_UDP, UDP_SEGMENT, &segment,
                             sizeof(segment)) != 0) {
        bench_fail("UDP_SEGMENT", strerror(errno));
    }
    for (unsigned i = 0; i < per_call; i++) {
        r->iov[i].iov_len = len;
    }
    while ((double)(bench_now() - start) < o->seconds * 1e9) {
        int n = sendmmsg(r->fd, r->msg, per_call, 0);
        bytes += n > 0 ? (uint64_t)n * len : 0;
    }
    bench_report(o, bytes, start, cpu);
    say_end(r);
}

static void tcp_receive(struct raw *r, const struct bench_options *o) {
    uint64_t bytes = 0;
    uint64_t start;
    double cpu;
    ssize_t n;
    int fd;

    raw_bind(r, true);
    fd = accept(r->fd, NULL, NULL);
    if (fd < 0) {
        bench_fail("accept", strerror(errno));
    }
    start = bench_now();
    cpu = bench_cpu();
    while ((n = read(fd, r->room, TCP_CALL)) > 0) {
        bytes += (uint64_t)n;
    }
    bench_report(o, bytes, start, cpu);
    close(fd);
}

static void tcp_transmit(struct raw *r, const struct bench_options *o) {
    uint64_t bytes = 0;
    uint64_t start;
    double cpu;

    raw_connect(r, o);
    start = bench_now();
    cpu = bench_cpu();
    while ((double)(bench_now() - start) < o->seconds * 1e9) {
        ssize_t n = write(r->fd, r->room, TCP_CALL);
        bytes += n > 0 ? (uint64_t)n : 0;
    }
    bench_report(o, bytes, start, cpu);
}

int main(int argc, char **argv) {
    struct bench_options o;
    struct raw r;

    memset(&r, 0, sizeof(r));
    bench_parse(&o, argc, argv);
    set_up(&r, &o);
    if (strcmp(o.mode, "tcp") == 0) {
        (strcmp(o.role, "recv") == 0 ? tcp_receive : tcp_transmit)(&r, &o);
    } else {
        (strcmp(o.role, "recv") == 0 ? raw_receive : raw_transmit)(&r, &o);
    }
    close(r.fd);
    free(r.room);
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Bulk data over one TLTCP connection through the socket API.  Modes: "gso",
 * "mmsg" (no segmentation offload) and "uv" (uv_udp), each also with the suffix
 * "-sealed".
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <tltcp/socket.h>

#include "bench/common.h"

#define SECTION ((size_t)64 * 1024)
#define SECTIONS 8u
#define TIMEOUT_MS 10000

static void bulk_check(int rv, const char *what) {
    if (rv < 0) {
        bench_fail(what, tltcp_strerror(rv));
    }
}

static void bulk_configure(tltcp_config *c, const struct bench_options *o) {
    tltcp_config_init(c);
    c->io.offload = strncmp(o->mode, "mmsg", 4) != 0;
    c->io.batches = strncmp(o->mode, "uv", 2) != 0;
    if (strstr(o->mode, "-sealed") != NULL) {
        c->passphrase = "of the benchmark";
    }
    c->packets.max_datagram = o->datagram;
    c->packets.base_datagram = o->datagram;
    c->max_rate = (uint64_t)(o->mbps * 1e6);
    /* What is queued beyond the need of the path only leaves the caches. */
    c->send_buffer = (size_t)2 << 20;
    c->recv_buffer = (size_t)16 << 20;
}

static unsigned port_of(const tltcp_socket *s) {
    struct sockaddr_in a;
    socklen_t len = sizeof(a);

    bulk_check(tltcp_local_address(s, (struct sockaddr *)&a, &len), "address");
    return ntohs(a.sin_port);
}

static ssize_t receive_some(tltcp_socket *s, uint8_t *room) {
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(SECTIONS * sizeof(struct tltcp_segment))];
    } control;
    struct iovec iov[SECTIONS];
    struct msghdr m = {.msg_iov = iov,
                       .msg_iovlen = SECTIONS,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};

    for (unsigned i = 0; i < SECTIONS; i++) {
        iov[i].iov_base = room + i * SECTION;
        iov[i].iov_len = SECTION;
    }
    return tltcp_recvmsg(s, &m, MSG_TL);
}

static void bulk_receive(const struct bench_options *o, const tltcp_config *c,
                         uint8_t *room) {
    tltcp_socket *listener;
    tltcp_socket *s;
    uint64_t bytes = 0;
    uint64_t start = 0;
    double cpu = 0;
    ssize_t n;

    bulk_check(tltcp_listen(&listener, "127.0.0.1", "0", c), "listen");
    bench_say_port(port_of(listener));
    bulk_check(tltcp_accept(listener, &s, TIMEOUT_MS), "accept");
    while ((n = receive_some(s, room)) > 0) {
        if (start == 0) {
            start = bench_now();
            cpu = bench_cpu();
        }
        bytes += (uint64_t)n;
    }
    bulk_check((int)n, "receive");
    bench_report(o, bytes, start, cpu);
    (void)tltcp_close(s, 0);
    (void)tltcp_close(listener, 0);
}

static void bulk_transmit(const struct bench_options *o, const tltcp_config *c,
                          uint8_t *room) {
    struct iovec iov[SECTIONS];
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = SECTIONS};
    tltcp_socket *s;
    uint64_t bytes = 0;
    uint64_t start;
    double cpu;

    for (unsigned i = 0; i < SECTIONS; i++) {
        iov[i].iov_base = room + i * SECTION;
        iov[i].iov_len = SECTION;
    }
    bulk_check(tltcp_connect(&s, "127.0.0.1", o->port, c, TIMEOUT_MS),
               "connect");
    start = bench_now();
    cpu = bench_cpu();
    while ((double)(bench_now() - start) < o->seconds * 1e9) {
        ssize_t n = tltcp_sendmsg(s, &m, 0);
        bulk_check((int)n, "send");
        bytes += (uint64_t)n;
    }
    bulk_check(tltcp_close(s, TIMEOUT_MS), "close");
    bench_report(o, bytes, start, cpu);
}

int main(int argc, char **argv) {
    struct bench_options o;
    tltcp_config c;
    uint8_t *room = calloc(SECTIONS, SECTION);

    bench_parse(&o, argc, argv);
    bulk_configure(&c, &o);
    if (room == NULL) {
        bench_fail("memory", "exhausted");
    } else if (strcmp(o.role, "recv") == 0) {
        bulk_receive(&o, &c, room);
    } else {
        bulk_transmit(&o, &c, room);
    }
    free(room);
    return 0;
}

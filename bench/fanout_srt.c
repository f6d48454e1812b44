/* SPDX-License-Identifier: MPL-2.0 */
/* One stream to many viewers by SRT. */
#include <arpa/inet.h>
#include <srt/srt.h>

#include "bench/common.h"
#include "bench/fanout.h"

static SRTSOCKET srt_listener;
static SRTSOCKET srt_peers[FANOUT_VIEWERS_MAX];
static unsigned srt_count;
static int srt_poll;

static void srt_check(int rv, const char *what) {
    if (rv == SRT_ERROR) {
        bench_fail(what, srt_getlasterror_str());
    }
}

static SRTSOCKET srt_open(const struct fanout_options *o,
                          struct sockaddr_in *a) {
    SRTSOCKET s = srt_create_socket();
    int latency = (int)o->latency_ms;

    *a = (struct sockaddr_in){.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)o->port)};
    if (inet_pton(AF_INET, o->host, &a->sin_addr) != 1) {
        bench_fail(o->host, "no IPv4 address");
    }
    srt_check(srt_setsockflag(s, SRTO_LATENCY, &latency, sizeof(latency)),
              "latency");
    return s;
}

/* Neither end waits for the other. */
static void srt_unblock(SRTSOCKET s) {
    int no = 0;

    srt_check(srt_setsockflag(s, SRTO_RCVSYN, &no, sizeof(no)), "socket");
    srt_check(srt_setsockflag(s, SRTO_SNDSYN, &no, sizeof(no)), "socket");
}

static void srt_serve(const struct fanout_options *o) {
    struct sockaddr_in a;

    srt_check(srt_startup(), "SRT");
    srt_listener = srt_open(o, &a);
    srt_check(srt_bind(srt_listener, (struct sockaddr *)&a, sizeof(a)), "bind");
    srt_unblock(srt_listener);
    srt_check(srt_listen(srt_listener, (int)FANOUT_VIEWERS_MAX), "listen");
}

static unsigned srt_accept_all(void) {
    SRTSOCKET s;

    while (srt_count < FANOUT_VIEWERS_MAX &&
           (s = srt_accept(srt_listener, NULL, NULL)) != SRT_INVALID_SOCK) {
        srt_unblock(s);
        srt_peers[srt_count++] = s;
    }
    return srt_count;
}

static void srt_send_frame(const uint8_t *frame, size_t len) {
    for (unsigned i = 0; i < srt_count; i++) {
        for (size_t at = 0; at < len; at += FANOUT_CHUNK) {
            (void)srt_sendmsg2(srt_peers[i], (const char *)frame + at,
                               (int)FANOUT_CHUNK, NULL);
        }
    }
}

static void srt_view(const struct fanout_options *o) {
    const int events = SRT_EPOLL_IN;
    struct sockaddr_in a;

    srt_check(srt_startup(), "SRT");
    srt_poll = srt_epoll_create();
    srt_check(srt_poll, "epoll");
    for (; srt_count < o->viewers; srt_count++) {
        SRTSOCKET s = srt_open(o, &a);
        srt_check(srt_connect(s, (struct sockaddr *)&a, sizeof(a)), "connect");
        srt_unblock(s);
        srt_check(srt_epoll_add_usock(srt_poll, s, &events), "epoll");
        srt_peers[srt_count] = s;
    }
}

static void srt_receive(uint64_t *bytes) {
    static SRTSOCKET ready[FANOUT_VIEWERS_MAX];
    char room[1500];
    int n = (int)FANOUT_VIEWERS_MAX;

    if (srt_epoll_wait(srt_poll, ready, &n, NULL, NULL, 20, NULL, NULL, NULL,
                       NULL) <= 0) {
        return;
    }
    for (unsigned i = 0; i < srt_count; i++) {
        int len;
        for (int k = 0; k < n; k++) {
            if (ready[k] != srt_peers[i]) {
                continue;
            }
            while ((len = srt_recvmsg(srt_peers[i], room, sizeof(room))) > 0) {
                bytes[i] += (uint64_t)len;
            }
        }
    }
}

const struct fanout_ops fanout_srt = {.name = "srt",
                                      .serve = srt_serve,
                                      .accept = srt_accept_all,
                                      .send = srt_send_frame,
                                      .view = srt_view,
                                      .receive = srt_receive};

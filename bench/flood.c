/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A live stream into a listener under a flood of datagrams. The modes are
 * floods: "junk" (random bytes), "guesses" (data for connections that do not
 * exist), "calls" (with the right key, from addresses that never answer) and
 * "tokens" (the same with a fresh token of another listener).
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tltcp/conn.h>
#include <tltcp/socket.h>

#include "bench/common.h"

#define STRANGERS 16u
#define DATAGRAMS 64u /* per system call */
#define ROOM 1400u
#define FRAME 20000u /* 4 Mbit/s */
#define FRAMES_PER_S 25u
#define LATENCY_MS 300
#define TIMEOUT_MS 10000

static const uint8_t key[32] = {1, 2, 3};

struct flood {
    const struct bench_options *o;
    struct sockaddr_in to;
    uint8_t data[DATAGRAMS][ROOM];
    size_t len[DATAGRAMS];
    uint64_t sent;
    atomic_bool stop;
};

static void flood_check(int rv, const char *what) {
    if (rv < 0) {
        bench_fail(what, tltcp_strerror(rv));
    }
}

static void flood_configure(tltcp_config *c) {
    tltcp_config_init(c);
    c->key = key;
    c->key_len = sizeof(key);
    c->latency_ms = LATENCY_MS;
}

/* --- The flood ----------------------------------------------------------- */

static size_t hello(tltcp_conn *conn, uint8_t *data) {
    tltcp_pktinfo info;
    size_t segment;

    return tltcp_conn_send(conn, &info, data, ROOM, &segment, tltcp_now());
}

/* Gets a token from another listener. */
static void get_token(tltcp_conn *conn, const uint8_t *data, size_t len) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {3};
    const tltcp_pktinfo info = {.path = 1};
    tltcp_endpoint *other;
    tltcp_dispatch d;
    tltcp_config c;

    flood_configure(&c);
    c.listener.always_retry = true;
    flood_check(tltcp_endpoint_new(&other, &c, seed, tltcp_now()), "listener");
    if (tltcp_endpoint_recv(other, &info, data, len, &d, tltcp_now()) !=
        TLTCP_REPLY) {
        bench_fail("token", "none was given");
    }
    (void)tltcp_conn_recv(conn, &info, d.reply, d.reply_len, tltcp_now());
    tltcp_endpoint_free(other);
}

static size_t make_call(uint8_t *data, unsigned i, bool token) {
    uint8_t seed[TLTCP_SEED_LEN] = {(uint8_t)i, 1};
    tltcp_config c;
    tltcp_conn *conn;
    size_t len;

    flood_configure(&c);
    c.packets.max_datagram = 1200;
    flood_check(tltcp_conn_new(&conn, &c, seed, 1, tltcp_now()), "call");
    len = hello(conn, data);
    if (token) {
        get_token(conn, data, len);
        len = hello(conn, data);
    }
    tltcp_conn_free(conn);
    return len;
}

static void make_datagrams(struct flood *f) {
    bool tokens = strcmp(f->o->mode, "tokens") == 0;
    bool calls = tokens || strcmp(f->o->mode, "calls") == 0;
    bool guesses = strcmp(f->o->mode, "guesses") == 0;

    for (unsigned i = 0; i < DATAGRAMS; i++) {
        for (size_t k = 0; k < ROOM; k++) {
            f->data[i][k] = (uint8_t)random();
        }
        f->len[i] = guesses ? ROOM : 1 + (size_t)random() % ROOM;
        f->data[i][0] = guesses ? 0x50 : f->data[i][0]; /* SHORT */
        if (calls) {
            f->len[i] = make_call(f->data[i], i, tokens);
        }
    }
}

static int stranger(uint32_t i) {
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_addr.s_addr =
                                      htonl(INADDR_LOOPBACK + 1 + i)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) != 0) {
        bench_fail("socket", "cannot bind to 127.0.0.x");
    }
    return fd;
}

/* Sends each batch from another address, at the given rate. */
static void *run_flood(void *arg) {
    struct flood *f = arg;
    struct mmsghdr m[DATAGRAMS] = {0};
    struct iovec iov[DATAGRAMS];
    uint64_t start = bench_now();
    int fd[STRANGERS];

    for (uint32_t i = 0; i < STRANGERS; i++) {
        fd[i] = stranger(i);
    }
    for (unsigned i = 0; i < DATAGRAMS; i++) {
        iov[i] = (struct iovec){f->data[i], f->len[i]};
        m[i].msg_hdr = (struct msghdr){.msg_name = &f->to,
                                       .msg_namelen = sizeof(f->to),
                                       .msg_iov = &iov[i],
                                       .msg_iovlen = 1};
    }
    for (unsigned turn = 0; !atomic_load(&f->stop); turn++) {
        double due = (double)(bench_now() - start) * f->o->rate / 1e9;
        if ((double)f->sent + DATAGRAMS > due) {
            usleep(200);
            continue;
        }
        int n = sendmmsg(fd[turn % STRANGERS], m, DATAGRAMS, 0);
        f->sent += n > 0 ? (uint64_t)n : 0;
    }
    for (uint32_t i = 0; i < STRANGERS; i++) {
        close(fd[i]);
    }
    return NULL;
}

/* --- The stream ---------------------------------------------------------- */

static void stream(const struct bench_options *o) {
    static uint8_t frame[FRAME];
    struct iovec iov = {.iov_base = frame, .iov_len = FRAME};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    uint64_t start = bench_now();
    uint64_t frames = (uint64_t)(o->seconds * FRAMES_PER_S);
    tltcp_socket *s;
    tltcp_config c;

    flood_configure(&c);
    flood_check(tltcp_connect(&s, "127.0.0.1", o->port, &c, TIMEOUT_MS),
                "connect");
    for (uint64_t i = 0; i < frames; i++) {
        while (bench_now() - start < i * 1000000000 / FRAMES_PER_S) {
            usleep(1000);
        }
        flood_check((int)tltcp_sendmsg(s, &m, 0), "send");
    }
    (void)tltcp_close(s, TIMEOUT_MS);
}

static void flood_transmit(const struct bench_options *o) {
    static struct flood f;
    pthread_t thread;

    f.o = o;
    f.to = (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port =
                                    htons((uint16_t)strtoul(o->port, NULL, 10)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    make_datagrams(&f);
    if (pthread_create(&thread, NULL, run_flood, &f) != 0) {
        bench_fail("thread", "cannot start");
    }
    stream(o);
    atomic_store(&f.stop, true);
    (void)pthread_join(thread, NULL);
    printf("{\"sent\":%llu}\n", (unsigned long long)f.sent);
}

/* Reads to the end; returns the gaps. */
static uint64_t flood_read_all(tltcp_socket *s) {
    static uint8_t room[65536];
    struct iovec iov = {.iov_base = room, .iov_len = sizeof(room)};
    uint64_t gaps = 0;
    ssize_t n;

    do {
        struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
        iov.iov_len = sizeof(room);
        n = tltcp_recvmsg(s, &m, 0);
        gaps += n == TLTCP_ERR_GAP;
    } while (n > 0 || n == TLTCP_ERR_GAP);
    flood_check((int)n, "receive");
    return gaps;
}

static void flood_receive(void) {
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    tltcp_socket *listener;
    tltcp_socket *s;
    tltcp_config c;
    tltcp_stats st;
    uint64_t start;
    uint64_t gaps;
    double cpu;

    flood_configure(&c);
    flood_check(tltcp_listen(&listener, "127.0.0.1", "0", &c), "listen");
    flood_check(tltcp_local_address(listener, (struct sockaddr *)&a, &len),
                "address");
    bench_say_port(ntohs(a.sin_port));
    flood_check(tltcp_accept(listener, &s, TIMEOUT_MS), "accept");
    start = bench_now();
    cpu = bench_cpu();
    gaps = flood_read_all(s);
    tltcp_stats_init(&st);
    flood_check(tltcp_get_stats(listener, &st), "statistics");
    printf("{\"hostile\":%llu,\"gaps\":%llu,\"sections\":%llu,"
           "\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n",
           (unsigned long long)(st.packets_dropped + st.callers_rejected +
                                st.callers_turned_away + st.callers_retried),
           (unsigned long long)gaps, (unsigned long long)st.sections_complete,
           (double)(bench_now() - start) / 1e9, bench_cpu() - cpu);
    (void)tltcp_close(s, 0);
    (void)tltcp_close(listener, 0);
}

int main(int argc, char **argv) {
    struct bench_options o;

    bench_parse(&o, argc, argv);
    if (strcmp(o.role, "recv") == 0) {
        flood_receive();
    } else {
        flood_transmit(&o);
    }
    return 0;
}

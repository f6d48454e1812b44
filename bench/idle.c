/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Cost of idle connections at a listener. `recv` is the listener: it accepts
 * --connections connections, measures for --seconds while there are only
 * keep-alives, and reports. `send` makes the calls with bare engines on one
 * epoll descriptor, and keeps them open until the listener ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <tltcp/conn.h>
#include <tltcp/socket.h>

#include "bench/common.h"

#define TIMEOUT_MS 30000
#define AT_ONCE 64u /* concurrent handshakes */
#define TICK_MS 50
#define DATAGRAM 2048u

static void idle_check(int rv, const char *what) {
    if (rv < 0) {
        bench_fail(what, tltcp_strerror(rv));
    }
}

/* --- The listener -------------------------------------------------------- */

static void wait_for(double seconds) {
    struct timespec t = {.tv_sec = (time_t)seconds};

    (void)nanosleep(&t, NULL);
}

static void listen_idle(const struct bench_options *o) {
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are wanted */
    tltcp_socket **all = calloc(o->connections, sizeof(*all));
    tltcp_socket *listener;
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    double empty;
    double full;
    double cpu;

    if (all == NULL) {
        bench_fail("memory", "exhausted");
        return;
    }
    idle_check(tltcp_listen(&listener, "127.0.0.1", "0", NULL), "listen");
    idle_check(tltcp_local_address(listener, (struct sockaddr *)&a, &len),
               "address");
    empty = bench_resident();
    bench_say_port(ntohs(a.sin_port));
    for (unsigned i = 0; i < o->connections; i++) {
        idle_check(tltcp_accept(listener, &all[i], TIMEOUT_MS), "accept");
    }
    wait_for(1); /* lets the last handshakes finish */
    full = bench_resident();
    cpu = bench_cpu();
    wait_for(o->seconds);
    printf("{\"role\":\"recv\",\"mode\":\"idle\",\"connections\":%u,"
           "\"bytes_each\":%.0f,\"core_share\":%.5f}\n",
           o->connections, (full - empty) / o->connections,
           (bench_cpu() - cpu) / o->seconds);
    fflush(stdout);
    for (unsigned i = 0; i < o->connections; i++) {
        (void)tltcp_close(all[i], 0);
    }
    (void)tltcp_close(listener, 0);
    free(all);
}

/* --- The callers --------------------------------------------------------- */

struct caller {
    tltcp_conn *conn;
    int fd;
    bool connected;
    bool over;
};

static void pump(struct caller *c) {
    uint8_t buf[DATAGRAM];
    tltcp_pktinfo info;
    tltcp_event ev;
    size_t segment;
    size_t len;

    while ((len = tltcp_conn_send(c->conn, &info, buf, sizeof(buf), &segment,
                                  bench_now())) > 0) {
        (void)send(c->fd, buf, len, MSG_DONTWAIT);
    }
    while (tltcp_conn_next_event(c->conn, &ev) > 0) {
        c->connected = c->connected || ev.type == TLTCP_EVENT_CONNECTED;
        c->over = c->over || ev.type == TLTCP_EVENT_CLOSED;
    }
}

static void idle_receive(struct caller *c) {
    uint8_t buf[DATAGRAM];
    tltcp_pktinfo info = {.path = 1};
    ssize_t n;

    while ((n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
        (void)tltcp_conn_recv(c->conn, &info, buf, (size_t)n, bench_now());
    }
    c->over = c->over || (n < 0 && errno == ECONNREFUSED);
    pump(c);
}

static void begin(struct caller *c, const struct bench_options *o, int epoll,
                  uint32_t number) {
    struct sockaddr_in a = {.sin_family = AF_INET};
    struct epoll_event e = {.events = EPOLLIN, .data = {.u32 = number}};
    uint8_t seed[TLTCP_SEED_LEN] = {0};
    tltcp_config config;

    tltcp_config_init(&config);
    config.connect_timeout_ms = TIMEOUT_MS;
    config.packets.max_datagram =
        config.packets.base_datagram; /* no MTU probing */
    memcpy(seed, &number, sizeof(number));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons((uint16_t)strtoul(o->port, NULL, 10));
    c->fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e) != 0) {
        bench_fail("socket", strerror(errno));
    }
    idle_check(tltcp_conn_new(&c->conn, &config, seed, 1, bench_now()),
               "caller");
    pump(c);
}

/* Runs due timers; returns how many are not connected yet. */
static unsigned tick(struct caller *all, unsigned count, unsigned *over) {
    uint64_t now = bench_now();
    unsigned waiting = 0;

    *over = 0;
    for (unsigned i = 0; i < count; i++) {
        if (tltcp_conn_timeout(all[i].conn) <= now) {
            tltcp_conn_on_timeout(all[i].conn, now);
            pump(&all[i]);
        }
        waiting += !all[i].connected;
        *over += all[i].over;
    }
    return waiting;
}

static void call_idle(const struct bench_options *o) {
    struct caller *all = calloc(o->connections, sizeof(*all));
    struct epoll_event events[256];
    int epoll = epoll_create1(0);
    unsigned begun = 0;
    unsigned over = 0;

    if (all == NULL || epoll < 0) {
        free(all);
        bench_fail("memory", "exhausted");
        return;
    }
    while (over == 0) {
        unsigned waiting = tick(all, begun, &over);
        int n;

        for (; begun < o->connections && waiting < AT_ONCE; waiting++) {
            begin(&all[begun], o, epoll, begun);
            begun++;
        }
        n = epoll_wait(epoll, events, 256,
                       begun < o->connections ? 1 : TICK_MS);
        for (int i = 0; i < n; i++) {
            idle_receive(&all[events[i].data.u32]);
        }
    }
    for (unsigned i = 0; i < begun; i++) {
        tltcp_conn_free(all[i].conn);
        close(all[i].fd);
    }
    close(epoll);
    free(all);
}

int main(int argc, char **argv) {
    struct bench_options o;
    struct rlimit files;

    bench_parse(&o, argc, argv);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    if (strcmp(o.role, "recv") == 0) {
        listen_idle(&o);
    } else {
        call_idle(&o);
    }
    return 0;
}

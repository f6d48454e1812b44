/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Cost of handshakes and of idle connections at a listener. `recv` is the
 * listener: it accepts --connections connections, measures for --seconds while
 * there are only keep-alives, and reports. `send` makes the calls with bare
 * engines on one epoll descriptor, and keeps them open until the listener ends;
 * several of them with different --first make more calls than one process may
 * have descriptors. --mode idle-sealed uses a key.
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
#define PORTS 20000u /* callers of one local address */
#define FILES 64u    /* descriptors beside those of callers */
#define MEMORY_EACH ((uint64_t)32 * 1024)

static const uint8_t idle_key[32] = {1};

static void idle_check(int rv, const char *what) {
    if (rv < 0) {
        bench_fail(what, tltcp_strerror(rv));
    }
}

static void idle_configure(tltcp_config *c, const struct bench_options *o) {
    tltcp_config_init(c);
    if (strcmp(o->mode, "idle-sealed") == 0) {
        c->key = idle_key;
        c->key_len = sizeof(idle_key);
    }
}

/* --- The listener -------------------------------------------------------- */

static void idle_listen(tltcp_socket **listener,
                        const struct bench_options *o) {
    tltcp_config c;

    idle_configure(&c, o);
    c.listener.max_connections = o->connections + AT_ONCE;
    c.listener.max_per_address = c.listener.max_connections;
    if (c.listener.max_memory < 4 * MEMORY_EACH * o->connections) {
        c.listener.max_memory = 4 * MEMORY_EACH * o->connections;
    }
    idle_check(tltcp_listen(listener, "127.0.0.1", "0", &c), "listen");
}

struct handshakes {
    double seconds; /* from the first to the last */
    double cpu;     /* of the listener */
};

static struct handshakes accept_all(tltcp_socket *listener, tltcp_socket **all,
                                    unsigned count) {
    struct handshakes h = {0};
    uint64_t start = 0;

    for (unsigned i = 0; i < count; i++) {
        idle_check(tltcp_accept(listener, &all[i], TIMEOUT_MS), "accept");
        if (i == 0) {
            start = bench_now();
            h.cpu = bench_cpu();
        }
    }
    h.seconds = (double)(bench_now() - start) / 1e9;
    h.cpu = bench_cpu() - h.cpu;
    return h;
}

static void wait_for(double seconds) {
    time_t whole = (time_t)seconds;
    struct timespec t = {.tv_sec = whole,
                         .tv_nsec = (long)((seconds - (double)whole) * 1e9)};

    (void)nanosleep(&t, NULL);
}

static void listen_idle(const struct bench_options *o) {
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are wanted */
    tltcp_socket **all = calloc(o->connections, sizeof(*all));
    tltcp_socket *listener;
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    struct handshakes h;
    double empty;
    double full;
    double cpu;

    if (all == NULL) {
        bench_fail("memory", "exhausted");
        return;
    }
    idle_listen(&listener, o);
    idle_check(tltcp_local_address(listener, (struct sockaddr *)&a, &len),
               "address");
    empty = bench_resident();
    bench_say_port(ntohs(a.sin_port));
    h = accept_all(listener, all, o->connections);
    wait_for(1); /* lets the last handshakes finish */
    cpu = bench_cpu();
    wait_for(o->seconds);
    full = bench_resident(); /* keep-alives have given memory back */
    printf("{\"role\":\"recv\",\"mode\":\"%s\",\"connections\":%u,"
           "\"bytes_each\":%.0f,\"core_share\":%.5f,"
           "\"handshakes_per_second\":%.0f,"
           "\"handshake_cpu_us\":%.2f}\n",
           o->mode, o->connections, (full - empty) / o->connections,
           (bench_cpu() - cpu) / o->seconds, (o->connections - 1) / h.seconds,
           h.cpu * 1e6 / (o->connections - 1));
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
                  uint32_t at) {
    uint32_t number = o->first + at;
    struct sockaddr_in a = {.sin_family = AF_INET};
    struct epoll_event e = {.events = EPOLLIN, .data = {.u32 = at}};
    struct sockaddr_in own = {.sin_family = AF_INET};
    uint8_t seed[TLTCP_SEED_LEN] = {0};
    tltcp_config config;

    idle_configure(&config, o);
    config.connect_timeout_ms = TIMEOUT_MS;
    config.packets.max_datagram =
        config.packets.base_datagram; /* no MTU probing */
    memcpy(seed, &number, sizeof(number));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons((uint16_t)strtoul(o->port, NULL, 10));
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + number / PORTS);
    c->fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (c->fd < 0 || bind(c->fd, (struct sockaddr *)&own, sizeof(own)) != 0 ||
        connect(c->fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e) != 0) {
        bench_fail("socket", strerror(errno));
    }
    idle_check(tltcp_conn_new(&c->conn, &config, seed, 1, bench_now()),
               "caller");
    pump(c);
}

/* Runs due timers of callers [first, count); returns how many are not connected
 * yet. */
static unsigned tick(struct caller *all, unsigned first, unsigned count,
                     unsigned *over) {
    uint64_t now = bench_now();
    unsigned waiting = 0;

    *over = 0;
    for (unsigned i = first; i < count; i++) {
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
    unsigned connected = 0; /* of the first ones */
    unsigned over = 0;
    uint64_t swept = bench_now();

    if (all == NULL || epoll < 0) {
        free(all);
        bench_fail("memory", "exhausted");
        return;
    }
    while (over == 0) {
        bool sweep = bench_now() - swept > TICK_MS * UINT64_C(1000000);
        unsigned waiting = tick(all, sweep ? 0 : connected, begun, &over);
        int n;

        swept = sweep ? bench_now() : swept;
        while (connected < begun && all[connected].connected) {
            connected++;
        }
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

/* Beyond the hard limit only with privileges. */
static void allow_files(rlim_t count) {
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = count;
        files.rlim_max = count > files.rlim_max ? count : files.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
            (void)getrlimit(RLIMIT_NOFILE, &files);
            files.rlim_cur = files.rlim_max;
            (void)setrlimit(RLIMIT_NOFILE, &files);
        }
    }
}

int main(int argc, char **argv) {
    struct bench_options o;

    bench_parse(&o, argc, argv);
    allow_files(o.connections + FILES);
    if (strcmp(o.role, "recv") == 0) {
        listen_idle(&o);
    } else {
        call_idle(&o);
    }
    return 0;
}

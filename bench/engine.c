/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Cost of the engine without kernel and threads: one connection, both ends in
 * this process, virtual time, datagrams passed in memory. Modes: "plain" and
 * "sealed". Prints the processor time per gigabyte at each end, median and
 * minimum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tltcp/burst.h>

#include "bench/common.h"

#define SECTION ((size_t)64 * 1024)
#define BURST ((size_t)65000)
/* Slices are measured one by one, so that other load on the machine disturbs
 * only some. */
#define SLICE ((uint64_t)4 << 20)
#define SLICES_MAX 4096u
#define WARM_SLICES 16
#define HOP (10 * TLTCP_US)
#define SERVER 1u
#define CLIENT 2u

struct end {
    tltcp_conn *conn;
    double cpu; /* seconds spent in the engine */
};

/* Seconds per gigabyte. */
struct cost {
    double send;
    double recv;
};

struct bench {
    struct end client;
    struct end server;
    tltcp_endpoint *listener;
    uint8_t *section;
    uint8_t *burst;
    tltcp_time now;
    uint64_t bytes;
};

static double cpu_now(void) {
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void engine_check(int rv, const char *what) {
    if (rv < 0) {
        bench_fail(what, tltcp_strerror(rv));
    }
}

static void engine_configure(tltcp_config *c, const struct bench_options *o) {
    tltcp_config_init(c);
    if (strcmp(o->mode, "sealed") == 0) {
        c->key = (const uint8_t *)"the key of the engine's benchmark";
        c->key_len = 32;
    }
    c->packets.max_datagram = o->datagram;
    c->packets.base_datagram = o->datagram;
    c->send_buffer = (size_t)8 << 20;
    c->recv_buffer = (size_t)16 << 20;
}

/* Returns bytes taken: the datagram, and more if they belong to the server. */
static size_t take(struct bench *b, const uint8_t *dgram, size_t len,
                   size_t segment) {
    const tltcp_pktinfo info = {.path = CLIENT};
    size_t n = len < segment ? len : segment;
    tltcp_dispatch d;
    int verdict = tltcp_endpoint_recv(b->listener, &info, dgram, n, &d, b->now);

    if (verdict == TLTCP_TAKEN) {
        return n + tltcp_conn_recv_burst(d.conn, &info, dgram + n, len - n,
                                         segment, b->now);
    }
    if (verdict == TLTCP_CALLER) {
        b->server.conn = d.conn;
        engine_check(tltcp_conn_accept(d.conn, b->now), "accept");
    } else if (verdict == TLTCP_REPLY) { /* the listener's offer */
        const tltcp_pktinfo back = {.path = SERVER};

        engine_check(tltcp_conn_recv(b->client.conn, &back, d.reply,
                                     d.reply_len, b->now),
                     "reply");
    }
    return n;
}

/* Passes one burst from one end to the other. False: there was none. */
static bool engine_carry(struct bench *b, struct end *from, struct end *to) {
    tltcp_pktinfo info;
    size_t segment = 0;
    double start = cpu_now();
    double middle;
    size_t len = from->conn == NULL
                     ? 0
                     : tltcp_conn_send(from->conn, &info, b->burst, BURST,
                                       &segment, b->now);

    middle = cpu_now();
    from->cpu += middle - start;
    b->now += HOP;
    info = (tltcp_pktinfo){.path = SERVER};
    for (size_t at = 0; at < len;) {
        size_t n = len - at < segment ? len - at : segment;

        if (to == &b->server) {
            n = take(b, b->burst + at, len - at, segment);
        } else {
            (void)tltcp_conn_recv(to->conn, &info, b->burst + at, n, b->now);
        }
        at += n;
    }
    to->cpu += cpu_now() - middle;
    return len > 0;
}

static void write_all(struct bench *b) {
    const tltcp_section s = {.data =
                                 &(struct iovec){(void *)(b->section), SECTION},
                             .count = 1,
                             .deadline = TLTCP_TIME_NEVER};
    double start = cpu_now();

    while (tltcp_conn_writable(b->client.conn) >= SECTION) {
        engine_check(tltcp_conn_write(b->client.conn, &s, 1, b->now), "write");
    }
    b->client.cpu += cpu_now() - start;
}

static void engine_read_all(struct bench *b) {
    double start = cpu_now();
    int64_t n = 1;

    while (b->server.conn != NULL && n > 0) {
        tltcp_buf buf = {.base = b->section, .len = SECTION};
        struct tltcp_segment segment;
        size_t count = 1;

        n = tltcp_conn_read(b->server.conn, &buf, &segment, &count, b->now);
        b->bytes += n > 0 ? (uint64_t)n : 0;
    }
    b->server.cpu += cpu_now() - start;
}

static void run_timers(struct bench *b) {
    struct end *ends[] = {&b->client, &b->server};
    tltcp_time next = TLTCP_TIME_NEVER;

    for (int i = 0; i < 2; i++) {
        tltcp_conn *c = ends[i]->conn;
        tltcp_time at = c != NULL ? tltcp_conn_timeout(c) : TLTCP_TIME_NEVER;

        next = at < next ? at : next;
    }
    b->now = next != TLTCP_TIME_NEVER && next > b->now ? next : b->now;
    for (int i = 0; i < 2; i++) {
        if (ends[i]->conn != NULL) {
            tltcp_conn_on_timeout(ends[i]->conn, b->now);
        }
    }
}

static void turn(struct bench *b) {
    bool any;

    write_all(b);
    any = engine_carry(b, &b->client, &b->server);
    engine_read_all(b);
    any |= engine_carry(b, &b->server, &b->client);
    if (!any) {
        run_timers(b);
    }
}

/* Carries a slice and measures its cost. */
static struct cost slice(struct bench *b) {
    double gigabytes;

    b->client.cpu = 0;
    b->server.cpu = 0;
    b->bytes = 0;
    while (b->bytes < SLICE) {
        turn(b);
    }
    gigabytes = (double)b->bytes / 1e9;
    return (struct cost){b->client.cpu / gigabytes, b->server.cpu / gigabytes};
}

static int rising(const void *a, const void *b) {
    const struct cost *x = a;
    const struct cost *y = b;
    double difference = x->send + x->recv - y->send - y->recv;

    return (difference > 0) - (difference < 0);
}

static void open_both(struct bench *b, const struct bench_options *o) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    tltcp_config c;

    engine_configure(&c, o);
    b->section = calloc(1, SECTION);
    b->burst = malloc(BURST);
    if (b->section == NULL || b->burst == NULL) {
        bench_fail("memory", "exhausted");
    }
    engine_check(tltcp_endpoint_new(&b->listener, &c, seed, b->now),
                 "listener");
    engine_check(tltcp_conn_new(&b->client.conn, &c, seed, SERVER, b->now),
                 "caller");
}

static void close_both(struct bench *b) {
    tltcp_conn_free(b->client.conn);
    tltcp_conn_free(b->server.conn);
    tltcp_endpoint_free(b->listener);
    free(b->section);
    free(b->burst);
}

int main(int argc, char **argv) {
    struct bench b = {.now = TLTCP_S};
    struct cost costs[SLICES_MAX];
    struct bench_options o;
    double start;
    unsigned n = 0;

    bench_parse(&o, argc, argv);
    open_both(&b, &o);
    for (int i = 0; i < WARM_SLICES; i++) {
        (void)slice(&b);
    }
    start = cpu_now();
    while (n < SLICES_MAX &&
           (o.slices > 0 ? n < o.slices : cpu_now() - start < o.seconds)) {
        costs[n++] = slice(&b);
    }
    qsort(costs, n, sizeof(costs[0]), rising);
    printf("{\"mode\":\"%s\",\"slices\":%u,"
           "\"cpu_s_per_gb_send\":%.4f,\"cpu_s_per_gb_recv\":%.4f,"
           "\"least_send\":%.4f,\"least_recv\":%.4f}\n",
           o.mode, n, costs[n / 2].send, costs[n / 2].recv, costs[0].send,
           costs[0].recv);
    close_both(&b);
    return 0;
}

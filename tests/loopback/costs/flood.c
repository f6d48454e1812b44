/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/costs/flood.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEADERS 28u
#define BURST 16u                 /* packets between looks at the server */
#define BACKLOG ((uint64_t)32768) /* that it may have then */
#define FIRST 0x7f000100u
#define SECOND UINT64_C(1000000000)

void flood_open(struct flood *f, const struct server *s) {
    static const int on = 1;
    static const int room = 4 << 20;
    struct sockaddr_in any = {.sin_family = AF_INET};

    *f = (struct flood){
        .server = s, .source = FIRST, .random = 88172645463325252u};
    f->fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(f->fd >= 0);
    assert_int_equal(bind(f->fd, (struct sockaddr *)&any, sizeof(any)), 0);
    (void)setsockopt(f->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    assert_int_equal(setsockopt(f->fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)),
                     0);
}

void flood_close(struct flood *f) {
    (void)close(f->fd);
}

uint64_t flood_draw(struct flood *f) {
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random;
}

static void flood_count_back(struct flood *f, int fd) {
    uint8_t room[2048];
    ssize_t n;

    while ((n = recv(fd, room, sizeof(room), MSG_DONTWAIT)) >= 0) {
        f->packets_back++;
        f->bytes_back += (uint64_t)n + HEADERS;
    }
}

static uint64_t flood_now(void) {
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static bool flood_is_too_much(const struct flood *f, uint64_t now) {
    double passed = (double)(now - f->since);

    return (double)(server_cpu(f->server) - f->cpu_then) > passed * f->share ||
           (double)(f->packets - f->packets_then) >
               passed * FLOOD_RATE / (double)SECOND;
}

/* Leaves a machine of any speed, and any load, the rest of its time. */
static void flood_keep_share(struct flood *f) {
    uint64_t now = flood_now();

    if (now - f->since > SECOND) { /* what was saved is not spent at once */
        f->since = now;
        f->cpu_then = server_cpu(f->server);
        f->packets_then = f->packets;
    }
    while (flood_is_too_much(f, flood_now())) {
        (void)usleep(500);
    }
}

static void flood_keep_pace(struct flood *f, int fd) {
    f->packets++;
    if (f->count != NULL) {
        atomic_fetch_add_explicit(f->count, 1, memory_order_relaxed);
    }
    if (f->packets % BURST == 0) {
        if (f->share > 0) {
            flood_keep_share(f);
        }
        flood_count_back(f, fd);
        while (server_backlog(f->server) > BACKLOG) {
            (void)usleep(200);
        }
    }
}

void flood_forge(struct flood *f, const struct datagram *d) {
    struct sockaddr_in to = f->server->at;
    struct iovec iov = {.iov_base = (void *)d->data, .iov_len = d->len};
    union {
        struct cmsghdr head;
        uint8_t room[CMSG_SPACE(sizeof(struct in_pktinfo))];
    } control = {.room = {0}};
    struct msghdr m = {.msg_name = &to,
                       .msg_namelen = sizeof(to),
                       .msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof(control.room)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    struct in_pktinfo from = {.ipi_spec_dst.s_addr = htonl(++f->source)};

    c->cmsg_level = IPPROTO_IP;
    c->cmsg_type = IP_PKTINFO;
    c->cmsg_len = CMSG_LEN(sizeof(from));
    memcpy(CMSG_DATA(c), &from, sizeof(from));
    assert_int_equal(sendmsg(f->fd, &m, 0), d->len);
    f->bytes += d->len + HEADERS;
    flood_keep_pace(f, f->fd);
}

void flood_from(struct flood *f, int fd, const struct datagram *d) {
    assert_int_equal(sendto(fd, d->data, d->len, 0,
                            (const struct sockaddr *)&f->server->at,
                            sizeof(f->server->at)),
                     d->len);
    f->bytes += d->len + HEADERS;
    flood_keep_pace(f, fd);
}

void flood_settle(struct flood *f) {
    while (server_backlog(f->server) > 0) {
        (void)usleep(1000);
    }
    (void)usleep(20000); /* for the answers to the last */
    flood_count_back(f, f->fd);
}

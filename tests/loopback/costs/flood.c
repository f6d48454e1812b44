/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/costs/flood.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADERS 28u
#define BURST 16u                 /* packets between looks at the server */
#define BACKLOG ((uint64_t)32768) /* that it may have then */
#define FIRST 0x7f000100u

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

static void flood_keep_pace(struct flood *f, int fd) {
    f->packets++;
    if (f->packets % BURST == 0) {
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

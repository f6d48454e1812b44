/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_LO_H
#define TESTS_LOOPBACK_LO_H

#include <string.h>

#include <tltcp/socket.h>

#include "tests/loopback/net.h"
#include "tests/support/cmocka.h"

/* Pairs of sockets on this machine, for tests of the socket API.  Nothing
 * sleeps; whatever waits gives up after LO_PATIENCE. */

#define LO_PATIENCE 20000 /* ms */
#define LO_SEGMENTS 64

struct lo {
    tltcp_config config;
    const char *host;
    char port[8];
    tltcp_socket *listener;
    tltcp_socket *client;
    tltcp_socket *server;
};

/* CMocka set-ups: *state becomes a struct lo with defaults for one way of doing
 * the I/O, and nothing open. */
int lo_ipv4(void **state);
int lo_ipv6(void **state);
int lo_plain(void **state);
int lo_no_gso(void **state);
int lo_threads(void **state); /* the listener has three, where possible */
/* Closes what is open. */
int lo_teardown(void **state);
/* A test with one of these set-ups: LO_TEST(f, plain). */
#define LO_TEST(f, how) \
    { #f " (" #how ")", f, lo_##how, lo_teardown, NULL }

/* Whether this machine has IPv6 at all. */
bool lo_has_ipv6(void);

/* Each fails the test when it does not succeed. */
void lo_listen(struct lo *l);
void lo_connect(struct lo *l);
void lo_accept(struct lo *l);
void lo_pair(struct lo *l); /* all three */

/* The port of a socket, as text. */
void lo_port(const tltcp_socket *s, char port[8]);
/* A UDP socket on a free port of 127.0.0.1. */
int lo_bind(struct sockaddr_in *a);
/* Whether the system binds to this IPv4 address: Wine does to any. */
bool lo_can_bind(const char *ip);
/* A call that the listener refuses with this reason. */
void lo_expect_refusal(struct lo *l, const char *reason);
/* Waits until fd is readable. */
void lo_poll(int fd);
/* Whether fd is readable now. */
bool lo_ready(int fd);
/* That port of 127.0.0.1. */
struct sockaddr_in lo_address(const char *port);
/* A bare TCP connection to that port, from 127.0.0.1 plus host. */
int lo_connect_tcp(const char *port, uint32_t host);
/* Waits until the other end has closed, and closes fd. */
void lo_expect_eof(int fd);

/* Sends one section, with a deadline or TLTCP_TIME_NEVER. */
ssize_t lo_send(tltcp_socket *s, const void *data, size_t len,
                tltcp_time deadline);
void lo_send_text(tltcp_socket *s, const char *text);

/* The result of a recvmsg with MSG_TL. */
struct lo_got {
    ssize_t rv;
    size_t pieces;
    int flags;
    struct tltcp_segment segment[LO_SEGMENTS];
    uint8_t *data[LO_SEGMENTS]; /* into `room` */
    size_t len[LO_SEGMENTS];
    uint8_t room[LO_SEGMENTS * 2048];
};

/* Receives up to `pieces` pieces of up to 2048 bytes. */
void lo_recv(tltcp_socket *s, struct lo_got *g, size_t pieces, int flags);
/* Receives without MSG_TL into one buffer. */
ssize_t lo_recv_plain(tltcp_socket *s, void *buf, size_t len, int flags);
/* Expects exactly this section. */
void lo_expect_text(tltcp_socket *s, const char *text);
/* Waits for an event of this type, passing over others but not over the end. */
void lo_event(tltcp_socket *s, uint32_t type, tltcp_event *ev);
/* Expects the orderly end. */
void lo_expect_end(tltcp_socket *s);

/* Byte i of a stream that tests can check at any place. */
static inline uint8_t lo_byte(uint64_t i) {
    return (uint8_t)(i * 131 + (i >> 8) * 17 + (i >> 16) * 5);
}
/* Such bytes from place `at` on: makes them, and says whether these are they.
 */
void lo_fill(uint8_t *data, size_t len, uint64_t at);
bool lo_matches(const uint8_t *data, size_t len, uint64_t at);

#endif /* TESTS_LOOPBACK_LO_H */

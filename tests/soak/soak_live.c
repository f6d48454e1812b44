/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Live connections through the socket API, for as long as nobody ends them.
 *
 *   soak_live serve                  prints its port; reads and checks what all
 *                                    callers send
 *   soak_live call PORT CONNECTIONS  sends on so many connections at once, and
 *                                    calls again when one ends
 *
 * SIGTERM ends both; the server then prints a line of JSON.  Status 1: a byte
 * was not the one that was sent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tltcp/socket.h>

#define CONNECTIONS_MAX 4096u
#define SECTION 1000u
#define PIECES 16u
#define TURN_MS 50
#define LATENCY_MS 1000

static const uint8_t key[32] = {3, 1, 4, 1, 5};
static volatile sig_atomic_t stopping;

static struct pollfd ready[CONNECTIONS_MAX + 1];
static tltcp_socket *conn[CONNECTIONS_MAX];
static uint64_t written[CONNECTIONS_MAX];
static size_t count;
static uint64_t served, bytes, gaps, wrong;

static void on_term(int signal) {
    (void)signal;
    stopping = 1;
}

static uint8_t byte_at(uint64_t i) {
    return (uint8_t)(i * 131 + (i >> 8) * 17 + (i >> 16) * 5);
}

static tltcp_config config(void) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.key = key;
    c.key_len = sizeof(key);
    c.latency_ms = LATENCY_MS;
    c.idle_timeout_ms = 5000;
    c.connect_timeout_ms = 2000;
    c.send_buffer = 65536;
    c.recv_buffer = 65536;
    c.rekey_packets = 500;
    return c;
}

/* --- The server ---------------------------------------------------------- */

/* Reads what there is; false when the connection is over. */
static bool read_some(tltcp_socket *s) {
    static uint8_t room[PIECES][2 * SECTION];
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(PIECES * sizeof(struct tltcp_segment))];
    } control;
    struct iovec iov[PIECES];
    struct msghdr m = {.msg_iov = iov};
    ssize_t n;

    do {
        struct tltcp_segment seg[PIECES];

        m.msg_iovlen = PIECES;
        m.msg_control = &control;
        m.msg_controllen = sizeof(control);
        for (unsigned i = 0; i < PIECES; i++) {
            iov[i] = (struct iovec){room[i], sizeof(room[i])};
        }
        n = tltcp_recvmsg(s, &m, MSG_TL | MSG_DONTWAIT);
        if (n <= 0) {
            break;
        }
        memcpy(seg, CMSG_DATA(CMSG_FIRSTHDR(&m)),
               m.msg_iovlen * sizeof(seg[0]));
        for (size_t i = 0; i < m.msg_iovlen; i++) {
            gaps += seg[i].kind == TL_GAP;
            for (size_t k = 0; seg[i].kind == TL_DATA && k < iov[i].iov_len;
                 k++) {
                wrong += room[i][k] != byte_at(seg[i].seq + k);
            }
        }
        bytes += (uint64_t)n;
    } while (n > 0);
    return n == TLTCP_ERR_AGAIN;
}

static void drop(size_t i) {
    (void)tltcp_close(conn[i], 0);
    conn[i] = conn[--count];
    written[i] = written[count];
}

static int serve(void) {
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    tltcp_config c = config();
    tltcp_socket *listener;
    tltcp_socket *s;

    if (tltcp_listen(&listener, "127.0.0.1", "0", &c) != 0 ||
        tltcp_local_address(listener, (struct sockaddr *)&a, &len) != 0) {
        return 2;
    }
    printf("%u\n", ntohs(a.sin_port));
    (void)fflush(stdout);
    while (!stopping) {
        for (size_t i = 0; i < count; i++) {
            ready[i] = (struct pollfd){tltcp_fd(conn[i]), POLLIN, 0};
        }
        ready[count] = (struct pollfd){tltcp_fd(listener), POLLIN, 0};
        (void)poll(ready, count + 1, TURN_MS);
        for (size_t i = count; i-- > 0;) {
            if (ready[i].revents != 0 && !read_some(conn[i])) {
                drop(i);
            }
        }
        while (count < CONNECTIONS_MAX && tltcp_accept(listener, &s, 0) == 0) {
            served++;
            conn[count++] = s;
        }
    }
    printf("{\"served\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"gaps\":%" PRIu64
           ",\"wrong\":%" PRIu64 "}\n",
           served, bytes, gaps, wrong);
    while (count > 0) {
        drop(count - 1);
    }
    (void)tltcp_close(listener, 0);
    return wrong > 0;
}

/* --- Callers ------------------------------------------------------------- */

static void call_one(const char *port) {
    tltcp_config c = config();

    if (tltcp_connect(&conn[count], "127.0.0.1", port, &c, 0) == 0) {
        written[count++] = 0;
    }
}

/* A section; false when the connection is over. */
static bool send_one(size_t i) {
    uint8_t data[SECTION];
    struct iovec iov = {data, sizeof(data)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    for (size_t k = 0; k < sizeof(data); k++) {
        data[k] = byte_at(written[i] + k);
    }
    n = tltcp_sendmsg(conn[i], &m, MSG_DONTWAIT);
    written[i] += n > 0 ? (uint64_t)n : 0;
    return n > 0 || n == TLTCP_ERR_AGAIN;
}

static int call(const char *port, size_t wanted, int turn_ms) {
    while (!stopping) {
        for (size_t i = count; i-- > 0;) {
            /* now and then one says goodbye */
            if (!send_one(i) || random() % 500 == 0) {
                drop(i);
            }
        }
        while (count < wanted) {
            size_t before = count;
            call_one(port);
            if (count == before) {
                break;
            }
        }
        (void)poll(NULL, 0, turn_ms);
    }
    while (count > 0) {
        drop(count - 1);
    }
    return 0;
}

int main(int argc, char **argv) {
    const struct sigaction act = {.sa_handler = on_term};
    size_t n = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    long turn;

    (void)sigaction(SIGTERM, &act, NULL);
    if (argc == 2 && strcmp(argv[1], "serve") == 0) {
        return serve();
    }
    turn = argc > 4 ? strtol(argv[4], NULL, 10) : TURN_MS;
    if (argc >= 4 && strcmp(argv[1], "call") == 0 && n > 0 &&
        n <= CONNECTIONS_MAX && turn > 0 && turn < 10000) {
        return call(argv[2], n, (int)turn);
    }
    (void)fprintf(stderr,
                  "usage: soak_live serve|call PORT CONNECTIONS [TURN-MS]\n");
    return 2;
}

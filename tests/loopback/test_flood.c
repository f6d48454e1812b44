/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A listener under attack while a stream arrives.  The stream's sender is the
 * engine on a socket of the test's, which puts ten hostile datagrams around
 * each good one: junk, calls from addresses that never answer, guessed ids,
 * forged and replayed packets.
 */
#include <stdlib.h>

#include <tltcp/conn.h>

#include "tests/loopback/lo.h"

#define SECTIONS 1500u
#define LEN 1000u
#define HOSTILE 10u /* datagrams for each good one */
#define STRANGERS 8u
#define CALLS 128u
#define KEPT 256u
#define ROOM 1500u

struct dgram {
    uint8_t data[ROOM];
    size_t len;
};

struct attack {
    tltcp_conn *conn;
    struct sockaddr_in to;
    int fd;
    int stranger[STRANGERS];
    struct dgram call[CALLS];
    struct dgram kept[KEPT]; /* good ones, for replays */
    uint64_t sent;           /* good ones */
    uint64_t hostile;
    uint64_t written;
    uint64_t read;
    uint64_t random;
};

static uint64_t draw(struct attack *a) {
    a->random ^= a->random << 13;
    a->random ^= a->random >> 7;
    a->random ^= a->random << 17;
    return a->random;
}

static int socket_at(uint32_t host) {
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(host)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    return fd;
}

static tltcp_conn *new_conn(struct attack *a, const tltcp_config *c) {
    uint8_t seed[TLTCP_SEED_LEN];
    tltcp_conn *conn;

    for (size_t i = 0; i < sizeof(seed); i++) {
        seed[i] = (uint8_t)draw(a);
    }
    assert_int_equal(tltcp_conn_new(&conn, c, seed, 1, tltcp_now()), 0);
    return conn;
}

static void make_call(struct attack *a, struct dgram *d,
                      const tltcp_config *c) {
    tltcp_conn *conn = new_conn(a, c);
    tltcp_pktinfo info;
    size_t segment;

    d->len = tltcp_conn_send(conn, &info, d->data, sizeof(d->data), &segment,
                             tltcp_now());
    assert_true(d->len >= 1200);
    tltcp_conn_free(conn);
}

static void begin(struct attack *a, struct lo *l) {
    static const uint8_t wrong[32] = {9};
    tltcp_config stranger = l->config;
    socklen_t len = sizeof(a->to);

    memset(a, 0, sizeof(*a));
    a->random = 88172645463325252u;
    l->config.listener.max_half_open = 16;
    lo_listen(l);
    assert_int_equal(
        tltcp_local_address(l->listener, (struct sockaddr *)&a->to, &len), 0);
    a->fd = socket_at(INADDR_LOOPBACK);
    for (uint32_t i = 0; i < STRANGERS; i++) {
        a->stranger[i] = socket_at(INADDR_LOOPBACK + 1 + i);
    }
    a->conn = new_conn(a, &l->config);
    for (unsigned i = 0; i < CALLS; i++) { /* every other with a wrong key */
        if (l->config.key != NULL && i % 2 == 0) {
            stranger.key = i % 4 == 0 ? wrong : NULL;
            stranger.key_len = i % 4 == 0 ? sizeof(wrong) : 0;
        } else {
            stranger = l->config;
        }
        make_call(a, &a->call[i], &stranger);
    }
}

static void end(struct attack *a) {
    tltcp_conn_free(a->conn);
    close(a->fd);
    for (unsigned i = 0; i < STRANGERS; i++) {
        close(a->stranger[i]);
    }
}

static void throw(struct attack * a, int fd, const struct dgram *d) {
    (void)sendto(fd, d->data, d->len, 0, (struct sockaddr *)&a->to,
                 sizeof(a->to));
    a->hostile++;
}

static void be_hostile(struct attack *a, const struct dgram *good) {
    int stranger = a->stranger[draw(a) % STRANGERS];
    struct dgram d = *good;

    switch (draw(a) % 6) {
    case 0: /* junk */
        d.len = draw(a) % ROOM;
        for (size_t i = 0; i < d.len; i++) {
            d.data[i] = (uint8_t)draw(a);
        }
        throw(a, stranger, &d);
        break;
    case 1:
        throw(a, stranger, &a->call[draw(a) % CALLS]);
        break;
    case 2: /* a guessed id */
        d.data[1 + draw(a) % 8] ^= 1;
        throw(a, a->fd, &d);
        break;
    case 3: /* forged, from where the good ones come and with their id */
        d.data[9 + draw(a) % (d.len - 9)] ^= 1;
        throw(a, a->fd, &d);
        break;
    case 4:
        throw(a, a->fd, &a->kept[draw(a) % KEPT]);
        break;
    default: /* replayed by somebody else */
        throw(a, stranger, &a->kept[draw(a) % KEPT]);
        break;
    }
}

static void send_good(struct attack *a) {
    struct dgram d;
    tltcp_pktinfo info;
    size_t segment;

    while ((d.len = tltcp_conn_send(a->conn, &info, d.data, sizeof(d.data),
                                    &segment, tltcp_now())) > 0) {
        for (unsigned i = 0; i < HOSTILE; i++) {
            if (i == HOSTILE / 2) {
                (void)sendto(a->fd, d.data, d.len, 0, (struct sockaddr *)&a->to,
                             sizeof(a->to));
                a->kept[a->sent++ % KEPT] = d;
            }
            be_hostile(a, &d);
        }
    }
}

static void receive(struct attack *a) {
    tltcp_pktinfo info = {.path = 1};
    struct dgram d;
    ssize_t n;

    while ((n = recv(a->fd, d.data, sizeof(d.data), MSG_DONTWAIT)) > 0) {
        (void)tltcp_conn_recv(a->conn, &info, d.data, (size_t)n, tltcp_now());
    }
}

static void write_more(struct attack *a) {
    uint8_t data[LEN];
    const tltcp_section s = {.data = &(struct iovec){data, LEN},
                             .count = 1,
                             .deadline = TLTCP_TIME_NEVER};

    while (a->written < SECTIONS) {
        lo_fill(data, LEN, a->written * LEN);
        if (tltcp_conn_write(a->conn, &s, 1, tltcp_now()) != 1) {
            break;
        }
        a->written++;
    }
}

/* The listener's application gets every byte, and no gap. */
static void read_some(struct attack *a, struct lo *l) {
    uint8_t data[4 * LEN];
    ssize_t n;

    if (l->server == NULL &&
        tltcp_accept(l->listener, &l->server, 0) == TLTCP_ERR_AGAIN) {
        return;
    }
    while ((n = lo_recv_plain(l->server, data, sizeof(data), MSG_DONTWAIT)) >
           0) {
        assert_true(lo_matches(data, (size_t)n, a->read));
        a->read += (uint64_t)n;
    }
    assert_int_equal(n, TLTCP_ERR_AGAIN);
}

static void wait(struct attack *a) {
    struct pollfd p = {.fd = a->fd, .events = POLLIN};
    tltcp_time now = tltcp_now();
    tltcp_time at = tltcp_conn_timeout(a->conn);

    (void)poll(&p, 1, at <= now + TLTCP_MS ? 0 : 1);
    tltcp_conn_on_timeout(a->conn, tltcp_now());
}

static tltcp_stats stream_through_attack(struct attack *a, struct lo *l) {
    tltcp_stats st;

    begin(a, l);
    while (a->read < (uint64_t)SECTIONS * LEN) {
        tltcp_event ev;

        while (tltcp_conn_next_event(a->conn, &ev) > 0) {
            assert_int_not_equal(ev.type, TLTCP_EVENT_CLOSED);
        }
        write_more(a);
        send_good(a);
        read_some(a, l);
        wait(a);
        receive(a);
    }
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
    assert_int_equal(st.gaps, 0);
    assert_true(a->hostile > (uint64_t)HOSTILE * SECTIONS / 2);
    assert_true(st.packets_dropped > a->hostile / 4);
    end(a);
    return st;
}

static struct attack attack; /* large */

TEST(a_plain_stream_loses_nothing_in_a_flood) {
    struct lo *l = *state;
    tltcp_stats st = stream_through_attack(&attack, l);

    assert_true(st.callers_retried > 0); /* tokens kept the state small */
}

TEST(a_sealed_stream_loses_nothing_in_a_flood) {
    static const uint8_t key[32] = {1, 2, 3};
    struct lo *l = *state;
    tltcp_stats st;

    l->config.key = key;
    l->config.key_len = sizeof(key);
    st = stream_through_attack(&attack, l);
    assert_true(st.packets_forged > 0);
    assert_true(st.callers_rejected > 0);
    assert_true(st.callers_retried > 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, lo_ipv4, lo_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_plain_stream_loses_nothing_in_a_flood),
        T(a_sealed_stream_loses_nothing_in_a_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

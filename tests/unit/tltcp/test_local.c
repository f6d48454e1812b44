/* SPDX-License-Identifier: MPL-2.0 */
/* Connections whose drivers say that the packets stay on the machine. */
#include <string.h>

#include <tltcp/burst.h>
#include <tltcp/local.h>

#include "libtltcp/engine/conn.h"
#include "tests/support/cmocka.h"

#define PATH 7u
#define BURST 65000u
#define SECTION 200000u

static const uint8_t token[16] = {1, 2, 3};
static const uint8_t other_token[16] = {1, 2, 4};
static const uint8_t key[32] = {5};

struct pair {
    tltcp_endpoint *ep;
    tltcp_conn *client;
    tltcp_conn *server;
    const uint8_t *of_server; /* its token; NULL: it says nothing */
    tltcp_time now;
    unsigned unchecked; /* SHORT packets with 0 in place of a checksum */
    unsigned checked;   /* SHORT packets with a checksum */
    uint64_t read;
    uint8_t burst[BURST];
    size_t len; /* of the newest burst from the client */
    size_t segment;
};

static uint8_t content[SECTION];
static uint8_t got[SECTION];

static void pair_open(struct pair *p, const uint8_t *of_client,
                      const uint8_t *of_server, bool sealed) {
    static const uint8_t seed[2][TLTCP_SEED_LEN] = {{1}, {2}};
    tltcp_config cfg;

    tltcp_config_init(&cfg);
    cfg.key = sealed ? key : NULL;
    cfg.key_len = sealed ? sizeof(key) : 0;
    memset(p, 0, sizeof(*p));
    p->now = TLTCP_S;
    p->of_server = of_server;
    assert_int_equal(tltcp_endpoint_new(&p->ep, &cfg, seed[0], p->now), 0);
    assert_int_equal(tltcp_conn_new(&p->client, &cfg, seed[1], PATH, p->now),
                     0);
    if (of_client != NULL) {
        assert_int_equal(tltcp_conn_set_local(p->client, of_client), 0);
    }
}

static void pair_close(struct pair *p) {
    tltcp_conn_free(p->client);
    tltcp_conn_free(p->server);
    tltcp_endpoint_free(p->ep);
}

static void count_checks(struct pair *p, const uint8_t *dgram, size_t len) {
    if (dgram[0] == SEC__SHORT) {
        bool none = sec__packet_is_unchecked(dgram, len);

        assert_true(none || sec__packet_is_intact(dgram, len));
        p->unchecked += none;
        p->checked += !none;
    } else {
        assert_true(sec__packet_is_intact(dgram, len));
    }
}

static void to_server(struct pair *p, const uint8_t *dgram, size_t len) {
    const tltcp_pktinfo info = {.path = PATH};
    tltcp_dispatch d;
    int verdict = tltcp_endpoint_recv(p->ep, &info, dgram, len, &d, p->now);

    if (verdict == TLTCP_CALLER) {
        p->server = d.conn;
        if (p->of_server != NULL) {
            assert_int_equal(tltcp_conn_set_local(d.conn, p->of_server), 0);
        }
        assert_int_equal(tltcp_conn_accept(d.conn, p->now), 0);
    } else if (verdict == TLTCP_REPLY) {
        (void)tltcp_conn_recv(p->client, &info, d.reply, d.reply_len, p->now);
    }
}

/* One datagram of a burst, and those that can go with it. */
static size_t hand_over(struct pair *p, bool up, const uint8_t *data,
                        size_t left, size_t segment) {
    const tltcp_pktinfo info = {.path = PATH};
    tltcp_conn *to = up ? p->server : p->client;
    size_t n = left < segment ? left : segment;

    if (up) {
        to_server(p, data, n);
    } else {
        (void)tltcp_conn_recv(to, &info, data, n, p->now);
    }
    return to == NULL ? n
                      : n + tltcp_conn_recv_burst(to, &info, data + n, left - n,
                                                  segment, p->now);
}

static bool carry(struct pair *p, bool up) {
    tltcp_conn *from = up ? p->client : p->server;
    uint8_t other[BURST];
    uint8_t *data = up ? p->burst : other;
    size_t segment = 0;
    tltcp_pktinfo info;
    size_t len = from == NULL ? 0
                              : tltcp_conn_send(from, &info, data, BURST,
                                                &segment, p->now);

    for (size_t at = 0; at < len && from->seal == NULL; at += segment) {
        count_checks(p, data + at, len - at < segment ? len - at : segment);
    }
    for (size_t at = 0; at < len;) {
        at += hand_over(p, up, data + at, len - at, segment);
    }
    if (up && len > 0) {
        p->len = len;
        p->segment = segment;
    }
    return len > 0;
}

static void read_what_came(struct pair *p) {
    tltcp_buf buf = {.base = got, .len = sizeof(got)};
    struct tltcp_segment segment;
    size_t count = 1;

    while (p->server != NULL &&
           tltcp_conn_read(p->server, &buf, &segment, &count, p->now) > 0) {
        assert_int_equal(segment.kind, TL_DATA);
        assert_memory_equal(got, content + segment.seq % SECTION, buf.len);
        p->read += buf.len;
        buf.len = sizeof(got);
        count = 1;
    }
}

static void turn(struct pair *p) {
    bool up = carry(p, true);
    bool down = carry(p, false);

    read_what_came(p);
    p->now += TLTCP_MS;
    if (!up && !down) {
        tltcp_conn_on_timeout(p->client, p->now);
        if (p->server != NULL) {
            tltcp_conn_on_timeout(p->server, p->now);
        }
    }
}

/* Sends a section to the server. */
static void transfer(struct pair *p) {
    const tltcp_section s = {.data = &(struct iovec){content, SECTION},
                             .count = 1,
                             .deadline = TLTCP_TIME_NEVER};
    uint64_t before = p->read;

    assert_int_equal(tltcp_conn_write(p->client, &s, 1, p->now), 1);
    for (int i = 0; i < 2000 && p->read < before + SECTION; i++) {
        turn(p);
    }
    assert_int_equal(p->read, before + SECTION);
}

TEST(peers_on_one_machine_send_no_checksums) {
    struct pair p;

    pair_open(&p, token, token, false);
    transfer(&p);
    assert_true(p.unchecked > SECTION / 1500);
    assert_int_equal(p.checked, 0);
    pair_close(&p);
}

TEST(both_must_say_so) {
    const uint8_t *const said[3][2] = {
        {token, NULL}, {NULL, token}, {token, other_token}};

    for (int i = 0; i < 3; i++) {
        struct pair p;

        pair_open(&p, said[i][0], said[i][1], false);
        transfer(&p);
        assert_int_equal(p.unchecked, 0);
        assert_true(p.checked > SECTION / 1500);
        pair_close(&p);
    }
}

/* Sends a datagram with that check to the server; whether it was taken. */
static bool takes(struct pair *p, bool unchecked, uint32_t wrong) {
    tltcp_stats before;
    tltcp_stats after;
    uint8_t *check;

    transfer(p);
    p->client->want |= TLTCP__WANT_PING;
    tltcp_stats_init(&before);
    tltcp_stats_init(&after);
    assert_int_equal(tltcp_conn_get_stats(p->server, &before, p->now), 0);
    p->len = tltcp_conn_send(p->client, &(tltcp_pktinfo){0}, p->burst, BURST,
                             &p->segment, p->now);
    assert_true(p->len > 0 && p->len <= p->segment);
    check = p->burst + p->len - SEC__CHECK_LEN;
    if (unchecked) {
        memset(check, 0, SEC__CHECK_LEN);
    } else {
        cmn__writer w = cmn__writer_of(check, SEC__CHECK_LEN);
        sec__packet_seal(&w, p->burst);
        check[3] ^= (uint8_t)wrong;
    }
    to_server(p, p->burst, p->len);
    assert_int_equal(tltcp_conn_get_stats(p->server, &after, p->now), 0);
    return after.packets_received > before.packets_received &&
           after.packets_dropped == before.packets_dropped;
}

TEST(only_they_take_packets_without_checksums) {
    struct pair p;

    pair_open(&p, token, NULL, false);
    assert_false(takes(&p, true, 0));
    assert_true(takes(&p, false, 0));
    pair_close(&p);
    pair_open(&p, token, token, false);
    assert_true(takes(&p, true, 0));
    pair_close(&p);
}

TEST(they_take_a_right_checksum_too_but_no_wrong_one) {
    struct pair p;

    pair_open(&p, token, token, false);
    assert_true(takes(&p, false, 0));
    assert_false(takes(&p, false, 1));
    pair_close(&p);
}

TEST(packets_of_the_handshake_need_their_checksum) {
    uint8_t hello[1500];
    struct pair p;
    tltcp_pktinfo info;
    size_t segment;
    size_t len;

    pair_open(&p, token, token, false);
    len =
        tltcp_conn_send(p.client, &info, hello, sizeof(hello), &segment, p.now);
    memset(hello + len - SEC__CHECK_LEN, 0, SEC__CHECK_LEN);
    to_server(&p, hello, len);
    assert_null(p.server);
    pair_close(&p);
}

TEST(sealed_packets_keep_their_tags) {
    struct pair p;

    pair_open(&p, token, token, true);
    transfer(&p);
    assert_non_null(p.client->seal);
    assert_false(p.client->local);
    assert_false(p.server->local);
    pair_close(&p);
}

TEST(an_open_connection_cannot_be_declared_local) {
    struct pair p;

    pair_open(&p, NULL, NULL, false);
    transfer(&p);
    assert_int_equal(tltcp_conn_set_local(p.client, token), TLTCP_ERR_STATE);
    assert_int_equal(tltcp_conn_set_local(p.server, token), TLTCP_ERR_STATE);
    pair_close(&p);
}

/* The proofs of a call are of no use for another one. */
TEST(each_call_has_its_own_proof) {
    static const uint8_t seed[2][TLTCP_SEED_LEN] = {{1}, {2}};
    tltcp_config cfg;
    uint64_t proof[2];

    tltcp_config_init(&cfg);
    for (int i = 0; i < 2; i++) {
        tltcp_conn *c;

        assert_int_equal(tltcp_conn_new(&c, &cfg, seed[i], PATH, TLTCP_S), 0);
        assert_int_equal(tltcp_conn_set_local(c, token), 0);
        proof[i] = tltcp__conn_params(c).local;
        assert_true(c->handshake.peer_proof != proof[i]);
        tltcp_conn_free(c);
    }
    assert_true(proof[0] != 0 && proof[0] != proof[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_on_one_machine_send_no_checksums),
        cmocka_unit_test(both_must_say_so),
        cmocka_unit_test(only_they_take_packets_without_checksums),
        cmocka_unit_test(they_take_a_right_checksum_too_but_no_wrong_one),
        cmocka_unit_test(packets_of_the_handshake_need_their_checksum),
        cmocka_unit_test(sealed_packets_keep_their_tags),
        cmocka_unit_test(an_open_connection_cannot_be_declared_local),
        cmocka_unit_test(each_call_has_its_own_proof),
    };

    for (size_t i = 0; i < sizeof(content); i++) {
        content[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Trace events of a connection, without a network. */
#include <string.h>

#include "internal/secure/packet.h"
#include "libtltcp/engine/conn.h"
#include "tests/support/cmocka.h"

#define PATH 7u
#define EVENTS_MAX 16

static const uint8_t key[32] = {1, 2, 3};
static const tltcp_pktinfo info = {.path = PATH};

/* The newest events. */
static struct heard {
    tltcp_trace_event event[EVENTS_MAX];
    unsigned count;
} heard;

static void hear(void *user, const tltcp_trace_event *ev) {
    struct heard *h = user;
    if (h->count < EVENTS_MAX) {
        h->event[h->count++] = *ev;
    }
}

static tltcp_conn *call(bool secured, tltcp_time now) {
    static const uint8_t seed[TLTCP_SEED_LEN] = {1};
    tltcp_config cfg;
    tltcp_conn *c;
    tltcp_config_init(&cfg);
    cfg.on_trace = hear;
    cfg.user = &heard;
    cfg.key = secured ? key : NULL;
    cfg.key_len = secured ? sizeof(key) : 0;
    assert_int_equal(tltcp_conn_new(&c, &cfg, seed, PATH, now), 0);
    heard.count = 0;
    return c;
}

/* The connection has dropped one packet, and said why. */
static void assert_dropped(const tltcp_conn *c, const char *why,
                           tltcp_time now) {
    assert_int_equal(c->stats.packets_dropped, 1);
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.event[0].name, "transport:packet_dropped");
    assert_string_equal(heard.event[0].text, why);
    assert_null(heard.event[0].keys[0]);
    assert_int_equal(heard.event[0].now, now);
}

static size_t packet_of(uint8_t *buf, size_t cap, const sec__packet *p) {
    cmn__writer w = cmn__writer_of(buf, cap);
    sec__packet_put(&w, p);
    sec__packet_seal(&w, buf);
    return (size_t)(w.p - buf);
}

TEST(a_datagram_that_is_no_packet_is_dropped_as_invalid) {
    tltcp_conn *c = call(false, 5);
    assert_int_equal(tltcp_conn_recv(c, &info, "nonsense", 8, 9), 0);
    assert_dropped(c, "invalid", 9);
    tltcp_conn_free(c);
}

TEST(data_before_the_handshake_is_dropped_as_unexpected) {
    tltcp_conn *c = call(false, 5);
    uint8_t buf[100];
    size_t len =
        packet_of(buf, sizeof(buf),
                  &(sec__packet){.type = SEC__SHORT, .dcid = c->own.id});
    assert_int_equal(tltcp_conn_recv(c, &info, buf, len, 9), 0);
    assert_dropped(c, "unexpected_packet", 9);
    tltcp_conn_free(c);
}

TEST(an_answer_under_another_key_is_dropped_as_not_decrypted) {
    tltcp_conn *c = call(true, 5);
    uint8_t buf[100];
    size_t len = packet_of(buf, sizeof(buf),
                           &(sec__packet){.type = SEC__ANSWER,
                                          .version = TLTCP__VERSION,
                                          .dcid = c->own.id,
                                          .scid = 3});
    assert_int_equal(tltcp_conn_recv(c, &info, buf, len, 9), 0);
    assert_dropped(c, "decryption_failure", 9);
    tltcp_conn_free(c);
}

TEST(the_end_is_traced_with_its_error) {
    tltcp_conn *c = call(false, 5);
    tltcp_conn_abort(c, TLTCP_ERR_TIMEOUT, "enough", 9);
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.event[0].name,
                        "connectivity:connection_state_updated");
    assert_string_equal(heard.event[0].text, "closed");
    assert_string_equal(heard.event[0].keys[0], "error");
    tltcp_conn_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datagram_that_is_no_packet_is_dropped_as_invalid),
        cmocka_unit_test(data_before_the_handshake_is_dropped_as_unexpected),
        cmocka_unit_test(
            an_answer_under_another_key_is_dropped_as_not_decrypted),
        cmocka_unit_test(the_end_is_traced_with_its_error),
    };
    return cmocka_run_group_tests_name("conn_trace", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Deadlines at one end, gaps at the other. */
#include <stdlib.h>

#include "tests/loopback/lo.h"

static tltcp_time past(void) {
    return tltcp_now() - TLTCP_MS;
}

/* Three sections, the middle one late: what most tests begin with. */
static void send_with_a_late_one(struct lo *l) {
    lo_pair(l);
    lo_send_text(l->client, "one");
    assert_int_equal(lo_send(l->client, "late", 4, past()), 4);
    lo_send_text(l->client, "three");
    assert_int_equal(tltcp_shutdown(l->client), 0);
}

TEST(a_late_section_is_taken_and_becomes_a_gap) {
    struct lo *l = *state;
    struct lo_got *g = malloc(sizeof(*g));
    tltcp_stats st;

    assert_non_null(g);
    send_with_a_late_one(l);
    lo_expect_text(l->server, "one");
    lo_recv(l->server, g, 1, 0);
    assert_int_equal(g->rv, 4);
    assert_int_equal(g->pieces, 1);
    assert_int_equal(g->segment[0].kind, TL_GAP);
    assert_int_equal(g->segment[0].seq, 3);
    assert_int_equal(g->segment[0].section, 1);
    assert_int_equal(g->len[0], 4);
    lo_expect_text(l->server, "three");
    lo_expect_end(l->server);
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    assert_int_equal(st.sections_offered, 3);
    assert_int_equal(st.sections_expired, 1);
    assert_int_equal(st.bytes_expired, 4);
    assert_int_equal(tltcp_get_stats(l->server, &st), 0);
    assert_int_equal(st.gaps, 1);
    assert_int_equal(st.gap_bytes, 4);
    assert_int_equal(st.sections_cut, 1);
    free(g);
}

TEST(data_and_gaps_tile_the_stream) {
    enum { SECTIONS = 300, LEN = 100 };
    struct lo *l = *state;
    struct lo_got *g = malloc(sizeof(*g));
    uint8_t data[LEN];
    uint64_t at = 0;

    assert_non_null(g);
    lo_pair(l);
    for (unsigned i = 0; i < SECTIONS; i++) {
        lo_fill(data, LEN, i * LEN);
        assert_int_equal(lo_send(l->client, data, LEN,
                                 i % 3 == 1 ? past() : TLTCP_TIME_NEVER),
                         LEN);
    }
    assert_int_equal(tltcp_shutdown(l->client), 0);
    for (lo_recv(l->server, g, 8, 0); g->rv > 0; lo_recv(l->server, g, 8, 0)) {
        ssize_t sum = 0;

        for (size_t i = 0; i < g->pieces; i++) {
            assert_int_equal(g->segment[i].seq, at);
            assert_int_equal(g->segment[i].section, at / LEN);
            assert_int_equal(g->segment[i].kind,
                             at / LEN % 3 == 1 ? TL_GAP : TL_DATA);
            if (g->segment[i].kind == TL_DATA) {
                assert_int_equal(g->data[i][0], lo_byte(at));
            }
            at += g->len[i];
            sum += (ssize_t)g->len[i];
        }
        assert_int_equal(sum, g->rv);
    }
    assert_int_equal(g->rv, 0);
    assert_int_equal(at, SECTIONS * LEN);
    free(g);
}

TEST(without_msg_tl_a_gap_is_an_error_once) {
    struct lo *l = *state;
    char room[3][16];
    struct iovec iov[3];
    struct msghdr m = {.msg_iov = iov};

    send_with_a_late_one(l);
    lo_poll(tltcp_fd(l->server));
    for (size_t got = 0; got < 3;) { /* "one" stops at the gap */
        for (size_t i = 0; i < 3; i++) {
            iov[i] = (struct iovec){.iov_base = room[i], .iov_len = 16};
        }
        m.msg_iovlen = 3;
        assert_int_equal(tltcp_recvmsg(l->server, &m, 0), 3);
        assert_int_equal(m.msg_iovlen, 1);
        assert_memory_equal(room[0], "one", 3);
        got += 3;
    }
    lo_poll(tltcp_fd(l->server));
    assert_int_equal(lo_recv_plain(l->server, room[0], 16, 0), TLTCP_ERR_GAP);
    assert_int_equal(lo_recv_plain(l->server, room[0], 16, 0), 5);
    assert_memory_equal(room[0], "three", 5);
    lo_expect_end(l->server);
}

TEST(a_gap_at_the_end_is_reported_before_the_end) {
    struct lo *l = *state;
    char byte;

    lo_pair(l);
    assert_int_equal(lo_send(l->client, "late", 4, past()), 4);
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
    assert_int_equal(lo_recv_plain(l->server, &byte, 1, 0), TLTCP_ERR_GAP);
    lo_expect_end(l->server);
}

/* Nothing follows the skipped section: it must be told all the same. */
TEST(a_gap_is_reported_though_nothing_follows) {
    struct lo *l = *state;
    char byte;

    lo_pair(l);
    assert_int_equal(lo_send(l->client, "late", 4, past()), 4);
    assert_int_equal(lo_recv_plain(l->server, &byte, 1, 0), TLTCP_ERR_GAP);
}

TEST(a_section_that_cannot_be_sent_in_time_expires) {
    struct lo *l = *state;
    struct lo_got *g = malloc(sizeof(*g));
    uint8_t data[1024] = {0};
    tltcp_event ev;
    bool told[64] = {false};
    unsigned unsent = 0;

    assert_non_null(g);
    l->config.recv_buffer = 4096; /* the peer does not read: it fills up */
    l->config.latency_ms = 20;
    l->config.report_fates = true;
    lo_pair(l);
    for (int i = 0; i < 64; i++) {
        struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
        struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

        assert_int_equal(tltcp_sendmsg(l->client, &m, 0), sizeof(data));
    }
    for (int i = 0; i < 64; i++) { /* each once, in the order of their ends */
        lo_event(l->client, TLTCP_EVENT_FATE, &ev);
        assert_true(ev.section < 64);
        assert_false(told[ev.section]);
        told[ev.section] = true;
        assert_int_equal(ev.bytes, sizeof(data));
        assert_true(ev.deadline > ev.written);
        unsent += ev.fate == TLTCP_FATE_UNSENT;
        if (ev.fate == TLTCP_FATE_DELIVERED) {
            assert_int_equal(ev.acked, sizeof(data));
        } else {
            assert_true(ev.now >= ev.deadline);
        }
    }
    assert_true(unsent >= 56); /* 4096 bytes of window, and a packet or so */
    assert_int_equal(tltcp_shutdown(l->client), 0);
    do {
        lo_recv(l->server, g, LO_SEGMENTS, 0);
    } while (g->rv > 0);
    assert_int_equal(g->rv, 0);
    free(g);
}

TEST(fates_distinguish_delivered_from_unsent) {
    struct lo *l = *state;
    tltcp_event ev;

    l->config.report_fates = true;
    send_with_a_late_one(l);
    for (int i = 0; i < 3; i++) {
        lo_event(l->client, TLTCP_EVENT_FATE, &ev);
        assert_int_equal(ev.fate, ev.section == 1 ? TLTCP_FATE_UNSENT
                                                  : TLTCP_FATE_DELIVERED);
    }
    assert_false(lo_ready(tltcp_event_fd(l->client)) &&
                 tltcp_next_event(l->client, &ev, 0) == 1 &&
                 ev.type == TLTCP_EVENT_FATE);
}

TEST(unordered_gives_whole_sections) {
    enum { SECTIONS = 40 };
    struct lo *l = *state;
    struct lo_got *g = malloc(sizeof(*g));
    bool seen[SECTIONS] = {false};
    unsigned count = 0;

    assert_non_null(g);
    l->config.unordered = true;
    lo_pair(l);
    for (uint8_t i = 0; i < SECTIONS; i++) {
        uint8_t data[1500];

        memset(data, i, sizeof(data));
        assert_int_equal(
            lo_send(l->client, data, sizeof(data), TLTCP_TIME_NEVER),
            sizeof(data));
    }
    while (count < SECTIONS) {
        lo_recv(l->server, g, 1, 0);
        assert_int_equal(g->rv, 1500);
        assert_int_equal(g->segment[0].flags,
                         TL_SECTION_START | TL_SECTION_END);
        assert_true(g->segment[0].section < SECTIONS);
        assert_false(seen[g->segment[0].section]);
        seen[g->segment[0].section] = true;
        assert_int_equal(g->data[0][1499], g->segment[0].section);
        count++;
    }
    free(g);
}

TEST(it_is_known_whether_a_section_would_arrive_in_time) {
    struct lo *l = *state;
    const size_t huge = SIZE_MAX / 4;
    uint8_t data[1000] = {0};
    tltcp_event ev;

    lo_pair(l);
    assert_int_equal(tltcp_would_arrive(NULL, 1, 1), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_would_arrive(l->listener, 1, 1), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_would_arrive(l->client, 1, past()), 0);
    for (int i = 0; i < 100; i++) {
        (void)lo_send(l->client, data, sizeof(data), TLTCP_TIME_NEVER);
    }
    lo_event(l->client, TLTCP_EVENT_RATE, &ev); /* the path is known now */
    assert_int_equal(tltcp_would_arrive(l->client, huge, tltcp_now() + TLTCP_S),
                     0);
    assert_int_equal(tltcp_would_arrive(l->client, huge, TLTCP_TIME_NEVER), 1);
    assert_int_equal(
        tltcp_would_arrive(l->client, 100, tltcp_now() + 1000 * TLTCP_S), 1);
}

#define TESTS(how)                                                            \
    {                                                                         \
        LO_TEST(a_late_section_is_taken_and_becomes_a_gap, how),              \
            LO_TEST(data_and_gaps_tile_the_stream, how),                      \
            LO_TEST(without_msg_tl_a_gap_is_an_error_once, how),              \
            LO_TEST(a_gap_at_the_end_is_reported_before_the_end, how),        \
            LO_TEST(a_gap_is_reported_though_nothing_follows, how),           \
            LO_TEST(a_section_that_cannot_be_sent_in_time_expires, how),      \
            LO_TEST(fates_distinguish_delivered_from_unsent, how),            \
            LO_TEST(unordered_gives_whole_sections, how),                     \
            LO_TEST(it_is_known_whether_a_section_would_arrive_in_time, how), \
    }

int main(void) {
    const struct CMUnitTest ipv4[] = TESTS(ipv4);
    const struct CMUnitTest plain[] = TESTS(plain);

    return cmocka_run_group_tests(ipv4, NULL, NULL) +
           cmocka_run_group_tests(plain, NULL, NULL);
}

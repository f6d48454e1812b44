/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_send() and tltcp_recv(): sections in, pieces out. */
#include <stdlib.h>

#include "tests/loopback/lo.h"

#define PIECES ((size_t)100)
#define ROOM ((size_t)2048)

/* Pieces with buffers. */
struct tray {
    tltcp_piece piece[PIECES];
    uint8_t room[PIECES][ROOM];
    size_t count;
};

static ssize_t tray_receive(tltcp_socket *s, struct tray *t, size_t count,
                            int flags) {
    memset(t->piece, 0, sizeof(t->piece));
    for (size_t i = 0; i < count; i++) {
        t->piece[i].data = t->room[i];
        t->piece[i].len = ROOM;
    }
    t->count = count;
    return tltcp_recv(s, t->piece, &t->count, flags);
}

static ssize_t send_one(tltcp_socket *s, const void *data, size_t len,
                        tltcp_time deadline) {
    struct iovec part = {(void *)data, len};
    tltcp_section section = {.data = &part, .count = 1, .deadline = deadline};

    return tltcp_send(s, &section, 1, 0);
}

TEST(parts_of_a_section_arrive_as_one_piece) {
    struct lo *l = *state;
    struct iovec parts[] = {{(void *)"head", 4},
                            {NULL, 0},
                            {(void *)"body and ", 9},
                            {(void *)"tail", 4}};
    tltcp_section section = {
        .data = parts, .count = 4, .deadline = TLTCP_TIME_NEVER};
    static struct tray t;

    lo_pair(l);
    assert_int_equal(tltcp_send(l->client, &section, 1, 0), 17);
    assert_int_equal(tray_receive(l->server, &t, 1, 0), 17);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.piece[0].kind, TL_DATA);
    assert_int_equal(t.piece[0].flags, TL_SECTION_START | TL_SECTION_END);
    assert_int_equal(t.piece[0].seq, 0);
    assert_int_equal(t.piece[0].section, 0);
    assert_int_equal(t.piece[0].len, 17);
    assert_memory_equal(t.room[0], "headbody and tail", 17);
}

TEST(what_is_said_of_a_section_comes_with_its_pieces) {
    struct lo *l = *state;
    struct iovec part = {(void *)"key", 3};
    tltcp_section section = {
        .data = &part,
        .count = 1,
        .deadline = TLTCP_TIME_NEVER,
        .meta = {.section_class = TL_CLASS_KEY, .stream = 3, .tag = 77}};
    static struct tray t;

    lo_pair(l);
    assert_int_equal(tltcp_send(l->client, &section, 1, 0), 3);
    assert_int_equal(tray_receive(l->server, &t, PIECES, 0), 3);
    assert_int_equal(t.piece[0].meta.section_class, TL_CLASS_KEY);
    assert_int_equal(t.piece[0].meta.stream, 3);
    assert_int_equal(t.piece[0].meta.tag, 77);
}

TEST(one_call_takes_more_sections_than_a_batch) {
    enum { SECTIONS = 200 };
    struct lo *l = *state;
    tltcp_section section[SECTIONS];
    struct iovec part[SECTIONS];
    uint8_t bytes[SECTIONS];
    uint64_t at = 0;
    static struct tray t;

    lo_pair(l);
    lo_fill(bytes, SECTIONS, 0);
    for (unsigned i = 0; i < SECTIONS; i++) {
        part[i] = (struct iovec){&bytes[i], 1};
        section[i] = (tltcp_section){
            .data = &part[i], .count = 1, .deadline = TLTCP_TIME_NEVER};
    }
    assert_int_equal(tltcp_send(l->client, section, SECTIONS, 0), SECTIONS);
    while (at < SECTIONS) {
        assert_true(tray_receive(l->server, &t, PIECES, 0) > 0);
        for (size_t i = 0; i < t.count; i++) {
            assert_int_equal(t.piece[i].seq, at);
            assert_int_equal(t.piece[i].section, at);
            assert_int_equal(t.room[i][0], lo_byte(at));
            at++;
        }
    }
}

TEST(a_section_that_expired_is_a_gap_of_its_length) {
    struct lo *l = *state;
    uint8_t data[5000] = {0};
    static struct tray t;
    uint64_t at = 0;

    lo_pair(l);
    assert_int_equal(send_one(l->client, "one", 3, TLTCP_TIME_NEVER), 3);
    assert_int_equal(send_one(l->client, data, sizeof(data), 1), sizeof(data));
    assert_int_equal(send_one(l->client, "three", 5, TLTCP_TIME_NEVER), 5);
    while (at < 5008) {
        assert_true(tray_receive(l->server, &t, PIECES, 0) > 0);
        for (size_t i = 0; i < t.count; i++) {
            const tltcp_piece *p = &t.piece[i];

            assert_int_equal(p->seq, at);
            assert_ptr_equal(p->data, t.room[i]);
            assert_int_equal(p->kind, at == 3 ? TL_GAP : TL_DATA);
            at += p->len;
        }
    }
    assert_int_equal(at, 5008);
}

TEST(a_deadline_of_zero_is_the_latency_from_now) {
    struct lo *l = *state;
    tltcp_time before;
    tltcp_event ev;

    l->config.latency_ms = 20000;
    l->config.report_fates = true;
    lo_pair(l);
    before = tltcp_now();
    assert_int_equal(send_one(l->client, "soon", 4, 0), 4);
    lo_event(l->client, TLTCP_EVENT_FATE, &ev);
    assert_true(ev.deadline >= before + 20000 * TLTCP_MS);
    assert_true(ev.deadline <= tltcp_now() + 20000 * TLTCP_MS);
    assert_int_equal(send_one(l->client, "for ever", 8, TLTCP_TIME_NEVER), 8);
    lo_event(l->client, TLTCP_EVENT_FATE, &ev);
    assert_true(ev.deadline == TLTCP_TIME_NEVER);
}

TEST(typed_calls_and_messages_understand_each_other) {
    struct lo *l = *state;
    static struct tray t;

    lo_pair(l);
    assert_int_equal(send_one(l->client, "typed", 5, TLTCP_TIME_NEVER), 5);
    lo_expect_text(l->server, "typed");
    lo_send_text(l->server, "message");
    assert_int_equal(tray_receive(l->client, &t, 1, 0), 7);
    assert_memory_equal(t.room[0], "message", 7);
}

TEST(the_end_of_the_stream_is_reported_once) {
    struct lo *l = *state;
    static struct tray t;

    lo_pair(l);
    assert_int_equal(tray_receive(l->server, &t, 1, MSG_DONTWAIT),
                     TLTCP_ERR_AGAIN);
    assert_int_equal(t.count, 0);
    assert_int_equal(tltcp_shutdown(l->client), 0);
    assert_int_equal(tray_receive(l->server, &t, 1, 0), 0);
    assert_int_equal(t.count, 0);
    assert_int_equal(tray_receive(l->server, &t, 1, 0), TLTCP_ERR_CLOSED);
    assert_int_equal(send_one(l->client, "x", 1, 0), TLTCP_ERR_STATE);
}

TEST(a_full_buffer_refuses_without_waiting) {
    struct lo *l = *state;
    static uint8_t data[4096];
    struct iovec part = {data, sizeof(data)};
    tltcp_section section = {
        .data = &part, .count = 1, .deadline = TLTCP_TIME_NEVER};
    ssize_t rv;

    l->config.recv_buffer = 8192;
    l->config.send_buffer = 16384;
    lo_pair(l);
    do {
        rv = tltcp_send(l->client, &section, 1, MSG_DONTWAIT);
        assert_true(rv == sizeof(data) || rv == TLTCP_ERR_AGAIN);
    } while (rv > 0);
    part.iov_len = 20000;
    assert_int_equal(tltcp_send(l->client, &section, 1, 0), TLTCP_ERR_TOO_BIG);
}

TEST(a_rate_event_carries_the_target_of_the_statistics) {
    struct lo *l = *state;
    static uint8_t frame[20000];
    static struct tray t;
    tltcp_event ev = {0};
    tltcp_stats st;
    tltcp_time patience = tltcp_now() + LO_PATIENCE * TLTCP_MS;

    lo_pair(l);
    while (ev.type != TLTCP_EVENT_RATE || ev.target_bps == 0) {
        size_t at = 0;

        assert_true(tltcp_now() < patience);
        assert_int_equal(send_one(l->client, frame, sizeof(frame),
                                  tltcp_now() + 1000 * TLTCP_MS),
                         sizeof(frame));
        while (at < sizeof(frame)) {
            ssize_t rv = tray_receive(l->server, &t, PIECES, 0);

            assert_true(rv > 0);
            at += (size_t)rv;
        }
        while (tltcp_next_event(l->client, &ev, 0) == 1 &&
               ev.type != TLTCP_EVENT_RATE) {
        }
    }
    assert_true(ev.estimated_bps > 0);
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    assert_true(st.target_bps > 0);
}

TEST(wrong_arguments_are_refused) {
    struct lo *l = *state;
    struct iovec part = {(void *)"x", 1};
    struct iovec none = {(void *)"x", 0};
    tltcp_section good = {.data = &part, .count = 1};
    tltcp_section bad[] = {{.data = NULL, .count = 1},
                           {.data = &part, .count = 0},
                           {.data = &none, .count = 1},
                           {.data = &part,
                            .count = 1,
                            .meta = {.section_class = TL_CLASS_LAST + 1}}};
    tltcp_piece piece = {.data = NULL, .len = 1};
    size_t count = 1;

    lo_pair(l);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(tltcp_send(l->client, &bad[i], 1, 0), TLTCP_ERR_INVAL);
    }
    assert_int_equal(tltcp_send(NULL, &good, 1, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_send(l->client, NULL, 1, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_send(l->client, &good, 0, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_send(l->client, &good, 1, MSG_TL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_send(l->listener, &good, 1, 0), TLTCP_ERR_STATE);

    assert_int_equal(tltcp_recv(l->client, &piece, &count, 0), TLTCP_ERR_INVAL);
    piece.data = &piece;
    assert_int_equal(tltcp_recv(NULL, &piece, &count, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recv(l->client, NULL, &count, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recv(l->client, &piece, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recv(l->client, &piece, &count, MSG_TL),
                     TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recv(l->listener, &piece, &count, 0),
                     TLTCP_ERR_STATE);
    piece.len = 0;
    assert_int_equal(tltcp_recv(l->client, &piece, &count, 0), TLTCP_ERR_INVAL);
    count = 0;
    assert_int_equal(tltcp_recv(l->client, &piece, &count, 0), TLTCP_ERR_INVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(parts_of_a_section_arrive_as_one_piece, ipv4),
        LO_TEST(parts_of_a_section_arrive_as_one_piece, plain),
        LO_TEST(what_is_said_of_a_section_comes_with_its_pieces, ipv4),
        LO_TEST(one_call_takes_more_sections_than_a_batch, ipv4),
        LO_TEST(a_section_that_expired_is_a_gap_of_its_length, ipv4),
        LO_TEST(a_deadline_of_zero_is_the_latency_from_now, ipv4),
        LO_TEST(typed_calls_and_messages_understand_each_other, ipv4),
        LO_TEST(the_end_of_the_stream_is_reported_once, ipv4),
        LO_TEST(a_full_buffer_refuses_without_waiting, ipv4),
        LO_TEST(a_rate_event_carries_the_target_of_the_statistics, ipv4),
        LO_TEST(wrong_arguments_are_refused, ipv4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

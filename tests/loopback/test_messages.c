/* SPDX-License-Identifier: MPL-2.0 */
/* Sections from one end to the other, over every way of doing the I/O. */
#include <stdlib.h>

#include "tests/loopback/lo.h"

TEST(a_section_arrives_whole_with_its_bounds) {
    struct lo *l = *state;

    lo_pair(l);
    lo_send_text(l->client, "first");
    lo_expect_text(l->server, "first");
}

TEST(both_ends_send) {
    struct lo *l = *state;

    lo_pair(l);
    lo_send_text(l->client, "there");
    lo_send_text(l->server, "and back");
    lo_expect_text(l->server, "there");
    lo_expect_text(l->client, "and back");
}

TEST(what_is_sent_before_accept_is_not_lost) {
    struct lo *l = *state;

    lo_listen(l);
    lo_connect(l);
    lo_send_text(l->client, "early");
    lo_accept(l);
    lo_expect_text(l->server, "early");
}

TEST(what_is_sent_before_the_handshake_is_not_lost) {
    struct lo *l = *state;

    lo_listen(l);
    assert_int_equal(tltcp_connect(&l->client, l->host, l->port, &l->config, 0),
                     0);
    lo_send_text(l->client, "very early");
    assert_int_equal(tltcp_wait_connected(l->client, LO_PATIENCE), 0);
    lo_accept(l);
    lo_expect_text(l->server, "very early");
}

TEST(one_call_sends_many_sections_and_numbers_them) {
    enum { SECTIONS = 200 };
    struct lo *l = *state;
    struct iovec iov[SECTIONS];
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = SECTIONS};
    struct lo_got *g = malloc(sizeof(*g));
    uint64_t at = 0;
    uint64_t section = 0;
    uint8_t bytes[SECTIONS];

    assert_non_null(g);
    lo_pair(l);
    lo_fill(bytes, SECTIONS, 0);
    for (unsigned i = 0; i < SECTIONS; i++) {
        iov[i] = (struct iovec){.iov_base = &bytes[i], .iov_len = 1};
    }
    assert_int_equal(tltcp_sendmsg(l->client, &m, 0), SECTIONS);
    while (at < SECTIONS) {
        lo_recv(l->server, g, LO_SEGMENTS, 0);
        assert_true(g->rv > 0);
        for (size_t i = 0; i < g->pieces; i++) {
            assert_int_equal(g->segment[i].seq, at);
            assert_int_equal(g->segment[i].section, section++);
            assert_int_equal(g->data[i][0], lo_byte(at));
            at += g->len[i];
        }
    }
    assert_int_equal(section, SECTIONS);
    free(g);
}

/* Sends three bytes, each a section, with a class and a tag. */
static void send_with_meta(tltcp_socket *s) {
    struct iovec iov[3];
    char bytes[] = "abc";
    struct tltcp_meta metas[3] = {
        {.section_class = TL_CLASS_KEY, .stream = 2, .tag = 70},
        {.section_class = TL_CLASS_REFERENCE, .stream = 2},
        {.section_class = TL_CLASS_DISPOSABLE, .depends = 2, .tag = 72}};
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(metas))];
    } control = {{0}};
    struct msghdr m = {.msg_iov = iov,
                       .msg_iovlen = 3,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};

    for (size_t i = 0; i < 3; i++) {
        iov[i] = (struct iovec){.iov_base = &bytes[i], .iov_len = 1};
    }
    control.align.cmsg_level = SOL_TLTCP;
    control.align.cmsg_type = TL_META;
    control.align.cmsg_len = CMSG_LEN(sizeof(metas));
    memcpy(CMSG_DATA(&control.align), metas, sizeof(metas));
    assert_int_equal(tltcp_sendmsg(s, &m, MSG_TL), 3);
}

/* Up to four pieces; room for five in the control data. */
static size_t recv_with_meta(tltcp_socket *s, struct tltcp_meta *metas) {
    enum { PIECES = 4, ROOM = 5 };
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(ROOM * sizeof(struct tltcp_segment)) +
                      CMSG_SPACE(ROOM * sizeof(struct tltcp_meta))];
    } control;
    char room[PIECES];
    struct iovec iov[PIECES];
    struct msghdr m = {.msg_iov = iov,
                       .msg_iovlen = PIECES,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    const struct cmsghdr *c;

    for (size_t i = 0; i < PIECES; i++) {
        iov[i] = (struct iovec){.iov_base = &room[i], .iov_len = 1};
    }
    assert_true(tltcp_recvmsg(s, &m, MSG_TL | MSG_TL_META) > 0);
    assert_int_equal(m.msg_flags, MSG_TL);
    c = CMSG_FIRSTHDR(&m);
    assert_int_equal(c->cmsg_type, TL_SEGMENT);
    assert_int_equal(c->cmsg_len,
                     CMSG_LEN(m.msg_iovlen * sizeof(struct tltcp_segment)));
    c = CMSG_NXTHDR(&m, (struct cmsghdr *)(uintptr_t)c);
    assert_non_null(c);
    assert_int_equal(c->cmsg_level, SOL_TLTCP);
    assert_int_equal(c->cmsg_type, TL_META);
    assert_int_equal(c->cmsg_len, CMSG_LEN(m.msg_iovlen * sizeof(*metas)));
    memcpy(metas, CMSG_DATA(c), m.msg_iovlen * sizeof(*metas));
    return m.msg_iovlen;
}

TEST(what_is_said_of_sections_arrives_with_them) {
    struct lo *l = *state;
    struct tltcp_meta metas[3 + 4];
    size_t n = 0;

    lo_pair(l);
    send_with_meta(l->client);
    while (n < 3) {
        n += recv_with_meta(l->server, metas + n);
    }
    assert_int_equal(metas[0].section_class, TL_CLASS_KEY);
    assert_int_equal(metas[0].stream, 2);
    assert_int_equal(metas[0].depends, TL_DEPENDS_NONE);
    assert_int_equal(metas[0].tag, 70);
    assert_int_equal(metas[1].section_class, TL_CLASS_REFERENCE);
    assert_int_equal(metas[1].depends, 1);
    assert_int_equal(metas[1].tag, 0);
    assert_int_equal(metas[2].section_class, TL_CLASS_DISPOSABLE);
    assert_int_equal(metas[2].stream, 0);
    assert_int_equal(metas[2].depends, 2);
    assert_int_equal(metas[2].tag, 72);
}

TEST(a_long_section_comes_in_pieces) {
    struct lo *l = *state;
    size_t len = 300000;
    uint8_t *data = malloc(len);
    struct lo_got *g = malloc(sizeof(*g));
    size_t at = 0;

    assert_non_null(data);
    assert_non_null(g);
    lo_fill(data, len, 0);
    lo_pair(l);
    assert_int_equal(lo_send(l->client, data, len, TLTCP_TIME_NEVER), len);
    while (at < len) {
        lo_recv(l->server, g, 16, 0);
        assert_true(g->rv > 0);
        for (size_t i = 0; i < g->pieces; i++) {
            uint32_t flags = at == 0 ? TL_SECTION_START : 0;

            flags |= at + g->len[i] == len ? TL_SECTION_END : 0;
            assert_int_equal(g->segment[i].section, 0);
            assert_int_equal(g->segment[i].seq, at);
            assert_int_equal(g->segment[i].flags, flags);
            assert_memory_equal(g->data[i], data + at, g->len[i]);
            at += g->len[i];
        }
    }
    free(data);
    free(g);
}

TEST(shutdown_gives_the_peer_the_end) {
    struct lo *l = *state;
    char byte;

    lo_pair(l);
    lo_send_text(l->client, "last words");
    assert_int_equal(tltcp_shutdown(l->client), 0);
    lo_expect_text(l->server, "last words");
    lo_expect_end(l->server);
    assert_int_equal(lo_recv_plain(l->server, &byte, 1, 0), TLTCP_ERR_CLOSED);
    lo_send_text(l->server, "still here");
    lo_expect_text(l->client, "still here");
}

TEST(close_delivers_everything_first) {
    struct lo *l = *state;

    lo_pair(l);
    for (int i = 0; i < 50; i++) {
        lo_send_text(l->client, "some text");
    }
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
    for (int i = 0; i < 50; i++) {
        lo_expect_text(l->server, "some text");
    }
    lo_expect_end(l->server);
}

TEST(addresses_identify_the_hosts) {
    struct lo *l = *state;
    struct sockaddr_storage a;
    struct sockaddr_storage b;
    socklen_t la = sizeof(a);
    socklen_t lb = sizeof(b);

    lo_pair(l);
    assert_int_equal(tltcp_local_address(l->client, (struct sockaddr *)&a, &la),
                     0);
    assert_int_equal(tltcp_peer_address(l->server, (struct sockaddr *)&b, &lb),
                     0);
    assert_int_equal(la, lb);
    assert_memory_equal(&a, &b, la);
    la = sizeof(a);
    lb = sizeof(b);
    assert_int_equal(
        tltcp_local_address(l->listener, (struct sockaddr *)&a, &la), 0);
    assert_int_equal(tltcp_peer_address(l->client, (struct sockaddr *)&b, &lb),
                     0);
    assert_int_equal(la, lb);
    assert_memory_equal(&a, &b, la);
}

TEST(the_stream_id_reaches_the_listener) {
    struct lo *l = *state;

    l->config.stream_id = "camera/7";
    lo_pair(l);
    assert_string_equal(tltcp_stream_id(l->server), "camera/7");
    assert_string_equal(tltcp_stream_id(l->client), "camera/7");
}

TEST(statistics_count_the_carried_packets) {
    struct lo *l = *state;
    tltcp_stats st;

    lo_pair(l);
    lo_send_text(l->client, "0123456789");
    lo_expect_text(l->server, "0123456789");
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    assert_int_equal(st.sections_offered, 1);
    assert_int_equal(st.bytes_offered, 10);
    assert_true(st.packets_sent > 0);
    assert_true(st.srtt_ns > 0);
    assert_int_equal(tltcp_get_stats(l->server, &st), 0);
    assert_int_equal(st.bytes_received, 10);
    assert_int_equal(st.bytes_read, 10);
    assert_int_equal(st.sections_complete, 1);
    assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
    assert_int_equal(st.bytes_read, 10);
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    l->server = NULL;
    assert_int_equal(tltcp_get_stats(l->listener, &st), 0);
    assert_int_equal(st.bytes_read, 10); /* of those that are gone, too */
}

#define TESTS(how)                                                       \
    {                                                                    \
        LO_TEST(a_section_arrives_whole_with_its_bounds, how),           \
            LO_TEST(both_ends_send, how),                                \
            LO_TEST(what_is_sent_before_accept_is_not_lost, how),        \
            LO_TEST(what_is_sent_before_the_handshake_is_not_lost, how), \
            LO_TEST(one_call_sends_many_sections_and_numbers_them, how), \
            LO_TEST(what_is_said_of_sections_arrives_with_them, how),    \
            LO_TEST(a_long_section_comes_in_pieces, how),                \
            LO_TEST(shutdown_gives_the_peer_the_end, how),               \
            LO_TEST(close_delivers_everything_first, how),               \
            LO_TEST(addresses_identify_the_hosts, how),                  \
            LO_TEST(the_stream_id_reaches_the_listener, how),            \
            LO_TEST(statistics_count_the_carried_packets, how),          \
    }

int main(void) {
    const struct CMUnitTest ipv4[] = TESTS(ipv4);
    const struct CMUnitTest ipv6[] = TESTS(ipv6);
    const struct CMUnitTest plain[] = TESTS(plain);
    const struct CMUnitTest threads[] = TESTS(threads);
    const struct CMUnitTest no_gso[] = TESTS(no_gso);
    int failed = cmocka_run_group_tests(ipv4, NULL, NULL);

    failed += cmocka_run_group_tests(plain, NULL, NULL);
    failed += cmocka_run_group_tests(no_gso, NULL, NULL);
    failed += cmocka_run_group_tests(threads, NULL, NULL);
    if (lo_has_ipv6()) {
        failed += cmocka_run_group_tests(ipv6, NULL, NULL);
    }
    return failed;
}

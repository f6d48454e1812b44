/* SPDX-License-Identifier: MPL-2.0 */
/* Errors of applications: options, arguments, control data. */
#include <stdlib.h>

#include "tests/loopback/lo.h"

/* --- Options ------------------------------------------------------------- */

TEST(options_out_of_range_are_refused) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;
    tltcp_config c = l->config;

    c.congestion = "no-such-controller";
    assert_int_equal(tltcp_listen(&s, l->host, "0", &c), TLTCP_ERR_ALGORITHM);
    assert_int_equal(tltcp_connect(&s, l->host, "7", &c, 10),
                     TLTCP_ERR_ALGORITHM);
    c = l->config;
    c.recovery = "hope";
    assert_int_equal(tltcp_listen(&s, l->host, "0", &c), TLTCP_ERR_ALGORITHM);
    c = l->config;
    c.send_buffer = 1;
    assert_int_equal(tltcp_listen(&s, l->host, "0", &c), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_connect(&s, l->host, "7", &c, 10), TLTCP_ERR_INVAL);
    memset(&c, 0, sizeof(c)); /* tltcp_config_init() forgotten */
    assert_int_equal(tltcp_listen(&s, l->host, "0", &c), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_connect(&s, l->host, "7", &c, 10), TLTCP_ERR_INVAL);
    assert_null(s);
}

TEST(a_qlog_folder_that_is_not_there_is_an_error) {
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    l->config.qlog_dir = "/nonexistent/folder";
    assert_int_equal(tltcp_listen(&s, l->host, "0", &l->config), TLTCP_ERR_IO);
    assert_int_equal(tltcp_connect(&s, l->host, "7", &l->config, 10),
                     TLTCP_ERR_IO);
    assert_null(s);
}

TEST(a_config_may_be_left_out) {
    struct lo *l = *state;

    assert_int_equal(tltcp_listen(&l->listener, l->host, "0", NULL), 0);
    lo_port(l->listener, l->port);
    assert_int_equal(
        tltcp_connect(&l->client, l->host, l->port, NULL, LO_PATIENCE), 0);
}

TEST(an_older_and_shorter_config_is_understood) {
    struct lo *l = *state;
    tltcp_config c;

    memset(&c, 0xff, sizeof(c)); /* what lies beyond must not be read */
    tltcp_config_init_sized(&c, offsetof(tltcp_config, listener));
    assert_int_equal(tltcp_listen(&l->listener, l->host, "0", &c), 0);
    lo_port(l->listener, l->port);
    lo_connect(l);
    lo_accept(l);
}

TEST(strings_of_a_config_need_not_outlive_the_call) {
    struct lo *l = *state;
    char congestion[] = "cubic";
    char recovery[] = "dupack-sack";
    char name[] = "beta";
    const char *names[] = {name, NULL};
    double values[] = {0.5};
    tltcp_stats st;

    l->config.congestion = congestion;
    l->config.recovery = recovery;
    l->config.controller.params = names;
    l->config.controller.values = values;
    lo_listen(l);
    tltcp_config_init(&l->config);
    memset(congestion, 'x', sizeof(congestion) - 1);
    memset(recovery, 'x', sizeof(recovery) - 1);
    memset(name, 'x', sizeof(name) - 1);
    names[0] = NULL;
    lo_connect(l);
    lo_accept(l);
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->server, &st), 0);
    assert_string_equal(st.congestion, "cubic");
    assert_string_equal(st.recovery, "dupack-sack");
}

/* --- Arguments ----------------------------------------------------------- */

TEST(null_is_refused_everywhere) {
    struct lo *l = *state;
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    tltcp_socket *s = NULL;
    struct msghdr m = {0};
    tltcp_event ev;
    tltcp_stats st;

    lo_pair(l);
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_listen(NULL, NULL, "0", NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_listen(&s, NULL, NULL, NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_connect(NULL, "::1", "7", NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_connect(&s, NULL, "7", NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_connect(&s, "::1", NULL, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_accept(NULL, &s, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_accept(l->listener, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_accept(l->client, &s, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_sendmsg(NULL, &m, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_sendmsg(l->client, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recvmsg(NULL, &m, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recvmsg(l->client, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_next_event(NULL, &ev, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_next_event(l->client, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_get_stats(NULL, &st), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_get_stats(l->client, NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_fd(NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_writable_fd(NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_event_fd(NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_shutdown(NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_socket_error(NULL, NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_wait_connected(NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_local_address(NULL, (struct sockaddr *)&sa, &len),
                     TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_local_address(l->client, NULL, &len),
                     TLTCP_ERR_INVAL);
    assert_int_equal(
        tltcp_peer_address(l->client, (struct sockaddr *)&sa, NULL),
        TLTCP_ERR_INVAL);
    assert_string_equal(tltcp_stream_id(NULL), "");
    assert_int_equal(tltcp_close(NULL, 0), 0);
}

TEST(a_listener_is_no_connection) {
    struct lo *l = *state;
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    tltcp_event ev;
    char byte = 0;

    lo_listen(l);
    assert_int_equal(lo_send(l->listener, "x", 1, TLTCP_TIME_NEVER),
                     TLTCP_ERR_STATE);
    assert_int_equal(lo_recv_plain(l->listener, &byte, 1, MSG_DONTWAIT),
                     TLTCP_ERR_STATE);
    assert_int_equal(tltcp_shutdown(l->listener), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_next_event(l->listener, &ev, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_writable_fd(l->listener), TLTCP_ERR_INVAL);
    assert_int_equal(
        tltcp_peer_address(l->listener, (struct sockaddr *)&sa, &len),
        TLTCP_ERR_INVAL);
}

TEST(too_little_room_for_an_address_is_refused) {
    struct lo *l = *state;
    struct sockaddr_in a;
    socklen_t len = sizeof(a) - 1;

    lo_listen(l);
    assert_int_equal(
        tltcp_local_address(l->listener, (struct sockaddr *)&a, &len),
        TLTCP_ERR_INVAL);
}

TEST(messages_without_sections_are_refused) {
    struct lo *l = *state;
    char byte = 'x';
    struct iovec iov[2] = {{.iov_base = &byte, .iov_len = 1},
                           {.iov_base = &byte, .iov_len = 0}};
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = 0};

    lo_pair(l);
    assert_int_equal(tltcp_sendmsg(l->client, &m, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recvmsg(l->client, &m, 0), TLTCP_ERR_INVAL);
    m.msg_iovlen = 2; /* one of them empty */
    assert_int_equal(tltcp_sendmsg(l->client, &m, 0), TLTCP_ERR_INVAL);
    iov[0].iov_base = NULL;
    m.msg_iovlen = 1;
    assert_int_equal(tltcp_sendmsg(l->client, &m, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recvmsg(l->client, &m, 0), TLTCP_ERR_INVAL);
    m.msg_iov = NULL;
    assert_int_equal(tltcp_sendmsg(l->client, &m, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recvmsg(l->client, &m, 0), TLTCP_ERR_INVAL);
}

TEST(unknown_flags_are_refused) {
    struct lo *l = *state;
    char byte = 'x';
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    lo_pair(l);
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_OOB), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_recvmsg(l->client, &m, MSG_PEEK), TLTCP_ERR_INVAL);
}

TEST(a_section_larger_than_the_buffer_is_refused) {
    struct lo *l = *state;
    size_t len = 8193;
    uint8_t *data = calloc(1, len);

    assert_non_null(data);
    l->config.send_buffer = 8192;
    lo_pair(l);
    assert_int_equal(lo_send(l->client, data, len, TLTCP_TIME_NEVER),
                     TLTCP_ERR_TOO_BIG);
    assert_int_equal(lo_send(l->client, data, len - 1, TLTCP_TIME_NEVER),
                     len - 1);
    free(data);
}

TEST(sending_after_shutdown_is_refused) {
    struct lo *l = *state;

    lo_pair(l);
    assert_int_equal(tltcp_shutdown(l->client), 0);
    assert_int_equal(tltcp_shutdown(l->client), 0);
    assert_int_equal(lo_send(l->client, "x", 1, TLTCP_TIME_NEVER),
                     TLTCP_ERR_STATE);
}

/* --- Control data -------------------------------------------------------- */

TEST(deadlines_must_match_the_sections) {
    struct lo *l = *state;
    char byte = 'x';
    struct iovec iov[2] = {{.iov_base = &byte, .iov_len = 1},
                           {.iov_base = &byte, .iov_len = 1}};
    union {
        struct cmsghdr align;
        uint8_t bytes[2 * CMSG_SPACE(4 * sizeof(tltcp_time))];
    } control;
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
    struct cmsghdr *c = &control.align;

    lo_pair(l);
    memset(&control, 0xff, sizeof(control));
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_CONTROL);
    m.msg_control = &control;
    m.msg_controllen = 4; /* not even a header */
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_CONTROL);
    for (size_t n = 0; n <= 3; n++) { /* 2 would be right */
        c->cmsg_level = SOL_TLTCP;
        c->cmsg_type = TL_DEADLINE;
        c->cmsg_len = CMSG_LEN(n * sizeof(tltcp_time));
        m.msg_controllen = CMSG_SPACE(n * sizeof(tltcp_time));
        assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL),
                         n == 2 ? 2 : TLTCP_ERR_CONTROL);
    }
    c->cmsg_len = CMSG_LEN(2 * sizeof(tltcp_time));
    m.msg_controllen = c->cmsg_len - 1; /* shorter than it says */
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_CONTROL);
    m.msg_controllen = CMSG_SPACE(2 * sizeof(tltcp_time));
    c->cmsg_level = SOL_SOCKET;
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_CONTROL);
    c->cmsg_level = SOL_TLTCP;
    c->cmsg_type = TL_SEGMENT;
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_CONTROL);
}

TEST(metadata_must_match_its_sections) {
    struct lo *l = *state;
    char byte = 'x';
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct tltcp_meta meta = {.section_class = TL_CLASS_KEY, .tag = 7};
    tltcp_time deadline = TLTCP_TIME_NEVER;
    union {
        struct cmsghdr align;
        uint8_t bytes[3 * CMSG_SPACE(sizeof(struct tltcp_meta))];
    } control;
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = CMSG_SPACE(sizeof(meta))};
    struct cmsghdr *c = &control.align;
    tltcp_event ev;

    l->config.report_fates = true;
    lo_pair(l);
    memset(&control, 0, sizeof(control));
    c->cmsg_level = SOL_TLTCP;
    c->cmsg_type = TL_META;
    c->cmsg_len = CMSG_LEN(sizeof(meta) - 1);
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_CONTROL);
    c->cmsg_len = CMSG_LEN(sizeof(meta));
    memcpy(CMSG_DATA(c), &meta, sizeof(meta));
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), 1);
    do {
        assert_int_equal(tltcp_next_event(l->client, &ev, LO_PATIENCE), 1);
    } while (ev.type != TLTCP_EVENT_FATE);
    assert_int_equal(ev.tag, 7);
    assert_int_equal(ev.section_class, TL_CLASS_KEY);
    assert_int_equal(ev.cause, TLTCP_CAUSE_NONE);
    meta.section_class = TL_CLASS_LAST + 1;
    memcpy(CMSG_DATA(c), &meta, sizeof(meta));
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_INVAL);
    meta = (struct tltcp_meta){.stream = TL_STREAMS_MAX};
    memcpy(CMSG_DATA(c), &meta, sizeof(meta));
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_INVAL);
    meta.stream = 1;
    memcpy(CMSG_DATA(c), &meta, sizeof(meta));
    c = (struct cmsghdr *)(void *)(control.bytes + CMSG_SPACE(sizeof(meta)));
    c->cmsg_level = SOL_TLTCP;
    c->cmsg_type = TL_DEADLINE;
    c->cmsg_len = CMSG_LEN(sizeof(deadline));
    memcpy(CMSG_DATA(c), &deadline, sizeof(deadline));
    m.msg_controllen += CMSG_SPACE(sizeof(deadline));
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), 1); /* both */
    c->cmsg_type = TL_META; /* twice, and too short */
    assert_int_equal(tltcp_sendmsg(l->client, &m, MSG_TL), TLTCP_ERR_CONTROL);
}

TEST(control_data_too_small_for_one_piece_is_refused) {
    struct lo *l = *state;
    char byte;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    uint8_t control[CMSG_SPACE(sizeof(struct tltcp_segment))];
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    lo_pair(l);
    lo_send_text(l->client, "x");
    assert_int_equal(tltcp_recvmsg(l->server, &m, MSG_TL), TLTCP_ERR_CONTROL);
    m.msg_control = control;
    m.msg_controllen = CMSG_LEN(sizeof(struct tltcp_segment)) - 1;
    assert_int_equal(tltcp_recvmsg(l->server, &m, MSG_TL), TLTCP_ERR_CONTROL);
    m.msg_controllen = sizeof(control);
    assert_int_equal(tltcp_recvmsg(l->server, &m, MSG_TL | MSG_TL_META),
                     TLTCP_ERR_CONTROL);
    assert_int_equal(tltcp_recvmsg(l->server, &m, MSG_TL_META),
                     TLTCP_ERR_INVAL);
    lo_expect_text(l->server, "x"); /* nothing was lost by it */
}

TEST(little_control_room_limits_the_pieces) {
    struct lo *l = *state;
    struct lo_got *g = malloc(sizeof(*g));
    char room[3];
    struct iovec iov[3] = {{.iov_base = &room[0], .iov_len = 1},
                           {.iov_base = &room[1], .iov_len = 1},
                           {.iov_base = &room[2], .iov_len = 1}};
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(2 * sizeof(struct tltcp_segment))];
    } control;
    struct msghdr m = {.msg_iov = iov,
                       .msg_iovlen = 3,
                       .msg_control = &control,
                       .msg_controllen =
                           CMSG_LEN(2 * sizeof(struct tltcp_segment))};

    assert_non_null(g);
    lo_pair(l);
    /* The first tells that all are there: one packet carries the three. */
    assert_int_equal(
        tltcp_sendmsg(l->client,
                      &(struct msghdr){.msg_iov = iov, .msg_iovlen = 3}, 0),
        3);
    assert_int_equal(tltcp_recvmsg(l->server, &m, MSG_TL), 2);
    assert_int_equal(m.msg_iovlen, 2);
    assert_int_equal(m.msg_flags, MSG_TL | MSG_CTRUNC);
    lo_recv(l->server, g, 2, 0);
    assert_int_equal(g->rv, 1);
    assert_int_equal(g->flags, MSG_TL);
    assert_int_equal(g->segment[0].section, 2);
    free(g);
}

TEST(statistics_must_be_set_up) {
    struct lo *l = *state;
    tltcp_stats st;

    lo_pair(l);
    memset(&st, 0, sizeof(st));
    assert_int_equal(tltcp_get_stats(l->client, &st), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_get_stats(l->listener, &st), TLTCP_ERR_INVAL);
}

TEST(statistics_of_an_older_or_a_newer_program_are_filled_in) {
    const size_t size = offsetof(tltcp_stats, packets_lost);
    struct lo *l = *state;
    const tltcp_socket *sockets[2];
    struct {
        tltcp_stats known;
        uint64_t later;
    } st;

    lo_pair(l);
    sockets[0] = l->client;
    sockets[1] = l->listener;
    for (size_t i = 0; i < 2; i++) {
        tltcp_stats_init_sized(&st.known, size);
        st.known.packets_lost = 77;
        assert_int_equal(tltcp_get_stats(sockets[i], &st.known), 0);
        assert_int_equal(st.known.struct_size, size);
        assert_int_not_equal(st.known.packets_sent, 0);
        assert_int_equal(st.known.packets_lost, 77);
        tltcp_stats_init_sized(&st.known, sizeof(st));
        assert_int_equal(tltcp_get_stats(sockets[i], &st.known), 0);
        assert_int_equal(st.known.struct_size, sizeof(st));
        assert_int_not_equal(st.known.packets_sent, 0);
        assert_int_equal(st.later, 0);
    }
}

#define T(f) cmocka_unit_test_setup_teardown(f, lo_ipv4, lo_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(options_out_of_range_are_refused),
        T(a_qlog_folder_that_is_not_there_is_an_error),
        T(a_config_may_be_left_out),
        T(an_older_and_shorter_config_is_understood),
        T(strings_of_a_config_need_not_outlive_the_call),
        T(null_is_refused_everywhere),
        T(a_listener_is_no_connection),
        T(too_little_room_for_an_address_is_refused),
        T(messages_without_sections_are_refused),
        T(unknown_flags_are_refused),
        T(a_section_larger_than_the_buffer_is_refused),
        T(sending_after_shutdown_is_refused),
        T(deadlines_must_match_the_sections),
        T(metadata_must_match_its_sections),
        T(control_data_too_small_for_one_piece_is_refused),
        T(little_control_room_limits_the_pieces),
        T(statistics_must_be_set_up),
        T(statistics_of_an_older_or_a_newer_program_are_filled_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

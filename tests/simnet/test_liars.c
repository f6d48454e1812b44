/* SPDX-License-Identifier: MPL-2.0 */
/* Peers that lie: the connection ends with a named error, or the lie is
 * ignored. */
#include "tests/simnet/lie.h"

/* The last that is allowed is taken. */
static void expect_nothing(struct lie *l, struct end *victim) {
    assert_int_equal(lie_tell(l, victim), 0);
    assert_false(victim->closed);
}

/* Tells the lie and expects the end of the victim with an error. */
static void expect_end(struct lie *l, struct end *victim, int error) {
    (void)lie_tell(l, victim);
    if (!victim->closed || victim->error != error) {
        fail_msg("closed %d, error %d (%s), expected %d (%s)", victim->closed,
                 victim->error, tltcp_strerror(victim->error), error,
                 tltcp_strerror(error));
    }
    assert_true(victim->reason[0] != '\0');
    lie_close();
}

TEST(an_ack_of_a_packet_never_sent_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[CLIENT], 1);
    lie_ack(&l, 100000, 0, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

TEST(an_ack_of_packets_below_zero_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[CLIENT], 2);
    lie_ack(&l, 3, 4, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

TEST(ranges_of_an_ack_below_zero_end_it) {
    struct lie l;
    tltcp__ack a = {.largest = 10, .window = {1 << 20, 1000}};
    lie_start(&l, &w.end[CLIENT], 3);
    tltcp__ack_put(&l.w, &a, 1);
    cmn__put32(&l.w, 0xfffffff0);
    cmn__put32(&l.w, 0xfffffff0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

TEST(a_cumulative_ack_of_unsent_data_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[CLIENT], 4);
    lie_ack(&l, 3, 0, 900000);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

TEST(data_beyond_the_window_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 5);
    lie_data(&l, 0, stream_read() + 99990, sections_read() + 99, 10);
    expect_nothing(&l, &w.end[SERVER]);
    lie_begin(&l, &w.end[SERVER]);
    lie_data(&l, 0, stream_read() + 99991, sections_read() + 99, 10);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

TEST(sections_beyond_the_window_end_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 6);
    lie_data(&l, 0, stream_read() + 50000, sections_read() + 99, 10);
    expect_nothing(&l, &w.end[SERVER]);
    lie_begin(&l, &w.end[SERVER]);
    lie_data(&l, 0, stream_read() + 50000, sections_read() + 100, 10);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

TEST(an_impossible_seq_update_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 7);
    lie_place(&l, TLTCP__UPDATE, stream_read() + 0x50000000, 100000);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_FLOW);
}

TEST(sections_that_run_backwards_end_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 8);
    lie_place(&l, TLTCP__UPDATE, stream_read() + 5000, 2);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

TEST(data_that_contradicts_itself_ends_it) {
    /* flags, seq, section, len relative to what was read; two chunks */
    static const uint32_t lies[][8] = {
        {1, 5000, 9, 100, 1, 5050, 9, 100}, /* begins twice */
        {2, 5000, 9, 100, 2, 5050, 9, 100}, /* ends twice */
        {2, 5000, 9, 100, 0, 5100, 9, 100}, /* goes on behind its end */
        {1, 5000, 9, 100, 0, 4900, 9, 100}, /* begins before its start */
        {0, 5000, 9, 100, 1, 5050, 9, 100}, /* starts inside itself */
        {0, 5000, 9, 100, 2, 4900, 9, 100}, /* ends inside itself */
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        const uint32_t *x = lies[i];
        struct lie l;
        lie_start(&l, &w.end[SERVER], 9 + i);
        lie_data(&l, x[0], stream_read() + x[1], sections_read() + x[2], x[3]);
        lie_data(&l, x[4], stream_read() + x[5], sections_read() + x[6], x[7]);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

TEST(two_ends_of_a_stream_end_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 20);
    lie_place(&l, TLTCP__FIN, stream_read() + 90000, 200);
    lie_place(&l, TLTCP__FIN, stream_read() + 80000, 200);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

TEST(data_behind_the_end_of_the_stream_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 21);
    lie_place(&l, TLTCP__FIN, stream_read() + 5000, 50);
    lie_data(&l, 0, stream_read() + 4999, 49, 2);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    lie_start(&l, &w.end[SERVER], 24);
    lie_place(&l, TLTCP__FIN, stream_read() + 5000, 50);
    lie_place(&l, TLTCP__UPDATE, stream_read() + 5001, 51);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

TEST(an_end_before_received_data_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 22);
    lie_place(&l, TLTCP__FIN, stream_read() - 1, 1);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

TEST(chunks_that_are_unknown_or_malformed_end_it) {
    static const uint8_t types[] = {0x0d, 0x0f, 0x10, 0x20, 0x7f};
    for (size_t i = 0; i < sizeof(types); i++) {
        struct lie l;
        lie_start(&l, &w.end[SERVER], 23 + i);
        tltcp__chunk_put(&l.w, types[i], 0, 0);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
    for (uint8_t type = 1; type <= 9; type++) { /* too short a body */
        struct lie l;
        if (type == TLTCP__PING) {
            continue;
        }
        lie_start(&l, &w.end[SERVER], 30 + type);
        tltcp__chunk_put(&l.w, type, 0, 3);
        lie_put(&l, 0, 3);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

TEST(chunks_from_0x80_on_are_skipped) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 40);
    tltcp__chunk_put(&l.w, 0x80, 7, 5);
    lie_put(&l, 0, 5);
    tltcp__chunk_put(&l.w, 0xff, 7, 0);
    assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    assert_false(w.end[SERVER].closed);
    lie_close();
}

TEST(a_window_that_shrinks_is_ignored) {
    const tltcp__sections *sec;
    uint64_t seq;
    uint64_t section;
    struct lie l;
    lie_open(41);
    sec = &w.end[CLIENT].peer->conn->sender.sec;
    seq = sec->peer_seq;
    section = sec->peer_section;
    lie_begin(&l, &w.end[CLIENT]);
    lie_place(&l, TLTCP__WINDOW, 5, 1);
    assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    assert_int_equal(sec->peer_seq, seq);
    assert_int_equal(sec->peer_section, section);
    assert_false(w.end[CLIENT].closed);
    lie_close();
}

TEST(nonces_and_pings_of_the_wrong_length_end_it) {
    static const uint8_t types[] = {TLTCP__CHALLENGE, TLTCP__RESPONSE,
                                    TLTCP__PING};
    for (size_t i = 0; i < sizeof(types); i++) {
        struct lie l;
        lie_start(&l, &w.end[SERVER], 48 + i);
        tltcp__chunk_put(&l.w, types[i], 0, 9);
        lie_put(&l, 0, 9);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

TEST(repairs_that_cannot_be_end_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 58);
    lie_repair(&l, stream_read() + 100, 100, TLTCP__FEC_REPAIR);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

TEST(the_same_repair_twice_is_one) {
    struct lie l;
    world_needs_fec();
    lie_open(57);
    for (int i = 0; i < 2; i++) {
        lie_begin(&l, &w.end[SERVER]);
        lie_repair(&l, stream_read() + 20000, 200, 3);
        expect_nothing(&l, &w.end[SERVER]);
    }
    lie_close();
}

TEST(a_rebuilt_report_of_unsent_bytes_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[CLIENT], 59);
    tltcp__rebuilt_put(&l.w, 900000, 1000);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

TEST(what_is_said_in_the_middle_of_a_section_ends_it) {
    static const unsigned said[] = {TLTCP__DATA_CLASS, TLTCP__DATA_DEPENDS,
                                    TLTCP__DATA_TAG};
    for (size_t i = 0; i < 3; i++) {
        struct lie l;
        lie_start(&l, &w.end[SERVER], 70 + i);
        lie_data(&l, said[i], stream_read() + 5000, sections_read() + 9, 10);
        expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    }
}

TEST(a_reference_to_itself_or_before_the_stream_ends_it) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 73);
    lie_data(&l, TLTCP__DATA_START | TLTCP__DATA_DEPENDS, stream_read() + 5000,
             sections_read() + 9, 10);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
    lie_start(&l, &w.end[SERVER], 74);
    lie_meta(&l, sections_read() + 9,
             &(tltcp__meta){.depends = sections_read() + 10});
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

TEST(a_chunk_shorter_than_announced_ends_the_packet) {
    struct lie l;
    lie_start(&l, &w.end[SERVER], 75);
    tltcp__chunk_put(&l.w, TLTCP__DATA, TLTCP__DATA_START | TLTCP__DATA_TAG,
                     15);
    lie_put(&l, 0, 15);
    expect_end(&l, &w.end[SERVER], TLTCP_ERR_PROTOCOL);
}

TEST(an_ack_of_a_number_left_out_ends_it) {
    const tltcp__sender *s;
    struct lie l;
    lie_open(60);
    s = &w.end[CLIENT].peer->conn->sender;
    while (s->skipped_numbers[0] == 0) {
        world_run_for(&w, 1 * SEC);
        assert_false(w.end[CLIENT].closed);
    }
    lie_begin(&l, &w.end[CLIENT]);
    lie_ack(&l, (uint32_t)s->skipped_numbers[0], 0, 0);
    expect_end(&l, &w.end[CLIENT], TLTCP_ERR_ACK);
}

TEST(a_receiver_that_acknowledges_ahead_is_found_out) {
    const tltcp__sender *s;
    uint64_t claimed = 0;
    int told = 0;
    lie_open(61);
    s = &w.end[CLIENT].peer->conn->sender;
    lie_mute_client();
    claimed = s->map.packets.tail;
    for (; !w.end[CLIENT].closed && told < 1000; told++) {
        struct lie l; /* one number after the other, as they must come */
        while (claimed >= s->map.packets.tail) {
            world_run_for(&w, 10 * MS);
        }
        lie_begin(&l, &w.end[CLIENT]);
        lie_ack(&l, (uint32_t)claimed++, 0, 0);
        (void)lie_tell(&l, &w.end[CLIENT]);
    }
    assert_in_range(told, 1, 600);
    assert_int_equal(w.end[CLIENT].error, TLTCP_ERR_ACK);
    lie_close();
}

TEST(a_seq_update_that_goes_backwards_is_ignored) {
    struct lie l;
    uint64_t read;
    lie_open(62);
    read = w.flow[CLIENT].next_seq;
    for (uint32_t back = 0; back < 3; back++) {
        lie_begin(&l, &w.end[SERVER]);
        lie_place(&l, TLTCP__UPDATE, (uint32_t)read - 1000 * (back + 1),
                  sections_read() - back - 1);
        assert_int_equal(lie_tell(&l, &w.end[SERVER]), 0);
    }
    assert_false(w.end[SERVER].closed);
    assert_int_equal(w.end[SERVER].peer->conn->reasm.cursor, read);
    world_run_for(&w, 1 * SEC);
    assert_true(w.flow[CLIENT].next_seq > read);
    assert_string_equal(w.why, "");
    lie_close();
}

/* Another one has the id of the caller, as who was on the path. */
TEST(an_answer_of_another_is_not_taken) {
    tltcp_conn *c;
    tltcp_pktinfo info;
    uint8_t buf[100];
    cmn__writer to = cmn__writer_of(buf, sizeof(buf));
    uint64_t peer;
    lie_open(64);
    c = w.end[CLIENT].peer->conn;
    peer = c->peer.id;
    info = (tltcp_pktinfo){.path = c->paths.current};
    sec__packet_put(&to, &(sec__packet){.type = SEC__ANSWER,
                                        .version = TLTCP__VERSION,
                                        .dcid = c->own.id,
                                        .scid = peer + 1,
                                        .pn = lie_next_pn});
    sec__packet_seal(&to, buf);
    (void)tltcp_conn_recv(c, &info, buf, (size_t)(to.p - buf),
                          sim_host_now(w.end[CLIENT].host));
    assert_false(w.end[CLIENT].closed);
    assert_int_equal(c->peer.id, peer);
    lie_close();
}

/* A listener closes; its peer goes on to ping, and says no more than that. */
static void close_on_one_that_pings(void) {
    end_close(&w.end[SERVER]);
    for (int i = 0; i < 300 && !w.end[SERVER].closed; i++) {
        struct lie l;
        lie_begin(&l, &w.end[SERVER]);
        tltcp__chunk_put(&l.w, TLTCP__PING, 0, 0);
        (void)lie_tell(&l, &w.end[SERVER]);
        world_run_for(&w, 1 * SEC);
    }
    assert_true(w.end[SERVER].closed);
}

/* One that hears of no end never echoes it. */
static void
a_peer_that_hears_of_no_end_is_not_waited_for_for_ever(void **state) {
    struct plan p;
    (void)state;
    plan_init(&p, 1);
    p.source[CLIENT].sections = 10;
    p.keep_open = true;
    world_start_for(&w, &p, 2 * SEC);
    lie_next_pn = 5000;
    lie_mute_client();
    close_on_one_that_pings(); /* idle timeouts are 30 s */
    assert_int_equal(w.end[SERVER].error, 0);
    lie_close();
}

/* Nor one that pings, but acknowledges nothing of what is still to arrive. */
static void
a_peer_that_acknowledges_nothing_does_not_hold_a_close(void **state) {
    struct plan p;
    (void)state;
    plan_init(&p, 1);
    p.source[SERVER].sections = 10;
    p.source[SERVER].interval = 500 * MS;
    p.keep_open = true;
    assert_int_equal(world_open(&w, &p), 0);
    world_run_for(&w, 2 * SEC);
    lie_next_pn = 5000;
    lie_mute_client();
    world_run_for(&w, 5 * SEC);
    close_on_one_that_pings();
    assert_int_equal(w.end[SERVER].error, TLTCP_ERR_ABORTED);
    lie_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_peer_that_acknowledges_nothing_does_not_hold_a_close),
        cmocka_unit_test(
            a_peer_that_hears_of_no_end_is_not_waited_for_for_ever),
        cmocka_unit_test(an_ack_of_a_packet_never_sent_ends_it),
        cmocka_unit_test(an_ack_of_packets_below_zero_ends_it),
        cmocka_unit_test(ranges_of_an_ack_below_zero_end_it),
        cmocka_unit_test(a_cumulative_ack_of_unsent_data_ends_it),
        cmocka_unit_test(data_beyond_the_window_ends_it),
        cmocka_unit_test(sections_beyond_the_window_end_it),
        cmocka_unit_test(an_impossible_seq_update_ends_it),
        cmocka_unit_test(sections_that_run_backwards_end_it),
        cmocka_unit_test(data_that_contradicts_itself_ends_it),
        cmocka_unit_test(two_ends_of_a_stream_end_it),
        cmocka_unit_test(data_behind_the_end_of_the_stream_ends_it),
        cmocka_unit_test(an_end_before_received_data_ends_it),
        cmocka_unit_test(chunks_that_are_unknown_or_malformed_end_it),
        cmocka_unit_test(chunks_from_0x80_on_are_skipped),
        cmocka_unit_test(a_window_that_shrinks_is_ignored),
        cmocka_unit_test(nonces_and_pings_of_the_wrong_length_end_it),
        cmocka_unit_test(repairs_that_cannot_be_end_it),
        cmocka_unit_test(the_same_repair_twice_is_one),
        cmocka_unit_test(a_rebuilt_report_of_unsent_bytes_ends_it),
        cmocka_unit_test(what_is_said_in_the_middle_of_a_section_ends_it),
        cmocka_unit_test(a_reference_to_itself_or_before_the_stream_ends_it),
        cmocka_unit_test(a_chunk_shorter_than_announced_ends_the_packet),
        cmocka_unit_test(an_ack_of_a_number_left_out_ends_it),
        cmocka_unit_test(a_receiver_that_acknowledges_ahead_is_found_out),
        cmocka_unit_test(a_seq_update_that_goes_backwards_is_ignored),
        cmocka_unit_test(an_answer_of_another_is_not_taken),
    };
    return cmocka_run_group_tests_name("liars", tests, NULL, NULL);
}

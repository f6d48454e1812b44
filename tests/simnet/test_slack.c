/* SPDX-License-Identifier: MPL-2.0 */
/* Paths with slack: fewer acknowledgements and longer trains. */
#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

static struct world w;

/* A live stream of 3.2 Mbit/s over a round trip of 40 ms. */
static void plan_live(struct plan *p) {
    plan_init(p, 1);
    for (int i = 0; i < 2; i++) {
        p->link[i].rate = 50e6;
        p->link[i].delay = 20 * MS;
        p->config[i].fec = TLTCP_FEC_OFF;
    }
    p->source[CLIENT].sections = 400;
    p->source[CLIENT].interval = 40 * MS;
    p->source[CLIENT].size_min = p->source[CLIENT].size_max = 16000;
    p->source[CLIENT].budget = 300 * MS;
}

/* Datagrams of the receiver for each one of the sender, over 5 s. */
static double answers(bool asks) {
    uint64_t sent;
    uint64_t answered;
    struct plan p;
    plan_live(&p);
    world_start_for(&w, &p, 500 * MS);
    w.end[CLIENT].peer->conn->sender.frequency.on &= asks;
    world_run_for(&w, 5 * SEC);
    sent = w.end[CLIENT].datagrams;
    answered = w.end[SERVER].datagrams;
    world_run_for(&w, 5 * SEC);
    sent = w.end[CLIENT].datagrams - sent;
    answered = w.end[SERVER].datagrams - answered;
    world_finish(&w);
    print_message("%.3f answers to a packet\n",
                  (double)answered / (double)sent);
    return (double)answered / (double)sent;
}

TEST(a_live_stream_gets_fewer_acks_than_one_for_two_packets) {
    assert_true(answers(true) < 0.25);
}

TEST(a_peer_that_is_not_asked_acknowledges_every_second_packet) {
    assert_true(answers(false) > 0.45);
}

static unsigned to_drop;

static bool asks_for_acks(const struct sim_packet *packet) {
    sec__packet p;
    cmn__reader r;
    tltcp__chunk k;
    if (!sec__packet_parse(packet->data, packet->len, &p) ||
        p.type != SEC__SHORT) {
        return false;
    }
    r = cmn__reader_of(p.body, p.body_len);
    while (tltcp__chunk_next(&r, &k)) {
        if (k.type == TLTCP__ACK_FREQUENCY) {
            return true;
        }
    }
    return false;
}

static bool drop_requests(void *user, uint32_t link, struct sim_packet *p,
                          uint64_t now) {
    (void)user, (void)link, (void)now;
    if (to_drop > 0 && asks_for_acks(p)) {
        to_drop--;
        return false;
    }
    return true;
}

TEST(a_lost_request_is_sent_again) {
    struct plan p;
    plan_live(&p);
    p.tap = drop_requests;
    to_drop = 3;
    world_start_for(&w, &p, 12 * SEC);
    assert_int_equal(to_drop, 0);
    assert_int_equal(w.end[SERVER].peer->conn->acks.every,
                     w.end[CLIENT].peer->conn->sender.frequency.every);
    assert_true(w.end[SERVER].peer->conn->acks.every > 2);
    world_finish(&w);
}

/* Packets of the sender that leave at one moment. */
static struct {
    uint64_t at;
    unsigned count;
    unsigned longest;
} train;

static bool watch_trains(void *user, uint32_t link, struct sim_packet *p,
                         uint64_t now) {
    (void)user;
    if (link == 0 && p->len > 1000) {
        train.count = now == train.at ? train.count + 1 : 1;
        train.at = now;
        if (train.count > train.longest) {
            train.longest = train.count;
        }
    }
    return true;
}

/* The longest train from the fifth to the tenth second. */
static unsigned longest_train(double rate, double loss) {
    struct plan p;
    plan_live(&p);
    p.tap = watch_trains;
    for (int i = 0; i < 2; i++) {
        p.link[i].rate = rate;
        p.link[i].loss = loss;
    }
    world_start_for(&w, &p, 5 * SEC);
    memset(&train, 0, sizeof(train));
    world_run_for(&w, 5 * SEC);
    world_finish(&w);
    print_message("%u packets\n", train.longest);
    return train.longest;
}

TEST(a_path_with_slack_gets_trains_of_at_most_ten_packets) {
    assert_in_range(longest_train(50e6, 0), 8, 10);
}

TEST(a_path_without_slack_gets_no_trains) {
    assert_in_range(longest_train(4e6, 0), 1, 3);
    assert_in_range(longest_train(50e6, 0.02), 1, 5);
}

/* How often slack ends in the 10 s after a window of so many pictures. */
static unsigned ends_of_slack(double pictures) {
    unsigned ends = 0;
    struct plan p;
    plan_live(&p);
    world_start_for(&w, &p, 2500 * MS);
    w.end[CLIENT].peer->conn->sender.cc.cong->cwnd = pictures * 16000;
    w.end[CLIENT].peer->conn->sender.cc.cong->ssthresh = pictures * 16000;
    world_run_for(&w, 10 * SEC);
    assert_true(w.end[CLIENT].peer->conn->sender.cc.slack);
    ends = w.end[CLIENT].peer->conn->sender.cc.relapses;
    world_finish(&w);
    return ends;
}

/* A window that just sufficed would be full of what waits for an ACK. */
TEST(fewer_acks_do_not_fill_the_window) {
    for (int tenths = 18; tenths <= 26; tenths += 2) {
        assert_int_equal(ends_of_slack(tenths / 10.0), 0);
    }
}

static bool drop_armed;

static bool drop_one(void *user, uint32_t link, struct sim_packet *p,
                     uint64_t now) {
    (void)user, (void)now;
    if (drop_armed && link == 0 && p->len > 1000) {
        drop_armed = false;
        return false;
    }
    return true;
}

static bool has_slack(void) {
    return w.end[CLIENT].peer->conn->sender.cc.slack;
}

TEST(slack_that_ended_takes_twice_as_long_to_come_back) {
    struct plan p;
    plan_live(&p);
    p.tap = drop_one;
    drop_armed = false;
    world_start_for(&w, &p, 5 * SEC);
    assert_true(has_slack());
    drop_armed = true;
    world_run_for(&w, SEC);
    assert_false(drop_armed);
    assert_false(has_slack());
    world_run_for(&w, 4 * SEC);
    assert_false(has_slack());
    world_run_for(&w, 3 * SEC);
    assert_true(has_slack());
    world_finish(&w);
}

/* Whether slack lasts for two seconds with a window of that many bytes beyond
 * what the stream has in flight. */
static bool lasts_with_room(double room) {
    struct plan p;
    struct cong *cc;
    bool lasts;
    plan_live(&p);
    world_start_for(&w, &p, 5 * SEC);
    assert_true(has_slack());
    cc = w.end[CLIENT].peer->conn->sender.cc.cong;
    cc->cwnd = 2 * 16000 + 2 * cc->mss + room;
    cc->ssthresh = cc->cwnd;
    world_run_for(&w, 2 * SEC);
    lasts = has_slack();
    world_finish(&w);
    return lasts;
}

/* Slack delays ACKs, so that more is in flight. */
TEST(slack_ends_with_a_full_window_but_not_with_a_nearly_full_one) {
    assert_true(lasts_with_room(0));
    assert_false(lasts_with_room(-16000));
}

/* The way out takes so much longer, for some time. The return path would not
 * count. */
static void delay_packets(struct plan *p, uint64_t delay, uint64_t time) {
    p->link[CLIENT].delay += delay;
    sim_net_set_link(w.net, w.link[CLIENT], &p->link[CLIENT]);
    world_run_for(&w, time);
    p->link[CLIENT].delay -= delay;
}

/* Whether slack lasts when packets take up to 60 ms longer than usual, and then
 * less and less. */
static bool lasts_with_late_packets(uint64_t time) {
    struct plan p;
    bool lasts;
    plan_live(&p);
    world_start_for(&w, &p, 5 * SEC);
    assert_true(has_slack());
    delay_packets(&p, 60 * MS, time / 2);
    delay_packets(&p, 30 * MS, time / 2);
    delay_packets(&p, 0, SEC);
    lasts = has_slack();
    world_finish(&w);
    return lasts;
}

/* As a receiver causes whose processor is busy. */
TEST(a_moment_with_a_longer_rtt_does_not_end_slack) {
    assert_true(lasts_with_late_packets(80 * MS));
    assert_false(lasts_with_late_packets(400 * MS));
}

/* Nor when each second packet is acknowledged, so that it shows in many ACKs:
 * what came while a host was busy is taken at once. */
TEST(a_moment_with_a_longer_rtt_does_not_put_slack_off) {
    struct plan p;
    plan_live(&p);
    world_start_for(&w, &p, 2 * SEC);
    for (uint64_t left = 40 * MS; left > 0; left -= MS) {
        delay_packets(&p, left, MS);
    }
    delay_packets(&p, 0, 1500 * MS);
    assert_true(has_slack());
    world_finish(&w);
}

/* An image each ten seconds. Each begins with a window of two packets, and
 * one late ACK acknowledges both. */
TEST(waiting_for_a_late_ack_is_no_silence) {
    struct plan p;
    plan_init(&p, 1);
    for (int i = 0; i < 2; i++) {
        p.link[i].rate = 10e6;
        p.link[i].delay = 150 * MS;
        p.config[i].packets.ack_every = 8;
        p.config[i].packets.max_ack_delay_ms = 100;
    }
    p.config[CLIENT].congestion = "cubic";
    p.config[CLIENT].controller.initial_window = 2;
    p.source[CLIENT].sections = 4;
    p.source[CLIENT].interval = 10 * SEC;
    p.source[CLIENT].size_min = p.source[CLIENT].size_max = 400000;
    world_start_for(&w, &p, 38 * SEC);
    assert_int_equal(w.flow[CLIENT].next_seq, 4 * 400000);
    world_finish(&w);
}

/* How often the engine wants to be called in a silence of ten seconds, with
 * nothing in flight, by a flow with a round trip of 200 us. */
static unsigned calls_in_silence(const char *congestion) {
    struct plan p;
    tltcp_conn *c;
    tltcp_time end;
    tltcp_time at;
    unsigned n = 0;
    plan_init(&p, 1);
    for (int i = 0; i < 2; i++) {
        p.link[i].rate = 0;
        p.link[i].delay = 100 * TLTCP_US;
    }
    p.config[CLIENT].congestion = congestion;
    p.config[CLIENT].keep_alive_ms = UINT32_MAX;
    p.source[CLIENT].sections = 3000;
    p.keep_open = true;
    world_start_for(&w, &p, 10 * SEC);
    c = w.end[CLIENT].peer->conn;
    assert_true(tltcp__sections_settled(&c->sender.sec));
    assert_int_equal(c->sender.map.flying, 0);
    end = c->now + 10 * SEC;
    for (at = tltcp_conn_timeout(c); at < end; at = tltcp_conn_timeout(c)) {
        tltcp_conn_on_timeout(c, at > c->now ? at : c->now);
        n++;
    }
    print_message("%s: %u calls\n", congestion, n);
    world_close(&w);
    return n;
}

TEST(a_flow_that_has_nothing_to_send_wakes_nobody) {
    assert_true(calls_in_silence("auto") <= 2);
    assert_true(calls_in_silence("tfrc") <= 32); /* the rate falls meanwhile */
    assert_true(calls_in_silence("stfrc") <= 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_that_has_nothing_to_send_wakes_nobody),
        cmocka_unit_test(
            a_live_stream_gets_fewer_acks_than_one_for_two_packets),
        cmocka_unit_test(
            a_peer_that_is_not_asked_acknowledges_every_second_packet),
        cmocka_unit_test(a_lost_request_is_sent_again),
        cmocka_unit_test(a_path_with_slack_gets_trains_of_at_most_ten_packets),
        cmocka_unit_test(a_path_without_slack_gets_no_trains),
        cmocka_unit_test(fewer_acks_do_not_fill_the_window),
        cmocka_unit_test(slack_that_ended_takes_twice_as_long_to_come_back),
        cmocka_unit_test(
            slack_ends_with_a_full_window_but_not_with_a_nearly_full_one),
        cmocka_unit_test(a_moment_with_a_longer_rtt_does_not_end_slack),
        cmocka_unit_test(a_moment_with_a_longer_rtt_does_not_put_slack_off),
        cmocka_unit_test(waiting_for_a_late_ack_is_no_silence),
    };
    return cmocka_run_group_tests_name("slack", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The rules of the recovery `packet`, one by one. */
#include "tests/simnet/lie.h"

/* The losses; times are of the virtual network. */
struct faults {
    uint64_t from, to;  /* all on the links below */
    bool link[2];       /* out of CLIENT, out of SERVER */
    const uint64_t *at; /* the first large packet of CLIENT from each */
    size_t count, next; /* of these moments */
};

static bool drop(void *user, uint32_t link, struct sim_packet *p,
                 uint64_t now) {
    struct faults *f = user;
    if (f->link[link] && now >= f->from && now < f->to) {
        return false;
    }
    if (link == 0 && p->len > 600 && f->next < f->count &&
        now >= f->at[f->next]) {
        f->next++;
        return false;
    }
    return true;
}

/* One section of 1000 bytes each 10 ms. */
static void stream(struct plan *p, struct faults *f) {
    plan_init(p, 1);
    p->source[CLIENT].sections = 500;
    p->source[CLIENT].interval = 10 * MS;
    p->config[CLIENT].packets.mtu_probing = false;
    p->config[CLIENT].fec = TLTCP_FEC_OFF;
    p->tap = drop;
    p->user = f;
}

/* One section of so many bytes, at 1 s. */
static void burst(struct plan *p, struct faults *f, uint32_t size) {
    stream(p, f);
    p->source[CLIENT].sections = 1;
    p->source[CLIENT].start = 1 * SEC;
    p->source[CLIENT].size_min = size;
    p->source[CLIENT].size_max = size;
}

TEST(probes_come_ever_more_seldom) {
    struct faults f = {.from = 1 * SEC, .to = 10 * SEC, .link = {true}};
    struct plan p;
    burst(&p, &f, 1000);
    world_start_for(&w, &p, 10 * SEC);
    /* the first after some 70 ms, each wait twice the one before */
    assert_in_range(end_stats(&w.end[CLIENT]).probes_sent, 5, 8);
    world_finish(&w);
}

/* With a deadline it waits as long again six times, and then twice as long,
 * until PINGs do. */
TEST(probes_of_live_data_keep_pace_for_a_while) {
    struct faults f = {.from = 1 * SEC, .to = 10 * SEC, .link = {true}};
    uint64_t sent, bytes;
    struct plan p;
    burst(&p, &f, 1000);
    p.source[CLIENT].budget = 20 * SEC;
    world_start_for(&w, &p, 2100 * MS);
    sent = end_stats(&w.end[CLIENT]).probes_sent;
    assert_in_range(sent, 6, 8); /* some 150 ms apart */
    world_run_for(&w, 900 * MS); /* two more probes */
    sent = end_stats(&w.end[CLIENT]).probes_sent;
    bytes = w.end[CLIENT].bytes;
    world_run_for(&w, 6 * SEC);
    assert_in_range(end_stats(&w.end[CLIENT]).probes_sent - sent, 9, 13);
    assert_true(w.end[CLIENT].bytes - bytes < 500);
    world_finish(&w);
}

/* Ever again for a while, which may be how far apart probes are. */
struct beats {
    uint64_t first, span, period;
};

static bool drop_at_beats(void *user, uint32_t link, struct sim_packet *p,
                          uint64_t now) {
    const struct beats *b = user;
    (void)p;
    return link != 0 || now < 1 * SEC ||
           (now >= b->first && (now - b->first) % b->period >= b->span);
}

TEST(probes_do_not_keep_time_with_an_outage) {
    for (uint64_t i = 0; i < 10; i++) {
        struct faults f = {0};
        struct beats b = {60 * SEC + i * SEC, 3 * SEC, 10 * SEC};
        struct plan p;
        burst(&p, &f, 1000);
        p.link[CLIENT].delay = 300 * MS;
        p.config[CLIENT].idle_timeout_ms = 600000;
        p.config[SERVER].idle_timeout_ms = 600000;
        p.tap = drop_at_beats;
        p.user = &b;
        world_start_for(&w, &p, 150 * SEC); /* a PING comes at 200 s */
        assert_true(w.end[CLIENT].closed);
        world_finish(&w);
    }
}

/* The RTO no longer doubles from 60 s on. */
TEST(nor_do_timeouts_of_the_paper) {
    for (uint64_t i = 0; i < 10; i++) {
        struct faults f = {0};
        struct beats b = {130 * SEC + i * 6 * SEC, 50 * SEC, 60 * SEC};
        struct plan p;
        burst(&p, &f, 1000);
        for (int k = 0; k < 2; k++) {
            p.config[k].recovery = "dupack";
            p.config[k].idle_timeout_ms = 3600000; /* PINGs from 1200 s on */
        }
        p.tap = drop_at_beats;
        p.user = &b;
        world_start_for(&w, &p, 1100 * SEC);
        assert_true(w.end[CLIENT].closed);
        world_finish(&w);
    }
}

/* Half a minute of a live stream of 2.8 Mbit/s through bursts of loss. */
static void plan_bursts(struct plan *p, uint64_t seed) {
    plan_init(p, seed);
    for (int i = 0; i < 2; i++) {
        p->config[i].idle_timeout_ms = 5000; /* as the elements have it */
        p->link[i].rate = 6e6;
        p->link[i].delay = 20 * MS;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = 50000;
        p->link[i].burst_enter = 1.0 / 36; /* 10 % of all packets, */
        p->link[i].burst_leave = 1.0 / 4;  /* four in a row */
        p->link[i].burst_loss = 1;
    }
    p->source[CLIENT].sections = 750;
    p->source[CLIENT].interval = 40 * MS;
    p->source[CLIENT].size_min = p->source[CLIENT].size_max = 14000;
    p->source[CLIENT].budget = 200 * MS;
    p->gives_up = true;
}

/* It is packets that end them, not time: who is silent meanwhile stays cut
 * off. */
TEST(bursts_of_losses_end_no_connection) {
    unsigned cut_off = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct plan p;
        plan_bursts(&p, seed);
        world_start_for(&w, &p, 30 * SEC);
        cut_off +=
            w.end[CLIENT].closed && w.end[CLIENT].error == TLTCP_ERR_TIMEOUT;
        world_close(&w);
    }
    print_message("cut off: %u of 60\n", cut_off);
    assert_true(cut_off <= 2);
}

TEST(two_packets_of_a_probe_timeout_repeat_two) {
    static const uint64_t both[] = {1 * SEC, 1 * SEC};
    struct faults f = {.at = both, .count = 2};
    tltcp_stats st;
    struct plan p;
    burst(&p, &f, 2000);
    p.source[CLIENT].finish = false; /* nothing follows that tells of them */
    p.keep_open = true;
    world_start_for(&w, &p, 2 * SEC);
    st = end_stats(&w.end[CLIENT]);
    assert_int_equal(f.next, 2);
    assert_int_equal(st.probes_sent, 1);
    assert_int_equal(st.sections_delivered, 1);
    /* a probe timeout and one way: not first a round trip to hear of it */
    assert_in_range(w.flow[CLIENT].tally[0].whole, 1100 * MS, 1190 * MS);
    world_close(&w);
}

/* When two lost packets of live data are there after all. */
static uint64_t repeated_at(double loss) {
    static const uint64_t both[] = {1 * SEC, 1 * SEC};
    struct faults f = {.at = both, .count = 2};
    uint64_t at;
    struct plan p;
    burst(&p, &f, 2000);
    p.source[CLIENT].budget = 20 * SEC;
    p.keep_open = true;
    world_start_for(&w, &p, 900 * MS);
    w.end[CLIENT].peer->conn->sender.sec.fec.loss = loss;
    world_run_for(&w, 1100 * MS);
    at = w.flow[CLIENT].tally[0].whole;
    world_close(&w);
    return at;
}

TEST(a_probe_does_not_wait_for_a_delayed_ack_where_much_is_lost) {
    uint64_t sooner = repeated_at(0) - repeated_at(0.1);
    assert_int_equal(sooner,
                     w.plan.config[SERVER].packets.max_ack_delay_ms * MS);
}

/* Bytes in flight beyond the window, in windows, after so much silence. */
static double beyond_window(double loss, uint64_t ns) {
    struct faults f = {
        .from = 2 * SEC, .to = 2 * SEC + ns, .link = {true, true}};
    tltcp_stats st;
    struct plan p;
    plan_bursts(&p, 1);
    p.tap = drop;
    p.user = &f;
    for (int i = 0; i < 2; i++) {
        p.link[i].burst_enter = 0;
        p.link[i].loss = loss;
    }
    world_start_for(&w, &p, 2 * SEC + ns);
    st = end_stats(&w.end[CLIENT]);
    world_close(&w);
    return ((double)st.bytes_in_flight - (double)st.cwnd_bytes) /
           (double)st.cwnd_bytes;
}

/* What fills the window has long left the path.  Beyond four windows come only
 * the two packets of each probe timeout. */
TEST(live_data_goes_on_for_a_while_where_much_is_lost) {
    double without = beyond_window(0, 1 * SEC);
    double with = beyond_window(0.1, 1 * SEC);
    print_message("beyond the window: %.2f of it, without losses %.2f\n", with,
                  without);
    assert_true(with > 3 && with < 4.5);
    assert_true(without < 0.6);
}

/* Probe timeouts in a silence in which live data leaves all the time. */
static uint64_t probes_amid_data(double loss) {
    struct faults f = {.from = 2 * SEC, .to = 2300 * MS, .link = {false, true}};
    uint64_t before;
    uint64_t probes;
    struct plan p;
    stream(&p, &f);
    p.source[CLIENT].budget = 1 * SEC;
    world_start_for(&w, &p, 2 * SEC);
    w.end[CLIENT].peer->conn->sender.sec.fec.loss = loss;
    before = end_stats(&w.end[CLIENT]).probes_sent;
    world_run_for(&w, 130 * MS);
    probes = end_stats(&w.end[CLIENT]).probes_sent - before;
    world_close(&w);
    return probes;
}

/* Otherwise a silence ends only when the window is full, and live data waits
 * for the first probe timeout. */
TEST(data_that_leaves_puts_off_no_probe_where_much_is_lost) {
    assert_int_equal(probes_amid_data(0), 0);
    assert_true(probes_amid_data(0.1) >= 1);
}

/* On a bad way back each answer is a chance. */
TEST(probes_after_the_first_are_answered_one_by_one) {
    struct faults f = {.from = 1 * SEC, .to = 1300 * MS, .link = {false, true}};
    uint64_t before;
    struct plan p;
    burst(&p, &f, 2000);
    p.source[CLIENT].finish = false;
    p.keep_open = true;
    world_start_for(&w, &p, 1300 * MS);
    assert_int_equal(end_stats(&w.end[CLIENT]).probes_sent, 1);
    assert_true(w.flow[CLIENT].tally[0].whole > 0);
    before = w.end[SERVER].datagrams;
    world_run_for(&w, 200 * MS);
    assert_int_equal(end_stats(&w.end[CLIENT]).probes_sent, 2);
    assert_int_equal(w.end[SERVER].datagrams - before, 2);
    world_close(&w);
}

TEST(a_long_standstill_counts_as_a_timeout) {
    struct faults f = {.from = 2 * SEC, .to = 2600 * MS, .link = {true, true}};
    struct plan p;
    stream(&p, &f);
    world_start_for(&w, &p, 4 * SEC);
    assert_int_equal(end_stats(&w.end[CLIENT]).rto_count, 1);
    world_finish(&w);
}

/* Data that arrived meanwhile is acknowledged only once the return path is
 * back. */
TEST(a_silent_way_back_and_two_losses_are_no_timeout) {
    static const uint64_t lost[] = {2 * SEC, 2300 * MS};
    struct faults f = {.from = 2 * SEC,
                       .to = 2600 * MS,
                       .link = {false, true},
                       .at = lost,
                       .count = 2};
    tltcp_stats st;
    struct plan p;
    stream(&p, &f);
    world_start_for(&w, &p, 4 * SEC);
    st = end_stats(&w.end[CLIENT]);
    assert_int_equal(f.next, 2);
    assert_int_equal(st.packets_lost, 2);
    assert_int_equal(st.rto_count, 0);
    world_finish(&w);
}

/* RFC 9002, 5.3: no peer can make a path look shorter by what it says. */
TEST(a_claimed_delay_makes_no_round_trip_shorter) {
    const tltcp__sender *s;
    cong_time least;
    uint64_t pn;
    struct lie l;
    lie_open(63);
    s = &w.end[CLIENT].peer->conn->sender;
    least = s->cc.rtt.min_rtt;
    lie_mute_client();
    for (pn = s->map.packets.tail; pn >= s->map.packets.tail;) {
        world_run_for(&w, 1 * MS);
    }
    world_run_for(&w, (uint64_t)least + MS);
    lie_begin(&l, &w.end[CLIENT]);
    tltcp__ack_put(&l.w,
                   &(tltcp__ack){.largest = (uint32_t)pn,
                                 .delay_us = 20000,
                                 .cumulative = stream_read(),
                                 .window = {1 << 20, 1000}},
                   0);
    assert_int_equal(lie_tell(&l, &w.end[CLIENT]), 0);
    assert_int_equal(s->largest_acked, pn + 1);
    assert_int_equal(s->cc.rtt.min_rtt, least);
    lie_close();
}

/* Section 1 dies while section 0 is on its way for long. */
static void shape(void *user, uint64_t number, tltcp_time now,
                  struct sim_section *s) {
    (void)user;
    s->len = number == 0 ? 100000 : 1000;
    s->deadline = number == 1 ? now + 200 * MS : NEVER;
}

/* Loses the first packets that tell of a skip. */
static bool drop_skips(void *user, uint32_t link, struct sim_packet *p,
                       uint64_t now) {
    unsigned *left = user;
    sec__packet packet;
    tltcp__chunk k;
    cmn__reader r;
    (void)now;
    if (link != 0 || *left == 0 ||
        !sec__packet_parse(p->data, p->len, &packet) ||
        packet.type != SEC__SHORT) {
        return true;
    }
    r = cmn__reader_of(packet.body, packet.body_len);
    while (tltcp__chunk_next(&r, &k)) {
        if (k.type == TLTCP__SKIP) {
            --*left;
            return false;
        }
    }
    return true;
}

TEST(a_lost_skip_is_repeated) {
    unsigned losses = 2;
    const struct tally *t;
    struct plan p;
    plan_init(&p, 1);
    p.link[CLIENT].rate = 1e6;
    p.source[CLIENT].sections = 3;
    p.source[CLIENT].shape = shape;
    p.tap = drop_skips;
    p.user = &losses;
    p.keep_open = true;
    world_start_for(&w, &p, 5 * SEC);
    t = w.flow[CLIENT].tally;
    assert_int_equal(losses, 0);
    assert_int_equal(w.flow[CLIENT].reader.gap_bytes, 1000);
    /* what stands behind the gap need not wait for a round trip */
    assert_true(t[0].whole > 0 && t[2].whole - t[0].whole < 30 * MS);
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_come_ever_more_seldom),
        cmocka_unit_test(probes_of_live_data_keep_pace_for_a_while),
        cmocka_unit_test(probes_do_not_keep_time_with_an_outage),
        cmocka_unit_test(nor_do_timeouts_of_the_paper),
        cmocka_unit_test(bursts_of_losses_end_no_connection),
        cmocka_unit_test(two_packets_of_a_probe_timeout_repeat_two),
        cmocka_unit_test(
            a_probe_does_not_wait_for_a_delayed_ack_where_much_is_lost),
        cmocka_unit_test(live_data_goes_on_for_a_while_where_much_is_lost),
        cmocka_unit_test(data_that_leaves_puts_off_no_probe_where_much_is_lost),
        cmocka_unit_test(probes_after_the_first_are_answered_one_by_one),
        cmocka_unit_test(a_long_standstill_counts_as_a_timeout),
        cmocka_unit_test(a_silent_way_back_and_two_losses_are_no_timeout),
        cmocka_unit_test(a_claimed_delay_makes_no_round_trip_shorter),
        cmocka_unit_test(a_lost_skip_is_repeated),
    };
    return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "sim/link.h"
#include "tests/support/cmocka.h"

#define MS UINT64_C(1000000)
#define NONE SIM_NEVER

static struct sim_link_config ideal(void) {
    struct sim_link_config c;
    char why[SIM_WHY_MAX];
    sim_link_config_init(&c);
    assert_true(sim_link_config_check(&c, why));
    return c;
}

static struct sim_link *make(const struct sim_link_config *c, uint64_t seed) {
    char why[SIM_WHY_MAX];
    struct sim_link *l;
    assert_true(sim_link_config_check(c, why));
    l = sim_link_new(c, seed);
    assert_non_null(l);
    return l;
}

static void offer(struct sim_link *l, size_t len, uint64_t tag, uint64_t now) {
    struct sim_packet *p = sim_packet_new(NULL, len);
    assert_non_null(p);
    p->dst = tag;
    p->ecn = SIM_ECN_ECT0;
    sim_link_send(l, p, now);
}

/* Packets of 1000 bytes, numbered from 0, all at once. */
static void offer_burst(struct sim_link *l, uint64_t n, uint64_t now) {
    for (uint64_t i = 0; i < n; i++) {
        offer(l, 1000, i, now);
    }
}

/* Packets numbered from 0, one every `gap` ns from 0 on. */
static void offer_flow(struct sim_link *l, uint64_t n, size_t len,
                       uint64_t gap) {
    for (uint64_t i = 0; i < n; i++) {
        offer(l, len, i, i * gap);
    }
}

/* The next packet that the link delivers by its own timer, or NULL; *now is the
 * time of that timer. */
static struct sim_packet *next_arrival(struct sim_link *l, uint64_t *now) {
    struct sim_packet *p = sim_link_recv(l, *now);
    while (p == NULL && sim_link_next(l) != NONE) {
        *now = sim_link_next(l);
        p = sim_link_recv(l, *now);
    }
    return p;
}

/* Runs the link dry.  Returns packets delivered; *last is when the last
 * came. */
static uint64_t drain(struct sim_link *l, uint64_t *last) {
    struct sim_packet *p;
    uint64_t n = 0;
    uint64_t now = 0;
    while ((p = next_arrival(l, &now)) != NULL) {
        n++;
        if (last != NULL) {
            *last = now;
        }
        sim_packet_free(p);
    }
    return n;
}

TEST(a_packet_takes_its_transmission_time_and_the_delay) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    struct sim_packet *p;
    c.rate = 1e6;
    c.delay = 20 * MS;
    c.overhead = 28;
    l = make(&c, 1);
    offer(l, 972, 1, 5 * MS);
    offer(l, 972, 2, 5 * MS);
    assert_null(sim_link_recv(l, 33 * MS - 1));
    p = sim_link_recv(l, 33 * MS); /* 1000 bytes are 8 ms */
    assert_non_null(p);
    assert_int_equal(p->dst, 1);
    sim_packet_free(p);
    assert_int_equal(sim_link_next(l), 41 * MS);
    p = sim_link_recv(l, 41 * MS);
    assert_non_null(p);
    assert_int_equal(p->dst, 2);
    sim_packet_free(p);
    assert_int_equal(sim_link_next(l), NONE);
    sim_link_free(l);
}

TEST(the_timer_alone_drives_the_link) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    uint64_t last = 0;
    c.rate = 8e6;
    c.delay = 3 * MS;
    l = make(&c, 1);
    offer_burst(l, 100, 0);
    assert_int_equal(drain(l, &last), 100);
    assert_int_equal(last, 103 * MS);
    sim_link_free(l);
}

static uint64_t burst_through(enum sim_queue_rule rule, uint64_t limit) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    uint64_t n;
    c.rate = 1e6;
    c.rule = rule;
    c.limit_packets = limit;
    l = make(&c, 1);
    offer_burst(l, 100, 0);
    n = drain(l, NULL);
    assert_int_equal(sim_link_stats(l)->dropped_queue, 100 - n);
    sim_link_free(l);
    return n;
}

TEST(a_queue_limit_has_the_meaning_of_ns2_or_ns3) {
    assert_int_equal(burst_through(SIM_QUEUE_NS2, 18), 18);
    assert_int_equal(burst_through(SIM_QUEUE_NS2, 1), 0);
    assert_int_equal(burst_through(SIM_QUEUE_WAITING, 18), 19);
    assert_int_equal(burst_through(SIM_QUEUE_WAITING, 1), 2);
}

TEST(limits_in_bytes_and_time_bound_the_queue) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    c.rate = 8e6; /* 1000 bytes a millisecond */
    c.limit_bytes = 5000;
    l = make(&c, 1);
    offer_burst(l, 20, 0);
    assert_int_equal(sim_link_stats(l)->queue_peak_bytes, 5000);
    assert_int_equal(drain(l, NULL), 6); /* and the one in service */
    offer(l, 9000, 0, 50 * MS);          /* an idle link takes any packet */
    assert_int_equal(drain(l, NULL), 1);
    c.limit_bytes = 0;
    c.limit_time = 10 * MS;
    sim_link_set(l, &c, 100 * MS);
    offer_burst(l, 50, 100 * MS);
    assert_int_equal(drain(l, NULL), 11);
    sim_link_free(l);
}

TEST(a_change_of_rate_holds_from_the_next_packet_on) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    uint64_t last = 0;
    c.rate = 8e6;
    l = make(&c, 1);
    offer_burst(l, 3, 0);
    c.rate = 4e6;
    sim_link_set(l, &c, MS / 2); /* the first is half sent: 1 + 2 + 2 */
    assert_int_equal(drain(l, &last), 3);
    assert_int_equal(last, 5 * MS);
    sim_link_free(l);
}

static uint64_t lost_of_20000(const struct sim_link_config *c, uint64_t seed) {
    struct sim_link *l = make(c, seed);
    uint64_t n;
    offer_flow(l, 20000, 125, 1);
    n = drain(l, NULL);
    sim_link_free(l);
    return 20000 - n;
}

TEST(losses_come_as_often_as_asked) {
    struct sim_link_config c = ideal();
    c.loss = 0.1;
    assert_in_range(lost_of_20000(&c, 1), 1830, 2170);
    c.loss = 0;
    c.bit_error = 1e-5; /* of 1000 bits: 1 % */
    assert_in_range(lost_of_20000(&c, 1), 140, 260);
    c.bit_error = 0;
    c.loss = 1;
    assert_int_equal(lost_of_20000(&c, 1), 20000);
}

static void
bursts_have_the_length_that_their_exit_probability_gives(void **state) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    struct sim_packet *p;
    uint64_t lost = 0;
    uint64_t bursts = 0;
    uint64_t expected = 0;
    (void)state;
    c.burst_enter = 0.01;
    c.burst_leave = 0.2; /* mean length 5, so 1/21 of packets are lost */
    c.burst_loss = 1;
    l = make(&c, 3);
    for (uint64_t i = 0; i < 100000; i++) {
        offer(l, 100, i, i);
        while ((p = sim_link_recv(l, i)) != NULL) {
            lost += p->dst - expected;
            bursts += p->dst != expected;
            expected = p->dst + 1;
            sim_packet_free(p);
        }
    }
    assert_in_range(lost, 4300, 5250);
    assert_in_range(lost * 10 / bursts, 45, 56);
    sim_link_free(l);
}

TEST(each_impairment_has_luck_of_its_own) {
    struct sim_link_config c = ideal();
    struct sim_link *plain;
    struct sim_link *rough;
    c.loss = 0.2;
    plain = make(&c, 5);
    c.duplicate = 0.3;
    c.corrupt = 0.3;
    c.jitter = MS;
    rough = make(&c, 5);
    for (uint64_t i = 0; i < 2000; i++) {
        offer(plain, 100, i, i * MS);
        offer(rough, 100, i, i * MS);
        assert_int_equal(sim_link_stats(plain)->dropped_loss,
                         sim_link_stats(rough)->dropped_loss);
    }
    assert_true(sim_link_stats(rough)->duplicated > 300);
    assert_true(sim_link_stats(rough)->corrupted > 300);
    sim_link_free(plain);
    sim_link_free(rough);
}

/* How many packets come later than one sent after them. */
static uint64_t overtaken(const struct sim_link_config *c) {
    struct sim_link *l = make(c, 8);
    struct sim_packet *p;
    uint64_t highest = 0;
    uint64_t late = 0;
    uint64_t now = 0;
    offer_flow(l, 2000, 100, MS);
    while ((p = next_arrival(l, &now)) != NULL) {
        late += p->dst < highest;
        highest = p->dst > highest ? p->dst : highest;
        sim_packet_free(p);
    }
    sim_link_free(l);
    return late;
}

TEST(jitter_keeps_the_order_and_reordering_does_not) {
    struct sim_link_config c = ideal();
    c.delay = 10 * MS;
    c.jitter = 30 * MS;
    assert_int_equal(overtaken(&c), 0);
    c.jitter = 0;
    c.reorder = 0.1;
    c.reorder_delay = 5 * MS;
    assert_in_range(overtaken(&c), 140, 260);
}

/* How many of 2000 packets, one in each ms, wait longer than this; all arrive
 * at multiples of `grid`. */
static unsigned waiting(const struct sim_link_config *c, uint64_t longer,
                        uint64_t grid) {
    struct sim_link *l = make(c, 8);
    struct sim_packet *p;
    unsigned n = 0;
    uint64_t now = 0;
    offer_flow(l, 2000, 100, MS);
    while ((p = next_arrival(l, &now)) != NULL) {
        n += now - p->sent > longer;
        assert_int_equal(now % grid, 0);
        sim_packet_free(p);
    }
    sim_link_free(l);
    return n;
}

TEST(jitter_of_a_part_delays_what_comes_behind) {
    struct sim_link_config c = ideal();
    c.jitter = 8 * MS;
    c.jitter_share = 0.01;
    assert_in_range(waiting(&c, 0, 1), 40, 200);
    assert_int_equal(waiting(&c, 8 * MS, 1), 0);
}

TEST(packets_arrive_at_ends_of_slots) {
    struct sim_link_config c = ideal();
    c.slot_min = c.slot_max = 20 * MS;
    assert_in_range(waiting(&c, 10 * MS, 20 * MS), 800, 1000);
    assert_int_equal(waiting(&c, 20 * MS, 20 * MS), 0);
    c.slot_min = 5 * MS;
    assert_in_range(waiting(&c, 10 * MS, 1), 100, 800);
    assert_int_equal(waiting(&c, 20 * MS, 1), 0);
}

TEST(duplicates_are_copies_and_corruption_turns_one_bit) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    struct sim_packet *p;
    unsigned ones;
    c.duplicate = 1;
    c.corrupt = 1;
    l = make(&c, 2);
    offer(l, 50, 9, 0);
    for (int copy = 0; copy < 2; copy++) {
        p = sim_link_recv(l, 0);
        assert_non_null(p);
        assert_int_equal(p->dst, 9);
        ones = 0;
        for (uint32_t i = 0; i < p->len * 8; i++) {
            ones += ((unsigned)p->data[i / 8] >> (i % 8)) & 1U;
        }
        assert_int_equal(ones, copy == 0); /* the copy was made before */
        sim_packet_free(p);
    }
    assert_null(sim_link_recv(l, 0));
    sim_link_free(l);
}

TEST(a_blackout_drops_packets_and_recurs) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    c.blackout_start = 10 * MS;
    c.blackout_length = 5 * MS;
    c.blackout_period = 20 * MS;
    l = make(&c, 2);
    offer_flow(l, 100, 50, MS);
    assert_int_equal(sim_link_stats(l)->dropped_blackout, 25);
    assert_int_equal(drain(l, NULL), 75);
    sim_link_free(l);
}

TEST(without_carrier_nothing_passes) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    c.no_carrier = true;
    l = make(&c, 2);
    offer(l, 50, 1, 0);
    assert_int_equal(sim_link_stats(l)->dropped_blackout, 1);
    assert_int_equal(drain(l, NULL), 0);
    sim_link_free(l);
}

TEST(packets_beyond_the_mtu_vanish) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    c.mtu = 1400;
    l = make(&c, 2);
    offer(l, 1400, 0, 0);
    offer(l, 1401, 0, 0);
    assert_int_equal(drain(l, NULL), 1);
    assert_int_equal(sim_link_stats(l)->dropped_mtu, 1);
    sim_link_free(l);
}

static uint32_t ecn_after(enum sim_ecn_path path, uint32_t before) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    struct sim_packet *p = sim_packet_new("x", 1);
    uint32_t after;
    c.ecn = path;
    l = make(&c, 2);
    p->ecn = before;
    sim_link_send(l, p, 0);
    p = sim_link_recv(l, 0);
    assert_non_null(p);
    after = p->ecn;
    sim_packet_free(p);
    sim_link_free(l);
    return after;
}

TEST(a_path_may_keep_or_spoil_ecn) {
    assert_int_equal(ecn_after(SIM_ECN_KEEP, SIM_ECN_ECT0), SIM_ECN_ECT0);
    assert_int_equal(ecn_after(SIM_ECN_BLEACH, SIM_ECN_CE), SIM_ECN_NOT);
    assert_int_equal(ecn_after(SIM_ECN_ALL_CE, SIM_ECN_ECT0), SIM_ECN_CE);
    assert_int_equal(ecn_after(SIM_ECN_ALL_CE, SIM_ECN_NOT), SIM_ECN_NOT);
    assert_int_equal(ecn_after(SIM_ECN_SWAP, SIM_ECN_ECT0), SIM_ECN_ECT1);
}

TEST(a_queue_marks_above_its_threshold) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    c.rate = 1e6;
    c.mark_above = 5;
    l = make(&c, 2);
    offer_burst(l, 20, 0);
    assert_int_equal(sim_link_stats(l)->marked, 14); /* 1 in service, 5 wait */
    assert_int_equal(drain(l, NULL), 20);
    sim_link_free(l);
}

/* A link of 100 packets a second, offered `per_s`; drops in per cent. */
static uint64_t red_drops(struct sim_link_config *c, uint64_t per_s) {
    struct sim_link *l;
    struct sim_packet *p;
    uint64_t now = 0;
    uint64_t percent;
    c->rate = 800e3;
    c->red_on = true;
    c->red.mean_pktsize = 1000;
    c->limit_packets = 1000;
    c->rule = SIM_QUEUE_WAITING;
    l = make(c, 4);
    for (uint64_t i = 0; i < 20000; i++) {
        now = i * 1000 * MS / per_s;
        offer(l, 1000, i, now);
        while ((p = sim_link_recv(l, now)) != NULL) {
            sim_packet_free(p);
        }
    }
    percent = (sim_link_stats(l)->dropped_red + sim_link_stats(l)->marked) *
              100 / 20000;
    assert_int_equal(sim_link_stats(l)->dropped_queue, 0);
    sim_link_free(l);
    return percent;
}

TEST(red_holds_the_average_queue_by_early_drops) {
    struct sim_link_config c = ideal();
    assert_int_equal(red_drops(&c, 90), 0);
    assert_in_range(red_drops(&c, 110), 8, 10);  /* 1 - 100/110 */
    assert_in_range(red_drops(&c, 200), 49, 50); /* beyond max_p: gentle */
    c.red.gentle = false;
    assert_in_range(red_drops(&c, 200), 49, 50); /* forced drops */
    c.red.bytes = true;
    assert_in_range(red_drops(&c, 110), 8, 10);
}

TEST(red_marks_instead_when_it_may) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    c.rate = 800e3;
    c.red_on = true;
    c.red.setbit = true;
    c.red.q_weight = 0.5;
    c.red.max_p = 0.02;
    c.red.maxthresh = 1000;
    l = make(&c, 4);
    offer_burst(l, 900, 0);
    assert_true(sim_link_stats(l)->marked > 3);
    assert_int_equal(sim_link_stats(l)->dropped_red, 0);
    sim_link_free(l);
}

/* Ten of each kind into a queue of ten; what comes out of each. */
static void offer_both(struct sim_link *l, uint64_t out[2]) {
    struct sim_packet *p;
    uint64_t now = 0;
    for (uint64_t i = 0; i < 20; i++) {
        p = sim_packet_new(NULL, 1000);
        assert_non_null(p);
        p->dst = i;
        p->dscp = i < 10 ? SIM_DSCP_LOWER_EFFORT : 0;
        sim_link_send(l, p, 0);
    }
    while ((p = next_arrival(l, &now)) != NULL) {
        out[p->dscp == 0]++;
        sim_packet_free(p);
    }
}

TEST(packets_of_lower_effort_give_way) {
    struct sim_link_config c = ideal();
    c.rate = 1e6;
    c.limit_packets = 10;
    c.rule = SIM_QUEUE_WAITING;
    for (int on = 0; on < 2; on++) {
        uint64_t out[2] = {0, 0};
        struct sim_link *l;
        c.lower_effort = on == 1;
        l = make(&c, 1);
        offer_both(l, out);
        assert_int_equal(out[0], on ? 1 : 10); /* one was being sent */
        assert_int_equal(out[1], on ? 10 : 1);
        assert_int_equal(sim_link_stats(l)->dropped_queue, 9);
        assert_int_equal(sim_link_waiting(l), 0);
        sim_link_free(l);
    }
}

TEST(impossible_parameters_are_named) {
    struct sim_link_config c = ideal();
    char why[SIM_WHY_MAX];
    c.loss = 1.5;
    assert_false(sim_link_config_check(&c, why));
    assert_string_equal(why, "loss is 1.5; it must be from 0 to 1");
    c = ideal();
    c.rate = -3;
    assert_false(sim_link_config_check(&c, why));
    assert_non_null(strstr(why, "rate is -3"));
    c = ideal();
    c.red_on = true;
    c.red.maxthresh = c.red.thresh;
    assert_false(sim_link_config_check(&c, why));
    assert_non_null(strstr(why, "lower threshold"));
    c = ideal();
    c.blackout_length = 5;
    c.blackout_period = 4;
    assert_false(sim_link_config_check(&c, why));
    assert_non_null(strstr(why, "blackout"));
}

TEST(a_link_is_freed_with_its_packets) {
    struct sim_link_config c = ideal();
    struct sim_link *l;
    c.rate = 1e6;
    c.delay = MS;
    l = make(&c, 1);
    offer_flow(l, 10, 100, MS);
    sim_link_free(l); /* the sanitizer sees what is forgotten */
    sim_link_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_takes_its_transmission_time_and_the_delay),
        cmocka_unit_test(the_timer_alone_drives_the_link),
        cmocka_unit_test(a_queue_limit_has_the_meaning_of_ns2_or_ns3),
        cmocka_unit_test(limits_in_bytes_and_time_bound_the_queue),
        cmocka_unit_test(a_change_of_rate_holds_from_the_next_packet_on),
        cmocka_unit_test(losses_come_as_often_as_asked),
        cmocka_unit_test(
            bursts_have_the_length_that_their_exit_probability_gives),
        cmocka_unit_test(each_impairment_has_luck_of_its_own),
        cmocka_unit_test(jitter_keeps_the_order_and_reordering_does_not),
        cmocka_unit_test(jitter_of_a_part_delays_what_comes_behind),
        cmocka_unit_test(packets_arrive_at_ends_of_slots),
        cmocka_unit_test(duplicates_are_copies_and_corruption_turns_one_bit),
        cmocka_unit_test(a_blackout_drops_packets_and_recurs),
        cmocka_unit_test(without_carrier_nothing_passes),
        cmocka_unit_test(packets_beyond_the_mtu_vanish),
        cmocka_unit_test(a_path_may_keep_or_spoil_ecn),
        cmocka_unit_test(a_queue_marks_above_its_threshold),
        cmocka_unit_test(red_holds_the_average_queue_by_early_drops),
        cmocka_unit_test(red_marks_instead_when_it_may),
        cmocka_unit_test(packets_of_lower_effort_give_way),
        cmocka_unit_test(impossible_parameters_are_named),
        cmocka_unit_test(a_link_is_freed_with_its_packets),
    };
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}

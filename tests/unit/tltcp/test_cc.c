/* SPDX-License-Identifier: MPL-2.0 */
/* Controllers at rest; the rest is tested in the virtual network. */
#include <string.h>

#include "libtltcp/engine/cc.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define MS ((cong_time)TLTCP_MS)
#define MSS 1200.0

static struct test_alloc alloc;
static const cmn__mem mem = {test_alloc_realloc, &alloc};

static void begin(tltcp__cc *cc, const char *name) {
    tltcp_config c;
    tltcp_config_init(&c);
    c.congestion = name;
    assert_int_equal(tltcp__cc_init(cc, &mem, &c, MSS, 0), 0);
}

/* An ACK of 10 packets, the i-th, with a little queue now and then. */
static void acknowledge(tltcp__cc *cc, unsigned i) {
    cong_time rtt = (50 + i * 7 % 13) * MS;
    struct cong_ack ack = {.now = (cong_time)i * 20 * MS,
                           .rtt = rtt,
                           .acked = 10 * MSS,
                           .flight = 20 * MSS,
                           .round = i % 3 == 0};
    cc->limited = true; /* or no window would grow */
    cong_rtt_sample_at(&cc->rtt, rtt, ack.now);
    tltcp__cc_on_ack(cc, &ack, true);
}

static void lose(tltcp__cc *cc, unsigned i) {
    tltcp__cc_on_event(cc, CONG_LOSS, 20 * MSS, MSS, 1,
                       (tltcp_time)i * 20 * TLTCP_MS);
}

TEST(a_controller_that_rests_goes_on_as_if_it_had_not) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        size_t size = cong_find(*name)->size;
        tltcp__cc awake;
        tltcp__cc tired;
        begin(&awake, *name);
        begin(&tired, *name);
        for (unsigned i = 1; i < 200; i++) {
            tltcp__cc_rest(&tired);
            assert_true(tired.cong->cwnd == awake.cong->cwnd);
            if (i % 50 == 0) {
                lose(&awake, i);
                lose(&tired, i);
            } else {
                acknowledge(&awake, i);
                acknowledge(&tired, i);
            }
            assert_memory_equal(tired.cong, awake.cong, size);
        }
        tltcp__cc_rest(&tired);
        tltcp__cc_restart(&awake, 5 * TLTCP_S);
        tltcp__cc_restart(&tired, 5 * TLTCP_S);
        assert_memory_equal(tired.cong, awake.cong, size);
        tltcp__cc_free(&awake);
        tltcp__cc_free(&tired);
    }
    assert_int_equal(alloc.blocks, 0);
}

/* 2.4 ms is what 1200 bytes take at 4 Mbit/s. */
TEST(small_packets_do_not_lower_the_lowest_rtt) {
    tltcp__cc cc;
    begin(&cc, "auto");
    (void)tltcp__cc_on_rtt(&cc, 40 * MS, 100, 1 * MS);
    assert_int_equal(cc.rtt.min_rtt, 40 * MS); /* nothing else is known */
    assert_int_equal(tltcp__cc_on_rtt(&cc, 42 * MS, MSS, 50 * MS), 42 * MS);
    assert_int_equal(cc.rtt.min_rtt, 42 * MS);
    assert_int_equal(tltcp__cc_on_rtt(&cc, 40 * MS, 100, 90 * MS), 42 * MS);
    assert_int_equal(cc.rtt.min_rtt, 42 * MS);
    assert_int_equal(tltcp__cc_on_rtt(&cc, 50 * MS, 100, 140 * MS), 50 * MS);
    assert_int_equal(tltcp__cc_on_rtt(&cc, 41 * MS, MSS, 180 * MS), 41 * MS);
    assert_int_equal(cc.rtt.min_rtt, 41 * MS);
    tltcp__cc_free(&cc);
}

TEST(small_packets_alone_tell_of_a_shorter_path) {
    tltcp__cc cc;
    begin(&cc, "auto");
    (void)tltcp__cc_on_rtt(&cc, 42 * MS, MSS, 1 * MS);
    for (cong_time now = 1; now < 300; now++) {
        (void)tltcp__cc_on_rtt(&cc, 20 * MS, 100, now * 30 * MS);
    }
    assert_int_equal(cc.rtt.min_rtt, 20 * MS);
    assert_int_equal(tltcp__cc_on_rtt(&cc, 22 * MS, MSS, 9000 * MS), 22 * MS);
    assert_int_equal(cc.rtt.min_rtt, 22 * MS);
    tltcp__cc_restart(&cc, 10 * TLTCP_S);
    (void)tltcp__cc_on_rtt(&cc, 10 * MS, 100, 10100 * MS);
    assert_int_equal(cc.rtt.min_rtt, 10 * MS); /* another path */
    tltcp__cc_free(&cc);
}

TEST(it_takes_a_quarter_of_the_memory_before_data_flows) {
    tltcp__cc cc;
    size_t before;
    begin(&cc, "auto");
    acknowledge(&cc, 1);
    before = alloc.live;
    tltcp__cc_rest(&cc);
    assert_true(alloc.live < before / 4);
    tltcp__cc_rest(&cc);
    tltcp__cc_free(&cc);
    assert_int_equal(alloc.blocks, 0);
}

TEST(without_memory_it_stays_as_it_is) {
    tltcp__cc cc;
    double cwnd;
    begin(&cc, "reno");
    alloc.fail_at = alloc.calls + 1;
    tltcp__cc_rest(&cc);
    acknowledge(&cc, 1);
    cwnd = cc.cong->cwnd;
    tltcp__cc_rest(&cc);
    alloc.fail_at = alloc.calls + 1;
    acknowledge(&cc, 2);
    assert_true(cc.cong->cwnd == cwnd);
    acknowledge(&cc, 3);
    assert_true(cc.cong->cwnd > cwnd);
    tltcp__cc_free(&cc);
    assert_int_equal(alloc.blocks, 0);
}

TEST(the_state_of_an_application_s_controller_never_moves) {
    static struct cong_ops own;
    const struct cong *before;
    tltcp__cc cc;
    own = *cong_find("reno");
    own.name = "own";
    assert_int_equal(cong_register(&own), 0);
    begin(&cc, "own");
    before = cc.cong;
    tltcp__cc_rest(&cc);
    assert_ptr_equal(cc.cong, before);
    tltcp__cc_free(&cc);
}

TEST(no_first_window_is_above_the_largest) {
    tltcp_config c;
    tltcp__cc cc;
    tltcp_config_init(&c);
    c.controller.initial_window = 100;
    c.controller.max_window = 10;
    assert_int_equal(tltcp__cc_init(&cc, &mem, &c, MSS, 0), 0);
    assert_true(tltcp__cc_window(&cc) <= 10 * MSS);
    tltcp__cc_restart(&cc, TLTCP_S);
    assert_true(tltcp__cc_window(&cc) <= 10 * MSS);
    tltcp__cc_free(&cc);
}

/* Packets that leave at once after a pause on a path with slack. The pace is
 * 1.2 times the window over the round trip. */
static uint64_t train(double packets_per_rtt, cong_time rtt, double known) {
    uint64_t count;
    tltcp__cc cc;
    begin(&cc, "reno");
    cc.initial_window = 0;
    tltcp__cc_estimate_bandwidth(&cc, 0, 0);
    assert_non_null(cc.bandwidth);
    cc.bandwidth->rate = known;
    cc.slack = true;
    cc.cong->cwnd = packets_per_rtt / 1.2 * MSS;
    cc.cong->ssthresh = cc.cong->cwnd;
    cong_rtt_sample_at(&cc.rtt, rtt, MS);
    tltcp__cc_set_pace(&cc);
    tltcp__cc_on_sent(&cc, MSS, TLTCP_S);
    count = tltcp__cc_burst(&cc, MSS, 2 * TLTCP_S);
    tltcp__cc_free(&cc);
    return count;
}

/* A known path learns by packets that are spread when it carries more. */
TEST(trains_last_10_ms_or_a_quarter_of_an_rtt_and_half_on_a_known_path) {
    assert_int_equal(train(80, 100 * MS, 0), 1 + 8);
    assert_int_equal(train(80, 100 * MS, 1e6), 1 + 4);
    assert_int_equal(train(24, 20 * MS, 0), 1 + 6);
    assert_int_equal(train(24, 20 * MS, 1e6), 1 + 3);
    assert_int_equal(train(400, 100 * MS, 0), 10);
    assert_int_equal(train(400, 100 * MS, 1e6), 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_first_window_is_above_the_largest),
        cmocka_unit_test(
            trains_last_10_ms_or_a_quarter_of_an_rtt_and_half_on_a_known_path),
        cmocka_unit_test(a_controller_that_rests_goes_on_as_if_it_had_not),
        cmocka_unit_test(small_packets_do_not_lower_the_lowest_rtt),
        cmocka_unit_test(small_packets_alone_tell_of_a_shorter_path),
        cmocka_unit_test(it_takes_a_quarter_of_the_memory_before_data_flows),
        cmocka_unit_test(without_memory_it_stays_as_it_is),
        cmocka_unit_test(the_state_of_an_application_s_controller_never_moves),
    };
    return cmocka_run_group_tests_name("cc", tests, NULL, NULL);
}

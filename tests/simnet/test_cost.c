/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The work per packet does not grow with the window.  Work is counted in
 * branches taken by the engine (it is compiled with -fsanitize-coverage=
 * trace-pc for this test), so no clock and no load of the machine is in it.
 */
#include <inttypes.h>

#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;

void __sanitizer_cov_trace_pc(void) {
    steps++;
}

#define LARGEST 100000 /* packets in flight */

static struct world w;

/* Steps of both ends per packet sent, with so many packets in flight. */
static double steps_per_packet(uint64_t packets, double loss, bool deadlines) {
    struct plan p;
    uint64_t sent;
    uint64_t before;
    double result;
    plan_init(&p, packets);
    for (int i = 0; i < 2; i++) {
        p.link[i].rate = 0;
        p.link[i].delay = 500 * MS;
        p.config[i].send_buffer = packets * 3000 + 50000;
        p.config[i].recv_buffer = packets * 3000 + 50000;
        p.config[i].max_sections = (uint32_t)(packets * 3 + 100);
        p.config[i].packets.max_datagram = 1200;
        p.config[i].io.timer_granularity_us = 10000;
    }
    p.config[CLIENT].congestion = "fixed";
    p.config[CLIENT].max_rate = packets * 1200 * 8; /* the RTT is a second */
    p.link[CLIENT].loss = loss;
    p.source[CLIENT].sections = UINT64_MAX;
    p.source[CLIENT].size_min = 1000;
    p.source[CLIENT].size_max = 1200;
    p.source[CLIENT].budget = deadlines ? 1800 * MS : NEVER;
    p.source[CLIENT].record = false;
    p.config[CLIENT].report_fates = false;
    p.light = true;
    p.keep_open = true;
    world_start_for(&w, &p, 4 * SEC);
    assert_true(end_stats(&w.end[CLIENT]).bytes_in_flight > packets * 800);
    before = steps;
    sent = end_stats(&w.end[CLIENT]).packets_sent;
    world_run_for(&w, packets < 1000 ? 20 * SEC : 1 * SEC);
    assert_string_equal(w.why, "");
    sent = end_stats(&w.end[CLIENT]).packets_sent - sent;
    assert_true(sent >= packets / 2);
    result = (double)(steps - before) / (double)sent;
    world_close(&w);
    return result;
}

static void assert_flat(const uint64_t *windows, double loss, bool deadlines) {
    double least = 1e18;
    double most = 0;
    for (; *windows != 0; windows++) {
        double n = steps_per_packet(*windows, loss, deadlines);
        print_message("%" PRIu64 " packets in flight: %.0f steps each\n",
                      *windows, n);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    /* Ten thousand times the window may cost a few levels of search. */
    assert_true(most < 2 * least);
}

TEST(the_work_per_packet_does_not_grow_with_the_window) {
    static const uint64_t windows[] = {10, 100, 1000, LARGEST, 0};
    assert_flat(windows, 0, false);
}

/* Both windows have more holes than an ACK names, so that its length is the
 * same. */
TEST(nor_does_it_with_losses_and_deadlines) {
    static const uint64_t windows[] = {3000, LARGEST / 2, 0};
    assert_flat(windows, 0.02, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_work_per_packet_does_not_grow_with_the_window),
        cmocka_unit_test(nor_does_it_with_losses_and_deadlines),
    };
    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}

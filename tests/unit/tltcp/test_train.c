/* SPDX-License-Identifier: MPL-2.0 */
/* Estimates of the path from trains of packets. */
#include <math.h>

#include <tltcp/types.h>

#include "libtltcp/engine/train.h"
#include "tests/support/cmocka.h"

#define MS ((cong_time)TLTCP_MS)
#define MSS 1200.0
#define RTT (50 * MS)
#define PACKETS 8

/* Eight packets: when each leaves behind the one before, comes, and how long
 * its ACK is held back.  True when the last one told something. */
static bool pass(tltcp__train *t, double rate, cong_time apart, cong_time comes,
                 cong_time held, tltcp__train_sample *out) {
    bool told = false;
    *t = (tltcp__train){.sent_last = -1};
    for (cong_time i = 0; i < PACKETS; i++) {
        cong_time came = 1000 * MS + RTT + i * comes;
        struct cong_ack ack = {.now = came + held,
                               .rtt = came - (1000 * MS + i * apart),
                               .acked = MSS};
        told = tltcp__train_on_ack(t, rate, MSS, &ack, held, out);
        held += held > 0 ? MS / 2 : 0;
    }
    return told;
}

static void assert_rate(const tltcp__train_sample *n, cong_time apart) {
    double rate = MSS / ((double)apart / 1e9);
    assert_true(fabs(n->rate / rate - 1) < 1e-9);
}

TEST(a_train_that_the_path_spreads_shows_its_rate) {
    tltcp__train t;
    tltcp__train_sample n;
    assert_true(pass(&t, 500e3, MS, 2 * MS, 0, &n));
    assert_rate(&n, 2 * MS);
    assert_true(n.slowed);
    assert_true(n.tight);
}

TEST(a_train_that_is_not_spread_shows_no_limit) {
    tltcp__train t;
    tltcp__train_sample n;
    assert_true(pass(&t, 700e3, 2 * MS, 2 * MS, 0, &n));
    assert_rate(&n, 2 * MS);
    assert_false(n.slowed);
    assert_false(n.tight);
    assert_true(pass(&t, 500e3, 2 * MS, 21 * MS / 10, 0, &n)); /* by chance */
    assert_false(n.slowed);
}

/* Nor faster than it left, whatever the ACKs did on their way. */
TEST(compressed_arrivals_show_no_more_than_was_sent) {
    tltcp__train t;
    tltcp__train_sample n;
    assert_true(pass(&t, 500e3, 2 * MS, 3 * MS / 2, 0, &n));
    assert_rate(&n, 2 * MS);
    assert_false(n.slowed);
    assert_false(pass(&t, 500e3, 2 * MS, MS / 2, 0, &n));
}

TEST(packets_that_left_at_once_show_nothing) {
    tltcp__train t;
    tltcp__train_sample n;
    assert_false(pass(&t, 500e3, 0, 2 * MS, 0, &n));
}

TEST(the_peers_delay_does_not_count) {
    tltcp__train t;
    tltcp__train_sample n;
    assert_true(pass(&t, 500e3, MS, 2 * MS, 5 * MS, &n));
    assert_rate(&n, 2 * MS);
}

TEST(a_pause_of_the_application_ends_a_train) {
    tltcp__train t;
    tltcp__train_sample n;
    assert_false(pass(&t, 1e6, 10 * MS, 10 * MS, 0, &n));
    assert_true(t.bytes < MSS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_train_that_the_path_spreads_shows_its_rate),
        cmocka_unit_test(a_train_that_is_not_spread_shows_no_limit),
        cmocka_unit_test(compressed_arrivals_show_no_more_than_was_sent),
        cmocka_unit_test(packets_that_left_at_once_show_nothing),
        cmocka_unit_test(the_peers_delay_does_not_count),
        cmocka_unit_test(a_pause_of_the_application_ends_a_train),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}

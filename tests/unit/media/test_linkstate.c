/* SPDX-License-Identifier: MPL-2.0 */
#include "media/linkstate.h"
#include "tests/support/cmocka.h"

static tltcp_stats settled(void) {
    return (tltcp_stats){.bytes_queued = 50000,
                         .bytes_in_flight = 30000,
                         .cwnd_bytes = 30000,
                         .ssthresh_bytes = 20000,
                         .estimated_bps = 2000000,
                         .srtt_ns = 100 * TLTCP_MS,
                         .min_rtt_ns = 40 * TLTCP_MS,
                         .congestion_events = 1,
                         .since = 5 * TLTCP_S,
                         .now = 9 * TLTCP_S};
}

static void what_is_not_in_flight_is_yet_to_be_sent(void **state) {
    tltcp_stats st = settled();

    (void)state;
    assert_int_equal(media__link_state(&st).unsent, 20000);
    st.bytes_in_flight = 60000; /* headers count there */
    assert_int_equal(media__link_state(&st).unsent, 0);
}

static void
the_rate_is_the_estimate_or_else_the_window_over_the_rtt(void **state) {
    tltcp_stats st = settled();

    (void)state;
    assert_int_equal(media__link_state(&st).rate_bps, 2000000);
    st.estimated_bps = 0;
    assert_int_equal(media__link_state(&st).rate_bps, 2304000); /* 96 % */
    st.cwnd_bytes = UINT64_MAX;
    assert_int_equal(media__link_state(&st).rate_bps, 0);
}

/* 30000 bytes at 2 Mbit/s take 120 ms, the path itself 40. */
static void the_delay_is_what_stands_on_the_path(void **state) {
    tltcp_stats st = settled();

    (void)state;
    assert_int_equal(media__link_state(&st).delay, 80 * TLTCP_MS);
    st.bytes_in_flight = 5000;
    assert_int_equal(media__link_state(&st).delay, 0);
}

static void a_path_that_was_not_filled_may_carry_more(void **state) {
    tltcp_stats st = settled();

    (void)state;
    assert_false(media__link_state(&st).growing);
    st.ssthresh_bytes = UINT64_MAX; /* slow start */
    assert_true(media__link_state(&st).growing);
    st.cwnd_bytes = UINT64_MAX; /* no window at all */
    assert_false(media__link_state(&st).growing);
}

static void a_young_connection_is_believed_after_its_first_loss(void **state) {
    tltcp_stats st = settled();

    (void)state;
    st.now = 6 * TLTCP_S;
    assert_false(media__link_state(&st).growing);
    st.congestion_events = 0;
    assert_true(media__link_state(&st).growing);
    st.now = 7 * TLTCP_S;
    assert_false(media__link_state(&st).growing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_in_flight_is_yet_to_be_sent),
        cmocka_unit_test(
            the_rate_is_the_estimate_or_else_the_window_over_the_rtt),
        cmocka_unit_test(the_delay_is_what_stands_on_the_path),
        cmocka_unit_test(a_path_that_was_not_filled_may_carry_more),
        cmocka_unit_test(a_young_connection_is_believed_after_its_first_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

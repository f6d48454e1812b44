/* SPDX-License-Identifier: MPL-2.0 */
/* A longer path, told from a queue and from a link that stalls. */
#include <tltcp/types.h>

#include "libtltcp/engine/route.h"
#include "tests/support/cmocka.h"

#define MS ((cong_time)TLTCP_MS)
#define GAP (10 * MS) /* between packets */
#define SHORT (40 * MS)
#define LONG (600 * MS)
#define WHEN (1000 * MS) /* the path changes */
#define PACKET 1000.0
#define FLIGHT (8 * PACKET) /* the window */

/* The RTT of a packet sent then. */
typedef cong_time (*path)(cong_time sent);

struct verdict {
    cong_time longer; /* -1: never */
    cong_time at;
};

static struct verdict watch_flight(path p, cong_time gap, double flight) {
    const cmn__mem mem = cmn__mem_default();
    struct verdict v = {-1, 0};
    tltcp__route r = {0};
    for (cong_time sent = 0; sent < 5000 * MS && v.longer < 0; sent += gap) {
        const struct cong_ack ack = {.now = sent + p(sent),
                                     .rtt = p(sent),
                                     .acked = PACKET,
                                     .flight = flight};
        v = (struct verdict){tltcp__route_on_ack(&r, &mem, &ack, SHORT),
                             ack.now};
    }
    tltcp__route_free(&r, &mem);
    return v;
}

static struct verdict watch(path p, cong_time gap) {
    return watch_flight(p, gap, FLIGHT);
}

static cong_time hand_over(cong_time sent) {
    return sent < WHEN ? SHORT : LONG;
}

TEST(a_longer_path_shows_within_two_of_its_round_trips) {
    struct verdict v = watch(hand_over, GAP);
    assert_int_equal(v.longer, LONG);
    assert_in_range(v.at, WHEN + 2 * LONG, WHEN + 2 * LONG + 2 * GAP);
}

/* The packets on the way meet the one half of the change. */
static cong_time one_way_first(cong_time sent) {
    return sent < WHEN - SHORT / 2 ? SHORT
           : sent < WHEN           ? (SHORT + LONG) / 2
                                   : LONG;
}

TEST(each_way_may_become_longer_by_itself) {
    assert_int_equal(watch(one_way_first, GAP).longer, LONG);
}

/* All packets wait until the link goes on. */
static cong_time stall(cong_time sent) {
    cong_time end = WHEN + LONG;
    return sent < WHEN || sent >= end ? SHORT : end - sent + SHORT;
}

TEST(a_link_that_stalls_is_no_longer_path) {
    assert_int_equal(watch(stall, GAP).longer, -1);
}

/* A queue fills within a second. */
static cong_time queue(cong_time sent) {
    cong_time grown = (sent - WHEN) * LONG / (1000 * MS);
    return sent < WHEN ? SHORT : SHORT + (grown < LONG ? grown : LONG);
}

TEST(a_queue_that_grows_is_no_longer_path) {
    assert_int_equal(watch(queue, GAP).longer, -1);
}

/* As behind a link that stalls and is slow from then on: what is in flight
 * takes all of that time. */
TEST(a_queue_that_is_as_long_as_the_flight_is_no_longer_path) {
    double flight = (double)LONG / (double)GAP * PACKET;
    assert_int_equal(watch_flight(hand_over, GAP, flight).longer, -1);
    assert_int_equal(watch_flight(hand_over, GAP, flight / 2).longer, LONG);
}

/* What happened in a pause of the application, nobody has seen. */
TEST(after_a_pause_nothing_is_told) {
    assert_int_equal(watch(hand_over, 350 * MS).longer, -1);
}

static cong_time spike(cong_time sent) {
    return sent >= WHEN && sent < WHEN + LONG / 2 ? LONG : SHORT;
}

TEST(a_delay_that_ends_is_no_longer_path) {
    assert_int_equal(watch(spike, GAP).longer, -1);
}

static cong_time a_little(cong_time sent) {
    return sent < WHEN ? SHORT : SHORT + 39 * MS;
}

TEST(a_small_change_is_left_to_others) {
    assert_int_equal(watch(a_little, GAP).longer, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_longer_path_shows_within_two_of_its_round_trips),
        cmocka_unit_test(each_way_may_become_longer_by_itself),
        cmocka_unit_test(a_link_that_stalls_is_no_longer_path),
        cmocka_unit_test(a_queue_that_grows_is_no_longer_path),
        cmocka_unit_test(
            a_queue_that_is_as_long_as_the_flight_is_no_longer_path),
        cmocka_unit_test(after_a_pause_nothing_is_told),
        cmocka_unit_test(a_delay_that_ends_is_no_longer_path),
        cmocka_unit_test(a_small_change_is_left_to_others),
    };
    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}

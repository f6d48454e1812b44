/* SPDX-License-Identifier: MPL-2.0 */
/* Bounds of the sender's sections; what they do otherwise is tested against a
 * model in tests/fuzz. */
#include "libtltcp/sections.h"
#include "tests/support/cmocka.h"

#define BIG ((size_t)16 << 20)
#define AHEAD ((uint64_t)1 << 30)

static uint8_t bytes[BIG];

static void
what_expires_runs_no_further_ahead_than_the_peer_bears(void **state) {
    const tltcp_section in = {.data = bytes, .len = BIG, .deadline = 1};
    const cmn__mem mem = cmn__mem_default();
    tltcp_stats stats = {0};
    tltcp__sections s;
    (void)state;
    tltcp__sections_init(&s, &mem, BIG, 16, &stats);
    s.peer_seq = 1000;
    while (tltcp__sections_write(&s, &in, 2) == 0) {
        assert_int_equal(tltcp__sections_expire(&s, 2), 0);
        assert_true(s.update <= s.peer_seq + AHEAD);
    }
    assert_int_equal(tltcp__sections_write(&s, &in, 2), TLTCP_ERR_AGAIN);
    assert_int_equal(tltcp__sections_room(&s), 1000);
    s.peer_seq += BIG; /* its application has read */
    assert_int_equal(tltcp__sections_write(&s, &in, 2), 0);
    tltcp__sections_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_expires_runs_no_further_ahead_than_the_peer_bears),
    };
    return cmocka_run_group_tests_name("sections", tests, NULL, NULL);
}

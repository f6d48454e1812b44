/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tools/saratoga/report.h"

/* What is said of a file that was sent in a thousand packets. */
static const char *outcome(uint64_t again_packets, uint64_t again_bytes) {
    static char out[SARATOGA_OUTCOME];
    saratoga_node_event ev = {.type = SARATOGA_NODE_SERVED,
                              .request = SARATOGA_GET};

    saratoga_stats_init(&ev.stats);
    ev.stats.sending = 1;
    ev.stats.bytes = 1000000;
    ev.stats.data_packets = 1000 + again_packets;
    ev.stats.data_bytes = 1000000 + again_bytes;
    ev.stats.retransmitted_packets = again_packets;
    ev.stats.retransmitted_bytes = again_bytes;
    return saratoga_outcome(out, &ev);
}

static bool says(const char *out, const char *text) {
    return strstr(out, text) != NULL;
}

/* The last octet goes alone, again and again, while a receiver verifies. */
TEST(bytes_count_as_sent_again_and_packets_do_not) {
    assert_true(says(outcome(250, 250000), ", 20.00 % sent again, "));
    assert_true(says(outcome(1000, 1000), ", 0.10 % sent again, "));
    assert_false(says(outcome(40, 40), "again"));
    assert_false(says(outcome(0, 0), "again"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_count_as_sent_again_and_packets_do_not),
    };
    return cmocka_run_group_tests_name("saratoga_report", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Defaults of tltcp-live-transmit. */
#include "tests/support/cmocka.h"
#include "tools/live-transmit/options.h"

#include <getopt.h>
#include <string.h>

#include <tltcp/types.h>

static struct transmit_options o;

/* From an encoder to a URL with this query. */
static int parse(const char *query) {
    static char tool[] = "tltcp-live-transmit", udp[] = "udp://:1234", url[256];
    char *words[] = {tool, udp, url, NULL};

    optind = 1;
    (void)snprintf(url, sizeof(url), "tltcp://192.0.2.7:5000%s", query);
    return transmit_options_parse(3, words, &o);
}

TEST(a_live_stream_has_200_ms_and_goes_on) {
    assert_int_equal(parse(""), -1);
    assert_int_equal(o.out.to.settings->latency_ms, 200);
    assert_int_equal(o.out.to.config->drop_policy, TLTCP_DROP_DEPENDENTS);
    assert_false(o.out.at.listens);
    assert_true(o.reconnect);
    assert_false(o.immediate);
    assert_int_equal(o.chunk, 1316);
}

/* The system's own room is less than two key frames. */
TEST(an_encoder_may_send_whole_pictures_at_once) {
    assert_int_equal(parse(""), -1);
    assert_int_equal(o.in.buffer, 4000000);
}

/* A caller that calls again after a power loss finds the listener busy until
 * then. */
TEST(a_silent_peer_is_gone_after_five_seconds) {
    assert_int_equal(parse(""), -1);
    assert_int_equal(o.out.to.config->idle_timeout_ms, 5000);
    assert_int_equal(parse("?idle-timeout=1min"), -1);
    assert_int_equal(o.out.to.config->idle_timeout_ms, 60000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_live_stream_has_200_ms_and_goes_on),
        cmocka_unit_test(an_encoder_may_send_whole_pictures_at_once),
        cmocka_unit_test(a_silent_peer_is_gone_after_five_seconds),
    };
    return cmocka_run_group_tests_name("transmit options", tests, NULL, NULL);
}

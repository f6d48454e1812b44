/* SPDX-License-Identifier: MPL-2.0 */
/* Every congestion controller over real UDP, one connection after another on
 * the same listener. */
#include <congestion/congestion.h>

#include "tests/loopback/lo.h"

#define SECTIONS 100
#define SECTION 2000  /* bytes */
#define RATE 50000000 /* bit/s; for `fixed`, which has none of its own */

static void carry_a_stream(struct lo *l) {
    static uint8_t data[SECTION];
    static struct lo_got got;
    size_t received = 0;
    tltcp_stats st;

    for (int i = 0; i < SECTIONS; i++) {
        memset(data, i, sizeof(data));
        assert_int_equal(
            lo_send(l->client, data, sizeof(data), TLTCP_TIME_NEVER), SECTION);
    }
    while (received < (size_t)SECTIONS * SECTION) {
        lo_recv(l->server, &got, 1, 0);
        assert_true(got.rv > 0);
        assert_int_equal(got.segment[0].kind, TL_DATA);
        assert_int_equal(got.segment[0].seq, received);
        assert_int_equal(got.data[0][0], received / SECTION);
        received += (size_t)got.rv;
    }
    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(l->client, &st), 0);
    assert_string_equal(st.congestion, l->config.congestion);
}

TEST(each_controller_carries_a_stream) {
    struct lo *l = *state;

    l->config.max_rate = RATE;
    lo_listen(l);
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        l->config.congestion = *name;
        lo_connect(l);
        lo_accept(l);
        carry_a_stream(l);
        assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
        lo_expect_end(l->server);
        assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
        l->client = NULL;
        l->server = NULL;
    }
}

TEST(a_parameter_of_a_controller_can_be_set) {
    static const char *const names[] = {"eq_hold", "chi", NULL};
    static const char *const wrong[] = {"alpha", NULL};
    static const double values[] = {1, 0.5};
    struct lo *l = *state;
    tltcp_socket *s = NULL;

    l->config.congestion = "yam";
    l->config.controller.params = names;
    l->config.controller.values = values;
    lo_pair(l);
    carry_a_stream(l);
    l->config.controller.params = wrong; /* Vegas has one, Yam has not */
    assert_int_equal(tltcp_connect(&s, l->host, l->port, &l->config, 0),
                     TLTCP_ERR_INVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_controller_carries_a_stream,
                                        lo_ipv4, lo_teardown),
        cmocka_unit_test_setup_teardown(each_controller_carries_a_stream,
                                        lo_plain, lo_teardown),
        cmocka_unit_test_setup_teardown(a_parameter_of_a_controller_can_be_set,
                                        lo_ipv4, lo_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

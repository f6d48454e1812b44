/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "sim/link_settings.h"
#include "tests/support/cmocka.h"

static struct sim_link_config fresh(void) {
    struct sim_link_config c;
    sim_link_config_init(&c);
    c.overhead = 28;
    return c;
}

TEST(a_list_sets_all_it_names) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    assert_true(settings_apply("rate=2mbit,delay=20ms,jitter=1ms,loss=1%,"
                               "duplicate=2%,corrupt=0.1%,reorder=3%:7ms",
                               &c, why));
    assert_float_equal(c.rate, 2e6, 0);
    assert_int_equal(c.delay, 20000000);
    assert_int_equal(c.jitter, 1000000);
    assert_float_equal(c.loss, 0.01, 1e-12);
    assert_float_equal(c.duplicate, 0.02, 1e-12);
    assert_float_equal(c.corrupt, 0.001, 1e-12);
    assert_float_equal(c.reorder, 0.03, 1e-12);
    assert_int_equal(c.reorder_delay, 7000000);
}

TEST(a_queue_has_one_limit_of_three_kinds) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    assert_true(settings_apply("queue=50kB", &c, why));
    assert_int_equal(c.limit_bytes, 50000);
    assert_true(settings_apply("queue=40p", &c, why));
    assert_int_equal(c.limit_packets, 40);
    assert_int_equal(c.limit_bytes, 0);
    assert_true(settings_apply("queue=80ms", &c, why));
    assert_int_equal(c.limit_time, 80000000);
    assert_int_equal(c.limit_packets, 0);
    assert_false(settings_apply("queue=0", &c, why));
    assert_false(settings_apply("queue=0p", &c, why));
}

TEST(a_rate_without_a_queue_gets_a_reasonable_one) {
    struct sim_link_config c = fresh();
    settings_default_queue(&c);
    assert_int_equal(c.limit_time, 0); /* no rate, no queue */
    c.rate = 10e6;
    settings_default_queue(&c);
    assert_int_equal(c.limit_time, 100000000);
    c.limit_time = 0;
    c.rate = 64e3;
    settings_default_queue(&c);
    assert_int_equal(c.limit_time, 1875000000); /* ten packets of 1500 bytes */
    c = fresh();
    c.rate = 10e6;
    c.limit_bytes = 1000;
    settings_default_queue(&c);
    assert_int_equal(c.limit_time, 0);
}

TEST(bursts_blackouts_and_aqm_are_understood) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    assert_true(settings_apply("burst=1%:25%:80% blackout=10s+2s/30s "
                               "red=5:15:10% ecn=on mark=7 ecn-path=bleach "
                               "mtu=1428",
                               &c, why));
    assert_float_equal(c.burst_enter, 0.01, 1e-12);
    assert_float_equal(c.burst_leave, 0.25, 1e-12);
    assert_float_equal(c.burst_loss, 0.8, 1e-12);
    assert_true(c.blackout_start == UINT64_C(10000000000));
    assert_int_equal(c.blackout_length, 2000000000);
    assert_true(c.blackout_period == UINT64_C(30000000000));
    assert_true(c.red_on);
    assert_float_equal(c.red.thresh, 5, 0);
    assert_float_equal(c.red.maxthresh, 15, 0);
    assert_true(c.red.setbit);
    assert_int_equal(c.mark_above, 7);
    assert_int_equal(c.ecn, SIM_ECN_BLEACH);
    assert_int_equal(c.mtu, 1400); /* what is left for the datagram */
    assert_true(settings_apply("burst=1%:50%", &c, why));
    assert_float_equal(c.burst_loss, 1, 0);
}

TEST(a_carrier_that_is_off_lets_nothing_pass) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    assert_true(settings_apply("blackout=10s+2s,carrier=off", &c, why));
    assert_true(c.no_carrier);
    assert_true(settings_apply("carrier=on", &c, why));
    assert_false(c.no_carrier);
    assert_true(c.blackout_length == UINT64_C(2000000000)); /* as it was */
}

TEST(a_mistake_is_named_and_changes_nothing) {
    static const char *const wrong[][2] = {
        {"rate=2mbit,speed=3", "speed"},
        {"loss", "NAME=VALUE"},
        {"loss=200%", "loss=200%"},
        {"delay=20", "unit"},
        {"burst=1%", "burst"},
        {"red=15:5", "red"},
        {"ecn=maybe", "on or off"},
        {"blackout=10s", "START+LENGTH"},
        {"loss=1%:2%", "loss"},
        {"mtu=28", "mtu"},
        {"blackout=1s+3s/2s", "blackout"},
        {"ecn-path=x", "keep"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct sim_link_config c = fresh();
        char why[SETTINGS_WHY_MAX] = "";
        assert_false(settings_apply(wrong[i][0], &c, why));
        assert_non_null(strstr(why, wrong[i][1]));
        assert_float_equal(c.rate, 0, 0);
    }
}

TEST(the_help_names_every_setting) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    char *word;
    char *rest;
    assert_false(settings_apply("no-such=1", &c, why));
    rest = strstr(why, "there are ");
    assert_non_null(rest);
    rest += strlen("there are ");
    while ((word = strsep(&rest, " ")) != NULL) {
        char item[64];
        (void)snprintf(item, sizeof(item), "  %s=", word);
        assert_non_null(strstr(settings_help, item));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_sets_all_it_names),
        cmocka_unit_test(a_queue_has_one_limit_of_three_kinds),
        cmocka_unit_test(a_rate_without_a_queue_gets_a_reasonable_one),
        cmocka_unit_test(bursts_blackouts_and_aqm_are_understood),
        cmocka_unit_test(a_carrier_that_is_off_lets_nothing_pass),
        cmocka_unit_test(a_mistake_is_named_and_changes_nothing),
        cmocka_unit_test(the_help_names_every_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

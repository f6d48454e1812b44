/* SPDX-License-Identifier: MPL-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

TEST(jitter_may_be_of_a_part_and_come_in_slots) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    assert_true(settings_apply("jitter=8ms:10%,slots=5ms:20ms", &c, why));
    assert_int_equal(c.jitter, 8000000);
    assert_float_equal(c.jitter_share, 0.1, 1e-12);
    assert_int_equal(c.slot_min, 5000000);
    assert_int_equal(c.slot_max, 20000000);
    assert_true(settings_apply("jitter=1ms,slots=20ms", &c, why));
    assert_float_equal(c.jitter_share, 0, 0);
    assert_int_equal(c.slot_min, 20000000);
    assert_int_equal(c.slot_max, 20000000);
    assert_false(settings_apply("slots=20ms:5ms", &c, why));
    assert_false(settings_apply("jitter=8ms:x", &c, why));
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

TEST(an_inactive_carrier_passes_nothing) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    assert_true(settings_apply("blackout=10s+2s,carrier=off", &c, why));
    assert_true(c.no_carrier);
    assert_true(settings_apply("carrier=on", &c, why));
    assert_false(c.no_carrier);
    assert_true(c.blackout_length == UINT64_C(2000000000)); /* as it was */
}

/* A file with a recording; its name fits into settings. */
static const char *recording(const char *text) {
    static char path[64];
    int fd;
    FILE *f;
    (void)snprintf(path, sizeof(path), "/tmp/perigee-trace-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    f = fdopen(fd, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static bool apply_trace(struct sim_link_config *c, const char *path,
                        const char *rest, char *why) {
    char list[128];
    (void)snprintf(list, sizeof(list), "delay=5ms,trace=%s%s", path, rest);
    return settings_apply(list, c, why);
}

TEST(a_trace_stands_for_the_rate_until_one_is_set) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    const char *path = recording("1\n500\n1000\n");
    c.rate = 1e6;
    assert_true(apply_trace(&c, path, "", why));
    assert_non_null(c.trace);
    assert_float_equal(c.rate, 0, 0);
    settings_default_queue(&c);
    assert_int_equal(c.limit_bytes, 15000);
    assert_int_equal(remove(path), 0);
    /* read once: a change in mid-run touches no file */
    assert_true(apply_trace(&c, path, ":500ms", why));
    assert_int_equal(c.trace_start, 500000000);
    assert_true(settings_apply("rate=3mbit", &c, why));
    assert_null(c.trace);
}

TEST(a_bad_trace_is_refused_with_the_cause) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    const char *path = recording("1\ntwo\n");
    assert_false(apply_trace(&c, path, "", why));
    assert_non_null(strstr(why, "line 2 is not a whole number"));
    assert_int_equal(remove(path), 0);
    assert_false(apply_trace(&c, path, "", why));
    assert_non_null(strstr(why, "No such file"));
    path = recording("1\n1000\n");
    assert_false(apply_trace(&c, path, ":1s", why));
    assert_non_null(strstr(why, "below its length, 1 s"));
    assert_false(apply_trace(&c, path, ":soon", why));
    assert_non_null(strstr(why, "FILE:START"));
    assert_int_equal(remove(path), 0);
    assert_null(c.trace);
    assert_int_equal(c.delay, 0);
}

TEST(aqm_fair_queueing_and_a_policer_are_understood) {
    struct sim_link_config c = fresh();
    char why[SETTINGS_WHY_MAX];
    assert_true(settings_apply("codel=on,fq=on,ecn=on,police=2mbit", &c, why));
    assert_true(c.codel_on);
    assert_int_equal(c.codel.target, 5000000);
    assert_int_equal(c.codel.interval, 100000000);
    assert_true(c.aqm_ecn);
    assert_int_equal(c.fair_quantum, 1500);
    assert_float_equal(c.police_rate, 2e6, 0);
    assert_int_equal(c.police_burst, 25000);
    assert_true(
        settings_apply("codel=20ms:200ms,fq=300,police=1mbit:9kB", &c, why));
    assert_int_equal(c.codel.target, 20000000);
    assert_int_equal(c.codel.interval, 200000000);
    assert_int_equal(c.fair_quantum, 300);
    assert_int_equal(c.police_burst, 9000);
    assert_false(settings_apply("pie=on", &c, why)); /* not with CoDel */
    assert_true(settings_apply("codel=off,fq=off,pie=30ms", &c, why));
    assert_false(c.codel_on);
    assert_int_equal(c.fair_quantum, 0);
    assert_int_equal(c.pie.target, 30000000);
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
        {"codel=x", "target"},
        {"codel=100ms:5ms", "interval"},
        {"pie=0", "target"},
        {"fq=70000", "65535"},
        {"police=1mbit:0", "police"},
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
    rest = strstr(why, "settings are ");
    assert_non_null(rest);
    rest += strlen("settings are ");
    while ((word = strsep(&rest, " ")) != NULL) {
        char item[64];
        (void)snprintf(item, sizeof(item), "  %s=", word);
        assert_non_null(strstr(settings_help, item));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_sets_all_it_names),
        cmocka_unit_test(jitter_may_be_of_a_part_and_come_in_slots),
        cmocka_unit_test(a_queue_has_one_limit_of_three_kinds),
        cmocka_unit_test(a_rate_without_a_queue_gets_a_reasonable_one),
        cmocka_unit_test(bursts_blackouts_and_aqm_are_understood),
        cmocka_unit_test(an_inactive_carrier_passes_nothing),
        cmocka_unit_test(a_trace_stands_for_the_rate_until_one_is_set),
        cmocka_unit_test(a_bad_trace_is_refused_with_the_cause),
        cmocka_unit_test(aqm_fair_queueing_and_a_policer_are_understood),
        cmocka_unit_test(a_mistake_is_named_and_changes_nothing),
        cmocka_unit_test(the_help_names_every_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

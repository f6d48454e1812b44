/* SPDX-License-Identifier: MPL-2.0 */
/* Scenarios as text. */
#include <stdlib.h>
#include <string.h>

#include "sim/expr.h"
#include "sim/scenario.h"
#include "tests/support/cmocka.h"

#define LINK "link A B rate=1mbit queue=20p\n"
#define FLOW "flow f from=A to=B\n"

static bool no_names(void *user, const char *name, size_t len, double *value) {
    (void)user;
    (void)name;
    (void)len;
    (void)value;
    return false;
}

TEST(expressions_follow_the_rules_of_arithmetic) {
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"8 / 2 / 2", 2},
        {"-3 - -4", 1},
        {"min(4, 2)", 2},
        {"max(1 + 1, 3) * 2", 6},
        {" 2.5e3 / (4 - 2) ", 1250},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double value = 0;
        assert_null(sim_expr(cases[i].text, no_names, NULL, &value));
        assert_float_equal(value, cases[i].value, 1e-9);
    }
}

TEST(expressions_that_mean_nothing_are_refused) {
    static const char *const cases[] = {"",    "1 +",    "(1", "1 2",  "x",
                                        "1/0", "min(1)", "*",  "1 % 2"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double value = 0;
        assert_non_null(sim_expr(cases[i], no_names, NULL, &value));
    }
}

TEST(deep_nesting_ends) {
    char text[4001];
    double value;
    memset(text, '(', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_non_null(sim_expr(text, no_names, NULL, &value));
}

TEST(a_parameter_takes_effect_and_can_be_set_from_outside) {
    char why[SCENARIO_WHY_MAX] = "";
    char three[] = "n=3";
    char *const settings[] = {three};
    struct scenario s;
    const char *text = "set n 2 1..10\nset cc reno\nduration ${10 * n}s\n" LINK
                       "flow f from=A to=B count=${n} congestion=${cc}\n";
    assert_true(scenario_read(&s, text, NULL, 0, why));
    assert_int_equal(s.duration, UINT64_C(20000000000));
    assert_int_equal(s.flows[0].count, 2);
    assert_string_equal(s.flows[0].congestion, "reno");
    assert_int_equal(s.n_links, 2);
    assert_int_equal(s.links[1].config.limit_packets, 20);
    scenario_free(&s);
    assert_true(scenario_read(&s, text, settings, 1, why));
    assert_int_equal(s.flows[0].count, 3);
    scenario_free(&s);
}

TEST(what_is_wrong_is_named_with_its_line_and_range) {
    static const struct {
        const char *text;
        const char *setting;
        const char *part; /* of the complaint */
    } cases[] = {
        {"set n 2 1..10\n", "n=11", "line 1: n=11: it must be 1..10"},
        {"set n 2 1..10\n", "n=many", "n=many: it must be 1..10"},
        {"set m a a|b\n", "m=c", "it must be a|b"},
        {"set n 2\nduration 1s\n" LINK FLOW, "m=1", "the parameters are n"},
        {"\nspeed 3\n", NULL, "line 2: a line begins with set"},
        {"duration ${x}s\n", NULL, "cannot work out ${x}"},
        {"duration 3\n", NULL, "line 1: duration 3: it must be"},
        {"link A\n", NULL, "a link needs two nodes"},
        {"link A B rate=fast\n", NULL, "rate=fast: must be"},
        {"link A B speed=1\n", NULL, "no setting 'speed'"},
        {LINK "flow f from=A to=C\n", NULL, "no link names the node C"},
        {LINK "flow f from=A\n", NULL, "from and to must name nodes"},
        {LINK "flow f from=A to=B window=-1\n", NULL, "window=-1: it must be"},
        {LINK "flow f from=A to=B sped=1\n", NULL, "no key 'sped=1'"},
        {LINK "flow f from=A to=B window=2000000\n", NULL, "0 to 1e+06"},
        {LINK "flow f from=A to=B ack-every=0\n", NULL, "from 1 to 64"},
        {LINK "flow f from=A to=B cc.iw=x\n", NULL, "it must be a number"},
        {LINK "flow f from=A to=B kind=tcp\n", NULL, "tltcp, cbr or saratoga"},
        {LINK "flow f from=A to=B rto-min=0s\n", NULL, "it must be from"},
        {LINK "flow f kind=cbr from=A to=B\n", NULL, "needs a rate"},
        {LINK FLOW, NULL, "a duration and at least one flow"},
        {"duration 1s\nmeasure 0s 2s\n" LINK FLOW, NULL, "ends after"},
        {"measure 2s 1s\n", NULL, "must end after its start"},
        {LINK "change 1s A C rate=1mbit\n", NULL, "change TIME FROM TO"},
        {"set n 1\nset n 2\n", NULL, "declared twice: n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char why[SCENARIO_WHY_MAX] = "";
        char setting[32] = "";
        char *settings[] = {setting};
        struct scenario s;
        if (cases[i].setting != NULL) {
            strncpy(setting, cases[i].setting, sizeof(setting) - 1);
        }
        assert_false(scenario_read(&s, cases[i].text, settings,
                                   cases[i].setting != NULL, why));
        if (strstr(why, cases[i].part) == NULL) {
            fail_msg("'%s' does not say '%s'", why, cases[i].part);
        }
        scenario_free(&s);
    }
}

TEST(a_change_goes_on_from_the_one_before) {
    char why[SCENARIO_WHY_MAX] = "";
    struct scenario s;
    assert_true(scenario_read(&s,
                              "duration 9s\n" LINK FLOW
                              "change 1s A B loss=1%\n"
                              "change 2s A B delay=5ms\n",
                              NULL, 0, why));
    assert_int_equal(s.n_changes, 2);
    assert_float_equal(s.changes[1].config.loss, 0.01, 1e-12);
    assert_int_equal(s.changes[1].config.delay, 5000000);
    assert_int_equal(s.changes[1].config.limit_packets, 20);
    scenario_free(&s);
}

TEST(broken_text_is_survived) {
    static const char whole[] = "set n 2 1..10\nduration ${n}s\n" LINK
                                "flow f from=A to=B cc.alpha=1 count=${n+1}\n";
    for (size_t i = 0; i < sizeof(whole); i++) {
        for (unsigned c = 1; c < 128; c += 9) {
            char why[SCENARIO_WHY_MAX] = "";
            char text[sizeof(whole)];
            struct scenario s;
            memcpy(text, whole, sizeof(whole));
            text[i] = (char)c;
            text[sizeof(whole) - 1] = '\0';
            if (!scenario_read(&s, text, NULL, 0, why)) {
                assert_true(strlen(why) > 0);
            }
            scenario_free(&s);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_follow_the_rules_of_arithmetic),
        cmocka_unit_test(expressions_that_mean_nothing_are_refused),
        cmocka_unit_test(deep_nesting_ends),
        cmocka_unit_test(a_parameter_takes_effect_and_can_be_set_from_outside),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line_and_range),
        cmocka_unit_test(a_change_goes_on_from_the_one_before),
        cmocka_unit_test(broken_text_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

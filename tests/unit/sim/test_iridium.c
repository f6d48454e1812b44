/* SPDX-License-Identifier: MPL-2.0 */
/* The geometry of Iridium, and scenarios that follow it. */
#include <math.h>
#include <string.h>

#include "sim/iridium.h"
#include "sim/scenario.h"
#include "tests/support/cmocka.h"

#define DAY 86400

static const struct iridium_place serdang = {3.02, 101.7};
static const struct iridium_place tsetserleg = {47.55, 101.7};

static bool near(double a, double b, double by) {
    return fabs(a - b) <= by;
}

/* Distances of satellites by elevation: what the height of 780 km makes of
 * them. */
TEST(a_satellites_distance_follows_from_its_elevation) {
    static const double degrees[] = {8.2, 30, 60};
    static const double km[] = {2463.68, 1363.63, 884.84};
    unsigned seen[3] = {0};
    for (unsigned t = 0; t < DAY; t += 7) {
        for (int i = 0; i < IRIDIUM_SATELLITES; i++) {
            double e = iridium_elevation(serdang, i, t);
            for (unsigned k = 0; k < 3; k++) {
                if (near(e, degrees[k], 0.05)) {
                    assert_true(near(iridium_range(serdang, i, t), km[k],
                                     km[k] * 4e-3));
                    seen[k]++;
                }
            }
        }
    }
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

TEST(there_is_a_way_all_day_long_and_handovers) {
    struct iridium g;
    struct iridium_way way;
    int last = -1;
    unsigned handovers = 0;
    unsigned neighbours = 0;
    iridium_init(&g, serdang, tsetserleg);
    for (unsigned t = 0; t < DAY; t += 10) {
        double whole;
        assert_true(iridium_look(&g, t, &way));
        whole = way.up + way.between + way.down;
        assert_true(whole > 0.015 && whole < 0.16);
        assert_true(way.up >= 0.0026 && way.up < 0.00823);
        assert_true(iridium_elevation(serdang, g.serving[0], t) >= 8.2);
        handovers += g.serving[0] != last;
        last = g.serving[0];
        if (way.hops == 1 && g.serving[0] / 11 == g.serving[1] / 11) {
            assert_true(near(way.between, 0.0134404, 1e-7));
            neighbours++;
        }
    }
    assert_in_range(handovers, 100, 400); /* one serves for some minutes */
    assert_true(neighbours > 100);
}

#define SKY                                \
    "duration 900s\nlink A S rate=1mbit\n" \
    "link S R rate=1mbit loss=1%\nlink R B\n"
#define END "flow f from=A to=B\n"

static bool parses(struct scenario *s, const char *text, char *why) {
    bool good = scenario_read(s, text, NULL, 0, why);
    if (!good) {
        scenario_free(s);
    }
    return good;
}

TEST(delays_of_links_follow_the_orbit) {
    char why[SCENARIO_WHY_MAX];
    struct scenario s;
    struct iridium g;
    struct iridium_way way;
    assert_true(parses(
        &s, SKY "iridium A S R B 3.02,101.7 47.55,101.7 10s 600s\n" END, why));
    iridium_init(&g, serdang, tsetserleg);
    assert_true(iridium_look(&g, 600, &way));
    assert_int_equal(s.links[0].config.delay, (uint64_t)(way.up * 1e9));
    assert_int_equal(s.links[3].config.delay, (uint64_t)(way.between * 1e9));
    assert_int_equal(s.n_changes, 89 * 6);
    assert_int_equal(s.changes[0].at, 10000000000);
    for (uint32_t i = 0; i < s.n_changes; i++) {
        const struct scenario_change *c = &s.changes[i];
        assert_true(near(c->config.loss, s.links[c->link].config.loss, 0));
    }
    scenario_free(&s);
}

TEST(what_is_wrong_with_an_orbit_is_said) {
    static const struct {
        const char *text, *word;
    } wrong[] = {
        {SKY "iridium A S R B 3,101 47,101 10s\n" END, "SHIFT"},
        {"link A B\niridium A B A B 3,101 47,101 10s 0s\n", "after duration"},
        {SKY "iridium A S X B 3,101 47,101 10s 0s\n" END, "X"},
        {SKY "iridium A S R B 93,101 47,101 10s 0s\n" END, "93,101"},
        {SKY "iridium A S R B 3;101 47,101 10s 0s\n" END, "3;101"},
        {SKY "iridium A S R B 3,101 47,101 10ms 0s\n" END, "0.1 s"},
        {SKY "iridium A R S B 3,101 47,101 10s 0s\n" END, "no link"},
    };
    char why[SCENARIO_WHY_MAX];
    struct scenario s;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(parses(&s, wrong[i].text, why));
        assert_non_null(strstr(why, wrong[i].word));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_satellites_distance_follows_from_its_elevation),
        cmocka_unit_test(there_is_a_way_all_day_long_and_handovers),
        cmocka_unit_test(delays_of_links_follow_the_orbit),
        cmocka_unit_test(what_is_wrong_with_an_orbit_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

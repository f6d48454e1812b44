/* SPDX-License-Identifier: MPL-2.0 */
/* Properties of every controller, for any input. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"
#include "tests/unit/congestion/vectors.h"

#include <math.h>
#include <string.h>

#define STEPS 4000
#define SEEDS 8

static bool chance(uint64_t *seed, unsigned in) {
    return rig_draw(seed) % in == 0;
}

/* Mostly sensible, at times not. */
static double odd_number(uint64_t *seed, double top) {
    static const double odd[] = {0,
                                 -1,
                                 1e-300,
                                 1e300,
                                 1e18,
                                 -1e18,
                                 0.5,
                                 (double)INFINITY,
                                 (double)-INFINITY,
                                 (double)NAN};
    if (chance(seed, 20)) {
        return odd[rig_draw(seed) % (sizeof(odd) / sizeof(odd[0]))];
    }
    return top * (double)(rig_draw(seed) >> 11) / 9007199254740992;
}

static cong_time odd_time(uint64_t *seed, cong_time top) {
    static const cong_time odd[] = {-1,        0,         1,
                                    INT64_MAX, INT64_MIN, 60000000000};
    if (chance(seed, 20)) {
        return odd[rig_draw(seed) % 6];
    }
    return (cong_time)(rig_draw(seed) % (uint64_t)top);
}

static void random_ack(struct rig *r, uint64_t *seed) {
    double mss = r->cc->mss;
    struct cong_rate_sample rs = {
        .rate = odd_number(seed, 1e6),
        .delivered = odd_number(seed, 100 * mss),
        .tx_in_flight = odd_number(seed, 100 * mss),
        .lost = odd_number(seed, 10 * mss),
        .interval = odd_time(seed, MS(500)),
        .app_limited = chance(seed, 5),
    };
    struct cong_ack ack = {
        .now = r->now,
        .rtt = odd_time(seed, MS(500)),
        .min_rtt = odd_time(seed, MS(100)),
        .srtt = odd_time(seed, MS(300)),
        .acked = odd_number(seed, 4 * mss),
        .lost = chance(seed, 4) ? odd_number(seed, 2 * mss) : 0,
        .flight = odd_number(seed, 100 * mss),
        .p = odd_number(seed, 1),
        .x_recv = odd_number(seed, 1e6),
        .rs = chance(seed, 3) ? NULL : &rs,
        .probes_acked = chance(seed, 5) ? (unsigned)rig_draw(seed) : 0,
        .round = chance(seed, 5),
        .limited = !chance(seed, 3),
        .recovery = chance(seed, 4),
    };
    r->cc->ops->ack(r->cc, &ack);
}

static void random_event(struct rig *r, uint64_t *seed) {
    double mss = r->cc->mss;
    enum cong_cause cause = (enum cong_cause)(rig_draw(seed) % 7);
    rig_event(r, cause, odd_number(seed, 100 * mss), odd_number(seed, 20 * mss),
              (unsigned)(rig_draw(seed) % 5));
}

static void random_step(struct rig *r, uint64_t *seed) {
    if (chance(seed, 50)) {
        r->now = odd_time(seed, MS(100000));
        r->now = r->now > MS(1e9) ? MS(1e9) : r->now;
    } else {
        r->now += (cong_time)(rig_draw(seed) % (uint64_t)MS(30));
    }
    if (chance(seed, 12)) {
        random_event(r, seed);
    } else {
        random_ack(r, seed);
    }
}

static void check_outputs(const struct cong *cc, unsigned step) {
    bool rate_only = isinf(cc->cwnd_max) && isinf(cc->cwnd);
    if (!(cc->cwnd >= cc->mss && cc->cwnd <= cc->cwnd_max) ||
        (isinf(cc->cwnd) && !(rate_only && cc->pacing_rate > 0))) {
        fail_msg("%s step %u: cwnd %g of %g", cc->ops->name, step, cc->cwnd,
                 cc->cwnd_max);
    }
    if (!(cc->ssthresh >= cc->mss)) {
        fail_msg("%s step %u: ssthresh %g", cc->ops->name, step, cc->ssthresh);
    }
    if (!(cc->pacing_rate >= 0) || isinf(cc->pacing_rate) ||
        cc->feedback_timeout < 0 || cc->probe_gap < 0) {
        fail_msg("%s step %u: rate %g, timeout %lld, gap %lld", cc->ops->name,
                 step, cc->pacing_rate, (long long)cc->feedback_timeout,
                 (long long)cc->probe_gap);
    }
}

static void run(struct rig *r, const char *name, uint64_t seed) {
    static const double mss[] = {1, 536, 1200, 8948};
    static const double top[] = {1, 2, 55, 10000, (double)INFINITY};
    double size = mss[seed % 4];
    rig_start_sized(r, name, size, top[seed % 5] * size,
                    seed % 3 == 0 ? -1 : MS((double)(seed % 200)));
    check_outputs(r->cc, 0);
    for (unsigned i = 1; i <= STEPS; i++) {
        random_step(r, &seed);
        check_outputs(r->cc, i);
    }
}

TEST(outputs_stay_within_bounds_whatever_comes) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct rig r;
            run(&r, *name, seed);
            rig_stop(&r);
        }
    }
}

TEST(the_same_events_give_the_same_state) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig a;
        struct rig b;
        run(&a, *name, 77);
        run(&b, *name, 77);
        assert_memory_equal(a.cc, b.cc, a.cc->ops->size);
        rig_stop(&a);
        rig_stop(&b);
    }
}

/* BBR's window follows its model; a rate needs no window. */
static bool has_growth_gate(const char *name) {
    static const char *const without[] = {"bbr", "fixed", "stfrc", "tfrc"};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(name, without[i]) == 0) {
            return false;
        }
    }
    return true;
}

/* A feedback that makes sense, in a window of n segments. */
static void plain_ack(struct rig *r, uint64_t *seed, bool limited) {
    r->now += (cong_time)(rig_draw(seed) % (uint64_t)MS(10));
    r->ack.limited = limited;
    r->ack.flight = r->cc->cwnd < 1e6 ? r->cc->cwnd : 1e6;
    r->ack.min_rtt = MS(100);
    r->ack.round = chance(seed, 10);
    r->rs = (struct cong_rate_sample){.rate = odd_number(seed, 1e5)};
    r->ack.rs = &r->rs;
    rig_ack_rtt(r, (double)(rig_draw(seed) % 3),
                MS((double)(100 + rig_draw(seed) % 30)));
}

TEST(nothing_grows_while_the_application_is_the_limit) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig r;
        uint64_t seed = 5;
        if (!has_growth_gate(*name)) {
            continue;
        }
        rig_start_sized(&r, *name, 1, 1000, MS(100));
        for (int i = 0; i < 500; i++) {
            plain_ack(&r, &seed, true);
        }
        assert_true(r.cc->cwnd > 1);
        r.cc->ssthresh = chance(&seed, 2) ? 2 : 1e6;
        for (int i = 0; i < 500; i++) {
            double before = r.cc->cwnd;
            r.ack.recovery = i % 2 == 0;
            plain_ack(&r, &seed, r.ack.recovery);
            if (r.cc->cwnd > before) {
                fail_msg("%s grew from %g to %g", *name, before, r.cc->cwnd);
            }
        }
        rig_stop(&r);
    }
}

TEST(one_event_is_at_most_one_reduction) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig r;
        uint64_t seed = 9;
        rig_start_sized(&r, *name, 1, 100000, MS(100));
        for (int i = 0; i < 300; i++) {
            plain_ack(&r, &seed, true);
        }
        rig_event(&r, CONG_LOSS, r.cc->cwnd, 1, 1);
        double after = r.cc->cwnd;
        r.ack.recovery = true;
        r.ack.lost = 1;
        for (int i = 0; i < 3; i++) {
            r.ack.flight = after;
            rig_ack(&r, 0);
        }
        if (r.cc->cwnd < after) {
            fail_msg("%s: %g, then %g", *name, after, r.cc->cwnd);
        }
        rig_stop(&r);
    }
}

TEST(repeated_timeouts_keep_the_threshold) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig r;
        rig_start_sized(&r, *name, 1, 100000, MS(100));
        if (!has_growth_gate(*name)) {
            rig_stop(&r);
            continue;
        }
        r.cc->cwnd = 40;
        rig_event(&r, CONG_RTO, 40, 40, 1);
        double ssthresh = r.cc->ssthresh;
        assert_true(r.cc->cwnd <= 2);
        rig_event(&r, CONG_RTO, 1, 1, 2);
        rig_event(&r, CONG_RTO, 1, 1, 3);
        check_near(r.cc->ssthresh, ssthresh, 0.0);
        rig_stop(&r);
    }
}

TEST(the_list_is_sorted_and_every_name_is_found) {
    static const char *const promised[] = {
        "tahoe", "reno",     "newreno",     "sack",
        "vegas", "fast",     "peach",       "yam",
        "tibet", "westwood", "westwoodnew", "mod-westwoodnew",
        "tfrc",  "stfrc",    "cubic",       "bbr",
        "fixed", "auto",     "prague"};
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        const struct cong_ops *ops = cong_find(*name);
        assert_non_null(ops);
        assert_string_equal(ops->name, *name);
        assert_true(name[1] == NULL || strcmp(name[0], name[1]) < 0);
    }
    for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++) {
        assert_non_null(cong_find(promised[i]));
    }
    assert_null(cong_find("hybla"));
    assert_null(cong_find(""));
    assert_null(cong_find(NULL));
}

TEST(odd_settings_are_clamped_or_refused) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        struct rig r;
        rig_start_sized(&r, *name, 0, (double)NAN, 0);
        check_near(r.cc->mss, 1, 0.0);
        check_near(r.cc->cwnd_max, 1, 0.0);
        check_outputs(r.cc, 0);
        assert_int_equal(cong_set(r.cc, "no such thing", 1), -1);
        assert_int_equal(cong_set(r.cc, NULL, 1), -1);
        int iw = cong_set(r.cc, "iw", (double)NAN);
        assert_true(iw == -1 || iw == -2);
        rig_stop(&r);
    }
}

static void nothing_init(struct cong *cc, cong_time now, cong_time rtt) {
    (void)now;
    (void)rtt;
    cc->cwnd = cc->mss;
}

static void nothing_ack(struct cong *cc, const struct cong_ack *ack) {
    (void)cc;
    (void)ack;
}

static void nothing_event(struct cong *cc, const struct cong_event *ev) {
    (void)cc;
    (void)ev;
}

static const struct cong_ops own = {.name = "own",
                                    .size = sizeof(struct cong),
                                    .init = nothing_init,
                                    .ack = nothing_ack,
                                    .event = nothing_event};

TEST(a_program_can_add_a_controller_once) {
    struct cong_ops other = own;
    struct rig r;
    assert_null(cong_find("own"));
    other.name = "reno";
    assert_int_equal(cong_register(&other), -2);
    other.name = "incomplete";
    other.ack = NULL;
    assert_int_equal(cong_register(&other), -1);
    assert_int_equal(cong_register(NULL), -1);
    assert_int_equal(cong_register(&own), 0);
    assert_int_equal(cong_register(&own), 0);
    other = own;
    assert_int_equal(cong_register(&other), -2);
    assert_ptr_equal(cong_find("own"), &own);
    rig_start_sized(&r, "own", 100, 1000, -1);
    assert_int_equal(cong_set(r.cc, "anything", 1), -1);
    rig_stop(&r);
}

TEST(the_list_of_added_controllers_has_an_end) {
    static struct cong_ops more[CONG_REGISTER_MAX + 1];
    static char names[CONG_REGISTER_MAX + 1][8];
    int full = 0;
    for (int i = 0; i <= CONG_REGISTER_MAX; i++) {
        names[i][0] = 'x';
        names[i][1] = (char)('a' + i);
        more[i] = own;
        more[i].name = names[i];
        full = cong_register(&more[i]);
    }
    assert_int_equal(full, -3);
    assert_ptr_equal(cong_find("xa"), &more[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_stay_within_bounds_whatever_comes),
        cmocka_unit_test(the_same_events_give_the_same_state),
        cmocka_unit_test(nothing_grows_while_the_application_is_the_limit),
        cmocka_unit_test(one_event_is_at_most_one_reduction),
        cmocka_unit_test(repeated_timeouts_keep_the_threshold),
        cmocka_unit_test(the_list_is_sorted_and_every_name_is_found),
        cmocka_unit_test(odd_settings_are_clamped_or_refused),
        cmocka_unit_test(a_program_can_add_a_controller_once),
        cmocka_unit_test(the_list_of_added_controllers_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

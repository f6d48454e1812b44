/* SPDX-License-Identifier: MPL-2.0 */
/* Live pictures over links that are too small, or lose: which of them can be
 * seen in time. */
#include <inttypes.h>

#include "libtltcp/engine/fec.h"
#include "tests/simnet/clip.h"

#define PATIENCE (400 * MS) /* latency and as much again */
#define PAYLOAD 0.95        /* of a link; the rest is headers */

static struct clip clip;
static struct world w; /* large */

static void link_of(struct plan *p, double rate, uint64_t rtt, double loss) {
    for (int i = 0; i < 2; i++) {
        p->link[i].rate = rate;
        p->link[i].delay = rtt / 2;
        p->link[i].limit_packets = 0;
        p->link[i].limit_bytes = 50000;
    }
    p->link[CLIENT].loss = loss;
}

static void play_clip(const struct plan *p, struct view *v) {
    world_start(&w, p);
    world_run_checked(&w);
    clip_judge(&clip, &w.flow[CLIENT], p->link[CLIENT].delay, PATIENCE, v);
    world_close(&w);
}

static void plan_clip(struct plan *p, uint64_t seed, uint32_t count) {
    clip_make(&clip, seed, count);
    plan_init(p, seed);
    clip_plan(&clip, p);
}

TEST(overload_costs_disposable_pictures_alone) {
    world_needs_fec();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct plan p;
        struct view v;
        unsigned bound;
        plan_clip(&p, seed, 750);
        link_of(&p, 2e6, 40 * MS, 0);
        play_clip(&p, &v);
        bound = clip_bound(&clip, PAYLOAD * 2e6 / 8);
        print_message("%u of 750, bound %u; %u of %u keys, longest freeze "
                      "%" PRIu64 " ms\n",
                      v.seen, bound, v.whole[TL_CLASS_KEY],
                      v.sent[TL_CLASS_KEY], v.freeze / MS);
        assert_true(v.seen >= 0.9 * bound);
        assert_int_equal(v.whole[TL_CLASS_KEY], v.sent[TL_CLASS_KEY]);
        assert_true(v.freeze <= 400 * MS);
    }
}

/* Nearly all goes through: the scheduler must not give up what would. */
TEST(an_ample_link_carries_all) {
    struct plan p;
    struct view v;
    plan_clip(&p, 1, 750);
    link_of(&p, 6e6, 40 * MS, 0);
    play_clip(&p, &v);
    assert_true(v.seen >= 749);
}

/* References make up more than the link carries: the chain is cut where it has
 * to be, and begins anew with each key. */
TEST(a_link_too_small_for_references_gives_up_the_latest) {
    unsigned whole = 0, on_time = 0, references = 0, all = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct plan p;
        struct view v;
        plan_clip(&p, seed, 750);
        link_of(&p, 1.4e6, 40 * MS, 0);
        play_clip(&p, &v);
        whole += v.whole[TL_CLASS_KEY];
        on_time += v.on_time[TL_CLASS_KEY];
        references += v.on_time[TL_CLASS_REFERENCE];
        all += v.sent[TL_CLASS_REFERENCE];
    }
    /* without repair, a key may come to nothing */
    assert_in_range(whole, tltcp__fec_available() ? 75 : 70, 75);
    assert_in_range(on_time, 70, 75);
    assert_true(2 * references > all);
}

/* A sender that gives the references missing from the chain shows more. */
TEST(branches_go_before_the_chain_is_cut) {
    unsigned with = 0, without = 0;
    world_needs_fec();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (int told = 0; told <= 1; told++) {
            struct plan p;
            struct view v;
            clip_make_branched(&clip, seed, 750);
            clip.tells_parents = told;
            plan_init(&p, seed);
            clip_plan(&clip, &p);
            link_of(&p, 2e6, 40 * MS, 0);
            play_clip(&p, &v);
            print_message("%s: %u of 750, keys %u, references %u, late %" PRIu64
                          ", longest freeze %" PRIu64 " ms\n",
                          told ? "told" : "not", v.seen,
                          v.on_time[TL_CLASS_KEY],
                          v.on_time[TL_CLASS_REFERENCE], v.late, v.freeze / MS);
            *(told ? &with : &without) += v.seen;
        }
    }
    assert_true(with > without + without / 10);
}

/* A grace much longer than the latency must not make everything late for
 * ever. */
static void
the_end_of_a_gop_goes_so_that_the_next_begins_in_time(void **state) {
    unsigned keys = 0;
    unsigned seen = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct plan p;
        struct view v;
        clip_make_heavy(&clip, seed, 750);
        plan_init(&p, seed);
        clip_plan(&clip, &p);
        link_of(&p, 0.74e6, 40 * MS, 0);
        p.link[CLIENT].limit_bytes = 18000;
        world_start(&w, &p);
        world_run_checked(&w);
        clip_judge(&clip, &w.flow[CLIENT], 20 * MS, 600 * MS, &v);
        world_close(&w);
        keys += v.on_time[TL_CLASS_KEY];
        seen += v.seen;
    }
    assert_in_range(keys, 70, 75);
    assert_in_range(seen, 1000, 3750);
}

/* ---- no time to repeat what is lost ---- */

/* A private link that loses, and how many sections come in time: what the
 * controllers make of loss is another matter. */
static void plan_lossy(struct plan *p, uint64_t seed, uint64_t rtt, double loss,
                       uint64_t budget) {
    plan_clip(p, seed, 750);
    clip.latency = budget;
    clip.grace = 0;
    link_of(p, 6e6, rtt, loss);
    p->link[CLIENT].limit_bytes = 200000;
    p->config[CLIENT].congestion = "fixed";
    p->config[CLIENT].max_rate = 5800000;
    p->config[CLIENT].deadline_at_receiver = true;
    p->config[SERVER].unordered = true;
}

/* The share of sections that came whole within their budget, the first five
 * seconds left out, in which the loss becomes known. */
static double play_lossy(const struct plan *p, uint64_t budget,
                         tltcp_stats *st) {
    const struct flow *f = &w.flow[CLIENT];
    unsigned n = 0;
    unsigned good = 0;
    world_start(&w, p);
    world_run_checked(&w);
    for (uint64_t i = 125; i < f->source.count; i++, n++) {
        uint64_t whole = f->tally[i].whole; /* the caller's clock is ours */
        good += whole != 0 && whole <= f->source.sections[i].written + budget;
    }
    *st = end_stats(&w.end[CLIENT]);
    world_close(&w);
    return (double)good / n;
}

TEST(over_a_satellite_repair_comes_along) {
    world_needs_fec();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct plan p;
        tltcp_stats st;
        double with;
        double without;
        plan_lossy(&p, seed, 600 * MS, 0.02, 400 * MS);
        with = play_lossy(&p, 400 * MS, &st);
        assert_true(st.repair_bytes_sent < st.bytes_sent / 3);
        p.config[SERVER].fec = TLTCP_FEC_OFF;
        without = play_lossy(&p, 400 * MS, &st);
        assert_int_equal(st.repair_bytes_sent, 0);
        print_message("in time: %.4f, without repair %.4f\n", with, without);
        assert_true(with >= 0.97 && with > without + 0.1);
    }
}

TEST(ten_percent_of_loss_are_borne) {
    world_needs_fec();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct plan p;
        tltcp_stats st;
        double share;
        plan_lossy(&p, seed, 40 * MS, 0.1, 200 * MS);
        share = play_lossy(&p, 200 * MS, &st);
        print_message("in time: %.4f, repair %.3f of the data\n", share,
                      (double)st.repair_bytes_sent / (double)st.bytes_sent);
        assert_true(share >= 0.95);
    }
}

/* Acknowledgements take room from packets that repair then does not fit. */
TEST(repair_leaves_beside_acknowledgements_too) {
    struct plan p;
    tltcp_stats st;
    uint64_t alone;
    world_needs_fec();
    plan_lossy(&p, 1, 40 * MS, 0, 200 * MS);
    p.config[CLIENT].fec = TLTCP_FEC_ON;
    (void)play_lossy(&p, 200 * MS, &st);
    alone = st.repair_bytes_sent;
    p.source[SERVER].sections = 3000;
    p.source[SERVER].interval = 10 * MS;
    (void)play_lossy(&p, 200 * MS, &st);
    print_message("repair: %" PRIu64 " bytes, with acknowledgements %" PRIu64
                  "\n",
                  alone, st.repair_bytes_sent);
    assert_true(alone > 0);
    assert_int_equal(st.repair_bytes_sent, alone);
}

TEST(without_loss_there_is_no_repair) {
    struct plan p;
    tltcp_stats st;
    plan_lossy(&p, 1, 600 * MS, 0, 400 * MS);
    assert_true(play_lossy(&p, 400 * MS, &st) >= 0.97);
    assert_int_equal(st.repair_bytes_sent, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overload_costs_disposable_pictures_alone),
        cmocka_unit_test(an_ample_link_carries_all),
        cmocka_unit_test(a_link_too_small_for_references_gives_up_the_latest),
        cmocka_unit_test(branches_go_before_the_chain_is_cut),
        cmocka_unit_test(the_end_of_a_gop_goes_so_that_the_next_begins_in_time),
        cmocka_unit_test(over_a_satellite_repair_comes_along),
        cmocka_unit_test(ten_percent_of_loss_are_borne),
        cmocka_unit_test(repair_leaves_beside_acknowledgements_too),
        cmocka_unit_test(without_loss_there_is_no_repair),
    };
    return cmocka_run_group_tests_name("media", tests, NULL, NULL);
}

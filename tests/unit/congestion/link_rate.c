/* SPDX-License-Identifier: MPL-2.0 */
/* A flow's part of a link that others use as well. */
#include "libcongestion/link_rate.h"
#include "internal/common/rng.h"
#include "tests/support/cmocka.h"

#include <math.h>

#define MS 1e6
#define PACKET 1200.0
#define BASE (40 * MS)
#define LINK 5e-4     /* bytes/ns: 4 Mbit/s */
#define TICK 5e6      /* ns */
#define HISTORY 4096u /* ticks */

/* A queue that pictures share with others, as a fluid. */
struct fluid {
    struct cong__link_rate l;
    cmn__rng rng;
    double queue;         /* bytes */
    double rate;          /* of the others, bytes/ns; < 0: with a window */
    double sent[HISTORY]; /* bytes, until each tick */
    double rtt[HISTORY];  /* of what leaves in it, ns */
    double flight, came;  /* bytes */
    unsigned acked;       /* tick whose packets were acknowledged last */
};

/* What leaves now is acknowledged when its time has come. */
static void fluid_acknowledge(struct fluid *f, unsigned tick) {
    while (f->acked + 1 < tick &&
           (f->acked + 1) * TICK + f->rtt[f->acked + 1] <= tick * TICK) {
        unsigned i = ++f->acked;
        f->came = f->sent[i];
    }
}

/* A part of the link, with flows beside it that are clocked by their
 * acknowledgements, or send at a rate. */
static double fluid_share(double part, bool clocked, double *really) {
    static struct fluid f;
    static double came_at[HISTORY];
    double mine = part * LINK;
    f = (struct fluid){.queue = 0.08e9 * LINK};
    cmn__rng_seed(&f.rng, 7);
    for (unsigned i = 1; i < HISTORY; i++) {
        unsigned before = f.acked;
        double others;
        if (i % 8 == 0) {
            mine = part * LINK * (0.5 + cmn__rng_unit(&f.rng));
        }
        fluid_acknowledge(&f, i);
        others = clocked && i > 100 ? LINK - (f.came - came_at[i - 1]) / TICK
                                    : (1 - part) * LINK;
        came_at[i] = f.came;
        f.sent[i] = f.sent[i - 1] + mine * TICK;
        f.queue += (mine + others - LINK) * TICK;
        f.queue += 0.002 * (0.08e9 * LINK - f.queue);
        f.queue = fmax(f.queue, 0.03e9 * LINK);
        f.rtt[i] = BASE + f.queue / LINK;
        if (f.acked > before) {
            unsigned k = f.acked;
            struct cong_rate_sample rs = {.delivered = f.sent[k] - came_at[k],
                                          .tx_in_flight =
                                              f.sent[k] - came_at[k]};
            struct cong_ack ack = {.now = (cong_time)(k * TICK + f.rtt[k]),
                                   .rtt = (cong_time)f.rtt[k],
                                   .min_rtt = (cong_time)BASE,
                                   .acked = f.sent[k] - f.sent[before],
                                   .rs = &rs};
            cong__link_rate_ack(&f.l, &ack, PACKET);
        }
    }
    *really = f.sent[HISTORY - 1] / ((HISTORY - 1) * TICK) / LINK;
    return cong__link_rate_share(&f.l);
}

TEST(the_part_is_known_beside_flows_that_send_at_a_rate) {
    for (int fifths = 1; fifths < 5; fifths++) {
        double part = 0.2 * fifths;
        double really;
        double share = fluid_share(part, false, &really);
        print_message("%.2f is taken for %.2f\n", really, share);
        assert_true(fabs(share - really) < 0.15);
    }
}

TEST(the_part_is_known_beside_flows_that_wait_for_acknowledgements) {
    for (int fifths = 1; fifths < 5; fifths++) {
        double part = 0.2 * fifths;
        double really;
        double share = fluid_share(part, true, &really);
        print_message("%.2f is taken for %.2f\n", really, share);
        assert_true(fabs(share - really) < 0.15);
    }
}

TEST(without_samples_no_part_is_known) {
    struct cong__link_rate l = {0};
    struct cong_ack ack = {.now = 1, .rtt = 1, .min_rtt = 1, .acked = PACKET};
    assert_true(cong__link_rate_share(&l) <= 0);
    cong__link_rate_ack(&l, &ack, PACKET);
    assert_true(cong__link_rate_share(&l) <= 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_part_is_known_beside_flows_that_send_at_a_rate),
        cmocka_unit_test(
            the_part_is_known_beside_flows_that_wait_for_acknowledgements),
        cmocka_unit_test(without_samples_no_part_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

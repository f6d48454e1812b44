/* SPDX-License-Identifier: MPL-2.0 */
/* Who gets what on a bottleneck: the rivals are as strong as those of a kernel.
 */
#include <stdlib.h>

#include "tests/simnet/shares.h"

#define SEEDS 5

static int in_order(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median over the seeds of who joins over who was there. */
static double ratio_of(const char *congestion, const char *rival) {
    double ratio[SEEDS];
    struct shares s;
    shares_init(&s);
    s.kind = SHARES_BULK;
    s.congestion = congestion;
    s.rival = rival;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct shares_result r;
        shares_play(&s, i + 1, &r);
        ratio[i] = r.ratio;
    }
    qsort(ratio, SEEDS, sizeof(ratio[0]), in_order);
    return ratio[SEEDS / 2];
}

/* As between kernels on this link: 0.31, 0.2 and 0.85. */
TEST(flows_that_join_bbr_get_the_shares_that_kernels_show) {
    double cubic = ratio_of("cubic", "bbr1");
    double reno = ratio_of("reno", "bbr1");
    double bbr = ratio_of("bbr1", "bbr1");
    assert_true(cubic > 0.2 && cubic < 0.45);
    assert_true(reno > 0.15 && reno < 0.35);
    assert_true(bbr > 0.7 && bbr < 1.3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_that_join_bbr_get_the_shares_that_kernels_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

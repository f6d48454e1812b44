/* SPDX-License-Identifier: MPL-2.0 */
/* When a listener reports the callers that it rejects. */
#include "internal/credentials/rejections.h"

#include "tests/support/cmocka.h"

#define SECOND UINT64_C(1000000000)
#define START (1000 * SECOND)

/* Reports in so many seconds during which callers come all the time. */
static unsigned reports(struct secrets_rejections *r, uint64_t from,
                        unsigned seconds) {
    unsigned n = 0;
    for (uint64_t i = 0; i < 10 * (uint64_t)seconds; i++) {
        uint64_t now = from + i * SECOND / 10;
        if (secrets_rejections_look(r, now) &&
            secrets_rejections_are_news(r, 1 + i, now)) {
            n++;
        }
    }
    return n;
}

TEST(a_caller_is_reported_once) {
    struct secrets_rejections r = {0};
    assert_true(secrets_rejections_look(&r, START));
    assert_false(secrets_rejections_are_news(&r, 0, START));
    assert_true(secrets_rejections_are_news(&r, 1, START));
    assert_false(secrets_rejections_are_news(&r, 1, START + SECOND));
    assert_true(secrets_rejections_are_news(&r, 2, START + SECOND));
}

TEST(a_check_is_due_once_a_second) {
    struct secrets_rejections r = {0};
    assert_true(secrets_rejections_look(&r, START));
    assert_false(secrets_rejections_look(&r, START + SECOND - 1));
    assert_true(secrets_rejections_look(&r, START + SECOND));
}

TEST(a_flood_of_callers_does_not_fill_the_log) {
    struct secrets_rejections r = {0};
    assert_int_equal(reports(&r, START, 59), 10);
    r = (struct secrets_rejections){0};
    assert_int_equal(reports(&r, START, 3600), 10 + 59);
}

TEST(a_caller_after_a_flood_is_reported_in_the_end) {
    struct secrets_rejections r = {0};
    (void)reports(&r, START, 600);
    assert_false(
        secrets_rejections_are_news(&r, 6001, START + 600 * SECOND - 1));
    assert_true(secrets_rejections_are_news(&r, 6001, START + 660 * SECOND));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_is_reported_once),
        cmocka_unit_test(a_check_is_due_once_a_second),
        cmocka_unit_test(a_flood_of_callers_does_not_fill_the_log),
        cmocka_unit_test(a_caller_after_a_flood_is_reported_in_the_end),
    };
    return cmocka_run_group_tests_name("rejections", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Unpredictable numbers and keys, also where libcrypto finds no memory. */
#include <string.h>

#include "internal/secure/aead.h"
#include "internal/secure/keys.h"
#include "internal/secure/secret.h"
#include "tests/support/cmocka.h"
#include "tests/support/crypto_alloc.h"

static const uint8_t seed[SEC__SEED_LEN] = {7, 1};

TEST(numbers_and_seeds_differ_and_follow_from_the_seed) {
    sec__secret a;
    sec__secret b;
    uint8_t x[SEC__SEED_LEN];
    uint8_t y[SEC__SEED_LEN];
    sec__secret_init(&a, seed);
    sec__secret_init(&b, seed);
    for (int i = 0; i < 10; i++) {
        uint64_t n = sec__secret_next(&a);
        assert_true(n != 0 && n == sec__secret_next(&b));
        assert_true(n != sec__secret_next(&a));
        (void)sec__secret_next(&b);
        assert_true(sec__secret_ephemeral(&a, x));
        assert_true(sec__secret_ephemeral(&b, y));
        assert_memory_equal(x, y, sizeof(x));
        assert_true(sec__secret_derive(&a, y));
        assert_memory_not_equal(x, y, sizeof(x));
        (void)sec__secret_derive(&b, y);
    }
}

/* A later reader of the memory can also count. */
TEST(stored_state_does_not_reveal_an_ephemeral_key) {
    sec__secret s;
    uint8_t e[SEC__SEED_LEN];
    uint8_t again[SEC__SEED_LEN];
    sec__secret_init(&s, seed);
    assert_true(sec__secret_ephemeral(&s, e));
    for (s.counter = 0; s.counter < 100;) {
        assert_true(sec__secret_derive(&s, again));
        assert_memory_not_equal(e, again, sizeof(e));
    }
}

/* Each request for memory fails once: never is anything told that could be
 * guessed. */
TEST(without_memory_there_is_nothing_rather_than_zeros) {
    const uint8_t *const more[] = {seed, NULL};
    const sec__key_source from = {
        .key = seed, .key_len = sizeof(seed), .more_keys = more};
    int failures = 0;
    bool reached = true;
    static const uint8_t salt[SEC__SALT_LEN] = {1};
    sec__key want[2];
    assert_int_equal(sec__keys_take(&from, salt, want, 2), 2);
    for (int k = 0; reached; k++) {
        static const uint8_t zeros[SEC__SEED_LEN];
        sec__secret s;
        sec__key keys[2];
        uint8_t e[SEC__SEED_LEN] = {0};
        int n;
        memset(keys, 0, sizeof(keys));
        sec__secret_init(&s, seed);
        test_crypto_left = k;
        failures += sec__secret_next(&s) == 0;
        if (sec__secret_ephemeral(&s, e)) {
            assert_memory_not_equal(e, zeros, sizeof(e));
        } else {
            failures++;
        }
        n = sec__keys_take(&from, salt, keys, 2);
        reached = test_crypto_left < 0;
        test_crypto_left = -1;
        if (n == 2) {
            assert_memory_equal(keys[1].proof, want[1].proof, SEC__KEY_LEN);
            sec__keys_clear(keys, 2);
        } else {
            assert_int_equal(n, -1);
            failures++;
        }
    }
    sec__keys_clear(want, 2);
    assert_true(failures > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_seeds_differ_and_follow_from_the_seed),
        cmocka_unit_test(stored_state_does_not_reveal_an_ephemeral_key),
        cmocka_unit_test(without_memory_there_is_nothing_rather_than_zeros),
    };
    if (!test_crypto_alloc_init()) {
        return 1;
    }
    return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}

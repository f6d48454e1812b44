/* SPDX-License-Identifier: MPL-2.0 */
/* X25519, by the vectors of RFC 7748. */
#include <string.h>

#include <openssl/evp.h>

#include "internal/secure/curve.h"
#include "internal/secure/secret.h"
#include "tests/support/cmocka.h"
#include "tests/support/crypto_alloc.h"

#define RUNS 20
#define ROUNDS 1000

static const uint8_t base[SEC__CURVE_LEN] = {9};

/* Section 5.2. */
static const uint8_t scalar[SEC__CURVE_LEN] = {
    0xa5, 0x46, 0xe3, 0x6b, 0xf0, 0x52, 0x7c, 0x9d, 0x3b, 0x16, 0x15,
    0x4b, 0x82, 0x46, 0x5e, 0xdd, 0x62, 0x14, 0x4c, 0x0a, 0xc1, 0xfc,
    0x5a, 0x18, 0x50, 0x6a, 0x22, 0x44, 0xba, 0x44, 0x9a, 0xc4};
static const uint8_t point[SEC__CURVE_LEN] = {
    0xe6, 0xdb, 0x68, 0x67, 0x58, 0x30, 0x30, 0xdb, 0x35, 0x94, 0xc1,
    0xa4, 0x24, 0xb1, 0x5f, 0x7c, 0x72, 0x66, 0x24, 0xec, 0x26, 0xb3,
    0x35, 0x3b, 0x10, 0xa9, 0x03, 0xa6, 0xd0, 0xab, 0x1c, 0x4c};
static const uint8_t product[SEC__CURVE_LEN] = {
    0xc3, 0xda, 0x55, 0x37, 0x9d, 0xe9, 0xc6, 0x90, 0x8e, 0x94, 0xea,
    0x4d, 0xf2, 0x8d, 0x08, 0x4f, 0x32, 0xec, 0xcf, 0x03, 0x49, 0x1c,
    0x71, 0xf7, 0x54, 0xb4, 0x07, 0x55, 0x77, 0xa2, 0x85, 0x52};
static const uint8_t after_1000[SEC__CURVE_LEN] = {
    0x68, 0x4c, 0xf5, 0x9b, 0xa8, 0x33, 0x09, 0x55, 0x28, 0x00, 0xef,
    0x56, 0x6f, 0x2f, 0x4d, 0x3c, 0x1c, 0x38, 0x87, 0xc4, 0x93, 0x60,
    0xe3, 0x87, 0x5f, 0x2e, 0xb9, 0x4d, 0x99, 0x53, 0x2c, 0x51};

static bool shared(const uint8_t *secret, const uint8_t *peer, uint8_t *out) {
    uint8_t own[SEC__CURVE_LEN];

    return sec__curve_public(secret, own) &&
           sec__curve_shared(secret, own, peer, out);
}

TEST(the_published_vectors_come_out) {
    uint8_t out[SEC__CURVE_LEN];
    uint8_t k[SEC__CURVE_LEN];
    uint8_t u[SEC__CURVE_LEN];

    assert_true(shared(scalar, point, out));
    assert_memory_equal(out, product, sizeof(out));
    memcpy(k, base, sizeof(k));
    memcpy(u, base, sizeof(u));
    for (int i = 0; i < ROUNDS; i++) {
        assert_true(shared(k, u, out));
        memcpy(u, k, sizeof(u));
        memcpy(k, out, sizeof(k));
    }
    assert_memory_equal(k, after_1000, sizeof(k));
}

TEST(public_keys_are_those_that_libcrypto_computes) {
    sec__secret s;

    sec__secret_init(&s, base);
    for (int i = 0; i < RUNS; i++) {
        uint8_t secret[SEC__CURVE_LEN];
        uint8_t own[SEC__CURVE_LEN];
        uint8_t theirs[SEC__CURVE_LEN];
        size_t len = sizeof(theirs);
        EVP_PKEY *key;

        assert_true(sec__secret_derive(&s, secret));
        key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret,
                                           sizeof(secret));
        assert_int_equal(EVP_PKEY_get_raw_public_key(key, theirs, &len), 1);
        assert_true(sec__curve_public(secret, own));
        assert_memory_equal(own, theirs, sizeof(own));
        EVP_PKEY_free(key);
    }
}

TEST(points_of_low_order_have_no_secret) {
    uint8_t low[SEC__CURVE_LEN] = {0};
    uint8_t out[SEC__CURVE_LEN];

    for (low[0] = 0; low[0] < 2; low[0]++) {
        assert_false(shared(scalar, low, out));
    }
}

/* Each of libcrypto's requests for memory fails once. EVP, which tries again,
 * has memory then. */
TEST(a_lack_of_memory_gives_no_wrong_secret) {
    uint8_t own[SEC__CURVE_LEN];
    bool reached = true;
    int k = 0;

    assert_true(sec__curve_public(scalar, own));
    for (; reached; k++) {
        uint8_t out[SEC__CURVE_LEN] = {0};
        bool ok;

        test_crypto_left = k;
        ok = sec__curve_shared(scalar, own, point, out);
        reached = test_crypto_left < 0;
        test_crypto_left = -1;
        assert_true(ok);
        assert_memory_equal(out, product, sizeof(out));
    }
    assert_true(k > 3); /* two keys and a context at least */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_vectors_come_out),
        cmocka_unit_test(public_keys_are_those_that_libcrypto_computes),
        cmocka_unit_test(points_of_low_order_have_no_secret),
        cmocka_unit_test(a_lack_of_memory_gives_no_wrong_secret),
    };

    if (!test_crypto_alloc_init()) {
        return 1;
    }
    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}

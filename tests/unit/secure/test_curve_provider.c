/* SPDX-License-Identifier: MPL-2.0 */
/* X25519 where a provider other than libcrypto's default is preferred. */
#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include "internal/secure/curve.h"
#include "tests/support/cmocka.h"

#define FUNCTIONS_MAX 64

/* RFC 7748, section 6.1. */
static const uint8_t alice[SEC__CURVE_LEN] = {
    0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1,
    0x72, 0x51, 0xb2, 0x66, 0x45, 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0,
    0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a};
static const uint8_t alice_public[SEC__CURVE_LEN] = {
    0x85, 0x20, 0xf0, 0x09, 0x89, 0x30, 0xa7, 0x54, 0x74, 0x8b, 0x7d,
    0xdc, 0xb4, 0x3e, 0xf7, 0x5a, 0x0d, 0xbf, 0x3a, 0x0d, 0x26, 0x38,
    0x1a, 0xf4, 0xeb, 0xa4, 0xa9, 0x8e, 0xaa, 0x9b, 0x4e, 0x6a};
static const uint8_t bob_public[SEC__CURVE_LEN] = {
    0xde, 0x9e, 0xdb, 0x7d, 0x7b, 0x7d, 0xc1, 0xb4, 0xd3, 0x5b, 0x61,
    0xc2, 0xec, 0xe4, 0x35, 0x37, 0x3f, 0x83, 0x43, 0xc8, 0x5b, 0x78,
    0x67, 0x4d, 0xad, 0xfc, 0x7e, 0x14, 0x6f, 0x88, 0x2b, 0x4f};
static const uint8_t both[SEC__CURVE_LEN] = {
    0x4a, 0x5d, 0x9d, 0x5b, 0xa4, 0xce, 0x2d, 0xe1, 0x72, 0x8e, 0x3b,
    0xf4, 0x80, 0x35, 0x0f, 0x25, 0xe0, 0x7e, 0x21, 0xc9, 0x47, 0xd1,
    0x9e, 0x33, 0x76, 0xf0, 0x9b, 0x3c, 0x1e, 0x16, 0x17, 0x42};

/* A provider "odd" whose X25519 is that of the default provider, except that it
 * refuses pairs of keys that do not match. */
static struct {
    OSSL_PROVIDER *parent;
    OSSL_PROVIDER *own;
    OSSL_FUNC_keymgmt_import_fn *import;
    OSSL_DISPATCH key_functions[FUNCTIONS_MAX];
    OSSL_ALGORITHM keys[2];
    OSSL_ALGORITHM exchanges[2];
    bool keys_only; /* Diffie-Hellman is left to the default provider */
    unsigned taken;
    unsigned refused;
} odd;

static bool odd_matches(const uint8_t *secret, const uint8_t *public_key) {
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key_ex(
        NULL, "X25519", "provider=default", secret, SEC__CURVE_LEN);
    uint8_t real[SEC__CURVE_LEN];
    size_t len = sizeof(real);

    assert_int_equal(EVP_PKEY_get_raw_public_key(key, real, &len), 1);
    EVP_PKEY_free(key);
    return memcmp(real, public_key, sizeof(real)) == 0;
}

static int odd_import(void *key, int selection, const OSSL_PARAM params[]) {
    const OSSL_PARAM *secret =
        OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PRIV_KEY);
    const OSSL_PARAM *public_key =
        OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PUB_KEY);

    if (secret != NULL && public_key != NULL &&
        !odd_matches(secret->data, public_key->data)) {
        odd.refused++;
        return 0;
    }
    odd.taken++;
    return odd.import(key, selection, params);
}

static const OSSL_ALGORITHM *parent_has(int operation) {
    int no_cache;
    const OSSL_ALGORITHM *a =
        OSSL_PROVIDER_query_operation(odd.parent, operation, &no_cache);

    while (strncmp(a->algorithm_names, "X25519", 6) != 0) {
        a++;
    }
    return a;
}

static const OSSL_ALGORITHM *odd_query(void *ctx, int operation,
                                       int *no_cache) {
    (void)ctx;
    *no_cache = 0;
    if (operation == OSSL_OP_KEYMGMT) {
        return odd.keys;
    }
    return operation == OSSL_OP_KEYEXCH && !odd.keys_only ? odd.exchanges
                                                          : NULL;
}

static int odd_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *in,
                    const OSSL_DISPATCH **out, void **ctx) {
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))odd_query},
        {0, NULL}};
    const OSSL_ALGORITHM *keys = parent_has(OSSL_OP_KEYMGMT);

    (void)core;
    (void)in;
    for (int i = 0; keys->implementation[i].function_id != 0; i++) {
        OSSL_DISPATCH *d = &odd.key_functions[i];

        assert_in_range(i, 0, FUNCTIONS_MAX - 2);
        *d = keys->implementation[i];
        if (d->function_id == OSSL_FUNC_KEYMGMT_IMPORT) {
            odd.import = OSSL_FUNC_keymgmt_import(d);
            d->function = (void (*)(void))odd_import;
        }
    }
    odd.keys[0] =
        (OSSL_ALGORITHM){"X25519", "provider=odd", odd.key_functions, NULL};
    odd.exchanges[0] =
        (OSSL_ALGORITHM){"X25519", "provider=odd",
                         parent_has(OSSL_OP_KEYEXCH)->implementation, NULL};
    *out = functions;
    *ctx = OSSL_PROVIDER_get0_provider_ctx(odd.parent);
    return 1;
}

static void prefer_odd(bool keys_only) {
    odd.keys_only = keys_only;
    odd.taken = 0;
    odd.refused = 0;
    odd.parent = OSSL_PROVIDER_load(NULL, "default");
    assert_non_null(odd.parent);
    assert_int_equal(OSSL_PROVIDER_add_builtin(NULL, "odd", odd_init), 1);
    odd.own = OSSL_PROVIDER_load(NULL, "odd");
    assert_non_null(odd.own);
    assert_int_equal(EVP_set_default_properties(NULL, "?provider=odd"), 1);
}

static void forget_odd(void) {
    assert_int_equal(EVP_set_default_properties(NULL, ""), 1);
    OSSL_PROVIDER_unload(odd.own);
    OSSL_PROVIDER_unload(odd.parent);
}

static void check(void) {
    uint8_t out[SEC__CURVE_LEN] = {0};
    const uint8_t low[SEC__CURVE_LEN] = {0};

    assert_true(sec__curve_public(alice, out));
    assert_memory_equal(out, alice_public, sizeof(out));
    assert_true(sec__curve_shared(alice, alice_public, bob_public, out));
    assert_memory_equal(out, both, sizeof(out));
    assert_false(sec__curve_shared(alice, alice_public, low, out));
    assert_true(odd.taken > 0);
}

TEST(a_provider_that_refuses_pairs_that_do_not_match_gives_the_same_keys) {
    prefer_odd(false);
    check();
    assert_true(odd.refused > 0);
    forget_odd();
}

TEST(keys_and_diffie_hellman_may_be_of_different_providers) {
    prefer_odd(true);
    check();
    forget_odd();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_provider_that_refuses_pairs_that_do_not_match_gives_the_same_keys),
        cmocka_unit_test(keys_and_diffie_hellman_may_be_of_different_providers),
    };

    return cmocka_run_group_tests_name("curve_provider", tests, NULL, NULL);
}

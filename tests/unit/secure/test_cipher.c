/* SPDX-License-Identifier: MPL-2.0 */
/* Ciphers as libcrypto's providers publish them, whole ones and others. */
#include <stdlib.h>
#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/err.h>
#include <openssl/provider.h>

#include "internal/secure/gcm.h"
#include "internal/secure/keys.h"
#include "internal/secure/packet.h"
#include "internal/secure/seal.h"
#include "tests/support/cmocka.h"
#include "tests/support/crypto_alloc.h"

#define TEXT 200u

static const uint8_t key[SEC__KEY_LEN] = {3, 1, 4};

/* ---- a provider of the test's own ---- */

static int contexts;   /* that live */
static int init_gives; /* what the functions return */
static bool no_context;

static void *make_context(void *provider) {
    (void)provider;
    if (no_context) {
        return NULL;
    }
    contexts++;
    return &contexts;
}

static void *make_no_context(void *provider) {
    (void)provider;
    fail_msg("another cipher was asked for");
    return NULL;
}

static void free_context(void *ctx) {
    assert_ptr_equal(ctx, &contexts);
    contexts--;
}

static int init(void *ctx, const unsigned char *k, size_t len,
                const unsigned char *iv, size_t iv_len,
                const OSSL_PARAM params[]) {
    (void)ctx, (void)k, (void)len, (void)iv, (void)iv_len, (void)params;
    return init_gives;
}

static int update(void *ctx, unsigned char *out, size_t *written, size_t room,
                  const unsigned char *in, size_t len) {
    (void)ctx, (void)out, (void)room, (void)in;
    *written = len;
    return 1;
}

static int final(void *ctx, unsigned char *out, size_t *written, size_t room) {
    (void)ctx, (void)out, (void)room;
    *written = 0;
    return 1;
}

static int set(void *ctx, const OSSL_PARAM params[]) {
    (void)ctx, (void)params;
    return 1;
}

static int get(void *ctx, OSSL_PARAM params[]) {
    (void)ctx, (void)params;
    return 1;
}

static int get_params(OSSL_PARAM params[]) {
    (void)params;
    return 1;
}

#define F(name, function) \
    { OSSL_FUNC_CIPHER_##name, (void (*)(void))(function) }
/* Arguments that EVP_CIPHER_fetch() accepts. */
#define LEAST(make)                                                          \
    F(NEWCTX, make), F(FREECTX, free_context), F(ENCRYPT_INIT, init),        \
        F(DECRYPT_INIT, init), F(GET_PARAMS, get_params), F(UPDATE, update), \
        F(FINAL, final)

static const OSSL_DISPATCH whole[] = {LEAST(make_context),
                                      F(SET_CTX_PARAMS, set),
                                      F(GET_CTX_PARAMS, get),
                                      {0, NULL}};
static const OSSL_DISPATCH other[] = {LEAST(make_no_context),
                                      F(SET_CTX_PARAMS, set),
                                      F(GET_CTX_PARAMS, get),
                                      {0, NULL}};
static const OSSL_DISPATCH no_set[] = {
    LEAST(make_no_context), F(GET_CTX_PARAMS, get), {0, NULL}};
static const OSSL_DISPATCH no_get[] = {
    LEAST(make_no_context), F(SET_CTX_PARAMS, set), {0, NULL}};

static const OSSL_ALGORITHM *query(void *provider, int operation,
                                   int *no_cache) {
    static const OSSL_ALGORITHM ciphers[] = {
        {"T-1-LONGER", "provider=test", other, NULL},
        {"T-2:T-1-TOO", "provider=test", other, NULL},
        {"T-1:T-1-ALIAS", "provider=test", whole, NULL},
        {"T-3", "provider=test", no_set, NULL},
        {"T-4", "provider=test", no_get, NULL},
        {NULL, NULL, NULL, NULL}};
    (void)provider;
    *no_cache = 0;
    return operation == OSSL_OP_CIPHER ? ciphers : NULL;
}

static int provider_init(const OSSL_CORE_HANDLE *handle,
                         const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
                         void **context) {
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query}, {0, NULL}};
    (void)in;
    *out = functions;
    *context = (void *)handle;
    return 1;
}

static sec__cipher *made(const char *name) {
    return sec__cipher_new(name, key, sizeof(key), true);
}

/* ---- what is tested ---- */

TEST(a_cipher_is_taken_by_its_whole_name) {
    sec__cipher *c;
    init_gives = 1;
    c = made("T-1");
    assert_non_null(c);
    assert_int_equal(contexts, 1);
    sec__cipher_free(c);
    c = made("T-1-ALIAS");
    assert_non_null(c);
    sec__cipher_free(c);
    assert_int_equal(contexts, 0);
}

TEST(a_cipher_that_lacks_a_function_is_none) {
    assert_null(made("T-3"));
    assert_null(made("T-4"));
}

TEST(a_cipher_that_does_not_begin_is_none) {
    for (init_gives = -1; init_gives < 1; init_gives++) {
        assert_null(made("T-1"));
        assert_int_equal(contexts, 0);
    }
    no_context = true;
    assert_null(made("T-1"));
    no_context = false;
}

/* As where a configuration of libcrypto's names another provider only. */
TEST(without_libcryptos_own_provider_there_is_nothing) {
    cmn__mem mem = cmn__mem_default();
    uint8_t text[TEXT + SEC__TAG_LEN] = {0};
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        assert_null(sec__aead_new(suite, key, true));
        if (suite == SEC__CHACHA_POLY || !sec__gcm_available()) {
            assert_null(sec__seal_new(&mem, suite, key, key, TEXT, 0));
        }
        assert_false(sec__aead_seal_once(suite, key, 0, key, sizeof(key), text,
                                         TEXT, text));
        assert_false(sec__aead_open_once(suite, key, 0, key, sizeof(key), text,
                                         sizeof(text), text));
    }
}

static const sec__key_source source = {.key = key, .key_len = sizeof(key)};

TEST(what_libcrypto_lacks_is_told_to_who_has_a_key) {
    const sec__key_source none = {0};
    ERR_clear_error();
    assert_non_null(strstr(sec__keys_check(&source), "OpenSSL"));
    assert_null(sec__keys_check(&none));
    assert_int_equal(ERR_peek_error(), 0);
}

TEST(where_libcrypto_has_all_a_key_will_do) {
    assert_null(sec__keys_check(&source));
}

TEST(nothing_is_sealed_or_opened_without_a_nonce) {
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        uint8_t text[TEXT + SEC__TAG_LEN] = {0};
        const uint8_t nonce[SEC__NONCE_LEN] = {0};
        sec__cipher *c = sec__aead_new(suite, key, false);
        assert_non_null(c);
        assert_false(suite == SEC__AES_GCM &&
                     sec__cipher_update(c, text, text, TEXT));
        sec__cipher_free(c);
        c = sec__aead_new(suite, key, true);
        assert_non_null(c);
        assert_true(
            sec__aead_seal(c, nonce, key, sizeof(key), text, TEXT, text));
        assert_false(suite == SEC__AES_GCM && /* it is used up */
                     sec__cipher_update(c, text, text, TEXT));
        sec__cipher_free(c);
        assert_false(sec__aead_open_once(suite, key, 0, key, sizeof(key), text,
                                         SEC__TAG_LEN - 1, text));
    }
}

/* Packets go from a to b, with new keys after each tenth. */
static void carry(sec__seal *a, sec__seal *b) {
    for (uint8_t n = 0; n < 50; n++) {
        uint8_t p[SEC__SHORT_LEN + TEXT + SEC__TAG_LEN];
        uint8_t *text = p + SEC__SHORT_LEN;
        uint8_t phase = sec__seal_phase(a);
        memset(p, n, sizeof(p));
        if (sec__seal_close(a, n, p, SEC__SHORT_LEN, text, TEXT)) {
            /* without memory for a key it is as lost, and comes again */
            assert_true(sec__seal_open(b, phase, n, p, SEC__SHORT_LEN, text,
                                       TEXT + SEC__TAG_LEN, b->plain) ||
                        sec__seal_open(b, phase, n, p, SEC__SHORT_LEN, text,
                                       TEXT + SEC__TAG_LEN, b->plain));
            assert_true(b->plain[0] == n && b->plain[TEXT - 1] == n);
            sec__seal_on_acked(a, n);
        }
    }
}

static sec__seal *sealer(uint8_t suite) {
    cmn__mem mem = cmn__mem_default();
    return sec__seal_new(&mem, suite, key, key, TEXT + SEC__TAG_LEN, 10);
}

/* Each of libcrypto's requests for memory fails once. */
TEST(without_memory_there_is_none_or_a_whole_one) {
    cmn__mem mem = cmn__mem_default();
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        bool reached = true;
        for (int k = 0; reached; k++) {
            sec__seal *a;
            sec__seal *b = sealer(suite);
            assert_non_null(b);
            test_crypto_left = k;
            a = sealer(suite);
            reached = test_crypto_left < 0;
            test_crypto_left = -1;
            assert_true(reached || a != NULL);
            if (a != NULL) {
                carry(a, b);
                assert_int_equal(a->tx_phase, 4);
            }
            sec__seal_free(a, &mem);
            sec__seal_free(b, &mem);
        }
    }
}

TEST(keys_that_find_no_memory_are_made_later) {
    cmn__mem mem = cmn__mem_default();
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        bool reached = true;
        for (int k = 0; reached; k++) {
            sec__seal *a = sealer(suite);
            sec__seal *b = sealer(suite);
            assert_true(a != NULL && b != NULL);
            test_crypto_left = k;
            carry(a, b);
            reached = test_crypto_left < 0;
            test_crypto_left = -1;
            assert_in_range(a->tx_phase, 3, 4);
            assert_int_equal(b->rx_phase, a->tx_phase);
            sec__seal_free(a, &mem);
            sec__seal_free(b, &mem);
        }
    }
}

/* ---- wiping ---- */

#define BLOCKS 64u

static struct block {
    void *p;
    size_t len;
} blocks[BLOCKS];

static bool holds_key(const uint8_t *p, size_t len) {
    for (size_t i = 0; i + sizeof(key) <= len; i++) {
        if (memcmp(p + i, key, sizeof(key)) == 0) {
            return true;
        }
    }
    return false;
}

/* Looks at what is given back. */
static void *watched(void *user, void *p, size_t len) {
    struct block *b = blocks;
    while (b->p != p) {
        b++;
        assert_true(b < blocks + BLOCKS);
    }
    if (p != NULL) {
        assert_int_equal(len, 0);
        assert_false(holds_key(p, b->len));
        ++*(unsigned *)user;
    }
    b->p = realloc(p, len);
    if (len == 0) {
        b->p = NULL;
    }
    b->len = len;
    return b->p;
}

TEST(keys_are_wiped_before_their_memory_is_given_back) {
    unsigned seen = 0;
    const cmn__mem mem = {watched, &seen};
    sec__seal *s = sec__seal_new(&mem, SEC__AES_GCM, key, key, 0, 0);
    assert_non_null(s);
    assert_true(holds_key((const uint8_t *)s, sizeof(*s)));
    sec__seal_free(s, &mem);
    assert_int_equal(seen, 1);
}

static OSSL_PROVIDER *loaded;

static int load(void **state) {
    (void)state;
    loaded = OSSL_PROVIDER_add_builtin(NULL, "test", provider_init) == 1
                 ? OSSL_PROVIDER_load(NULL, "test")
                 : NULL;
    return loaded != NULL ? 0 : -1;
}

static int load_default(void **state) {
    (void)state;
    loaded = OSSL_PROVIDER_load(NULL, "default");
    return loaded != NULL ? 0 : -1;
}

static int unload(void **state) {
    (void)state;
    ERR_clear_error();
    return OSSL_PROVIDER_unload(loaded) == 1 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest own[] = {
        cmocka_unit_test(a_cipher_is_taken_by_its_whole_name),
        cmocka_unit_test(a_cipher_that_lacks_a_function_is_none),
        cmocka_unit_test(a_cipher_that_does_not_begin_is_none),
        cmocka_unit_test(without_libcryptos_own_provider_there_is_nothing),
        cmocka_unit_test(what_libcrypto_lacks_is_told_to_who_has_a_key),
    };
    const struct CMUnitTest libcryptos[] = {
        cmocka_unit_test(where_libcrypto_has_all_a_key_will_do),
        cmocka_unit_test(nothing_is_sealed_or_opened_without_a_nonce),
        cmocka_unit_test(without_memory_there_is_none_or_a_whole_one),
        cmocka_unit_test(keys_that_find_no_memory_are_made_later),
        cmocka_unit_test(keys_are_wiped_before_their_memory_is_given_back),
    };
    int failed;
    if (!test_crypto_alloc_init()) {
        return 1;
    }
    failed = cmocka_run_group_tests_name("own provider", own, load, unload);
    return failed + cmocka_run_group_tests_name("libcrypto's", libcryptos,
                                                load_default, unload);
}

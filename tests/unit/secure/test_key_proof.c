/* SPDX-License-Identifier: MPL-2.0 */
/* The proof of a key is what libcrypto's CMAC makes of the digest. */
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "internal/secure/aead.h"
#include "internal/secure/key_proof.h"
#include "internal/secure/secret.h"
#include "tests/support/cmocka.h"

static void proof_by_libcrypto(const uint8_t *key, const uint8_t *digest,
                               uint8_t *out) {
    static char cipher[] = "AES-256-CBC";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0),
        OSSL_PARAM_construct_end()};
    EVP_MAC *cmac = EVP_MAC_fetch(NULL, "CMAC", NULL);
    EVP_MAC_CTX *c = EVP_MAC_CTX_new(cmac);
    size_t len = 0;

    memset(out, 0, SEC__PROOF_LEN);
    assert_int_equal(EVP_MAC_init(c, key, SEC__KEY_LEN, params), 1);
    assert_int_equal(EVP_MAC_update(c, digest, SEC__DIGEST_LEN), 1);
    assert_int_equal(EVP_MAC_final(c, out, &len, SEC__PROOF_LEN), 1);
    assert_int_equal(len, SEC__PROOF_LEN);
    EVP_MAC_CTX_free(c);
    EVP_MAC_free(cmac);
}

/* Both cases of the doubling come within a few keys. */
TEST(a_proof_is_the_cmac_of_the_digest) {
    static const uint8_t seed[SEC__SEED_LEN] = {3};
    uint8_t key[SEC__SEED_LEN];
    uint8_t digest[SEC__SEED_LEN];
    uint8_t want[SEC__PROOF_LEN];
    uint8_t got[SEC__PROOF_LEN];
    sec__secret s;

    sec__secret_init(&s, seed);
    for (int i = 0; i < 100; i++) {
        sec__key_proof p;

        assert_true(sec__secret_derive(&s, key));
        assert_true(sec__key_proof_init(&p, key));
        for (int k = 0; k < 3; k++) { /* one key, many digests */
            assert_true(sec__secret_derive(&s, digest));
            proof_by_libcrypto(key, digest, want);
            assert_true(sec__key_proof_write(&p, digest, got));
            assert_memory_equal(got, want, sizeof(want));
        }
        sec__key_proof_clear(&p);
        assert_null(p.cipher);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proof_is_the_cmac_of_the_digest),
    };

    return cmocka_run_group_tests_name("key_proof", tests, NULL, NULL);
}

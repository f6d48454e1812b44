/* SPDX-License-Identifier: MPL-2.0 */
/* The two AEAD ciphers and HKDF, on libcrypto. */
#include "internal/secure/aead.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>

#include "internal/secure/mac.h"

uint8_t sec__suite_preferred(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul")
               ? SEC__AES_GCM
               : SEC__CHACHA_POLY;
#elif defined(__ARM_FEATURE_CRYPTO) || defined(__ARM_FEATURE_AES)
    return SEC__AES_GCM;
#else
    return SEC__CHACHA_POLY;
#endif
}

bool sec__suite_known(uint8_t suite) {
    return suite == SEC__AES_GCM || suite == SEC__CHACHA_POLY;
}

/* Noise, 12.3 and 12.4: four zero bytes, then the number, big-endian for
 * AES-GCM and little-endian for ChaChaPoly. */
void sec__aead_nonce(uint8_t suite, uint64_t n, uint8_t *out) {
    memset(out, 0, SEC__NONCE_LEN);
    for (unsigned i = 0; i < 8; i++) {
        unsigned at = suite == SEC__AES_GCM ? SEC__NONCE_LEN - 1 - i : 4 + i;
        out[at] = (uint8_t)(n >> 8 * i);
    }
}

sec__cipher *sec__aead_new(uint8_t suite, const uint8_t *key, bool seal) {
    return sec__cipher_new(suite == SEC__AES_GCM ? "AES-256-GCM"
                                                 : "ChaCha20-Poly1305",
                           key, SEC__KEY_LEN, seal);
}

bool sec__aead_seal(sec__cipher *c, const uint8_t *nonce, const uint8_t *ad,
                    size_t ad_len, const uint8_t *in, size_t len,
                    uint8_t *out) {
    return sec__cipher_begin(c, nonce, SEC__NONCE_LEN) &&
           sec__cipher_update(c, NULL, ad, ad_len) &&
           sec__cipher_update(c, out, in, len) && sec__cipher_end(c) &&
           sec__cipher_get(c, OSSL_CIPHER_PARAM_AEAD_TAG, out + len,
                           SEC__TAG_LEN);
}

bool sec__aead_open(sec__cipher *c, const uint8_t *nonce, const uint8_t *ad,
                    size_t ad_len, const uint8_t *in, size_t len,
                    uint8_t *out) {
    uint8_t tag[SEC__TAG_LEN];
    size_t text = len - SEC__TAG_LEN;
    memcpy(tag, in + text, sizeof(tag));
    return sec__cipher_begin(c, nonce, SEC__NONCE_LEN) &&
           sec__cipher_update(c, NULL, ad, ad_len) &&
           sec__cipher_update(c, out, in, text) &&
           sec__cipher_set(c, OSSL_CIPHER_PARAM_AEAD_TAG, tag, sizeof(tag)) &&
           sec__cipher_end(c);
}

bool sec__aead_seal_once(uint8_t suite, const uint8_t *key, uint64_t nonce,
                         const uint8_t *ad, size_t ad_len, const uint8_t *in,
                         size_t len, uint8_t *out) {
    uint8_t iv[SEC__NONCE_LEN];
    sec__cipher *c = sec__aead_new(suite, key, true);
    bool ok;
    sec__aead_nonce(suite, nonce, iv);
    ok = c != NULL && sec__aead_seal(c, iv, ad, ad_len, in, len, out);
    sec__cipher_free(c);
    return ok;
}

bool sec__aead_open_once(uint8_t suite, const uint8_t *key, uint64_t nonce,
                         const uint8_t *ad, size_t ad_len, const uint8_t *in,
                         size_t len, uint8_t *out) {
    uint8_t iv[SEC__NONCE_LEN];
    sec__cipher *c = sec__aead_new(suite, key, false);
    bool ok;
    sec__aead_nonce(suite, nonce, iv);
    ok = c != NULL && len >= SEC__TAG_LEN &&
         sec__aead_open(c, iv, ad, ad_len, in, len, out);
    sec__cipher_free(c);
    return ok;
}

/* The blocks of HKDF's second step. */
static bool expand(sec__mac *m, uint8_t out[][SEC__KEY_LEN], unsigned count) {
    uint8_t block[SEC__KEY_LEN + 1];
    bool ok = true;

    for (unsigned i = 0; ok && i < count; i++) {
        size_t have = i > 0 ? SEC__KEY_LEN : 0;

        if (i > 0) {
            memcpy(block, out[i - 1], have);
        }
        block[have] = (uint8_t)(i + 1);
        ok = sec__mac_write(m, block, have + 1, out[i]);
    }
    OPENSSL_cleanse(block, sizeof(block));
    return ok;
}

bool sec__hkdf(const uint8_t *ck, const uint8_t *input, size_t len,
               uint8_t out[][SEC__KEY_LEN], unsigned count) {
    uint8_t temp[SEC__KEY_LEN];
    sec__mac *m = sec__mac_new(ck);
    bool ok = m != NULL && sec__mac_write(m, input, len, temp);

    if (ok) {
        sec__mac_rekey(m, temp);
        ok = expand(m, out, count);
    }
    sec__mac_free(m);
    OPENSSL_cleanse(temp, sizeof(temp));
    return ok;
}

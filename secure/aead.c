/* SPDX-License-Identifier: MPL-2.0 */
#include "secure/aead.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

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

static const EVP_CIPHER *cipher(uint8_t suite) {
    return suite == SEC__AES_GCM ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
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

EVP_CIPHER_CTX *sec__aead_new(uint8_t suite, const uint8_t *key, bool seal) {
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    if (c != NULL &&
        EVP_CipherInit_ex(c, cipher(suite), NULL, key, NULL, seal) != 1) {
        EVP_CIPHER_CTX_free(c);
        c = NULL;
    }
    return c;
}

bool sec__aead_seal(EVP_CIPHER_CTX *c, const uint8_t *nonce, const uint8_t *ad,
                    size_t ad_len, const uint8_t *in, size_t len,
                    uint8_t *out) {
    int n;
    return EVP_EncryptInit_ex(c, NULL, NULL, NULL, nonce) == 1 &&
           EVP_EncryptUpdate(c, NULL, &n, ad, (int)ad_len) == 1 &&
           EVP_EncryptUpdate(c, out, &n, in, (int)len) == 1 &&
           EVP_EncryptFinal_ex(c, out + len, &n) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, SEC__TAG_LEN,
                               out + len) == 1;
}

bool sec__aead_open(EVP_CIPHER_CTX *c, const uint8_t *nonce, const uint8_t *ad,
                    size_t ad_len, const uint8_t *in, size_t len,
                    uint8_t *out) {
    uint8_t tag[SEC__TAG_LEN];
    size_t text = len - SEC__TAG_LEN;
    int n;
    memcpy(tag, in + text, sizeof(tag));
    return EVP_DecryptInit_ex(c, NULL, NULL, NULL, nonce) == 1 &&
           EVP_DecryptUpdate(c, NULL, &n, ad, (int)ad_len) == 1 &&
           EVP_DecryptUpdate(c, out, &n, in, (int)text) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, SEC__TAG_LEN, tag) ==
               1 &&
           EVP_DecryptFinal_ex(c, out + text, &n) == 1;
}

bool sec__aead_seal_once(uint8_t suite, const uint8_t *key, uint64_t nonce,
                         const uint8_t *ad, size_t ad_len, const uint8_t *in,
                         size_t len, uint8_t *out) {
    uint8_t iv[SEC__NONCE_LEN];
    EVP_CIPHER_CTX *c = sec__aead_new(suite, key, true);
    bool ok;
    sec__aead_nonce(suite, nonce, iv);
    ok = c != NULL && sec__aead_seal(c, iv, ad, ad_len, in, len, out);
    EVP_CIPHER_CTX_free(c);
    return ok;
}

bool sec__aead_open_once(uint8_t suite, const uint8_t *key, uint64_t nonce,
                         const uint8_t *ad, size_t ad_len, const uint8_t *in,
                         size_t len, uint8_t *out) {
    uint8_t iv[SEC__NONCE_LEN];
    EVP_CIPHER_CTX *c = sec__aead_new(suite, key, false);
    bool ok;
    sec__aead_nonce(suite, nonce, iv);
    ok = c != NULL && len >= SEC__TAG_LEN &&
         sec__aead_open(c, iv, ad, ad_len, in, len, out);
    EVP_CIPHER_CTX_free(c);
    return ok;
}

bool sec__hkdf(const uint8_t *ck, const uint8_t *input, size_t len,
               uint8_t out[][SEC__KEY_LEN], unsigned count) {
    uint8_t temp[SEC__KEY_LEN];
    uint8_t block[SEC__KEY_LEN + 1];
    unsigned n;
    bool ok =
        HMAC(EVP_sha256(), ck, SEC__KEY_LEN, input, len, temp, &n) != NULL;
    for (unsigned i = 0; ok && i < count; i++) {
        size_t have = i > 0 ? SEC__KEY_LEN : 0;
        if (i > 0) {
            memcpy(block, out[i - 1], have);
        }
        block[have] = (uint8_t)(i + 1);
        ok = HMAC(EVP_sha256(), temp, SEC__KEY_LEN, block, have + 1, out[i],
                  &n) != NULL;
    }
    OPENSSL_cleanse(temp, sizeof(temp));
    OPENSSL_cleanse(block, sizeof(block));
    return ok;
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/secure/mac.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#define BLOCK 64u /* of SHA-256 */
#define INNER 0x36u
#define OUTER 0x5cu

struct sec__mac {
    EVP_MD *sha;
    EVP_MD_CTX *digest;
    uint8_t inner[BLOCK]; /* the key, as RFC 2104 pads it */
    uint8_t outer[BLOCK];
};

sec__mac *sec__mac_new(const uint8_t *key) {
    sec__mac *m = OPENSSL_zalloc(sizeof(*m));

    if (m == NULL) {
        return NULL;
    }
    m->sha = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    m->digest = EVP_MD_CTX_new();
    if (m->sha == NULL || m->digest == NULL) {
        sec__mac_free(m);
        return NULL;
    }
    sec__mac_rekey(m, key);
    return m;
}

void sec__mac_rekey(sec__mac *m, const uint8_t *key) {
    for (unsigned i = 0; i < BLOCK; i++) {
        uint8_t k = i < SEC__MAC_KEY_LEN ? key[i] : 0;

        m->inner[i] = k ^ INNER;
        m->outer[i] = k ^ OUTER;
    }
}

void sec__mac_free(sec__mac *m) {
    if (m != NULL) {
        EVP_MD_CTX_free(m->digest); /* wipes what it holds */
        EVP_MD_free(m->sha);
        OPENSSL_clear_free(m, sizeof(*m));
    }
}

static bool mac_digest(sec__mac *m, const uint8_t *pad, const void *data,
                       size_t len, uint8_t *out) {
    return EVP_DigestInit_ex(m->digest, m->sha, NULL) == 1 &&
           EVP_DigestUpdate(m->digest, pad, BLOCK) == 1 &&
           EVP_DigestUpdate(m->digest, data, len) == 1 &&
           EVP_DigestFinal_ex(m->digest, out, NULL) == 1;
}

bool sec__mac_write(sec__mac *m, const void *data, size_t len, uint8_t *out) {
    uint8_t inner[SEC__MAC_LEN];
    bool ok = mac_digest(m, m->inner, data, len, inner) &&
              mac_digest(m, m->outer, inner, sizeof(inner), out);

    OPENSSL_cleanse(inner, sizeof(inner));
    return ok;
}

bool sec__mac_once(const uint8_t *key, const void *data, size_t len,
                   uint8_t *out) {
    sec__mac *m = sec__mac_new(key);
    bool ok = m != NULL && sec__mac_write(m, data, len, out);

    sec__mac_free(m);
    return ok;
}

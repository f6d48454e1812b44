/* SPDX-License-Identifier: MPL-2.0 */
/* Checksums: CRC-32, MD5, SHA-1, SHA-256, HMAC; Ids made from a key. */
#include "libsaratoga/engine/digest.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "internal/common/crc32c.h"
#include "internal/common/wire.h"

#define HMAC_BLOCK 64 /* of SHA-256 */
#define HMAC_INNER 0x36
#define HMAC_OUTER 0x5c
#define IEEE_POLYNOMIAL UINT32_C(0xEDB88320)

struct saratoga_digest {
    EVP_MD_CTX *evp; /* NULL: a CRC */
    uint32_t type;
    uint32_t crc;
    uint8_t outer[HMAC_BLOCK]; /* HMAC: the key for the second pass */
};

size_t saratoga_digest_len(uint32_t type) {
    switch (type) {
    case SARATOGA_CRC32C:
    case SARATOGA_CRC32_IEEE:
        return 4;
    case SARATOGA_MD5:
        return 16;
    case SARATOGA_SHA1:
        return 20;
    case SARATOGA_SHA256:
    case SARATOGA_HMAC_SHA256:
        return 32;
    default:
        return 0;
    }
}

static const EVP_MD *algorithm(uint32_t type) {
    switch (type) {
    case SARATOGA_MD5:
        return EVP_md5();
    case SARATOGA_SHA1:
        return EVP_sha1();
    case SARATOGA_SHA256:
    case SARATOGA_HMAC_SHA256:
        return EVP_sha256();
    default:
        return NULL;
    }
}

static saratoga_digest *digest_begin(uint32_t type) {
    const EVP_MD *md = algorithm(type);
    saratoga_digest *d;
    if (saratoga_digest_len(type) == 0) {
        return NULL;
    }
    d = OPENSSL_zalloc(sizeof(*d));
    if (d == NULL) {
        return NULL;
    }
    d->type = type;
    d->crc = type == SARATOGA_CRC32_IEEE ? UINT32_MAX : 0;
    if (md != NULL) {
        d->evp = EVP_MD_CTX_new();
        if (d->evp == NULL || EVP_DigestInit_ex(d->evp, md, NULL) != 1) {
            saratoga_digest_free(d);
            return NULL;
        }
    }
    return d;
}

saratoga_digest *saratoga_digest_new(uint32_t type) {
    return type != SARATOGA_HMAC_SHA256 ? digest_begin(type) : NULL;
}

/* RFC 2104. */
saratoga_digest *saratoga_digest_new_keyed(uint32_t type, const uint8_t *key,
                                           size_t len) {
    uint8_t block[HMAC_BLOCK] = {0};
    saratoga_digest *d =
        type == SARATOGA_HMAC_SHA256 ? digest_begin(type) : NULL;
    if (d == NULL) {
        return NULL;
    }
    if (len <= sizeof(block)) {
        memcpy(block, key, len);
    } else {
        (void)EVP_Digest(key, len, block, NULL, EVP_sha256(), NULL);
    }
    for (size_t i = 0; i < sizeof(block); i++) {
        d->outer[i] = block[i] ^ HMAC_OUTER;
        block[i] ^= HMAC_INNER;
    }
    if (saratoga_digest_update(d, block, sizeof(block)) != 0) {
        saratoga_digest_free(d);
        d = NULL;
    }
    OPENSSL_cleanse(block, sizeof(block));
    return d;
}

bool saratoga__equal(const void *a, const void *b, size_t len) {
    return CRYPTO_memcmp(a, b, len) == 0;
}

void saratoga__wipe(void *p, size_t len) {
    OPENSSL_cleanse(p, len);
}

/* Only checks what some peers send, so speed does not matter. */
static uint32_t ieee(uint32_t crc, const uint8_t *p, size_t len) {
    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? IEEE_POLYNOMIAL : 0);
        }
    }
    return crc;
}

int saratoga_digest_update(saratoga_digest *d, const void *data, size_t len) {
    if (d->evp != NULL) {
        return EVP_DigestUpdate(d->evp, data, len) == 1 ? 0 : SARATOGA_ERR_IO;
    }
    d->crc = d->type == SARATOGA_CRC32C ? cmn__crc32c(d->crc, data, len)
                                        : ieee(d->crc, data, len);
    return 0;
}

static int final_outer(saratoga_digest *d, uint8_t *out, size_t len) {
    bool good = EVP_DigestInit_ex(d->evp, EVP_sha256(), NULL) == 1 &&
                EVP_DigestUpdate(d->evp, d->outer, sizeof(d->outer)) == 1 &&
                EVP_DigestUpdate(d->evp, out, len) == 1 &&
                EVP_DigestFinal_ex(d->evp, out, NULL) == 1;
    return good ? 0 : SARATOGA_ERR_IO;
}

int saratoga_digest_final(saratoga_digest *d, uint8_t *out) {
    cmn__writer w = cmn__writer_of(out, 4);
    unsigned n = 0;
    if (d->evp != NULL) {
        if (EVP_DigestFinal_ex(d->evp, out, &n) != 1) {
            return SARATOGA_ERR_IO;
        }
        return d->type == SARATOGA_HMAC_SHA256 ? final_outer(d, out, n) : 0;
    }
    cmn__put32(&w, d->type == SARATOGA_CRC32C ? d->crc : ~d->crc);
    return 0;
}

void saratoga_digest_free(saratoga_digest *d) {
    if (d != NULL) {
        EVP_MD_CTX_free(d->evp);
        OPENSSL_cleanse(d->outer, sizeof(d->outer));
        OPENSSL_free(d);
    }
}

uint32_t saratoga__keyed_id(const uint8_t *key, const char *peer, uint32_t type,
                            const char *path) {
    uint8_t out[EVP_MAX_MD_SIZE];
    uint8_t kind = (uint8_t)type;
    cmn__reader r = cmn__reader_of(out, sizeof(out));
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    uint32_t id;
    bool ok = c != NULL && EVP_DigestInit_ex(c, EVP_sha256(), NULL) == 1 &&
              EVP_DigestUpdate(c, key, SARATOGA__ID_KEY_LEN) == 1 &&
              EVP_DigestUpdate(c, peer, strlen(peer) + 1) == 1 &&
              EVP_DigestUpdate(c, &kind, 1) == 1 &&
              EVP_DigestUpdate(c, path, strlen(path)) == 1 &&
              EVP_DigestUpdate(c, key, SARATOGA__ID_KEY_LEN) == 1 &&
              EVP_DigestFinal_ex(c, out, NULL) == 1;
    EVP_MD_CTX_free(c);
    if (!ok) {
        return 0;
    }
    id = cmn__get32(&r);
    return id != 0 ? id : 1;
}

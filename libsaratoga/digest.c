/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/digest.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "common/crc32c.h"
#include "common/wire.h"

#define ID_KEY_LEN 16
#define IEEE_POLYNOMIAL UINT32_C(0xEDB88320)

struct saratoga_digest {
    EVP_MD_CTX *evp; /* NULL: a CRC */
    uint32_t type;
    uint32_t crc;
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
        return EVP_sha256();
    default:
        return NULL;
    }
}

saratoga_digest *saratoga_digest_new(uint32_t type) {
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

/* Only for checking what some peers send: speed does not matter. */
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

int saratoga_digest_final(saratoga_digest *d, uint8_t *out) {
    cmn__writer w = cmn__writer_of(out, 4);
    unsigned n = 0;
    if (d->evp != NULL) {
        return EVP_DigestFinal_ex(d->evp, out, &n) == 1 ? 0 : SARATOGA_ERR_IO;
    }
    cmn__put32(&w, d->type == SARATOGA_CRC32C ? d->crc : ~d->crc);
    return 0;
}

void saratoga_digest_free(saratoga_digest *d) {
    if (d != NULL) {
        EVP_MD_CTX_free(d->evp);
        OPENSSL_free(d);
    }
}

uint32_t saratoga__keyed_id(const uint8_t *key, const char *peer, uint32_t type,
                            const char *path) {
    uint8_t out[EVP_MAX_MD_SIZE] = {0};
    uint8_t kind = (uint8_t)type;
    cmn__reader r = cmn__reader_of(out, sizeof(out));
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    uint32_t id;
    if (c != NULL && EVP_DigestInit_ex(c, EVP_sha256(), NULL) == 1) {
        (void)EVP_DigestUpdate(c, key, ID_KEY_LEN);
        (void)EVP_DigestUpdate(c, peer, strlen(peer) + 1);
        (void)EVP_DigestUpdate(c, &kind, 1);
        (void)EVP_DigestUpdate(c, path, strlen(path));
        (void)EVP_DigestUpdate(c, key, ID_KEY_LEN);
        (void)EVP_DigestFinal_ex(c, out, NULL);
    }
    EVP_MD_CTX_free(c);
    id = cmn__get32(&r);
    return id != 0 ? id : 1;
}

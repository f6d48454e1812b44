/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/secure/secret.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

#include "internal/common/wire.h"

#define MAC_LEN 32
#define TOKEN_MAC_LEN 16
#define TOKEN_LIFE (10 * SEC__S)
#define TOKEN_KEY_LIFE (60 * SEC__S)

enum purpose { NUMBER = 1, SEED = 2, TOKEN = 3, NEXT_KEY = 4 };

bool sec__equal(const void *a, const void *b, size_t len) {
    return CRYPTO_memcmp(a, b, len) == 0;
}

void sec__wipe(void *p, size_t len) {
    OPENSSL_cleanse(p, len);
}

void sec__secret_init(sec__secret *s, const uint8_t *seed) {
    memcpy(s->key, seed, sizeof(s->key));
    s->counter = 0;
}

void sec__secret_clear(sec__secret *s) {
    OPENSSL_cleanse(s, sizeof(*s));
}

/* False only without memory. */
static bool next(sec__secret *s, enum purpose purpose, uint8_t *out) {
    uint8_t in[9];
    unsigned n = MAC_LEN;
    cmn__writer w = cmn__writer_of(in, sizeof(in));
    cmn__put8(&w, (uint8_t)purpose);
    cmn__put64(&w, ++s->counter);
    return HMAC(EVP_sha256(), s->key, SEC__SEED_LEN, in, sizeof(in), out, &n) !=
           NULL;
}

uint64_t sec__secret_next(sec__secret *s) {
    uint8_t out[MAC_LEN];
    cmn__reader r = cmn__reader_of(out, sizeof(out));
    uint64_t x;
    if (!next(s, NUMBER, out)) {
        return 0;
    }
    x = cmn__get64(&r);
    return x != 0 ? x : 1;
}

bool sec__secret_derive(sec__secret *s, uint8_t *seed) {
    return next(s, SEED, seed);
}

bool sec__secret_ephemeral(sec__secret *s, uint8_t *e) {
    uint8_t key[MAC_LEN];
    bool ok = next(s, SEED, e) && next(s, NEXT_KEY, key);
    if (ok) {
        memcpy(s->key, key, sizeof(s->key));
    }
    OPENSSL_cleanse(key, sizeof(key));
    return ok;
}

/* HMAC with a key that nobody has seen. */
static EVP_MAC_CTX *new_key(sec__secret *s) {
    static char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    uint8_t key[SEC__SEED_LEN];
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *c = hmac != NULL ? EVP_MAC_CTX_new(hmac) : NULL;
    if (c != NULL && (!sec__secret_derive(s, key) ||
                      EVP_MAC_init(c, key, sizeof(key), params) != 1)) {
        EVP_MAC_CTX_free(c);
        c = NULL;
    }
    OPENSSL_cleanse(key, sizeof(key));
    EVP_MAC_free(hmac);
    return c;
}

void sec__tokens_init(sec__tokens *t, sec__secret *s, uint64_t now) {
    t->key = new_key(s);
    t->before = new_key(s);
    t->since = now;
}

void sec__tokens_clear(sec__tokens *t) {
    EVP_MAC_CTX_free(t->key);
    EVP_MAC_CTX_free(t->before);
    *t = (sec__tokens){0};
}

/* Half an HMAC of what a token vouches for. */
static bool token_mac(EVP_MAC_CTX *key, uint64_t path, uint64_t id, uint64_t at,
                      uint8_t *out) {
    uint8_t in[25];
    uint8_t full[MAC_LEN];
    size_t n;
    cmn__writer w = cmn__writer_of(in, sizeof(in));
    cmn__put8(&w, TOKEN);
    cmn__put64(&w, path);
    cmn__put64(&w, id);
    cmn__put64(&w, at);
    if (key == NULL || EVP_MAC_init(key, NULL, 0, NULL) != 1 ||
        EVP_MAC_update(key, in, sizeof(in)) != 1 ||
        EVP_MAC_final(key, full, &n, sizeof(full)) != 1) {
        return false;
    }
    memcpy(out, full, TOKEN_MAC_LEN);
    return true;
}

void sec__tokens_make(sec__tokens *t, sec__secret *s, uint64_t path,
                      uint64_t id, uint64_t now, uint8_t *token) {
    uint8_t out[TOKEN_MAC_LEN] = {0};
    cmn__writer w = cmn__writer_of(token, SEC__TOKEN_LEN);
    if (now - t->since >= TOKEN_KEY_LIFE) {
        EVP_MAC_CTX_free(t->before);
        t->before = t->key;
        t->key = new_key(s);
        t->since = now;
    }
    (void)token_mac(t->key, path, id, now,
                    out); /* else it is good for nothing */
    cmn__put64(&w, now);
    cmn__put_bytes(&w, out, sizeof(out));
}

bool sec__tokens_valid(const sec__tokens *t, uint64_t path, uint64_t id,
                       uint64_t now, const uint8_t *token, size_t len) {
    uint8_t out[TOKEN_MAC_LEN];
    cmn__reader r = cmn__reader_of(token, len);
    uint64_t at = cmn__get64(&r);
    return len == SEC__TOKEN_LEN && at <= now && now - at <= TOKEN_LIFE &&
           token_mac(at >= t->since ? t->key : t->before, path, id, at, out) &&
           sec__equal(out, r.p, sizeof(out));
}

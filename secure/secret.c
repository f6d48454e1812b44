/* SPDX-License-Identifier: MPL-2.0 */
#include "secure/secret.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/wire.h"

#define MAC_LEN 32
#define TOKEN_MAC_LEN 16
#define TOKEN_LIFE (10 * SEC__S)
#define TOKEN_KEY_LIFE (60 * SEC__S)

enum purpose { NUMBER = 1, SEED = 2, TOKEN = 3 };

static void mac(const uint8_t *key, const void *in, size_t len, uint8_t *out) {
    unsigned n = MAC_LEN;
    if (HMAC(EVP_sha256(), key, SEC__SEED_LEN, in, len, out, &n) == NULL) {
        memset(out, 0, MAC_LEN); /* only without memory */
    }
}

void sec__secret_init(sec__secret *s, const uint8_t *seed) {
    memcpy(s->key, seed, sizeof(s->key));
    s->counter = 0;
}

void sec__secret_clear(sec__secret *s) {
    OPENSSL_cleanse(s, sizeof(*s));
}

static void next(sec__secret *s, enum purpose purpose, uint8_t *out) {
    uint8_t in[9];
    cmn__writer w = cmn__writer_of(in, sizeof(in));
    cmn__put8(&w, (uint8_t)purpose);
    cmn__put64(&w, ++s->counter);
    mac(s->key, in, sizeof(in), out);
}

uint64_t sec__secret_next(sec__secret *s) {
    uint8_t out[MAC_LEN] = {0};
    cmn__reader r = cmn__reader_of(out, sizeof(out));
    uint64_t x;
    next(s, NUMBER, out);
    x = cmn__get64(&r);
    return x != 0 ? x : 1;
}

void sec__secret_derive(sec__secret *s, uint8_t *seed) {
    next(s, SEED, seed);
}

void sec__tokens_init(sec__tokens *t, sec__secret *s, uint64_t now) {
    sec__secret_derive(s, t->key);
    sec__secret_derive(s, t->before);
    t->since = now;
}

void sec__tokens_clear(sec__tokens *t) {
    OPENSSL_cleanse(t, sizeof(*t));
}

static void token_mac(const uint8_t *key, uint64_t path, uint64_t id,
                      uint64_t at, uint8_t *out) {
    uint8_t in[25];
    cmn__writer w = cmn__writer_of(in, sizeof(in));
    cmn__put8(&w, TOKEN);
    cmn__put64(&w, path);
    cmn__put64(&w, id);
    cmn__put64(&w, at);
    mac(key, in, sizeof(in), out);
}

void sec__tokens_make(sec__tokens *t, sec__secret *s, uint64_t path,
                      uint64_t id, uint64_t now, uint8_t *token) {
    uint8_t out[MAC_LEN];
    cmn__writer w = cmn__writer_of(token, SEC__TOKEN_LEN);
    if (now - t->since >= TOKEN_KEY_LIFE) {
        memcpy(t->before, t->key, sizeof(t->before));
        sec__secret_derive(s, t->key);
        t->since = now;
    }
    token_mac(t->key, path, id, now, out);
    cmn__put64(&w, now);
    cmn__put_bytes(&w, out, TOKEN_MAC_LEN);
}

bool sec__tokens_valid(const sec__tokens *t, uint64_t path, uint64_t id,
                       uint64_t now, const uint8_t *token, size_t len) {
    uint8_t out[MAC_LEN];
    cmn__reader r = cmn__reader_of(token, len);
    uint64_t at = cmn__get64(&r);
    if (len != SEC__TOKEN_LEN || at > now || now - at > TOKEN_LIFE) {
        return false;
    }
    token_mac(at >= t->since ? t->key : t->before, path, id, at, out);
    return CRYPTO_memcmp(out, r.p, TOKEN_MAC_LEN) == 0;
}

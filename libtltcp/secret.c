/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/secret.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/wire.h"

#define MAC_LEN 32
#define TOKEN_MAC_LEN 16
#define TOKEN_LIFE (10 * TLTCP_S)
#define TOKEN_KEY_LIFE (60 * TLTCP_S)

enum purpose { NUMBER = 1, SEED = 2, TOKEN = 3 };

static void mac(const uint8_t *key, const void *in, size_t len, uint8_t *out) {
    unsigned n = MAC_LEN;
    if (HMAC(EVP_sha256(), key, TLTCP_SEED_LEN, in, len, out, &n) == NULL) {
        memset(out, 0, MAC_LEN); /* only without memory */
    }
}

void tltcp__secret_init(tltcp__secret *s, const uint8_t *seed) {
    memcpy(s->key, seed, sizeof(s->key));
    s->counter = 0;
}

void tltcp__secret_clear(tltcp__secret *s) {
    OPENSSL_cleanse(s, sizeof(*s));
}

static void next(tltcp__secret *s, enum purpose purpose, uint8_t *out) {
    uint8_t in[9];
    cmn__writer w = cmn__writer_of(in, sizeof(in));
    cmn__put8(&w, (uint8_t)purpose);
    cmn__put64(&w, ++s->counter);
    mac(s->key, in, sizeof(in), out);
}

uint64_t tltcp__secret_next(tltcp__secret *s) {
    uint8_t out[MAC_LEN] = {0};
    cmn__reader r = cmn__reader_of(out, sizeof(out));
    uint64_t x;
    next(s, NUMBER, out);
    x = cmn__get64(&r);
    return x != 0 ? x : 1;
}

void tltcp__secret_derive(tltcp__secret *s, uint8_t *seed) {
    next(s, SEED, seed);
}

void tltcp__tokens_init(tltcp__tokens *t, tltcp__secret *s, tltcp_time now) {
    tltcp__secret_derive(s, t->key);
    tltcp__secret_derive(s, t->before);
    t->since = now;
}

void tltcp__tokens_clear(tltcp__tokens *t) {
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

void tltcp__tokens_make(tltcp__tokens *t, tltcp__secret *s, uint64_t path,
                        uint64_t id, tltcp_time now, uint8_t *token) {
    uint8_t out[MAC_LEN];
    cmn__writer w = cmn__writer_of(token, TLTCP__TOKEN_LEN);
    if (now - t->since >= TOKEN_KEY_LIFE) {
        memcpy(t->before, t->key, sizeof(t->before));
        tltcp__secret_derive(s, t->key);
        t->since = now;
    }
    token_mac(t->key, path, id, now, out);
    cmn__put64(&w, now);
    cmn__put_bytes(&w, out, TOKEN_MAC_LEN);
}

bool tltcp__tokens_valid(const tltcp__tokens *t, uint64_t path, uint64_t id,
                         tltcp_time now, const uint8_t *token, size_t len) {
    uint8_t out[MAC_LEN];
    cmn__reader r = cmn__reader_of(token, len);
    uint64_t at = cmn__get64(&r);
    if (len != TLTCP__TOKEN_LEN || at > now || now - at > TOKEN_LIFE) {
        return false;
    }
    token_mac(at >= t->since ? t->key : t->before, path, id, at, out);
    return CRYPTO_memcmp(out, r.p, TOKEN_MAC_LEN) == 0;
}

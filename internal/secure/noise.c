/* SPDX-License-Identifier: MPL-2.0 */
/* The Noise handshakes NKpsk0 and IKpsk0+offer. */
#include "internal/secure/noise.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "internal/secure/curve.h"

static bool hash(const void *a, size_t a_len, const void *b, size_t b_len,
                 uint8_t *out) {
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    bool ok = c != NULL && EVP_DigestInit_ex(c, EVP_sha256(), NULL) == 1 &&
              EVP_DigestUpdate(c, a, a_len) == 1 &&
              EVP_DigestUpdate(c, b, b_len) == 1 &&
              EVP_DigestFinal_ex(c, out, NULL) == 1;
    EVP_MD_CTX_free(c);
    return ok;
}

static bool mix_hash(sec__noise *s, const void *data, size_t len) {
    return hash(s->h, sizeof(s->h), data, len, s->h);
}

static bool mix_key(sec__noise *s, const uint8_t *input, size_t len) {
    uint8_t out[2][SEC__KEY_LEN];
    bool ok = sec__hkdf(s->ck, input, len, out, 2);
    memcpy(s->ck, out[0], SEC__KEY_LEN);
    memcpy(s->k, out[1], SEC__KEY_LEN);
    s->n = 0;
    OPENSSL_cleanse(out, sizeof(out));
    return ok;
}

static bool mix_psk(sec__noise *s, const uint8_t *psk) {
    uint8_t out[3][SEC__KEY_LEN];
    bool ok = sec__hkdf(s->ck, psk, SEC__KEY_LEN, out, 3);
    memcpy(s->ck, out[0], SEC__KEY_LEN);
    memcpy(s->k, out[2], SEC__KEY_LEN);
    s->n = 0;
    ok = ok && mix_hash(s, out[1], SEC__KEY_LEN);
    OPENSSL_cleanse(out, sizeof(out));
    return ok;
}

bool sec__noise_hash(const void *data, size_t len, uint8_t *out) {
    return hash(data, len, NULL, 0, out);
}

static const char *name_of(uint8_t suite, bool mutual) {
    if (suite == SEC__AES_GCM) {
        return mutual ? "Noise_IKpsk0+offer_25519_AESGCM_SHA256"
                      : "Noise_NKpsk0_25519_AESGCM_SHA256";
    }
    return mutual ? "Noise_IKpsk0+offer_25519_ChaChaPoly_SHA256"
                  : "Noise_NKpsk0_25519_ChaChaPoly_SHA256";
}

static bool take_statics(sec__noise *s, const sec__noise_terms *t) {
    memcpy(s->identity.secret, t->statics.secret, SEC__KEY_LEN);
    memcpy(s->identity.public_key, t->statics.public_key, SEC__KEY_LEN);
    if (t->secret_key == NULL) {
        memcpy(s->other, t->statics.listener, sizeof(s->other));
    }
    return mix_hash(s, t->statics.listener, SEC__KEY_LEN);
}

bool sec__noise_init(sec__noise *s, const sec__noise_terms *t) {
    const bool mutual = t->statics.secret != NULL;
    const char *name = name_of(t->suite, mutual);
    size_t name_len = strlen(name);
    bool ok = true;

    *s = (sec__noise){.suite = t->suite, .mutual = mutual};
    if (name_len <= sizeof(s->h)) {
        memcpy(s->h, name, name_len);
    } else {
        ok = hash(name, name_len, NULL, 0, s->h);
    }
    memcpy(s->ck, s->h, sizeof(s->ck));
    memcpy(s->e.secret, t->e, SEC__KEY_LEN);
    memcpy(s->s.public_key, t->public_key, SEC__KEY_LEN);
    if (t->secret_key != NULL) {
        memcpy(s->s.secret, t->secret_key, SEC__KEY_LEN);
    }
    return ok && mix_hash(s, t->prologue, t->prologue_len) &&
           (!mutual || take_statics(s, t)) &&
           mix_hash(s, t->public_key, SEC__KEY_LEN) && mix_psk(s, t->psk);
}

/* The token e: in patterns with a psk, the key is mixed in, too. */
static bool mix_ephemeral(sec__noise *s, const uint8_t *key) {
    return mix_hash(s, key, SEC__KEY_LEN) && mix_key(s, key, SEC__KEY_LEN);
}

static bool mix_shared(sec__noise *s, const sec__pair *own,
                       const uint8_t *peer) {
    uint8_t dh[SEC__KEY_LEN];
    bool ok = sec__curve_shared(own->secret, own->public_key, peer, dh) &&
              mix_key(s, dh, sizeof(dh));

    OPENSSL_cleanse(dh, sizeof(dh));
    return ok;
}

/* The token es (eo with static keys) of the first message, or ee of the second.
 */
static bool mix_written(sec__noise *s, bool second) {
    return mix_shared(s, &s->e, second ? s->peer : s->s.public_key);
}

static bool mix_read(sec__noise *s, bool second) {
    return mix_shared(s, second ? &s->e : &s->s, s->peer);
}

static bool seal_text(sec__noise *s, const void *text, size_t len,
                      uint8_t *out) {
    return sec__aead_seal_once(s->suite, s->k, s->n++, s->h, sizeof(s->h), text,
                               len, out) &&
           mix_hash(s, out, len + SEC__TAG_LEN);
}

/* len: with the tag. */
static bool open_text(sec__noise *s, const uint8_t *text, size_t len,
                      uint8_t *out) {
    return sec__aead_open_once(s->suite, s->k, s->n++, s->h, sizeof(s->h), text,
                               len, out) &&
           mix_hash(s, text, len);
}

/* Tokens with static keys: es, s, ss of the first message, se of the second. */
static bool write_statics(sec__noise *s, bool second, uint8_t *out) {
    if (second) {
        return mix_shared(s, &s->e, s->other);
    }
    return mix_shared(s, &s->e, s->other) &&
           seal_text(s, s->identity.public_key, SEC__KEY_LEN, out) &&
           mix_shared(s, &s->identity, s->other);
}

static bool read_statics(sec__noise *s, bool second, const uint8_t *text) {
    if (second) {
        return mix_shared(s, &s->identity, s->peer);
    }
    return mix_shared(s, &s->identity, s->peer) &&
           open_text(s, text, SEC__NOISE_STATIC, s->other) &&
           mix_shared(s, &s->identity, s->other);
}

size_t sec__noise_overhead(const sec__noise *s, bool second) {
    return SEC__NOISE_OVERHEAD + (s->mutual && !second ? SEC__NOISE_STATIC : 0);
}

bool sec__noise_write(sec__noise *s, bool second, const void *payload,
                      size_t len, uint8_t *out) {
    const size_t head = sec__noise_overhead(s, second) - SEC__TAG_LEN;

    if (!sec__curve_public(s->e.secret, s->e.public_key)) {
        return false;
    }
    memcpy(out, s->e.public_key, SEC__KEY_LEN);
    return mix_ephemeral(s, out) && mix_written(s, second) &&
           (!s->mutual || write_statics(s, second, out + SEC__KEY_LEN)) &&
           seal_text(s, payload, len, out + head);
}

bool sec__noise_read(sec__noise *s, bool second, const uint8_t *msg, size_t len,
                     uint8_t *out) {
    const size_t head = sec__noise_overhead(s, second) - SEC__TAG_LEN;
    sec__noise next = *s;
    bool ok = len >= head + SEC__TAG_LEN;

    if (ok) {
        memcpy(next.peer, msg, SEC__KEY_LEN);
        ok = mix_ephemeral(&next, next.peer) && mix_read(&next, second) &&
             (!s->mutual || read_statics(&next, second, msg + SEC__KEY_LEN)) &&
             open_text(&next, msg + head, len - head, out);
    }
    if (ok) {
        *s = next;
    }
    OPENSSL_cleanse(&next, sizeof(next));
    return ok;
}

bool sec__noise_split(const sec__noise *s, uint8_t *initiator,
                      uint8_t *responder) {
    uint8_t out[2][SEC__KEY_LEN];
    bool ok = sec__hkdf(s->ck, NULL, 0, out, 2);
    memcpy(initiator, out[0], SEC__KEY_LEN);
    memcpy(responder, out[1], SEC__KEY_LEN);
    OPENSSL_cleanse(out, sizeof(out));
    return ok;
}

void sec__noise_clear(sec__noise *s) {
    OPENSSL_cleanse(s, sizeof(*s));
}

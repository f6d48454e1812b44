/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/secure/gcm.h"

#ifdef PERIGEE_HAVE_IPSEC_MB

#include <stdatomic.h>
#include <string.h>

#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#include "internal/secure/aead.h"

/* What the library wants of its keys. */
#define ALIGNMENT ((uintptr_t)64)

struct sec__gcm {
    struct gcm_key_data key; /* first: it is aligned */
    aes_gcm_enc_dec_t crypt;
    void *block; /* as it was allocated */
    bool seal;
};

/* The library's functions for this processor.  They are found once in a
 * process, and do not change: threads that look at the same time write the
 * same.  NULL: this processor has none. */
static struct {
    _Atomic(aes_gcm_pre_t) expand;
    _Atomic(aes_gcm_enc_dec_t) encrypt;
    _Atomic(aes_gcm_enc_dec_t) decrypt;
    atomic_bool known;
} functions;

static bool is_sound(const IMB_MGR *m, IMB_ARCH arch) {
    uint64_t tested = IMB_FEATURE_SELF_TEST | IMB_FEATURE_SELF_TEST_PASS;
    uint64_t result = m->features & tested;
    return arch >= IMB_ARCH_SSE && (result == 0 || result == tested) &&
           m->gcm256_pre != NULL && m->gcm256_enc != NULL &&
           m->gcm256_dec != NULL;
}

static void gcm_find(void) {
    IMB_MGR *m = alloc_mb_mgr(0);
    IMB_ARCH arch = IMB_ARCH_NONE;
    if (m == NULL) {
        return; /* without memory: later */
    }
    init_mb_mgr_auto(m, &arch);
    if (is_sound(m, arch)) {
        atomic_store(&functions.expand, m->gcm256_pre);
        atomic_store(&functions.encrypt, m->gcm256_enc);
        atomic_store(&functions.decrypt, m->gcm256_dec);
    }
    free_mb_mgr(m);
    atomic_store(&functions.known, true);
}

bool sec__gcm_available(void) {
    if (!atomic_load(&functions.known)) {
        gcm_find();
    }
    return atomic_load(&functions.decrypt) != NULL;
}

sec__gcm *sec__gcm_new(const uint8_t *key, bool seal) {
    void *block = sec__gcm_available()
                      ? OPENSSL_zalloc(sizeof(sec__gcm) + ALIGNMENT - 1)
                      : NULL;
    sec__gcm *g;
    if (block == NULL) {
        return NULL;
    }
    g = (sec__gcm *)(((uintptr_t)block + ALIGNMENT - 1) & ~(ALIGNMENT - 1));
    g->block = block;
    g->seal = seal;
    g->crypt = atomic_load(seal ? &functions.encrypt : &functions.decrypt);
    atomic_load (&functions.expand)(key, &g->key);
    return g;
}

void sec__gcm_free(sec__gcm *g) {
    if (g != NULL) {
        OPENSSL_clear_free(g->block, sizeof(*g) + ALIGNMENT - 1);
    }
}

bool sec__gcm_seal(const sec__gcm *g, const uint8_t *nonce, const uint8_t *ad,
                   size_t ad_len, const uint8_t *in, size_t len, uint8_t *out) {
    struct gcm_context_data state;
    if (!g->seal) {
        return false;
    }
    g->crypt(&g->key, &state, out, in, len, nonce, ad, ad_len, out + len,
             SEC__TAG_LEN);
    OPENSSL_cleanse(&state, sizeof(state));
    return true;
}

bool sec__gcm_open(const sec__gcm *g, const uint8_t *nonce, const uint8_t *ad,
                   size_t ad_len, const uint8_t *in, size_t len, uint8_t *out) {
    struct gcm_context_data state;
    size_t text = len - SEC__TAG_LEN;
    uint8_t given[SEC__TAG_LEN];
    uint8_t tag[SEC__TAG_LEN];
    bool genuine;
    if (g->seal) {
        return false;
    }
    memcpy(given, in + text, sizeof(given));
    g->crypt(&g->key, &state, out, in, text, nonce, ad, ad_len, tag,
             sizeof(tag));
    genuine = CRYPTO_memcmp(tag, given, sizeof(tag)) == 0;
    if (!genuine) {
        OPENSSL_cleanse(out, text);
        OPENSSL_cleanse(tag, sizeof(tag));
    }
    OPENSSL_cleanse(&state, sizeof(state));
    return genuine;
}

#else /* without the library */

bool sec__gcm_available(void) {
    return false;
}

sec__gcm *sec__gcm_new(const uint8_t *key, bool seal) {
    (void)key, (void)seal;
    return NULL;
}

void sec__gcm_free(sec__gcm *g) {
    (void)g;
}

/* NOLINTBEGIN(readability-non-const-parameter): as above */

bool sec__gcm_seal(const sec__gcm *g, const uint8_t *nonce, const uint8_t *ad,
                   size_t ad_len, const uint8_t *in, size_t len, uint8_t *out) {
    (void)g, (void)nonce, (void)ad, (void)ad_len, (void)in, (void)len;
    (void)out;
    return false;
}

bool sec__gcm_open(const sec__gcm *g, const uint8_t *nonce, const uint8_t *ad,
                   size_t ad_len, const uint8_t *in, size_t len, uint8_t *out) {
    (void)g, (void)nonce, (void)ad, (void)ad_len, (void)in, (void)len;
    (void)out;
    return false;
}

/* NOLINTEND(readability-non-const-parameter) */

#endif

/* SPDX-License-Identifier: MPL-2.0 */
/* An AEAD cipher through libcrypto's provider functions. */
#include "internal/secure/cipher.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include "internal/secure/provider.h"

struct sec__cipher {
    void *ctx;
    EVP_CIPHER *kind; /* keeps the provider of these functions loaded */
    OSSL_FUNC_cipher_newctx_fn *newctx;
    OSSL_FUNC_cipher_freectx_fn *freectx;
    OSSL_FUNC_cipher_encrypt_init_fn *encrypt_init;
    OSSL_FUNC_cipher_decrypt_init_fn *decrypt_init;
    OSSL_FUNC_cipher_update_fn *update;
    OSSL_FUNC_cipher_final_fn *final;
    OSSL_FUNC_cipher_set_ctx_params_fn *set;
    OSSL_FUNC_cipher_get_ctx_params_fn *get;
    bool seal;
};

static void cipher_take(void *to, const OSSL_DISPATCH *d) {
    sec__cipher *c = to;

    switch (d->function_id) {
    case OSSL_FUNC_CIPHER_NEWCTX:
        c->newctx = OSSL_FUNC_cipher_newctx(d);
        break;
    case OSSL_FUNC_CIPHER_FREECTX:
        c->freectx = OSSL_FUNC_cipher_freectx(d);
        break;
    case OSSL_FUNC_CIPHER_ENCRYPT_INIT:
        c->encrypt_init = OSSL_FUNC_cipher_encrypt_init(d);
        break;
    case OSSL_FUNC_CIPHER_DECRYPT_INIT:
        c->decrypt_init = OSSL_FUNC_cipher_decrypt_init(d);
        break;
    case OSSL_FUNC_CIPHER_UPDATE:
        c->update = OSSL_FUNC_cipher_update(d);
        break;
    case OSSL_FUNC_CIPHER_FINAL:
        c->final = OSSL_FUNC_cipher_final(d);
        break;
    case OSSL_FUNC_CIPHER_SET_CTX_PARAMS:
        c->set = OSSL_FUNC_cipher_set_ctx_params(d);
        break;
    case OSSL_FUNC_CIPHER_GET_CTX_PARAMS:
        c->get = OSSL_FUNC_cipher_get_ctx_params(d);
        break;
    default:
        break;
    }
}

static bool is_whole(const sec__cipher *c) {
    return c->newctx != NULL && c->freectx != NULL && c->encrypt_init != NULL &&
           c->decrypt_init != NULL && c->update != NULL && c->final != NULL &&
           c->set != NULL && c->get != NULL;
}

static bool init(const sec__cipher *c, const uint8_t *key, size_t key_len,
                 const uint8_t *nonce, size_t nonce_len) {
    int rv =
        c->seal ? c->encrypt_init(c->ctx, key, key_len, nonce, nonce_len, NULL)
                : c->decrypt_init(c->ctx, key, key_len, nonce, nonce_len, NULL);
    return rv == 1;
}

static bool make(sec__cipher *c, const char *name, const uint8_t *key,
                 size_t key_len) {
    const OSSL_PROVIDER *provider;
    c->kind = EVP_CIPHER_fetch(NULL, name, NULL);
    if (c->kind == NULL) {
        return false;
    }
    provider = EVP_CIPHER_get0_provider(c->kind);
    sec__provider_find(provider, OSSL_OP_CIPHER, EVP_CIPHER_get0_name(c->kind),
                       cipher_take, c);
    if (!is_whole(c)) {
        return false;
    }
    c->ctx = c->newctx(OSSL_PROVIDER_get0_provider_ctx(provider));
    return c->ctx != NULL && init(c, key, key_len, NULL, 0);
}

sec__cipher *sec__cipher_new(const char *name, const uint8_t *key,
                             size_t key_len, bool seal) {
    sec__cipher *c = OPENSSL_zalloc(sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    c->seal = seal;
    if (!make(c, name, key, key_len)) {
        sec__cipher_free(c);
        return NULL;
    }
    return c;
}

void sec__cipher_free(sec__cipher *c) {
    if (c == NULL) {
        return;
    }
    if (c->ctx != NULL) {
        c->freectx(c->ctx); /* wipes the key */
    }
    EVP_CIPHER_free(c->kind);
    OPENSSL_free(c);
}

bool sec__cipher_set(sec__cipher *c, const char *name, const void *value,
                     size_t len) {
    const OSSL_PARAM params[] = {
        OSSL_PARAM_octet_string(name, (void *)value, len), OSSL_PARAM_END};
    return c->set(c->ctx, params) == 1;
}

bool sec__cipher_get(sec__cipher *c, const char *name, void *value,
                     size_t len) {
    OSSL_PARAM params[] = {OSSL_PARAM_octet_string(name, value, len),
                           OSSL_PARAM_END};
    return c->get(c->ctx, params) == 1;
}

/* A forged record leaves an error in the thread's queue, which the
 * application's TLS code could mistake for its own. The application's own
 * errors stay. */
static void forget_error(void) {
    if (ERR_peek_error() == ERR_peek_last_error()) {
        (void)ERR_get_error();
    }
}

bool sec__cipher_record(sec__cipher *c, const uint8_t *ad, size_t ad_len,
                        uint8_t *io, size_t len) {
    size_t written;
    bool ok = sec__cipher_set(c, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, ad, ad_len) &&
              c->update(c->ctx, io, &written, len, io, len) == 1;
    if (!ok) {
        forget_error();
    }
    return ok;
}

bool sec__cipher_begin(sec__cipher *c, const uint8_t *nonce, size_t len) {
    return init(c, NULL, 0, nonce, len);
}

bool sec__cipher_update(sec__cipher *c, uint8_t *out, const uint8_t *in,
                        size_t len) {
    size_t written;
    return c->update(c->ctx, out, &written, len, in, len) == 1;
}

bool sec__cipher_end(sec__cipher *c) {
    uint8_t none[1]; /* an AEAD buffers nothing */
    size_t written;
    return c->final(c->ctx, none, &written, sizeof(none)) == 1;
}

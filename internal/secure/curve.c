/* SPDX-License-Identifier: MPL-2.0 */
/* X25519 through libcrypto's provider functions, else through EVP. */
#include "internal/secure/curve.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include "internal/secure/provider.h"

#define NAME "X25519"

/* The point whose multiples public keys are. */
static const uint8_t base[SEC__CURVE_LEN] = {9};

struct curve {
    /* These keep the provider of the functions loaded. */
    EVP_KEYMGMT *keys;
    EVP_KEYEXCH *exchange;

    OSSL_FUNC_keymgmt_new_fn *key_new;
    OSSL_FUNC_keymgmt_free_fn *key_free;
    OSSL_FUNC_keymgmt_import_fn *key_import;
    OSSL_FUNC_keyexch_newctx_fn *newctx;
    OSSL_FUNC_keyexch_freectx_fn *freectx;
    OSSL_FUNC_keyexch_init_fn *init;
    OSSL_FUNC_keyexch_set_peer_fn *set_peer;
    OSSL_FUNC_keyexch_derive_fn *derive;
};

static void curve_take_of_keys(void *to, const OSSL_DISPATCH *d) {
    struct curve *c = to;

    switch (d->function_id) {
    case OSSL_FUNC_KEYMGMT_NEW:
        c->key_new = OSSL_FUNC_keymgmt_new(d);
        break;
    case OSSL_FUNC_KEYMGMT_FREE:
        c->key_free = OSSL_FUNC_keymgmt_free(d);
        break;
    case OSSL_FUNC_KEYMGMT_IMPORT:
        c->key_import = OSSL_FUNC_keymgmt_import(d);
        break;
    default:
        break;
    }
}

static void curve_take_of_exchange(void *to, const OSSL_DISPATCH *d) {
    struct curve *c = to;

    switch (d->function_id) {
    case OSSL_FUNC_KEYEXCH_NEWCTX:
        c->newctx = OSSL_FUNC_keyexch_newctx(d);
        break;
    case OSSL_FUNC_KEYEXCH_FREECTX:
        c->freectx = OSSL_FUNC_keyexch_freectx(d);
        break;
    case OSSL_FUNC_KEYEXCH_INIT:
        c->init = OSSL_FUNC_keyexch_init(d);
        break;
    case OSSL_FUNC_KEYEXCH_SET_PEER:
        c->set_peer = OSSL_FUNC_keyexch_set_peer(d);
        break;
    case OSSL_FUNC_KEYEXCH_DERIVE:
        c->derive = OSSL_FUNC_keyexch_derive(d);
        break;
    default:
        break;
    }
}

static bool curve_find(struct curve *c) {
    const OSSL_PROVIDER *provider;

    *c = (struct curve){.keys = EVP_KEYMGMT_fetch(NULL, NAME, NULL),
                        .exchange = EVP_KEYEXCH_fetch(NULL, NAME, NULL)};
    if (c->keys == NULL || c->exchange == NULL) {
        return false;
    }
    provider = EVP_KEYMGMT_get0_provider(c->keys);
    sec__provider_find(provider, OSSL_OP_KEYMGMT, NAME, curve_take_of_keys, c);
    sec__provider_find(provider, OSSL_OP_KEYEXCH, NAME, curve_take_of_exchange,
                       c);
    return provider == EVP_KEYEXCH_get0_provider(c->exchange) &&
           c->key_new != NULL && c->key_free != NULL && c->key_import != NULL &&
           c->newctx != NULL && c->freectx != NULL && c->init != NULL &&
           c->set_peer != NULL && c->derive != NULL;
}

static void curve_release(struct curve *c) {
    EVP_KEYMGMT_free(c->keys);
    EVP_KEYEXCH_free(c->exchange);
}

static void *curve_context(const struct curve *c) {
    return OSSL_PROVIDER_get0_provider_ctx(EVP_KEYMGMT_get0_provider(c->keys));
}

/* A key of the provider: a public one, or where `secret` is not NULL both. */
static void *curve_key(const struct curve *c, const uint8_t *secret,
                       const uint8_t *public_key) {
    const OSSL_PARAM params[] = {
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)public_key,
                                SEC__CURVE_LEN),
        secret == NULL
            ? (OSSL_PARAM)OSSL_PARAM_END
            : (OSSL_PARAM)OSSL_PARAM_octet_string(
                  OSSL_PKEY_PARAM_PRIV_KEY, (void *)secret, SEC__CURVE_LEN),
        OSSL_PARAM_END};
    void *key = c->key_new(curve_context(c));

    if (key != NULL &&
        c->key_import(key,
                      secret == NULL ? OSSL_KEYMGMT_SELECT_PUBLIC_KEY
                                     : OSSL_KEYMGMT_SELECT_KEYPAIR,
                      params) != 1) {
        c->key_free(key);
        key = NULL;
    }
    return key;
}

static bool curve_derive(const struct curve *c, void *own, void *peer,
                         uint8_t *out) {
    void *ctx = c->newctx(curve_context(c));
    size_t len = SEC__CURVE_LEN;
    /* fails for a point of low order */
    bool ok = ctx != NULL && c->init(ctx, own, NULL) == 1 &&
              c->set_peer(ctx, peer) == 1 &&
              c->derive(ctx, out, &len, len) == 1;

    if (ctx != NULL) {
        c->freectx(ctx);
    }
    return ok;
}

/* The pair need not match: X25519 does not use the own public key. */
static bool curve_direct(const uint8_t *secret, const uint8_t *public_key,
                         const uint8_t *peer, uint8_t *out) {
    struct curve c;
    bool ok = curve_find(&c);
    void *own = ok ? curve_key(&c, secret, public_key) : NULL;
    void *other = ok ? curve_key(&c, NULL, peer) : NULL;

    ok = own != NULL && other != NULL && curve_derive(&c, own, other, out);
    if (own != NULL) {
        c.key_free(own); /* wipes it */
    }
    if (other != NULL) {
        c.key_free(other);
    }
    curve_release(&c);
    return ok;
}

static bool curve_shared_by_evp(const uint8_t *secret, const uint8_t *peer,
                                uint8_t *out) {
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key_ex(NULL, NAME, NULL, secret,
                                                    SEC__CURVE_LEN);
    EVP_PKEY *other =
        EVP_PKEY_new_raw_public_key_ex(NULL, NAME, NULL, peer, SEC__CURVE_LEN);
    EVP_PKEY_CTX *ctx =
        own == NULL ? NULL : EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    size_t len = SEC__CURVE_LEN;
    bool ok = ctx != NULL && other != NULL && EVP_PKEY_derive_init(ctx) == 1 &&
              EVP_PKEY_derive_set_peer(ctx, other) == 1 &&
              EVP_PKEY_derive(ctx, out, &len) == 1;

    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(own); /* wipes it */
    EVP_PKEY_free(other);
    return ok;
}

static bool curve_public_by_evp(const uint8_t *secret, uint8_t *out) {
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key_ex(NULL, NAME, NULL, secret,
                                                    SEC__CURVE_LEN);
    size_t len = SEC__CURVE_LEN;
    bool ok = key != NULL && EVP_PKEY_get_raw_public_key(key, out, &len) == 1;

    EVP_PKEY_free(key);
    return ok;
}

bool sec__curve_shared(const uint8_t *secret, const uint8_t *public_key,
                       const uint8_t *peer, uint8_t *out) {
    return curve_direct(secret, public_key, peer, out) ||
           curve_shared_by_evp(secret, peer, out);
}

/* By definition: the Diffie-Hellman with the base point. It takes libcrypto
 * less time than its own way. The public key is not known before, so the base
 * point stands in its place. A provider that compares the two refuses the pair,
 * and EVP computes the key. */
bool sec__curve_public(const uint8_t *secret, uint8_t *out) {
    return curve_direct(secret, base, base, out) ||
           curve_public_by_evp(secret, out);
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * For builds with -fsanitize=memory: calls into libcrypto and ISA-L, which are
 * not built that way, and the door to the virtual network.  What goes in must
 * have been written, and what comes out has been.  The linker puts each __wrap_
 * in the place of the function that it wraps.
 */
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sanitizer/msan_interface.h>

#ifdef PERIGEE_HAVE_ISAL
#include <isa-l/erasure_code.h>
#endif

#include "internal/secure/cipher.h"
#include "internal/secure/curve.h"
#include "sim/net.h"

#define TAG 16
#define NONCE 12
#define NUMBER 8 /* of a record, in front of its text */
#define TABLE 32 /* bytes of ISA-L's tables for each element */

static void in(const void *p, size_t len) {
    if (p != NULL && len > 0) {
        __msan_check_mem_is_initialized(p, len);
    }
}

static void out(const void *p, size_t len) {
    if (p != NULL && len > 0) {
        __msan_unpoison(p, len);
    }
}

/* Calls of the C library from within are not checked. */
#define CALL(type, name, params, args, before, after) \
    type __real_##name params;                        \
    type __wrap_##name params;                        \
    type __wrap_##name params {                       \
        before;                                       \
        __msan_scoped_disable_interceptor_checks();   \
        type got = __real_##name args;                \
        __msan_scoped_enable_interceptor_checks();    \
        after;                                        \
        return got;                                   \
    }

/* clang-format off */

/* ---- AEAD ---- */

CALL(sec__cipher *, sec__cipher_new,
     (const char *name, const uint8_t *key, size_t len, bool seal),
     (name, key, len, seal), in(key, len), (void)0)
CALL(bool, sec__cipher_set,
     (sec__cipher *c, const char *name, const void *value, size_t len),
     (c, name, value, len), in(value, len < SIZE_MAX ? len : NONCE), (void)0)
CALL(bool, sec__cipher_get,
     (sec__cipher *c, const char *name, void *value, size_t len),
     (c, name, value, len), (void)0, out(value, len))
CALL(bool, sec__cipher_begin,
     (sec__cipher *c, const uint8_t *nonce, size_t len), (c, nonce, len),
     in(nonce, len), (void)0)
CALL(bool, sec__cipher_update,
     (sec__cipher *c, uint8_t *to, const uint8_t *from, size_t len),
     (c, to, from, len), in(from, len), out(to, len))
CALL(bool, sec__cipher_record,
     (sec__cipher *c, const uint8_t *ad, size_t ad_len, uint8_t *io, size_t len),
     (c, ad, ad_len, io, len),
     (in(ad, ad_len), in(io + NUMBER, len - NUMBER - TAG)), out(io, len))

/* ---- Digests, codes, keys ---- */

CALL(int, EVP_DigestInit_ex, (EVP_MD_CTX *c, const EVP_MD *t, ENGINE *e),
     (c, t, e), (void)0, (void)0)
CALL(int, EVP_DigestUpdate, (EVP_MD_CTX *c, const void *data, size_t len),
     (c, data, len), in(data, len), (void)0)
CALL(int, EVP_DigestFinal_ex, (EVP_MD_CTX *c, unsigned char *to, unsigned *n),
     (c, to, n), (void)0,
     (out(n, sizeof(*n)), out(to, (size_t)EVP_MD_CTX_size(c))))
CALL(int, EVP_Digest,
     (const void *data, size_t len, unsigned char *to, unsigned *n,
      const EVP_MD *t, ENGINE *e),
     (data, len, to, n, t, e),
     in(data, len), out(to, (size_t)EVP_MD_size(t)))
CALL(bool, sec__curve_shared,
     (const uint8_t *secret, const uint8_t *public_key, const uint8_t *peer,
      uint8_t *to),
     (secret, public_key, peer, to),
     (in(secret, SEC__CURVE_LEN), in(public_key, SEC__CURVE_LEN),
      in(peer, SEC__CURVE_LEN)),
     out(to, SEC__CURVE_LEN))
CALL(bool, sec__curve_public, (const uint8_t *secret, uint8_t *to),
     (secret, to), in(secret, SEC__CURVE_LEN), out(to, SEC__CURVE_LEN))
CALL(EVP_MD *, EVP_MD_fetch,
     (OSSL_LIB_CTX *c, const char *name, const char *properties),
     (c, name, properties), (void)0, (void)0)
CALL(int, EVP_PBE_scrypt,
     (const char *pass, size_t pass_len, const unsigned char *salt,
      size_t salt_len, uint64_t N, uint64_t r, uint64_t p, uint64_t memory,
      unsigned char *to, size_t n),
     (pass, pass_len, salt, salt_len, N, r, p, memory, to, n),
     (in(pass, pass_len), in(salt, salt_len)), out(to, n))

/* ---- Memory ---- */

CALL(int, CRYPTO_memcmp, (const void *a, const void *b, size_t len),
     (a, b, len), (in(a, len), in(b, len)), (void)0)
CALL(void *, CRYPTO_zalloc, (size_t len, const char *file, int line),
     (len, file, line), (void)0, out(got, len))

/* ---- Erasure codes ---- */

#ifdef PERIGEE_HAVE_ISAL

CALL(int, gf_invert_matrix,
     (unsigned char *from, unsigned char *to, const int n), (from, to, n),
     in(from, (size_t)(n * n)), out(to, (size_t)(n * n)))

#endif

/* clang-format on */

/* Functions of type void. */
#define CALLED(name, ...)            \
    void __real_##name(__VA_ARGS__); \
    void __wrap_##name(__VA_ARGS__); \
    void __wrap_##name(__VA_ARGS__)

CALLED(OPENSSL_cleanse, void *p, size_t len) {
    __real_OPENSSL_cleanse(p, len);
    out(p, len);
}

#ifdef PERIGEE_HAVE_ISAL

CALLED(ec_init_tables, int k, int rows, unsigned char *matrix,
       unsigned char *tables) {
    in(matrix, (size_t)(k * rows));
    __real_ec_init_tables(k, rows, matrix, tables);
    out(tables, (size_t)(TABLE * k * rows));
}

CALLED(ec_encode_data, int len, int k, int rows, unsigned char *tables,
       unsigned char **from, unsigned char **to) {
    for (int i = 0; i < k; i++) {
        in(from[i], (size_t)len);
    }
    __real_ec_encode_data(len, k, rows, tables, from, to);
    for (int i = 0; i < rows; i++) {
        out(to[i], (size_t)len);
    }
}

#endif

/* Uninitialised memory must not be sent: it would leak earlier contents. */
CALLED(sim_net_send, struct sim_net *n, uint32_t from, struct sim_packet *p) {
    in(p->data, p->len);
    __real_sim_net_send(n, from, p);
}

/* ---- What libcrypto has from malloc() it writes unseen ---- */

static void *take(size_t len, const char *file, int line) {
    (void)file;
    (void)line;
    return calloc(1, len);
}

static void *take_again(void *p, size_t len, const char *file, int line) {
    (void)file;
    (void)line;
    p = realloc(p, len);
    out(p, len);
    return p;
}

static void give(void *p, const char *file, int line) {
    (void)file;
    (void)line;
    free(p);
}

__attribute__((constructor)) static void begin(void) {
    (void)CRYPTO_set_mem_functions(take, take_again, give);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Passphrases and keys: checks, stretching, lookup. */
#include "internal/secure/keys.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "internal/secure/curve.h"
#include "internal/secure/gcm.h"

/* scrypt: 32 MiB and some tens of milliseconds per guess (RFC 7914). */
#define SCRYPT_N 32768
#define SCRYPT_R 8
#define SCRYPT_P 1
#define SCRYPT_MEM ((uint64_t)64 << 20)

static size_t count_of(const void *const *list) {
    size_t n = 0;
    while (list != NULL && list[n] != NULL) {
        n++;
    }
    return n;
}

static size_t more_of(const sec__key_source *from) {
    return count_of((const void *const *)from->more_passphrases) +
           count_of((const void *const *)from->more_keys);
}

static bool is_passphrase(const char *p) {
    size_t len = strlen(p);
    return len >= SEC__PASSPHRASE_MIN && len <= SEC__PASSPHRASE_MAX;
}

static bool are_passphrases(const sec__key_source *from) {
    const char *const *more = from->more_passphrases;
    bool ok = from->passphrase == NULL || is_passphrase(from->passphrase);
    while (ok && more != NULL && *more != NULL) {
        ok = is_passphrase(*more++);
    }
    return ok;
}

/* Whether libcrypto's configuration or FIPS mode lacks an algorithm, as opposed
 * to a lack of memory. */
static bool is_something_missing(void) {
    EVP_CIPHER *gcm;
    EVP_CIPHER *chacha;
    EVP_MD *sha;
    EVP_KEYMGMT *curve;
    bool missing;
    (void)ERR_set_mark();
    gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    chacha = EVP_CIPHER_fetch(NULL, "ChaCha20-Poly1305", NULL);
    sha = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    curve = EVP_KEYMGMT_fetch(NULL, "X25519", NULL);
    missing = (gcm == NULL || chacha == NULL || sha == NULL || curve == NULL) &&
              ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_UNSUPPORTED;
    (void)ERR_pop_to_mark();
    EVP_CIPHER_free(gcm);
    EVP_CIPHER_free(chacha);
    EVP_MD_free(sha);
    EVP_KEYMGMT_free(curve);
    return missing;
}

const char *sec__keys_check(const sec__key_source *from) {
    if (from->key_len != (from->key == NULL ? 0 : SEC__KEY_LEN)) {
        return "a key has 32 bytes";
    }
    if (from->key != NULL && from->passphrase != NULL) {
        return "either a passphrase or a key, not both";
    }
    if (more_of(from) >= SEC__KEYS_MAX) {
        return "more_passphrases and more_keys hold at most 15";
    }
    if (!are_passphrases(from)) {
        return "a passphrase has 8 to 512 bytes";
    }
    if (sec__keys_any(from)) {
        (void)sec__gcm_available(); /* takes time, better now than later */
    }
    return sec__keys_any(from) && is_something_missing()
               ? "a passphrase or key needs AES-256-GCM, ChaCha20-Poly1305, "
                 "SHA-256 and X25519; this system's OpenSSL is configured "
                 "without one of them"
               : NULL;
}

static bool has_secret(const sec__key_source *from) {
    return from->passphrase != NULL || from->key != NULL;
}

bool sec__keys_own(const sec__key_source *from) {
    return has_secret(from) || from->statics.secret != NULL;
}

bool sec__keys_any(const sec__key_source *from) {
    return sec__keys_own(from) || from->more_passphrases != NULL ||
           from->more_keys != NULL;
}

static bool make_proof(sec__key *k) {
    static const uint8_t label[] = "tltcp key proof 3";
    uint8_t out[1][SEC__KEY_LEN];
    bool ok = sec__hkdf(k->key, label, sizeof(label) - 1, out, 1);

    memcpy(k->proof, out[0], SEC__KEY_LEN);
    k->ready.cipher = NULL;
    OPENSSL_cleanse(out, sizeof(out));
    return ok;
}

static bool take_key(const uint8_t *key, sec__key *k) {
    memcpy(k->key, key, SEC__KEY_LEN);
    return make_proof(k);
}

/* A caller that knows the listener's public key is worth a Diffie-Hellman. */
static bool take_listener(const uint8_t *listener, sec__key *k) {
    static const uint8_t label[] = "tltcp listener 1";
    uint8_t out[1][SEC__KEY_LEN];
    bool ok = sec__hkdf(listener, label, sizeof(label) - 1, out, 1) &&
              take_key(out[0], k);

    OPENSSL_cleanse(out, sizeof(out));
    return ok;
}

static bool stretch(const char *passphrase, const uint8_t *salt, sec__key *k) {
    static const char label[] = "tltcp passphrase 2";
    uint8_t full[sizeof(label) - 1 + SEC__SALT_LEN];

    k->ready.cipher = NULL;
    memcpy(full, label, sizeof(label) - 1);
    memcpy(full + sizeof(label) - 1, salt, SEC__SALT_LEN);
    return EVP_PBE_scrypt(passphrase, strlen(passphrase), full, sizeof(full),
                          SCRYPT_N, SCRYPT_R, SCRYPT_P, SCRYPT_MEM, k->key,
                          sizeof(k->key)) == 1 &&
           make_proof(k);
}

/* The place of a caller's key identifies it: the order is public. */
int sec__keys_take(const sec__key_source *from, const uint8_t *salt,
                   sec__key *keys, int max) {
    const uint8_t *const *key = from->more_keys;
    const char *const *passphrase = from->more_passphrases;
    int n = 0;
    bool ok = true;

    if (from->key != NULL) {
        ok = take_key(from->key, &keys[n++]);
    } else if (from->passphrase != NULL) {
        ok = stretch(from->passphrase, salt, &keys[n++]);
    }
    if (ok && from->statics.secret != NULL && !has_secret(from)) {
        ok = take_listener(from->statics.listener, &keys[n++]);
    }
    for (; ok && key != NULL && *key != NULL && n < max; key++) {
        ok = take_key(*key, &keys[n++]);
    }
    for (; ok && passphrase != NULL && *passphrase != NULL && n < max;
         passphrase++) {
        ok = stretch(*passphrase, salt, &keys[n++]);
    }
    for (int i = 0; ok && i < n; i++) {
        ok = sec__key_proof_init(&keys[i].ready, keys[i].proof);
    }
    if (!ok) {
        sec__keys_clear(keys, n);
    }
    return ok ? n : -1;
}

bool sec__keys_copy(sec__key *to, const sec__key *from, int n) {
    bool ok = true;

    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].ready = (sec__key_proof){0};
        ok &= sec__key_proof_init(&to[i].ready, to[i].proof);
    }
    if (!ok) {
        sec__keys_clear(to, n);
    }
    return ok;
}

void sec__keys_clear(sec__key *keys, int n) {
    for (int i = 0; i < n; i++) {
        sec__key_proof_clear(&keys[i].ready);
    }
    OPENSSL_cleanse(keys, (size_t)n * sizeof(*keys));
}

/* --- Calling ------------------------------------------------------------- */

bool sec__caller_init(sec__caller *c, const sec__key_source *from) {
    *c = (sec__caller){0};
    if (from->statics.secret != NULL) {
        c->mutual = true;
        memcpy(c->identity.secret, from->statics.secret, SEC__KEY_LEN);
        memcpy(c->listener, from->statics.listener, sizeof(c->listener));
        if (!sec__curve_public(c->identity.secret, c->identity.public_key)) {
            return false;
        }
    }
    if (from->key != NULL) {
        return take_key(from->key, &c->key[0]);
    }
    if (from->passphrase == NULL) {
        return take_listener(c->listener, &c->key[0]);
    }
    memcpy(c->passphrase, from->passphrase, strlen(from->passphrase));
    return true;
}

static const sec__key *find_salt(const sec__caller *c, const uint8_t *salt) {
    if (c->passphrase[0] == '\0') {
        return &c->key[0];
    }
    for (unsigned i = 0; i < SEC__SALTS_KEPT && i < c->salts; i++) {
        if (memcmp(c->salt[i], salt, SEC__SALT_LEN) == 0) {
            return &c->key[i];
        }
    }
    return NULL;
}

bool sec__caller_knows(const sec__caller *c, const uint8_t *salt) {
    return find_salt(c, salt) != NULL;
}

static const sec__key *learn(sec__caller *c, const uint8_t *salt,
                             const sec__key *key) {
    unsigned at = c->salts++ % SEC__SALTS_KEPT;

    memcpy(c->salt[at], salt, SEC__SALT_LEN);
    c->key[at] = *key;
    return &c->key[at];
}

const sec__key *sec__caller_key(sec__caller *c, const uint8_t *salt) {
    const sec__key *known = find_salt(c, salt);
    sec__key made;

    if (known == NULL && stretch(c->passphrase, salt, &made)) {
        known = learn(c, salt, &made);
    }
    OPENSSL_cleanse(&made, sizeof(made));
    return known;
}

sec__statics sec__caller_statics(const sec__caller *c) {
    return c->mutual ? (sec__statics){.secret = c->identity.secret,
                                      .public_key = c->identity.public_key,
                                      .listener = c->listener}
                     : (sec__statics){.secret = NULL};
}

void sec__caller_clear(sec__caller *c) {
    OPENSSL_cleanse(c, sizeof(*c));
}

void sec__key_job_init(sec__key_job *job, const sec__caller *c,
                       const uint8_t *salt) {
    *job = (sec__key_job){.done = false};
    memcpy(job->passphrase, c->passphrase, sizeof(job->passphrase));
    memcpy(job->salt, salt, sizeof(job->salt));
}

void sec__key_job_run(sec__key_job *job) {
    job->done = stretch(job->passphrase, job->salt, &job->key);
}

bool sec__key_job_end(sec__key_job *job, sec__caller *c) {
    bool done = job->done;
    if (done && c != NULL) {
        (void)learn(c, job->salt, &job->key);
    }
    OPENSSL_cleanse(job, sizeof(*job));
    return done;
}

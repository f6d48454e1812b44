/* SPDX-License-Identifier: MPL-2.0 */
/* Unpredictable numbers derived from a seed; wiping, comparing. */
#include "internal/secure/secret.h"

#include <string.h>

#include <openssl/crypto.h>

#include "internal/common/wire.h"
#include "internal/secure/mac.h"

enum purpose { NUMBER = 1, SEED = 2, NEXT_KEY = 4 };

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
    cmn__writer w = cmn__writer_of(in, sizeof(in));
    cmn__put8(&w, (uint8_t)purpose);
    cmn__put64(&w, ++s->counter);
    return sec__mac_once(s->key, in, sizeof(in), out);
}

uint64_t sec__secret_next(sec__secret *s) {
    uint8_t out[SEC__MAC_LEN];
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
    uint8_t key[SEC__MAC_LEN];
    bool ok = next(s, SEED, e) && next(s, NEXT_KEY, key);
    if (ok) {
        memcpy(s->key, key, sizeof(s->key));
    }
    OPENSSL_cleanse(key, sizeof(key));
    return ok;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Address tokens and their short-lived keys. */
#include "internal/secure/tokens.h"

#include <string.h>

#include "internal/common/wire.h"
#include "internal/secure/curve.h"

#define LABEL 3
#define TOKEN_MAC_LEN 16u
#define TOKEN_LIFE (10 * SEC__S)
#define KEYS_LIFE (60 * SEC__S)

/* --- Keys ---------------------------------------------------------------- */

/* HMAC with a key that nobody has seen. */
static sec__mac *tokens_new_mac(sec__secret *s) {
    uint8_t key[SEC__SEED_LEN];
    sec__mac *m = NULL;

    if (sec__secret_ephemeral(s, key)) {
        m = sec__mac_new(key);
    }
    sec__wipe(key, sizeof(key));
    return m;
}

static void tokens_clear_keys(sec__token_keys *k) {
    sec__mac_free(k->mac);
    sec__wipe(k, sizeof(*k));
}

static void tokens_new_keys(sec__tokens *t, sec__secret *s, uint64_t now) {
    sec__token_keys *k = &t->now;

    t->since = now;
    *k = (sec__token_keys){.mac = tokens_new_mac(s)};
    if (t->paired && (!sec__secret_ephemeral(s, k->secret) ||
                      !sec__curve_public(k->secret, k->public_key))) {
        tokens_clear_keys(k);
    }
}

void sec__tokens_init(sec__tokens *t, sec__secret *s, bool paired,
                      uint64_t now) {
    *t = (sec__tokens){.paired = paired};
    tokens_new_keys(t, s, now);
}

void sec__tokens_clear(sec__tokens *t, const cmn__mem *mem) {
    tokens_clear_keys(&t->now);
    tokens_clear_keys(&t->before);
    cmn__free(mem, t->spent);
    *t = (sec__tokens){0};
}

void sec__tokens_age(sec__tokens *t, sec__secret *s, uint64_t now) {
    uint64_t age = now - t->since;

    if (t->before.mac != NULL && age > TOKEN_LIFE) {
        tokens_clear_keys(&t->before);
    }
    if (age >= KEYS_LIFE || t->now.mac == NULL) {
        tokens_clear_keys(&t->before);
        if (age <= KEYS_LIFE + TOKEN_LIFE) {
            t->before = t->now;
        } else {
            tokens_clear_keys(&t->now);
        }
        tokens_new_keys(t, s, now);
    }
}

/* --- Tokens -------------------------------------------------------------- */

/* Half an HMAC of what a token vouches for. */
static bool token_mac(sec__mac *key, const sec__bearer *of, uint64_t at,
                      uint8_t *out) {
    uint8_t in[25];
    uint8_t full[SEC__MAC_LEN];
    cmn__writer w = cmn__writer_of(in, sizeof(in));

    cmn__put8(&w, LABEL);
    cmn__put64(&w, of->path);
    cmn__put64(&w, of->id);
    cmn__put64(&w, at);
    if (key == NULL || !sec__mac_write(key, in, sizeof(in), full)) {
        return false;
    }
    memcpy(out, full, TOKEN_MAC_LEN);
    return true;
}

void sec__tokens_make(sec__tokens *t, sec__secret *s, const sec__bearer *to,
                      uint64_t now, uint8_t *token) {
    uint8_t out[TOKEN_MAC_LEN] = {0};
    cmn__writer w = cmn__writer_of(token, SEC__TOKEN_LEN);

    sec__tokens_age(t, s, now);
    (void)token_mac(t->now.mac, to, now, out); /* otherwise the token is
                                                  invalid */
    cmn__put64(&w, now);
    cmn__put_bytes(&w, out, sizeof(out));
}

/* --- Used tokens ---------------------------------------------- */

#define BUCKETS 1024u /* a power of two */
#define WAYS 4u

typedef struct spent_token {
    uint64_t mac; /* the first eight bytes */
    uint64_t at;  /* 0: none */
} spent_token;

struct sec__spent {
    spent_token of[BUCKETS][WAYS];
};

static spent_token spent_of(const uint8_t *token) {
    cmn__reader r = cmn__reader_of(token, SEC__TOKEN_LEN);
    spent_token x;

    x.at = cmn__get64(&r);
    x.mac = cmn__get64(&r);
    return x;
}

static bool is_spent(const sec__tokens *t, const spent_token *x) {
    const spent_token *b;

    if (t->spent == NULL) {
        return false;
    }
    b = t->spent->of[x->mac & (BUCKETS - 1)];
    for (unsigned i = 0; i < WAYS; i++) {
        if (b[i].mac == x->mac && b[i].at == x->at) {
            return true;
        }
    }
    return x->at < t->floor;
}

bool sec__tokens_spend(sec__tokens *t, const cmn__mem *mem,
                       const uint8_t *token, uint64_t now) {
    const spent_token x = spent_of(token);
    spent_token *oldest;
    spent_token *b;

    if (is_spent(t, &x)) { /* another thread was faster */
        return false;
    }
    if (t->spent == NULL) {
        t->spent = cmn__alloc(mem, sizeof(*t->spent));
    }
    if (t->spent == NULL) {
        return false;
    }
    b = t->spent->of[x.mac & (BUCKETS - 1)];
    oldest = b;
    for (unsigned i = 1; i < WAYS; i++) {
        oldest = b[i].at < oldest->at ? &b[i] : oldest;
    }
    if (oldest->at >= t->floor && oldest->mac != 0 &&
        now - oldest->at <= TOKEN_LIFE) {
        t->floor = oldest->at + 1; /* evicted: tokens as old are no longer
                                      valid */
    }
    *oldest = x;
    return true;
}

const sec__token_keys *sec__tokens_keys(const sec__tokens *t,
                                        const sec__bearer *from, uint64_t now,
                                        const uint8_t *token, size_t len) {
    uint8_t out[TOKEN_MAC_LEN];
    const sec__token_keys *k;
    spent_token x;

    if (len != SEC__TOKEN_LEN) {
        return NULL;
    }
    x = spent_of(token);
    k = x.at >= t->since ? &t->now : &t->before;
    return x.at <= now && now - x.at <= TOKEN_LIFE &&
                   token_mac(k->mac, from, x.at, out) &&
                   sec__equal(out, token + sizeof(x.at), sizeof(out)) &&
                   !is_spent(t, &x)
               ? k
               : NULL;
}

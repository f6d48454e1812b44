/* SPDX-License-Identifier: MPL-2.0 */
#include "secure/seal.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

/* AES-GCM loses confidentiality from about 2^23 full packets on (RFC 9001,
 * 6.6); half of that leaves time for the peer to follow. */
#define SEALED_MAX (UINT64_C(1) << 22)

static bool next_key(uint8_t *key) {
    static const uint8_t label[] = "tltcp next key";
    uint8_t out[1][SEC__KEY_LEN];
    bool ok = sec__hkdf(key, label, sizeof(label) - 1, out, 1);
    memcpy(key, out[0], SEC__KEY_LEN);
    OPENSSL_cleanse(out, sizeof(out));
    return ok;
}

static EVP_CIPHER_CTX *next_rx(sec__seal *s) {
    return next_key(s->rx_key) ? sec__aead_new(s->suite, s->rx_key, false)
                               : NULL;
}

sec__seal *sec__seal_new(const cmn__mem *mem, uint8_t suite,
                         const uint8_t *tx_key, const uint8_t *rx_key,
                         size_t room, uint64_t limit) {
    sec__seal *s = cmn__alloc(mem, sizeof(*s));
    if (s == NULL) {
        return NULL;
    }
    s->suite = suite;
    s->limit = limit > 0 && limit < SEALED_MAX ? limit : SEALED_MAX;
    memcpy(s->tx_key, tx_key, SEC__KEY_LEN);
    memcpy(s->rx_key, rx_key, SEC__KEY_LEN);
    s->plain = room > 0 ? cmn__alloc(mem, room) : NULL;
    s->tx = sec__aead_new(suite, tx_key, true);
    s->rx = sec__aead_new(suite, rx_key, false);
    s->rx_next = next_rx(s);
    if ((room > 0 && s->plain == NULL) || s->tx == NULL || s->rx == NULL ||
        s->rx_next == NULL) {
        sec__seal_free(s, mem);
        return NULL;
    }
    return s;
}

void sec__seal_free(sec__seal *s, const cmn__mem *mem) {
    if (s == NULL) {
        return;
    }
    EVP_CIPHER_CTX_free(s->tx);
    EVP_CIPHER_CTX_free(s->rx);
    EVP_CIPHER_CTX_free(s->rx_old);
    EVP_CIPHER_CTX_free(s->rx_next);
    cmn__free(mem, s->plain);
    OPENSSL_cleanse(s, sizeof(*s));
    cmn__free(mem, s);
}

static void renew_tx(sec__seal *s) {
    EVP_CIPHER_CTX *fresh;
    uint8_t key[SEC__KEY_LEN];
    memcpy(key, s->tx_key, sizeof(key));
    fresh = next_key(key) ? sec__aead_new(s->suite, key, true) : NULL;
    if (fresh != NULL) { /* without memory: later */
        EVP_CIPHER_CTX_free(s->tx);
        s->tx = fresh;
        memcpy(s->tx_key, key, sizeof(key));
        s->tx_phase++;
        s->sealed = 0;
        s->confirmed = false;
    }
    OPENSSL_cleanse(key, sizeof(key));
}

static bool is_due(const sec__seal *s) {
    return s->tx_phase < s->rx_phase || s->sealed >= s->limit;
}

bool sec__seal_waits(const sec__seal *s) {
    return is_due(s) && !s->confirmed;
}

uint8_t sec__seal_phase(sec__seal *s) {
    if (is_due(s) && s->confirmed) {
        renew_tx(s);
    }
    return (uint8_t)(s->tx_phase & 1);
}

void sec__seal_on_acked(sec__seal *s, uint64_t pn) {
    s->confirmed |= s->sealed > 0 && pn >= s->tx_from;
}

void sec__seal_renew(sec__seal *s) {
    s->sealed = s->sealed > s->limit ? s->sealed : s->limit;
}

bool sec__seal_close(sec__seal *s, uint64_t pn, const uint8_t *header,
                     size_t header_len, uint8_t *text, size_t len) {
    uint8_t nonce[SEC__NONCE_LEN];
    sec__aead_nonce(s->suite, pn, nonce);
    if (s->sealed == 0) {
        s->tx_from = pn;
    }
    /* a peer that never confirms must not keep us sealing for ever */
    return ++s->sealed < 2 * SEALED_MAX &&
           sec__aead_seal(s->tx, nonce, header, header_len, text, len, text);
}

/* The peer has new keys: so shall we. */
static void go_on(sec__seal *s, uint64_t pn) {
    EVP_CIPHER_CTX_free(s->rx_old);
    s->rx_old = s->rx;
    s->rx = s->rx_next;
    s->rx_next = next_rx(s);
    s->rx_phase++;
    s->rx_from = pn;
}

bool sec__seal_open(sec__seal *s, uint8_t phase, uint64_t pn,
                    const uint8_t *header, size_t header_len,
                    const uint8_t *text, size_t len, uint8_t *plain) {
    uint8_t nonce[SEC__NONCE_LEN];
    bool present = phase == (s->rx_phase & 1);
    EVP_CIPHER_CTX *c = present           ? s->rx
                        : pn < s->rx_from ? s->rx_old
                                          : s->rx_next;
    sec__aead_nonce(s->suite, pn, nonce);
    if (c == NULL || len < SEC__TAG_LEN ||
        !sec__aead_open(c, nonce, header, header_len, text, len, plain)) {
        return false;
    }
    if (!present && c == s->rx_next) {
        go_on(s, pn);
    }
    return true;
}

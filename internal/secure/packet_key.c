/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/secure/packet_key.h"

#include "internal/secure/gcm.h"
#include "internal/secure/record.h"

#include <openssl/crypto.h>

#define NO_NUMBER UINT64_MAX

struct sec__packet_key {
    sec__gcm *gcm;       /* or NULL: cipher */
    sec__cipher *cipher; /* or NULL: gcm */
    uint64_t next;       /* whose nonce the cipher has ready for sealing */
    uint8_t suite;
};

static bool is_record(const sec__packet_key *k, const uint8_t *header,
                      size_t header_len) {
    return k->suite == SEC__AES_GCM && header_len == SEC__RECORD_AD_LEN &&
           sec__record_fits(header);
}

static bool make_cipher(sec__packet_key *k, const uint8_t *key, bool seal) {
    k->cipher = sec__aead_new(k->suite, key, seal);
    return k->cipher != NULL && (seal || k->suite != SEC__AES_GCM ||
                                 sec__record_begin(k->cipher, 0));
}

static bool packet_key_make(sec__packet_key *k, const uint8_t *key, bool seal) {
    if (k->suite == SEC__AES_GCM && sec__gcm_available()) {
        k->gcm = sec__gcm_new(key, seal);
        return k->gcm != NULL;
    }
    return make_cipher(k, key, seal);
}

sec__packet_key *sec__packet_key_new(uint8_t suite, const uint8_t *key,
                                     bool seal) {
    sec__packet_key *k = OPENSSL_zalloc(sizeof(*k));
    if (k == NULL) {
        return NULL;
    }
    k->suite = suite;
    k->next = NO_NUMBER;
    if (!packet_key_make(k, key, seal)) {
        sec__packet_key_free(k);
        return NULL;
    }
    return k;
}

void sec__packet_key_free(sec__packet_key *k) {
    if (k == NULL) {
        return;
    }
    sec__gcm_free(k->gcm);
    sec__cipher_free(k->cipher);
    OPENSSL_free(k);
}

bool sec__packet_key_batches(const sec__packet_key *k) {
    return k->gcm == NULL;
}

bool sec__packet_key_seals_from(const sec__packet_key *k) {
    return k->gcm != NULL;
}

bool sec__packet_key_seal_from(const sec__packet_key *k, uint64_t pn,
                               const uint8_t *header, size_t header_len,
                               const uint8_t *text, size_t len, uint8_t *out) {
    uint8_t nonce[SEC__NONCE_LEN];
    sec__aead_nonce(k->suite, pn, nonce);
    return k->gcm != NULL &&
           sec__gcm_seal(k->gcm, nonce, header, header_len, text, len, out);
}

static bool seal_record(sec__packet_key *k, uint64_t pn, const uint8_t *header,
                        uint8_t *text, size_t len) {
    bool ready = pn == k->next || sec__record_begin(k->cipher, pn);
    k->next = pn + 1;
    return ready && sec__record_seal(k->cipher, pn, header, text, len);
}

bool sec__packet_key_seal(sec__packet_key *k, uint64_t pn,
                          const uint8_t *header, size_t header_len,
                          uint8_t *text, size_t len) {
    uint8_t nonce[SEC__NONCE_LEN];
    if (k->gcm == NULL && header + header_len == text &&
        is_record(k, header, header_len)) {
        return seal_record(k, pn, header, text, len);
    }
    sec__aead_nonce(k->suite, pn, nonce);
    if (k->gcm != NULL) {
        return sec__gcm_seal(k->gcm, nonce, header, header_len, text, len,
                             text);
    }
    k->next = NO_NUMBER;
    return sec__aead_seal(k->cipher, nonce, header, header_len, text, len,
                          text);
}

bool sec__packet_key_open(sec__packet_key *k, uint64_t pn,
                          const uint8_t *header, size_t header_len,
                          const uint8_t *text, size_t len, uint8_t *plain,
                          bool lead) {
    uint8_t nonce[SEC__NONCE_LEN];
    if (k->gcm == NULL && lead && is_record(k, header, header_len)) {
        return sec__record_open(k->cipher, pn, header, text, len, plain);
    }
    sec__aead_nonce(k->suite, pn, nonce);
    return k->gcm != NULL ? sec__gcm_open(k->gcm, nonce, header, header_len,
                                          text, len, plain)
                          : sec__aead_open(k->cipher, nonce, header, header_len,
                                           text, len, plain);
}

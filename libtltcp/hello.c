/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/hello.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "libtltcp/packet.h"

#define ID_LEN 8u
/* scrypt: 32 MiB and some tens of milliseconds per guess (RFC 7914). */
#define SCRYPT_N 32768
#define SCRYPT_R 8
#define SCRYPT_P 1
#define SCRYPT_MEM ((uint64_t)64 << 20)

static void name_key(tltcp__key *k) {
    static const uint8_t label[] = "tltcp key id";
    uint8_t out[1][TLTCP__KEY_LEN] = {{0}};
    cmn__reader r = cmn__reader_of(out[0], ID_LEN);
    (void)tltcp__hkdf(k->key, label, sizeof(label) - 1, out, 1);
    k->id = cmn__get64(&r);
}

static bool stretch(const char *passphrase, tltcp__key *k) {
    static const uint8_t salt[] = "tltcp passphrase 1";
    bool ok = EVP_PBE_scrypt(passphrase, strlen(passphrase), salt,
                             sizeof(salt) - 1, SCRYPT_N, SCRYPT_R, SCRYPT_P,
                             SCRYPT_MEM, k->key, sizeof(k->key)) == 1;
    name_key(k);
    return ok;
}

int tltcp__keys_take(const tltcp_config *cfg, tltcp__key *keys, int max) {
    int n = 0;
    if (cfg->key != NULL) {
        memcpy(keys[0].key, cfg->key, TLTCP__KEY_LEN);
        name_key(&keys[n++]);
    } else if (cfg->passphrase != NULL &&
               !stretch(cfg->passphrase, &keys[n++])) {
        return TLTCP_ERR_NOMEM;
    }
    for (size_t i = 0; cfg->more_passphrases != NULL &&
                       cfg->more_passphrases[i] != NULL && n < max;
         i++) {
        if (!stretch(cfg->more_passphrases[i], &keys[n++])) {
            return TLTCP_ERR_NOMEM;
        }
    }
    return n;
}

void tltcp__keys_clear(tltcp__key *keys, int n) {
    OPENSSL_cleanse(keys, (size_t)n * sizeof(*keys));
}

/* Both sides' beginning: version and caller are part of what is agreed on. */
static bool start(tltcp__hello *h, uint64_t caller_id, const uint8_t *e) {
    uint8_t prologue[12];
    cmn__writer w = cmn__writer_of(prologue, sizeof(prologue));
    cmn__put32(&w, TLTCP__VERSION);
    cmn__put64(&w, caller_id);
    return tltcp__noise_init(&h->noise, h->suite, h->key.key, prologue,
                             sizeof(prologue), e);
}

bool tltcp__hello_call(tltcp__hello *h, uint64_t own_id, const uint8_t *e,
                       const void *payload, size_t len) {
    cmn__writer w = cmn__writer_of(h->msg, sizeof(h->msg));
    h->suite = tltcp__suite_preferred();
    cmn__put64(&w, h->key.id);
    h->len = ID_LEN + len + TLTCP__NOISE_OVERHEAD;
    return h->len <= sizeof(h->msg) && start(h, own_id, e) &&
           tltcp__noise_write(&h->noise, false, payload, len, w.p);
}

int tltcp__hello_take_call(tltcp__hello *h, const tltcp__chunk *k,
                           uint64_t caller_id, const tltcp__key *keys, int n,
                           const uint8_t *e, uint8_t *payload, size_t *len) {
    cmn__reader r = cmn__reader_of(k->body, k->len);
    uint64_t id = cmn__get64(&r);
    size_t left = cmn__reader_left(&r);
    int i = 0;
    while (i < n && keys[i].id != id) {
        i++;
    }
    if (r.bad || i == n || !tltcp__suite_known(k->flags) ||
        left < TLTCP__NOISE_OVERHEAD || left > TLTCP__HELLO_MAX) {
        return TLTCP_ERR_AUTH;
    }
    h->key = keys[i];
    h->suite = k->flags;
    *len = left - TLTCP__NOISE_OVERHEAD;
    if (!start(h, caller_id, e)) {
        return TLTCP_ERR_NOMEM; /* OpenSSL has no other reason */
    }
    return tltcp__noise_read(&h->noise, false, r.p, left, payload)
               ? 0
               : TLTCP_ERR_AUTH;
}

bool tltcp__hello_answer(tltcp__hello *h, uint64_t own_id, const void *payload,
                         size_t len) {
    uint8_t text[TLTCP__HELLO_MAX];
    cmn__writer w = cmn__writer_of(text, sizeof(text) - TLTCP__NOISE_OVERHEAD);
    cmn__put64(&w, own_id);
    cmn__put_bytes(&w, payload, len);
    h->len = ID_LEN + len + TLTCP__NOISE_OVERHEAD;
    return !w.bad &&
           tltcp__noise_write(&h->noise, true, text, ID_LEN + len, h->msg);
}

bool tltcp__hello_take_answer(tltcp__hello *h, const tltcp__chunk *k,
                              uint64_t peer_id, uint8_t *payload, size_t *len) {
    uint8_t text[TLTCP__HELLO_MAX];
    tltcp__noise before = h->noise;
    const size_t n = k->len;
    cmn__reader r;
    bool ours;
    if (n < ID_LEN + TLTCP__NOISE_OVERHEAD || n > sizeof(text) ||
        !tltcp__noise_read(&h->noise, true, k->body, n, text)) {
        tltcp__noise_clear(&before);
        return false;
    }
    r = cmn__reader_of(text, n);
    *len = n - ID_LEN - TLTCP__NOISE_OVERHEAD;
    memcpy(payload, text + ID_LEN, *len);
    ours = cmn__get64(&r) == peer_id;
    if (!ours) { /* its header was changed: the true one may still come */
        h->noise = before;
    }
    tltcp__noise_clear(&before);
    return ours;
}

void tltcp__hello_put(const tltcp__hello *h, cmn__writer *w) {
    tltcp__chunk_put(w, TLTCP__NOISE, h->suite, h->len);
    cmn__put_bytes(w, h->msg, h->len);
}

tltcp__seal *tltcp__hello_seal(const tltcp__hello *h, const cmn__mem *mem,
                               bool caller, size_t room, uint64_t limit) {
    uint8_t initiator[TLTCP__KEY_LEN];
    uint8_t responder[TLTCP__KEY_LEN];
    tltcp__seal *s = NULL;
    if (tltcp__noise_split(&h->noise, initiator, responder)) {
        s = tltcp__seal_new(mem, h->suite, caller ? initiator : responder,
                            caller ? responder : initiator, room, limit);
    }
    OPENSSL_cleanse(initiator, sizeof(initiator));
    OPENSSL_cleanse(responder, sizeof(responder));
    return s;
}

void tltcp__hello_free(tltcp__hello *h, const cmn__mem *mem) {
    if (h != NULL) {
        OPENSSL_cleanse(h, sizeof(*h));
        cmn__free(mem, h);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The messages of the secured handshake. */
#include "internal/secure/hello.h"

#include <string.h>

#include <openssl/crypto.h>

#define ID_LEN 8u
#define PROLOGUE_MAX (4u + ID_LEN + 1u + SEC__TOKEN_MAX + SEC__SALT_LEN)

/* --- Chunks -------------------------------------------------------------- */

static void put_chunk_head(cmn__writer *w, uint8_t kind, uint8_t flags,
                           size_t len) {
    cmn__put8(w, kind);
    cmn__put8(w, flags);
    cmn__put16(w, (uint16_t)len);
}

static bool get_chunk(const sec__packet *p, uint8_t kind, sec__hello_msg *m) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    bool ours = cmn__get8(&r) == kind;
    m->suite = cmn__get8(&r);
    m->mutual = (m->suite & SEC__HELLO_MUTUAL) != 0;
    m->suite &= (uint8_t)~SEC__HELLO_MUTUAL;
    m->len = cmn__get16(&r);
    m->body = cmn__get_bytes(&r, m->len);
    return ours && !r.bad;
}

static uint8_t flags_of(uint8_t suite, bool mutual) {
    return suite | (mutual ? SEC__HELLO_MUTUAL : 0);
}

void sec__hello_put(cmn__writer *w, const sec__hello *h) {
    put_chunk_head(w, SEC__CHUNK_NOISE, flags_of(h->suite, h->noise.mutual),
                   h->len);
    cmn__put_bytes(w, h->msg, h->len);
}

bool sec__hello_get(const sec__packet *p, sec__hello_msg *m) {
    return get_chunk(p, SEC__CHUNK_NOISE, m);
}

void sec__offer_put(cmn__writer *w, const sec__offer *o) {
    put_chunk_head(w, SEC__CHUNK_OFFER, 0, SEC__OFFER_LEN);
    cmn__put32(w, o->pn);
    cmn__put_bytes(w, o->salt, sizeof(o->salt));
    cmn__put_bytes(w, o->public_key, sizeof(o->public_key));
}

bool sec__offer_get(const sec__packet *p, sec__offer *o) {
    sec__hello_msg m;
    cmn__reader r;
    if (!get_chunk(p, SEC__CHUNK_OFFER, &m) || m.len < SEC__OFFER_LEN ||
        p->token_len == 0) {
        return false;
    }
    r = cmn__reader_of(m.body, m.len);
    o->pn = cmn__get32(&r);
    memcpy(o->salt, r.p, sizeof(o->salt));
    memcpy(o->public_key, r.p + sizeof(o->salt), sizeof(o->public_key));
    return true;
}

/* --- Messages ------------------------------------------------------------ */

/* Makes the prologue of both ends, which authenticates everything exchanged
 * before. Returns its length. */
static size_t put_prologue(const sec__terms *t, uint8_t *out) {
    cmn__writer w = cmn__writer_of(out, PROLOGUE_MAX);
    cmn__put32(&w, t->version);
    cmn__put64(&w, t->caller_id);
    cmn__put8(&w, (uint8_t)t->token_len);
    cmn__put_bytes(&w, t->token, t->token_len);
    cmn__put_bytes(&w, t->salt, SEC__SALT_LEN);
    return (size_t)(w.p - out);
}

static bool start(sec__hello *h, const sec__terms *t, const sec__key *key,
                  const uint8_t *secret, const uint8_t *e) {
    uint8_t prologue[PROLOGUE_MAX];
    const sec__noise_terms n = {.psk = key->key,
                                .prologue = prologue,
                                .prologue_len = put_prologue(t, prologue),
                                .public_key = t->public_key,
                                .secret_key = secret,
                                .e = e,
                                .statics = t->statics,
                                .suite = h->suite};
    return sec__noise_init(&h->noise, &n);
}

/* The digest of all that the proof covers: it is made once, however many keys
 * are tried. */
static bool digest_call(const sec__terms *t, uint8_t flags, const uint8_t *msg,
                        size_t len, uint8_t *out) {
    uint8_t text[PROLOGUE_MAX + SEC__KEY_LEN + 1 + SEC__HELLO_MAX];
    size_t n = put_prologue(t, text);
    memcpy(text + n, t->public_key, SEC__KEY_LEN);
    n += SEC__KEY_LEN;
    text[n++] = flags;
    memcpy(text + n, msg, len);
    return sec__noise_hash(text, n + len, out);
}

/* Proves the key before anything expensive is computed. Only those who have the
 * key can tell which one it is. */
static bool prove_key(const sec__key *key, const uint8_t *digest,
                      uint8_t *out) {
    sec__key_proof own;
    bool ok;

    if (key->ready.cipher != NULL) {
        return sec__key_proof_write(&key->ready, digest, out);
    }
    ok = sec__key_proof_init(&own, key->proof) &&
         sec__key_proof_write(&own, digest, out);
    sec__key_proof_clear(&own);
    return ok;
}

bool sec__hello_call(sec__hello *h, const sec__terms *t, const sec__key *key,
                     const uint8_t *e, const void *payload, size_t len) {
    const bool mutual = t->statics.secret != NULL;
    size_t msg_len =
        len + SEC__NOISE_OVERHEAD + (mutual ? SEC__NOISE_STATIC : 0);
    uint8_t digest[SEC__DIGEST_LEN];

    h->suite = sec__suite_preferred();
    h->len = 0;
    if (SEC__PROOF_LEN + msg_len > sizeof(h->msg) ||
        !start(h, t, key, NULL, e) ||
        !sec__noise_write(&h->noise, false, payload, len,
                          h->msg + SEC__PROOF_LEN) ||
        !digest_call(t, flags_of(h->suite, mutual), h->msg + SEC__PROOF_LEN,
                     msg_len, digest) ||
        !prove_key(key, digest, h->msg)) {
        return false;
    }
    h->len = SEC__PROOF_LEN + msg_len;
    return true;
}

bool sec__hello_is_answered(const sec__hello *h, const sec__offer *o) {
    return h->len == 0 || o->pn - h->first_pn < UINT32_C(1) << 31;
}

/* The caller's key, or NULL with the cause in *result. */
static const sec__key *find_key(const sec__hello_msg *m, const sec__terms *t,
                                const sec__keyring *ring,
                                enum sec__hello_result *result) {
    uint8_t digest[SEC__DIGEST_LEN];
    uint8_t mac[SEC__PROOF_LEN];
    *result = SEC__HELLO_NOMEM; /* OpenSSL has no other reason to fail */
    if (!digest_call(t, flags_of(m->suite, m->mutual), m->body + SEC__PROOF_LEN,
                     m->len - SEC__PROOF_LEN, digest)) {
        return NULL;
    }
    for (int i = 0; i < ring->n; i++) {
        if (!prove_key(&ring->keys[i], digest, mac)) {
            return NULL;
        }
        if (sec__equal(mac, m->body, sizeof(mac))) {
            return &ring->keys[i];
        }
    }
    *result = SEC__HELLO_WRONG;
    return NULL;
}

enum sec__hello_result sec__hello_take_call(sec__hello *h,
                                            const sec__hello_msg *m,
                                            const sec__terms *t,
                                            const sec__keyring *ring,
                                            uint8_t *payload, size_t *len) {
    const size_t overhead = SEC__PROOF_LEN + SEC__NOISE_OVERHEAD +
                            (m->mutual ? SEC__NOISE_STATIC : 0);
    enum sec__hello_result result;
    uint8_t e[SEC__SEED_LEN];
    const sec__key *key;
    bool ok;

    if (!sec__suite_known(m->suite) || m->len < overhead ||
        m->len > SEC__HELLO_MAX ||
        m->mutual != (ring->statics.secret != NULL)) {
        return SEC__HELLO_WRONG;
    }
    key = find_key(m, t, ring, &result);
    if (key == NULL) {
        return result;
    }
    h->suite = m->suite;
    h->key = (uint8_t)(key - ring->keys);
    *len = m->len - overhead;
    ok = sec__secret_ephemeral(ring->source, e) &&
         start(h, t, key, ring->secret, e);
    sec__wipe(e, sizeof(e));
    if (!ok) {
        return SEC__HELLO_NOMEM;
    }
    return sec__noise_read(&h->noise, false, m->body + SEC__PROOF_LEN,
                           m->len - SEC__PROOF_LEN, payload)
               ? SEC__HELLO_FINE
               : SEC__HELLO_FORGED;
}

const uint8_t *sec__hello_identity(const sec__hello *h) {
    return h->noise.mutual ? h->noise.other : NULL;
}

bool sec__hello_answer(sec__hello *h, uint64_t own_id, const void *payload,
                       size_t len) {
    uint8_t text[SEC__HELLO_MAX];
    cmn__writer w = cmn__writer_of(text, sizeof(text) - SEC__NOISE_OVERHEAD);
    cmn__put64(&w, own_id);
    cmn__put_bytes(&w, payload, len);
    h->len = ID_LEN + len + SEC__NOISE_OVERHEAD;
    return !w.bad &&
           sec__noise_write(&h->noise, true, text, ID_LEN + len, h->msg);
}

bool sec__hello_take_answer(sec__hello *h, const sec__hello_msg *m,
                            uint64_t peer_id, uint8_t *payload, size_t *len) {
    uint8_t text[SEC__HELLO_MAX];
    sec__noise before = h->noise;
    const size_t n = m->len;
    cmn__reader r;
    bool ours;
    if (h->len == 0 || n < ID_LEN + SEC__NOISE_OVERHEAD || n > sizeof(text) ||
        !sec__noise_read(&h->noise, true, m->body, n, text)) {
        sec__noise_clear(&before);
        return false;
    }
    r = cmn__reader_of(text, n);
    *len = n - ID_LEN - SEC__NOISE_OVERHEAD;
    memcpy(payload, text + ID_LEN, *len);
    ours = cmn__get64(&r) == peer_id;
    if (!ours) { /* its header was modified: the genuine one may still arrive */
        h->noise = before;
    }
    sec__noise_clear(&before);
    return ours;
}

sec__seal *sec__hello_seal(const sec__hello *h, const cmn__mem *mem,
                           bool caller, size_t room, uint64_t limit) {
    uint8_t initiator[SEC__KEY_LEN];
    uint8_t responder[SEC__KEY_LEN];
    sec__seal *s = NULL;
    if (sec__noise_split(&h->noise, initiator, responder)) {
        s = sec__seal_new(mem, h->suite, caller ? initiator : responder,
                          caller ? responder : initiator, room, limit);
    }
    OPENSSL_cleanse(initiator, sizeof(initiator));
    OPENSSL_cleanse(responder, sizeof(responder));
    return s;
}

void sec__hello_free(sec__hello *h, const cmn__mem *mem) {
    if (h != NULL) {
        OPENSSL_cleanse(h, sizeof(*h));
        cmn__free(mem, h);
    }
}

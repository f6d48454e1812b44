/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/secure/hello.h"

#include <string.h>

#include <openssl/crypto.h>

#define ID_LEN 8u

/* Both sides' beginning: version and caller are part of what is agreed on. */
static bool start(sec__hello *h, uint64_t caller_id, const uint8_t *e) {
    uint8_t prologue[12];
    cmn__writer w = cmn__writer_of(prologue, sizeof(prologue));
    cmn__put32(&w, h->version);
    cmn__put64(&w, caller_id);
    return sec__noise_init(&h->noise, h->suite, h->key.key, prologue,
                           sizeof(prologue), e);
}

bool sec__hello_call(sec__hello *h, uint64_t own_id, const uint8_t *e,
                     const void *payload, size_t len) {
    cmn__writer w = cmn__writer_of(h->msg, sizeof(h->msg));
    h->suite = sec__suite_preferred();
    cmn__put64(&w, h->key.id);
    h->len = ID_LEN + len + SEC__NOISE_OVERHEAD;
    return h->len <= sizeof(h->msg) && start(h, own_id, e) &&
           sec__noise_write(&h->noise, false, payload, len, w.p);
}

enum sec__hello_result
sec__hello_take_call(sec__hello *h, const sec__hello_msg *m, uint64_t caller_id,
                     const sec__key *keys, int n, const uint8_t *e,
                     uint8_t *payload, size_t *len) {
    cmn__reader r = cmn__reader_of(m->body, m->len);
    uint64_t id = cmn__get64(&r);
    size_t left = cmn__reader_left(&r);
    int i = 0;
    while (i < n && keys[i].id != id) {
        i++;
    }
    if (r.bad || i == n || !sec__suite_known(m->suite) ||
        left < SEC__NOISE_OVERHEAD || left > SEC__HELLO_MAX) {
        return SEC__HELLO_WRONG;
    }
    h->key = keys[i];
    h->suite = m->suite;
    *len = left - SEC__NOISE_OVERHEAD;
    if (!start(h, caller_id, e)) {
        return SEC__HELLO_NOMEM; /* OpenSSL has no other reason */
    }
    return sec__noise_read(&h->noise, false, r.p, left, payload)
               ? SEC__HELLO_FINE
               : SEC__HELLO_WRONG;
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
    if (n < ID_LEN + SEC__NOISE_OVERHEAD || n > sizeof(text) ||
        !sec__noise_read(&h->noise, true, m->body, n, text)) {
        sec__noise_clear(&before);
        return false;
    }
    r = cmn__reader_of(text, n);
    *len = n - ID_LEN - SEC__NOISE_OVERHEAD;
    memcpy(payload, text + ID_LEN, *len);
    ours = cmn__get64(&r) == peer_id;
    if (!ours) { /* its header was changed: the true one may still come */
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

/* SPDX-License-Identifier: MPL-2.0 */
/* Writes and checks authentication fields. */
#include "libsaratoga/engine/auth.h"

#include <string.h>

#include "internal/common/wire.h"
#include "libsaratoga/engine/digest.h"

#define FORMAT 1
#define MAC_LEN ((size_t)32)
#define HEAD_LEN (SARATOGA__AUTH_LEN - MAC_LEN)
#define SEEN_MAX 4096u

static const char label[] = "saratoga request 1";

void saratoga__auth_init(saratoga__auth *a, const cmn__mem *mem,
                         const saratoga_config *c, uint64_t time) {
    *a = (saratoga__auth){.mem = mem,
                          .key_len = c->auth_key_len,
                          .window = c->auth_window,
                          .floor = time > 0 ? time - 1 : 0};
    if (a->key_len > 0) {
        memcpy(a->key, c->auth_key, a->key_len);
    }
}

void saratoga__auth_free(saratoga__auth *a) {
    cmn__free(a->mem, a->seen);
    saratoga__wipe(a->key, sizeof(a->key));
    a->seen = NULL;
}

static bool mac(const saratoga__auth *a, const uint8_t *packet, size_t len,
                const uint8_t *head, uint8_t *out) {
    uint8_t length[4];
    cmn__writer w = cmn__writer_of(length, sizeof(length));
    saratoga_digest *d =
        saratoga_digest_new_keyed(SARATOGA_HMAC_SHA256, a->key, a->key_len);
    bool good = d != NULL;
    cmn__put32(&w, (uint32_t)len);
    good = good && saratoga_digest_update(d, label, sizeof(label)) == 0 &&
           saratoga_digest_update(d, length, sizeof(length)) == 0 &&
           saratoga_digest_update(d, packet, len) == 0 &&
           saratoga_digest_update(d, head, HEAD_LEN) == 0 &&
           saratoga_digest_final(d, out) == 0;
    saratoga_digest_free(d);
    return good;
}

void saratoga__auth_write(const saratoga__auth *a, const uint8_t *packet,
                          size_t len, uint64_t time, cmn__rng *rng,
                          uint8_t *out) {
    cmn__writer w = cmn__writer_of(out, SARATOGA__AUTH_LEN);
    cmn__put8(&w, FORMAT);
    cmn__put64(&w, time);
    cmn__put64(&w, cmn__rng_next(rng));
    if (!mac(a, packet, len, out, out + HEAD_LEN)) {
        memset(out + HEAD_LEN, 0, MAC_LEN); /* will be refused */
    }
}

static bool was_seen(const saratoga__auth *a, const saratoga__auth_seen *s) {
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->seen[i].time == s->time && a->seen[i].nonce == s->nonce) {
            return true;
        }
    }
    return s->time <= a->floor;
}

/* False without memory: refusing is safer than forgetting. */
static bool auth_remember(saratoga__auth *a, const saratoga__auth_seen *s) {
    if (a->seen == NULL) {
        a->seen = cmn__resize(a->mem, NULL, SEEN_MAX * sizeof(*a->seen));
    }
    if (a->seen == NULL) {
        return false;
    }
    if (a->count == SEEN_MAX) {
        uint64_t old = a->seen[a->next].time;
        a->floor = old > a->floor ? old : a->floor;
    } else {
        a->count++;
    }
    a->seen[a->next] = *s;
    a->next = (a->next + 1) % SEEN_MAX;
    return true;
}

static bool is_of_now(const saratoga__auth *a, uint64_t then, uint64_t now) {
    uint64_t off = then > now ? then - now : now - then;
    return off <= a->window;
}

enum saratoga__verdict saratoga__auth_judge(saratoga__auth *a,
                                            const uint8_t *packet, size_t len,
                                            const uint8_t *field,
                                            size_t field_len, uint64_t time) {
    cmn__reader r = cmn__reader_of(field, field_len);
    saratoga__auth_seen s;
    uint8_t expected[MAC_LEN];
    if (field_len != SARATOGA__AUTH_LEN || cmn__get8(&r) != FORMAT) {
        return SARATOGA__FORGED;
    }
    s.time = cmn__get64(&r);
    s.nonce = cmn__get64(&r);
    if (!mac(a, packet, len, field, expected) ||
        !saratoga__equal(expected, field + HEAD_LEN, MAC_LEN) ||
        !is_of_now(a, s.time, time)) {
        return SARATOGA__FORGED;
    }
    if (was_seen(a, &s)) {
        return SARATOGA__REPLAYED;
    }
    return auth_remember(a, &s) ? SARATOGA__GENUINE : SARATOGA__FORGED;
}

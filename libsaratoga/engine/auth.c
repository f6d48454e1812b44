/* SPDX-License-Identifier: MPL-2.0 */
/* Writes and checks authentication fields. */
#include "libsaratoga/engine/auth.h"

#include <string.h>

#include "internal/common/wire.h"
#include "libsaratoga/engine/digest.h"

#define TIMED 1
#define BOUND 2
#define MAC_LEN ((size_t)32)
#define SEEN_MAX 4096u

static const char timed_label[] = "saratoga request 1";
static const char bound_label[] = "saratoga request 2";

void saratoga__auth_init(saratoga__auth *a, const cmn__mem *mem,
                         const saratoga_config *c, uint64_t time) {
    *a = (saratoga__auth){.mem = mem,
                          .key_len = c->auth_key_len,
                          .window = c->auth_window,
                          .timed = {.floor = time > 0 ? time - 1 : 0}};
    if (a->key_len > 0) {
        memcpy(a->key, c->auth_key, a->key_len);
    }
}

void saratoga__auth_free(saratoga__auth *a) {
    cmn__free(a->mem, a->timed.seen);
    cmn__free(a->mem, a->bound.seen);
    saratoga__wipe(a->key, sizeof(a->key));
    a->timed.seen = NULL;
    a->bound.seen = NULL;
}

/* --- The HMAC ------------------------------------------------------------ */

/* Over the packet and the field in front of the HMAC. */
static bool auth_mac(const saratoga__auth *a, const saratoga__signed *s,
                     uint8_t *out) {
    const char *label = s->field[0] == BOUND ? bound_label : timed_label;
    uint8_t length[4];
    cmn__writer w = cmn__writer_of(length, sizeof(length));
    saratoga_digest *d =
        saratoga_digest_new_keyed(SARATOGA_HMAC_SHA256, a->key, a->key_len);
    bool good = d != NULL;

    cmn__put32(&w, (uint32_t)s->len);
    good = good && saratoga_digest_update(d, label, sizeof(timed_label)) == 0 &&
           saratoga_digest_update(d, length, sizeof(length)) == 0 &&
           saratoga_digest_update(d, s->packet, s->len) == 0 &&
           saratoga_digest_update(d, s->field, s->field_len - MAC_LEN) == 0 &&
           saratoga_digest_final(d, out) == 0;
    saratoga_digest_free(d);
    return good;
}

/* Completes a field. */
static void auth_seal(const saratoga__auth *a, const uint8_t *packet,
                      size_t len, uint8_t *field, size_t field_len) {
    const saratoga__signed s = {packet, len, field, field_len};
    uint8_t *out = field + field_len - MAC_LEN;

    if (!auth_mac(a, &s, out)) {
        memset(out, 0, MAC_LEN); /* will be refused */
    }
}

static bool auth_is_genuine(const saratoga__auth *a,
                            const saratoga__signed *s) {
    uint8_t expected[MAC_LEN];

    return auth_mac(a, s, expected) &&
           saratoga__equal(expected, s->field + s->field_len - MAC_LEN,
                           MAC_LEN);
}

/* --- What was accepted --------------------------------------------------- */

static bool was_seen(const saratoga__auth_memory *m,
                     const saratoga__auth_seen *s) {
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->seen[i].time == s->time && m->seen[i].nonce == s->nonce) {
            return true;
        }
    }
    return false;
}

/* False without memory: better to refuse than to forget. */
static bool auth_remember(saratoga__auth_memory *m, const cmn__mem *mem,
                          const saratoga__auth_seen *s) {
    if (m->seen == NULL) {
        m->seen = cmn__resize(mem, NULL, SEEN_MAX * sizeof(*m->seen));
    }
    if (m->seen == NULL) {
        return false;
    }
    if (m->count == SEEN_MAX) {
        uint64_t old = m->seen[m->next].time;
        m->floor = old > m->floor ? old : m->floor;
    } else {
        m->count++;
    }
    m->seen[m->next] = *s;
    m->next = (m->next + 1) % SEEN_MAX;
    return true;
}

/* --- Bound to the time --------------------------------------------------- */

void saratoga__auth_write(const saratoga__auth *a, const uint8_t *packet,
                          size_t len, uint64_t time, cmn__rng *rng,
                          uint8_t *out) {
    cmn__writer w = cmn__writer_of(out, SARATOGA__AUTH_LEN);

    cmn__put8(&w, TIMED);
    cmn__put64(&w, time);
    cmn__put64(&w, cmn__rng_next(rng));
    auth_seal(a, packet, len, out, SARATOGA__AUTH_LEN);
}

static bool is_of_now(const saratoga__auth *a, uint64_t then, uint64_t now) {
    uint64_t off = then > now ? then - now : now - then;

    return off <= a->window;
}

enum saratoga__verdict saratoga__auth_judge(saratoga__auth *a,
                                            const saratoga__signed *s,
                                            uint64_t time) {
    cmn__reader r = cmn__reader_of(s->field, s->field_len);
    saratoga__auth_seen seen;

    if (s->field_len != SARATOGA__AUTH_LEN || cmn__get8(&r) != TIMED) {
        return SARATOGA__FORGED;
    }
    seen.time = cmn__get64(&r);
    seen.nonce = cmn__get64(&r);
    if (!auth_is_genuine(a, s) || !is_of_now(a, seen.time, time)) {
        return SARATOGA__FORGED;
    }
    if (seen.time <= a->timed.floor || was_seen(&a->timed, &seen)) {
        return SARATOGA__REPLAYED;
    }
    return auth_remember(&a->timed, a->mem, &seen) ? SARATOGA__GENUINE
                                                   : SARATOGA__FORGED;
}

/* --- Bound to a challenge ------------------------------------------------ */

void saratoga__auth_bind(const saratoga__auth *a, const uint8_t *packet,
                         size_t len, const saratoga__challenge *c,
                         cmn__rng *rng, uint8_t *out) {
    cmn__writer w = cmn__writer_of(out, SARATOGA__BOUND_LEN);

    cmn__put8(&w, BOUND);
    cmn__put32(&w, c->id);
    cmn__put_bytes(&w, c->timestamp, sizeof(c->timestamp));
    cmn__put64(&w, cmn__rng_next(rng));
    auth_seal(a, packet, len, out, SARATOGA__BOUND_LEN);
}

bool saratoga__auth_is_bound(const saratoga__auth *a, const saratoga__signed *s,
                             saratoga__challenge *c, uint64_t *nonce) {
    cmn__reader r = cmn__reader_of(s->field, s->field_len);

    if (s->field_len != SARATOGA__BOUND_LEN || cmn__get8(&r) != BOUND) {
        return false;
    }
    c->id = cmn__get32(&r);
    memcpy(c->timestamp, cmn__get_bytes(&r, sizeof(c->timestamp)),
           sizeof(c->timestamp));
    *nonce = cmn__get64(&r);
    return auth_is_genuine(a, s);
}

enum saratoga__verdict saratoga__auth_spend(saratoga__auth *a, uint64_t time,
                                            uint64_t nonce) {
    const saratoga__auth_seen seen = {time, nonce};

    if (was_seen(&a->bound, &seen)) {
        return SARATOGA__REPLAYED;
    }
    if (a->bound.count == SEEN_MAX && seen.time <= a->bound.floor) {
        return SARATOGA__UNBOUND; /* perhaps forgotten: a newer one, please */
    }
    return auth_remember(&a->bound, a->mem, &seen) ? SARATOGA__GENUINE
                                                   : SARATOGA__FORGED;
}

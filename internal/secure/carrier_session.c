/* SPDX-License-Identifier: MPL-2.0 */
/* Open sessions. */
#include <string.h>

#include "internal/secure/carrier_impl.h"

/* Both sides drop a session after this silence. */
#define IDLE_LIFE (SEC__S * 600)
/* Lifetime of a replaced session: the peer may still use it. */
#define REPLACED_LIFE (SEC__S * 60)
/* After sending this long without an answer, the peer may be gone or have lost
 * the session. */
#define DOUBT SEC__S
#define PATIENCE (SEC__S * 3)
#define CHALLENGE_EVERY SEC__S

/* --- Sealing ------------------------------------------------------------- */

static void forget_soon(sec__carrier *c, sec__session *s) {
    s->replaced = true;
    s->over = true;
    sec__session_arm(c, s, 0);
}

size_t sec__session_seal(sec__carrier *c, sec__session *s, uint8_t kind,
                         const uint8_t *text, size_t len, uint8_t *buf) {
    const sec__packet p = {.type =
                               (uint8_t)(SEC__SHORT | sec__seal_phase(s->seal)),
                           .dcid = s->peer_id,
                           .pn = (uint32_t)s->pn};
    cmn__writer w = cmn__writer_of(buf, SEC__CARRIER_OVERHEAD + len);
    sec__packet_put(&w, &p);
    cmn__put8(&w, kind);
    cmn__put_bytes(&w, text, len);
    if (!sec__seal_close(s->seal, s->pn++, buf, SEC__SHORT_LEN,
                         buf + SEC__SHORT_LEN, 1 + len)) {
        forget_soon(c, s); /* its keys are used up: the next use makes a new
                              call */
        c->stats.lost++;
        return 0;
    }
    return SEC__CARRIER_OVERHEAD + len;
}

static size_t carrier_session_put_number(sec__carrier *c, sec__session *s,
                                         uint8_t kind, uint64_t number,
                                         uint8_t *buf) {
    uint8_t text[8];
    cmn__writer w = cmn__writer_of(text, sizeof(text));
    cmn__put64(&w, number);
    return sec__session_seal(c, s, kind, text, sizeof(text), buf);
}

static size_t put_kept(sec__carrier *c, sec__session *s, uint8_t *buf,
                       size_t cap) {
    sec__kept *k = s->kept;
    size_t len = 0;
    if (k->len + SEC__CARRIER_OVERHEAD <= cap) {
        len = sec__session_seal(c, s, SEC__KIND_CARGO, k->data, k->len, buf);
    }
    s->kept = k->next;
    if (s->kept == NULL) {
        s->kept_end = &s->kept;
    }
    cmn__free(&c->mem, k);
    return len;
}

static size_t put_challenge(sec__carrier *c, sec__session *s, uint8_t *buf,
                            uint64_t *path, uint64_t now) {
    s->challenge_at = now;
    *path = s->challenge_path;
    return carrier_session_put_number(c, s, SEC__KIND_CHALLENGE, s->challenge,
                                      buf);
}

size_t sec__session_put(sec__carrier *c, sec__session *s, uint8_t *buf,
                        size_t cap, uint64_t *path, uint64_t now) {
    if (s->state != SEC__OPEN) {
        s->want = 0;
        return 0;
    }
    if ((s->want & SEC__WANT_CHALLENGE) != 0) {
        s->want &= (uint8_t)~SEC__WANT_CHALLENGE;
        return put_challenge(c, s, buf, path, now);
    }
    if ((s->want & SEC__WANT_RESPONSE) != 0) {
        s->want &= (uint8_t)~SEC__WANT_RESPONSE;
        *path = s->response_path;
        return carrier_session_put_number(c, s, SEC__KIND_RESPONSE, s->response,
                                          buf);
    }
    if ((s->want & SEC__WANT_BYE) != 0) {
        s->want = 0;
        sec__session_drop_kept(c, s);
        forget_soon(c, s);
        return sec__session_seal(c, s, SEC__KIND_BYE, NULL, 0, buf);
    }
    return s->kept != NULL ? put_kept(c, s, buf, cap) : 0;
}

/* --- Challenges ---------------------------------------------------------- */

static void challenge(sec__carrier *c, sec__session *s, uint64_t path,
                      uint64_t now) {
    if (s->challenge == 0 || s->challenge_path != path) {
        s->challenge = sec__secret_next(&c->secret);
        s->challenge_path = path;
        s->challenge_pn = s->pn;
    } else if (now - s->challenge_at < CHALLENGE_EVERY) {
        return;
    }
    s->challenge_at = now;
    s->want |= SEC__WANT_CHALLENGE;
    sec__session_ready(c, s);
}

static void on_response(sec__session *s, uint64_t nonce) {
    if (s->challenge == 0 || nonce != s->challenge) {
        return;
    }
    s->challenge = 0;
    s->at = s->challenge_path;
    sec__seal_on_acked(s->seal, s->challenge_pn);
}

bool sec__session_on_use(sec__carrier *c, sec__session *s, uint64_t now) {
    if (sec__seal_waits(s->seal)) {
        challenge(c, s, s->at, now);
    }
    if (s->unheard_since == 0) {
        s->unheard_since = now;
        return false;
    }
    if (now - s->unheard_since >= DOUBT) {
        challenge(c, s, s->at, now);
    }
    return now - s->unheard_since >= PATIENCE;
}

/* --- Opening ------------------------------------------------------------- */

void sec__session_open(sec__carrier *c, sec__session *s, uint64_t now) {
    sec__session *old = sec__session_of_path(c, s->peer.path, SEC__OPEN);
    if (old != NULL) {
        old->replaced = true;
        sec__session_arm(c, old, now);
    }
    s->state = SEC__OPEN;
    s->heard = now;
    s->want = 0;
    sec__hello_free(s->hello, &c->mem);
    s->hello = NULL;
    c->stats.opened++;
    sec__session_to_front(c, s);
    sec__session_arm(c, s, now + IDLE_LIFE);
    /* Confirms to the listener that the session is open. */
    if (s->caller && s->kept == NULL) {
        challenge(c, s, s->at, now);
    }
    sec__session_ready(c, s);
}

/* A peer that answers needs no second call. */
static void on_heard(sec__carrier *c, sec__session *s, uint64_t now) {
    s->heard = now;
    if (s->unheard_since != 0 && now - s->unheard_since >= PATIENCE) {
        sec__session *call =
            sec__session_of_path(c, s->peer.path, SEC__CALLING);
        if (call != NULL && !s->replaced) {
            sec__session_free(c, call);
        }
    }
    s->unheard_since = 0;
    if (s->state == SEC__HALF_OPEN) {
        sec__admission_on_proven(&c->admission, &s->peer.origin);
        sec__session_open(c, s, now);
    }
}

static enum sec__carried on_text(sec__carrier *c, sec__session *s,
                                 const sec__place *from, size_t len,
                                 sec__delivery *out) {
    cmn__reader r = cmn__reader_of(c->plain, len);
    switch (cmn__get8(&r)) {
    case SEC__KIND_CARGO:
        out->cargo = r.p;
        out->len = cmn__reader_left(&r);
        out->from = s->peer;
        return SEC__CARGO;
    case SEC__KIND_CHALLENGE:
        s->response = cmn__get64(&r);
        s->response_path = from->path;
        if (!r.bad) {
            s->want |= SEC__WANT_RESPONSE;
            sec__session_ready(c, s);
        }
        break;
    case SEC__KIND_RESPONSE:
        on_response(s, cmn__get64(&r));
        break;
    case SEC__KIND_BYE:
        sec__session_free(c, s);
        break;
    default: /* from a later version */
        break;
    }
    return SEC__TAKEN;
}

static enum sec__carried on_forged(sec__carrier *c, sec__session *s) {
    c->stats.forged++;
    if (++s->forged >= SEC__FORGED_MAX) {
        sec__session_free(c, s);
    }
    return SEC__NOTHING;
}

enum sec__carried sec__session_take(sec__carrier *c, const sec__place *from,
                                    const uint8_t *dgram, size_t len,
                                    sec__delivery *out, uint64_t now) {
    sec__packet p;
    sec__session *s = NULL;
    uint64_t pn;
    if (len <= c->max_datagram && sec__packet_parse_sealed(dgram, len, &p)) {
        s = sec__session_of_id(c, p.dcid);
    }
    if (s == NULL || s->seal == NULL) {
        c->stats.foreign++;
        return SEC__NOTHING;
    }
    pn = cmn__widen(p.pn, s->replay.top);
    if (!sec__replay_fresh(&s->replay, pn)) {
        c->stats.repeated++;
        return SEC__NOTHING;
    }
    if (!sec__seal_open(s->seal, p.type & SEC__PHASE, pn, dgram, SEC__SHORT_LEN,
                        p.body, p.body_len, c->plain)) {
        return on_forged(c, s);
    }
    if (sec__replay_mark(&s->replay, pn) && from->path != s->at) {
        challenge(c, s, from->path, now);
    }
    on_heard(c, s, now);
    return on_text(c, s, from, p.body_len - SEC__TAG_LEN, out);
}

void sec__session_on_timeout(sec__carrier *c, sec__session *s, uint64_t now) {
    uint64_t life = s->replaced ? REPLACED_LIFE : IDLE_LIFE;
    if (s->state == SEC__OPEN && !s->over && now - s->heard < life) {
        sec__session_arm(c, s, s->heard + life);
    } else {
        sec__session_free(c, s);
    }
}

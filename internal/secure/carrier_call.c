/* SPDX-License-Identifier: MPL-2.0 */
/* Session setup. */
#include <string.h>

#include "internal/secure/carrier_impl.h"

#define FIRST_WAIT (SEC__S * 2 / 5)
#define LONGEST_WAIT (SEC__S * 15)
/* Lifetime of a call without queued data. */
#define CALL_LIFE (SEC__S * 90)
/* Time for the caller's first packet to arrive. */
#define HALF_OPEN_LIFE (SEC__S * 30)
#define REFUSED_LIFE (SEC__S * 5)
#define RETRIES_MAX 8

static bool seal_with(sec__carrier *c, sec__session *s) {
    s->seal =
        sec__hello_seal(s->hello, &c->mem, s->caller, 0, c->rekey_packets);
    return s->seal != NULL;
}

/* --- Calling ------------------------------------------------------------- */

sec__session *sec__call(sec__carrier *c, const sec__place *to, uint64_t at,
                        uint64_t now) {
    sec__session *s = sec__session_of_path(c, to->path, SEC__CALLING);
    if (s == NULL) {
        s = sec__session_of_path(c, to->path, SEC__REFUSED_CALL);
    }
    if (s != NULL || c->own == NULL) {
        return s;
    }
    s = sec__session_new(c, to, now);
    if (s == NULL) {
        return NULL;
    }
    s->caller = true;
    s->at = at;
    s->begun = now;
    s->hello = cmn__alloc(&c->mem, sizeof(*s->hello));
    if (s->hello == NULL) {
        sec__session_free(c, s);
        return NULL;
    }
    s->want = SEC__WANT_CALL;
    sec__session_ready(c, s);
    return s;
}

static uint64_t wait_of(const sec__session *s) {
    uint64_t wait = FIRST_WAIT << (s->tries < 6 ? s->tries : 6);
    return wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
}

size_t sec__call_put(sec__carrier *c, sec__session *s, uint8_t *buf,
                     uint64_t now) {
    bool call = (s->want & SEC__WANT_CALL) != 0;
    const sec__packet p = {.type = call ? SEC__INITIAL : SEC__ANSWER,
                           .version = c->version,
                           .dcid = s->peer_id,
                           .scid = s->id,
                           .pn = call ? s->tries : 0,
                           .token = s->token,
                           .token_len = s->token_len};
    cmn__writer w = cmn__writer_of(buf, SEC__DATAGRAM_MIN);
    sec__packet_put(&w, &p);
    sec__hello_put(&w, s->hello);
    s->want = 0;
    if (call) {
        size_t room = cmn__writer_left(&w) - SEC__CHECK_LEN;
        memset(w.p, 0, room);
        w.p += room;
        sec__session_arm(c, s, now + wait_of(s));
        s->tries++;
    }
    sec__packet_seal(&w, buf);
    return (size_t)(w.p - buf);
}

void sec__call_on_timeout(sec__carrier *c, sec__session *s, uint64_t now) {
    if (now - s->begun >= CALL_LIFE) {
        sec__session_free(c, s);
        return;
    }
    s->due = UINT64_MAX;
    s->want = SEC__WANT_CALL;
    sec__session_ready(c, s);
}

/* --- What comes back ----------------------------------------------------- */

static enum sec__carried on_answer(sec__carrier *c, sec__session *s,
                                   const sec__packet *p, uint64_t now) {
    uint8_t payload[SEC__HELLO_MAX];
    sec__hello_msg m;
    size_t len;
    if (p->scid == 0 || !sec__hello_get(p, &m) ||
        !sec__hello_take_answer(s->hello, &m, p->scid, payload, &len)) {
        c->stats.forged++;
        return SEC__NOTHING;
    }
    s->peer_id = p->scid;
    if (!seal_with(c, s)) {
        sec__session_free(c, s);
        return SEC__NOTHING;
    }
    sec__session_open(c, s, now);
    return SEC__TAKEN;
}

/* Makes the first message for that offer. */
static bool make_call(sec__carrier *c, sec__session *s, const sec__packet *p,
                      const sec__offer *o) {
    const sec__terms t = {.version = c->version,
                          .caller_id = s->id,
                          .token = p->token,
                          .token_len = p->token_len,
                          .salt = o->salt,
                          .public_key = o->public_key,
                          .statics = sec__caller_statics(c->own)};
    const sec__key *key = sec__caller_key(c->own, o->salt);
    uint8_t e[SEC__SEED_LEN];
    bool ok = key != NULL && sec__secret_ephemeral(&c->secret, e) &&
              sec__hello_call(s->hello, &t, key, e, NULL, 0);
    sec__wipe(e, sizeof(e));
    s->hello->first_pn = s->tries;
    return ok;
}

/* Whether the driver must make a key before the offer can be followed.  One key
 * is made at a time; calls that need another ask for an offer again. */
static bool must_wait(sec__carrier *c, sec__session *s, const sec__offer *o) {
    if (!c->defers_keys || sec__caller_knows(c->own, o->salt)) {
        return false;
    }
    s->awaits_key = true;
    if (!c->wants_key && !c->makes_key) {
        c->wants_key = true;
        memcpy(c->salt_wanted, o->salt, sizeof(c->salt_wanted));
        s->retries++;
    }
    return true;
}

static enum sec__carried on_retry(sec__carrier *c, sec__session *s,
                                  const sec__packet *p) {
    sec__offer o;
    if (s->retries >= RETRIES_MAX || !sec__offer_get(p, &o) ||
        !sec__hello_is_answered(s->hello, &o)) {
        return SEC__NOTHING;
    }
    if (must_wait(c, s, &o)) {
        return SEC__TAKEN;
    }
    s->retries++;
    s->token_len = 0;
    if (make_call(c, s, p, &o)) {
        memcpy(s->token, p->token, p->token_len);
        s->token_len = p->token_len;
    }
    s->want = SEC__WANT_CALL;
    sec__session_ready(c, s);
    return SEC__TAKEN;
}

static void end_call(sec__carrier *c, sec__session *s, uint32_t why,
                     uint64_t now) {
    s->state = SEC__REFUSED_CALL;
    s->want = 0;
    sec__session_drop_kept(c, s);
    sec__session_arm(c, s, now + REFUSED_LIFE);
    if (c->n_refused < SEC__REFUSALS) {
        c->refused[c->n_refused++] = (sec__refused){s->peer, why};
    }
}

static enum sec__carried on_reject(sec__carrier *c, sec__session *s,
                                   const sec__packet *p, uint64_t now) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    uint32_t why = cmn__get32(&r);
    if (why != SEC__WRONG_KEY && why != SEC__FULL && why != SEC__REFUSED) {
        return SEC__NOTHING;
    }
    end_call(c, s, why, now);
    return SEC__TAKEN;
}

/* If our version is listed, the listener would have answered: the packet is
 * forged. */
static enum sec__carried on_versions(sec__carrier *c, sec__session *s,
                                     const sec__packet *p, uint64_t now) {
    cmn__reader r = cmn__reader_of(p->body, p->body_len);
    bool any = false;
    while (cmn__reader_left(&r) >= sizeof(uint32_t)) {
        any = true;
        if (cmn__get32(&r) == c->version) {
            return SEC__NOTHING;
        }
    }
    if (!any) {
        return SEC__NOTHING;
    }
    end_call(c, s, SEC__OTHER_VERSION, now);
    return SEC__TAKEN;
}

/* --- Being called -------------------------------------------------------- */

/* Callers that have shown an address and a key, but were not heard since, have
 * half of the places at most; beyond that, a random one is dropped. An honest
 * caller needs its place only for a round trip. */
static void make_room(sec__carrier *c) {
    sec__session *s;
    if (c->admission.half_open * 2 < c->admission.limits.max) {
        return;
    }
    s = sec__session_half_open(c, sec__secret_next(&c->secret));
    if (s != NULL) {
        sec__session_free(c, s);
    }
}

static void let_in(sec__carrier *c, sec__session *s, uint64_t now) {
    s->state = SEC__HALF_OPEN;
    s->want = SEC__WANT_ANSWER;
    sec__session_ready(c, s);
    sec__session_arm(c, s, now + HALF_OPEN_LIFE);
}

static enum sec__carried admit(sec__carrier *c, const sec__place *from,
                               const sec__packet *p, sec__delivery *out,
                               uint64_t now) {
    uint8_t payload[SEC__HELLO_MAX];
    sec__hello *h = cmn__alloc(&c->mem, sizeof(*h));
    enum sec__hello_result result = SEC__HELLO_NOMEM;
    sec__admitted who = {
        .p = p,
        .path = from->path,
        .now = now,
        .ring = {.keys = c->keys, .n = c->n_keys, .source = &c->secret}};
    sec__session *s;
    size_t len;
    if (h != NULL) {
        result =
            sec__admission_find_keys(&c->admission, &who)
                ? sec__admission_open(&c->admission, &who, h, payload, &len)
                : SEC__HELLO_WRONG;
    }
    if (result == SEC__HELLO_FINE) {
        make_room(c);
    }
    s = result == SEC__HELLO_FINE ? sec__session_new(c, from, now) : NULL;
    if (s == NULL) {
        sec__hello_free(h, &c->mem);
        if (result != SEC__HELLO_WRONG && result != SEC__HELLO_FORGED) {
            return SEC__NOTHING; /* no memory: the caller will try again */
        }
        sec__admission_on_rejected(&c->admission, now);
        out->len = sec__refuse(p, SEC__WRONG_KEY, out->word);
        return SEC__ANSWERED;
    }
    s->hello = h;
    s->peer_id = p->scid;
    if (!sec__hello_answer(h, s->id, NULL, 0) || !seal_with(c, s) ||
        sec__admission_enter(&c->admission, &from->origin) != 0) {
        sec__session_free(c, s);
        return SEC__NOTHING;
    }
    s->admitted = true;
    if (!sec__admission_spend(&c->admission, p, now)) {
        sec__session_free(c, s);
        return SEC__NOTHING;
    }
    let_in(c, s, now);
    return SEC__TAKEN;
}

static enum sec__carried on_call(sec__carrier *c, const sec__place *from,
                                 const sec__packet *p, sec__delivery *out,
                                 uint64_t now) {
    sec__session *s = sec__session_of_caller(c, from->path, p->scid);
    uint32_t why;
    if (sec__session_of_id(c, p->scid) != NULL) {
        c->stats.foreign++; /* our own call, reflected */
        return SEC__NOTHING;
    }
    if (s != NULL) {
        if (s->state == SEC__HALF_OPEN) { /* our answer was lost or is late */
            s->want = SEC__WANT_ANSWER;
            sec__session_ready(c, s);
        }
        return SEC__TAKEN;
    }
    switch (sec__admission_judge(&c->admission, p, from->path, &from->origin,
                                 now, &why)) {
    case SEC__ASK:
        out->len = sec__admission_ask(&c->admission, &c->secret, p, from->path,
                                      now, out->word);
        return SEC__ANSWERED;
    case SEC__TURN_AWAY:
        out->len = why != 0 ? sec__refuse(p, why, out->word) : 0;
        return why != 0 ? SEC__ANSWERED : SEC__NOTHING;
    default:
        return admit(c, from, p, out, now);
    }
}

/* Whether it is another version of the same protocol: its number differs in the
 * low half. */
static bool is_other_version(const sec__carrier *c, const sec__packet *p) {
    return p->version != c->version && p->version >> 16 == c->version >> 16 &&
           p->scid != 0;
}

static enum sec__carried take_reply(sec__carrier *c, const sec__packet *p,
                                    uint64_t now) {
    sec__session *s = sec__session_of_id(c, p->dcid);
    if (s == NULL || s->state != SEC__CALLING) {
        c->stats.foreign++;
        return SEC__NOTHING;
    }
    switch (p->type) {
    case SEC__ANSWER:
        return on_answer(c, s, p, now);
    case SEC__RETRY:
        return on_retry(c, s, p);
    case SEC__REJECT:
        return on_reject(c, s, p, now);
    case SEC__VERSIONS:
        return on_versions(c, s, p, now);
    default:
        return SEC__NOTHING;
    }
}

enum sec__carried sec__call_take(sec__carrier *c, const sec__place *from,
                                 const uint8_t *dgram, size_t len,
                                 sec__delivery *out, uint64_t now) {
    sec__packet p;
    bool initial = len > 0 && dgram[0] == SEC__INITIAL;
    /* the length first: it is the cheapest check */
    if ((initial && len < SEC__DATAGRAM_MIN) ||
        !sec__packet_parse(dgram, len, &p)) {
        c->stats.foreign++;
        return SEC__NOTHING;
    }
    if (initial && is_other_version(c, &p)) {
        out->len = sec__list_version(&p, c->version, out->word);
        return SEC__ANSWERED;
    }
    if (p.version != (p.type == SEC__VERSIONS ? 0 : c->version) ||
        (initial && p.scid == 0)) {
        c->stats.foreign++;
        return SEC__NOTHING;
    }
    return initial ? on_call(c, from, &p, out, now) : take_reply(c, &p, now);
}

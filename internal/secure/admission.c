/* SPDX-License-Identifier: MPL-2.0 */
/* Decides which callers a listener answers, challenges or rejects. */
#include "internal/secure/admission.h"

#include <string.h>

#define REFUSALS_A_SECOND 1000u
#define TELL_EVERY SEC__S /* a flood must not fill the disk with logs */

bool sec__admission_init(sec__admission *a, const cmn__mem *mem,
                         const sec__limits *limits, sec__secret *secret,
                         uint64_t now) {
    uint8_t random[SEC__SEED_LEN];
    bool ok = sec__secret_derive(secret, random);

    *a = (sec__admission){.mem = mem, .limits = *limits};
    memcpy(a->salt, random, sizeof(a->salt));
    sec__origins_init(&a->origins, mem);
    sec__tokens_init(&a->tokens, secret, limits->secured, now);
    return ok;
}

void sec__admission_free(sec__admission *a) {
    sec__origins_free(&a->origins);
    sec__tokens_clear(&a->tokens, a->mem);
}

static void tell(sec__admission *a, const char *name, const char *key,
                 uint64_t count, const char *why, uint64_t now) {
    if (a->limits.tell != NULL &&
        (a->told_at == 0 || now - a->told_at >= TELL_EVERY)) {
        a->told_at = now;
        a->limits.tell(a->limits.user, name, key, count, why, now);
    }
}

void sec__admission_on_rejected(sec__admission *a, uint64_t now) {
    a->rejected++;
    tell(a, "security:caller_rejected", "callers_rejected", a->rejected,
         "wrong key, or none", now);
}

/* Some 30 ms of a core's second, and 3 ms for one network. */
#define STRANGERS_MAX 256u
#define STRANGERS_MAX_OF 24u

bool sec__admission_hears(sec__admission *a, uint64_t network, uint64_t now) {
    sec__strangers *s = &a->strangers;

    if (now - s->since >= SEC__S) {
        *s = (sec__strangers){.since = now};
    }
    return s->of[network % SEC__STRANGERS_SLOTS] <
           (s->all < STRANGERS_MAX ? STRANGERS_MAX_OF : 1u);
}

void sec__admission_on_stranger(sec__admission *a, uint64_t network,
                                uint64_t now) {
    a->strangers.all++;
    a->strangers.of[network % SEC__STRANGERS_SLOTS]++;
    a->rejected++;
    tell(a, "security:caller_rejected", "callers_rejected", a->rejected,
         "static key not welcome", now);
}

/* 0: there is room. */
static uint32_t no_room(const sec__admission *a, const sec__origin *from) {
    if (a->count >= a->limits.max) {
        return SEC__FULL;
    }
    return sec__origins_are_full(&a->origins, from, a->limits.max_of_network,
                                 a->limits.max)
               ? SEC__REFUSED
               : 0;
}

bool sec__admission_has_room(const sec__admission *a, const sec__origin *from) {
    return no_room(a, from) == 0;
}

static bool must_prove(const sec__admission *a, const sec__origin *from) {
    return a->limits.careful || a->limits.secured ||
           a->half_open >= a->limits.max_half_open ||
           sec__origins_are_half_open(&a->origins, from,
                                      a->limits.max_half_open_of,
                                      a->limits.max_half_open);
}

/* Limits rejections per second; enough for legitimate callers. */
static bool may_refuse(sec__admission *a, uint64_t now) {
    if (now - a->second >= SEC__S) {
        a->second = now;
        a->refusals = 0;
    }
    return a->refusals++ < REFUSALS_A_SECOND;
}

static const sec__token_keys *keys_of_token(const sec__admission *a,
                                            const sec__packet *p, uint64_t path,
                                            uint64_t now) {
    const sec__bearer from = {.path = path, .id = p->scid};

    return sec__tokens_keys(&a->tokens, &from, now, p->token, p->token_len);
}

enum sec__verdict sec__admission_judge(sec__admission *a, const sec__packet *p,
                                       uint64_t path, const sec__origin *from,
                                       uint64_t now, uint32_t *why) {
    *why = no_room(a, from);
    if (*why != 0) {
        a->turned_away++;
        tell(a, "security:caller_turned_away", "callers_turned_away",
             a->turned_away,
             *why == SEC__FULL ? "max_connections" : "max_per_address", now);
        *why = may_refuse(a, now) ? *why : 0;
        return SEC__TURN_AWAY;
    }
    if (!must_prove(a, from) || keys_of_token(a, p, path, now) != NULL) {
        return SEC__ADMIT;
    }
    a->retried++;
    return SEC__ASK;
}

bool sec__admission_find_keys(const sec__admission *a, sec__admitted *who) {
    const sec__token_keys *k = keys_of_token(a, who->p, who->path, who->now);

    if (k == NULL) {
        return false;
    }
    memcpy(who->secret, k->secret, sizeof(who->secret));
    memcpy(who->public_key, k->public_key, sizeof(who->public_key));
    return true;
}

enum sec__hello_result sec__admission_open(const sec__admission *a,
                                           sec__admitted *who, sec__hello *h,
                                           uint8_t *payload, size_t *len) {
    enum sec__hello_result result = SEC__HELLO_WRONG;
    const sec__packet *p = who->p;
    sec__terms t = {.version = p->version,
                    .caller_id = p->scid,
                    .token = p->token,
                    .token_len = p->token_len,
                    .salt = a->salt};
    sec__hello_msg m;

    t.public_key = who->public_key;
    t.statics = who->ring.statics;
    who->ring.secret = who->secret;
    if (sec__hello_get(p, &m)) {
        result = sec__hello_take_call(h, &m, &t, &who->ring, payload, len);
    }
    sec__wipe(who->secret, sizeof(who->secret));
    return result;
}

bool sec__admission_spend(sec__admission *a, const sec__packet *p,
                          uint64_t now) {
    return sec__tokens_spend(&a->tokens, a->mem, p->token, now);
}

int sec__admission_enter(sec__admission *a, const sec__origin *from) {
    if (sec__origins_enter(&a->origins, from) != 0) {
        return -1;
    }
    a->count++;
    a->half_open++;
    return 0;
}

void sec__admission_on_proven(sec__admission *a, const sec__origin *from) {
    a->half_open--;
    sec__origins_on_proven(&a->origins, from);
}

void sec__admission_leave(sec__admission *a, const sec__origin *from,
                          bool proven) {
    a->count--;
    a->half_open -= proven ? 0 : 1;
    sec__origins_leave(&a->origins, from, proven);
}

static size_t end_packet(cmn__writer *w, const uint8_t *out) {
    sec__packet_seal(w, out);
    return (size_t)(w->p - out);
}

size_t sec__admission_ask(sec__admission *a, sec__secret *secret,
                          const sec__packet *p, uint64_t path, uint64_t now,
                          uint8_t *out) {
    const sec__bearer to = {.path = path, .id = p->scid};
    uint8_t token[SEC__TOKEN_LEN];
    const sec__packet retry = {.type = SEC__RETRY,
                               .version = p->version,
                               .dcid = p->scid,
                               .token = token,
                               .token_len = sizeof(token)};
    sec__offer offer = {.pn = p->pn};
    cmn__writer w = cmn__writer_of(out, SEC__WORD_MAX);

    sec__tokens_make(&a->tokens, secret, &to, now, token);
    sec__packet_put(&w, &retry);
    if (a->limits.secured) {
        memcpy(offer.salt, a->salt, sizeof(offer.salt));
        memcpy(offer.public_key, a->tokens.now.public_key,
               sizeof(offer.public_key));
        sec__offer_put(&w, &offer);
    }
    return end_packet(&w, out);
}

size_t sec__refuse(const sec__packet *p, uint32_t why, uint8_t *out) {
    const sec__packet reject = {
        .type = SEC__REJECT, .version = p->version, .dcid = p->scid};
    cmn__writer w = cmn__writer_of(out, SEC__WORD_MAX);
    sec__packet_put(&w, &reject);
    cmn__put32(&w, why);
    return end_packet(&w, out);
}

size_t sec__list_version(const sec__packet *p, uint32_t version, uint8_t *out) {
    const sec__packet list = {.type = SEC__VERSIONS, .dcid = p->scid};
    cmn__writer w = cmn__writer_of(out, SEC__WORD_MAX);

    sec__packet_put(&w, &list);
    cmn__put32(&w, version);
    return end_packet(&w, out);
}

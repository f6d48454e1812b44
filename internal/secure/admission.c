/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/secure/admission.h"

#define REFUSALS_A_SECOND 1000u
#define TELL_EVERY SEC__S /* a flood must not fill a disk */

void sec__admission_init(sec__admission *a, const cmn__mem *mem,
                         const sec__limits *limits, sec__secret *secret,
                         uint64_t now) {
    *a = (sec__admission){.limits = *limits};
    cmn__tally_init(&a->of_network, mem);
    cmn__tally_init(&a->half_open_of, mem);
    sec__tokens_init(&a->tokens, secret, now);
}

void sec__admission_free(sec__admission *a) {
    cmn__tally_free(&a->of_network);
    cmn__tally_free(&a->half_open_of);
    sec__tokens_clear(&a->tokens);
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

/* 0: there is room. */
static uint32_t no_room(const sec__admission *a, uint64_t network) {
    if (a->count >= a->limits.max) {
        return SEC__FULL;
    }
    return network != 0 && cmn__tally_get(&a->of_network, network) >=
                               a->limits.max_of_network
               ? SEC__REFUSED
               : 0;
}

/* So many strangers at once, and then one each so long, get keys made with
 * them: that is where a call costs most, and a recorded one can be sent again.
 */
#define STRANGERS_AT_ONCE 32u
#define STRANGER_EVERY (SEC__S / 100)

static uint64_t work_ahead(const sec__admission *a, uint64_t now) {
    return a->worked > now ? a->worked - now : 0;
}

static bool must_prove(const sec__admission *a, uint64_t network,
                       uint64_t now) {
    return a->limits.careful || a->half_open >= a->limits.max_half_open ||
           (network != 0 && cmn__tally_get(&a->half_open_of, network) >=
                                a->limits.max_half_open_of) ||
           (a->limits.costly &&
            work_ahead(a, now) > (STRANGERS_AT_ONCE - 1) * STRANGER_EVERY);
}

/* So many words a second are enough for those who mean well. */
static bool may_refuse(sec__admission *a, uint64_t now) {
    if (now - a->second >= SEC__S) {
        a->second = now;
        a->refusals = 0;
    }
    return a->refusals++ < REFUSALS_A_SECOND;
}

enum sec__verdict sec__admission_judge(sec__admission *a, const sec__packet *p,
                                       uint64_t path, uint64_t network,
                                       uint64_t now, uint32_t *why) {
    *why = no_room(a, network);
    if (*why != 0) {
        a->turned_away++;
        tell(a, "security:caller_turned_away", "callers_turned_away",
             a->turned_away,
             *why == SEC__FULL ? "max_connections" : "max_per_address", now);
        *why = may_refuse(a, now) ? *why : 0;
        return SEC__TURN_AWAY;
    }
    if (sec__tokens_valid(&a->tokens, path, p->scid, now, p->token,
                          p->token_len)) {
        return SEC__ADMIT;
    }
    if (must_prove(a, network, now)) {
        a->retried++;
        return SEC__ASK;
    }
    a->worked = now + work_ahead(a, now) + STRANGER_EVERY;
    return SEC__ADMIT;
}

int sec__admission_enter(sec__admission *a, uint64_t network) {
    if (network != 0 && cmn__tally_up(&a->of_network, network) != 0) {
        return -1;
    }
    if (network != 0 && cmn__tally_up(&a->half_open_of, network) != 0) {
        cmn__tally_down(&a->of_network, network);
        return -1;
    }
    a->count++;
    a->half_open++;
    return 0;
}

void sec__admission_on_proven(sec__admission *a, uint64_t network) {
    a->half_open--;
    if (network != 0) {
        cmn__tally_down(&a->half_open_of, network);
    }
}

void sec__admission_leave(sec__admission *a, uint64_t network, bool proven) {
    a->count--;
    if (!proven) {
        sec__admission_on_proven(a, network);
    }
    if (network != 0) {
        cmn__tally_down(&a->of_network, network);
    }
}

static size_t end_packet(cmn__writer *w, const uint8_t *out) {
    sec__packet_seal(w, out);
    return (size_t)(w->p - out);
}

size_t sec__admission_ask(sec__admission *a, sec__secret *secret,
                          const sec__packet *p, uint64_t path, uint64_t now,
                          uint8_t *out) {
    uint8_t token[SEC__TOKEN_LEN];
    const sec__packet retry = {.type = SEC__RETRY,
                               .version = p->version,
                               .dcid = p->scid,
                               .token = token,
                               .token_len = sizeof(token)};
    cmn__writer w = cmn__writer_of(out, SEC__WORD_MAX);
    sec__tokens_make(&a->tokens, secret, path, p->scid, now, token);
    sec__packet_put(&w, &retry);
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

/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/admission.h"

#define REFUSALS_A_SECOND 1000u
#define TELL_EVERY TLTCP_S /* a flood must not fill a disk */

void tltcp__admission_init(tltcp__admission *a, const cmn__mem *mem,
                           const tltcp_config *cfg, tltcp__secret *secret,
                           tltcp_time now) {
    *a = (tltcp__admission){
        .max = cfg->max_connections,
        .max_half_open = cfg->max_half_open,
        .max_of_network = cfg->max_per_address,
        .max_half_open_of = cfg->max_half_open_per_address,
        .careful = cfg->always_retry,
        .on_trace = cfg->on_trace,
        .user = cfg->user,
    };
    cmn__tally_init(&a->of_network, mem);
    cmn__tally_init(&a->half_open_of, mem);
    tltcp__tokens_init(&a->tokens, secret, now);
}

void tltcp__admission_free(tltcp__admission *a) {
    cmn__tally_free(&a->of_network);
    cmn__tally_free(&a->half_open_of);
    tltcp__tokens_clear(&a->tokens);
}

static void tell(tltcp__admission *a, const char *name, const char *key,
                 uint64_t count, const char *why, tltcp_time now) {
    const char *const keys[] = {key, NULL};
    const double values[] = {(double)count};
    const tltcp_trace_event ev = {
        .name = name, .now = now, .keys = keys, .values = values, .text = why};
    if (a->on_trace != NULL &&
        (a->told_at == 0 || now - a->told_at >= TELL_EVERY)) {
        a->told_at = now;
        a->on_trace(a->user, &ev);
    }
}

void tltcp__admission_on_rejected(tltcp__admission *a, tltcp_time now) {
    a->rejected++;
    tell(a, "security:caller_rejected", "callers_rejected", a->rejected,
         "wrong key, or none", now);
}

/* 0: there is room. */
static int no_room(const tltcp__admission *a, uint64_t network) {
    if (a->count >= a->max) {
        return TLTCP_ERR_LIMIT;
    }
    return network != 0 &&
                   cmn__tally_get(&a->of_network, network) >= a->max_of_network
               ? TLTCP_ERR_REFUSED
               : 0;
}

static bool must_prove(const tltcp__admission *a, uint64_t network) {
    return a->careful || a->half_open >= a->max_half_open ||
           (network != 0 &&
            cmn__tally_get(&a->half_open_of, network) >= a->max_half_open_of);
}

/* So many words a second are enough for those who mean well. */
static bool may_refuse(tltcp__admission *a, tltcp_time now) {
    if (now - a->second >= TLTCP_S) {
        a->second = now;
        a->refusals = 0;
    }
    return a->refusals++ < REFUSALS_A_SECOND;
}

enum tltcp__verdict tltcp__admission_judge(tltcp__admission *a,
                                           const tltcp__packet *p,
                                           uint64_t path, uint64_t network,
                                           tltcp_time now, int *error) {
    *error = no_room(a, network);
    if (*error != 0) {
        a->turned_away++;
        tell(a, "security:caller_turned_away", "callers_turned_away",
             a->turned_away,
             *error == TLTCP_ERR_LIMIT ? "max_connections" : "max_per_address",
             now);
        *error = may_refuse(a, now) ? *error : 0;
        return TLTCP__TURN_AWAY;
    }
    if (must_prove(a, network) &&
        !tltcp__tokens_valid(&a->tokens, path, p->scid, now, p->token,
                             p->token_len)) {
        a->retried++;
        return TLTCP__ASK;
    }
    return TLTCP__ADMIT;
}

int tltcp__admission_enter(tltcp__admission *a, uint64_t network) {
    if (network != 0 && cmn__tally_up(&a->of_network, network) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    if (network != 0 && cmn__tally_up(&a->half_open_of, network) != 0) {
        cmn__tally_down(&a->of_network, network);
        return TLTCP_ERR_NOMEM;
    }
    a->count++;
    a->half_open++;
    return 0;
}

void tltcp__admission_on_proven(tltcp__admission *a, uint64_t network) {
    a->half_open--;
    if (network != 0) {
        cmn__tally_down(&a->half_open_of, network);
    }
}

void tltcp__admission_leave(tltcp__admission *a, uint64_t network,
                            bool proven) {
    a->count--;
    if (!proven) {
        tltcp__admission_on_proven(a, network);
    }
    if (network != 0) {
        cmn__tally_down(&a->of_network, network);
    }
}

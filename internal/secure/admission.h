/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_ADMISSION_H
#define SECURE_ADMISSION_H

#include "internal/secure/hello.h"
#include "internal/secure/origin.h"

typedef struct sec__limits {
    uint64_t max;            /* in total */
    uint64_t max_of_network; /* of an address; IPv6 /56 and /48 have more */
    uint64_t max_half_open;  /* above which callers must return a token */
    uint64_t max_half_open_of;
    bool careful; /* require a token from everybody */
    bool secured; /* the same, and offer a key with the token */
    /* Reports rejected callers from time to time; NULL: none. */
    void (*tell)(void *user, const char *name, const char *key, uint64_t count,
                 const char *why, uint64_t now);
    void *user;
} sec__limits;

/* Callers with a static key that is not welcome have cost some Diffie-Hellmans
 * each.  Per second, further ones are ignored from networks that share a slot
 * with too many of them. */
#define SEC__STRANGERS_SLOTS 256u
typedef struct sec__strangers {
    uint64_t since; /* start of the second */
    unsigned all;
    uint8_t of[SEC__STRANGERS_SLOTS];
} sec__strangers;

/* Admission control of a listener: limits of connections, in total and per
 * network, tokens for callers that must prove their address first, and counters
 * of rejected callers. */
typedef struct sec__admission {
    const cmn__mem *mem;
    sec__tokens tokens;
    uint8_t salt[SEC__SALT_LEN]; /* salt of passphrases */
    sec__origins origins;        /* connections by network */
    sec__limits limits;
    size_t count;
    size_t half_open;
    uint64_t told_at; /* time of the last report */
    uint64_t second;  /* start of the second that `refusals` count */
    unsigned refusals;
    sec__strangers strangers;
    uint64_t rejected; /* with a wrong or missing key */
    uint64_t turned_away;
    uint64_t retried;
    uint64_t dropped; /* datagrams without a connection */
} sec__admission;

enum sec__verdict {
    SEC__ADMIT,
    SEC__ASK,      /* send a token */
    SEC__TURN_AWAY /* reject, silently if there are too many */
};

/* False without memory.  *mem must outlive it. */
bool sec__admission_init(sec__admission *a, const cmn__mem *mem,
                         const sec__limits *limits, sec__secret *secret,
                         uint64_t now);
void sec__admission_free(sec__admission *a);

/* Decides about a new caller with the INITIAL p. *why is the sec__refusal of a
 * rejected caller, 0: reject silently. */
enum sec__verdict sec__admission_judge(sec__admission *a, const sec__packet *p,
                                       uint64_t path, const sec__origin *from,
                                       uint64_t now, uint32_t *why);
/* Whether there is room for another connection from there. */
bool sec__admission_has_room(const sec__admission *a, const sec__origin *from);

/* An admitted caller, and the listener's keys. */
typedef struct sec__admitted {
    const sec__packet *p; /* its INITIAL */
    uint64_t path;
    uint64_t now;
    sec__keyring ring; /* `secret` is filled in */
    /* Filled in by sec__admission_find_keys(); wiped by
     * sec__admission_open(). */
    uint8_t secret[SEC__KEY_LEN];
    uint8_t public_key[SEC__KEY_LEN];
} sec__admitted;

/* Copies the keys that belong to its token. False: the token is invalid. */
bool sec__admission_find_keys(const sec__admission *a, sec__admitted *who);
/* Then opens the first message of a secured caller; h is for the connection.
 * Of the admission it reads only the salt, which never changes. */
enum sec__hello_result sec__admission_open(const sec__admission *a,
                                           sec__admitted *who, sec__hello *h,
                                           uint8_t *payload, size_t *len);
/* Marks its token as used, so that a replay makes no second connection. False
 * if it is used already, or without memory. */
bool sec__admission_spend(sec__admission *a, const sec__packet *p,
                          uint64_t now);
/* The caller has a wrong or missing key. */
void sec__admission_on_rejected(sec__admission *a, uint64_t now);

/* Whether callers with static keys are heard from that network now. */
bool sec__admission_hears(sec__admission *a, uint64_t network, uint64_t now);
/* The caller has a static key that is not welcome. */
void sec__admission_on_stranger(sec__admission *a, uint64_t network,
                                uint64_t now);

/* A connection is created; its address is proven; it is freed. The first
 * returns 0, or -1 without memory. */
int sec__admission_enter(sec__admission *a, const sec__origin *from);
void sec__admission_on_proven(sec__admission *a, const sec__origin *from);
void sec__admission_leave(sec__admission *a, const sec__origin *from,
                          bool proven);

/* Write answers to the sender of the INITIAL p into SEC__WORD_MAX bytes; return
 * the length. */
#define SEC__WORD_MAX 128u
size_t sec__admission_ask(sec__admission *a, sec__secret *secret,
                          const sec__packet *p, uint64_t path, uint64_t now,
                          uint8_t *out);
size_t sec__refuse(const sec__packet *p, uint32_t why, uint8_t *out);
/* Answers an INITIAL of another version. */
size_t sec__list_version(const sec__packet *p, uint32_t version, uint8_t *out);

#endif /* SECURE_ADMISSION_H */

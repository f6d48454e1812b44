/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_ADMISSION_H
#define SECURE_ADMISSION_H

#include "internal/common/tally.h"
#include "internal/secure/hello.h"

typedef struct sec__limits {
    uint64_t max; /* in all */
    uint64_t max_of_network;
    uint64_t max_half_open; /* beyond which a token is asked for */
    uint64_t max_half_open_of;
    bool careful; /* a token from everybody */
    bool secured; /* the same, and with the token comes an offer */
    /* Told of those who stay outside, now and then; NULL: not wanted. */
    void (*tell)(void *user, const char *name, const char *key, uint64_t count,
                 const char *why, uint64_t now);
    void *user;
} sec__limits;

/* Whom a listener lets in: the limits on its connections, in all and of each
 * network, the tokens of those who must prove their address first, and counts
 * of those who stay outside. */
typedef struct sec__admission {
    const cmn__mem *mem;
    sec__tokens tokens;
    uint8_t salt[SEC__SALT_LEN]; /* of passphrases */
    cmn__tally of_network;       /* connections */
    cmn__tally half_open_of;     /* and those whose address is not proven */
    sec__limits limits;
    size_t count;
    size_t half_open;
    uint64_t told_at; /* when the log last heard of somebody */
    uint64_t second;  /* began so; `refusals` are of it */
    unsigned refusals;
    uint64_t rejected; /* wrong key, or none */
    uint64_t turned_away;
    uint64_t retried;
    uint64_t dropped; /* datagrams of nobody */
} sec__admission;

enum sec__verdict {
    SEC__ADMIT,
    SEC__ASK,      /* for a token */
    SEC__TURN_AWAY /* with a word, or without when there are too many */
};

/* False without memory.  *mem must outlive it. */
bool sec__admission_init(sec__admission *a, const cmn__mem *mem,
                         const sec__limits *limits, sec__secret *secret,
                         uint64_t now);
void sec__admission_free(sec__admission *a);

/* What becomes of a new caller whose INITIAL is p; `network` 0: not known.
 * *why is a sec__refusal of who is turned away, 0 when he is not to be told. */
enum sec__verdict sec__admission_judge(sec__admission *a, const sec__packet *p,
                                       uint64_t path, uint64_t network,
                                       uint64_t now, uint32_t *why);
/* A caller who was let in, and what his listener opens calls with. */
typedef struct sec__admitted {
    const sec__packet *p; /* his INITIAL */
    uint64_t path;
    uint64_t now;
    sec__keyring ring; /* `secret` is filled in */
} sec__admitted;

/* Opens the first message of a secured caller; h is for the connection. */
enum sec__hello_result sec__admission_open(const sec__admission *a,
                                           sec__admitted *who, sec__hello *h,
                                           uint8_t *payload, size_t *len);
/* A connection was made of it: what was recorded of it makes no other one.
 * False without memory. */
bool sec__admission_spend(sec__admission *a, const sec__packet *p,
                          uint64_t now);
/* The caller has a wrong key, or none. */
void sec__admission_on_rejected(sec__admission *a, uint64_t now);

/* A connection is made, its address proven, freed.  The first returns 0,
 * or -1 without memory. */
int sec__admission_enter(sec__admission *a, uint64_t network);
void sec__admission_on_proven(sec__admission *a, uint64_t network);
void sec__admission_leave(sec__admission *a, uint64_t network, bool proven);

/* Answers to an INITIAL of p's sender, into SEC__WORD_MAX bytes; the length. */
#define SEC__WORD_MAX 128u
size_t sec__admission_ask(sec__admission *a, sec__secret *secret,
                          const sec__packet *p, uint64_t path, uint64_t now,
                          uint8_t *out);
size_t sec__refuse(const sec__packet *p, uint32_t why, uint8_t *out);
/* To an INITIAL of another version than the one spoken here. */
size_t sec__list_version(const sec__packet *p, uint32_t version, uint8_t *out);

#endif /* SECURE_ADMISSION_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_KEYS_H
#define SECURE_KEYS_H

#include "internal/secure/aead.h"
#include "internal/secure/key_proof.h"
#include "internal/secure/noise.h"

/* Shared secrets: 32 bytes, or a passphrase that is stretched to 32 bytes. */

typedef struct sec__key {
    uint8_t key[SEC__KEY_LEN];
    uint8_t proof[SEC__KEY_LEN]; /* of the MAC that proves the key */
    sec__key_proof ready;        /* with `proof`; a listener's */
} sec__key;

#define SEC__SALT_LEN 16u
#define SEC__KEYS_MAX 16 /* maximum per listener */
#define SEC__PASSPHRASE_MIN 8u
#define SEC__PASSPHRASE_MAX 512u

/* Keys as given in options; the lists end with NULL. */
typedef struct sec__key_source {
    const char *passphrase;
    const uint8_t *key; /* instead of a passphrase; or NULL */
    size_t key_len;
    const char *const *more_passphrases;
    const uint8_t *const *more_keys;
    sec__statics statics; /* static keys; without another secret, callers that
                             know the listener's public key are answered */
} sec__key_source;

/* The error in the keys, or NULL. */
const char *sec__keys_check(const sec__key_source *from);
/* Whether there is a key for calls.  Static keys are one. */
bool sec__keys_own(const sec__key_source *from);
/* Whether there is any key. */
bool sec__keys_any(const sec__key_source *from);
/* The keys of a listener with that salt, at most max, to be ended by
 * sec__keys_clear().  Returns how many, or -1 without memory.  Costs tens of
 * milliseconds for each passphrase. */
int sec__keys_take(const sec__key_source *from, const uint8_t *salt,
                   sec__key *keys, int max);
/* Copies keys of a listener, for use on another thread; to be ended likewise.
 * False without memory. */
bool sec__keys_copy(sec__key *to, const sec__key *from, int n);
void sec__keys_clear(sec__key *keys, int n);

/* --- Calling ------------------------------------------------------------- */

#define SEC__SALTS_KEPT 4u

/* The secret for calls. A passphrase is kept, because each listener has its own
 * salt; the keys of the last few listeners are cached. */
typedef struct sec__caller {
    char passphrase[SEC__PASSPHRASE_MAX + 1]; /* empty: a key is used */
    sec__key key[SEC__SALTS_KEPT];
    uint8_t salt[SEC__SALTS_KEPT][SEC__SALT_LEN];
    unsigned salts;                 /* number known so far */
    bool mutual;                    /* with static keys: */
    sec__pair identity;             /* the own one */
    uint8_t listener[SEC__KEY_LEN]; /* the listener's public key */
} sec__caller;

/* False without memory. */
bool sec__caller_init(sec__caller *c, const sec__key_source *from);
/* Whether the key for a listener with that salt is cached. */
bool sec__caller_knows(const sec__caller *c, const uint8_t *salt);
/* The key for a listener with that salt; NULL without memory. Takes tens of
 * milliseconds if it is not cached. */
const sec__key *sec__caller_key(sec__caller *c, const uint8_t *salt);
/* Its static keys, as long as it stays where it is. */
sec__statics sec__caller_statics(const sec__caller *c);
/* Wipes it. */
void sec__caller_clear(sec__caller *c);

/* The same in steps, so that another thread can take the time. */
typedef struct sec__key_job {
    char passphrase[SEC__PASSPHRASE_MAX + 1];
    uint8_t salt[SEC__SALT_LEN];
    sec__key key;
    bool done;
} sec__key_job;

void sec__key_job_init(sec__key_job *job, const sec__caller *c,
                       const uint8_t *salt);
/* In any thread. */
void sec__key_job_run(sec__key_job *job);
/* Teaches the caller the key, unless c is NULL, and wipes the job.  False:
 * there was no memory to make it. */
bool sec__key_job_end(sec__key_job *job, sec__caller *c);

#endif /* SECURE_KEYS_H */

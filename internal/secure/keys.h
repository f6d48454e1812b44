/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_KEYS_H
#define SECURE_KEYS_H

#include "internal/secure/aead.h"

/* Shared secrets: 32 bytes, or a passphrase that becomes so many. */

typedef struct sec__key {
    uint8_t key[SEC__KEY_LEN];
    uint64_t id; /* by which a listener finds it; tells nothing of it */
} sec__key;

#define SEC__KEYS_MAX 16 /* of a listener */
#define SEC__PASSPHRASE_MIN 8u
#define SEC__PASSPHRASE_MAX 512u

/* As options name them; the lists end with NULL. */
typedef struct sec__key_source {
    const char *passphrase;
    const uint8_t *key; /* instead of a passphrase; or NULL */
    size_t key_len;
    const char *const *more_passphrases;
    const uint8_t *const *more_keys;
} sec__key_source;

/* What is wrong with them, or NULL. */
const char *sec__keys_check(const sec__key_source *from);
/* Whether there is one for calls. */
bool sec__keys_own(const sec__key_source *from);
/* Whether there is any. */
bool sec__keys_any(const sec__key_source *from);
/* The keys, at most max; the first is one's own for calls.  Returns how many,
 * or -1 without memory.  Costs tens of milliseconds for each passphrase. */
int sec__keys_take(const sec__key_source *from, sec__key *keys, int max);
void sec__keys_clear(sec__key *keys, int n);

#endif /* SECURE_KEYS_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_SECRET_H
#define SECURE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEC__SEED_LEN 32u
#define SEC__S UINT64_C(1000000000) /* times are ns */

/* Unpredictable numbers from the driver's seed: HMAC-SHA-256 with the seed as
 * key. */
typedef struct sec__secret {
    uint8_t key[SEC__SEED_LEN];
    uint64_t counter;
} sec__secret;

/* Compares in constant time. */
bool sec__equal(const void *a, const void *b, size_t len);

/* Overwrites a secret in memory. */
void sec__wipe(void *p, size_t len);

void sec__secret_init(sec__secret *s, const uint8_t *seed);
/* Wipes the key. */
void sec__secret_clear(sec__secret *s);
/* The next unpredictable number; 0 only without memory. */
uint64_t sec__secret_next(sec__secret *s);
/* Derives a seed for a dependent object. False without memory. */
bool sec__secret_derive(sec__secret *s, uint8_t *seed);
/* Makes an ephemeral key of SEC__SEED_LEN bytes that the remaining state cannot
 * reproduce: reading the memory later does not decrypt recorded traffic. False
 * without memory. */
bool sec__secret_ephemeral(sec__secret *s, uint8_t *e);

#endif /* SECURE_SECRET_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_SECRET_H
#define SECURE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEC__SEED_LEN 32u
#define SEC__S UINT64_C(1000000000) /* times are ns */

/* Unpredictable numbers from a seed of the driver's: HMAC-SHA-256 with the seed
 * as key. */
typedef struct sec__secret {
    uint8_t key[SEC__SEED_LEN];
    uint64_t counter;
} sec__secret;

/* Compares in a time that tells nothing. */
bool sec__equal(const void *a, const void *b, size_t len);

/* Overwrites what must not stay in memory. */
void sec__wipe(void *p, size_t len);

void sec__secret_init(sec__secret *s, const uint8_t *seed);
/* Wipes the key. */
void sec__secret_clear(sec__secret *s);
/* The next unpredictable number; 0 only without memory. */
uint64_t sec__secret_next(sec__secret *s);
/* A seed for something that hangs off this one.  False without memory. */
bool sec__secret_derive(sec__secret *s, uint8_t *seed);
/* An ephemeral key, SEC__SEED_LEN bytes, which nothing that stays here tells
 * again: who reads the memory later cannot open what was recorded before.
 * False without memory. */
bool sec__secret_ephemeral(sec__secret *s, uint8_t *e);

#endif /* SECURE_SECRET_H */

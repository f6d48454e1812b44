/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SUPPORT_CRYPTO_ALLOC_H
#define TESTS_SUPPORT_CRYPTO_ALLOC_H

#include <stdbool.h>

/* libcrypto's memory, which fails when told to. */

/* Requests that still succeed before one fails; negative: all do. */
extern int test_crypto_left;

/* To be called before libcrypto is used.  False: it was too late. */
bool test_crypto_alloc_init(void);

#endif /* TESTS_SUPPORT_CRYPTO_ALLOC_H */

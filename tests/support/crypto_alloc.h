/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SUPPORT_CRYPTO_ALLOC_H
#define TESTS_SUPPORT_CRYPTO_ALLOC_H

#include <stdbool.h>

/* libcrypto's allocator, which fails on request. */

/* Number of requests that succeed before one fails; negative: all do. */
extern int test_crypto_left;

/* Call this before libcrypto is used. False: too late. */
bool test_crypto_alloc_init(void);

#endif /* TESTS_SUPPORT_CRYPTO_ALLOC_H */

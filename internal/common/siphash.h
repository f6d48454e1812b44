/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_SIPHASH_H
#define COMMON_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4 (Aumasson, Bernstein 2012) with a key of 16 bytes: without the
 * key, its values are unpredictable and collisions cannot be constructed. */
uint64_t cmn__siphash(const uint8_t *key, const void *data, size_t len);

#endif /* COMMON_SIPHASH_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* SipHash-2-4. */
#include "internal/common/siphash.h"

#include <string.h>

static uint64_t siphash_load(const uint8_t *p) {
    uint64_t v = 0;

    for (unsigned i = 0; i < 8; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static uint64_t siphash_rotl(uint64_t v, unsigned n) {
    return (v << n) | (v >> (64 - n));
}

static void siphash_rounds(uint64_t v[4], unsigned n) {
    while (n-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = siphash_rotl(v[1], 13) ^ v[0];
        v[3] = siphash_rotl(v[3], 16) ^ v[2];
        v[0] = siphash_rotl(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = siphash_rotl(v[1], 17) ^ v[2];
        v[3] = siphash_rotl(v[3], 21) ^ v[0];
        v[2] = siphash_rotl(v[2], 32);
    }
}

static void siphash_absorb(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    siphash_rounds(v, 2);
    v[0] ^= word;
}

uint64_t cmn__siphash(const uint8_t *key, const void *data, size_t len) {
    uint64_t k0 = siphash_load(key);
    uint64_t k1 = siphash_load(key + 8);
    uint64_t v[4] = {
        k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
        k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    const uint8_t *p = data;
    uint8_t last[8] = {0};

    for (; p + 8 <= (const uint8_t *)data + len; p += 8) {
        siphash_absorb(v, siphash_load(p));
    }
    memcpy(last, p, len & 7u);
    last[7] = (uint8_t)len;
    siphash_absorb(v, siphash_load(last));
    v[2] ^= 0xff;
    siphash_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

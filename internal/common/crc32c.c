/* SPDX-License-Identifier: MPL-2.0 */
/* CRC-32C, with the processor's instruction if available. */
#include "internal/common/crc32c.h"

#include <string.h>

/* Four bits at a time, with a small table, for machines without the
 * instruction. */
static uint32_t by_nibbles(uint32_t crc, const uint8_t *p, size_t len) {
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    while (len-- > 0) {
        crc ^= *p++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#define HAVE_INSTRUCTION
#define FAST __attribute__((target("sse4.2,crc32,pclmul")))

FAST static uint64_t word_of(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

/* Advances crc over zero bytes: power is x^(8 * bytes - 33), reflected. */
FAST static uint64_t advance(uint64_t crc, uint32_t power) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
                                           _mm_cvtsi32_si128((int)power), 0);
    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* The instruction has a latency of three cycles and a throughput of one per
 * cycle, so three blocks of `len` bytes run in parallel (Gopal et al., "Fast
 * CRC Computation for iSCSI Polynomial", 2011). once and twice: the powers for
 * len and 2 * len bytes. */
FAST static uint64_t by_three(uint64_t crc, const uint8_t *p, size_t len,
                              uint32_t once, uint32_t twice) {
    uint64_t b = 0;
    uint64_t c = 0;
    for (size_t i = 0; i < len; i += 8) {
        crc = _mm_crc32_u64(crc, word_of(p + i));
        b = _mm_crc32_u64(b, word_of(p + len + i));
        c = _mm_crc32_u64(c, word_of(p + 2 * len + i));
    }
    return advance(crc, twice) ^ advance(b, once) ^ c;
}

/* Bytes of a block. */
#define LONG ((size_t)384)
#define SHORT ((size_t)64)

FAST static uint32_t by_instruction(uint32_t crc, const uint8_t *p,
                                    size_t len) {
    uint64_t c = crc;
    for (; len >= 3 * LONG; len -= 3 * LONG, p += 3 * LONG) {
        c = by_three(c, p, LONG, 0xd270f1a2, 0xd7a4825c);
    }
    for (; len >= 3 * SHORT; len -= 3 * SHORT, p += 3 * SHORT) {
        c = by_three(c, p, SHORT, 0x9e4addf8, 0x0d3b6092);
    }
    for (; len >= 8; len -= 8, p += 8) {
        c = _mm_crc32_u64(c, word_of(p));
    }
    crc = (uint32_t)c;
    while (len-- > 0) {
        crc = _mm_crc32_u8(crc, *p++);
    }
    return crc;
}

#endif

uint32_t cmn__crc32c(uint32_t crc, const void *data, size_t len) {
#ifdef HAVE_INSTRUCTION
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")) {
        return ~by_instruction(~crc, data, len);
    }
#endif
    return ~by_nibbles(~crc, data, len);
}

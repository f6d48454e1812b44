/* SPDX-License-Identifier: MPL-2.0 */
/* CRC-32C, with the processor's instruction if available. */
#include "internal/common/crc32c.h"

#include <stdbool.h>
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
#include <immintrin.h>
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

FAST static uint32_t last_bytes(uint64_t crc, const uint8_t *p, size_t len) {
    uint32_t c;
    for (; len >= 8; len -= 8, p += 8) {
        crc = _mm_crc32_u64(crc, word_of(p));
    }
    c = (uint32_t)crc;
    while (len-- > 0) {
        c = _mm_crc32_u8(c, *p++);
    }
    return c;
}

FAST static uint32_t by_instruction(uint32_t crc, const uint8_t *p,
                                    size_t len) {
    uint64_t c = crc;
    for (; len >= 3 * LONG; len -= 3 * LONG, p += 3 * LONG) {
        c = by_three(c, p, LONG, 0xd270f1a2, 0xd7a4825c);
    }
    for (; len >= 3 * SHORT; len -= 3 * SHORT, p += 3 * SHORT) {
        c = by_three(c, p, SHORT, 0x9e4addf8, 0x0d3b6092);
    }
    return last_bytes(c, p, len);
}

/* --- With carry-less products of 512 bits -------------------------------- */

#define WIDE \
    __attribute__((target("sse4.2,crc32,pclmul,avx512f,avx512vl,vpclmulqdq")))
#define VECTOR ((size_t)64) /* bytes */
#define STRIDE (4 * VECTOR) /* bytes folded at once */

/* Constants that move 128 bits over `bits` further ones: x^(bits + 32) for the
 * low half and x^(bits - 32) for the high one, reflected, times two (Gopal et
 * al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", 2009).
 */
#define OVER_128 0x14cd00bd6, 0x0f20c0dfe
#define OVER_256 0x0ba4fc28e, 0x1384aa63a
#define OVER_384 0x1d82c63da, 0x1c291d04
#define OVER_512 0x09e4addf8, 0x740eef02
#define OVER_1024 0x00d3b6092, 0x6992cea2
#define OVER_1536 0x0ab7aff2a, 0xa87ab8a8
#define OVER_2048 0x0b9e02b86, 0xdcb17aa4

WIDE static __m512i load(const uint8_t *p) {
    return _mm512_loadu_si512((const void *)p);
}

/* The same two constants for each 128 bits. */
WIDE static __m512i over(long long high, long long low) {
    return _mm512_set_epi64(high, low, high, low, high, low, high, low);
}

/* Moves each 128 bits, and adds what stands there. */
WIDE static __m512i fold(__m512i x, __m512i constants, __m512i there) {
    return _mm512_xor_si512(
        there, _mm512_xor_si512(_mm512_clmulepi64_epi128(x, constants, 0x00),
                                _mm512_clmulepi64_epi128(x, constants, 0x11)));
}

/* The checksum of a vector. */
WIDE static uint64_t reduce(__m512i x) {
    __m512i moved =
        fold(x, _mm512_set_epi64(0, 0, OVER_128, OVER_256, OVER_384),
             _mm512_setzero_si512());
    __m128i sum =
        _mm_xor_si128(_mm_xor_si128(_mm512_extracti32x4_epi32(moved, 0),
                                    _mm512_extracti32x4_epi32(moved, 1)),
                      _mm_xor_si128(_mm512_extracti32x4_epi32(moved, 2),
                                    _mm512_extracti32x4_epi32(x, 3)));
    uint64_t low = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(sum));
    return _mm_crc32_u64(low, (uint64_t)_mm_extract_epi64(sum, 1));
}

/* len is at least STRIDE. */
WIDE static uint32_t by_vectors(uint32_t crc, const uint8_t *p, size_t len) {
    __m512i start = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc));
    __m512i a = _mm512_xor_si512(load(p), start);
    __m512i b = load(p + VECTOR);
    __m512i c = load(p + 2 * VECTOR);
    __m512i d = load(p + 3 * VECTOR);
    __m512i stride = over(OVER_2048);
    __m512i vector = over(OVER_512);
    p += STRIDE;
    len -= STRIDE;
    for (; len >= STRIDE; len -= STRIDE, p += STRIDE) {
        a = fold(a, stride, load(p));
        b = fold(b, stride, load(p + VECTOR));
        c = fold(c, stride, load(p + 2 * VECTOR));
        d = fold(d, stride, load(p + 3 * VECTOR));
    }
    d = fold(c, vector, d);
    d = fold(b, over(OVER_1024), d);
    d = fold(a, over(OVER_1536), d);
    for (; len >= VECTOR; len -= VECTOR, p += VECTOR) {
        d = fold(d, vector, load(p));
    }
    return last_bytes(reduce(d), p, len);
}

static bool has_vectors(void) {
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("vpclmulqdq");
}

#endif

uint32_t cmn__crc32c(uint32_t crc, const void *data, size_t len) {
#ifdef HAVE_INSTRUCTION
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")) {
        return len >= STRIDE && has_vectors()
                   ? ~by_vectors(~crc, data, len)
                   : ~by_instruction(~crc, data, len);
    }
#endif
    return ~by_nibbles(~crc, data, len);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "common/crc32c.h"

#include <string.h>

#define POLY UINT32_C(0x82f63b78) /* 0x1edc6f41 mirrored */

/* Four bits at a time: a table small enough to stand here, for machines without
 * the instruction. */
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
#define HAVE_INSTRUCTION

__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t crc, const uint8_t *p, size_t len) {
    uint64_t c = crc;
    uint64_t word;
    for (; len >= sizeof(word); len -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        c = _mm_crc32_u64(c, word);
        p += sizeof(word);
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
    if (__builtin_cpu_supports("sse4.2")) {
        return ~by_instruction(~crc, data, len);
    }
#endif
    return ~by_nibbles(~crc, data, len);
}

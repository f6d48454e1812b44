/* SPDX-License-Identifier: MPL-2.0 */
/* Big-endian loads and stores. */
#ifndef MEDIA_BYTES_H
#define MEDIA_BYTES_H

#include <stdint.h>

static inline uint32_t media__get16(const uint8_t *p) {
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t media__get32(const uint8_t *p) {
    return media__get16(p) << 16 | media__get16(p + 2);
}

static inline uint64_t media__get64(const uint8_t *p) {
    return (uint64_t)media__get32(p) << 32 | media__get32(p + 4);
}

static inline void media__put16(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void media__put32(uint8_t *p, uint32_t v) {
    media__put16(p, v >> 16);
    media__put16(p + 2, v);
}

static inline void media__put64(uint8_t *p, uint64_t v) {
    media__put32(p, (uint32_t)(v >> 32));
    media__put32(p + 4, (uint32_t)v);
}

#endif /* MEDIA_BYTES_H */

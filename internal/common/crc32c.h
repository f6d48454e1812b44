/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_CRC32C_H
#define COMMON_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli; RFC 3720 appendix B.4).  Start with crc 0; pass the
 * result to continue with the next piece. */
uint32_t cmn__crc32c(uint32_t crc, const void *data, size_t len);

#endif /* COMMON_CRC32C_H */

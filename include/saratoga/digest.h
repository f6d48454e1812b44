/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/digest.h
 * @brief The checksums of METADATA, piece by piece.
 *
 * The engine asks for them by work items (saratoga/engine.h); they may be
 * computed in any thread, each digest in one at a time.
 */
#ifndef SARATOGA_DIGEST_H
#define SARATOGA_DIGEST_H

#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A checksum being computed. */
typedef struct saratoga_digest saratoga_digest;

/**
 * @brief Bytes of a checksum.
 * @param type  a ::saratoga_checksum
 * @return 0 for none and for unknown types
 */
SARATOGA_API size_t saratoga_digest_len(uint32_t type);
/**
 * @brief Starts a checksum.
 * @param type  a ::saratoga_checksum that has a length
 * @return it, or NULL when memory is short or the type is not available; free
 * with saratoga_digest_free()
 */
SARATOGA_API saratoga_digest *saratoga_digest_new(uint32_t type);
/**
 * @brief Starts a keyed checksum (HMAC).
 * @param type  ::SARATOGA_HMAC_SHA256
 * @param key   not needed any more when the call returns
 * @param len   bytes of it, 1 to ::SARATOGA_KEY_MAX
 * @return as saratoga_digest_new()
 */
SARATOGA_API saratoga_digest *
saratoga_digest_new_keyed(uint32_t type, const uint8_t *key, size_t len);
/**
 * @brief Adds bytes in order.
 * @param d     checksum
 * @param data  bytes
 * @param len   how many
 * @retval 0               added
 * @retval SARATOGA_ERR_IO the library behind failed
 */
SARATOGA_API int saratoga_digest_update(saratoga_digest *d, const void *data,
                                        size_t len);
/**
 * @brief Ends a checksum; nothing can be added any more.
 * @param d         checksum
 * @param[out] out  saratoga_digest_len() bytes
 * @retval 0               done
 * @retval SARATOGA_ERR_IO the library behind failed
 */
SARATOGA_API int saratoga_digest_final(saratoga_digest *d, uint8_t *out);
/** @brief Frees a checksum. @param d  checksum, or NULL */
SARATOGA_API void saratoga_digest_free(saratoga_digest *d);

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_DIGEST_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/digest.h
 * @brief Incremental checksums of METADATA.
 *
 * The engine requests them by work items (saratoga/engine.h). Any thread may
 * compute them; use each digest from one thread at a time.
 */
#ifndef SARATOGA_DIGEST_H
#define SARATOGA_DIGEST_H

#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_files
 * @{ */

/** A checksum being computed. */
typedef struct saratoga_digest saratoga_digest;

/**
 * @brief Length of a checksum, bytes.
 * @param type  a ::saratoga_checksum
 * @return 0 for none and for unknown types
 */
SARATOGA_API size_t saratoga_digest_len(uint32_t type);
/**
 * @brief Starts a checksum.
 * @param type  a ::saratoga_checksum that has a length
 * @return the checksum, or NULL if memory is short or the type is not
 * available; free it with saratoga_digest_free()
 */
SARATOGA_API saratoga_digest *saratoga_digest_new(uint32_t type);
/**
 * @brief Starts a keyed checksum (HMAC).
 * @param type  ::SARATOGA_HMAC_SHA256
 * @param key   not used after the call
 * @param len   length of the key, 1 to ::SARATOGA_KEY_MAX bytes
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
 * @retval SARATOGA_ERR_IO the crypto library failed
 */
SARATOGA_API int saratoga_digest_update(saratoga_digest *d, const void *data,
                                        size_t len);
/**
 * @brief Finishes a checksum; no data can be added afterwards.
 * @param d         checksum
 * @param[out] out  saratoga_digest_len() bytes
 * @retval 0               done
 * @retval SARATOGA_ERR_IO the crypto library failed
 */
SARATOGA_API int saratoga_digest_final(saratoga_digest *d, uint8_t *out);
/** @brief Frees a checksum. @param d  checksum, or NULL */
SARATOGA_API void saratoga_digest_free(saratoga_digest *d);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_DIGEST_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_TOKEN_H
#define LIBSARATOGA_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#define SARATOGA__TOKEN_KEY_LEN 16u

/* Address tokens.  Only the sender of a file reads its timestamps (draft,
 * appendix A), so the octets that the time leaves unused carry a keyed hash of
 * the peer's address, the Id and the time.  A peer that echoes one in a STATUS
 * has received it at that address. */

/* Fills the unused octets of a timestamp. */
void saratoga__token_seal(const uint8_t *key, uint64_t host, uint32_t id,
                          uint8_t *timestamp);
/* True if this engine sealed the timestamp for that host and Id. */
bool saratoga__token_is_genuine(const uint8_t *key, uint64_t host, uint32_t id,
                                const uint8_t *timestamp);

#endif /* LIBSARATOGA_TOKEN_H */

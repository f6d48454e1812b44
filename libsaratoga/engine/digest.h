/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_DIGEST_H
#define LIBSARATOGA_DIGEST_H

#include <saratoga/digest.h>

#define SARATOGA__ID_KEY_LEN 16u

/* Derives an Id from a key of 16 octets, peer, type and path. It is stable, and
 * unguessable without the key. 0 only without memory. */
uint32_t saratoga__keyed_id(const uint8_t *key, const char *peer, uint32_t type,
                            const char *path);

/* Compare in constant time, and erase securely. */
bool saratoga__equal(const void *a, const void *b, size_t len);
void saratoga__wipe(void *p, size_t len);

#endif /* LIBSARATOGA_DIGEST_H */

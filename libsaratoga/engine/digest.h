/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_DIGEST_H
#define LIBSARATOGA_DIGEST_H

#include <saratoga/digest.h>

#define SARATOGA__ID_KEY_LEN 16u

/* An Id that stays the same for the same key of 16 octets, peer, type and path,
 * and that nobody without the key can guess.  0 only without memory. */
uint32_t saratoga__keyed_id(const uint8_t *key, const char *peer, uint32_t type,
                            const char *path);

/* Compares in a time that reports nothing; and forgets for good. */
bool saratoga__equal(const void *a, const void *b, size_t len);
void saratoga__wipe(void *p, size_t len);

#endif /* LIBSARATOGA_DIGEST_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_MAC_H
#define SECURE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* HMAC (RFC 2104) with libcrypto's SHA-256 and one key for many messages.
 * libcrypto's own HMAC looks up its algorithms by name at each step, which
 * takes longer than to hash a short message. */

#define SEC__MAC_LEN 32u
#define SEC__MAC_KEY_LEN 32u

typedef struct sec__mac sec__mac;

/* key: SEC__MAC_KEY_LEN bytes.  NULL without memory. */
sec__mac *sec__mac_new(const uint8_t *key);
/* Takes up another key, and wipes the one before. */
void sec__mac_rekey(sec__mac *m, const uint8_t *key);
/* Wipes the key; m may be NULL. */
void sec__mac_free(sec__mac *m);
/* SEC__MAC_LEN bytes.  False without memory. */
bool sec__mac_write(sec__mac *m, const void *data, size_t len, uint8_t *out);
/* The same with a key for one message. */
bool sec__mac_once(const uint8_t *key, const void *data, size_t len,
                   uint8_t *out);

#endif /* SECURE_MAC_H */

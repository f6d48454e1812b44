/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_MAC_H
#define SECURE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* HMAC-SHA-256 with one key for many messages.  It stands ready in libcrypto:
 * taking the key up for each message costs several times the message. */

#define SEC__MAC_LEN 32u
#define SEC__MAC_KEY_LEN 32u

typedef struct evp_mac_ctx_st sec__mac;

/* key: SEC__MAC_KEY_LEN bytes.  NULL without memory. */
sec__mac *sec__mac_new(const uint8_t *key);
/* Takes up another key, and wipes the one before.  False without memory. */
bool sec__mac_rekey(sec__mac *m, const uint8_t *key);
/* Wipes the key; m may be NULL. */
void sec__mac_free(sec__mac *m);
/* SEC__MAC_LEN bytes.  False without memory. */
bool sec__mac_write(sec__mac *m, const void *data, size_t len, uint8_t *out);

#endif /* SECURE_MAC_H */

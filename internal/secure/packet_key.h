/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_PACKET_KEY_H
#define SECURE_PACKET_KEY_H

#include "internal/secure/aead.h"

/* One key of packets in one direction, with the fastest cipher there is for its
 * suite: ipsec-mb (secure/gcm.h), else libcrypto. */

typedef struct sec__packet_key sec__packet_key;

/* NULL without memory, or when there is no such cipher. */
sec__packet_key *sec__packet_key_new(uint8_t suite, const uint8_t *key,
                                     bool seal);
/* Wipes it. */
void sec__packet_key_free(sec__packet_key *k);
/* Whether several packets cost less when sealed in a row: libcrypto's code
 * pushes other code out of the processor's cache, ipsec-mb's is short. */
bool sec__packet_key_batches(const sec__packet_key *k);
/* Seals len bytes at text, in place, as packet pn, with SEC__TAG_LEN bytes of
 * room behind them.  Costs least when the text stands behind the header. */
bool sec__packet_key_seal(sec__packet_key *k, uint64_t pn,
                          const uint8_t *header, size_t header_len,
                          uint8_t *text, size_t len);
/* Seals text that lies elsewhere into `out`. */
bool sec__packet_key_seal_from(const sec__packet_key *k, uint64_t pn,
                               const uint8_t *header, size_t header_len,
                               const uint8_t *text, size_t len, uint8_t *out);
/* Whether the key can do so. libcrypto's records are sealed in place. */
bool sec__packet_key_seals_from(const sec__packet_key *k);
/* Opens len bytes, tag included, into plain.  lead: the SEC__RECORD_LEAD bytes
 * in front of plain are free to be used, which makes it cheaper.  False when
 * forged. */
bool sec__packet_key_open(sec__packet_key *k, uint64_t pn,
                          const uint8_t *header, size_t header_len,
                          const uint8_t *text, size_t len, uint8_t *plain,
                          bool lead);

#endif /* SECURE_PACKET_KEY_H */

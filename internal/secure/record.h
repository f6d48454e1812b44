/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_RECORD_H
#define SECURE_RECORD_H

#include "internal/secure/aead.h"

/* AES-GCM of a packet in one call to libcrypto, which is much cheaper than
 * separate calls for nonce, associated data, text and tag.
 *
 * libcrypto offers this for records of TLS 1.2 (RFC 5288), and packets have the
 * same form: the nonce ends in a 64-bit number, and the associated data has 13
 * bytes. The output equals that of sec__aead_seal() byte by byte. Two
 * properties of records remain: their number precedes the text while libcrypto
 * works, and libcrypto subtracts the overhead of a record from the last two
 * bytes of the associated data, so a few values do not fit. */

#define SEC__RECORD_AD_LEN 13u
#define SEC__RECORD_LEAD 8u /* bytes before the text that are overwritten */

/* The efficient length up to len bytes: for libcrypto, blocks after the last
 * group of six cost as much as another group, and bytes after the last block as
 * much again. */
size_t sec__record_text(size_t len);
/* Whether this associated data is possible for a record. */
bool sec__record_fits(const uint8_t *ad);
/* Call it before the first record of a cipher, and before sealing a record
 * whose number does not follow the previous one. */
bool sec__record_begin(sec__cipher *c, uint64_t n);
/* Seals len bytes in place and appends the tag; the bytes before the text are
 * restored. */
bool sec__record_seal(sec__cipher *c, uint64_t n, const uint8_t *ad,
                      uint8_t *text, size_t len);
/* Opens len bytes including the tag into out. False: forged. */
bool sec__record_open(sec__cipher *c, uint64_t n, const uint8_t *ad,
                      const uint8_t *text, size_t len, uint8_t *out);

#endif /* SECURE_RECORD_H */

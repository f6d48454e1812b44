/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_RECORD_H
#define SECURE_RECORD_H

#include "internal/secure/aead.h"

/* AES-GCM of a packet in one call to libcrypto, which costs a good part less
 * than one call each for nonce, associated data, text and tag.
 *
 * libcrypto has it for records of TLS 1.2 (RFC 5288), and packets have the same
 * shape: the nonce ends in a number of 64 bits, the associated data are 13
 * bytes.  What comes out is that of sec__aead_seal(), byte by byte.  Two things
 * remain of the records: their number stands in front of the text while
 * libcrypto works, and it takes the overhead of a record off the last two bytes
 * of the associated data, so that a few values do not fit. */

#define SEC__RECORD_AD_LEN 13u
#define SEC__RECORD_LEAD 8u /* bytes in front of the text that are used */

/* How much of a text of len bytes is worth its price: to libcrypto, blocks
 * behind the last group of six cost as much as another group, and bytes behind
 * the last block as much again. */
size_t sec__record_text(size_t len);
/* Whether these associated data can be those of a record. */
bool sec__record_fits(const uint8_t *ad);
/* Before the first record of a cipher, and when one to be sealed has not the
 * number behind that of the one before. */
bool sec__record_begin(sec__cipher *c, uint64_t n);
/* Seals len bytes in place, the tag goes behind them; what lies in front of the
 * text is as before afterwards. */
bool sec__record_seal(sec__cipher *c, uint64_t n, const uint8_t *ad,
                      uint8_t *text, size_t len);
/* Opens len bytes, tag included, into out.  False when forged. */
bool sec__record_open(sec__cipher *c, uint64_t n, const uint8_t *ad,
                      const uint8_t *text, size_t len, uint8_t *out);

#endif /* SECURE_RECORD_H */

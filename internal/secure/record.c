/* SPDX-License-Identifier: MPL-2.0 */
/* AES-GCM of a whole packet in one call to libcrypto. */
#include "internal/secure/record.h"

#include <string.h>

#include <openssl/core_names.h>

#include "internal/common/wire.h"

/* Overhead that libcrypto subtracts from the length of a record. */
#define SEALING SEC__RECORD_LEAD
#define OPENING (SEC__RECORD_LEAD + SEC__TAG_LEN)

/* Tells libcrypto that the fixed part is the whole nonce, which it then
 * increments. */
#define WHOLE_NONCE SIZE_MAX

/* Block size of libcrypto. The shorter packets cost a thousandth of the
 * goodput. */
#define BLOCK ((size_t)16)
#define GROUP (6 * BLOCK)
#define LEFT_OUT_MAX (2 * BLOCK)

size_t sec__record_text(size_t len) {
    size_t over = len % GROUP;
    return len - (over < LEFT_OUT_MAX ? over : over % BLOCK);
}

static unsigned last_two(const uint8_t *ad) {
    return (unsigned)ad[SEC__RECORD_AD_LEN - 2] << 8 |
           ad[SEC__RECORD_AD_LEN - 1];
}

bool sec__record_fits(const uint8_t *ad) {
    return last_two(ad) <= UINT16_MAX - OPENING;
}

bool sec__record_begin(sec__cipher *c, uint64_t n) {
    uint8_t nonce[SEC__NONCE_LEN];
    sec__aead_nonce(SEC__AES_GCM, n, nonce);
    return sec__cipher_set(c, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, nonce,
                           WHOLE_NONCE);
}

/* Processes one record at io: the number, the text, the tag. */
static bool work(sec__cipher *c, const uint8_t *ad, unsigned taken_off,
                 uint8_t *io, size_t len) {
    uint8_t given[SEC__RECORD_AD_LEN];
    unsigned length = last_two(ad) + taken_off;
    memcpy(given, ad, sizeof(given));
    given[sizeof(given) - 2] = (uint8_t)(length >> 8);
    given[sizeof(given) - 1] = (uint8_t)length;
    return sec__cipher_record(c, given, sizeof(given), io, len);
}

/* Writes the end of the nonce for number n. */
static void record_put_number(uint8_t *to, uint64_t n) {
    cmn__writer w = cmn__writer_of(to, SEC__RECORD_LEAD);
    cmn__put64(&w, n);
}

bool sec__record_seal(sec__cipher *c, uint64_t n, const uint8_t *ad,
                      uint8_t *text, size_t len) {
    uint8_t *io = text - SEC__RECORD_LEAD;
    uint8_t before[SEC__RECORD_LEAD];
    uint8_t number[SEC__RECORD_LEAD];
    bool ok;
    memcpy(before, io, sizeof(before));
    record_put_number(number, n);
    ok = work(c, ad, SEALING, io, SEC__RECORD_LEAD + len + SEC__TAG_LEN);
    /* no two packets may ever share a nonce */
    ok = ok && memcmp(io, number, sizeof(number)) == 0;
    memcpy(io, before, sizeof(before));
    return ok;
}

bool sec__record_open(sec__cipher *c, uint64_t n, const uint8_t *ad,
                      const uint8_t *text, size_t len, uint8_t *out) {
    uint8_t *io = out - SEC__RECORD_LEAD;
    record_put_number(io, n);
    if (out != text) {
        memcpy(out, text, len);
    }
    return work(c, ad, OPENING, io, SEC__RECORD_LEAD + len);
}
